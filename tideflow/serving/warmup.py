"""Warm-up: the requests of a log, computed when a version is loaded: its first clients do not wait."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.io.records import RecordFile
from tideflow.serving.calls import CLASSIFY, REGRESS, Call
from tideflow.serving.inference import METHODS, examples_call, examples_of, graph_call, predict_call
from tideflow.serving.messages import PredictionLog
from tideflow.serving.models import Model
from tideflow.serving.saved_model_servable import compute
from tideflow.serving.tensors_proto import read_tensor

FILE = os.path.join("assets.extra", "tf_serving_warmup_requests")  # in a version's folder
MOST_RECORDS = 1000


def warm_up(model: Model, path: str, iterations: int = 1, *, checks_names: bool = False) -> int:
    """Computes the requests of a file of PredictionLogs, each so many times; returns how many there were.
    A request that fails is an error: the version's clients would meet it.
    """
    count = 0
    for log in read_logs(path):
        count += 1
        if count > MOST_RECORDS:
            raise errors.invalid_argument(
                f"Number of warmup records exceeds the maximum ({MOST_RECORDS}) at {path}"
            )
        try:
            for call in calls_of(model, log, checks_names=checks_names):
                for _ in range(iterations):
                    compute(model, call.signature, call.inputs, call.outputs)
        except OpError as error:
            raise errors.failed_precondition(f"Warm-up request {count} of {path}: {error.message}") from None
    return count


def read_logs(path: str) -> Iterator[Any]:
    """The PredictionLogs of a file of records."""
    with RecordFile(path) as file:
        for number, (_, record) in enumerate(file):
            try:
                yield PredictionLog.FromString(record)
            except DecodeError:
                raise errors.data_loss(
                    f"Failed to parse warmup record: record {number} of {path} is no PredictionLog"
                ) from None


def calls_of(model: Any, log: Any, *, checks_names: bool = False) -> list[Call]:
    """The calls of a logged request. They have no deadline, and drop their answers."""
    kind = log.WhichOneof("log_type")
    if kind is None:
        raise errors.unimplemented("Unsupported log_type for warmup: LOG_TYPE_NOT_SET")
    request = getattr(log, kind).request
    if kind == "predict_log":
        inputs = {name: read_tensor(tensor, name) for name, tensor in request.inputs.items()}
        signature, wanted = request.model_spec.signature_name, request.output_filter
        return [predict_call(model, signature, inputs, wanted, math.inf, _drop)]
    if kind == "session_run_log":
        inputs = {one.name: read_tensor(one.tensor, one.name) for one in request.feed}
        return [graph_call(inputs, request.fetch, math.inf, _drop)]
    examples = examples_of(request.input)
    if kind == "multi_inference_log":
        asked = [(METHODS[task.method_name], task.model_spec.signature_name) for task in request.tasks]
    else:
        method = {"classify_log": CLASSIFY, "regress_log": REGRESS}[kind]
        asked = [(METHODS[method], request.model_spec.signature_name)]
    return [
        examples_call(model, method, name, examples, math.inf, _drop, checks_name=checks_names)
        for method, name in asked
    ]


def _drop(outcome: object) -> None:
    """Nobody waits for it."""
