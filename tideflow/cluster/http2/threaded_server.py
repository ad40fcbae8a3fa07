"""A server of unary gRPC calls that may wait: a thread reads each connection, others answer its requests.

A request costs one hand-over between threads, from the one that reads to the one that answers and sends. What
the methods do is for their handlers.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tideflow.cluster.http2 import connection as http2
from tideflow.cluster.http2.grpc_messages import (
    HEADERS,
    NOT_GRPC,
    PREFIX,
    TRAILERS,
    is_grpc,
    message_of,
    prefix,
    status_block,
)
from tideflow.cluster.http2.tls import Tls
from tideflow.cluster.worker_threads import WorkerThreads
from tideflow.graph import errors
from tideflow.graph.errors import OpError

_log = logging.getLogger("tideflow.cluster")

LARGEST_MESSAGE = 2**31 - 1  # that protobuf reads
_LONGEST_HEAD = 64 << 10
_MOST_STREAMS = 1024  # calls of one connection that are under way
_MOST_CONNECTIONS = 4096
_READ_BYTES = 1 << 20
_JOINED_BYTES = 64 << 10  # less than this is sent as one piece
_MOST_PIECES = 512  # that the system sends at a time
_READ_SECONDS = 30  # that a client may pause in the middle of a request
_WRITE_SECONDS = 600  # that a client may leave an answer unread
_KEEPALIVE = {socket.TCP_KEEPIDLE: 60, socket.TCP_KEEPINTVL: 10, socket.TCP_KEEPCNT: 6}

Pieces: TypeAlias = "Sequence[bytes | memoryview]"  # joined, they are the bytes of a message
Method: TypeAlias = "Callable[[memoryview | bytes, Call], Pieces]"


class Call:
    """A request that is being answered."""

    __slots__ = ("_is_cancelled", "_lock", "_on_cancel", "peer")

    def __init__(self, peer: str) -> None:
        self.peer = peer  # the port of the client's end of the connection
        self._is_cancelled = False
        self._on_cancel: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def on_cancel(self, cancel: Callable[[], None] | None) -> None:
        """Has a function called when the client cancels this call, or leaves.

        Raises:
          CancelledError: If that has happened already.
        """
        with self._lock:
            self._on_cancel = cancel
            if self._is_cancelled and cancel is not None:
                raise errors.cancelled("The client has given this step up.")

    def cancel(self) -> None:
        """Nobody waits for the answer any more."""
        with self._lock:
            self._is_cancelled = True
            if self._on_cancel is not None:
                self._on_cancel()


class ThreadedServer:
    """Answers gRPC's unary calls at a numeric address by the methods of their paths, on `threads` threads at
    most. A method gets the message and the call; one that fails raises an OpError.
    """

    def __init__(
        self,
        host: str,
        port: int,
        methods: Mapping[bytes, Method],
        *,
        threads: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.methods, self._tls = methods, tls
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.threads = WorkerThreads(threads, "tideflow-tensorflow-client")
        self._connections: set[_Connection] = set()
        self._is_closed = False
        threading.Thread(target=self._accept, name="tideflow-tensorflow-listener", daemon=True).start()

    def ports(self) -> set[str]:
        """The ports of the other ends of the open connections."""
        return {connection.peer for connection in list(self._connections)}

    def close(self) -> None:
        """Stops listening, and ends the connections."""
        self._is_closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()
        for connection in list(self._connections):
            connection.close()
        self.threads.shutdown()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                sock, address = self._listener.accept()
            except OSError as error:
                if self._is_closed or error.errno in (errno.EBADF, errno.EINVAL):
                    return
                # Descriptors have run out, or the client has left already.
                _log.warning("A client of TensorFlow could not be accepted: %s", error)
                threading.Event().wait(0.1)
                continue
            if len(self._connections) >= _MOST_CONNECTIONS:
                sock.close()
                continue
            connection = _Connection(self, sock, str(address[1]), self._tls)
            threading.Thread(
                target=self._serve, args=[connection], name="tideflow-tensorflow-connection", daemon=True
            ).start()

    def _serve(self, connection: _Connection) -> None:
        self._connections.add(connection)
        try:
            if not self._is_closed:
                connection.read()
        finally:
            self._connections.discard(connection)
            connection.close()
            connection.release()


class _Connection:
    """One client's connection. The lock guards the machine, and the order of what is sent."""

    def __init__(
        self, server: ThreadedServer, sock: socket.socket, peer: str, tls: ssl.SSLContext | None
    ) -> None:
        self.peer = peer
        self._server, self._socket = server, sock
        self._lock = threading.Lock()
        self._calls: dict[int, Call] = {}  # by the numbers of streams
        self._machine = http2.Connection(
            body_limit=LARGEST_MESSAGE + PREFIX, head_limit=_LONGEST_HEAD, most_streams=_MOST_STREAMS
        )
        self._tls = None if tls is None else Tls(tls)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE.items():
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
        # Limits of the system's own: Python's would cost a call more each time.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", _READ_SECONDS, 0))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _WRITE_SECONDS, 0))

    # ------------------------------------------------------------------ reading

    def read(self) -> None:
        """Reads requests, and has them answered, until the connection ends."""
        try:
            while not self._machine.is_ended:
                data = self._receive()
                if not data:
                    return
                self._handle(data)
        except (OSError, ssl.SSLError) as error:
            _log.debug("The connection of a client of TensorFlow has ended: %s", error)

    def _receive(self) -> bytes:
        """What came; nothing at the end, and where a client has stopped in the middle of a request."""
        while True:
            try:
                return self._socket.recv(_READ_BYTES)
            except BlockingIOError:
                if self._machine.is_reading:
                    return b""

    def _handle(self, data: bytes) -> None:
        with self._lock:
            if self._tls is not None:
                data = self._tls.opened(data)
            events = self._machine.receive(data)
            self._send()
        for event in events:
            match event:
                case http2.Request():
                    self._begin(event)
                case http2.Cancelled():
                    call = self._calls.pop(event.stream, None)
                    if call is not None:
                        call.cancel()

    def _begin(self, request: http2.Request) -> None:
        call = self._calls[request.stream] = Call(self.peer)
        try:
            self._server.threads.submit(self._answer, request, call)
        except OpError as error:  # no thread is left
            del self._calls[request.stream]
            with self._lock:
                self._machine.respond(request.stream, *_refusal(error))
                self._send()

    # ------------------------------------------------------------------ answering

    def _answer(self, request: http2.Request, call: Call) -> None:
        """Answers a request, in a thread of its own."""
        response = self._response(request, call)
        self._calls.pop(request.stream, None)
        try:
            with self._lock:
                self._machine.respond(request.stream, *response)
                self._send()
        except OSError as error:  # the client has left, or has not read for too long
            _log.debug("A client of TensorFlow could not be answered: %s", error)
            self.close()

    def _response(self, request: http2.Request, call: Call) -> tuple[bytes, bytes, bytes | None]:
        """The header blocks and the data of an answer, as the machine takes them."""
        if not is_grpc(request.headers):
            return NOT_GRPC, b"", None
        try:
            pieces = self._called(request, call)
        except OpError as error:
            return _refusal(error)
        return HEADERS, b"".join([prefix(sum(map(len, pieces))), *pieces]), TRAILERS

    def _called(self, request: http2.Request, call: Call) -> Pieces:
        path, body = request.headers[b":path"], request.body
        method = self._server.methods.get(path)
        if method is None:
            raise errors.unimplemented(f"Method not found: {path.decode('latin-1')}")
        if body is None:
            raise errors.resource_exhausted(f"Received message larger than max ({LARGEST_MESSAGE})")
        encoding = request.headers.get(b"grpc-encoding")
        try:
            return method(message_of(memoryview(body), encoding, LARGEST_MESSAGE), call)
        except OpError:
            raise
        except Exception as error:
            _log.exception("A request failed by a fault of the server")
            raise errors.internal(f"The server failed: {type(error).__name__}: {error}") from error

    # ------------------------------------------------------------------ sending

    def _send(self) -> None:
        """Sends what the machine has to send. The caller holds the lock."""
        pieces = self._machine.take_pieces()
        if self._tls is not None:
            pieces = [self._tls.sealed(b"".join(pieces))]
        if sum(map(len, pieces)) <= _JOINED_BYTES:
            pieces = [b"".join(pieces)]
        at = 0
        while at < len(pieces):
            some = pieces[at : at + _MOST_PIECES]
            at += len(some)
            _send_all(self._socket, some)

    def close(self) -> None:
        """Ends the connection, and with it the calls of the client that are under way."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        for call in list(self._calls.values()):
            call.cancel()

    def release(self) -> None:
        """Gives the descriptor back, once no thread reads from it."""
        with self._lock:
            self._socket.close()


def _refusal(error: OpError) -> tuple[bytes, bytes, None]:
    """The answer that is an error, as the machine takes it."""
    return HEADERS + status_block(error.error_code, error.message), b"", None


def _send_all(sock: socket.socket, pieces: list[bytes | memoryview]) -> None:
    sent = sock.sendmsg(pieces)
    for piece in pieces:
        if sent < len(piece):
            sock.sendall(memoryview(piece)[sent:])
        sent = max(0, sent - len(piece))
