"""A server under load while its workers are killed at random: `python -m tests.serving.soak --requests N`.

Every request must have one answer, right for what was asked, or one error; the server's memory must stay
flat; and 20 loads and unloads of a large model must give its memory back. The exit status says whether all
held.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import numpy as np

import tideflow as tf
from tideflow.serving import messages
from tideflow.serving.serve_command import new_event_loop

PATH = "/v1/models/linear:predict"
LARGE_BYTES = 64 << 20
MB = 1 << 20
PATIENCE = 120  # seconds after which an answer that has not come is lost; the server gives one up after 30


@dataclass
class Outcome:
    """What came of the requests."""

    answers: int = 0
    errors: Counter[int] = field(default_factory=Counter)  # by HTTP's status
    wrong: list[str] = field(default_factory=list)  # answers to something else
    lost: int = 0  # requests without an answer

    @property
    def count(self) -> int:
        """Requests that have an answer or an error."""
        return self.answers + sum(self.errors.values())

    def add(self, other: Outcome) -> None:
        """Counts what came of further requests."""
        self.answers += other.answers
        self.errors += other.errors
        self.wrong += other.wrong
        self.lost += other.lost


async def ask(address: str, requests: int, clients: int, depth: int) -> Outcome:
    """Sends so many requests by so many clients, each with `depth` of them under way."""
    outcome, numbers = Outcome(), iter(range(requests))
    await asyncio.gather(*(_client(address, numbers, depth, outcome) for _ in range(clients)))
    return outcome


async def _client(address: str, numbers: Iterator[int], depth: int, outcome: Outcome) -> None:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    sent: list[int] = []
    try:
        while sent := [number for _, number in zip(range(depth), numbers)]:
            writer.write(b"".join(map(_request, sent)))
            await asyncio.wait_for(_receive(reader, sent, outcome), PATIENCE)
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        outcome.lost += len(sent)
    finally:
        writer.close()


async def _receive(reader: asyncio.StreamReader, sent: list[int], outcome: Outcome) -> None:
    """Counts the answers to what was sent, which leave `sent` in its order."""
    while sent:
        status, body = await _answer(reader)
        _count(outcome, sent.pop(0), status, body)


def _request(number: int) -> bytes:
    body = b'{"instances":[[%d,0,1]]}' % number
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (
        PATH.encode(),
        len(body),
        body,
    )


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].split(b"\r", 1)[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


def _count(outcome: Outcome, number: int, status: int, body: bytes) -> None:
    if status != 200:
        outcome.errors[status] += 1
        return
    outcome.answers += 1
    if json.loads(body) != {"predictions": [[2.0 * number + 1, 1.0, 3.0]]}:
        outcome.wrong.append(f"{number}: {body[:200]!r}")


async def killing(workers: Callable[[], list[int]], seconds: float) -> int:
    """Kills one worker at random so often, until it is cancelled; returns how many it killed."""
    killed = 0
    try:
        while True:
            alive = workers()
            if alive:
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(random.choice(alive), signal.SIGKILL)
                    killed += 1
            await asyncio.sleep(seconds * random.uniform(0.5, 1.5))
    except asyncio.CancelledError:
        return killed


async def ask_while_killing(
    address: str, requests: int, workers: Callable[[], list[int]], *, clients: int, depth: int, seconds: float
) -> tuple[Outcome, int]:
    """What came of the requests, and how many workers were killed meanwhile."""
    killer = asyncio.ensure_future(killing(workers, seconds))
    await asyncio.sleep(0)  # it has begun, and so its cancellation is its answer
    outcome = await ask(address, requests, clients, depth)
    killer.cancel()
    return outcome, await killer


# ------------------------------------------------------------------------------------------------- processes


def children(pid: int) -> list[int]:
    """The processes that a process has started and that run."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # only this thread of it
                found += map(int, _words(task / "children"))
    return [child for child in found if not _is_zombie(child)]


def _is_zombie(pid: int) -> bool:
    """Whether a process has ended, though its parent has not asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _words(path: Path) -> list[str]:
    return path.read_text().split()


def memory(pid: int) -> int:
    """The bytes of a process: its own, and its part of those that it shares."""
    try:
        words = _words(Path(f"/proc/{pid}/smaps_rollup"))
    except OSError:
        return 0
    return int(words[words.index("Pss:") + 1]) << 10


def tree(pid: int) -> list[int]:
    """A process, and all that come of it."""
    return [pid, *(each for child in children(pid) for each in tree(child))]


def save_model(path: Path, floats: int = 1) -> Path:
    """A SavedModel with y = 2 * x + 1 of three columns, with a variable and a constant of so many floats."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        weights = tf.get_variable("w", [floats], initializer=tf.constant_initializer(2.0))
        session.run(tf.global_variables_initializer())
        ones = tf.constant(np.ones(floats, np.float32))
        tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": x * weights[0] + ones[0]})
    return path


# --------------------------------------------------------------------------------------------------- command


@contextmanager
def _server(models: Path, replicas: int) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`tideflow serve`, and the addresses of REST and gRPC."""
    flags = [f"--replicas={replicas}", "--tiny_models_in_process=false", "--port=-1", "--rest_api_port=-1"]
    command = [sys.executable, "-m", "tideflow", "serve", str(models), *flags]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            rest = server.stdout.readline().split("//")[1].strip().rstrip("/")
            yield server, rest, server.stdout.readline().split()[-1]
        finally:
            server.terminate()
            server.wait(60)


def configure(channel: grpc.Channel, **models: Path) -> None:
    """Has the server serve these models and no others, and waits until it does."""
    request = messages.ReloadConfigRequest()
    for name, path in models.items():
        request.config.model_config_list.config.add(name=name, base_path=str(path))
    call = channel.unary_unary("/tensorflow.serving.ModelService/HandleReloadConfigRequest")
    answer = messages.ReloadConfigResponse.FromString(call(request.SerializeToString(), timeout=120))
    assert not answer.status.error_code, answer.status.error_message


def _loads(server: int, address: str, folder: Path, rounds: int) -> list[int]:
    """The bytes of all processes of the server before a large model is loaded, and after each unload."""
    linear, large = folder / "models" / "linear", folder / "large"
    with grpc.insecure_channel(address) as channel:
        configure(channel, linear=linear)
        (forker,) = children(server)
        found, usual = [sum(map(memory, tree(server)))], len(children(forker))
        for _ in range(rounds):
            configure(channel, linear=linear, large=large)
            configure(channel, linear=linear)
            while len(children(forker)) > usual:
                time.sleep(0.01)
            found.append(sum(map(memory, tree(server))))
    return found


def main(arguments: list[str]) -> int:
    """Runs the soak, and says what it found; 1 where something was lost, wrong or not given back."""
    parser = argparse.ArgumentParser("python -m tests.serving.soak", description=__doc__)
    for name, default, text in (
        ("requests", 1_000_000, "how many"),
        ("clients", 16, "connections"),
        ("depth", 16, "requests of each that are under way"),
        ("replicas", 2, "worker processes"),
        ("loads", 20, "loads and unloads of a large model"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (default: {default})")
    parser.add_argument("--kill_seconds", type=float, default=1.0, help="about so often (default: 1)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_model(folder / "models" / "linear" / "1")
        save_model(folder / "large" / "1", LARGE_BYTES // 8)
        with _server(folder / "models", options.replicas) as (server, rest, address):
            loads = _loads(server.pid, address, folder, options.loads)
            mb = ", ".join(f"{each / MB:.0f}" for each in loads)
            print(f"MB of all processes, before and after each load of {LARGE_BYTES / MB:.0f} MB: {mb}")
            (forker,) = children(server.pid)
            asking = {"clients": options.clients, "depth": options.depth, "seconds": options.kill_seconds}
            figures, outcome, loop = [], Outcome(), new_event_loop()
            for number in range(10):
                share = options.requests * (number + 1) // 10 - options.requests * number // 10
                begin = time.perf_counter()
                part, killed = loop.run_until_complete(
                    ask_while_killing(rest, share, lambda: children(forker), **asking)
                )
                outcome.add(part)
                figures.append(memory(server.pid))
                print(
                    f"{outcome.count:,} requests, {share / (time.perf_counter() - begin):,.0f} a second, "
                    f"{killed} workers killed, the server has {figures[-1] / MB:.1f} MB",
                    flush=True,
                )
            loop.close()
    print(f"{outcome.answers:,} answers, errors {dict(outcome.errors)}, {outcome.lost} lost")
    failures = {
        "requests without an answer": outcome.lost or options.requests - outcome.count,
        "wrong answers": len(outcome.wrong),
        # The first tenth is left out: buffers and caches fill.
        "memory of the server grew by MB": max(0, figures[-1] - figures[0] - 16 * MB) // MB,
        "memory of loads is kept, MB": max(0, loads[-1] - loads[0] - LARGE_BYTES) // MB,
    }
    for name, count in failures.items():
        if count:
            print(f"{name}: {count}")
    return int(any(failures.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
