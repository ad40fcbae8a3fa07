"""Asks a server as other people's programs do, in environments of their own; prints what they see, as JSON.

usage: other_clients.py (api | ovms_grpc | ovms_rest) HOST:PORT      (Python 3.7 and later)
"""

import json
import sys


def api(address):
    """The stubs of tensorflow-serving-api, with TensorFlow's tensors."""
    import grpc
    import tensorflow as tf
    from tensorflow_serving.apis import (
        classification_pb2,
        get_model_metadata_pb2,
        get_model_status_pb2,
        inference_pb2,
        model_management_pb2,
        model_service_pb2_grpc,
        predict_pb2,
        prediction_service_pb2_grpc,
        regression_pb2,
        session_service_pb2,
    )

    make_tensor, make_array = tf.make_tensor_proto, tf.make_ndarray
    channel = grpc.insecure_channel(address)
    prediction = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    models = model_service_pb2_grpc.ModelServiceStub(channel)
    seen = {}

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "half"
    request.inputs["x"].CopyFrom(make_tensor([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32))
    response = prediction.Predict(request, 120.0)
    seen["predict"] = list(response.outputs["y"].float_val)
    seen["array"] = make_array(response.outputs["y"]).tolist()
    seen["version"] = response.model_spec.version.value

    request.model_spec.signature_name = "two"
    del request.inputs["x"]
    request.inputs["a"].CopyFrom(make_tensor([1, 2], dtype=tf.int32))
    request.inputs["s"].CopyFrom(make_tensor([b"x", b"\xff"]))
    response = prediction.Predict(request, 120.0)
    seen["two"] = make_array(response.outputs["sum"]).tolist()
    seen["strings"] = [value.hex() for value in make_array(response.outputs["s_bytes"]).tolist()]

    example = tf.train.Example()
    example.features.feature["a"].float_list.value.append(1.5)
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name, request.model_spec.signature_name = "half", "classify"
    request.input.example_list.examples.extend([example])
    response = prediction.Classify(request, 120.0)
    seen["classes"] = [[c.label, c.score] for c in response.result.classifications[0].classes]
    request = regression_pb2.RegressionRequest()
    request.model_spec.name, request.model_spec.signature_name = "half", "regress"
    request.input.example_list.examples.extend([example])
    seen["value"] = prediction.Regress(request, 120.0).result.regressions[0].value
    seen["length"] = len(example.SerializeToString())

    request = inference_pb2.MultiInferenceRequest()
    for kind in ("classify", "regress"):
        task = request.tasks.add()
        task.model_spec.name, task.model_spec.signature_name = "half", kind
        task.method_name = "tensorflow/serving/" + kind
    request.input.example_list.examples.extend([example])
    response = prediction.MultiInference(request, 120.0)
    seen["multi"] = [result.WhichOneof("result") for result in response.results]

    request = get_model_metadata_pb2.GetModelMetadataRequest()
    request.model_spec.name = "half"
    request.metadata_field.append("signature_def")
    response = prediction.GetModelMetadata(request, 120.0)
    signatures = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(
        signatures
    )  # the type that the URL names is the client's
    seen["signatures"] = sorted(signatures.signature_def)
    seen["shape"] = [d.size for d in signatures.signature_def["serving_default"].inputs["x"].tensor_shape.dim]

    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "half"
    (status,) = models.GetModelStatus(request, 120.0).model_version_status
    seen["state"] = get_model_status_pb2.ModelVersionStatus.State.Name(status.state)
    request = model_management_pb2.ReloadConfigRequest()
    added = request.config.model_config_list.config.add()
    added.name, added.base_path, added.model_platform = "other", "/models/other", "tensorflow"
    added.model_version_policy.specific.versions.append(7)
    seen["reloaded"] = models.HandleReloadConfigRequest(request, 120.0).status.error_code

    # The packages have its messages, and no stub of SessionService.
    run = channel.unary_unary(
        "/tensorflow.serving.SessionService/SessionRun",
        session_service_pb2.SessionRunRequest.SerializeToString,
        session_service_pb2.SessionRunResponse.FromString,
    )
    request = session_service_pb2.SessionRunRequest()
    request.model_spec.name = "half"
    request.feed.add(name="x:0").tensor.CopyFrom(make_tensor([[1.0, 2.0]], dtype=tf.float32))
    request.fetch.append("y:0")
    (fetched,) = run(request, 120.0).tensor
    seen["session"] = [fetched.name, make_array(fetched.tensor).tolist()]

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "no"
    try:
        prediction.Predict(request, 120.0)
    except grpc.RpcError as error:
        seen["error"] = [error.code().name, error.details()]
    return seen


def ovms_grpc(address):
    """ovmsclient, which is made for TensorFlow Serving's interface, without TensorFlow."""
    import numpy as np
    from ovmsclient import make_grpc_client

    client = make_grpc_client(address)
    metadata = client.get_model_metadata(model_name="half", model_version=3)
    return dict(_ovms(client, np), inputs=metadata["inputs"]["x"])


def ovms_rest(address):
    """The same over REST. Metadata it takes in the words of another server, OpenVINO's, alone."""
    import numpy as np
    from ovmsclient import make_http_client

    return _ovms(make_http_client(address), np)


def _ovms(client, np):
    model = {"model_name": "half", "model_version": 3}  # it asks for version 0 where none is given
    answer = client.predict(inputs={"x": np.array([[1.0, 2.0]], dtype=np.float32)}, **model)
    statuses = client.get_model_status(**model)
    seen = {
        "predict": np.asarray(answer).tolist(),
        "status": {str(version): status["state"] for version, status in statuses.items()},
    }
    try:
        client.get_model_status(model_name="no", model_version=3)
    except Exception as error:  # of ovmsclient's own kinds
        seen["error"] = type(error).__name__
    return seen


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
