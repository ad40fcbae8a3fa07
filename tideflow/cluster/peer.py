"""The asking end: requests to one task, from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tideflow.cluster import protocol, shared_memory, sockets, wire
from tideflow.cluster.connection import LOOK_AROUND, Connection, sleep_ms
from tideflow.cluster.keys import Key
from tideflow.cluster.protocol import Identity, Window
from tideflow.cluster.sockets import POLLIN, poll
from tideflow.cluster.wire import Message
from tideflow.graph import errors
from tideflow.graph.errors import (
    AbortedError,
    DeadlineExceededError,
    OpError,
    UnavailableError,
)
from tideflow.runtime import waiting
from tideflow.runtime.waiting import Limits
from tideflow.runtime.wake_events import WakeEvent

CONNECT_SECONDS = 10.0
IDLE_CONNECTIONS = 16


Heed = Callable[[Message], None]


class Pending:
    """A request that is under way. Its answer is fetched by one thread at a time. `on_message` sees the answer
    first, and before that whatever the other side says ahead of it.
    """

    def __init__(self, peer: Peer, connection: Connection, request: int, what: str, on_message: Heed | None):
        self._peer, self._request, self.what = peer, request, f"{peer.name}: '{what}'"
        self._connection: Connection | None = connection
        self._answer: Message | None = None
        self._heed = on_message

    def result(self, timeout: float | None = None, limits: Limits | None = None) -> Message:
        """The answer; an error that the other side told of, or that kept it from answering, is raised."""
        return gather([self], timeout, limits)[0]

    def add(self, message: Message, compress: bool = False) -> None:
        """Sends what belongs to the request, behind it on its connection. It waits for nobody, so it is for
        little things.
        """
        if self._connection is None:
            raise errors.cancelled(f"{self.what} is over.")
        self._connection.send(message, protocol.POSTED, compress)

    def cancel(self) -> None:
        """Waits no longer. The other side is not told: its answer finds the connection closed."""
        connection, self._connection, self._heed = self._connection, None, None
        if connection is not None:
            connection.close(linger=0)

    __del__ = cancel

    def _polled(self) -> list[tuple[Any, int]]:
        if self._connection is None:
            raise errors.cancelled(f"{self.what} was given up.")
        return self._connection.polled

    def _fetch(self, ready: Collection[Any]) -> bool:
        """Whether the answer is here, if it is what is ready; the reason is raised where it never will be."""
        connection = self._connection
        try:
            message = connection.take(self._request, ready, self.what)
        except OpError as error:
            raise self._peer._explained(error, connection) from None
        if message is None:
            return False
        if self._heed is not None:
            self._heed(message)
        if message.kind == protocol.AHEAD:
            return False
        # Who heeds may hold this request: nothing may wait for the collector, least of all shared memory.
        self._answer, self._connection, self._heed = message, None, None
        self._peer._give_back(connection)
        wire.raise_error(message)
        return True


def gather(
    pending: Sequence[Pending], timeout: float | None = None, limits: Limits | None = None
) -> list[Message]:
    """The answers to several requests, in order. The first failure is raised at once, the rest given up."""
    limits = _within(limits, timeout)
    try:
        left = [one for one in pending if one._answer is None]
        while left:
            polled = [item for one in left for item in one._polled()]
            ready = poll(polled, sleep_ms(limits, left[0].what, left[0]._peer.is_closed))
            left = [one for one in left if not one._fetch(ready)]
    except BaseException:
        for one in pending:
            one.cancel()
        raise
    return [wire.raise_error(one._answer) for one in pending]


def attend(pending: Sequence[Pending], wake_event: WakeEvent, seconds: float) -> None:
    """Waits until something comes for one of the requests, and sees to it, or the wake event rings."""
    left = [one for one in pending if one._answer is None]
    polled = [(wake_event.fd, POLLIN), *(item for one in left for item in one._polled())]
    ready = poll(polled, int(seconds * 1000))
    for one in left:
        one._fetch(ready)
    if wake_event.fd in ready:
        wake_event.wait(0)


def _within(limits: Limits | None, seconds: float | None) -> Limits:
    """The limits, of this thread's step where none are given, and not longer than so many seconds."""
    limits = waiting.limits() if limits is None else limits
    if seconds is None:
        return limits
    deadline = time.monotonic() + seconds
    if limits.deadline is not None and limits.deadline < deadline:
        return limits
    return Limits(deadline, seconds, outer=limits)


class Peer:
    """One remote task. Thread-safe; a connection is opened when one is needed and none is idle.

    `task` is who is meant to be there, `me` who asks. `incarnation` is the life of the task last met, 0
    before that; a request that names an incarnation goes to that life or fails with AbortedError.
    """

    def __init__(
        self,
        address: str,
        *,
        task: str = "",
        me: Identity | None = None,
        key: Key | None = None,
        insecure: bool = False,
    ):
        sockets.split_address(address)
        self.address, self.task = address, task
        self.name = f"{task} at {address}" if task else f"The task at {address}"
        self.incarnation = 0
        self._me, self._key, self._insecure = me or Identity(), key, insecure
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._posting = threading.Lock()
        self._posts: Connection | None = None
        self._window = Window(sockets.POSTED_BYTES, sockets.POSTED_MESSAGES)

    def connect(self, timeout: float | None = None, limits: Limits | None = None) -> None:
        """Waits until the task is there and has been greeted; who waits in vain learns why."""
        limits, why = _within(limits, timeout), ""
        while True:
            try:
                if why:
                    time.sleep(sleep_ms(limits, f"Waiting for {self.name}", self.is_closed) / 1000)
                connection, is_new = self._borrow(limits)
                if is_new or connection.is_alive():
                    self._give_back(connection)
                    return
                connection.close(linger=0)
            except UnavailableError as error:
                why = error.message
            except DeadlineExceededError as error:
                raise errors.deadline_exceeded(f"{error.message} {why}".strip()) from None

    def call(
        self,
        message: Message,
        timeout: float | None = None,
        limits: Limits | None = None,
        *,
        incarnation: int = 0,
        compress: bool = False,
    ) -> Message:
        """Sends a request and waits for its answer, `timeout` seconds and within the limits of the step."""
        limits = _within(limits, timeout)
        return self.start(message, limits, incarnation=incarnation, compress=compress).result(limits=limits)

    def start(
        self,
        message: Message,
        limits: Limits | None = None,
        *,
        incarnation: int = 0,
        compress: bool = False,
        on_message: Heed | None = None,
    ) -> Pending:
        """Sends a request; its answer is fetched later."""
        limits = _within(limits, None)
        while True:
            connection, is_new = self._borrow(limits)
            try:
                self._check_life(connection, incarnation)
                request = connection.send(message, compress=compress)
                return Pending(self, connection, request, message.kind, on_message)
            except BaseException as error:
                connection.close(linger=0)
                if is_new or not isinstance(error, UnavailableError):
                    raise  # an idle connection may have broken long ago: that says nothing of the task

    def post(
        self, message: Message, limits: Limits | None = None, *, incarnation: int = 0, compress: bool = False
    ) -> None:
        """Sends what wants no answer. Posts arrive in order; who is faster than the reader waits."""
        limits = _within(limits, None)
        what = f"{self.name}: '{message.kind}'"
        with self._turn_to_post(limits, what):
            connection = self._posting_connection(limits)
            self._check_life(connection, incarnation)
            self._await_window(connection, limits, what)
            self._post(connection, message, compress)

    def post_at_once(self, message: Message, *, compress: bool = False) -> bool:
        """The same where nobody has to wait for it; whether it was sent."""
        if not self._posting.acquire(blocking=False):
            return False
        try:
            connection = self._posts
            if connection is None:
                return False
            while self._hear_of_posts(connection, 0, message.kind):
                pass
            if not self._window.is_open():
                return False
            self._post(connection, message, compress)
            return True
        except UnavailableError:  # a new connection takes its time
            return False
        finally:
            self._posting.release()

    def _post(self, connection: Connection, message: Message, compress: bool) -> None:
        size = sum(wire.size_of(value) for value in message.tensors)
        flags = protocol.POSTED | (protocol.ACKNOWLEDGE if self._window.asks(size) else 0)
        self._window.sent(connection.send(message, flags, compress), size)

    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Asks no more; who waits for an answer is told. What was posted still goes out."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close(linger=0)
        with self._posting:
            if self._posts is not None:
                self._posts.close()
                self._posts = None

    # ---- connections

    def _borrow(self, limits: Limits) -> tuple[Connection, bool]:
        """A connection of this thread's own, and whether it is a new one."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._new(limits), True
            if connection.remote.incarnation == self.incarnation:
                return connection, False
            connection.close(linger=0)

    def _new(self, limits: Limits) -> Connection:
        if self._closed:
            raise errors.cancelled(f"{self.name}: this end of the connection is closed.")
        address = sockets.joined(*sockets.resolve(self.address, self._key, self._insecure))
        limits = _within(limits, CONNECT_SECONDS)
        greeting = protocol.hello(self._me, self.task, shared_memory.host())
        connection = Connection(
            address, self.name, greeting, self._key, lambda what: sleep_ms(limits, what, self.is_closed)
        )
        self.incarnation = connection.remote.incarnation
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close(linger=0)

    def _check_life(self, connection: Connection, incarnation: int) -> None:
        met = connection.remote.incarnation
        if incarnation not in (0, met):
            raise self._restarted(incarnation, met)

    def _restarted(self, old: int, new: int) -> AbortedError:
        return errors.aborted(f"{self.name} was restarted: its life {old:x} is over, {new:x} is there now.")

    def _explained(self, error: OpError, connection: Connection) -> OpError:
        """Why a connection failed: where its task has been met in a new life since, that says more."""
        met = connection.remote.incarnation
        if isinstance(error, UnavailableError) and met != self.incarnation:
            return self._restarted(met, self.incarnation)
        return error

    # ---- posts

    @contextmanager
    def _turn_to_post(self, limits: Limits, what: str) -> Iterator[None]:
        while not self._posting.acquire(timeout=LOOK_AROUND):
            sleep_ms(limits, what, self.is_closed)
        try:
            yield
        finally:
            self._posting.release()

    def _posting_connection(self, limits: Limits) -> Connection:
        old = self._posts
        if old is not None and old.is_alive():
            return old
        if old is not None:
            old.close(linger=0)
            self._posts = None
        new = self._posts = self._new(limits)
        window, self._window = self._window, Window(sockets.POSTED_BYTES, sockets.POSTED_MESSAGES)
        if old is not None and old.remote.incarnation == new.remote.incarnation and window.is_used():
            raise errors.unavailable(
                f"{self.name} was out of reach for a while: what was posted before may be lost."
            )
        return new

    def _await_window(self, connection: Connection, limits: Limits, what: str) -> None:
        heard = True
        while heard or not self._window.is_open():
            is_full = not self._window.is_open()
            pause = sleep_ms(limits, what, self.is_closed) if is_full else 0
            heard = self._hear_of_posts(connection, pause, what)

    def _hear_of_posts(self, connection: Connection, milliseconds: int, what: str) -> bool:
        """Takes in which posts were handled, if something of that comes in time; whether it did."""
        ready = poll(connection.polled, milliseconds)
        self._window.acknowledged(connection.acknowledged(ready, what))
        return bool(ready)
