"""The process that worker processes are forked from: `python -m tideflow.serving.fork_server DESCRIPTOR`.

It has imported everything and does nothing else, so a worker starts in milliseconds and shares the memory of
the libraries. It is told what to do, and says what happened, over a socket of its server's, one JSON object a
packet. It dies with its server, and its workers die with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque

from tideflow.process import end_with, let_run_last
from tideflow.serving import worker

_LARGEST_PACKET = 1 << 16
# Threads of a process that ended at the lowest priority may still leave /proc when the process itself can be
# reaped. Whoever reaps it then spins in the kernel until they have had their turn (`d_invalidate`), which
# took seconds of a processor that others are served on. After this time they are gone.
_ZOMBIE_SECONDS = 2.0


class ForkServer:
    """Forks workers, and reports how each of them ended."""

    def __init__(self, channel: socket.socket):
        self._channel = channel
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        self._workers: dict[int, tuple[int, int]] = {}  # number and pid by the descriptor of the process
        self._descriptors: dict[int, int] = {}  # of the process by number
        self._ended: deque[tuple[float, int]] = deque()  # when to reap, and pid

    def serve(self) -> None:
        """Does what the server says, until it is gone."""
        while True:
            for descriptor, _ in self._poll.poll(self._reap()):
                if descriptor in self._workers:
                    self._report_end(descriptor)
                elif not self._obey(self._channel.recv(_LARGEST_PACKET)):
                    return

    def _obey(self, packet: bytes) -> bool:
        if not packet:  # the server has closed its end
            return False
        order = json.loads(packet)
        if "start" in order:
            self._start(order["start"])
        elif order["kill"] in self._descriptors:  # else it has ended already
            self._kill(self._descriptors[order["kill"]])
        return True

    def _kill(self, descriptor: int) -> None:
        """Kills a worker. What it holds is given back at the lowest priority: with a large model that takes
        long, and others are served meanwhile.
        """
        _, pid = self._workers[descriptor]
        with contextlib.suppress(OSError):  # it is ending already, or has no group of its own yet
            let_run_last(pid)
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    def _start(self, number: int) -> None:
        parent = os.getpid()
        pid = os.fork()
        if not pid:
            self._be_worker(number, parent)
        descriptor = os.pidfd_open(pid)
        self._workers[descriptor], self._descriptors[number] = (number, pid), descriptor
        self._poll.register(descriptor, select.POLLIN)
        self._report(number=number, pid=pid)

    def _be_worker(self, number: int, parent: int) -> None:
        """The child's life. It never returns."""
        code = 1
        try:
            os.setpgid(0, 0)
            end_with(parent)
            for descriptor in self._workers:
                os.close(descriptor)

            def listening(address: str) -> None:
                self._report(number=number, address=address)
                self._channel.close()

            worker.main(listening)
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)

    def _report_end(self, descriptor: int) -> None:
        number, pid = self._workers.pop(descriptor)
        del self._descriptors[number]
        self._poll.unregister(descriptor)
        end = os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOWAIT)
        assert end is not None
        os.close(descriptor)
        self._ended.append((time.monotonic() + _ZOMBIE_SECONDS, pid))
        was_killed = end.si_code != os.CLD_EXITED
        self._report(number=number, ended=end.si_status + 128 * was_killed)

    def _reap(self) -> float | None:
        """Reaps processes that ended a while ago; returns the milliseconds until the next one is due."""
        now = time.monotonic()
        while self._ended and self._ended[0][0] <= now:
            os.waitpid(self._ended.popleft()[1], 0)
        return max(0.0, self._ended[0][0] - now) * 1000 if self._ended else None

    def _report(self, **event: int | str) -> None:
        try:
            self._channel.send(json.dumps(event).encode())
        except (BrokenPipeError, ConnectionResetError):  # the server is gone, and this process follows
            os._exit(0)


def main() -> None:
    """Serves at the socket whose descriptor, and the pid of whose owner, the command line names."""
    descriptor, parent = map(int, sys.argv[1:])
    end_with(parent)
    ForkServer(socket.socket(fileno=descriptor)).serve()


if __name__ == "__main__":
    main()
