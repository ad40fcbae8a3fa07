"""HTTP/1.1 on the server's event loop: connections, keep-alive, pipelining, limits, slow clients.

httptools parses; what a request means is for its handler (`rest.Rest.handle`). There are no tasks, futures or
timers for a request: parsed bytes call the handler, and the handler's answer writes to the socket. One
`sweep` a second looks after everybody who is late.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import httptools

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.serving.calls import Call
from tideflow.serving.front import OVERDUE, WRITE_BUFFER, Connections, Front, unexpected
from tideflow.serving.rest import JSON, LIVE_PATH, PAGE_PATH, READY_PATH, Request, Respond, respond_error
from tideflow.serving.tensors_json import error_json

_GZIP = 31  # zlib's number for data with gzip's header
_SMALLEST_GZIP = 1024  # bytes of an answer that is compressed
_ANYBODY = frozenset({LIVE_PATH, READY_PATH, PAGE_PATH})  # paths that need no token
_UPGRADING = frozenset({b"connection", b"http2-settings", b"upgrade"})
_REASONS = {status.value: status.phrase for status in HTTPStatus} | {499: "Client Closed Request"}
_CORS = (
    b"Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: GET, POST, OPTIONS\r\n"
    b"Access-Control-Allow-Headers: Authorization, Content-Type\r\n"
)

Handler = Callable[[Request, Respond], Call | None]


class HttpServer(Connections):
    """The HTTP/1.1 connections of a server. Calling it makes the protocol of a new one."""

    def __init__(self, front: Front, handler: Handler) -> None:
        super().__init__(front)
        self.handler = handler

    def __call__(self) -> HttpConnection:
        return HttpConnection(self)


class _Exchange:
    """A request and its answer. Answers are written in the order of requests."""

    __slots__ = ("answer", "call", "connection", "deadline", "is_kept", "may_gzip", "without_body")

    def __init__(self, connection: HttpConnection, deadline: float) -> None:
        self.connection = connection
        self.deadline = deadline
        self.call: Call | None = None
        self.answer: bytes | None = None
        self.is_kept = True  # the connection, after the answer
        self.may_gzip = self.without_body = False

    def respond(self, status: int, body: bytes, content_type: bytes = JSON) -> None:
        """Answers; a second answer is ignored, as is one to a client that has gone."""
        if self.answer is not None:
            return
        connection = self.connection
        connection.server.front.in_flight -= 1
        encoding = b""
        if self.may_gzip and len(body) >= _SMALLEST_GZIP:
            compressor = zlib.compressobj(1, wbits=_GZIP)
            body = compressor.compress(body) + compressor.flush()
            encoding = b"Content-Encoding: gzip\r\n"
        if connection.server.front.is_leaving:
            self.is_kept = False
        head = _head(status, content_type, self.is_kept, connection.server.front.access.allows_origins)
        self.answer = b"%s%sContent-Length: %d\r\n\r\n" % (head, encoding, len(body))
        if not self.without_body:
            self.answer += body
        connection.write_answers()


@lru_cache(maxsize=256)
def _head(status: int, content_type: bytes, is_kept: bool, allows_origins: bool) -> bytes:
    """The lines of an answer that are the same for many."""
    line = f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\n".encode()
    kept = b"" if is_kept else b"Connection: close\r\n"
    challenge = b"WWW-Authenticate: Bearer\r\n" if status == HTTPStatus.UNAUTHORIZED else b""
    cors = _CORS if allows_origins else b""
    return line + b"Content-Type: " + content_type + b"\r\n" + challenge + cors + kept


class HttpConnection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self._transport: Any = None
        self._parser = httptools.HttpRequestParser(self)
        self._pending: deque[_Exchange] = deque()
        self._is_closing = False  # nothing more is read
        self._since = server.front.clock()  # when the client last began or ended something
        self._stalled_since: float | None = None  # when the client stopped to read its answers
        self._is_reading_request = False
        self._is_reading_head = False
        self._has_completed = False  # a request, by the bytes that came last
        self._head_bytes = 0
        self._begin()

    def _begin(self) -> None:
        self._target = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._body_bytes = 0

    def _take_body(self) -> bytes:
        """The body that has come, which is forgotten here."""
        self.server.front.unread -= self._body_bytes
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body, self._body_bytes = [], 0
        return body

    # --------------------------------------------------------------------------------- the event loop's calls

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_BUFFER)
        self.server.connections.add(self)
        if len(self.server.connections) > self.server.front.limits.connections:
            self._refuse(503, "The server has as many connections as it may")

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)
        self._is_closing = True
        self._take_body()
        for exchange in self._pending:
            if exchange.answer is None:
                exchange.answer = b""
                self.server.front.in_flight -= 1
                if exchange.call is not None:
                    exchange.call.is_cancelled = True
        self._pending.clear()

    def data_received(self, data: bytes) -> None:
        if self._is_closing:
            return
        self._has_completed = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._read_without_upgrade(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError:
            if not self._is_closing:
                self._refuse(400, "The request is no HTTP/1.1")
            return
        if self._is_reading_head and not self._has_completed:  # else most of it was of the requests before
            self._head_bytes += len(data)
            if self._head_bytes > self.server.front.limits.head:
                self._refuse(431, f"The head of a request may have {self.server.front.limits.head} bytes")

    def _read_without_upgrade(self, rest: bytes) -> None:
        """Reads on after the head of a request that offers another protocol (curl --http2): it is left out.

        The parser stops there and does not look at the body.
        """
        method = self._parser.get_method()
        if method == b"CONNECT":
            self._refuse(400, "The server is no proxy")
            return
        kept = [item for item in self._headers.items() if item[0] not in _UPGRADING]
        head = [b"%s %s HTTP/1.1" % (method, self._target), *(b"%s: %s" % item for item in kept)]
        self._parser = httptools.HttpRequestParser(self)
        self.data_received(b"\r\n".join([*head, b"\r\n"]) + rest)

    def pause_writing(self) -> None:
        self._stalled_since = self.server.front.clock()
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._stalled_since = None
        self._read_more()

    # ------------------------------------------------------------------------------------- the parser's calls

    def on_message_begin(self) -> None:
        self._begin()
        self._head_bytes = 0
        self._since = self.server.front.clock()
        self._is_reading_request = self._is_reading_head = True

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in self._headers:  # as one list, as HTTP has it
            value = b"%s, %s" % (self._headers[name], value)
        self._headers[name] = value

    def on_headers_complete(self) -> None:
        self._is_reading_head = False
        headers = self._headers
        if int(headers.get(b"content-length", b"0") or b"0") > self.server.front.limits.body:
            self._refuse_body()
        elif headers.get(b"expect", b"").lower() == b"100-continue" and not self._pending:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, data: bytes) -> None:
        if self._is_closing:
            return
        front = self.server.front
        self._body.append(data)
        self._body_bytes += len(data)
        front.unread += len(data)
        if self._body_bytes > front.limits.body:
            self._refuse_body()
        elif front.unread > front.limits.unread:
            self._refuse(503, "The server is reading as many requests as it has memory for")

    def on_message_complete(self) -> None:
        if self._parser.should_upgrade():
            return
        self._is_reading_request = False
        self._has_completed = True
        body = self._take_body()
        if self._is_closing:
            return
        front = self.server.front
        now = self._since = front.clock()
        exchange = _Exchange(self, now + front.timeout + OVERDUE)
        exchange.is_kept = self._parser.should_keep_alive()
        headers = self._headers
        encodings = headers.get(b"accept-encoding")
        exchange.may_gzip = encodings is not None and b"gzip" in encodings
        self._pending.append(exchange)
        front.in_flight += 1
        try:
            exchange.call = self._handle(exchange, body)
        except OpError as error:
            respond_error(exchange.respond, error)
        except Exception as error:
            respond_error(exchange.respond, unexpected(error))
        if len(self._pending) >= front.limits.pipelined:
            self._transport.pause_reading()

    def _handle(self, exchange: _Exchange, body: bytes) -> Call | None:
        front, headers = self.server.front, self._headers
        method = self._parser.get_method().decode("latin-1")
        target = self._target.decode("latin-1")
        if method == "OPTIONS" and front.access.allows_origins:
            exchange.respond(200, b"")
            return None
        if target not in _ANYBODY:
            front.access.check(headers)
        if method == "POST":
            front.check_load()
        elif method == "HEAD":
            method, exchange.without_body = "GET", True
        encoding = headers.get(b"content-encoding")
        if encoding is not None:
            body = _decoded(encoding, body, front.limits.body)
            if len(body) > front.limits.body:
                exchange.respond(413, error_json(_too_large(front.limits.body)))
                return None
        return self.server.handler(Request(method, target, headers, body), exchange.respond)

    # ---------------------------------------------------------------------------------------- what is written

    def write_answers(self) -> None:
        """Writes the answers that are next in order."""
        pending, transport = self._pending, self._transport
        while pending and pending[0].answer is not None:
            exchange = pending.popleft()
            transport.write(exchange.answer)
            if not exchange.is_kept:
                self._finish()
                return
        if self._is_closing and not pending:
            self._finish()
        elif not self._is_closing:
            self._read_more()

    def _read_more(self) -> None:
        may_read = self._stalled_since is None and len(self._pending) < self.server.front.limits.pipelined
        if may_read and not self._is_closing and not self._transport.is_reading():
            self._transport.resume_reading()

    def _refuse_body(self) -> None:
        self._refuse(413, _too_large(self.server.front.limits.body))

    def _refuse(self, status: int, message: str) -> None:
        """Answers a request that is not read to its end. The connection is of no use after that."""
        self._stop_reading()
        exchange = _Exchange(self, 0.0)
        exchange.is_kept = False
        self.server.front.in_flight += 1
        self._pending.append(exchange)
        exchange.respond(status, error_json(message))

    def _stop_reading(self) -> None:
        self._is_closing = True
        self._is_reading_request = False
        self._take_body()
        self._transport.pause_reading()

    def _finish(self) -> None:
        self._is_closing = True
        self._transport.close()

    # ------------------------------------------------------------------------------------------ once a second

    def sweep(self, now: float) -> None:
        """Ends the connection if its client is late, and answers requests that are overdue."""
        limits = self.server.front.limits
        if self._stalled_since is not None and now - self._stalled_since > limits.write_time:
            self._transport.abort()
        elif self._is_reading_request and now - self._since > limits.request_time:
            self._refuse(408, f"The request did not arrive within {limits.request_time:g} seconds")
        elif not self._pending and now - self._since > limits.idle_time:
            self._finish()
        for exchange in list(self._pending):
            if exchange.answer is None and now > exchange.deadline:
                if exchange.call is not None:
                    exchange.call.is_cancelled = True
                respond_error(exchange.respond, errors.deadline_exceeded("The model did not answer in time"))

    def drain(self) -> None:
        """Closes the connection after the answers that are under way."""
        if self._pending:
            self._stop_reading()
        else:
            self._finish()


def _too_large(limit: int) -> str:
    return f"The body of a request may have {limit} bytes (--max_body_bytes)"


def _decoded(encoding: bytes, body: bytes, limit: int) -> bytes:
    """A body without its compression. It is cut off after its first byte that is too much."""
    if encoding.lower() == b"identity":
        return body
    if encoding.lower() not in (b"gzip", b"x-gzip", b"deflate"):
        raise errors.invalid_argument(
            f"Content-Encoding {encoding[:50]!r} is not known: gzip and deflate are"
        )
    decompressor = zlib.decompressobj(_GZIP if b"gzip" in encoding.lower() else zlib.MAX_WBITS)
    try:
        plain = decompressor.decompress(body, limit + 1)
    except zlib.error as error:
        raise errors.invalid_argument(f"The body is not compressed as the headers say: {error}") from None
    if not decompressor.eof and len(plain) <= limit:
        raise errors.invalid_argument("The compressed body ends too early")
    return plain
