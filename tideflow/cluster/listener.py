"""The answering end of the transport: one thread that owns one socket, whatever is sent to it."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial

import zmq
from zmq.auth.thread import ThreadAuthenticator

from tideflow.cluster import messages, protocol, shared_memory, sockets, wire
from tideflow.cluster.clients import REVIEW_SECONDS, Clients
from tideflow.cluster.keys import Key
from tideflow.cluster.listening import ListeningSocket
from tideflow.cluster.messages import Acknowledged, Hello, Kinds, Message
from tideflow.cluster.pieces import Assemblies, cut, whole_piece
from tideflow.cluster.protocol import Identity, Load, Sender
from tideflow.cluster.wire import Buffer, Envelope
from tideflow.graph import errors
from tideflow.graph.errors import OpError, ResourceExhaustedError

MAX_OPEN_REQUESTS = 65536  # requests of all clients together

_BATCH = 16  # messages that the thread takes before it looks for other work

_log = logging.getLogger("tideflow.cluster")

Handler = Callable[[Message, "Reply | None", Sender], None]


class Reply:
    """Answers one request, once, from any thread."""

    __slots__ = ("_client", "_envelope", "_listener", "answered")

    def __init__(self, listener: Listener, client: bytes, envelope: Envelope):
        self._listener, self._client, self._envelope = listener, client, envelope
        self.answered = False

    def __call__(self, message: Message, *, compress: bool = False) -> None:
        """Sends the answer; with `compress`, floats are cut to 16 bits."""
        if self.answered:
            raise errors.internal(f"A request was answered twice, now with '{message.kind}'.")
        try:
            frames = self._encoded(message, compress)
        except OpError as error:  # the client gets this error instead of an answer
            frames = self._encoded(wire.failure_of(error), False)
        self.answered = True
        self._listener._answer(self._client, frames)

    def ahead(self, message: Message, *, compress: bool = False) -> None:
        """Sends a message before the answer. It is not counted by the client's window: for few and small
        ones.
        """
        self._listener._answer(self._client, self._encoded(message, compress), is_last=False)

    def call_soon(self, call: Callable[[], None]) -> None:
        """Has the listener's thread call a quick function, after what it does now."""
        self._listener.call_soon(call)

    def _encoded(self, message: Message, compress: bool) -> list[Buffer]:
        share = None
        if self._envelope.flags & protocol.SHARES_MEMORY:
            share = partial(sockets.lend, borrower=self._envelope.pid)
        return wire.encode(message, Envelope(request=self._envelope.request), compress=compress, share=share)

    def __del__(self) -> None:
        if not self.answered:  # no thread can answer any more: the client should not wait
            error = errors.internal("The request was dropped without an answer.")
            frames = wire.encode(wire.failure_of(error), Envelope(request=self._envelope.request))
            self._listener._answer_later(self._client, frames)


class Listener:
    """Receives messages at an address and calls `handle(message, reply, sender)` for each, on a thread of its
    own.

    `handle` must be quick. It, or any other thread later, calls `reply(answer)` once; for a posted message,
    whose sender waits for no answer, `reply` is None. `on_left` is called with each sender whose connection
    is closed, when all of its messages are handled. `kinds` are the kinds of message that are taken. Port 0
    takes a free one: see `port`. Without a `key`, clients on the loopback authenticate with the user's own,
    and off the loopback one is needed, unless everybody who can reach the port is trusted (`insecure`). A
    client may have at most `max_pending` requests without an answer. Messages that have not all arrived hold
    at most `max_message_bytes` together.
    """

    def __init__(
        self,
        address: str,
        handle: Handler,
        *,
        kinds: Kinds = messages.CLUSTER,
        identity: Identity | None = None,
        key: Key | None = None,
        insecure: bool = False,
        max_message_bytes: int | None = None,
        max_pending: int = 256,
        on_left: Callable[[Sender], None] = lambda sender: None,
    ):
        host, port, key = sockets.resolve(address, key, insecure)
        self.identity = identity or Identity()
        self._handle, self._kinds, self._load = handle, kinds, Load(max_pending, MAX_OPEN_REQUESTS)
        self._on_left = on_left
        self._calls: deque[Callable[[], None]] = deque()
        self._outbox: deque[tuple[bytes, list[Buffer], bool]] = deque()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._closing = False
        self._awake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        limit = max_message_bytes or sockets.default_max_message_bytes()
        self._unfinished = Assemblies(limit, whole_piece(key))
        self._clients = Clients(2 * sockets.QUEUED_MESSAGES * whole_piece(key), limit)
        self._listening, self._router, self._guard = self._bind(host, port, key)
        self._monitor = self._listening.attach(self._router)
        self.port, self.address = self._listening.port, self._listening.address
        self._thread = threading.Thread(target=self._serve, name=f"tideflow-{self.address}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening. Answers that were given still go out; clients without one see the connection
        break.
        """
        self._closing = True
        self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _bind(
        self, host: str, port: int, key: Key | None
    ) -> tuple[ListeningSocket, zmq.Socket[bytes], ThreadAuthenticator | None]:
        try:
            listening = ListeningSocket(host, port, self._clients)
        except OSError as error:
            self._context.destroy(linger=0)
            self._close_waker()
            address = sockets.joined(host, port)
            raise errors.unknown(f"Could not start a server at {address}: {error.strerror}.") from None
        guard = _authenticator(key, self._context) if key is not None else None
        router = self._context.socket(zmq.ROUTER)
        sockets.prepare(router, key)
        router.router_mandatory = True  # an answer to a client that has left is an error, not silence
        router.sndhwm = sockets.QUEUED_MESSAGES
        if key is not None:
            router.curve_server = True
            router.curve_publickey, router.curve_secretkey = key.server()
        return listening, router, guard

    # ---- on the listener's thread

    def _serve(self) -> None:
        sources = (self._router, self._awake, self._monitor)
        watched = [(source, sockets.POLLIN) for source in sources]
        awake, next_review = self._awake.fileno(), 0.0
        try:
            while not self._closing:
                ready = sockets.poll(watched, 0 if self._clients.has_left() else 1000)
                if self._router not in ready:
                    self._forget_left()
                if time.monotonic() >= next_review:
                    self._review()
                    next_review = time.monotonic() + REVIEW_SECONDS
                if self._monitor in ready:
                    self._listening.watch()
                if self._router in ready:
                    self._receive_batch()
                if awake in ready:
                    self._awake.recv(4096)
                self._run_calls()
            self._run_calls()
        finally:
            self._router.disable_monitor()
            self._router.close()
            self._listening.close()
            if self._guard is not None:
                self._guard.stop()
            self._context.term()
            self._close_waker()

    def _forget_left(self) -> None:
        """Lets go what is kept of those who have left. No message waits to be received, so all of theirs are
        handled.
        """
        if self._clients.has_left():
            for client, sender in self._clients.take_left():
                self._unfinished.forget(client)
                self._on_left(sender)

    def _review(self) -> None:
        """Looks after the connections, also while messages come without a pause."""
        self._forget_left()
        self._listening.watch()
        self._clients.close_endless(self.port)

    def call_soon(self, call: Callable[[], None]) -> None:
        """Has the listener's thread call a quick function, after what it does now."""
        self._calls.append(call)
        if threading.current_thread() is not self._thread:
            self._wake()

    def _run_calls(self) -> None:
        """Runs the calls of `call_soon`, and sends the answers that other threads gave."""
        while self._calls:
            try:
                self._calls.popleft()()
            except Exception:
                _log.exception("%s: a call on the listener's thread failed", self.address)
        while self._outbox:
            self._answer_now(*self._outbox.popleft())

    def _receive_batch(self) -> None:
        """Receives while messages are there: asking for the next one costs less than polling for it."""
        for _ in range(_BATCH):
            client, *parts = sockets.receive(self._router)
            try:
                for part in parts:
                    self._take(client.bytes, part)
            except Exception:
                _log.exception("%s: a message was dropped", self.address)
            self._run_calls()
            if not int(self._router.getsockopt(zmq.EVENTS)) & sockets.POLLIN:
                return

    def _take(self, client: bytes, piece: zmq.Frame) -> None:
        """Takes a piece of a message; most messages have one."""
        sender = self._clients.get(client)
        if sender is None:
            self._listening.watch()  # an earlier connection with the same descriptor is known to be closed
            sender = self._clients.add(client, int(piece.get(zmq.SRCFD)))
        sender.has_sent = True
        if not self._unfinished.has(client):
            try:
                envelope = wire.open_envelope(piece)
            except OpError as error:
                self._refuse(client, wire.request_of(piece), error)
                return
            if not envelope.frames and len(piece) < self._unfinished.whole:
                self._receive(client, sender, envelope, [piece])
                return
            self._unfinished.begin(client, envelope)
        envelope = self._unfinished.envelope(client)
        try:
            frames = self._unfinished.add(client, piece)
        except OpError as error:
            self._refuse(client, envelope.request, error)
            self._acknowledge(client, envelope)
            return
        if frames is not None:
            self._receive(client, sender, envelope, frames)

    def _receive(self, client: bytes, sender: Sender, envelope: Envelope, frames: list[Buffer]) -> None:
        reply = None
        if not envelope.flags & protocol.POSTED:
            try:
                self._load.admit(client)
            except OpError as error:
                self._refuse(client, envelope.request, error)
                return
            reply = Reply(self, client, envelope)
        try:
            self._decode_and_handle(sender, envelope, frames, reply)
        except Exception as error:
            if reply is not None:
                self._report(error, reply)
            else:
                _log.warning("%s: a posted message was dropped: %s", self.address, error)
                if isinstance(error, ResourceExhaustedError):  # the sender learns it before it posts more
                    self._refuse(client, envelope.request, error)
        self._acknowledge(client, envelope)

    def _acknowledge(self, client: bytes, envelope: Envelope) -> None:
        if envelope.flags & protocol.ACKNOWLEDGE:
            self._send(client, wire.encode(Acknowledged(), Envelope(request=envelope.request)))

    def _decode_and_handle(
        self, sender: Sender, envelope: Envelope, frames: list[Buffer], reply: Reply | None
    ) -> None:
        own = self.identity
        if envelope.incarnation not in (own.incarnation, 0):
            raise errors.aborted(
                f"{own.task or 'The task'} was restarted: the message is for its life "
                f"{envelope.incarnation:x}, this is {own.incarnation:x}.",
            )
        message = wire.decode(frames, self._kinds, attach=shared_memory.mappings().attach)
        if envelope.incarnation:
            self._handle(message, reply, sender)
        elif type(message) is Hello and reply is not None:
            sender.task = message.task
            reply(protocol.welcome(own, message, os.getpid(), shared_memory.reaches))
        else:
            raise errors.failed_precondition(f"Who sends '{message.kind}' must say hello first.")

    def _report(self, error: Exception, reply: Reply) -> None:
        """Answers with the error of a handler."""
        if not reply.answered:
            reply(wire.failure_of(error))
        else:
            _log.error("%s: after its answer, a request failed", self.address, exc_info=error)

    def _refuse(self, client: bytes, request: int | None, error: OpError) -> None:
        """Tells a client why its request is not taken. Frames that are no request at all get no answer."""
        if request is not None:
            self._send(client, wire.encode(wire.failure_of(error), Envelope(request=request)))

    # ---- answers

    def _answer(self, client: bytes, frames: list[Buffer], is_last: bool = True) -> None:
        if threading.current_thread() is self._thread:
            self._answer_now(client, frames, is_last)
        else:
            self._answer_later(client, frames, is_last)

    def _answer_later(self, client: bytes, frames: list[Buffer], is_last: bool = True) -> None:
        self._outbox.append((client, frames, is_last))
        self._wake()

    def _answer_now(self, client: bytes, frames: list[Buffer], is_last: bool) -> None:
        if is_last:
            self._load.answered(client)
        self._send(client, frames)

    def _send(self, client: bytes, frames: list[Buffer]) -> None:
        try:
            sockets.send(self._router, [client, *cut(frames, self._unfinished.whole)])
        except zmq.Again:
            _log.debug("%s: a client does not read its answers; one is dropped", self.address)
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:  # the client has disconnected: it needs no answer
                raise

    def _close_waker(self) -> None:
        self._awake.close()
        self._waker.close()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # the thread was woken already, or has ended
            self._waker.send(b"\0")


def _authenticator(key: Key, context: zmq.Context[zmq.Socket[bytes]]) -> ThreadAuthenticator:
    """Admits to a context's servers only clients that have the cluster's client key."""

    class OnlyMembers:
        def callback(self, domain: str, client_key: bytes) -> bool:
            return client_key == key.client()[0]

    guard = ThreadAuthenticator(context)
    guard.start()
    guard.configure_curve_callback("*", OnlyMembers())
    return guard
