"""A task as a process of this machine: its port, its start, its output, its signals, its end.

This module uses the standard library only, because Ray sends it to other machines as it is.
"""

from __future__ import annotations

import contextlib
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Literal, TypeAlias

PARENT = "TIDEFLOW_LAUNCHER_PID"  # the launcher: the task ends with it, see task_entry.py
TASK_ENTRY = "tideflow.launch.task_entry"
_PORTS = range(20000, 32768)  # below those that the system gives to outgoing connections
_LAST_OUTPUT_SECONDS = 2.0  # how long children of a task that has ended may hold its output open

# What a RayHost reports: a line of output, or the exit code.
News: TypeAlias = tuple[Literal["output"], str] | tuple[Literal["ended"], int]


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Ports at which no process listens."""
    found: list[int] = []
    for port in random.sample(_PORTS, len(_PORTS)):
        if len(found) == count:
            return found
        if is_free(port, host):
            found.append(port)
    raise OSError(f"fewer than {count} ports from {_PORTS.start} to {_PORTS.stop} are free")


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a task can listen at a port."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def file_in_memory(name: str, content: str) -> int:
    """The descriptor of a file in memory that only this user can read. It disappears with this process, even
    if that is killed.
    """
    descriptor = os.memfd_create(name)
    os.fchmod(descriptor, 0o600)
    os.write(descriptor, content.encode())
    return descriptor


def path_of(descriptor: int) -> str:
    """The path at which other processes open a file of this process."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"


class TaskProcess:
    """A process that runs a program as a task.

    Threads of this object call `output` with each line that the process writes and, after the last line,
    `ended` with its exit code.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: Callable[[str], None],
        ended: Callable[[int], None],
        folder: str | None = None,
    ) -> None:
        self._folder = folder
        self._command = [sys.executable, "-u", "-m", TASK_ENTRY, *arguments]
        self._environment = {**os.environ, **environment, PARENT: str(os.getpid())}
        self._output, self._ended = output, ended
        self._process: subprocess.Popen[str] | None = None
        self._failure: OSError | None = None
        self._is_over = False  # from then on the system may give its pid to another process
        begun = threading.Event()
        # The thread that starts a process must outlive it: Linux takes the end of that thread for the
        # parent's.
        threading.Thread(target=self._live, args=(begun,), name="tideflow-task", daemon=True).start()
        begun.wait()
        if self._failure is not None:
            raise self._failure

    @property
    def pid(self) -> int:
        """The id of the process, and of the process group that its children are in."""
        assert self._process is not None, "the constructor has started it"
        return self._process.pid

    def send(self, number: int) -> None:
        """Sends a signal to the process and its children, if it has not ended."""
        if not self._is_over:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def _live(self, begun: threading.Event) -> None:
        try:
            process = self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C goes to the launcher only
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            self._failure = error
            return
        finally:
            begun.set()
        reader = threading.Thread(
            target=self._read, args=(process.stdout,), name="tideflow-task-output", daemon=True
        )
        reader.start()
        code = process.wait()
        reader.join(_LAST_OUTPUT_SECONDS)
        self.send(signal.SIGKILL)  # children that the task has left behind
        self._is_over = True
        self._ended(128 - code if code < 0 else code)

    def _read(self, stdout: IO[str]) -> None:
        with stdout as lines:
            for line in lines:
                self._output(line.rstrip("\n"))


class RayHost:
    """A Ray actor with a task's process. The launcher calls it; it never calls the launcher."""

    def __init__(self) -> None:
        import ray  # loaded when asked for

        self._host: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        self._here = os.getcwd()  # the path, because Ray may delete the folder and make it again
        self._news: queue.Queue[News] = queue.Queue(10_000)
        self._process: TaskProcess | None = None
        self._files: dict[str, int] = {}  # in memory, by the environment variable with their path

    def place(self, wanted: int | None) -> str:
        """The address of the task, with the port `wanted` if that is free."""
        port = wanted
        if port is None or not is_free(port, self._host):
            port = free_ports(1, self._host)[0]
        return f"[{self._host}]:{port}" if ":" in self._host else f"{self._host}:{port}"

    def start(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        files: Mapping[str, str],
        folder: str | None = None,
    ) -> str:
        """Starts the task; returns its pid and machine as text.

        The task runs in `folder`, if this machine has it. `files` are secrets: each is a file in memory, and
        the environment variable of its name has its path.
        """
        named = {name: self._in_memory(name, content) for name, content in files.items()}
        self._process = TaskProcess(
            arguments,
            {**environment, **named},
            lambda line: self._news.put(("output", line)),
            lambda code: self._news.put(("ended", code)),
            folder if folder and os.path.isdir(folder) else self._here,
        )
        return f"pid {self._process.pid} on {self._host}"

    def _in_memory(self, name: str, content: str) -> str:
        if name not in self._files:
            self._files[name] = file_in_memory(name, content)
        return path_of(self._files[name])

    def news(self, timeout: float, most: int = 1000) -> list[News]:
        """The news since the last call, at most `most`. Waits up to `timeout` seconds for the first."""
        found: list[News] = []
        with contextlib.suppress(queue.Empty):
            found.append(self._news.get(timeout=timeout))
            while len(found) < most:
                found.append(self._news.get_nowait())
        return found

    def send(self, number: int) -> None:
        """Sends a signal to the task."""
        if self._process is not None:
            self._process.send(number)

    def close(self) -> None:
        """Kills the task's process."""
        self.send(signal.SIGKILL)
