"""Strangers at a server's port: they get nothing, do no harm, and the next good client is served."""

import contextlib
import errno
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
import zmq

from tests.cluster.kinds import KINDS, Echo, Ok, Push, Wait
from tests.patience import eventually
from tideflow.cluster import keys, listening, pieces, protocol, sockets, wire
from tideflow.cluster.connection import Connection
from tideflow.cluster.transport import Identity, Listener, Peer
from tideflow.cluster.wire import Envelope
from tideflow.graph.errors import (
    AbortedError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
)

SOON = 30.0
_ESTABLISHED = "01"  # of /proc/net/tcp
KEY = keys.generate()


def a_peer(address, key=None, **options):
    """A peer with this key, or with none at all."""
    return Peer(address, kinds=KINDS, key=key, insecure=key is None, **options)


class Server:
    """A listener that notes what reaches it, and proves that it still serves."""

    def __init__(self, **options):
        self.seen = []
        self.key = options.get("key")
        options["insecure"] = self.key is None
        self.listener = Listener(
            "127.0.0.1:0",
            self._handle,
            kinds=KINDS,
            identity=Identity("/job:ps", {"/job:ps": "a:1"}),
            **options,
        )

    def _handle(self, message, reply, sender):
        self.seen.append(message.kind)
        if reply is not None:
            reply(Ok(message.fields))

    def serves(self):
        peer = a_peer(self.listener.address, key=self.key)
        try:
            return peer.call(Echo({"x": 1}), Ok, SOON).fields == {"x": 1}
        finally:
            peer.close()


@pytest.fixture(params=[None, KEY], ids=["open", "keyed"])
def server(request):
    server = Server(key=request.param)
    yield server
    assert server.serves() and set(server.seen) == {"echo"}
    server.listener.close()


@pytest.fixture
def open_server():
    server = Server()
    yield server
    assert server.serves() and set(server.seen) <= {"echo"}
    server.listener.close()


@pytest.fixture
def dealer(open_server):
    """A bare ZeroMQ socket, connected to the open server, for messages that a test makes."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as sock:
        sock.linger, sock.rcvtimeo = 0, int(1000 * SOON)
        sock.connect(f"tcp://{open_server.listener.address}")
        yield sock


def error_for(dealer, frames):
    """The error with which the server answers to frames."""
    dealer.send_multipart(frames)
    return wire.error_of(wire.decode(dealer.recv_multipart(), KINDS))


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


def test_strangers_that_connect_and_send_nothing(server):
    host, _, port = server.listener.address.partition(":")
    strangers = [socket.create_connection((host, int(port)), timeout=SOON) for _ in range(50)]
    assert server.serves()
    for stranger in strangers:
        stranger.close()


def test_more_strangers_than_may_wait(monkeypatch):
    """Who comes then has to wait until the others have left."""
    monkeypatch.setattr(listening, "MAX_UNAUTHENTICATED", 8)
    server = Server(key=KEY)
    place = ("127.0.0.1", server.listener.port)
    strangers = [socket.create_connection(place, timeout=SOON) for _ in range(8)]
    eventually(lambda: not server.listener._listening._is_open)
    with socket.socket() as late:
        late.setblocking(False)
        assert late.connect_ex(place) == errno.EINPROGRESS
        assert not select.select([], [late], [], 0)[1]
    for stranger in strangers:
        stranger.close()
    eventually(lambda: server.listener._listening._is_open)
    assert server.serves()
    server.listener.close()


def test_a_stranger_who_announces_much_is_cut_off(server):
    """Without a key, a connection holds one piece at most."""
    with socket.create_connection(("127.0.0.1", server.listener.port), timeout=SOON) as stranger:
        stranger.sendall(GREETING.replace(b"NULL\0", b"CURVE" if server.key else b"NULL\0"))
        sent = 0
        with pytest.raises(OSError):
            stranger.sendall(b"\x06" + struct.pack(">Q", 1 << 30))  # a command of 1 GB
            while sent < 64 << 20:
                stranger.sendall(bytes(1 << 16))
                sent += 1 << 16
            raise AssertionError("64 MB of a message were taken from a stranger")


def test_a_message_that_stops_in_the_middle_is_let_go_with_its_connection(open_server):
    frame = bytes(pieces.whole_piece(None))
    first = wire.encode(Push(), Envelope(request=1))[0].ljust(len(frame), b" ")
    with zmq.Context() as context, context.socket(zmq.DEALER) as sock:
        sock.linger = 0
        sock.connect(f"tcp://{open_server.listener.address}")
        sock.send(first)
        for _ in range(10):
            sock.send(frame)
        eventually(lambda: open_server.listener._unfinished.held_bytes() >= 11 * len(frame))
    eventually(lambda: open_server.listener._unfinished.held_bytes() == 0)


def test_a_message_that_comes_after_its_connection_is_closed_is_let_go(open_server):
    """The first pieces wait to be received when ZeroMQ reports the end of the connection."""
    clients, client = open_server.listener._clients, b"gone"
    first = wire.encode(Push(), Envelope(request=1))[0].ljust(pieces.whole_piece(None), b" ")
    piece = type("Piece", (bytes,), {"get": lambda self, option: 1 << 20})(first)
    done = threading.Event()
    open_server.listener.call_soon(lambda: (open_server.listener._take(client, piece), done.set()))
    assert done.wait(SOON)
    eventually(lambda: clients.get(client) is None)
    assert open_server.listener._unfinished.held_bytes() == 0


def test_a_message_of_parts_without_an_end_is_cut_off(caplog):
    """ZeroMQ would hold all of it, and show none."""
    server, ready = Server(), b"\x05READY\x0bSocket-Type\0\0\0\x06DEALER"
    server.listener._clients._limit = 2 << 20
    part = b"\x03" + struct.pack(">Q", 1 << 16) + bytes(1 << 16)  # and more to come
    with socket.create_connection(("127.0.0.1", server.listener.port), timeout=SOON) as sock:
        sock.sendall(GREETING)
        sock.sendall(b"\x04" + bytes([len(ready)]) + ready)
        stream = sock.makefile("rb")  # ZeroMQ sends its greeting in several pieces
        greeting = stream.read(64)
        answer = stream.read(stream.read(2)[1])
        assert greeting[:1] == b"\xff" and b"READY" in answer  # what comes before is a breach of ZMTP
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(64):
                sock.sendall(part)
            while sock.recv(4096):  # until the connection is closed; else the time is over
                pass
    assert "which does not end" in caplog.text
    assert server.serves() and server.seen == ["echo"]
    server.listener.close()


def test_who_has_left_is_reported_after_its_last_message():
    seen = []
    server = Listener(
        "127.0.0.1:0",
        lambda message, reply, sender: seen.append((message.kind, sender)),
        kinds=KINDS,
        insecure=True,
        on_left=lambda sender: seen.append(("left", sender)),
    )
    peer = a_peer(server.address, me=Identity("/job:worker/task:1"))
    peer.post(Push())
    peer.close()
    eventually(lambda: len(seen) == 2)
    assert [what for what, _ in seen] == ["push", "left"]
    assert seen[0][1] is seen[1][1] and seen[0][1].task == "/job:worker/task:1"
    server.close()


_FEW_FILES = """
import resource, sys
from tests.cluster.kinds import KINDS
from tideflow.cluster.transport import Listener
listener = Listener("127.0.0.1:0", lambda message, reply, sender: reply(message), kinds=KINDS)
import os
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 6,) * 2)
print(listener.port, flush=True)
sys.stdin.read()
listener.close()
"""


def test_a_server_without_file_descriptors_turns_connections_away():
    """It does not try to accept them without an end; afterwards it serves again."""
    with subprocess.Popen(
        [sys.executable, "-c", _FEW_FILES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        place = ("127.0.0.1", int(process.stdout.readline()))
        strangers = [socket.create_connection(place, timeout=SOON) for _ in range(20)]
        assert any(map(_is_hung_up, strangers))  # those that were accepted are greeted
        for stranger in strangers:
            stranger.close()
        peer = _connected(f"127.0.0.1:{place[1]}")
        assert peer.call(Echo({"x": 1}), Echo, SOON).fields == {"x": 1}
        peer.close()
        process.communicate("")
        assert process.returncode == 0


def _connected(address):
    """A peer of a server that turns connections away until it notices that others are closed."""
    deadline = time.monotonic() + SOON
    while True:
        peer = Peer(address, kinds=KINDS)
        try:
            peer.connect(SOON)
            return peer
        except UnauthenticatedError:
            peer.close()
            if time.monotonic() > deadline:
                raise


def _is_hung_up(stranger):
    try:
        return stranger.recv(1) == b""
    except ConnectionResetError:
        return True


# ------------------------------------------------------------------------------------------------ wrong key


REFUSED = UnauthenticatedError


@pytest.mark.parametrize(
    ("there", "here"), [(KEY, None), (None, KEY), (KEY, keys.generate())], ids=["none", "extra", "wrong"]
)
def test_another_key(there, here, monkeypatch):
    server = Server(key=there)
    peer = a_peer(server.listener.address, key=here)
    with pytest.raises(REFUSED, match="cluster key"):
        peer.call(Push(), Ok, SOON)
    with pytest.raises(REFUSED, match="cluster key"):
        peer.connect(SOON)
    assert server.serves() and server.seen == ["echo"]
    peer.close()
    server.listener.close()


def test_a_server_on_the_loopback_has_a_key_unless_told_otherwise():
    listener = Listener("127.0.0.1:0", lambda message, reply, sender: reply(message), kinds=KINDS)
    mine, strange = Peer(listener.address, kinds=KINDS), a_peer(listener.address)
    assert mine.call(Echo({"x": 1}), Echo, SOON).fields == {"x": 1}
    with pytest.raises(REFUSED, match="this one has none"):
        strange.call(Echo(), Echo, SOON)
    mine.close()
    strange.close()
    listener.close()


def test_the_servers_public_key_alone_is_not_enough():
    class Stranger(keys.Key):
        def server(self):
            return KEY.server()

    server = Server(key=KEY)
    peer = a_peer(server.listener.address, key=Stranger(keys.generate().secret))
    with pytest.raises(REFUSED, match="cluster key"):
        peer.call(Push(), Ok, SOON)
    assert server.serves() and server.seen == ["echo"]
    peer.close()
    server.listener.close()


def test_nothing_readable_crosses_a_keyed_connection():
    """A relay between the two sees no word of what they say."""
    server, relayed = Server(key=KEY), bytearray()
    host, _, port = server.listener.address.partition(":")
    with socket.create_server(("127.0.0.1", 0)) as relay:
        relay.settimeout(SOON)
        peer = a_peer(f"127.0.0.1:{relay.getsockname()[1]}", key=KEY)

        def pump(source, target):
            while data := source.recv(65536):
                relayed.extend(data)
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
        peer.call(Echo({"secret-word": "secret-text"}), Ok, SOON)
        peer.close()
    server.listener.close()
    assert len(relayed) > 500 and b"secret" not in relayed


# ------------------------------------------------------------------------------------------- forged messages


def test_a_message_before_the_hello(dealer):
    frames = wire.encode(Push(), Envelope(request=5))
    assert isinstance(error_for(dealer, frames), FailedPreconditionError)


def test_a_guessed_incarnation(dealer):
    error = error_for(dealer, wire.encode(Push(), Envelope(request=5, incarnation=12345)))
    assert isinstance(error, AbortedError) and "was restarted" in error.message


def test_another_version(dealer):
    frame = bytearray(wire.encode(protocol.hello(Identity(), "", None), Envelope(request=7))[0])
    frame[4:6] = struct.pack("<H", 99)
    error = error_for(dealer, [frame])
    assert isinstance(error, FailedPreconditionError)
    assert f"version 99 of the protocol, this one version {wire.VERSION}" in error.message


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
    peer = a_peer(server.listener.address)
    with pytest.raises(
        FailedPreconditionError, match=f"version {wire.VERSION + 1} of the protocol, this one"
    ):
        peer.call(Push(), Ok, SOON)
    peer.close()
    server.listener.close()


def forged(header, *frames, incarnation=0):
    text = json.dumps(header).encode()
    prefix = wire._PREFIX.pack(b"TIDE", wire.VERSION, 0, 3, incarnation, 0, len(frames), len(text))
    return [prefix + text, *frames]


def hello(**fields):
    return {"kind": "hello", **fields}


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        (forged(hello(tensors=[[1, 1, [10**15], 4 * 10**15, 1]]), b"x"), DataLossError),
        (forged(hello(tensors=[[1, 1, [10**15], 4 * 10**15, 0]])), DataLossError),
        (forged(hello(tensors=[[1, 1, [10**6], 4 * 10**6, [1, 0, "0" * 32]]])), DataLossError),
        (forged(hello(tensors=[[1, 1, [1], 4, ["/etc/passwd"]]])), InvalidArgumentError),
        (forged(hello(), *[b"x"] * 1000), DataLossError),
        (forged(hello(to={"x": 1})), InvalidArgumentError),
        (forged(hello(memory={"boot": 1, "probe": [1, 1, 1]})), InvalidArgumentError),
        (forged(hello(cluster={"/job:ps": "a:2"})), FailedPreconditionError),
        (forged({"pickle": "gASVKAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU"}), InvalidArgumentError),
    ],
    ids=range(9),
)
def test_a_false_header(dealer, frames, kind):
    assert isinstance(error_for(dealer, frames), kind)


def test_frames_that_are_no_message_get_no_answer(dealer):
    for frames in ([b""], [b"x"], [b"", b""], [b"TIDE"], [b"\x80\x04\x95" * 100], [b"x"] * 500):
        dealer.send_multipart(frames)
    error = error_for(
        dealer, forged({"kind": "push"})
    )  # the first thing that is a message is the first answered
    assert isinstance(error, FailedPreconditionError) and not dealer.poll(0)


def test_a_message_over_the_limit_is_refused(monkeypatch):
    """It is not kept, and the connection goes on."""
    monkeypatch.setattr(sockets, "lend", lambda data, borrower: None)  # through the socket
    server = Server(max_message_bytes=1 << 20)
    peer = a_peer(server.listener.address)
    with pytest.raises(ResourceExhaustedError, match="at most 1048576 are kept"):
        peer.call(Push(tensors=[torch.zeros(1 << 20)]), Ok, SOON)
    assert peer.call(Echo({"y": 2}, tensors=[torch.zeros(100_000)]), Ok, SOON).fields == {"y": 2}
    assert server.listener._unfinished.held_bytes() == 0
    assert server.serves() and set(server.seen) == {"echo"}
    peer.close()
    server.listener.close()


def test_a_flood_of_requests_from_a_client_that_never_reads(monkeypatch, caplog):
    """Answers that the client does not read are dropped; they do not pile up."""
    monkeypatch.setattr(sockets, "QUEUED_MESSAGES", 8)
    caplog.set_level("DEBUG", "tideflow.cluster")
    server = Server()
    address = "x" * 8000
    server.listener.identity = Identity("/job:ps", {"/job:ps": f"{address}:1"})
    greeting = wire.encode(protocol.hello(Identity("", {"/job:ps": "a:2"}), "", None), Envelope(request=1))
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

    def late(message, reply, sender):
        if type(message) is Wait:
            replies.append(reply)
            asked.set()
        else:
            reply(message)

    listener = Listener("127.0.0.1:0", late, kinds=KINDS, insecure=True)
    peer = a_peer(listener.address)
    peer.start(Wait()).cancel()
    assert asked.wait(SOON)
    replies[0](Ok(tensors=[torch.ones(100_000)]))
    peer.call(Echo(), Echo, SOON)
    peer.close()
    listener.close()


def test_a_server_that_does_not_speak_the_protocol(monkeypatch):
    """A server that listens and never answers is given up in time, and named."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        peer = a_peer(f"127.0.0.1:{mute.getsockname()[1]}", task="/job:ps")
        with pytest.raises(DeadlineExceededError, match="/job:ps at 127"):
            peer.call(Echo(), Ok, timeout=0.3)
        monkeypatch.setattr(sockets, "HANDSHAKE_MS", 200)
        with pytest.raises(UnavailableError, match="/job:ps at 127"):
            peer.call(Echo(), Ok, SOON)
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
        peer = a_peer(f"127.0.0.1:{port}")
        with pytest.raises(InvalidArgumentError, match="Not a message of this protocol"):
            peer.call(Echo(), Ok, SOON)
        thread.join()
        peer.close()


def test_connections_close_their_sockets():
    server = Server()
    peer = a_peer(server.listener.address)
    peer.connect(SOON)
    assert _connections_to(server.listener.port)
    peer.close()
    # ZeroMQ closes in its own thread.
    eventually(lambda: not _connections_to(server.listener.port), SOON, "connections stay open")
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
    peer = a_peer(server.listener.address)
    with pytest.raises(REFUSED, match="cluster key"):
        peer.call(Push(), Ok, SOON)
    assert len(closed) == 1
    peer.close()
    server.listener.close()
