"""What a step takes where its process does not have the machine to itself: beside a process that keeps one
core busy, and beside a second process that does the same work. Tideflow and TensorFlow, one after the other.
"""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.peers import PEERS, PeerError, Worker
from benchmarks.report import Results

SHARING = ("tideflow", "tensorflow")


def measure_shared(results: Results, shorter: int, say: Callable[[str], None]) -> None:
    """Both ways of sharing, for each work that can be measured so; a peer's two workers live meanwhile."""
    works = {name: work for name, work in results.works.items() if getattr(work, "shared", True)}
    for peer in (PEERS[name] for name in SHARING if name in results.peers):
        say(f"starting {peer.title} twice")
        with contextlib.ExitStack() as stack:
            try:
                pair = [stack.enter_context(contextlib.closing(Worker(peer))) for _ in range(2)]
            except PeerError as error:
                results.troubles.append(str(error))
                continue
            for name, work in works.items():
                if peer.has(work):
                    say(f"{work.title}: {peer.title} on a shared machine")
                    try:
                        found = sharing(pair, name, max(work.steps // shorter, 1))
                    except PeerError as error:
                        results.troubles.append(f"{name}, on a shared machine: {error}")
                    else:
                        results.shared.setdefault(name, {})[peer.name] = found


def sharing(pair: list[Worker], work: str, steps: int) -> dict[str, float]:
    """Seconds of a step alone, beside a busy core, and of two workers at once."""
    for worker in pair:
        worker.ask(work, 1)  # sets it up
    alone = pair[0].ask(work, steps)["seconds"]
    with busy_core():
        busy = pair[0].ask(work, steps)["seconds"]
    for worker in pair:
        worker.begin(work, steps)
    return {"alone": alone, "busy": busy, "twice": median(worker.answer()["seconds"] for worker in pair)}


@contextlib.contextmanager
def busy_core() -> Iterator[None]:
    """A process that computes without pause, on whichever core the system gives it."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()
