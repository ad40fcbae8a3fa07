"""A task as a process of this machine: its port, its start, its output, its signals, its end.

Nothing but the standard library is needed here: Ray sends this module to machines as it is.
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

PARENT = "TIDEFLOW_LAUNCHER_PID"  # whose end is the task's, see task_entry.py
TASK_ENTRY = "tideflow.launch.task_entry"
_PORTS = range(20000, 32768)  # below those that the system gives to outgoing connections
_LAST_WORDS_SECONDS = 2.0  # what a task's own children may hold its output open after its end


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Ports at which nobody listens."""
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


class TaskProcess:
    """A process that runs a program as a task. `said` is called with each line of its output and `ended`
    with its exit code, after the last line, from threads of its own.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        said: Callable[[str], None],
        ended: Callable[[int], None],
        folder: str | None = None,
    ):
        self._folder = folder
        self._command = [sys.executable, "-u", "-m", TASK_ENTRY, *arguments]
        self._environment = {**os.environ, **environment, PARENT: str(os.getpid())}
        self._said, self._ended = said, ended
        self._process: subprocess.Popen | None = None
        self._failure: OSError | None = None
        self._is_over = False  # its number may be another's
        begun = threading.Event()
        # The thread that starts a process must outlive it: its end would be taken for its parent's.
        threading.Thread(target=self._live, args=(begun,), name="tideflow-task", daemon=True).start()
        begun.wait()
        if self._failure is not None:
            raise self._failure

    @property
    def pid(self) -> int:
        """The number of the process, and of the group that its own children are of."""
        return self._process.pid

    def send(self, number: int) -> None:
        """Sends a signal to the process and its children, if it has not ended."""
        if not self._is_over:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def _live(self, begun: threading.Event) -> None:
        try:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the launcher
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            self._failure = error
            return
        finally:
            begun.set()
        reader = threading.Thread(target=self._read, name="tideflow-task-output", daemon=True)
        reader.start()
        code = self._process.wait()
        reader.join(_LAST_WORDS_SECONDS)
        self.send(signal.SIGKILL)  # children that the task has left behind
        self._is_over = True
        self._ended(128 - code if code < 0 else code)

    def _read(self) -> None:
        with self._process.stdout as lines:
            for line in lines:
                self._said(line.rstrip("\n"))


class RayHost:
    """An actor that keeps a task's process: it is started and asked, and never calls back."""

    def __init__(self):
        import ray

        self._host = ray.util.get_node_ip_address()
        self._here = os.getcwd()  # by its name: Ray may make the folder anew
        self._news: queue.Queue[tuple[str, object]] = queue.Queue(10_000)
        self._process: TaskProcess | None = None
        self._files: dict[str, int] = {}  # in memory, by the variable that names them

    def place(self, wanted: int | None) -> str:
        """The address of the task: with the wanted port, if it is free."""
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
        """Starts the task, in a folder if it is here; its pid and machine. `files` are secrets, kept in
        memory: the variable of each one's name says where it is read.
        """
        named = {name: self._held(name, content) for name, content in files.items()}
        self._process = TaskProcess(
            arguments,
            {**environment, **named},
            lambda line: self._news.put(("said", line)),
            lambda code: self._news.put(("ended", code)),
            folder if folder and os.path.isdir(folder) else self._here,
        )
        return f"pid {self._process.pid} on {self._host}"

    def _held(self, name: str, content: str) -> str:
        """The path of a file in memory that only this user can read, and that ends with this process."""
        if name not in self._files:
            self._files[name] = os.memfd_create(name)
            os.fchmod(self._files[name], 0o600)
            os.write(self._files[name], content.encode())
        return f"/proc/{os.getpid()}/fd/{self._files[name]}"

    def news(self, timeout: float, most: int = 1000) -> list[tuple[str, object]]:
        """What has happened since the last call, waiting so many seconds for the first of it."""
        found = []
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
        """Ends what is left."""
        self.send(signal.SIGKILL)
