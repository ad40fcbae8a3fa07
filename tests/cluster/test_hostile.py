"""Strangers at a server's port: they get nothing, do no harm, and the next good client is served."""

import json
import os
import socket
import struct
import threading
import time
from pathlib import Path

import pytest
import torch
import zmq

from tideflow.cluster import keys, protocol, sockets, wire
from tideflow.cluster.connection import Connection
from tideflow.cluster.transport import Identity, Listener, Message, Peer
from tideflow.cluster.wire import Envelope
from tideflow.graph.errors import (
    AbortedError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnauthenticatedError,
    UnavailableError,
)
from tideflow.runtime.waiting import Limits

SOON = 30.0
_ESTABLISHED = "01"  # of /proc/net/tcp
KEY = keys.generate()


class Server:
    """A listener that notes what reaches it, and proves that it still serves."""

    def __init__(self, **options):
        self.seen = []
        self.key = options.get("key")
        self.listener = Listener(
            "127.0.0.1:0", self._handle, identity=Identity("/job:ps", {"/job:ps": "a:1"}), **options
        )

    def _handle(self, message, reply):
        self.seen.append(message.kind)
        if reply is not None:
            reply(Message("ok", message.fields))

    def serves(self):
        peer = Peer(self.listener.address, key=self.key)
        try:
            return peer.call(Message("good", {"x": 1}), SOON).fields == {"x": 1}
        finally:
            peer.close()


@pytest.fixture(params=[None, KEY], ids=["open", "keyed"])
def server(request):
    server = Server(key=request.param)
    yield server
    assert server.serves() and set(server.seen) == {"good"}
    server.listener.close()


@pytest.fixture
def open_server():
    server = Server()
    yield server
    assert server.serves() and set(server.seen) <= {"good"}
    server.listener.close()


@pytest.fixture
def dealer(open_server):
    """A bare socket that speaks ZeroMQ to the open server, and whatever a test wants to say."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as sock:
        sock.linger, sock.rcvtimeo = 0, int(1000 * SOON)
        sock.connect(f"tcp://{open_server.listener.address}")
        yield sock


def told(dealer, frames):
    """What the server answers to frames."""
    dealer.send_multipart(frames)
    return wire.error_of(wire.decode(dealer.recv_multipart()))


# ------------------------------------------------------------------------------------------------- raw bytes

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
JUNK = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    bytes(range(256)) * 40,
    b"\0" * 1000,
    b"\x01\x00\x05hello\x00\x05world" * 100,  # the unversioned ZeroMQ of old
    GREETING,
    GREETING + b"\x04\x05NULL" + b"\xff" * 100,
    GREETING + b"\x02" + struct.pack(">Q", 2**62) + b"x" * 1000,  # a frame of 4 EB
    GREETING
    + b"\x04\x29\x05READY"
    + b"\x0bSocket-Type\x00\x00\x00\x06DEALER"
    + b"\x00" * 3
    + b"\x00\x05junk!",
    os.urandom(5000),
]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_on_the_port(server, junk):
    host, _, port = server.listener.address.partition(":")
    with socket.create_connection((host, int(port)), timeout=SOON) as stranger:
        stranger.sendall(junk)
        assert server.serves()


def test_who_connects_and_says_nothing(server):
    host, _, port = server.listener.address.partition(":")
    strangers = [socket.create_connection((host, int(port)), timeout=SOON) for _ in range(50)]
    assert server.serves()
    for stranger in strangers:
        stranger.close()


# ------------------------------------------------------------------------------------------------ wrong key


def _one_attempt(peer, monkeypatch):
    """Limits that are over once the peer has tried to connect."""
    limits, borrow = Limits(time.monotonic() + SOON, SOON), peer._borrow

    def only_once(given):
        try:
            return borrow(given)
        finally:
            limits.deadline = time.monotonic()

    monkeypatch.setattr(peer, "_borrow", only_once)
    return limits


REFUSED = (UnauthenticatedError, UnavailableError)  # which of them depends on who hangs up first


@pytest.mark.parametrize(
    ("there", "here"), [(KEY, None), (None, KEY), (KEY, keys.generate())], ids=["none", "extra", "wrong"]
)
def test_another_key(there, here, monkeypatch):
    server = Server(key=there)
    peer = Peer(server.listener.address, key=here)
    with pytest.raises(REFUSED, match="cluster key"):
        peer.call(Message("bad"), SOON)
    with pytest.raises((*REFUSED, DeadlineExceededError), match="cluster key"):
        peer.connect(limits=_one_attempt(peer, monkeypatch))
    assert server.serves() and server.seen == ["good"]
    peer.close()
    server.listener.close()


def test_the_servers_public_key_alone_is_not_enough():
    class Stranger(keys.Key):
        def server(self):
            return KEY.server()

    server = Server(key=KEY)
    peer = Peer(server.listener.address, key=Stranger(keys.generate().secret))
    with pytest.raises(REFUSED, match="cluster key"):
        peer.call(Message("bad"), SOON)
    assert server.serves() and server.seen == ["good"]
    peer.close()
    server.listener.close()


def test_nothing_readable_crosses_a_keyed_connection():
    """A relay between the two sees no word of what they say."""
    server, heard = Server(key=KEY), bytearray()
    host, _, port = server.listener.address.partition(":")
    with socket.create_server(("127.0.0.1", 0)) as relay:
        relay.settimeout(SOON)
        peer = Peer(f"127.0.0.1:{relay.getsockname()[1]}", key=KEY)

        def pump(source, target):
            while data := source.recv(65536):
                heard.extend(data)
                target.sendall(data)
            target.close()

        def run():
            inward, _ = relay.accept()
            outward = socket.create_connection((host, int(port)))
            back = threading.Thread(target=pump, args=(outward, inward), daemon=True)
            back.start()
            pump(inward, outward)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        peer.call(Message("secret-word", {"text": "secret-text"}), SOON)
        peer.close()
    server.listener.close()
    assert len(heard) > 500 and b"secret" not in heard


# ------------------------------------------------------------------------------------------- forged messages


def test_who_says_no_hello(dealer):
    frames = wire.encode(Message("bad"), Envelope(request=5))
    assert isinstance(told(dealer, frames), FailedPreconditionError)


def test_a_guessed_life(dealer):
    error = told(dealer, wire.encode(Message("bad"), Envelope(request=5, incarnation=12345)))
    assert isinstance(error, AbortedError) and "was restarted" in error.message


def test_another_version(dealer):
    frame = bytearray(wire.encode(protocol.hello(Identity(), "", {}), Envelope(request=7))[0])
    frame[4:6] = struct.pack("<H", 99)
    error = told(dealer, [frame])
    assert isinstance(error, FailedPreconditionError)
    assert "version 99 of the protocol, this one version 1" in error.message


def test_a_server_of_another_version(monkeypatch):
    server = Server()
    real = wire._PREFIX

    class Newer:
        """Packs, on the server's thread, the version after this one."""

        size = real.size
        unpack_from = real.unpack_from

        def pack(self, magic, version, *rest):
            return real.pack(magic, version + (threading.current_thread() is server.listener._thread), *rest)

    monkeypatch.setattr(wire, "_PREFIX", Newer())
    peer = Peer(server.listener.address)
    with pytest.raises(FailedPreconditionError, match="version 2 of the protocol, this one version 1"):
        peer.call(Message("bad"), SOON)
    peer.close()
    server.listener.close()


def forged(header, *frames, incarnation=0):
    text = json.dumps(header).encode()
    return [wire._PREFIX.pack(b"TIDE", wire.VERSION, 0, 3, incarnation, 0, len(text)) + text, *frames]


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        (forged(["hello", {}, [[1, 1, [10**15], 4 * 10**15, 1]]], b"x"), DataLossError),
        (forged(["hello", {}, [[1, 1, [10**15], 4 * 10**15, 0]]]), DataLossError),
        (forged(["hello", {}, [[1, 1, [10**6], 4 * 10**6, [1, 0, "0" * 32]]]]), DataLossError),
        (forged(["hello", {}, [[1, 1, [1], 4, ["/etc/passwd"]]]]), InvalidArgumentError),
        (forged(["hello", {}, []], *[b"x"] * 1000), DataLossError),
        (forged(["hello", {"to": {"x": 1}}, []]), InvalidArgumentError),
        (
            forged(["hello", {"host": {"place": 1, "try": [1, 1, 1]}, "cluster": {"/job:ps": "a:2"}}, []]),
            FailedPreconditionError,
        ),
        (forged({"pickle": "gASVKAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU"}), InvalidArgumentError),
    ],
    ids=range(8),
)
def test_a_header_that_lies(dealer, frames, kind):
    assert isinstance(told(dealer, frames), kind)


def test_who_sends_no_message_at_all_hears_nothing(dealer):
    for frames in ([b""], [b"x"], [b"", b""], [b"TIDE"], [b"\x80\x04\x95" * 100], [b"x"] * 500):
        dealer.send_multipart(frames)
    error = told(dealer, forged(["bad", {}, []]))  # the first thing that is a message is the first answered
    assert isinstance(error, FailedPreconditionError) and not dealer.poll(0)


def test_a_message_over_the_limit_costs_the_connection():
    server = Server(max_message_bytes=1 << 20)
    peer = Peer(server.listener.address)
    connection, _ = peer._borrow(Limits())
    connection._share = None  # through the socket
    connection.send(Message("bad", {}, [torch.zeros(1 << 20)]))
    ready = sockets.poll(connection.polled, int(1000 * SOON))
    with pytest.raises(UnavailableError, match="bad: the connection broke"):
        connection.take(0, ready, "bad")
    connection.close(linger=0)
    assert server.serves() and server.seen == ["good"]
    peer.close()
    server.listener.close()


def test_a_flood_of_questions_from_who_never_reads(monkeypatch, caplog):
    """Answers are dropped when nobody reads them; they do not pile up."""
    monkeypatch.setattr(sockets, "QUEUED_MESSAGES", 8)
    caplog.set_level("DEBUG", "tideflow.cluster")
    server = Server()
    address = "x" * 8000
    server.listener.identity = Identity("/job:ps", {"/job:ps": f"{address}:1"})
    greeting = wire.encode(protocol.hello(Identity("", {"/job:ps": "a:2"}), "", {}), Envelope(request=1))
    with zmq.Context() as context, context.socket(zmq.DEALER) as sock:
        sock.linger, sock.rcvhwm, sock.rcvbuf = 0, 1, 4096
        sock.connect(f"tcp://{server.listener.address}")
        deadline = time.monotonic() + SOON
        while "does not read its answers" not in caplog.text:
            assert time.monotonic() < deadline, "answers pile up"
            sock.send_multipart(greeting)
        assert server.serves()
    server.listener.close()


def test_a_client_that_leaves_before_its_answer():
    replies, asked = [], threading.Event()

    def late(message, reply):
        if message.kind == "leave":
            replies.append(reply)
            asked.set()
        else:
            reply(message)

    listener = Listener("127.0.0.1:0", late)
    peer = Peer(listener.address)
    peer.start(Message("leave")).cancel()
    assert asked.wait(SOON)
    replies[0](Message("too late", {}, [torch.ones(100_000)]))
    assert peer.call(Message("good"), SOON).kind == "good"
    peer.close()
    listener.close()


def test_a_server_that_is_none(monkeypatch):
    """Who listens but never speaks is given up on in time, and named."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        peer = Peer(f"127.0.0.1:{mute.getsockname()[1]}", task="/job:ps")
        with pytest.raises(DeadlineExceededError, match="/job:ps at 127"):
            peer.call(Message("good"), timeout=0.3)
        monkeypatch.setattr(sockets, "HANDSHAKE_MS", 200)
        with pytest.raises(REFUSED, match="/job:ps at 127"):
            peer.call(Message("good"), SOON)
        peer.close()


def test_an_answer_that_is_junk():
    """A server that answers a hello with nonsense."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        router.linger = 0
        port = router.bind_to_random_port("tcp://127.0.0.1")

        def answer():
            client, _ = router.recv_multipart()
            router.send_multipart([client, b"nonsense" * 10])

        thread = threading.Thread(target=answer)
        thread.start()
        peer = Peer(f"127.0.0.1:{port}")
        with pytest.raises(InvalidArgumentError, match="Not a message of this protocol"):
            peer.call(Message("good"), SOON)
        thread.join()
        peer.close()


def test_connections_close_their_sockets():
    server = Server()
    peer = Peer(server.listener.address)
    peer.connect(SOON)
    assert _connections_to(server.listener.port)
    peer.close()
    deadline = time.monotonic() + SOON
    while _connections_to(server.listener.port):  # ZeroMQ closes in its own thread
        assert time.monotonic() < deadline, "connections stay open"
        time.sleep(0.01)
    server.listener.close()


def _connections_to(port):
    """Sockets of this machine that are connected to a port, from either side."""
    tables = [Path("/proc/net", name).read_text() for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    ends = [(int(row[2].partition(":")[2], 16), row[3]) for row in rows]
    return [end for end, state in ends if end == port and state == _ESTABLISHED]


def test_a_connection_that_cannot_be_opened_is_closed_again(monkeypatch):
    closed = []
    real = Connection.close
    monkeypatch.setattr(
        Connection, "close", lambda self, linger=None: (closed.append(self), real(self, linger))
    )
    server = Server(key=KEY)
    peer = Peer(server.listener.address)
    with pytest.raises(REFUSED, match="cluster key"):
        peer.call(Message("bad"), SOON)
    assert len(closed) == 1
    peer.close()
    server.listener.close()
