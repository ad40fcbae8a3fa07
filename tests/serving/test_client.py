"""serving/client.py and predict_command.py, against both front ends."""

import io
import json

import numpy as np
import pytest

import tideflow as tf
from tests.serving.loops import listening, make_certificate
from tests.serving.test_grpc_server import grpc_server
from tests.serving.test_http1 import rest_server
from tideflow.graph import dtypes, errors
from tideflow.serving import messages, predict_command, replay_command
from tideflow.serving.access import Access
from tideflow.serving.client import Client, Model, Status

SERVERS = {"http": rest_server, "grpc": grpc_server}


@pytest.fixture(params=SERVERS)
def server(request):
    with listening(SERVERS[request.param], access=Access(frozenset({b"secret"}))) as running:
        running.url = f"{request.param}://127.0.0.1:{running.port}"
        yield running


@pytest.fixture
def client(server):
    with Client(server.url, token="secret") as client:
        yield client


def test_predictions_keep_types_and_values(client):
    x = np.array([[0.1, np.nan], [np.inf, -3]])
    for inputs in (x, {"x": x}, x.tolist()):
        outputs = client.predict("half", inputs)
        assert (outputs["y"].dtype, list(outputs)) == (np.float32, ["y"])
        assert np.array_equal(outputs["y"], np.float32(x) / 2 + 2, equal_nan=True)
    model = Model("half", label="stable")
    outputs = client.predict(model, {"a": [1, 2], "s": ["text", b"\xff"]}, "two")
    assert (outputs["sum"].dtype, outputs["sum"].tolist()) == (np.int32, [2, 4])
    assert outputs["s_bytes"].tolist() == [b"text", b"\xff"]


def test_examples_signatures_and_statuses(client):
    examples = [{"a": 1.5, "b": [b"\xff", "x"]}, {}]
    assert client.classify("half", examples, "classify") == [
        [("long", 32.0), ("short", -32.0)],
        [("long", 0.0), ("short", -0.0)],
    ]
    values = client.regress(Model("half", version=3), [{"a": np.float32(1.5)}], "regress")
    assert (values.dtype, values.tolist()) == (np.float32, [17.0])
    spec = client.signatures("half")["serving_default"].inputs["x"]
    assert (spec.dtype, spec.shape) == (dtypes.float32, (None, 2))
    assert client.statuses("half") == [Status(3, "AVAILABLE", None)]


def test_errors_are_tensorflows(server, client):
    with pytest.raises(errors.NotFoundError, match=r"Could not find any versions|Servable not found"):
        client.predict("no", [1])
    with pytest.raises(errors.InvalidArgumentError, match='"no" not found in signature def'):
        client.predict("half", [1], "no")
    with pytest.raises(errors.InvalidArgumentError, match="takes 2 inputs, and one was given without a name"):
        client.predict("half", [1], "two")
    with pytest.raises(errors.UnauthenticatedError), Client(server.url) as stranger:
        stranger.statuses("half")
    with (
        pytest.raises(errors.UnavailableError),
        Client(server.url.rpartition(":")[0] + ":1", timeout=120) as lost,
    ):
        lost.statuses("half")
    with pytest.raises(ValueError, match="is no address of a server"):
        Client("ftp://127.0.0.1:1")


def test_a_connection_that_the_server_closed_is_opened_again(server, client):
    client.statuses("half")
    server.call(server.server.drain)
    server.wait_for(lambda: not server.server.connections)
    assert client.statuses("half")


@pytest.mark.parametrize(("scheme", "protocol"), [("https", "http/1.1"), ("grpcs", "h2")])
def test_tls(scheme, protocol, tmp_path):
    certificate, tls = make_certificate(tmp_path)
    tls.set_alpn_protocols([protocol])
    with listening(SERVERS[scheme[:4]], tls=tls) as running:
        url = f"{scheme}://localhost:{running.port}"
        with Client(url, certificate=str(certificate)) as client:
            assert client.predict("half", [[1, 2]])["y"].tolist() == [[2.5, 3.0]]
        with Client(url, timeout=120) as client, pytest.raises(errors.UnavailableError):
            client.statuses("half")


@pytest.mark.parametrize(("scheme", "protocol"), [("https", "http/1.1"), ("grpcs", "h2")])
def test_a_log_is_replayed_by_tls(scheme, protocol, tmp_path, capsys):
    certificate, tls = make_certificate(tmp_path)
    tls.set_alpn_protocols([protocol])
    log = messages.PredictionLog()
    request = log.predict_log.request
    request.model_spec.name = "half"
    request.inputs["x"].MergeFromString(tf.make_tensor_proto([[1.0, 2.0]]).SerializeToString())
    with tf.io.TFRecordWriter(str(tmp_path / "log")) as writer:
        writer.write(log.SerializeToString())
    with listening(SERVERS[scheme[:4]], tls=tls) as running:
        arguments = [f"{scheme}://localhost:{running.port}", str(tmp_path / "log"), "--timeout=120"]
        assert replay_command.main([*arguments, f"--certificate={certificate}"]) == 0
        assert "{'OK': 1}" in capsys.readouterr().out
        assert replay_command.main(arguments) == 1
    assert "\nUNAVAILABLE: " in capsys.readouterr().out


def test_the_command_predicts_from_files(server, tmp_path, capsys, monkeypatch):
    token, request, arrays = tmp_path / "token", tmp_path / "x.json", tmp_path / "x.npy"
    token.write_text("secret\n")
    request.write_text('{"instances": [[1, 2]]}')
    np.save(arrays, np.float32([[1, 2]]))
    always = [server.url, "half", "--token_file", str(token)]
    assert predict_command.main([*always, "--input", str(request)]) == 0
    assert json.loads(capsys.readouterr().out) == {"predictions": [[2.5, 3.0]]}
    answer = tmp_path / "y.npz"
    assert (
        predict_command.main([*always, "--input", str(arrays), "--version", "3", "--output", str(answer)])
        == 0
    )
    assert np.load(answer)["y"].tolist() == [[2.5, 3.0]]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"inputs": {"a": [3], "s": ["t"]}}')))
    assert predict_command.main([*always, "--input", "-", "--signature", "two"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"]["sum"] == [6]
    with pytest.raises(errors.InvalidArgumentError, match="has no signature 'no'; it has 'any', 'classify'"):
        predict_command.main([*always, "--input", str(request), "--signature", "no"])
