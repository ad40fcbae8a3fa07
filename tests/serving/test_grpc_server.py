"""serving/grpc_server.py and services.py, asked by grpcio."""

import socket
from contextlib import contextmanager

import grpc
import numpy as np
import pytest

from tests.serving.fake_models import FakeModels
from tests.serving.loops import listening
from tideflow.graph import dtypes, errors
from tideflow.graph.example_proto import Example
from tideflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from tideflow.serving import messages
from tideflow.serving.access import Access
from tideflow.serving.calls import CLASSIFY, REGRESS
from tideflow.serving.front import Limits
from tideflow.serving.grpc_server import GrpcServer
from tideflow.serving.health import Health
from tideflow.serving.services import make_methods

SERVICE = "/tensorflow.serving.PredictionService/"
RESPONSES = {
    "Predict": messages.PredictResponse,
    "Classify": messages.ClassificationResponse,
    "Regress": messages.RegressionResponse,
    "MultiInference": messages.MultiInferenceResponse,
    "GetModelMetadata": messages.GetModelMetadataResponse,
    "GetModelStatus": messages.GetModelStatusResponse,
    "HandleReloadConfigRequest": messages.ReloadConfigResponse,
    "SessionRun": messages.SessionRunResponse,
    "Check": messages.HealthCheckResponse,
}
X = np.float32([[1, 2], [3, 4]])


def grpc_server(front):
    health = Health(front)
    made = GrpcServer(front, make_methods(front) | health.methods(), health.streaming())
    made.health = health
    return made


@contextmanager
def channel_to(running, **options):
    with grpc.insecure_channel(f"127.0.0.1:{running.port}", **options) as channel:
        yield channel


@pytest.fixture(scope="module")
def server():
    with listening(grpc_server) as running:
        yield running


@pytest.fixture(scope="module")
def channel(server):
    with channel_to(server) as channel:
        yield channel


def method(channel, path):
    path = path if "/" in path else SERVICE + path
    return channel.unary_unary(
        path if path.startswith("/") else f"/{path}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=RESPONSES[path.rpartition("/")[2]].FromString,
    )


def predict_request(x=X, name="half", signature="", **inputs):
    request = messages.PredictRequest()
    request.model_spec.name = name
    request.model_spec.signature_name = signature
    for key, value in (inputs or {"x": x}).items():
        request.inputs[key].CopyFrom(make_tensor_proto(value))
    return request


def examples_request(request, signature, *sizes):
    request.model_spec.name = "half"
    request.model_spec.signature_name = signature
    for size in sizes:
        example = Example()
        example.features.feature["x"].bytes_list.value.append(b"a" * size)
        request.input.example_list.examples.append(example.SerializeToString())
    return request


def test_predictions_are_in_the_fields_that_users_read(channel):
    response = method(channel, "Predict")(predict_request(), timeout=120)
    assert response.outputs["y"].float_val == [2.5, 3, 3.5, 4]
    assert make_ndarray(response.outputs["y"]).tolist() == (X / 2 + 2).tolist()
    spec = response.model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == ("half", 3, "serving_default")
    request = predict_request(signature="two", a=np.int32([1]), s=np.array([b"x"], object))
    request.output_filter.append("sum")
    request.model_spec.version_label = "stable"
    assert list(method(channel, "Predict")(request, timeout=120).outputs) == ["sum"]


def test_examples_are_classified_and_regressed(channel):
    request = examples_request(messages.ClassificationRequest(), "classify", 1, 2)
    response = method(channel, "Classify")(request, timeout=120)
    first = response.result.classifications[0].classes
    assert [(each.label, each.score) for each in first] == [("long", 14.0), ("short", -14.0)]
    request = examples_request(messages.RegressionRequest(), "regress", 1, 2)
    response = method(channel, "Regress")(request, timeout=120)
    assert [each.value for each in response.result.regressions] == [14.0, 15.0]
    assert response.model_spec.signature_name == "regress"


def test_examples_with_a_context_are_both(channel):
    request = messages.RegressionRequest()
    request.model_spec.name, request.model_spec.signature_name = "half", "regress"
    request.input.example_list_with_context.context = b"12345"
    request.input.example_list_with_context.examples.append(b"678")
    assert method(channel, "Regress")(request, timeout=120).result.regressions[0].value == 8


def test_several_inferences_of_the_same_examples(channel):
    request = messages.MultiInferenceRequest()
    for signature, name in (("classify", CLASSIFY), ("regress", REGRESS)):
        task = request.tasks.add(method_name=name)
        task.model_spec.name, task.model_spec.signature_name = "half", signature
    request.input.example_list.examples.append(b"abc")
    first, second = method(channel, "MultiInference")(request, timeout=120).results
    assert first.classification_result.classifications[0].classes[0].score == 3
    assert second.regression_result.regressions[0].value == 3
    assert second.model_spec.signature_name == "regress"


def test_metadata_statuses_and_configurations(server, channel):
    request = messages.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "half"
    response = method(channel, "GetModelMetadata")(request, timeout=120)
    packed = response.metadata["signature_def"]
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    signatures = messages.SignatureDefMap.FromString(packed.value).signature_def
    assert signatures["serving_default"].inputs["x"].dtype == dtypes.float32.as_datatype_enum
    request = messages.GetModelStatusRequest()
    request.model_spec.name = "half"
    (status,) = method(channel, "tensorflow.serving.ModelService/GetModelStatus")(
        request, timeout=120
    ).model_version_status
    assert (status.version, status.state, status.status.error_code) == (3, 30, 0)
    request = messages.ReloadConfigRequest()
    request.config.model_config_list.config.add(name="other")
    reload = method(channel, "tensorflow.serving.ModelService/HandleReloadConfigRequest")
    assert reload(request, timeout=120).status.error_code == 0
    assert server.front.models.config == request.config


SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3


def watch(channel, service="", **options):
    """The states that Health.Watch tells, as they come."""
    call = channel.unary_stream(
        "/grpc.health.v1.Health/Watch",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=messages.HealthCheckResponse.FromString,
    )
    return call(messages.HealthCheckRequest(service=service), **options)


def test_health_is_told_once_or_watched(monkeypatch):
    with listening(grpc_server) as running, channel_to(running) as channel:
        check = method(channel, "grpc.health.v1.Health/Check")
        for name in ("", "PredictionService", "tensorflow.serving.ModelService"):
            assert check(messages.HealthCheckRequest(service=name), timeout=120).status == SERVING
        with pytest.raises(grpc.RpcError, match="unknown service: other") as raised:
            check(messages.HealthCheckRequest(service="other"), timeout=120)
        assert raised.value.code() == grpc.StatusCode.NOT_FOUND
        watched, left, unknown = watch(channel), watch(channel), watch(channel, "other")
        assert [next(each).status for each in (watched, left, unknown)] == [SERVING, SERVING, SERVICE_UNKNOWN]
        left.cancel()
        health = running.server.health
        running.wait_for(lambda: len(health._watchers) == 1)
        monkeypatch.setattr(FakeModels, "is_ready", lambda self: False)
        assert check(messages.HealthCheckRequest(), timeout=120).status == NOT_SERVING
        running.call(health.tell)
        running.call(health.tell)  # what they know is not told again
        monkeypatch.undo()
        running.call(health.tell)
        assert [next(watched).status for _ in range(2)] == [NOT_SERVING, SERVING]
        late = watch(channel, timeout=0.05)
        with pytest.raises(grpc.RpcError, match="Deadline"):
            list(late)
        broken = channel.unary_stream("/grpc.health.v1.Health/Watch", lambda data: data)
        with pytest.raises(grpc.RpcError, match="The request is no HealthCheckRequest"):
            list(broken(b"\xff\xff"))
        assert running.front.in_flight == 0  # who watches does not hold up the end
        running.front.is_draining = True
        running.call(health.tell)
        running.call(running.server.drain)
        assert next(watched).status == NOT_SERVING
        with pytest.raises(grpc.RpcError, match="The server is stopping") as raised:
            next(watched)
        assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
        assert not health._watchers


def test_sessions_run_tensors_by_their_names_and_aliases(channel):
    run = method(channel, "tensorflow.serving.SessionService/SessionRun")
    request = messages.SessionRunRequest(fetch=["y"])
    request.model_spec.name = "half"
    request.feed.add(name="x:0", tensor=make_tensor_proto(X))
    response = run(request, timeout=120)
    assert response.tensor[0].name == "y"
    assert make_ndarray(response.tensor[0].tensor).tolist() == (X / 2 + 2).tolist()
    request.tensor_name_is_alias = True
    request.model_spec.signature_name = "any"
    del request.feed[:]
    request.feed.add(name="x", tensor=make_tensor_proto(X))
    assert len(run(request, timeout=120).tensor) == 1
    request.fetch.append("nothing")
    with pytest.raises(grpc.RpcError, match="alias not found in signature: nothing"):
        run(request, timeout=120)


@pytest.mark.parametrize(
    ("request_", "code", "details"),
    [
        (messages.PredictRequest(), "INVALID_ARGUMENT", "Missing ModelSpec"),
        (predict_request(name="no"), "NOT_FOUND", "Servable not found for request: Latest(no)"),
        (predict_request(signature="no"), "FAILED_PRECONDITION", 'Serving signature key "no" not found.'),
        (
            predict_request(signature="ünknown\n%"),
            "FAILED_PRECONDITION",
            'Serving signature key "ünknown\n%" not found.',
        ),
    ],
)
def test_errors_are_grpc_codes_with_tensorflow_servings_texts(channel, request_, code, details):
    with pytest.raises(grpc.RpcError) as raised:
        method(channel, "Predict")(request_, timeout=120)
    assert (raised.value.code().name, raised.value.details()) == (code, details)


@pytest.mark.parametrize("code", range(1, 17))
def test_errors_of_models_keep_their_codes(server, channel, code):
    server.servable.submit = lambda call: call.done(errors.make_error(None, None, "why", code))
    try:
        with pytest.raises(grpc.RpcError) as raised:
            method(channel, "Predict")(predict_request(), timeout=120)
    finally:
        del server.servable.submit
    assert (raised.value.code().value[0], raised.value.details()) == (code, "why")


def test_a_fault_is_an_answer_too(server, channel):
    for submit in (lambda call: 1 / 0, lambda call: call.done({"no such output": X})):
        server.servable.submit = submit
        try:
            with pytest.raises(grpc.RpcError, match="The server failed") as raised:
                method(channel, "Predict")(predict_request(), timeout=120)
        finally:
            del server.servable.submit
        assert raised.value.code() == grpc.StatusCode.INTERNAL


def test_what_is_no_method_or_no_message_is_refused(channel):
    unknown = channel.unary_unary(SERVICE + "Guess", lambda data: data, lambda data: data)
    with pytest.raises(grpc.RpcError) as raised:
        unknown(b"", timeout=120)
    assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED
    broken = channel.unary_unary(SERVICE + "Predict", lambda data: data, lambda data: data)
    with pytest.raises(grpc.RpcError, match="The request is no PredictRequest"):
        broken(b"\xff\xff", timeout=120)


def test_a_large_message_does_not_hold_up_small_ones(channel):
    x = np.arange(4_000_000, dtype=np.float32).reshape(-1, 2)
    large = method(channel, "Predict").future(predict_request(x), timeout=120)
    small = [method(channel, "Predict").future(predict_request(), timeout=120) for _ in range(20)]
    assert all(future.result().outputs["y"].float_val[0] == 2.5 for future in small)
    with pytest.raises(grpc.RpcError, match="larger than max"):
        large.result()  # grpcio takes 4 MB by default


def test_large_answers_arrive_whole(server):
    x = np.arange(4_000_000, dtype=np.float32).reshape(-1, 2)
    limits = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with channel_to(server, options=limits) as channel:
        response = method(channel, "Predict")(predict_request(x), timeout=120)
    assert np.array_equal(make_ndarray(response.outputs["y"]), x / 2 + 2)


def test_compressed_messages(server):
    with channel_to(server, compression=grpc.Compression.Gzip) as channel:
        x = np.zeros((5000, 2), np.float32)
        response = method(channel, "Predict")(predict_request(x), timeout=120)
        assert make_ndarray(response.outputs["y"]).tolist() == [[2, 2]] * 5000
    with channel_to(server, compression=grpc.Compression.Deflate) as channel:
        assert (
            len(method(channel, "Predict")(predict_request(x), timeout=120).outputs["y"].float_val) == 10_000
        )


def test_many_requests_at_once_are_answered_each_its_own(server, channel):
    server.servable.is_holding = True
    futures = [
        method(channel, "Predict").future(predict_request(np.float32([[i, i]])), timeout=120)
        for i in range(200)
    ]
    server.wait_for(lambda: len(server.servable.held) == 200)
    server.servable.is_holding = False
    server.call(server.servable.release)  # the latest first
    assert [future.result().outputs["y"].float_val[0] for future in futures] == [
        i / 2 + 2 for i in range(200)
    ]


def test_cancelled_and_late_requests_are_not_computed(server, channel):
    server.servable.is_holding = True
    future = method(channel, "Predict").future(predict_request(), timeout=120)
    server.wait_for(lambda: server.servable.held)
    future.cancel()
    server.wait_for(lambda: server.servable.held[0].is_cancelled)
    server.servable.held.clear()
    late = method(channel, "Predict").future(predict_request(), timeout=0.05)
    with pytest.raises(grpc.RpcError) as raised:
        late.result()
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    server.wait_for(lambda: all(call.is_cancelled for call in server.servable.held))
    forgotten = method(channel, "Predict").future(predict_request())
    server.wait_for(lambda: any(not call.is_cancelled for call in server.servable.held))
    server.call(server.server.sweep, server.loop.time() + 10)
    assert not forgotten.done()
    server.servable.is_holding = False
    server.call(server.servable.release)
    assert forgotten.result(120).outputs["y"].float_val[0] == 2.5


def test_the_sweep_answers_overdue_requests_and_ends_silent_clients():
    with listening(grpc_server) as running, channel_to(running) as channel:
        running.servable.is_holding = True
        future = method(channel, "Predict").future(predict_request())
        running.wait_for(lambda: running.servable.held)
        with socket.create_connection(("127.0.0.1", running.port), timeout=120) as silent:
            running.wait_for(lambda: len(running.server.connections) == 2)
            running.call(running.server.sweep, running.loop.time() + 31)
            while silent.recv(65536):
                pass
        running.call(running.server.sweep, running.loop.time() + 700)
        with pytest.raises(grpc.RpcError) as raised:
            future.result(120)
        assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        assert running.servable.held.pop().is_cancelled


def test_a_stopping_server_answers_what_is_under_way():
    with listening(grpc_server) as running, channel_to(running) as channel:
        running.servable.is_holding = True
        future = method(channel, "Predict").future(predict_request(), timeout=120)
        running.wait_for(lambda: running.servable.held)
        running.front.is_draining = True
        running.call(running.server.drain)
        running.call(running.servable.release)
        assert future.result().outputs["y"].float_val[0] == 2.5
        running.wait_for(lambda: not running.server.connections)


def test_limits_and_tokens():
    with listening(grpc_server, limits=Limits(body=1000)) as running, channel_to(running) as channel:
        with pytest.raises(grpc.RpcError, match="Received message larger than max") as raised:
            method(channel, "Predict")(predict_request(np.zeros((5000, 2), np.float32)), timeout=120)
        assert raised.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert method(channel, "Predict")(predict_request(), timeout=120).outputs
    with (
        listening(grpc_server, access=Access(frozenset({b"secret"}))) as running,
        channel_to(running) as channel,
    ):
        with pytest.raises(grpc.RpcError) as raised:
            method(channel, "Predict")(predict_request(), timeout=120)
        assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED
        metadata = [("authorization", "Bearer secret")]
        assert method(channel, "Predict")(predict_request(), timeout=120, metadata=metadata).outputs


def test_messages_of_all_clients_together_are_limited():
    with listening(grpc_server, limits=Limits(unread=1000)) as running, channel_to(running) as channel:
        with pytest.raises(grpc.RpcError) as raised:
            method(channel, "Predict")(predict_request(np.zeros((50_000, 2), np.float32)), timeout=120)
        assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
        alone = [("grpc.use_local_subchannel_pool", 1)]  # not by the connection that was ended
        with channel_to(running, options=alone) as another:
            assert method(another, "Predict")(predict_request(), timeout=120).outputs


def test_a_browser_or_curl_on_the_wrong_port_is_told(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        data = b"".join(iter(lambda: client.recv(65536), b""))
    assert b"This port speaks gRPC" in data


def test_answers_in_tensor_content_by_the_flag():
    with listening(grpc_server, as_content=True) as running, channel_to(running) as channel:
        tensor = method(channel, "Predict")(predict_request(), timeout=120).outputs["y"]
    assert (list(tensor.float_val), tensor.tensor_content) == ([], (X / 2 + 2).tobytes())
