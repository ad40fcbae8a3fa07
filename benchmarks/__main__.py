"""Measures Tideflow beside TensorFlow, PyTorch and JAX, each in its own environment, and prints a table.

A whole run (all works, all peers, not quick) also writes the tables to benchmarks/RESULTS.md; its rounds are
chosen so that it takes less than 25 minutes on two idle cores. "memory" and "shared" among the works are not
works: "memory" measures what processes of two works hold, "shared" each of the works also beside a busy core
and twice at once.
`python -m benchmarks --quick --works mlp small_ops shared` is a look at two works in about a minute.
`python -m benchmarks gpu` measures whole models on a GPU instead, and writes benchmarks/RESULTS_GPU.md;
`python -m benchmarks int8` inference in int8 on a CPU, and writes benchmarks/RESULTS_INT8.md;
`python -m benchmarks eager` eager mode beside PyTorch's, and writes benchmarks/RESULTS_EAGER.md;
`python -m benchmarks keras` epochs of Keras models beside TensorFlow's: benchmarks/RESULTS_KERAS.md;
`python -m benchmarks serving` servers and Clipper's experiments, and writes benchmarks/RESULTS_SERVING.md;
`python -m benchmarks pipeline` the pipeline beside TFX's libraries: benchmarks/RESULTS_PIPELINE.md.
"""

import argparse
import contextlib
import importlib
import sys
import time
from pathlib import Path

from benchmarks.gpu import run as gpu
from benchmarks.peers import PEERS, PeerError, Worker
from benchmarks.report import Results, markdown
from benchmarks.shared import measure_shared
from benchmarks.works import NAMES

RESULTS = Path(__file__).with_name("RESULTS.md")
APART = ("shared", "memory")
WORKS = [*NAMES, *APART]
MEMORY_WORKS = {"convnet": 20, "deep_backward": 3}  # and steps of each


def main() -> None:
    if sys.argv[1:2] == ["gpu"]:
        gpu.main(sys.argv[2:])
        return
    if sys.argv[1:] in (["int8"], ["eager"]):
        importlib.import_module(f"benchmarks.{sys.argv[1]}").main()
        return
    if sys.argv[1:2] == ["keras"]:
        importlib.import_module("benchmarks.keras_epochs").main(sys.argv[2:])
        return
    if sys.argv[1:2] in (["serving"], ["pipeline"]):
        importlib.import_module(f"benchmarks.{sys.argv[1]}.run").main(sys.argv[2:])
        return
    options = parse_options()
    began = time.monotonic()
    works = [name for name in options.works if name not in APART]
    results = Results(
        works={name: importlib.import_module(f"benchmarks.works.{name}") for name in works},
        peers=options.peers,
        rounds=options.rounds,
    )
    shorter = 5 if options.quick else 1
    measure_speed(results, shorter)
    if "shared" in options.works:
        measure_shared(results, 2 * shorter, say)
    if "memory" in options.works:
        measure_memory(results)
    results.minutes = (time.monotonic() - began) / 60
    text = markdown(results)
    print(text)
    if not options.quick and set(options.works) == set(WORKS) and set(options.peers) == set(PEERS):
        RESULTS.write_text(text)
        say(f"written to {RESULTS}")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--works", nargs="+", choices=WORKS, default=WORKS, metavar="WORK", help=" ".join(WORKS)
    )
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="PEER", help=" ".join(PEERS)
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of each peer at each work (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: a look, not figures")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.quick:
        options.rounds = min(options.rounds, 3)
    return options


def measure_speed(results: Results, shorter: int) -> None:
    """All rounds of one work before the next, the peers in turn within a round."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for peer in results.peers:
            if any(PEERS[peer].has(work) for work in results.works.values()):
                with noting_trouble(results):
                    workers[peer] = stack.enter_context(contextlib.closing(start(peer, results)))
        for name, work in results.works.items():
            able = [worker for worker in workers.values() if worker.peer.has(work)]
            for turn in range(results.rounds):
                say(f"{work.title}: round {turn + 1} of {results.rounds}")
                able = [worker for worker in able if took_turn(results, worker, name, work.steps // shorter)]


def start(peer: str, results: Results) -> Worker:
    say(f"starting {PEERS[peer].title}")
    worker = Worker(PEERS[peer])
    results.versions[peer] = worker.facts["version"]
    return worker


def took_turn(results: Results, worker: Worker, work: str, steps: int) -> bool:
    """Whether the peer could do the work; it is not asked again when it could not."""
    with noting_trouble(results, work):
        answer = worker.ask(work, max(steps, 1))
        results.seconds.setdefault(work, {}).setdefault(worker.peer.name, []).append(answer["seconds"])
        pages = results.pages.setdefault(work, {}).setdefault(worker.peer.name, [])
        pages.append((answer["faults"], answer["taken"]))
        results.first.setdefault(work, {})[worker.peer.name] = answer["first"]
        if "baseline" in answer:
            results.baselines.setdefault(work, {}).setdefault(worker.peer.name, []).append(answer["baseline"])
        return True
    return False


def measure_memory(results: Results) -> None:
    """Each work in processes that have done nothing else, one after another."""
    for name, steps in MEMORY_WORKS.items():
        work = importlib.import_module(f"benchmarks.works.{name}")
        found = results.memory[work.title] = {}
        for peer in results.peers:
            if PEERS[peer].has(work):
                with noting_trouble(results, "memory"), contextlib.closing(start(peer, results)) as worker:
                    answer = worker.ask(name, steps)
                    found[peer] = {**answer, "imported": worker.facts["resident"]}


@contextlib.contextmanager
def noting_trouble(results: Results, work: str = ""):
    try:
        yield
    except PeerError as error:
        note = f"{work}: {error}" if work else str(error)
        results.troubles.append(note)
        say(note)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
