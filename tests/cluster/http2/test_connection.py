"""cluster/http2/connection.py, the machine: any client, any order of frames, no socket."""

import random
import struct

import pytest
from hpack import Decoder, Encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.cluster.http2.connection import Cancelled, Connection, Ended, Request
from tideflow.cluster.http2.frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HAS_PRIORITY,
    HEADERS,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Code,
    frame,
    header_block,
)

ASKED = [(":method", "POST"), (":scheme", "http"), (":path", "/a"), ("te", "trailers")]
HELLO = PREFACE + frame(SETTINGS, 0, 0)
BLOCK = Encoder().encode(ASKED)


def connection(hello=HELLO, **limits):
    made = Connection(**{"body_limit": 100_000, "head_limit": 4096, "most_streams": 10} | limits)
    if hello:
        assert list(made.receive(hello)) == []
        made.take()
    return made


def number(value):
    return struct.pack(">L", value)


def ask(stream, data=b"", block=BLOCK):
    if not data:
        return frame(HEADERS, END_HEADERS | END_STREAM, stream, block)
    return frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, data)


def frames(data):
    """The frames of what a machine sends: kind, flags, stream, payload."""
    found = []
    while data:
        length, kind, flags = int.from_bytes(data[:3], "big"), data[3], data[4]
        found.append((kind, flags, int.from_bytes(data[5:9], "big"), data[9 : 9 + length]))
        data = data[9 + length :]
    return found


def ended_by(machine, data):
    """The code with which a connection is ended by what a client sends."""
    events = machine.receive(data)
    assert isinstance(events[-1], Ended)
    kind, _, _, payload = frames(machine.take())[-1]
    assert kind == GOAWAY
    assert machine.is_ended
    assert machine.receive(HELLO) == ()
    return Code(struct.unpack(">L", payload[4:8])[0])


def test_a_request_is_answered_by_headers_data_and_trailers():
    machine = connection()
    (event,) = machine.receive(ask(1, b"hello"))
    assert event == Request(1, {name.encode(): value.encode() for name, value in ASKED}, b"hello")
    assert not machine.is_idle
    machine.respond(1, b"\x88", b"world", header_block([(b"grpc-status", b"0")]))
    sent = frames(machine.take())
    assert [(kind, flags) for kind, flags, *_ in sent] == [
        (HEADERS, END_HEADERS),
        (DATA, 0),
        (HEADERS, END_HEADERS | END_STREAM),
    ]
    assert sent[1][3] == b"world"
    assert machine.is_idle
    machine.respond(1, b"\x88")  # it is closed
    assert machine.take() == b""


def test_header_blocks_in_pieces_with_padding_and_priority():
    machine = connection()
    middle = len(BLOCK) // 2
    first = b"\x03" + number(0) + b"\x10" + BLOCK[:middle] + b"\0\0\0"
    pieces = frame(HEADERS, PADDED | HAS_PRIORITY, 1, first) + frame(CONTINUATION, 0, 1, b"")
    pieces += frame(CONTINUATION, END_HEADERS, 1, BLOCK[middle:])
    pieces += frame(DATA, PADDED, 1, b"\x02ab\0\0") + frame(DATA, END_STREAM, 1, b"c")
    (event,) = machine.receive(pieces)
    assert (event.stream, event.body) == (1, b"abc")
    assert machine.receive(ask(3, b"x") + frame(99, 0, 0, b"of the future"))[0].stream == 3


def test_blocks_that_refer_to_tables_are_decoded_as_the_tables_change():
    machine, encoder = connection(most_streams=100), Encoder()
    paths = ["/a", "/a", "/b", "/a", "/b", "/b", "/c"] + [f"/{i}" * 200 for i in range(10)] + ["/a", "/b"]
    for index, path in enumerate(paths):
        headers = [*ASKED[:2], (":path", path), ("x", "y")]
        (event,) = machine.receive(ask(2 * index + 1, block=encoder.encode(headers)))
        assert event.headers[b":path"] == path.encode()


def test_blocks_mean_the_same_whether_they_were_seen_before_or_not():
    """Literals that are indexed or are not, tables that grow, shrink and run over: as a plain decoder."""
    chance, encoder, decoder = random.Random(0), Encoder(), Decoder()
    machine, blocks = connection(most_streams=2000), []
    for index in range(1000):
        if chance.random() < 0.02:
            encoder.header_table_size = chance.choice([0, 64, 200, 4096])
        path, secret = chance.choice(["/a", "/b", "/" + "c" * 90]), chance.choice(["x", "y", "z" * 50])
        is_literal = chance.random() < 0.8  # such a header leaves the table as it is
        block = encoder.encode([*ASKED[:2], (":path", path, is_literal), ("secret", secret, is_literal)])
        (event,) = machine.receive(ask(2 * index + 1, block=block))
        assert event.headers == dict(decoder.decode(block, raw=True))
        blocks.append(block)
    assert len(set(blocks)) < len(blocks) / 3  # most of them were seen before


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_where_the_bytes_are_cut_does_not_matter(data):
    stream = (
        PREFACE
        + frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 100))
        + ask(1, b"a" * 300)
        + frame(PING, 0, 0, b"12345678")
    )
    stream += (
        ask(3) + frame(HEADERS, END_HEADERS, 5, BLOCK) + frame(RST_STREAM, 0, 5, number(8)) + ask(7, b"b")
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    machine, events = connection(hello=b""), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)]):
        events += machine.receive(stream[begin:end])
    assert [type(event) for event in events] == [Request, Request, Cancelled, Request]
    assert [event.stream for event in events] == [1, 3, 5, 7]
    kinds = [(kind, flags) for kind, flags, *_ in frames(machine.take())]
    assert kinds == [(SETTINGS, 0), (WINDOW_UPDATE, 0), (SETTINGS, ACK), (PING, ACK)]


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_no_bytes_do_harm(junk):
    for machine in (connection(), connection(hello=b"")):
        for event in machine.receive(junk):
            assert isinstance(event, (Request, Cancelled, Ended))
        machine.take()


any_frame = st.builds(
    frame,
    st.integers(0, 10),
    st.integers(0, 255),
    st.integers(0, 9),
    st.one_of(st.binary(max_size=40), st.just(BLOCK)),
)


@given(st.lists(any_frame, max_size=20))
@settings(max_examples=100, deadline=None)
def test_no_frames_do_harm(given_frames):
    machine, answered = connection(), 0
    for each in given_frames:
        for event in machine.receive(each):
            if isinstance(event, Request):
                answered += 1
                machine.respond(event.stream, b"\x88", b"x" * 100, b"\x88")
    machine.drain()
    machine.take()
    assert machine.kept == sum(stream.size for stream in machine._streams.values() if not stream.has_ended)


def test_answers_wait_for_both_windows():
    settings_ = frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 10))  # streams have windows of 10 bytes
    machine = connection(PREFACE + settings_)
    machine.receive(ask(1) + ask(3))
    machine.respond(1, b"\x88", b"a" * 25, b"\x88")
    machine.respond(3, b"\x88", b"b" * 25, b"\x88")

    def data_sent():
        return [(stream, len(payload)) for kind, _, stream, payload in frames(machine.take()) if kind == DATA]

    assert data_sent() == [(1, 10), (3, 10)]
    machine.receive(frame(WINDOW_UPDATE, 0, 3, number(100)))
    assert data_sent() == [(3, 15)]
    machine.receive(frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 12)))  # two bytes more for all
    assert data_sent() == [(1, 2)]
    machine.receive(frame(RST_STREAM, 0, 1, number(8)))
    assert machine.is_idle
    machine.receive(ask(5))
    machine.respond(5, b"\x88", b"c" * 70_000, b"\x88")
    machine.receive(frame(WINDOW_UPDATE, 0, 5, number(70_000)))
    assert sum(size for _, size in data_sent()) == 65_535 - 10 - 25 - 2  # the connection's window
    machine.receive(frame(WINDOW_UPDATE, 0, 0, number(70_000)))
    assert data_sent()
    assert machine.is_idle


def test_answers_of_several_messages_wait_for_windows_too():
    machine = connection(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 3)))
    machine.receive(ask(1))
    machine.begin(1, b"\x88")
    machine.send(1, b"ab")
    assert frames(machine.take())[1:] == [(DATA, 0, 1, b"ab")]
    machine.send(1, b"cd")
    machine.send(1, b"ef")
    assert frames(machine.take()) == [(DATA, 0, 1, b"c")]
    machine.finish(1, b"\x89")
    assert not machine.has_output and not machine.is_idle
    machine.receive(frame(WINDOW_UPDATE, 0, 1, number(9)))
    assert frames(machine.take()) == [
        (DATA, 0, 1, b"def"),
        (HEADERS, END_HEADERS | END_STREAM, 1, b"\x89"),
    ]
    assert machine.is_idle
    for late in (machine.begin, machine.send, machine.finish):
        late(1, b"x")
    assert not machine.has_output


@pytest.mark.parametrize("cut", [1, 700, 1023, 1024, 5000, 70_000])
def test_large_frames_are_taken_as_they_come(cut):
    body = random.Random(cut).randbytes(90_000)
    machine = connection()
    begin = frame(HEADERS, END_HEADERS, 1, BLOCK) + frame(DATA, 0, 1, body[:40_000])
    padded = frame(DATA, PADDED, 1, b"\x02" + body[40_000:50_000] + b"\0\0")
    data = begin + padded + frame(DATA, END_STREAM, 1, body[50_000:]) + ask(3, b"next")
    events = []
    for at in range(0, len(data), cut):
        events += machine.receive(data[at : at + cut])
    assert [event.body for event in events] == [body, b"next"]
    assert machine.kept == 0 and not machine.is_reading


def test_large_answers_are_not_copied():
    machine, answer = connection(), bytes(300_000)
    machine.receive(ask(1) + frame(WINDOW_UPDATE, 0, 0, number(1 << 20)))
    machine.receive(frame(WINDOW_UPDATE, 0, 1, number(1 << 20)))
    machine.respond(1, b"\x88", answer, b"")
    data = [piece for piece in machine.take_pieces() if isinstance(piece, memoryview)]
    assert sum(map(len, data)) == len(answer) and all(piece.obj is answer for piece in data)


def test_windows_of_clients_are_topped_up():
    machine = connection(body_limit=1 << 30)
    machine.receive(frame(HEADERS, END_HEADERS, 1, BLOCK))
    for _ in range(12):
        machine.receive(frame(DATA, 0, 1, b"x" * (200 << 10)))
    assert [(kind, stream) for kind, _, stream, _ in frames(machine.take())] == [(WINDOW_UPDATE, 1)]


def test_bodies_that_are_too_large_are_refused_once_and_not_kept():
    machine = connection(body_limit=1000)
    events = machine.receive(frame(HEADERS, END_HEADERS, 1, BLOCK) + frame(DATA, 0, 1, b"x" * 900) * 4)
    assert events == [Request(1, {name.encode(): value.encode() for name, value in ASKED}, None)]
    assert machine.kept == 0
    machine.respond(1, b"\x88")
    assert [kind for kind, *_ in frames(machine.take())] == [HEADERS, RST_STREAM]
    assert machine.receive(frame(DATA, END_STREAM, 1, b"late") + ask(3))[0].stream == 3
    many = connection(body_limit=1000)
    events = many.receive(
        b"".join(frame(HEADERS, END_HEADERS, n, BLOCK) + frame(DATA, 0, n, b"x" * 900) for n in (1, 3, 5))
    )
    assert [(event.stream, event.body) for event in events] == [(5, None)]


def test_more_requests_than_agreed_are_refused():
    machine = connection(most_streams=2)
    events = machine.receive(ask(1) + ask(3) + ask(5))
    assert [event.stream for event in events] == [1, 3]
    assert frames(machine.take()) == [(RST_STREAM, 0, 5, number(Code.REFUSED_STREAM))]


def test_a_server_that_stops_answers_what_it_has_and_refuses_the_rest():
    machine = connection()
    machine.receive(ask(1))
    machine.drain()
    assert frames(machine.take()) == [(GOAWAY, 0, 0, number(1) + number(0))]
    assert list(machine.receive(ask(3))) == []
    assert frames(machine.take()) == [(RST_STREAM, 0, 3, number(Code.REFUSED_STREAM))]
    machine.respond(1, b"\x88")
    assert machine.is_idle


@pytest.mark.parametrize(
    "headers",
    [
        [(":method", "POST")],
        [*ASKED, (":path", "/b")],
        [*ASKED, ("connection", "close")],
        [*ASKED, ("te", "gzip")],
        [("x", "y"), *ASKED],
        [*ASKED, ("Upper", "case")],
        [*ASKED, (":status", "200")],
    ],
)
def test_headers_that_are_no_request_reset_their_stream(headers):
    machine = connection()
    block = header_block([(name.encode(), value.encode()) for name, value in headers])
    assert list(machine.receive(ask(1, block=block))) == []
    assert frames(machine.take()) == [(RST_STREAM, 0, 1, number(Code.PROTOCOL_ERROR))]
    assert machine.receive(ask(3))[0].stream == 3


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(DATA, 0, 1, b"x"), Code.PROTOCOL_ERROR),  # not opened
        (ask(2), Code.PROTOCOL_ERROR),
        (ask(5) + frame(HEADERS, END_HEADERS, 3, BLOCK), Code.STREAM_CLOSED),
        (ask(1) + frame(DATA, 0, 1, b"x"), Code.STREAM_CLOSED),
        (frame(HEADERS, 0, 1, BLOCK) + frame(PING, 0, 0, b"12345678"), Code.PROTOCOL_ERROR),
        (frame(HEADERS, 0, 1, BLOCK) + frame(CONTINUATION, 0, 3, b""), Code.PROTOCOL_ERROR),
        (frame(CONTINUATION, 0, 1, b""), Code.PROTOCOL_ERROR),
        (frame(HEADERS, END_HEADERS, 1, BLOCK) * 2, Code.PROTOCOL_ERROR),  # in the middle
        (frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff"), Code.COMPRESSION_ERROR),
        (frame(HEADERS, END_HEADERS | PADDED, 1, b"\x05ab"), Code.PROTOCOL_ERROR),
        (frame(PRIORITY, 0, 1, number(1) + b"\0"), Code.PROTOCOL_ERROR),
        (frame(PRIORITY, 0, 1, b""), Code.FRAME_SIZE_ERROR),
        (frame(PUSH_PROMISE, 0, 1), Code.PROTOCOL_ERROR),
        (frame(PING, 0, 0, b"1"), Code.FRAME_SIZE_ERROR),
        (frame(PING, 0, 1, b"12345678"), Code.PROTOCOL_ERROR),
        (frame(SETTINGS, 0, 0, b"1"), Code.FRAME_SIZE_ERROR),
        (frame(SETTINGS, ACK, 0, b"123456"), Code.FRAME_SIZE_ERROR),
        (frame(SETTINGS, 0, 0, struct.pack(">HL", 4, 2**31)), Code.FLOW_CONTROL_ERROR),
        (frame(SETTINGS, 0, 0, struct.pack(">HL", 5, 1)), Code.PROTOCOL_ERROR),
        (frame(WINDOW_UPDATE, 0, 0, number(2**31 - 1)), Code.FLOW_CONTROL_ERROR),
        (frame(WINDOW_UPDATE, 0, 0, number(0)), Code.FLOW_CONTROL_ERROR),
        (frame(RST_STREAM, 0, 9, number(0)), Code.PROTOCOL_ERROR),
        (b"\xff\xff\xff" + frame(DATA, 0, 1)[3:], Code.FRAME_SIZE_ERROR),
        # Floods, and many requests that are cancelled at once.
        (frame(PING, 0, 0, b"12345678") * 20_000, Code.ENHANCE_YOUR_CALM),
        (frame(SETTINGS, 0, 0) * 20_000, Code.ENHANCE_YOUR_CALM),
        (frame(HEADERS, 0, 1, b"") + frame(CONTINUATION, 0, 1, b"") * 20_000, Code.ENHANCE_YOUR_CALM),
        (frame(HEADERS, 0, 1, b"") + frame(CONTINUATION, 0, 1, b"x" * 5000), Code.ENHANCE_YOUR_CALM),
        (frame(HEADERS, END_HEADERS, 1, BLOCK) + frame(DATA, 0, 1, b"") * 20_000, Code.ENHANCE_YOUR_CALM),
        (
            b"".join(ask(n) + frame(RST_STREAM, 0, n, number(8)) for n in range(1, 4000, 2)),
            Code.ENHANCE_YOUR_CALM,
        ),
        (
            frame(HEADERS, END_HEADERS, 1, header_block([(b"x" * 100, b"y" * 100)] * 20)),
            Code.COMPRESSION_ERROR,
        ),
    ],
)
def test_violations_end_the_connection_with_their_code(data, code):
    assert ended_by(connection(), data) == code


def test_a_client_must_begin_with_the_preface_and_settings():
    assert ended_by(connection(hello=b""), PREFACE + frame(PING, 0, 0, b"12345678")) == Code.PROTOCOL_ERROR
    machine = connection(hello=b"")
    assert isinstance(machine.receive(b"GET / HTTP/1.1\r\n")[0], Ended)
    assert machine.take().startswith(b"HTTP/1.1 400 ")


def test_windows_of_streams_that_overflow_reset_the_stream_alone():
    machine = connection()
    machine.receive(ask(1) + ask(3))
    machine.take()
    assert machine.receive(frame(WINDOW_UPDATE, 0, 1, number(2**31 - 1))) == [Cancelled(1)]
    assert frames(machine.take()) == [(RST_STREAM, 0, 1, number(Code.FLOW_CONTROL_ERROR))]
    assert machine.receive(frame(WINDOW_UPDATE, 0, 3, number(0))) == [Cancelled(3)]


def test_steady_work_is_no_flood():
    machine = connection(most_streams=100)
    for stream in range(1, 8_000, 2):
        events = machine.receive(ask(stream) + frame(PING, 0, 0, b"12345678") * 4)
        machine.respond(events[0].stream, b"\x88")
    assert not machine.is_ended


def test_long_header_blocks_of_answers_are_continued():
    machine = connection()
    machine.receive(ask(1))
    machine.respond(1, header_block([(b"grpc-message", b"x" * 40_000)]))
    kinds = [(kind, flags) for kind, flags, *_ in frames(machine.take())]
    assert kinds == [(HEADERS, END_STREAM), (CONTINUATION, 0), (CONTINUATION, END_HEADERS)]
