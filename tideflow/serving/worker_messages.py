"""What the server asks of a worker process, and what that answers (`cluster/messages.py` has the rest)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tideflow.cluster.messages import Kinds, Message
from tideflow.graph.dtypes import DType
from tideflow.runtime.values import to_numpy
from tideflow.serving.calls import Arrays, Signature, TensorSpec


class WireSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A `TensorSpec`."""

    dtype: int
    shape: list[int | None] | None
    tensor_name: str


class WireSignature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """A `Signature`."""

    method_name: str
    inputs: dict[str, WireSpec]
    outputs: dict[str, WireSpec]


class LoadModel(Message, frozen=True, tag="load model"):
    """The first request: load the model of a version, compile it, and warm it up by the requests of a file of
    PredictionLogs ("" for none). `in_background`: what is served already needs the processors more.
    `compile_seconds`: how long made-up batches may take; DeadlineExceededError answers if they take longer.
    """

    name: str
    version: int
    path: str
    platform: str = ""
    tags: list[str] = msgspec.field(default_factory=lambda: ["serve"])
    trusted: bool = False
    warm_up: str = ""
    warm_up_iterations: int = 1
    checks_method_names: bool = False
    in_background: bool = False
    compile_seconds: float = 60.0


class ModelLoaded(Message, frozen=True, tag="model loaded"):
    """Answers `LoadModel`: what the model takes and gives, and what it was measured to cost: CPU seconds to
    load, seconds for a batch of `models.MEASURED_ROWS` (None where none could be made up), bytes of memory;
    and whether every batch will take about as long.
    """

    signatures: dict[str, WireSignature]
    load_seconds: float
    batch_seconds: float | None
    memory: int
    is_steady: bool
    warmed_up: int  # requests
    warm_up_seconds: float


class RunBatch(Message, frozen=True, tag="run batch"):
    """A request for the outputs of a signature, or of tensors of the graph by name (`NO_SIGNATURE`). The
    tensors are those of `inputs`, in that order.
    """

    signature: str
    inputs: list[str]
    outputs: list[str]


class BatchDone(Message, frozen=True, tag="batch done"):
    """Answers `RunBatch`: the tensors are the outputs, in the order asked for; None of an operation."""

    seconds: float  # of the model alone


KINDS = Kinds(LoadModel, ModelLoaded, RunBatch, BatchDone)


def to_wire(signatures: Mapping[str, Signature]) -> dict[str, WireSignature]:
    """Signatures as a message has them."""
    return {
        key: WireSignature(one.method_name, _specs_to_wire(one.inputs), _specs_to_wire(one.outputs))
        for key, one in signatures.items()
    }


def _specs_to_wire(specs: Mapping[str, TensorSpec]) -> dict[str, WireSpec]:
    return {
        name: WireSpec(
            spec.dtype.as_datatype_enum, None if spec.shape is None else list(spec.shape), spec.tensor_name
        )
        for name, spec in specs.items()
    }


def from_wire(signatures: Mapping[str, WireSignature]) -> dict[str, Signature]:
    """Signatures as the server has them."""
    return {
        key: Signature(one.method_name, _specs_from_wire(one.inputs), _specs_from_wire(one.outputs))
        for key, one in signatures.items()
    }


def _specs_from_wire(specs: Mapping[str, WireSpec]) -> dict[str, TensorSpec]:
    return {
        name: TensorSpec(
            DType(spec.dtype), None if spec.shape is None else tuple(spec.shape), spec.tensor_name
        )
        for name, spec in specs.items()
    }


def arrays(names: list[str] | tuple[str, ...], tensors: list[Any]) -> Arrays:
    """The tensors of a message that arrived, by name."""
    pairs = zip(names, tensors, strict=True)
    return {name: to_numpy(tensor) for name, tensor in pairs if tensor is not None}
