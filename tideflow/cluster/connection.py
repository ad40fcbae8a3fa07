"""One connection to one task: a DEALER socket, and the monitor that tells when it breaks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

from tideflow.cluster import protocol, shared_memory, sockets, wire
from tideflow.cluster.keys import Key
from tideflow.cluster.sockets import POLLIN, poll
from tideflow.cluster.wire import Envelope, Message
from tideflow.graph import errors
from tideflow.runtime import waiting
from tideflow.runtime.waiting import Limits

LOOK_AROUND = 0.05  # seconds: who waits looks this often whether the step was cancelled
_MAX_SOCKETS = 16384

_UP = int(zmq.EVENT_HANDSHAKE_SUCCEEDED)
_NO_MEMBER = int(zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
_HUNG_UP = int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
_DOWN = int(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
_numbers = itertools.count(1)  # of requests and of monitors: no two are alike in a process


@lru_cache(maxsize=1)
def _context() -> zmq.Context:
    """The context of this process's connections."""
    context = zmq.Context()
    context.max_sockets = _MAX_SOCKETS
    return context


os.register_at_fork(after_in_child=_context.cache_clear)


def sleep_ms(limits: Limits, what: str, closed: Callable[[], bool]) -> int:
    """For how long who waits may sleep until it looks around; the error of who may wait no longer."""
    left = waiting.time_left(limits, closed, what)
    return int(min(left, LOOK_AROUND) * 1000) + 1


class Connection:
    """A connection on which both sides have said who they are. `name` is what errors call the other one;
    `sleep` says, while it is being opened, for how many milliseconds to wait until it is asked again.
    """

    def __init__(
        self,
        address: str,
        name: str,
        greeting: Message,
        key: Key | None,
        sleep: Callable[[str], int],
    ):
        self.name = name
        self._events = 0
        try:
            self._socket, self._monitor = _context().socket(zmq.DEALER), _context().socket(zmq.PAIR)
        except zmq.ZMQError as error:
            raise errors.resource_exhausted(f"No further connection to {name}: {error.strerror}.") from None
        # What wakes who waits for an answer: the answer, or the connection's end.
        self.polled = [(self._socket, POLLIN), (self._monitor, POLLIN)]
        try:
            self._open(f"tcp://{address}", key)
            self._await_handshake(sleep, key)
            self.remote = self._greet(greeting, sleep)
        except BaseException:
            self.close(linger=0)
            raise
        shares = self.remote.shares_memory
        flags = protocol.SHARES_MEMORY if shares else 0
        self._envelope = Envelope(flags, 0, self.remote.incarnation, os.getpid())
        self._share = partial(sockets.lend, borrower=self.remote.pid) if shares else None

    # ---- opening

    def _open(self, endpoint: str, key: Key | None) -> None:
        dealer = self._socket
        sockets.prepare(dealer, sockets.default_max_message_bytes())
        dealer.reconnect_ivl = -1  # a broken connection is noticed, not mended behind our back
        dealer.connect_timeout = sockets.HANDSHAKE_MS
        dealer.sndhwm = 0  # what may be under way is counted in bytes, by `Window`
        if key is not None:
            dealer.curve_serverkey = key.server()[0]
            dealer.curve_publickey, dealer.curve_secretkey = key.client()
        monitor = f"inproc://monitor-{next(_numbers)}"
        dealer.monitor(monitor, _UP | _NO_MEMBER | _HUNG_UP | _DOWN)
        self._monitor.connect(monitor)
        dealer.connect(endpoint)

    def _await_handshake(self, sleep: Callable[[str], int], key: Key | None) -> None:
        while not self._events & _UP:
            if self._events & _NO_MEMBER:
                has = "has one" if key is not None else "has none"
                raise errors.unauthenticated(
                    f"{self.name} refused the connection: both sides need the same cluster key "
                    f"(TIDEFLOW_CLUSTER_KEY names its file); this one {has}.",
                )
            if self._events & _HUNG_UP:  # as a server does that cannot read a greeting, or that is killed
                raise errors.unavailable(
                    f"{self.name} hung up while greeted: it is going down, or has another cluster key.",
                )
            if self._events & _DOWN:
                raise errors.unavailable(f"{self.name} cannot be reached: nobody answers there.")
            ready = poll(self.polled, sleep(f"Connecting to {self.name}"))
            if self._monitor in ready:
                self._look()

    def _greet(self, greeting: Message, sleep: Callable[[str], int]) -> protocol.Remote:
        request, what = next(_numbers), f"Greeting {self.name}"
        self._hand_over(wire.encode(greeting, Envelope(request=request)))
        answer = None
        while answer is None:
            answer = self.take(request, poll(self.polled, sleep(what)), what)
        return protocol.remote(wire.raise_error(answer))

    # ---- use

    def send(self, message: Message, flags: int = 0, compress: bool = False) -> int:
        """Hands a message to ZeroMQ; the number of the request."""
        own = self._envelope
        request = next(_numbers)
        envelope = Envelope(own.flags | flags, request, own.incarnation, own.pid)
        self._hand_over(wire.encode(message, envelope, compress=compress, share=self._share))
        return request

    def _hand_over(self, frames: list) -> None:
        try:
            sockets.send(self._socket, frames)
        except zmq.Again:  # nobody is connected to this socket any more
            raise errors.unavailable(f"{self.name} is gone: the connection broke.") from None

    def take(self, request: int, ready: Collection[Any], what: str) -> Message | None:
        """The answer to a request if it is what is ready; an error where the connection has broken."""
        frames = self._received(ready, what)
        if frames is None or wire.open_envelope(frames[0]).request != request:
            return None
        return wire.decode(frames, attach=shared_memory.mappings().attach)

    def acknowledged(self, ready: Collection[Any], what: str) -> int:
        """The last post acknowledged so far, if that is what is ready; 0 if not."""
        frames = self._received(ready, what)
        return 0 if frames is None else wire.open_envelope(frames[0]).request

    def _received(self, ready: Collection[Any], what: str) -> list[zmq.Frame] | None:
        if self._socket in ready:  # first: what came before the end still counts
            return sockets.receive(self._socket)
        if self._monitor in ready:
            self._look()
        if self._events & _DOWN:
            raise errors.unavailable(f"{what}: the connection broke; the task is gone.")
        return None

    def is_alive(self) -> bool:
        """Whether the connection stands, as far as is known here."""
        if self._monitor in poll(self.polled[1:], 0):
            self._look()
        return not self._events & _DOWN

    def _look(self) -> None:
        """Takes in what the monitor tells."""
        self._events |= int(parse_monitor_message(self._monitor.recv_multipart())["event"])

    def close(self, linger: int | None = None) -> None:
        """Ends the connection; with `linger` 0, what was not sent is forgotten."""
        self._socket.disable_monitor()
        self._socket.close(linger)
        self._monitor.close(0)
