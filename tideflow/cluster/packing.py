"""Packs into messages what a step works with, and unpacks it: devices, time, values, errors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tensorboard.compat.proto.config_pb2 import RunMetadata

from tideflow.cluster.messages import DeviceFacts, Devices, SendTensors, TensorsAhead, Values
from tideflow.cluster.wire import size_of
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.graph.graph import Graph
from tideflow.runtime.devices import CPU, Device
from tideflow.runtime.rendezvous import DEAD, Parcel
from tideflow.runtime.waiting import StepContext

_SMALL_BYTES = 128 << 10


def as_tensor(data: bytes) -> torch.Tensor:
    """Bytes as a tensor, which a message can carry."""
    return torch.from_numpy(np.frombuffer(bytearray(data), np.uint8))


def as_bytes(tensor: torch.Tensor) -> bytes:
    """The bytes that `as_tensor` has wrapped."""
    return tensor.numpy().tobytes()


# --------------------------------------------------------------------------------------------------- devices


def devices_message(devices: Sequence[Device]) -> Devices:
    """Devices of this process, for another one."""
    return Devices(
        devices=[
            DeviceFacts(d.name, d.device_type, d.index, d.memory_limit_bytes, d.incarnation, d.description)
            for d in devices
        ]
    )


def devices_of(message: Devices) -> list[Device]:
    """The devices of another process: here they have names, and no memory."""
    return [
        Device(d.name, d.device_type, d.index, CPU, d.memory_limit_bytes, d.incarnation, d.description)
        for d in message.devices
    ]


# ------------------------------------------------------------------------------------------------------ time


def seconds_left(context: StepContext) -> float | None:
    """How long a step may still take, None for any time; an error if its time is over."""
    if context.deadline is None:
        return None
    left = context.deadline - time.monotonic()
    if left <= 0:
        raise errors.deadline_exceeded(f"The step was given {context.timeout:g} s, which are over.")
    return left


def context_of(seconds: float | None, traced: bool) -> StepContext:
    """The context of a step that another task asks for: how long it may take, and whether it is traced."""
    return StepContext(seconds, RunMetadata() if traced else None)


# ---------------------------------------------------------------------------------------------------- values


def is_small(parcel: Parcel) -> bool:
    """Whether a parcel may travel beside a request, where the window of posted messages does not count it."""
    return bytes_of(parcel) <= _SMALL_BYTES


def bytes_of(parcel: Parcel) -> int:
    """About how many bytes the values of a parcel have."""
    return sum(0 if value is DEAD else size_of(value) for _, value in parcel)


def pack(parcel: Parcel) -> tuple[list[str], list[Any]]:
    """The keys of a parcel, and its values as a message carries them."""
    return [key for key, _ in parcel], [None if value is DEAD else value for _, value in parcel]


def send_tensors(step: str, parcel: Parcel) -> SendTensors:
    """The message with which a part of a step sends values to another task."""
    keys, tensors = pack(parcel)
    return SendTensors(step=step, keys=keys, tensors=tensors)


def tensors_ahead(parcel: Parcel) -> TensorsAhead:
    """The message with which a part sends values to its master's task before it answers."""
    keys, tensors = pack(parcel)
    return TensorsAhead(keys=keys, tensors=tensors)


def parcel_of(message: SendTensors | TensorsAhead | Values) -> Parcel:
    """The values that a message has for the step's part on the task that receives it."""
    keys, tensors = message.keys, message.tensors
    sent = tensors[len(tensors) - len(keys) :]
    return [(key, DEAD if value is None else value) for key, value in zip(keys, sent, strict=True)]


def values_message(values: Sequence[Any], context: StepContext, parcel: Parcel | None = None) -> Values:
    """The answer to a step or a part of it: the fetched values, the trace if there is one, and the values for
    the part of the step on the task that asked.
    """
    keys, sent = pack(parcel or [])
    if context.trace is None:
        return Values(keys=keys, tensors=[*values, *sent])
    trace = as_tensor(context.trace.SerializeToString())
    return Values(traced=True, keys=keys, tensors=[*values, trace, *sent])


def values_of(message: Values, context: StepContext) -> list[Any]:
    """The fetched values in the answer to a step; the trace is added to that of the context."""
    values = message.tensors[: len(message.tensors) - len(message.keys)]
    if message.traced:
        trace = values.pop()
        if context.trace is not None:
            context.trace.MergeFrom(RunMetadata.FromString(as_bytes(trace)))
    return values


# ---------------------------------------------------------------------------------------------------- errors


def attribute_error(error: OpError, graph: Graph) -> OpError:
    """The error of a part on another task, now about the operation of the user's graph that has the same
    name.
    """
    node = error.node_def
    op = graph._by_name.get(node.name) if node is not None else None
    if op is not None and error.op is not op:
        error._op, error._node_def = op, op.node_def
    return error
