"""serving/http1.py and rest.py over real sockets: what clients see, and what they cannot do to the server."""

import gzip
import http.client
import io
import json
import shutil
import socket
import subprocess
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pytest

from tests.serving.loops import listening
from tideflow.graph import errors
from tideflow.serving.access import Access
from tideflow.serving.front import Limits
from tideflow.serving.http1 import HttpServer
from tideflow.serving.rest import Rest

PREDICT = "/v1/models/half:predict"
BODY = b'{"instances": [[1, 2], [3, 4]]}'
ANSWER = {"predictions": [[2.5, 3.0], [3.5, 4.0]]}
POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (
    PREDICT.encode(),
    len(BODY),
    BODY,
)


def rest_server(front):
    return HttpServer(front, Rest(front).handle)


@pytest.fixture(scope="module")
def server():
    with listening(rest_server) as running:
        yield running


def ask(running, method, path, body=None, headers=None):
    """The status, the headers and the body of an answer."""
    client = http.client.HTTPConnection("127.0.0.1", running.port, timeout=120)
    try:
        client.request(method, path, body, headers or {})
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        client.close()


@contextmanager
def connected(running):
    with socket.create_connection(("127.0.0.1", running.port), timeout=120) as client:
        yield client


def read_to_end(client):
    parts = []
    with suppress(ConnectionResetError):
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts)


def read_answer(client):
    """The status of the next answer, and its JSON; the connection may stay open."""
    with http.client.HTTPResponse(client) as answer:
        answer.begin()
        return answer.status, json.loads(answer.read())


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "answer"),
    [
        ("POST", PREDICT, BODY, 200, ANSWER),
        (
            "POST",
            "/V1/Models/half/versions/3:PREDICT",
            b'{"inputs": [[1, 2]]}',
            200,
            {"outputs": [[2.5, 3.0]]},
        ),
        ("POST", "/v1/models/half/labels/stable:predict", BODY, 200, ANSWER),
        (
            "POST",
            PREDICT,
            b'{"signature_name": "two", "instances": [{"a": 1, "s": "x"}]}',
            200,
            {"predictions": [{"sum": 2, "s_bytes": {"b64": "eA=="}}]},
        ),
        (
            "POST",
            "/v1/models/half:classify",
            b'{"signature_name": "classify", "examples": [{}]}',
            200,
            {"results": [[["long", 0.0], ["short", -0.0]]]},
        ),
        (
            "POST",
            "/v1/models/half:regress",
            b'{"signature_name": "regress", "examples": [{}, {}]}',
            200,
            {"results": [0.0, 0.0]},
        ),
        ("POST", "/v1/models/no:predict", BODY, 404, {"error": "Servable not found for request: Latest(no)"}),
        (
            "POST",
            "/v1/models/half/versions/9:predict",
            BODY,
            404,
            {"error": "Servable not found for request: Specific(half, 9)"},
        ),
        ("GET", PREDICT, None, 400, {"error": f"Malformed request: GET {PREDICT}"}),
        ("POST", "/v1/models/half", BODY, 400, {"error": "Malformed request: POST /v1/models/half"}),
        ("GET", "/v1/models", None, 400, {"error": "Missing model name in request."}),
        ("GET", "/v1/models/no", None, 404, {"error": "Could not find any versions of model no"}),
        ("GET", "/v1/models/versions/1", None, 400, {"error": "Missing model name in request."}),
        ("GET", "/v1/models/labels/a/metadata", None, 400, {"error": "Missing model name in request."}),
        (
            "GET",
            f"/v1/models/half/versions/{2**63}",
            None,
            400,
            {"error": f"Failed to convert version: {2**63} to numeric."},
        ),
        (
            "GET",
            f"/v1/models/half/versions/{'9' * 5000}",
            None,
            400,
            {"error": f"Failed to convert version: {'9' * 5000} to numeric."},
        ),
        ("GET", "/nothing", None, 404, {"error": "Not found: GET /nothing"}),
        ("GET", "/healthz", None, 200, {"status": "alive"}),
        ("GET", "/readyz", None, 200, {"status": "ready"}),
        (
            "POST",
            PREDICT,
            b'{"signature_name": "no", "instances": [1]}',
            400,
            {"error": 'Serving signature name: "no" not found in signature def'},
        ),
        (
            "GET",
            "/v1/models/half",
            None,
            200,
            {
                "model_version_status": [
                    {
                        "version": "3",
                        "state": "AVAILABLE",
                        "status": {"error_code": "OK", "error_message": ""},
                    }
                ]
            },
        ),
    ],
)
def test_paths_have_tensorflow_servings_answers(server, method, path, body, status, answer):
    found, headers, text = ask(server, method, path, body)
    assert (found, json.loads(text), headers["Content-Type"]) == (status, answer, "application/json")


def test_metadata_has_tensorflow_servings_form(server):
    metadata = json.loads(ask(server, "GET", "/v1/models/half/metadata")[2])
    assert metadata["model_spec"] == {"name": "half", "signature_name": "", "version": "3"}
    signature = metadata["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["x"]["dtype"] == "DT_FLOAT"
    assert [dim["size"] for dim in signature["inputs"]["x"]["tensor_shape"]["dim"]] == ["-1", "2"]


@pytest.mark.parametrize("code", range(1, 17))
def test_errors_of_models_have_tensorflow_servings_statuses(server, code):
    expected = {1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400}
    expected |= {12: 501, 14: 503, 16: 401}
    server.servable.submit = lambda call: call.done(errors.make_error(None, None, "why", code))
    try:
        status, _, text = ask(server, "POST", PREDICT, BODY)
    finally:
        del server.servable.submit
    assert (status, json.loads(text)) == (expected.get(code, 500), {"error": "why"})


@pytest.mark.parametrize(
    "submit",
    [lambda call: 1 / 0, lambda call: call.done({"y": None})],
    ids=["raises", "answers with nonsense"],
)
def test_a_fault_is_an_answer_too(server, submit):
    server.servable.submit = submit
    try:
        status, _, text = ask(server, "POST", PREDICT, BODY)
    finally:
        del server.servable.submit
    assert (status, "error" in json.loads(text)) == (500, True)


def test_requests_are_counted(server):
    ask(server, "POST", PREDICT, BODY)
    text = ask(server, "GET", "/monitoring/prometheus/metrics")[2].decode()
    assert ':tensorflow:serving:request_count{model_name="half",status="OK"}' in text


def test_bodies_and_answers_may_be_numpy_files(server):
    file = io.BytesIO()
    np.save(file, np.float32([[1, 2]]))
    kind = {"Content-Type": "Application/x-npy; version=1"}
    status, headers, answer = ask(server, "POST", PREDICT, file.getvalue(), kind)
    assert (status, headers["Content-Type"]) == (200, "application/x-npy")
    assert np.load(io.BytesIO(answer)).tolist() == [[2.5, 3.0]]
    wanted = kind | {"Accept": "application/json"}
    assert json.loads(ask(server, "POST", PREDICT, file.getvalue(), wanted)[2]) == {"outputs": [[2.5, 3.0]]}
    file = io.BytesIO()
    np.savez(file, a=np.int32([4]), s=np.array([b"xy"]))
    path, kind = f"{PREDICT}?signature_name=two", {"Content-Type": "application/x-npz"}
    answer = np.load(io.BytesIO(ask(server, "POST", path, file.getvalue(), kind)[2]))
    assert (answer["sum"].tolist(), answer["s_bytes"].tolist()) == ([8], [b"xy"])


@pytest.mark.parametrize("data", [b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04"])
@pytest.mark.parametrize("kind", ["application/x-npy", "application/x-npz"])
def test_hostile_files_are_refused(server, data, kind):
    whole = io.BytesIO()
    np.save(whole, np.float32([[1, 2]]))
    objects = io.BytesIO()
    np.save(objects, np.array([[print]], object), allow_pickle=True)
    lying = whole.getvalue().replace(b"(1, 2)", b"(9, 9)")
    headers = [whole.getvalue().replace(b"<f4", text) for text in (b"'''", b"<,4")]
    packed = io.BytesIO()
    np.savez_compressed(packed, x=np.arange(99))
    broken = packed.getvalue()[:60] + b"?????" + packed.getvalue()[65:]
    for body in (data, objects.getvalue(), lying, *headers, broken):
        status, _, text = ask(server, "POST", PREDICT, body, {"Content-Type": kind})
        assert (status, "error" in json.loads(text)) == (400, True)


def test_compressed_bodies_are_read_and_large_answers_compressed(server):
    body = gzip.compress(b'{"instances": [%s]}' % b",".join([b"[1, 2]"] * 500))
    headers = {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"}
    status, found, answer = ask(server, "POST", PREDICT, body, headers)
    assert (status, found["Content-Encoding"]) == (200, "gzip")
    assert json.loads(gzip.decompress(answer)) == {"predictions": [[2.5, 3.0]] * 500}
    for broken in (body[:-9], b"plain"):
        assert ask(server, "POST", PREDICT, broken, headers)[0] == 400


def test_the_requests_before_do_not_count_for_the_size_of_a_head(server):
    answered = []
    connection = HttpServer(server.front, lambda request, respond: respond(200, b""))()
    connection.connection_made(
        SimpleNamespace(
            write=answered.append,
            set_write_buffer_limits=lambda high: None,
            is_reading=lambda: True,
            pause_reading=lambda: None,
            close=lambda: None,
        )
    )
    limit = server.front.limits.head
    many = 1 + limit // len(POST)
    connection.data_received(POST * many + POST[:20])
    connection.data_received(POST[20:])
    assert len(answered) == many + 1 and all(b" 200 OK" in each for each in answered)
    connection.data_received(b"GET / HTTP/1.1\r\nX: " + b"a" * limit)
    assert b" 431 " in answered[-1]
    connection.connection_lost(None)


def test_chunked_bodies_pipelined_requests_and_their_order(server):
    server.servable.is_holding = True
    chunked = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % PREDICT.encode()
    for part in (b'{"instances"', b": [[5, 6]]}"):
        chunked += b"%x\r\n%s\r\n" % (len(part), part)
    with connected(server) as client:
        client.sendall(
            POST + chunked + b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        server.wait_for(lambda: len(server.servable.held) == 2)
        server.call(server.servable.release)  # the latest first
        server.servable.is_holding = False
        answers = read_to_end(client)
    first, second, third = (part.partition(b"\r\n\r\n")[2] for part in answers.split(b"HTTP/1.1 ")[1:])
    assert json.loads(first) == ANSWER
    assert json.loads(second) == {"predictions": [[4.5, 5.0]]}
    assert json.loads(third) == {"status": "alive"}


def test_a_client_that_leaves_cancels_its_request(server):
    server.servable.is_holding = True
    with connected(server) as client:
        client.sendall(POST)
        server.wait_for(lambda: server.servable.held)
    server.wait_for(lambda: server.servable.held[0].is_cancelled)
    server.call(server.servable.release)
    server.servable.is_holding = False


def test_requests_in_pieces_are_put_together(server):
    with connected(server) as client:
        for byte in POST:
            client.sendall(bytes([byte]))
        assert read_answer(client) == (200, ANSWER)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: %s" % (b"a" * 100_000), 431),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    ],
)
def test_what_is_no_request_ends_the_connection(server, data, status):
    with connected(server) as client:
        client.sendall(data)
        assert read_to_end(client).startswith(b"HTTP/1.1 %d " % status)
    assert ask(server, "GET", "/healthz")[0] == 200


def test_limits_on_bodies_requests_and_connections():
    limits = Limits(body=1000, in_flight=1, connections=2)
    with listening(rest_server, limits=limits) as running:
        assert ask(running, "POST", PREDICT, b" " * 1001)[0] == 413
        bomb = gzip.compress(b" " * 100_000)
        assert ask(running, "POST", PREDICT, bomb, {"Content-Encoding": "gzip"})[0] == 413
        running.servable.is_holding = True
        with connected(running) as client:
            client.sendall(POST)
            running.wait_for(lambda: running.servable.held)
            status, _, text = ask(running, "POST", PREDICT, BODY)
            assert (status, "as many as it may" in json.loads(text)["error"]) == (429, True)
            with connected(running) as third, connected(running) as fourth:
                assert b"HTTP/1.1 503" in read_to_end(fourth)
                third.close()
            running.call(running.servable.release)
            assert read_answer(client) == (200, ANSWER)


def test_bodies_of_all_clients_together_are_limited():
    with listening(rest_server, limits=Limits(unread=50_000)) as running:
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n"
        with connected(running) as first, connected(running) as second:
            first.sendall(head + b" " * 40_000)
            running.wait_for(lambda: running.front.unread == 40_000)
            second.sendall(head + b" " * 20_000)
            assert read_to_end(second).startswith(b"HTTP/1.1 503 ")
            running.wait_for(lambda: running.front.unread == 40_000)


def test_the_sweep_ends_late_clients_and_answers_overdue_requests():
    with listening(rest_server) as running:
        far = running.loop.time() + 50
        with connected(running) as slow, connected(running) as waiting, connected(running) as idle:
            slow.sendall(POST[:-1])
            running.servable.is_holding = True
            waiting.sendall(POST)
            running.wait_for(lambda: running.servable.held and len(running.server.connections) == 3)
            running.wait_for(lambda: sum(c._is_reading_request for c in running.server.connections) == 1)
            running.call(running.server.sweep, far)
            assert read_to_end(slow).startswith(b"HTTP/1.1 408 ")
            assert read_answer(waiting)[0] == 504
            assert running.servable.held.pop().is_cancelled
            running.call(running.server.sweep, far + 600)
            assert read_to_end(idle) == b""


def test_a_server_that_is_about_to_stop_answers_and_tells_clients_to_leave():
    with listening(rest_server) as running:
        with connected(running) as client:
            running.front.is_leaving = True
            client.sendall(POST)
            answer = read_to_end(client)
    assert answer.startswith(b"HTTP/1.1 200 ") and b"Connection: close" in answer


def test_a_stopping_server_answers_what_is_under_way_and_closes():
    with listening(rest_server) as running:
        running.servable.is_holding = True
        with connected(running) as busy, connected(running) as idle:
            busy.sendall(POST)
            running.wait_for(lambda: running.servable.held and len(running.server.connections) == 2)
            running.front.is_leaving = running.front.is_draining = True
            running.call(running.server.drain)
            assert read_to_end(idle) == b""
            running.call(running.servable.release)
            answer = read_to_end(busy)
    assert b"Connection: close" in answer
    assert b"predictions" in answer


def test_tokens_and_strangers():
    with listening(rest_server, access=Access(frozenset({b"secret"}))) as running:
        status, headers, _ = ask(running, "POST", PREDICT, BODY)
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        assert ask(running, "POST", PREDICT, BODY, {"Authorization": "Bearer wrong"})[0] == 401
        assert ask(running, "POST", PREDICT, BODY, {"Authorization": "Bearer secret"})[0] == 200
        assert ask(running, "GET", "/healthz")[0] == 200
    with listening(rest_server) as running:
        assert ask(running, "POST", PREDICT, BODY, {"Host": "evil.example"})[0] == 403
        assert ask(running, "POST", PREDICT, BODY, {"Origin": "http://evil.example"})[0] == 403
        assert ask(running, "POST", PREDICT, BODY, {"Origin": f"http://127.0.0.1:{running.port}"})[0] == 200
    with listening(rest_server, access=Access(allows_origins=True)) as running:
        status, headers, _ = ask(running, "OPTIONS", PREDICT, None, {"Origin": "http://other.example"})
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, "*")


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl_gets_an_answer_to_a_large_body(server, tmp_path):
    body = tmp_path / "body.json"
    body.write_bytes(b'{"instances": [%s]}' % b",".join([b"[1, 2]"] * 200_000))  # curl waits for 100-continue
    command = [
        "curl",
        "-s",
        "--http2",
        "--max-time",
        "20",
        "-d",
        f"@{body}",
        f"http://127.0.0.1:{server.port}{PREDICT}",
    ]
    answer = subprocess.run(command, capture_output=True, check=True).stdout
    assert len(json.loads(answer)["predictions"]) == 200_000
