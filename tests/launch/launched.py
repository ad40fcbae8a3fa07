"""`tideflow launch` in a process of its own, watched line by line."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOON = 120.0  # seconds, on a busy machine


class Launched:
    """A job that runs."""

    def __init__(self, *arguments: object, **environment: str):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tideflow", "launch", *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.text = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def sees(self, pattern: str) -> re.Match:
        """Waits for a line in which the pattern is found."""
        deadline = time.monotonic() + SOON
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no '{pattern}' in time in:\n{self.text}") from None
            assert line is not None, f"no '{pattern}' in:\n{self.text}"
            self.text += line
            if found := re.search(pattern, line):
                return found

    def pid_of(self, task: str) -> int:
        """Waits until a task runs; its process."""
        return int(self.sees(rf"\[launch\] {task} runs \(pid (\d+)").group(1))

    def ends(self) -> int:
        """Waits for the end; the exit code."""
        code = self.process.wait(SOON)
        self._reader.join(SOON)
        while line := self._lines.get():
            self.text += line
        return code

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(SOON)
        self._reader.join(SOON)
        self.process.stdout.close()


@contextlib.contextmanager
def launched(*arguments: object, **environment: str) -> Iterator[Launched]:
    """A job, which does not outlive the block."""
    job = Launched(*arguments, **environment)
    try:
        yield job
    finally:
        job.stop()


def is_gone(pid: int) -> bool:
    """Whether a process has ended, waiting for it."""
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
