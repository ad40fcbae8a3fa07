"""The server's side of HTTP/2 (RFC 9113) as a machine: bytes in, events out, bytes to send in between.

It knows requests that arrive whole, and answers that are there whole, which is what unary gRPC needs, or come
message by message (`begin`, `send`, `finish`). There is no socket, clock or thread inside. Header blocks of
answers use no dynamic table, so that they are constants; blocks of requests that leave the table as it is are
decoded once. Large data are copied only to put the parts of a request together.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from hpack import Decoder, HPACKError

from tideflow.cluster.http2.frames import (
    ACK,
    CONTINUATION,
    DATA,
    ENABLE_PUSH,
    END_HEADERS,
    END_STREAM,
    FRAME_SIZE,
    GOAWAY,
    HAS_PRIORITY,
    HEAD,
    HEADER_LIST_SIZE,
    HEADERS,
    INITIAL_WINDOW,
    LARGEST_STREAM,
    LARGEST_WINDOW,
    MOST_STREAMS,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Code,
    Violation,
    as_request,
    check_priority,
    frame,
    frame_head,
    settings,
    without_padding,
)

_DEFAULT_WINDOW = 65_535
_WINDOW = 1 << 30  # the connection's; clients are limited by how much of a request is kept
_STREAM_WINDOW = 4 << 20
_LARGEST_FRAME = 256 << 10
_SMALLEST_LARGEST_FRAME = 16_384

# What a client makes the server do for nothing has a price; answers and data pay it back.
_PATIENCE = 10_000
_PRICE, _PRICE_OF_RESET = 1, 10
_WORTH_OF_ANSWER = 10
_WORTHY_DATA = (
    1024  # bytes of a frame that pays for one of those; fewer are not taken from one that is not whole
)
_COPIED_PAYLOAD = 4096  # a smaller one is copied rather than to keep all that came with it

_RESIZING = range(0x20, 0x40)  # first bytes of a header block that changes the size of HPACK's table
_KEPT_BLOCKS, _LONGEST_KEPT_BLOCK = 64, 1024


class Request(NamedTuple):
    """A client asked. `body` is None if it is larger than it may be."""

    stream: int
    headers: dict[bytes, bytes]
    body: bytes | None


class Cancelled(NamedTuple):
    """A client wants no answer any more."""

    stream: int


class Ended(NamedTuple):
    """The connection is over: what is left to send is sent, and then it is closed."""

    reason: str


Event: TypeAlias = Request | Cancelled | Ended


@dataclass(slots=True, eq=False)
class _Stream:
    """A request and its answer."""

    number: int
    headers: dict[bytes, bytes]
    window: int  # bytes that the client takes
    credit: int  # bytes that the client may send
    body: list[bytes | memoryview]
    size: int = 0  # bytes of the body so far
    has_ended: bool = False  # the client's side
    is_refused: bool = False  # the body is too large, and no more of it is kept
    unsent: memoryview | bytes = b""  # what is left of the answer's data
    trailers: bytes | None = None  # the header block that comes after what is unsent, once it is known


class Connection:
    """A client's connection. `receive` takes what came, `take` gives what is to be sent."""

    def __init__(self, *, body_limit: int, head_limit: int, most_streams: int) -> None:
        self._body_limit, self._head_limit, self._most_streams = body_limit, head_limit, most_streams
        self._parts: list[bytes] = []  # parts of a frame that has not arrived whole
        self._have, self._need = 0, len(PREFACE)
        self._has_begun = self._has_settings = False
        self._open_data: tuple[int, int, int] | None = None  # flags, stream and missing bytes of a DATA frame
        self._streams: dict[int, _Stream] = {}
        self._blocked: dict[int, _Stream] = {}  # those whose answers wait for windows, in turn
        self._last = 0  # the highest number of a stream
        self._open_block: tuple[int, int, bytearray] | None = None  # stream, flags and header block so far
        self._decoder = Decoder(max_header_list_size=head_limit)
        self._decoded: dict[bytes, dict[bytes, bytes]] = {}
        self._window, self._stream_window = _DEFAULT_WINDOW, _DEFAULT_WINDOW  # the client's
        self._largest_frame = _SMALLEST_LARGEST_FRAME  # that the client takes
        self._credit = _WINDOW
        self.kept = 0  # bytes of requests that are not there whole
        self._annoyance = 0
        self._events: list[Event] = []
        self._out: list[bytes | memoryview] = []
        self._frames: dict[int, Callable[[int, int, bytes], None]] = {
            HEADERS: self._on_headers,
            PRIORITY: self._on_priority,
            RST_STREAM: self._on_reset,
            SETTINGS: self._on_settings,
            PUSH_PROMISE: self._on_push,
            PING: self._on_ping,
            GOAWAY: self._on_goaway,
            WINDOW_UPDATE: self._on_window_update,
            CONTINUATION: self._on_continuation,
        }
        self.is_ended = False
        self.is_draining = False
        ours = {
            MOST_STREAMS: most_streams,
            INITIAL_WINDOW: _STREAM_WINDOW,
            FRAME_SIZE: _LARGEST_FRAME,
            HEADER_LIST_SIZE: head_limit,
        }
        self._out.append(frame(SETTINGS, 0, 0, settings(ours)))
        self._out.append(frame(WINDOW_UPDATE, 0, 0, struct.pack(">L", _WINDOW - _DEFAULT_WINDOW)))

    # ------------------------------------------------------------------------------------ the shell's side

    def receive(self, data: bytes) -> Sequence[Event]:
        """What the bytes that came mean."""
        if self.is_ended:
            return ()
        self._have += len(data)
        if self._parts:
            self._parts.append(data)
            if self._have < self._need:
                return ()
            data = b"".join(self._parts)
            self._parts = []
        try:
            rest = self._read(data)
        except Violation as violation:
            self._end(violation.code, str(violation))
            rest = b""
        self._have = len(rest)
        if rest:
            self._parts = [rest]
        events, self._events = self._events, []
        return events

    def take(self) -> bytes:
        """What is to be sent, once."""
        return b"".join(self.take_pieces())

    def take_pieces(self) -> list[bytes | memoryview]:
        """What is to be sent, once, piece by piece: those of large answers are their own memory."""
        out, self._out = self._out, []
        return out

    @property
    def has_output(self) -> bool:
        """Whether there is something to be sent."""
        return bool(self._out)

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return not self._streams

    @property
    def is_reading(self) -> bool:
        """Whether something has come in part only: a frame, or a request."""
        streams = self._streams.values()
        is_whole = not self._parts and self._open_data is None
        return not is_whole or not self._has_settings or not all(each.has_ended for each in streams)

    def respond(self, number: int, headers: bytes, data: bytes = b"", trailers: bytes | None = None) -> None:
        """Answers a request by header blocks and data. An answer to a stream that is closed is dropped."""
        stream = self._streams.get(number)
        if stream is None or self.is_ended:
            return
        self._annoyance = max(0, self._annoyance - _WORTH_OF_ANSWER)
        size = len(data)
        if trailers is None:
            self._send_block(headers, number, END_STREAM)
            self._close(stream)
        elif size <= self._window and size <= stream.window and size <= self._largest_frame:
            self._window -= size
            self._send_block(headers, number, 0)
            self._out += (frame_head(DATA, 0, number, size), data)
            self._send_block(trailers, number, END_STREAM)
            self._close(stream)
        else:
            self._send_block(headers, number, 0)
            stream.unsent, stream.trailers = memoryview(data), trailers
            self._blocked[number] = stream
            self._send_unblocked()

    def begin(self, number: int, headers: bytes) -> None:
        """Begins an answer whose messages come one by one (`send`), until it is finished."""
        if number in self._streams and not self.is_ended:
            self._send_block(headers, number, 0)

    def send(self, number: int, data: bytes) -> None:
        """Sends a message of an answer that has begun, as soon as windows let it through."""
        stream = self._streams.get(number)
        if stream is not None and not self.is_ended:
            stream.unsent = memoryview(bytes(stream.unsent) + data)
            self._blocked[number] = stream
            self._send_unblocked()

    def finish(self, number: int, trailers: bytes) -> None:
        """Ends an answer that has begun."""
        stream = self._streams.get(number)
        if stream is not None and not self.is_ended:
            stream.trailers = trailers
            self._blocked[number] = stream
            self._send_unblocked()

    def drain(self) -> None:
        """Tells the client that no further requests are answered. Those under way are."""
        if not self.is_ended and not self.is_draining:
            self.is_draining = True
            self._out.append(frame(GOAWAY, 0, 0, struct.pack(">LL", self._last, Code.NO_ERROR)))

    # ------------------------------------------------------------------------------------------- reading

    def _read(self, data: bytes) -> bytes:
        """Handles whole frames, and returns the rest."""
        at, size = 0, len(data)
        if not self._has_begun:
            if not data.startswith(PREFACE[:size]):
                self._events.append(Ended("the client does not speak HTTP/2"))
                self.is_ended = True
                self._out = [b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nThis port speaks gRPC.\n"]
                return b""
            if size < len(PREFACE):
                return data
            self._has_begun = True
            at = len(PREFACE)
        if self._open_data is not None:
            at = self._on_more_data(data)
        while self._open_data is None and size - at >= HEAD:
            length = data[at] << 16 | data[at + 1] << 8 | data[at + 2]
            if length > _LARGEST_FRAME:
                raise Violation(Code.FRAME_SIZE_ERROR, f"a frame of {length} bytes")
            begin = at + HEAD
            kind, flags = data[at + 3], data[at + 4]
            number = int.from_bytes(data[at + 5 : begin], "big") & LARGEST_STREAM
            if size < begin + length and not _may_be_taken_in_parts(kind, flags, size - begin):
                self._need = HEAD + length
                return data[at:]
            at = begin + length
            if self._open_block is not None and (kind != CONTINUATION or number != self._open_block[0]):
                raise Violation(Code.PROTOCOL_ERROR, "a header block was interrupted")
            if not self._has_settings and kind != SETTINGS:
                raise Violation(Code.PROTOCOL_ERROR, "the client sent no settings first")
            if kind == DATA:
                if at > size:
                    self._open_data = flags, number, at - size
                    flags, at = flags & ~END_STREAM, size
                self._on_data(flags, number, _payload(data, begin, at))
                continue
            handle = self._frames.get(kind)
            if handle is None:
                self._annoy(_PRICE)
            else:
                handle(flags, number, data[begin:at])
        self._need = HEAD if self._open_data is None else min(self._open_data[2], _WORTHY_DATA)
        return data[at:]

    def _on_more_data(self, data: bytes) -> int:
        """Takes what came of a DATA frame that was not there whole; returns how many bytes that are. What is
        neither all of the rest nor worth it is left for later.
        """
        assert self._open_data is not None
        flags, number, missing = self._open_data
        size = min(missing, len(data))
        if size == missing:
            self._open_data = None
        elif size < _WORTHY_DATA:
            return 0
        else:
            self._open_data, flags = (flags, number, missing - size), flags & ~END_STREAM
        self._on_data(flags, number, _payload(data, 0, size))
        return size

    def _annoy(self, price: int) -> None:
        self._annoyance += price
        if self._annoyance > _PATIENCE:
            raise Violation(Code.ENHANCE_YOUR_CALM, "too many frames that ask for nothing")

    def _end(self, code: Code, reason: str) -> None:
        self.is_ended = True
        # The client learns why before the connection is closed.
        self._out.append(frame(GOAWAY, 0, 0, struct.pack(">LL", self._last, code) + reason.encode()))
        self._events.append(Ended(f"{code.name}: {reason}"))

    def _reset(self, number: int, code: Code) -> None:
        self._out.append(frame(RST_STREAM, 0, number, struct.pack(">L", code)))

    def _close(self, stream: _Stream) -> None:
        """Forgets a stream whose answer is sent. A client that is not done yet is told to stop."""
        del self._streams[stream.number]
        if not stream.has_ended:
            self.kept -= stream.size
            self._reset(stream.number, Code.NO_ERROR)

    def _check_not_idle(self, number: int) -> None:
        if number == 0 or number > self._last:
            raise Violation(Code.PROTOCOL_ERROR, f"a frame of stream {number}, which was not opened")

    # --------------------------------------------------------------------------------------------- frames

    def _on_data(self, flags: int, number: int, payload: bytes | memoryview) -> None:
        self._check_not_idle(number)
        size = len(payload)  # padding counts
        self._credit -= size
        if self._credit < 0:
            raise Violation(Code.FLOW_CONTROL_ERROR, "more data than the connection's window")
        if self._credit < _WINDOW // 2:
            self._out.append(frame(WINDOW_UPDATE, 0, 0, struct.pack(">L", _WINDOW - self._credit)))
            self._credit = _WINDOW
        if size < _WORTHY_DATA:
            if not flags & END_STREAM:
                self._annoy(_PRICE)
        elif self._annoyance:
            self._annoyance -= 1
        stream = self._streams.get(number)
        if stream is None:
            return  # it was reset, and the client did not know yet
        if stream.has_ended:
            raise Violation(Code.STREAM_CLOSED, f"data after the end of stream {number}")
        stream.credit -= size
        if stream.credit < 0:
            raise Violation(Code.FLOW_CONTROL_ERROR, f"more data than the window of stream {number}")
        data = without_padding(payload) if flags & PADDED else payload
        if stream.is_refused:
            stream.has_ended = bool(flags & END_STREAM)
            return
        stream.body.append(data)
        stream.size += len(data)
        self.kept += len(data)
        if stream.size > self._body_limit or self.kept > 2 * self._body_limit:
            self.kept -= stream.size
            stream.size = 0
            stream.body.clear()
            stream.is_refused, stream.has_ended = True, bool(flags & END_STREAM)
            self._events.append(Request(number, stream.headers, None))
        elif flags & END_STREAM:
            self._finish_request(stream)
        elif stream.credit < _STREAM_WINDOW // 2:
            update = struct.pack(">L", _STREAM_WINDOW - stream.credit)
            self._out.append(frame(WINDOW_UPDATE, 0, number, update))
            stream.credit = _STREAM_WINDOW

    def _finish_request(self, stream: _Stream) -> None:
        stream.has_ended = True
        self.kept -= stream.size
        if not stream.is_refused:
            body = b"".join(stream.body)  # a single one is not copied
            stream.body = []
            self._events.append(Request(stream.number, stream.headers, body))

    def _on_headers(self, flags: int, number: int, payload: bytes) -> None:
        if not number & 1:
            raise Violation(Code.PROTOCOL_ERROR, f"a client cannot open stream {number}")
        if flags & PADDED:
            payload = bytes(without_padding(payload))
        if flags & HAS_PRIORITY:
            check_priority(number, payload)
            payload = payload[5:]
        if flags & END_HEADERS:
            self._on_block(flags, number, payload)
        else:
            self._open_block = (number, flags, bytearray(payload))

    def _on_continuation(self, flags: int, number: int, payload: bytes) -> None:
        if self._open_block is None:
            raise Violation(Code.PROTOCOL_ERROR, "a continuation of no header block")
        _, first_flags, block = self._open_block
        block += payload
        self._annoy(_PRICE)
        if len(block) > self._head_limit:
            raise Violation(Code.ENHANCE_YOUR_CALM, "a header block that is too long")
        if flags & END_HEADERS:
            self._open_block = None
            self._on_block(first_flags, number, bytes(block))

    def _on_block(self, flags: int, number: int, block: bytes) -> None:
        """A whole header block: of a request, or after its data."""
        headers = self._decode(block)  # always: blocks change the tables
        stream = self._streams.get(number)
        if stream is not None:
            if stream.has_ended:
                raise Violation(Code.STREAM_CLOSED, f"headers after the end of stream {number}")
            if not flags & END_STREAM:
                raise Violation(Code.PROTOCOL_ERROR, f"headers in the middle of stream {number}")
            self._finish_request(stream)
            return
        if number <= self._last:
            if flags & END_STREAM:
                return  # the stream was reset, and the client did not know yet
            raise Violation(Code.STREAM_CLOSED, f"headers of stream {number}, which is closed")
        self._last = number
        if self.is_draining or len(self._streams) >= self._most_streams:
            self._annoy(_PRICE_OF_RESET)
            self._reset(number, Code.REFUSED_STREAM)
            return
        if headers is None:
            self._annoy(_PRICE_OF_RESET)
            self._reset(number, Code.PROTOCOL_ERROR)
            return
        stream = _Stream(number, headers, self._stream_window, _STREAM_WINDOW, [])
        self._streams[number] = stream
        if flags & END_STREAM:
            self._finish_request(stream)

    def _decode(self, block: bytes) -> dict[bytes, bytes] | None:
        """The headers of a block; None where they are no request's."""
        known = self._decoded.get(block)
        if known is not None:
            return known
        entries = self._decoder.header_table.dynamic_entries
        count, newest = len(entries), entries[0] if entries else None
        try:
            headers = as_request(self._decoder.decode(block, raw=True))
        except HPACKError as error:
            raise Violation(Code.COMPRESSION_ERROR, str(error)) from None
        has_changed = len(entries) != count or (count and entries[0] is not newest)
        if has_changed or not block or block[0] in _RESIZING:
            self._decoded.clear()  # blocks mean something else from now on
        elif headers is not None and len(block) <= _LONGEST_KEPT_BLOCK:
            if len(self._decoded) >= _KEPT_BLOCKS:
                self._decoded.clear()
            self._decoded[block] = headers
        return headers

    def _on_priority(self, flags: int, number: int, payload: bytes) -> None:
        if number == 0:
            raise Violation(Code.PROTOCOL_ERROR, "a priority of no stream")
        check_priority(number, payload)
        self._annoy(_PRICE)

    def _on_reset(self, flags: int, number: int, payload: bytes) -> None:
        self._check_not_idle(number)
        if len(payload) != 4:
            raise Violation(Code.FRAME_SIZE_ERROR, "a reset needs four bytes")
        self._annoy(_PRICE_OF_RESET)
        stream = self._streams.pop(number, None)
        if stream is not None:
            self._blocked.pop(number, None)
            if not stream.has_ended:
                self.kept -= stream.size
            self._events.append(Cancelled(number))

    def _on_settings(self, flags: int, number: int, payload: bytes) -> None:
        if number:
            raise Violation(Code.PROTOCOL_ERROR, "settings of a stream")
        if flags & ACK:
            if payload:
                raise Violation(Code.FRAME_SIZE_ERROR, "an acknowledgement has no payload")
            return
        if len(payload) % 6:
            raise Violation(Code.FRAME_SIZE_ERROR, "settings have six bytes each")
        self._has_settings = True
        self._annoy(_PRICE + len(payload) // 6)
        for key, value in struct.iter_unpack(">HL", payload):
            if key == INITIAL_WINDOW:
                self._change_stream_windows(value)
            elif key == FRAME_SIZE:
                if not _SMALLEST_LARGEST_FRAME <= value < 1 << 24:
                    raise Violation(Code.PROTOCOL_ERROR, f"frames of {value} bytes at most")
                self._largest_frame = value
            elif key == ENABLE_PUSH and value > 1:
                raise Violation(Code.PROTOCOL_ERROR, f"push is {value}")
        self._out.append(frame(SETTINGS, ACK, 0))
        self._send_unblocked()

    def _change_stream_windows(self, value: int) -> None:
        if value > LARGEST_WINDOW:
            raise Violation(Code.FLOW_CONTROL_ERROR, f"windows of {value} bytes")
        for stream in self._streams.values():
            stream.window += value - self._stream_window
            if stream.window > LARGEST_WINDOW:
                raise Violation(Code.FLOW_CONTROL_ERROR, f"the window of stream {stream.number} overflows")
        self._stream_window = value

    def _on_push(self, flags: int, number: int, payload: bytes) -> None:
        raise Violation(Code.PROTOCOL_ERROR, "a client cannot push")

    def _on_ping(self, flags: int, number: int, payload: bytes) -> None:
        if number:
            raise Violation(Code.PROTOCOL_ERROR, "a ping of a stream")
        if len(payload) != 8:
            raise Violation(Code.FRAME_SIZE_ERROR, "a ping needs eight bytes")
        if not flags & ACK:
            self._annoy(_PRICE)
            self._out.append(frame(PING, ACK, 0, payload))

    def _on_goaway(self, flags: int, number: int, payload: bytes) -> None:
        if number or len(payload) < 8:
            raise Violation(Code.PROTOCOL_ERROR, "a goodbye that is none")
        self.is_draining = True

    def _on_window_update(self, flags: int, number: int, payload: bytes) -> None:
        if len(payload) != 4:
            raise Violation(Code.FRAME_SIZE_ERROR, "a window update needs four bytes")
        more = int.from_bytes(payload, "big") & LARGEST_WINDOW
        self._annoy(_PRICE)
        if number == 0:
            self._window += more
            if not more or self._window > LARGEST_WINDOW:
                raise Violation(Code.FLOW_CONTROL_ERROR, "the connection's window overflows, or grows by 0")
            self._send_unblocked()
            return
        self._check_not_idle(number)
        stream = self._streams.get(number)
        if stream is None:
            return
        stream.window += more
        if not more or stream.window > LARGEST_WINDOW:
            self._streams.pop(number)
            self._blocked.pop(number, None)
            if not stream.has_ended:
                self.kept -= stream.size
            self._reset(number, Code.FLOW_CONTROL_ERROR if more else Code.PROTOCOL_ERROR)
            self._events.append(Cancelled(number))
        elif number in self._blocked:
            self._send_unblocked()

    # -------------------------------------------------------------------------------------------- sending

    def _send_block(self, block: bytes, number: int, flags: int) -> None:
        """A header block, in as many frames as the client's largest needs."""
        size = self._largest_frame
        if len(block) <= size:
            self._out.append(frame(HEADERS, END_HEADERS | flags, number, block))
            return
        parts = [block[at : at + size] for at in range(0, len(block), size)]
        self._out.append(frame(HEADERS, flags, number, parts[0]))
        for index, part in enumerate(parts[1:], 2):
            self._out.append(frame(CONTINUATION, END_HEADERS if index == len(parts) else 0, number, part))

    def _send_unblocked(self) -> None:
        """Sends of each answer that waits as much as windows let through, a frame of each in turn."""
        waiting = list(self._blocked.values())
        while waiting and self._window > 0:
            still = []
            for stream in waiting:
                unsent = stream.unsent
                size = min(self._window, stream.window, self._largest_frame, len(unsent))
                if size > 0:
                    self._out += (frame_head(DATA, 0, stream.number, size), unsent[:size])
                    stream.unsent = unsent[size:]
                    stream.window -= size
                    self._window -= size
                    self._annoyance -= self._annoyance > 0
                if size == len(unsent):
                    del self._blocked[stream.number]
                    if stream.trailers is not None:
                        self._send_block(stream.trailers, stream.number, END_STREAM)
                        self._close(stream)
                elif size > 0:
                    still.append(stream)
            waiting = still


def _payload(data: bytes, begin: int, end: int) -> bytes | memoryview:
    """A part of what came; a large one is not copied."""
    return data[begin:end] if end - begin < _COPIED_PAYLOAD else memoryview(data)[begin:end]


def _may_be_taken_in_parts(kind: int, flags: int, size: int) -> bool:
    """Whether the first so many bytes of a frame may be taken as if they were one."""
    return kind == DATA and not flags & PADDED and size >= _WORTHY_DATA
