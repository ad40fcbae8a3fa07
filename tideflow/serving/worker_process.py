"""The server's end of a worker process: its start, requests to it, its end.

Everything is called, and calls back, on the thread of the server's event loop. Between the loop and the
worker stand courier threads, each with one request under way: while the worker computes a batch, the next one
is already there.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from tideflow.cluster import keys
from tideflow.cluster.keys import Key
from tideflow.cluster.messages import Message
from tideflow.cluster.peer import Peer
from tideflow.graph import errors
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.launch.processes import file_in_memory, path_of
from tideflow.serving import worker_messages

FORK_SERVER = "tideflow.serving.fork_server"
COURIERS = 2  # batches that a worker has at a time: one computed, one waiting
_LARGEST_PACKET = 1 << 16
# Ctrl-C goes to the server only. Its session is the workers' too: within a session priorities count, and
# Linux may share out the processors among sessions first (autogroup).
_APART: dict[str, Any] = {"process_group": 0} if sys.version_info >= (3, 11) else {"start_new_session": True}

Answered: TypeAlias = Callable[[Message | OpError], None]


class Workers:
    """Starts worker processes on this machine, by forks of a process that has imported everything.

    A server and its workers share a key. No other process has it, of another user or of this one: it is in
    the memory of the server alone, and workers read it from there.

    Args:
      threads: Kernel threads of each worker; 0 for all the cores that this process may use.
    """

    def __init__(self, threads: int = 0):
        self._loop = asyncio.get_running_loop()
        self.key = keys.generate()
        self._key_file = file_in_memory("worker.key", keys.text_of(self.key))
        inherited = os.environ.get("OMP_NUM_THREADS")
        self._environment = {
            **os.environ,
            keys.VARIABLE: path_of(self._key_file),
            "OMP_NUM_THREADS": str(threads or inherited or len(os.sched_getaffinity(0))),
        }
        self._numbers = itertools.count()
        self._processes: dict[int, WorkerProcess] = {}
        self._channel: socket.socket | None = None
        self._fork_server: subprocess.Popen[bytes] | None = None

    def start(self, label: str, on_end: Callable[[int], None]) -> WorkerProcess:
        """Starts a process that has no model yet."""
        number = next(self._numbers)
        process = self._processes[number] = WorkerProcess(self, number, label, on_end)
        self.send(start=number)
        return process

    def send(self, **order: int) -> None:
        """Tells the fork server what to do. One that has died is started again."""
        if self._channel is None:
            self._start_fork_server()
        assert self._channel is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `_read` sees it too
            self._channel.send(json.dumps(order).encode())

    def _start_fork_server(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._fork_server = subprocess.Popen(
                [sys.executable, "-m", FORK_SERVER, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                **_APART,
            )
        self._loop.add_reader(self._channel, self._read)

    def _read(self) -> None:
        assert self._channel is not None
        try:
            packet = self._channel.recv(_LARGEST_PACKET)
        except ConnectionResetError:
            packet = b""
        if not packet:
            self._fork_server_ended()
            return
        event = json.loads(packet)
        process = self._processes[event["number"]]
        if "pid" in event:
            process.pid = event["pid"]
        elif "address" in event:
            process.connect(event["address"])
        else:
            del self._processes[event["number"]]
            process.ended(event["ended"])

    def _fork_server_ended(self) -> None:
        """All workers have ended with it."""
        self._close_channel()
        processes, self._processes = list(self._processes.values()), {}
        for process in processes:
            process.ended(128 + signal.SIGKILL)

    def _close_channel(self) -> None:
        if self._channel is not None and self._fork_server is not None:
            self._loop.remove_reader(self._channel)
            self._channel.close()
            self._channel = None
            self._fork_server.kill()
            self._fork_server.wait()

    def close(self) -> None:
        """Ends all processes, and forgets the key."""
        self._close_channel()
        for process in self._processes.values():
            process.forget()
        self._processes.clear()
        os.close(self._key_file)


class Starter(Protocol):
    """What starts worker processes, and ends them."""

    key: Key

    def start(self, label: str, on_end: Callable[[int], None]) -> WorkerProcess:
        """Starts a process that has no model yet."""

    def send(self, *, kill: int) -> None:
        """Kills the process with this number."""

    def close(self) -> None:
        """Ends all processes."""


class WorkerProcess:
    """A process that runs one version of a model.

    Args:
      workers: What has started it.
      number: Its number there.
      label: What it is called in messages.
      on_end: Called with the exit code when the process has ended, whoever ended it.
    """

    def __init__(self, workers: Starter, number: int, label: str, on_end: Callable[[int], None]):
        self._loop = asyncio.get_running_loop()
        self._workers, self._number, self._label, self._on_end = workers, number, label, on_end
        self._requests: queue.SimpleQueue[tuple[Message, Answered] | None] = queue.SimpleQueue()
        self._peer: Peer | None = None
        self.pid = 0  # until it is known
        self.is_alive = True

    def request(self, message: Message, answered: Answered) -> None:
        """Sends a message; `answered` is called once, with the answer or with an error."""
        if self.is_alive:
            self._requests.put((message, answered))
        else:
            self._loop.call_soon(answered, self._gone())

    def stop(self) -> None:
        """Kills the process. It holds nothing that has to be saved, and its memory comes back at once."""
        if self.is_alive:
            self.is_alive = False
            self._workers.send(kill=self._number)

    # ---- on the loop's thread

    def connect(self, address: str) -> None:
        """The process listens at an address."""
        self._peer = Peer(address, kinds=worker_messages.KINDS, key=self._workers.key)
        for number in range(COURIERS):
            threading.Thread(
                target=self._carry, args=(self._peer,), name=f"{self._label}-{number}", daemon=True
            ).start()

    def _answered(self, answered: Answered, outcome: Message | OpError) -> None:
        if isinstance(outcome, UnavailableError):
            self.stop()  # before the system says so, nothing more is sent there
        answered(outcome)

    def ended(self, code: int) -> None:
        """The process has ended."""
        self.forget()
        self._on_end(code)

    def forget(self) -> None:
        """Ends the threads. Requests that were not sent are refused."""
        self.is_alive = False
        self._refuse_queued()
        if self._peer is not None:
            self._peer.close()
            for _ in range(COURIERS):
                self._requests.put(None)

    def _refuse_queued(self) -> None:
        with contextlib.suppress(queue.Empty):
            while (request := self._requests.get_nowait()) is not None:
                request[1](self._gone())

    def _gone(self) -> OpError:
        return errors.unavailable(f"The worker process of {self._label} has ended.")

    # ---- on other threads

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:  # the loop is closed: nobody waits
            pass

    def _carry(self, peer: Peer) -> None:
        while (request := self._requests.get()) is not None:
            message, answered = request
            try:
                outcome: Message | OpError = peer.start(message).result()
            except OpError as error:
                outcome = self._gone() if peer.is_closed() else error
            self._soon(self._answered, answered, outcome)
            del request, message, answered, outcome  # no batch is kept while the thread waits for the next
