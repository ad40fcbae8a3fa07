"""The peers, each a worker process of its own that lives as long as the benchmark does."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}


@dataclass(frozen=True)
class Peer:
    name: str
    title: str
    style: str  # the function of a work that is written for it
    python: Path

    def has(self, work) -> bool:
        return hasattr(work, self.style)


OURS = Path(sys.executable)
PEERS = {
    peer.name: peer
    for peer in (
        Peer("tideflow", "Tideflow", "tf1", OURS),
        Peer("tensorflow", "TensorFlow", "tf1", ROOT / ".oracles/tf2/bin/python"),
        Peer("pytorch", "PyTorch", "pytorch", OURS),
        Peer("jax", "JAX", "jax", ROOT / ".oracles/jax/bin/python"),
        Peer("numpy", "NumPy", "numpy", OURS),
    )
}


class PeerError(Exception):
    """A peer that is not there, or that could not do a work."""


class Worker:
    """A peer's process. It stands still unless asked, so that one peer at a time has the machine."""

    def __init__(self, peer: Peer):
        if not peer.python.exists():
            raise PeerError(f"{peer.title} has no environment here: `make bench` makes it")
        self.peer = peer
        self.complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it lives as long as the worker)
        self.process = subprocess.Popen(
            [peer.python, "-m", "benchmarks.worker", peer.name],
            cwd=ROOT,
            env={**os.environ, **QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
            start_new_session=True,  # so that what it starts stands still with it
        )
        self.facts = self.answer()

    def ask(self, work: str, steps: int) -> dict:
        """One round of a work: `seconds` and page `faults` per unit, the `first` value, the memory `taken` by
        steps, `resident` and `peak` memory.
        """
        self.begin(work, steps)
        return self.answer()

    def begin(self, work: str, steps: int) -> None:
        """Has the worker begin a round, of which `answer` tells when it is over."""
        os.killpg(self.process.pid, signal.SIGCONT)
        self.process.stdin.write(f"{work} {steps}\n")
        self.process.stdin.flush()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise PeerError(f"{self.peer.title} ended: {self.last_words()}")
        os.killpg(self.process.pid, signal.SIGSTOP)
        facts = json.loads(line)
        if "error" in facts:
            raise PeerError(f"{self.peer.title}: {facts['error']}")
        return facts

    def last_words(self) -> str:
        self.complaints.seek(0)
        lines = self.complaints.read().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """Lets the worker end by itself, which deletes its files; then ends it and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=10)
        with contextlib.suppress(ProcessLookupError):  # nothing is left
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.complaints.close()
