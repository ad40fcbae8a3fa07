"""cluster/http2/threaded_server.py, asked by gRPC's own client and by bare sockets."""

import contextlib
import socket
import ssl
import subprocess
import threading
import time

import grpc
import pytest

import tideflow as tf
from tests.patience import eventually
from tests.serving.loops import make_certificate
from tideflow.cluster.http2 import threaded_server
from tideflow.cluster.http2.frames import PREFACE, SETTINGS, frame
from tideflow.cluster.http2.threaded_server import ThreadedServer
from tideflow.cluster.http2.tls import server_context

SECONDS = 30
LARGE = bytes(range(256)) * 80_000  # 20 MB
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Methods:
    """Methods for the tests. Those that `wait` end together, or by being cancelled."""

    def __init__(self):
        self.together = threading.Barrier(5)
        self.waiting, self.cancelled = threading.Event(), threading.Event()

    def table(self):
        return {
            b"/s/Echo": lambda data, call: (data,),
            b"/s/Meet": lambda data, call: (str(self.together.wait(SECONDS)).encode(),),
            b"/s/Wait": self.wait,
            b"/s/Refuse": self.refuse,
            b"/s/Break": lambda data, call: 1 / 0,
        }

    def wait(self, data, call):
        call.on_cancel(self.cancelled.set)
        self.waiting.set()
        assert self.cancelled.wait(SECONDS)
        return ()

    def refuse(self, data, call):
        raise tf.errors.NotFoundError(None, None, "no 100% \u2713\n")


@pytest.fixture
def methods():
    return Methods()


@contextlib.contextmanager
def served(methods, tls=None):
    server = ThreadedServer("127.0.0.1", 0, methods.table(), threads=8, tls=tls)
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def channel_to(server, certificate=None):
    address = f"localhost:{server.port}"
    if certificate is None:
        channel = grpc.insecure_channel(address, UNLIMITED)
    else:
        trusted = grpc.ssl_channel_credentials(certificate.read_bytes())
        channel = grpc.secure_channel(address, trusted, UNLIMITED)
    with channel:
        yield channel


def failure(call):
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code().name, caught.value.details()


def bare(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)


def test_messages_of_any_size_with_and_without_tls(methods, tmp_path):
    certificate, _ = make_certificate(tmp_path)
    encrypted = server_context(str(certificate), str(tmp_path / "key.pem"))
    for tls, trusted in ((None, None), (encrypted, certificate)):
        with served(methods, tls) as server, channel_to(server, trusted) as channel:
            for message in (b"", b"small", LARGE, b"x" * 70_000):
                assert channel.unary_unary("/s/Echo")(message, timeout=SECONDS) == message
            assert (
                channel.unary_unary("/s/Echo")(b"z" * 9999, compression=grpc.Compression.Gzip) == b"z" * 9999
            )


def test_calls_of_one_connection_may_wait_for_each_other(methods):
    with served(methods) as server, channel_to(server) as channel:
        calls = [channel.unary_unary("/s/Meet").future(b"", timeout=SECONDS) for _ in range(5)]
        assert sorted(call.result() for call in calls) == [b"0", b"1", b"2", b"3", b"4"]


def test_errors_are_statuses(methods, caplog):
    with served(methods) as server, channel_to(server) as channel:
        refused = failure(lambda: channel.unary_unary("/s/Refuse")(b"", timeout=SECONDS))
        assert refused == ("NOT_FOUND", "no 100% \u2713\n")
        broken = failure(lambda: channel.unary_unary("/s/Break")(b"", timeout=SECONDS))
        assert broken == ("INTERNAL", "The server failed: ZeroDivisionError: division by zero")
        assert "fault of the server" in caplog.text
        assert failure(lambda: channel.unary_unary("/s/Fly")(b"", timeout=SECONDS))[0] == "UNIMPLEMENTED"


def test_more_calls_than_threads_are_refused(methods):
    with served(methods) as server, channel_to(server) as channel:
        calls = [channel.unary_unary("/s/Wait").future(b"", timeout=SECONDS) for _ in range(9)]
        eventually(lambda: any(call.done() for call in calls))
        (refused,) = [call for call in calls if call.done()]
        assert refused.code().name == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("end", ["cancel", "leave", "stop"])
def test_a_call_ends_when_nobody_waits_for_it(methods, end):
    with served(methods) as server, channel_to(server) as channel:
        call = channel.unary_unary("/s/Wait").future(b"", timeout=SECONDS)
        assert methods.waiting.wait(SECONDS)
        {"cancel": call.cancel, "leave": channel.close, "stop": server.close}[end]()
        assert methods.cancelled.wait(SECONDS)
        eventually(lambda: call.done())
        if end != "cancel":
            eventually(lambda: not server.ports())


def test_clients_that_say_nothing_or_half_a_thing_are_left(methods, monkeypatch):
    monkeypatch.setattr(threaded_server, "_READ_SECONDS", 1)
    hello = PREFACE + frame(SETTINGS, 0, 0)
    with served(methods) as server:
        for given in (b"", PREFACE[:10], hello + b"\0\0\x10\0"):
            with bare(server) as client:
                client.sendall(given)
                while client.recv(1 << 16):
                    pass
        with bare(server) as client:  # one that is done with its last request may be silent
            client.sendall(hello)
            time.sleep(2.5)
            client.sendall(frame(6, 0, 0, b"pingpong"))
            client.settimeout(SECONDS)
            data = b""
            while b"pingpong" not in data:
                data += client.recv(1 << 16)


def test_other_protocols_are_answered_in_their_words(methods):
    with served(methods) as server:
        with bare(server) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.makefile("rb").read().startswith(b"HTTP/1.1 400")
        with bare(server) as client:
            client.sendall(bytes(range(256)) * 10)
            client.makefile("rb").read()
        with channel_to(server) as channel:
            assert channel.unary_unary("/s/Echo")(b"still here", timeout=SECONDS) == b"still here"


def test_tls_is_not_mixed_with_plain_connections(methods, tmp_path):
    certificate, _ = make_certificate(tmp_path)
    tls = server_context(str(certificate), str(tmp_path / "key.pem"))
    with served(methods, tls) as server:
        for given in (PREFACE + frame(SETTINGS, 0, 0), b"\x16\x03\x01\x00\x05hello", bytes(4000)):
            with bare(server) as client:
                client.sendall(given)
                with contextlib.suppress(ConnectionError):
                    assert PREFACE not in client.makefile("rb").read()
        with channel_to(server) as channel:
            assert failure(lambda: channel.unary_unary("/s/Echo")(b"", timeout=SECONDS))[0] == "UNAVAILABLE"
        eventually(lambda: not server.ports())


def test_clients_refuse_certificates_that_are_not_theirs_or_have_expired(methods, tmp_path):
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        folder.mkdir()
        make_certificate(folder)
    key, good, expired = ours / "key.pem", ours / "certificate.pem", ours / "expired.pem"
    command = f"openssl x509 -in {good} -signkey {key} -days -1 -out {expired}"
    subprocess.run(command.split(), check=True, capture_output=True)
    for shown, trusted in ((good, other / "certificate.pem"), (expired, expired)):
        with (
            served(methods, server_context(str(shown), str(key))) as server,
            channel_to(server, trusted) as channel,
        ):
            assert failure(lambda: channel.unary_unary("/s/Echo")(b"", timeout=SECONDS))[0] == "UNAVAILABLE"


def test_files_that_are_no_certificate_and_its_key_are_named(tmp_path):
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        folder.mkdir()
        make_certificate(folder)
    key, certificate = ours / "key.pem", ours / "certificate.pem"
    locked, text = tmp_path / "locked.pem", tmp_path / "text.pem"
    text.write_text("no certificate")
    command = f"openssl ec -in {key} -aes256 -passout pass:secret -out {locked}"
    subprocess.run(command.split(), check=True, capture_output=True)
    for wrong in (
        (certificate, other / "key.pem"),
        (certificate, locked),
        (text, key),
        (certificate, "none"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be used for TLS"):
            server_context(*map(str, wrong))
    assert isinstance(server_context(str(certificate), str(key)), ssl.SSLContext)
