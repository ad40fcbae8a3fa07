"""One connection to one task: a DEALER socket, and the monitor socket that reports when it breaks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

from tideflow.cluster import keys, protocol, shared_memory, sockets, wire
from tideflow.cluster.keys import Key
from tideflow.cluster.messages import Hello, Kinds, Message, Welcome, expect
from tideflow.cluster.pieces import cut, joined, whole_piece
from tideflow.cluster.sockets import POLLIN, poll
from tideflow.cluster.wire import Buffer, Envelope
from tideflow.graph import errors
from tideflow.graph.errors import UnauthenticatedError
from tideflow.runtime.waiting import StepContext

CHECK_SECONDS = 0.05  # a waiting thread checks so often whether its step was cancelled
_MAX_SOCKETS = 16384

_UP = int(zmq.EVENT_HANDSHAKE_SUCCEEDED)
_NO_MEMBER = int(zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
_HUNG_UP = int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
_DOWN = int(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
_numbers = itertools.count(1)  # the numbers of requests and monitors, unique in the process


@lru_cache(maxsize=1)
def _context() -> zmq.Context[zmq.Socket[bytes]]:
    """The ZeroMQ context of this process's connections."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.max_sockets = _MAX_SOCKETS
    return context


os.register_at_fork(after_in_child=_context.cache_clear)


def sleep_ms(context: StepContext, what: str, closed: Callable[[], bool]) -> int:
    """For how many milliseconds a thread may sleep before it checks again; raises once it must not wait any
    longer.

    `what` says in the error what the thread waits for; `closed` tells whether that was closed meanwhile.
    """
    left = context.time_left(closed, what)
    return int(min(left, CHECK_SECONDS) * 1000) + 1


class Connection:
    """A connection on which both sides have greeted each other.

    `name` is the other side in error messages. `greeting` is the first message, `kinds` are the kinds of
    message that are taken. While the connection is being opened, `sleep(what)` says for how many milliseconds
    to wait before it is asked again, or raises.
    """

    def __init__(
        self,
        address: tuple[str, int],
        name: str,
        greeting: Hello,
        kinds: Kinds,
        key: Key | None,
        sleep: Callable[[str], int],
    ):
        self.name, self._kinds, self._whole = name, kinds, whole_piece(key)
        self._events = 0
        try:
            self._socket, self._monitor = _context().socket(zmq.DEALER), _context().socket(zmq.PAIR)
        except zmq.ZMQError as error:
            raise errors.resource_exhausted(f"No further connection to {name}: {error.strerror}.") from None
        # A thread that waits for an answer polls for the answer, and for the end of the connection.
        self.polled = [(self._socket, POLLIN), (self._monitor, POLLIN)]
        try:
            self._open(f"tcp://{sockets.joined(*address)}", key)
            self._await_handshake(address, sleep, key)
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
        sockets.prepare(dealer, key)
        dealer.reconnect_ivl = -1  # a broken connection is reported, not reopened silently
        dealer.connect_timeout = sockets.HANDSHAKE_MS
        dealer.sndhwm = 0  # `Window` bounds what is under way, in bytes
        if key is not None:
            dealer.curve_serverkey = key.server()[0]
            dealer.curve_publickey, dealer.curve_secretkey = key.client()
        monitor = f"inproc://monitor-{next(_numbers)}"
        dealer.monitor(monitor, _UP | _NO_MEMBER | _HUNG_UP | _DOWN)
        self._monitor.connect(monitor)
        dealer.connect(endpoint)

    def _await_handshake(
        self, address: tuple[str, int], sleep: Callable[[str], int], key: Key | None
    ) -> None:
        while not self._events & _UP:
            if self._events & _NO_MEMBER:
                raise self._refused(key)
            if self._events & _HUNG_UP:  # as a server does that has another key, or that is being killed
                if sockets.is_greeted_at(address):
                    raise self._refused(key)
                raise errors.unavailable(
                    f"{self.name} hung up while greeted: it is going down, or is no task."
                )
            if self._events & _DOWN:
                raise errors.unavailable(f"{self.name} cannot be reached: nobody answers there.")
            ready = poll(self.polled, sleep(f"Connecting to {self.name}"))
            if self._monitor in ready:
                self._read_monitor()

    def _refused(self, key: Key | None) -> UnauthenticatedError:
        has = "has none" if key is None else f"has {key.origin}"
        return errors.unauthenticated(
            f"{self.name} refused the connection: both sides need the same cluster key; this one {has}. Let "
            f"{keys.VARIABLE} name one file on both sides, or let the same user start both; or start both "
            f"with {keys.INSECURE}=1.",
        )

    def _greet(self, greeting: Hello, sleep: Callable[[str], int]) -> Welcome:
        request, what = next(_numbers), f"Greeting {self.name}"
        self._send_frames(wire.encode(greeting, Envelope(request=request)))
        answer = None
        while answer is None:
            answer = self.take(request, poll(self.polled, sleep(what)), what)
        return expect(wire.raise_failure(answer), Welcome)

    # ---- messages

    def send(self, message: Message, flags: int = 0, compress: bool = False) -> int:
        """Gives a message to ZeroMQ to send; returns the number of the request.

        `flags` are those of the envelope; with `compress`, floats are cut to 16 bits.
        """
        own = self._envelope
        request = next(_numbers)
        envelope = Envelope(own.flags | flags, request, own.incarnation, own.pid)
        self._send_frames(wire.encode(message, envelope, compress=compress, share=self._share))
        return request

    def _send_frames(self, frames: list[Buffer]) -> None:
        try:
            for piece in cut(
                frames, self._whole
            ):  # each by itself: the first leaves while the last is copied
                sockets.send(self._socket, [piece])
        except zmq.Again:  # the socket has no connection any more
            raise errors.unavailable(f"{self.name} is gone: the connection broke.") from None

    def take(self, request: int, ready: Collection[Any], what: str) -> Message | None:
        """The answer to a request, if it is on one of the `ready` sockets; an error if the connection has
        broken.
        """
        frames = self._received(ready, what)
        if frames is None or wire.open_envelope(frames[0]).request != request:
            return None
        return wire.decode(frames, self._kinds, attach=shared_memory.mappings().attach)

    def acknowledged(self, ready: Collection[Any], what: str) -> int:
        """The number of the last posted message that the other side has handled, if it said so on one of the
        `ready` sockets; otherwise 0. Raises the error with which it refused one.
        """
        frames = self._received(ready, what)
        if frames is None:
            return 0
        wire.raise_failure(wire.decode(frames, self._kinds))
        return wire.open_envelope(frames[0]).request

    def _received(self, ready: Collection[Any], what: str) -> list[Buffer] | None:
        if self._socket in ready:  # first: a message that came before the connection broke still counts
            return joined(sockets.receive(self._socket), self._whole)
        if self._monitor in ready:
            self._read_monitor()
        if self._events & _DOWN:
            raise errors.unavailable(f"{what}: the connection broke; the task is gone.")
        return None

    def is_alive(self) -> bool:
        """Whether the connection is open, as far as its monitor has reported."""
        if self._monitor in poll(self.polled[1:], 0):
            self._read_monitor()
        return not self._events & _DOWN

    def _read_monitor(self) -> None:
        self._events |= int(parse_monitor_message(self._monitor.recv_multipart())["event"])

    def close(self, linger: int | None = None) -> None:
        """Closes the connection; with `linger` 0, messages that were not sent yet are discarded."""
        self._socket.disable_monitor()
        self._socket.close(linger)
        self._monitor.close(0)
