"""The answering end: one thread that owns one socket, and lets nobody who sends anything do harm."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import zmq

from tideflow.cluster import protocol, shared_memory, sockets, wire
from tideflow.cluster.keys import Key
from tideflow.cluster.protocol import Identity, Load
from tideflow.cluster.wire import Envelope, Message
from tideflow.graph import errors
from tideflow.graph.errors import OpError

PENDING_IN_ALL = 65536  # requests that wait for an answer, of all clients together

_MOST_AT_A_TIME = 16  # messages that are seen to before who else has woken the listener

_log = logging.getLogger("tideflow.cluster")

Handle = Callable[[Message, "Reply | None"], None]


class Reply:
    """Answers one request, once, from any thread."""

    __slots__ = ("_client", "_envelope", "_listener", "answered")

    def __init__(self, listener: Listener, client: bytes, envelope: Envelope):
        self._listener, self._client, self._envelope = listener, client, envelope
        self.answered = False

    def __call__(self, message: Message, *, compress: bool = False) -> None:
        if self.answered:
            raise errors.internal(f"A request was answered twice, now with '{message.kind}'.")
        try:
            frames = self._encoded(message, compress)
        except OpError as error:  # who asked should know, whoever answers
            frames = self._encoded(wire.error_message(error), False)
        self.answered = True
        self._listener._answer(self._client, frames)

    def ahead(self, message: Message, *, compress: bool = False) -> None:
        """Sends something before the answer. It waits for nobody, so it is for little things, and few."""
        self._listener._answer(self._client, self._encoded(message, compress), is_last=False)

    def _encoded(self, message: Message, compress: bool) -> list:
        share = None
        if self._envelope.flags & protocol.SHARES_MEMORY:
            share = partial(sockets.lend, borrower=self._envelope.pid)
        return wire.encode(message, Envelope(request=self._envelope.request), compress=compress, share=share)

    def __del__(self) -> None:
        if not self.answered:  # nobody can answer any more: who asked should not wait for it
            error = errors.internal("The request was dropped without an answer.")
            frames = wire.encode(wire.error_message(error), Envelope(request=self._envelope.request))
            self._listener._answer_later(self._client, frames)


class Listener:
    """Takes requests at an address and has `handle(message, reply)` see to them, on its own thread.

    `handle` must be quick; `reply(message)` may be called at once or later, from any thread, once. For a
    message that was posted, and waits for no answer, `reply` is None. Port 0 takes a free one: see `port`.
    """

    def __init__(
        self,
        address: str,
        handle: Handle,
        *,
        identity: Identity | None = None,
        key: Key | None = None,
        insecure: bool = False,
        max_message_bytes: int | None = None,
        max_pending: int = 256,
    ):
        host, port = sockets.resolve(address, key, insecure)
        self.identity = identity or Identity()
        self._handle, self._load = handle, Load(max_pending, PENDING_IN_ALL)
        self._put_off: deque[Callable[[], None]] = deque()
        self._outbox: deque[tuple[bytes, list, bool]] = deque()
        self._context = zmq.Context()
        self._closing = False
        self._awake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        limit = max_message_bytes or sockets.default_max_message_bytes()
        self._router, self._guard = self._bind(sockets.joined(host, port), key, limit)
        self.port = int(self._router.last_endpoint.rpartition(b":")[2])
        self.address = sockets.joined(host, self.port)
        self._thread = threading.Thread(target=self._serve, name=f"tideflow-{self.address}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening. Answers given still go out; who waits for others learns that this end left."""
        self._closing = True
        self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _bind(self, address: str, key: Key | None, max_message_bytes: int) -> tuple[zmq.Socket, Any]:
        guard = None
        try:
            guard = _admit_only(key, self._context) if key is not None else None
            router = self._context.socket(zmq.ROUTER)
            sockets.prepare(router, max_message_bytes)
            router.router_mandatory = True  # an answer to who is gone is an error here, not silence
            router.sndhwm = sockets.QUEUED_MESSAGES
            if key is not None:
                router.curve_server = True
                router.curve_publickey, router.curve_secretkey = key.server()
            router.bind(f"tcp://{address}")
            return router, guard
        except zmq.ZMQError as error:
            if guard is not None:
                guard.stop()
            self._context.destroy(linger=0)
            self._awake.close(), self._waker.close()
            raise errors.unknown(f"Could not start a server at {address}: {error.strerror}.") from None

    # ---- its own thread

    def _serve(self) -> None:
        watched = [(self._router, sockets.POLLIN), (self._awake, sockets.POLLIN)]
        try:
            while not self._closing:
                ready = sockets.poll(watched, 1000)
                if self._router in ready:
                    self._take_some()
                if any(one is not self._router for one in ready):
                    self._awake.recv(4096)
                self._finish_round()
            self._finish_round()
        finally:
            self._router.close()
            if self._guard is not None:
                self._guard.stop()
            self._context.term()
            self._awake.close(), self._waker.close()

    def call_soon(self, call: Callable[[], None]) -> None:
        """Has the listener's thread call something, which must be quick, when it has done what it does."""
        self._put_off.append(call)
        if threading.current_thread() is not self._thread:
            self._wake()

    def _finish_round(self) -> None:
        """Does what was put off, and lets the answers of others leave."""
        while self._put_off:
            try:
                self._put_off.popleft()()
            except Exception:
                _log.exception("%s: what was put off failed", self.address)
        while self._outbox:
            self._answer_now(*self._outbox.popleft())

    def _take_some(self) -> None:
        """What is there: to look for the next message costs less than to wait for it."""
        for _ in range(_MOST_AT_A_TIME):
            client, *frames = sockets.receive(self._router)
            self._take_safely(client.bytes, frames)
            self._finish_round()
            if not self._router.getsockopt(zmq.EVENTS) & sockets.POLLIN:
                return

    def _take_safely(self, client: bytes, frames: list) -> None:
        """One message of whoever it is: it cannot do harm, whatever it says."""
        try:
            self._take(client, frames)
        except Exception:
            _log.exception("%s: a message was dropped", self.address)

    def _take(self, client: bytes, frames: list) -> None:
        try:
            envelope = wire.open_envelope(frames[0] if frames else b"")
        except OpError as error:
            self._refuse(client, wire.request_of(frames[0]) if frames else None, error)
            return
        reply = None
        if not envelope.flags & protocol.POSTED:
            try:
                self._load.admit(client)
            except OpError as error:
                self._refuse(client, envelope.request, error)
                return
            reply = Reply(self, client, envelope)
        try:
            self._see_to(envelope, frames, reply)
        except Exception as error:
            self._tell(error, reply)
        if envelope.flags & protocol.ACKNOWLEDGE:
            done = wire.encode(Message(protocol.ACKNOWLEDGED), Envelope(request=envelope.request))
            self._send(client, done)

    def _see_to(self, envelope: Envelope, frames: list, reply: Reply | None) -> None:
        me = self.identity
        if envelope.incarnation not in (me.incarnation, 0):
            raise errors.aborted(
                f"{me.task or 'The task'} was restarted: the message is for its life "
                f"{envelope.incarnation:x}, this is {me.incarnation:x}.",
            )
        message = wire.decode(frames, attach=shared_memory.mappings().attach)
        if envelope.incarnation:
            self._handle(message, reply)
        elif message.kind == protocol.HELLO and reply is not None:
            reply(protocol.welcome(me, message, os.getpid(), shared_memory.reaches))
        else:
            raise errors.failed_precondition(f"Who sends '{message.kind:.50}' must say hello first.")

    def _tell(self, error: Exception, reply: Reply | None) -> None:
        if reply is None:
            _log.warning("%s: a posted message was dropped: %s", self.address, error)
        elif not reply.answered:
            reply(wire.error_message(error))
        else:
            _log.error("%s: after its answer, a request failed", self.address, exc_info=error)

    def _refuse(self, client: bytes, request: int | None, error: OpError) -> None:
        """Tells who asked for something why not; who sent what is no request at all gets nothing."""
        if request is not None:
            self._send(client, wire.encode(wire.error_message(error), Envelope(request=request)))

    # ---- answers

    def _answer(self, client: bytes, frames: list, is_last: bool = True) -> None:
        if threading.current_thread() is self._thread:
            self._answer_now(client, frames, is_last)
        else:
            self._answer_later(client, frames, is_last)

    def _answer_later(self, client: bytes, frames: list, is_last: bool = True) -> None:
        self._outbox.append((client, frames, is_last))
        self._wake()

    def _answer_now(self, client: bytes, frames: list, is_last: bool) -> None:
        if is_last:
            self._load.answered(client)
        self._send(client, frames)

    def _send(self, client: bytes, frames: list) -> None:
        try:
            sockets.send(self._router, [client, *frames])
        except zmq.Again:
            _log.debug("%s: a client does not read its answers; one is dropped", self.address)
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:  # the client is gone: nobody waits for this
                raise

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it is awake already, or has ended
            self._waker.send(b"\0")


def _admit_only(key: Key, context: zmq.Context) -> Any:
    """Guards a context's servers: only who holds the cluster's client key gets past the handshake."""
    from zmq.auth.thread import ThreadAuthenticator

    class OnlyMembers:
        def callback(self, domain: str, client_key: bytes) -> bool:
            return client_key == key.client()[0]

    guard = ThreadAuthenticator(context)
    guard.start()
    guard.configure_curve_callback("*", OnlyMembers())
    return guard
