"""gRPC over HTTP/2, on the server's event loop: the shell around `http2.Connection`.

Requests are one message; answers are one, or a stream of them. What the methods do is for their handlers
(`services.py`). Answers of one turn of the event loop are written together. One `sweep` a second looks after
everybody who is late.
"""

from __future__ import annotations

import asyncio
import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from tideflow.cluster.http2 import connection as http2
from tideflow.cluster.http2.frames import header_block
from tideflow.cluster.http2.grpc_messages import (
    HEADERS,
    NOT_GRPC,
    PREFIX,
    TRAILERS,
    WINDOW_BITS,
    is_grpc,
    message_of,
    prefix,
    status_block,
)
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.serving.calls import Call
from tideflow.serving.front import OVERDUE, WRITE_BUFFER, Connections, Front, unexpected

# Gets the message, the deadline and a function for the answer; returns the calls that the answer waits for.
Respond: TypeAlias = "Callable[[bytes | OpError], None]"
Method: TypeAlias = Callable[[bytes, float, Respond], Sequence[Call]]
# Gets the message and a function for each message of the answer; returns what to call when nobody listens.
StreamingMethod: TypeAlias = Callable[[bytes, Callable[[bytes], None]], Callable[[], None]]

_NO_DEADLINE = 600.0  # seconds for a request that names none
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_TIMEOUT = re.compile(rb"(\d{1,8})([HMSmun])")


class GrpcServer(Connections):
    """The gRPC connections of a server. Calling it makes the protocol of a new one."""

    def __init__(
        self,
        front: Front,
        methods: Mapping[bytes, Method],
        streaming: Mapping[bytes, StreamingMethod] | None = None,
    ) -> None:
        super().__init__(front)
        self.methods = methods
        self.streaming = streaming or {}

    def __call__(self) -> GrpcConnection:
        return GrpcConnection(self)


class _Exchange:
    """A request that is being answered."""

    __slots__ = ("calls", "connection", "deadline", "encoding", "stream")

    def __init__(
        self, connection: GrpcConnection, stream: int, deadline: float, encoding: bytes | None
    ) -> None:
        self.connection, self.stream, self.deadline, self.encoding = connection, stream, deadline, encoding
        self.calls: Sequence[Call] = ()

    def respond(self, answer: bytes | OpError) -> None:
        """Answers, unless that was done or the client wants no answer any more."""
        if self.connection.exchanges.pop(self.stream, None) is None:
            return
        self.connection.server.front.in_flight -= 1
        self.connection.send(self.stream, answer, self.encoding)

    def cancel(self) -> None:
        """Nobody waits for the answer."""
        if self.connection.exchanges.pop(self.stream, None) is not None:
            self.connection.server.front.in_flight -= 1
            for call in self.calls:
                call.is_cancelled = True


class _Streaming:
    """A request whose answer goes on until the client or the server leaves: it is none that is under way."""

    __slots__ = ("connection", "deadline", "end", "stream")

    def __init__(self, connection: GrpcConnection, stream: int, deadline: float) -> None:
        self.connection, self.stream, self.deadline = connection, stream, deadline
        self.end: Callable[[], None] = lambda: None

    def send(self, message: bytes) -> None:
        """Sends a message of the answer."""
        self.connection.send_message(self.stream, message)

    def cancel(self) -> None:
        """Nobody listens any more."""
        if self.connection.streamings.pop(self.stream, None) is not None:
            self.end()


class GrpcConnection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, server: GrpcServer) -> None:
        limits = server.front.limits
        self.server = server
        self.exchanges: dict[int, _Exchange] = {}  # by the numbers of streams
        self.streamings: dict[int, _Streaming] = {}
        self._machine = http2.Connection(
            body_limit=limits.body + PREFIX, head_limit=limits.head, most_streams=limits.streams
        )
        self._transport: Any = None
        self._loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self._will_write = False
        self._kept = 0  # bytes of requests that are not there whole
        self._since = server.front.clock()  # when the client last sent or was sent something
        self._stalled_since: float | None = None  # when the client stopped to read its answers

    # ------------------------------------------------------------------------------ the event loop's calls

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_BUFFER)
        self.server.connections.add(self)
        if len(self.server.connections) > self.server.front.limits.connections:
            self._machine.drain()
        self._write()

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)
        self._count_unread(0)
        self._transport = None
        for each in (*self.exchanges.values(), *self.streamings.values()):
            each.cancel()

    def data_received(self, data: bytes) -> None:
        self._since = self.server.front.clock()
        self._will_write = True  # at the end of this function
        events = self._machine.receive(data)
        self._count_unread(self._machine.kept)
        for event in events:
            match event:
                case http2.Request():
                    self._handle(*event)
                case http2.Cancelled():
                    left = self.exchanges.get(event.stream) or self.streamings.get(event.stream)
                    if left is not None:
                        left.cancel()
        self._write()

    def _count_unread(self, kept: int) -> None:
        front = self.server.front
        front.unread += kept - self._kept
        is_more, self._kept = kept > self._kept, kept
        if is_more and front.unread > front.limits.unread:
            self._transport.abort()

    def pause_writing(self) -> None:
        self._stalled_since = self.server.front.clock()
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._stalled_since = None
        self._transport.resume_reading()

    # -------------------------------------------------------------------------------------------- requests

    def _handle(self, stream: int, headers: dict[bytes, bytes], body: bytes | None) -> None:
        front = self.server.front
        if not is_grpc(headers):
            self._machine.respond(stream, NOT_GRPC)
            return
        timeout = headers.get(b"grpc-timeout")
        deadline = self._since + (_NO_DEADLINE if timeout is None else _seconds(timeout))
        encoding = headers.get(b"grpc-encoding")
        if headers[b":path"] in self.server.streaming:
            self._stream(stream, headers, body, math.inf if timeout is None else deadline)
            return
        exchange = self.exchanges[stream] = _Exchange(self, stream, deadline, encoding)
        front.in_flight += 1
        try:
            front.access.check(headers)
            front.check_load()
            if body is None:
                raise errors.resource_exhausted(f"Received message larger than max ({front.limits.body})")
            method = self.server.methods.get(headers[b":path"])
            if method is None:
                path = headers[b":path"].decode("latin-1")
                raise errors.unimplemented(f"Method not found: {path}")
            message = message_of(body, encoding, front.limits.body)
            exchange.calls = method(message, deadline, exchange.respond)
        except OpError as error:
            exchange.respond(error)
        except Exception as error:
            exchange.respond(unexpected(error))

    def _stream(self, stream: int, headers: dict[bytes, bytes], body: bytes | None, deadline: float) -> None:
        """Begins an answer that is a stream."""
        front = self.server.front
        try:
            front.access.check(headers)
            front.check_load()
            if body is None:
                raise errors.resource_exhausted(f"Received message larger than max ({front.limits.body})")
            message = message_of(body, headers.get(b"grpc-encoding"), front.limits.body)
            streaming = self.streamings[stream] = _Streaming(self, stream, deadline)
            self._machine.begin(stream, HEADERS)
            streaming.end = self.server.streaming[headers[b":path"]](message, streaming.send)
        except Exception as error:
            problem = error if isinstance(error, OpError) else unexpected(error)
            if stream in self.streamings:
                self._finish(self.streamings[stream], problem)
            else:
                self.send(stream, problem, None)

    def send_message(self, stream: int, message: bytes) -> None:
        """Sends a message of an answer that is a stream."""
        self._machine.send(stream, prefix(len(message)) + message)
        self._write_soon()

    def _finish(self, streaming: _Streaming, error: OpError) -> None:
        """Ends an answer that is a stream."""
        streaming.cancel()
        self._machine.finish(streaming.stream, status_block(error.error_code, error.message))
        self._write_soon()

    def send(self, stream: int, answer: bytes | OpError, encoding: bytes | None) -> None:
        """Sends an answer, compressed as the request was."""
        if self._transport is None:
            return
        if isinstance(answer, OpError):
            self._machine.respond(stream, HEADERS + status_block(answer.error_code, answer.message))
        elif encoding == b"gzip":
            compressor = zlib.compressobj(1, wbits=WINDOW_BITS[encoding])
            packed = compressor.compress(answer) + compressor.flush()
            headers = HEADERS + header_block([(b"grpc-encoding", encoding)])
            self._machine.respond(stream, headers, prefix(len(packed), is_compressed=True) + packed, TRAILERS)
        else:
            self._machine.respond(stream, HEADERS, prefix(len(answer)) + answer, TRAILERS)
        self._write_soon()

    def _write_soon(self) -> None:
        if not self._will_write:
            self._will_write = True
            self._loop.call_soon(self._write)

    def _write(self) -> None:
        """Writes what the machine has to send, and closes the connection where it is over."""
        self._will_write = False
        if self._transport is None:
            return
        machine = self._machine
        if machine.has_output:
            self._transport.write(machine.take())
        if machine.is_ended or (machine.is_draining and machine.is_idle):
            self._transport.close()

    # ----------------------------------------------------------------------------------------- once a second

    def sweep(self, now: float) -> None:
        """Ends the connection if its client is late, and answers requests that are overdue."""
        limits = self.server.front.limits
        if self._stalled_since is not None and now - self._stalled_since > limits.write_time:
            self._transport.abort()
            return
        quiet = now - self._since
        if quiet > limits.request_time and self._machine.is_reading:
            self._transport.abort()
            return
        if quiet > limits.idle_time and self._machine.is_idle:
            self.drain()
        for exchange in list(self.exchanges.values()):
            if now > exchange.deadline + OVERDUE:
                for call in exchange.calls:
                    call.is_cancelled = True
                exchange.respond(errors.deadline_exceeded("Deadline Exceeded"))
        for streaming in list(self.streamings.values()):
            if now > streaming.deadline + OVERDUE:
                self._finish(streaming, errors.deadline_exceeded("Deadline Exceeded"))

    def drain(self) -> None:
        """Closes the connection after the answers that are under way."""
        for streaming in list(self.streamings.values()):
            self._finish(streaming, errors.unavailable("The server is stopping"))
        self._machine.drain()
        self._write()


@lru_cache(maxsize=256)
def _seconds(timeout: bytes) -> float:
    """The seconds of a `grpc-timeout` header."""
    found = _TIMEOUT.fullmatch(timeout)
    return int(found[1]) * _UNITS[found[2].decode()] if found else _NO_DEADLINE
