"""The asking end of the transport: requests to one task, from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tideflow.cluster import messages, protocol, shared_memory, sockets, wire
from tideflow.cluster.connection import CHECK_SECONDS, Connection, sleep_ms
from tideflow.cluster.keys import Key
from tideflow.cluster.messages import A, Kinds, Message, TensorsAhead, expect
from tideflow.cluster.protocol import Identity, Window
from tideflow.cluster.sockets import POLLIN, poll
from tideflow.graph import errors
from tideflow.graph.errors import (
    AbortedError,
    DeadlineExceededError,
    OpError,
    UnavailableError,
)
from tideflow.runtime.waiting import StepContext
from tideflow.runtime.wake_events import WakeEvent

CONNECT_SECONDS = 10.0
IDLE_CONNECTIONS = 16

OnMessage = Callable[[Message], None]


class Pending:
    """A request without an answer yet. One thread at a time waits for the answer.

    `kind` is the kind of the request, for errors. `on_message` is called with each message that the other
    side sends ahead of its answer, and then with the answer.
    """

    def __init__(
        self, peer: Peer, connection: Connection, request: int, kind: str, on_message: OnMessage | None
    ):
        self._peer, self._request, self.what = peer, request, f"{peer.name}: '{kind}'"
        self._connection: Connection | None = connection
        self._answer: Message | None = None
        self._on_message = on_message

    def result(self, timeout: float | None = None, context: StepContext | None = None) -> Message:
        """The answer. Raises the error with which the other side answered, or that kept it from answering."""
        return gather([self], timeout, context)[0]

    def add(self, message: Message, compress: bool = False) -> None:
        """Posts a message that belongs to the request, behind it on its connection. It does not wait for the
        window of posted messages, so it is for few and small ones.
        """
        if self._connection is None:
            raise errors.cancelled(f"{self.what} is over.")
        self._connection.send(message, protocol.POSTED, compress)

    def cancel(self) -> None:
        """Gives up the request. The other side learns it when its answer finds the connection closed."""
        connection, self._connection, self._on_message = self._connection, None, None
        if connection is not None:
            connection.close(linger=0)

    __del__ = cancel

    def _polled(self) -> list[tuple[Any, int]]:
        if self._connection is None:
            raise errors.cancelled(f"{self.what} was given up.")
        return self._connection.polled

    def _receive(self, ready: Collection[Any]) -> bool:
        """Takes a message from one of the `ready` sockets, if there is one; whether it was the answer. Raises
        if no answer can come any more.
        """
        connection = self._connection
        assert connection is not None
        try:
            message = connection.take(self._request, ready, self.what)
        except OpError as error:
            raise self._peer._explained(error, connection) from None
        if message is None:
            return False
        if self._on_message is not None:
            self._on_message(message)
        if type(message) is TensorsAhead:
            return False
        # The callback may hold this request. Without that cycle, no memory has to wait for the collector.
        self._answer, self._connection, self._on_message = message, None, None
        self._peer._give_back(connection)
        wire.raise_failure(message)
        return True


def gather(
    pending: Sequence[Pending], timeout: float | None = None, context: StepContext | None = None
) -> list[Message]:
    """The answers to several requests, in order. The first failure is raised at once, the rest given up."""
    context = _within(context, timeout)
    try:
        left = [one for one in pending if one._answer is None]
        while left:
            polled = [item for one in left for item in one._polled()]
            ready = poll(polled, sleep_ms(context, left[0].what, left[0]._peer.is_closed))
            left = [one for one in left if not one._receive(ready)]
    except BaseException:
        for one in pending:
            one.cancel()
        raise
    return [wire.raise_failure(one._answer) for one in pending if one._answer is not None]


def attend(pending: Sequence[Pending], wake_event: WakeEvent, seconds: float) -> None:
    """Waits until a message comes for one of the requests, or the wake event is set, for so many seconds at
    most. Messages go to the requests' `on_message`.
    """
    left = [one for one in pending if one._answer is None]
    polled = [(wake_event.fd, POLLIN), *(item for one in left for item in one._polled())]
    ready = poll(polled, int(seconds * 1000))
    for one in left:
        one._receive(ready)
    if wake_event.fd in ready:
        wake_event.wait(0)


def _within(context: StepContext | None, seconds: float | None) -> StepContext:
    """A step's context, or a new one for a request of no step; at most so many seconds."""
    context = StepContext() if context is None else context
    return context if seconds is None else context.inner(seconds)


class Peer:
    """One remote task, for any number of threads; a connection is opened when one is needed and none is idle.

    `task` is the name that the task must have, "" for any; `me` identifies this process; `kinds` are the
    kinds of message that it takes. `incarnation` is the one with which the task last answered a greeting, 0
    before that. A request that names an incarnation fails with AbortedError once the task has another.
    """

    def __init__(
        self,
        address: str,
        *,
        task: str = "",
        me: Identity | None = None,
        kinds: Kinds = messages.CLUSTER,
        key: Key | None = None,
        insecure: bool = False,
    ):
        sockets.split_address(address)
        self.address, self.task = address, task
        self.name = f"{task} at {address}" if task else f"The task at {address}"
        self.incarnation = 0
        self._me, self._kinds, self._key, self._insecure = me or Identity(), kinds, key, insecure
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._post_lock = threading.Lock()
        self._post_connection: Connection | None = None
        self._window = Window(sockets.POSTED_BYTES, sockets.POSTED_MESSAGES)

    def connect(self, timeout: float | None = None, context: StepContext | None = None) -> None:
        """Waits until the task answers a greeting; after the timeout, raises the reason why it did not."""
        context, why = _within(context, timeout), ""
        while True:
            try:
                if why:
                    time.sleep(sleep_ms(context, f"Waiting for {self.name}", self.is_closed) / 1000)
                connection, is_new = self._borrow(context)
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
        answer: type[A],
        timeout: float | None = None,
        context: StepContext | None = None,
        *,
        incarnation: int = 0,
        compress: bool = False,
    ) -> A:
        """Sends a request and waits for its answer, which must be of the kind `answer`, for `timeout` seconds
        and within the context of the step. With `compress`, floats are cut to 16 bits on their way.
        """
        context = _within(context, timeout)
        pending = self.start(message, context, incarnation=incarnation, compress=compress)
        return expect(pending.result(context=context), answer)

    def start(
        self,
        message: Message,
        context: StepContext | None = None,
        *,
        incarnation: int = 0,
        compress: bool = False,
        on_message: OnMessage | None = None,
    ) -> Pending:
        """Sends a request; `result` of the pending request waits for the answer."""
        context = _within(context, None)
        while True:
            connection, is_new = self._borrow(context)
            try:
                self._check_incarnation(connection, incarnation)
                request = connection.send(message, compress=compress)
                return Pending(self, connection, request, message.kind, on_message)
            except BaseException as error:
                connection.close(linger=0)
                if is_new or not isinstance(error, UnavailableError):
                    raise  # an idle connection may have broken long ago: then a new one is tried

    def post(
        self,
        message: Message,
        context: StepContext | None = None,
        *,
        incarnation: int = 0,
        compress: bool = False,
    ) -> None:
        """Sends a message that has no answer. Posted messages arrive in order; the calling thread waits while
        the task has not handled enough of those before.
        """
        context = _within(context, None)
        what = f"{self.name}: '{message.kind}'"
        with self._post_lock_held(context, what):
            connection = self._post_connection_opened(context)
            self._check_incarnation(connection, incarnation)
            self._wait_for_window(connection, context, what)
            self._post(connection, message, compress)

    def try_post(self, message: Message, *, compress: bool = False) -> bool:
        """Posts a message if that is possible without waiting; whether it was sent."""
        if not self._post_lock.acquire(blocking=False):
            return False
        try:
            connection = self._post_connection
            if connection is None:
                return False
            while self._take_acknowledgement(connection, 0, message.kind):
                pass
            if not self._window.is_open():
                return False
            self._post(connection, message, compress)
            return True
        except UnavailableError:  # opening a new connection would take time
            return False
        finally:
            self._post_lock.release()

    def _post(self, connection: Connection, message: Message, compress: bool) -> None:
        size = sum(wire.size_of(value) for value in message.tensors)
        flags = protocol.POSTED | (protocol.ACKNOWLEDGE if self._window.should_ask(size) else 0)
        self._window.sent(connection.send(message, flags, compress), size)

    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self) -> None:
        """Closes the connections. Threads that wait for an answer get CancelledError; posted messages still
        go out.
        """
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close(linger=0)
        with self._post_lock:
            if self._post_connection is not None:
                self._post_connection.close()
                self._post_connection = None

    # ---- connections

    def _borrow(self, context: StepContext) -> tuple[Connection, bool]:
        """A connection for this thread alone, and whether it is new."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._new(context), True
            if connection.remote.incarnation == self.incarnation:
                return connection, False
            connection.close(linger=0)

    def _new(self, context: StepContext) -> Connection:
        if self._closed:
            raise errors.cancelled(f"{self.name}: this end of the connection is closed.")
        host, port, key = sockets.resolve(self.address, self._key, self._insecure)
        context = _within(context, CONNECT_SECONDS)
        greeting = protocol.hello(self._me, self.task, shared_memory.host_memory())
        sleep = lambda what: sleep_ms(context, what, self.is_closed)
        connection = Connection((host, port), self.name, greeting, self._kinds, key, sleep)
        self.incarnation = connection.remote.incarnation
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close(linger=0)

    def _check_incarnation(self, connection: Connection, incarnation: int) -> None:
        found = connection.remote.incarnation
        if incarnation not in (0, found):
            raise self._restarted(incarnation, found)

    def _restarted(self, old: int, new: int) -> AbortedError:
        return errors.aborted(f"{self.name} was restarted: its life {old:x} is over, {new:x} is there now.")

    def _explained(self, error: OpError, connection: Connection) -> OpError:
        """Why a connection failed: if the task has another incarnation by now, it was restarted."""
        found = connection.remote.incarnation
        if isinstance(error, UnavailableError) and found != self.incarnation:
            return self._restarted(found, self.incarnation)
        return error

    # ---- posted messages

    @contextmanager
    def _post_lock_held(self, context: StepContext, what: str) -> Iterator[None]:
        while not self._post_lock.acquire(timeout=CHECK_SECONDS):
            sleep_ms(context, what, self.is_closed)
        try:
            yield
        finally:
            self._post_lock.release()

    def _post_connection_opened(self, context: StepContext) -> Connection:
        old = self._post_connection
        if old is not None and old.is_alive():
            return old
        if old is not None:
            old.close(linger=0)
            self._post_connection = None
        new = self._post_connection = self._new(context)
        window, self._window = self._window, Window(sockets.POSTED_BYTES, sockets.POSTED_MESSAGES)
        if old is not None and old.remote.incarnation == new.remote.incarnation and window.is_used():
            raise errors.unavailable(
                f"{self.name} was out of reach for a while: what was posted before may be lost."
            )
        return new

    def _wait_for_window(self, connection: Connection, context: StepContext, what: str) -> None:
        """Takes the acknowledgements that have come, and waits for more while the window is full."""
        has_more = True
        while has_more or not self._window.is_open():
            is_full = not self._window.is_open()
            pause = sleep_ms(context, what, self.is_closed) if is_full else 0
            has_more = self._take_acknowledgement(connection, pause, what)

    def _take_acknowledgement(self, connection: Connection, milliseconds: int, what: str) -> bool:
        """Takes one acknowledgement of posted messages, if it comes within this time; whether it did."""
        ready = poll(connection.polled, milliseconds)
        self._window.acknowledged(connection.acknowledged(ready, what))
        return bool(ready)
