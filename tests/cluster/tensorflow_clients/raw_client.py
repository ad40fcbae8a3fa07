"""A client of `tensorflow.MasterService` without TensorFlow: messages over gRPC."""

from __future__ import annotations

from typing import Any

import grpc
import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.cluster.tensorflow_clients import messages
from tideflow.graph import dtypes
from tideflow.graph.own_protos import make_messages
from tideflow.graph.tensor_proto import make_ndarray, make_tensor_proto

# The messages whole, as TensorFlow has them: those of the server leave out the tensors.
_WHOLE = make_messages(
    "whole_master",
    {
        "NamedTensorProto": {"name": "string", "tensor": "tensorboard.TensorProto"},
        "RunStepRequest": {
            "session_handle": "string",
            "feed": "repeated NamedTensorProto",
            "fetch": "repeated string",
            "target": "repeated string",
            "options": "tensorboard.RunOptions",
            "partial_run_handle": "string",
            "store_errors_in_response_body": "bool",
            "request_id": "int64",
        },
        "RunStepResponse": {
            "tensor": "repeated NamedTensorProto",
            "metadata": "tensorboard.RunMetadata",
            "status_code": "int32",
            "status_error_message": "string",
        },
        "RunCallableRequest": {
            "session_handle": "string",
            "handle": "int64",
            "feed": "repeated tensorboard.TensorProto",
            "request_id": "int64",
        },
        "RunCallableResponse": {
            "fetch": "repeated tensorboard.TensorProto",
            "metadata": "tensorboard.RunMetadata",
        },
        "Empty": {},
    },
    package="tideflow.whole_master",
)
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def as_proto(value: Any) -> TensorProto:
    """A tensor as TensorFlow's clients send it: the elements as bytes, strings too."""
    if isinstance(value, TensorProto):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "SOU":
        proto = make_tensor_proto(array.reshape(-1)[:0], dtypes.as_dtype(array.dtype), [0])
        proto.ClearField("tensor_shape")
        proto.tensor_content = array.tobytes()
    else:
        texts = [text if isinstance(text, bytes) else text.encode() for text in array.reshape(-1).tolist()]
        assert all(len(text) < 128 for text in texts)
        proto = TensorProto(dtype=7, tensor_content=bytes(map(len, texts)) + b"".join(texts))
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


class RawClient:
    """Sends requests to the server at a target."""

    def __init__(self, target: str, credentials: grpc.ChannelCredentials | None = None):
        address = target.removeprefix("grpc://")
        if credentials is None:
            self.channel = grpc.insecure_channel(address, _UNLIMITED)
        else:
            self.channel = grpc.secure_channel(address, credentials, _UNLIMITED)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.channel.close()

    def method(self, name: str) -> Any:
        """The method as gRPC's client has it: of bytes."""
        return self.channel.unary_unary(f"/{messages.SERVICE}/{name}")

    def call(self, name: str, **fields: Any) -> Any:
        """The answer to a request with these fields."""
        data = self.request(name, **fields).SerializeToString()
        answer = _WHOLE.get(f"{name}Response") or getattr(messages, f"{name}Response", _WHOLE["Empty"])
        return answer.FromString(self.method(name)(data, timeout=60))

    def request(self, name: str, **fields: Any) -> Any:
        kind = _WHOLE.get(f"{name}Request") or getattr(messages, f"{name}Request")
        return kind(**fields)

    def create(self, graph: Any, config: Any = None) -> str:
        """The handle of a new session of a tideflow graph."""
        answer = self.call("CreateSession", graph_def=graph.as_graph_def(), config=config)
        return answer.session_handle

    def run(
        self, session: str, fetches: Any = (), feeds: Any = None, targets: Any = (), **fields: Any
    ) -> list[np.ndarray]:
        """The values of a step's fetches."""
        answer = self.step(session, fetches, feeds, targets, **fields)
        assert [tensor.name for tensor in answer.tensor] == list(fetches)
        return [make_ndarray(tensor.tensor) for tensor in answer.tensor]

    def step(
        self, session: str, fetches: Any = (), feeds: Any = None, targets: Any = (), **fields: Any
    ) -> Any:
        """The answer to a request for a step."""
        fed = [{"name": name, "tensor": as_proto(value)} for name, value in (feeds or {}).items()]
        return self.call("RunStep", session_handle=session, feed=fed, fetch=fetches, target=targets, **fields)
