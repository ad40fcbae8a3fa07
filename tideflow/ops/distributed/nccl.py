"""Sums over the devices of one graph, by the names of NVIDIA's library. TensorFlow keeps the functions, which
are not public, in `tensorflow.python.ops.nccl_ops`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from tideflow.graph.device import canonical_name
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import device
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.types import types
from tideflow.runtime import collectives
from tideflow.runtime.collectives import MERGE, Member, Terms

_NUMBERS = attr("type", allowed=types("half float double int32 int64"))
_REDUCTION = attr("string", allowed=("min", "max", "prod", "sum"))
_MERGE_OPS = {"min": "Min", "max": "Max", "prod": "Mul", "sum": "Add"}


def _check_sum(op: Any) -> None:
    if op.attrs["reduction"] != "sum":
        raise LookupError(f"No gradient defined for {op.type} except sum.")


def _check_device(tensor: Tensor, expected: str = "") -> None:
    if not canonical_name(tensor.device):
        raise ValueError("Device assignment required for nccl collective ops")
    if expected and expected != tensor.device:
        raise ValueError(f"Expected device {expected}, got {tensor.device}")


all_reduce_op = Op(
    "NcclAllReduce",
    "input: T -> data: T",
    stateful=True,
    blocking=True,
    T=_NUMBERS,
    reduction=_REDUCTION,
    num_devices=attr("int"),
    shared_name=attr("string"),
)
all_reduce_op.shape(lambda input: input)

_OF_ONE_GRAPH = 0  # the group of all that goes by a shared name


@all_reduce_op.kernel
def _all_reduce_kernel(input, *, reduction, num_devices, shared_name, resources, node, context):
    shape = tuple(input.shape)
    terms = Terms(
        "reduce", _OF_ONE_GRAPH, shared_name, num_devices, input.dtype, shape, _MERGE_OPS[reduction]
    )
    # A name of its own for each: one device may hold several where there are fewer than were asked for.
    member = Member(node.name, node.name, input, context, resources.is_closed)
    return collectives.in_one_process(resources).meet(member, terms)


@all_reduce_op.gradient
def _all_reduce_gradient(op, grad):
    """The sum of all members' gradients, which they make together as they made the sum."""
    _check_sum(op)
    _check_device(grad, op.device)
    with device(op.device):
        return all_reduce_op(
            grad,
            reduction="sum",
            num_devices=op.attrs["num_devices"],
            shared_name=f"{op.attrs['shared_name']}_grad",
        )


all_reduce_op.samples(covered_by="tests/ops/distributed/test_collectives.py")

reduce_op = Op(
    "NcclReduce",
    "input: num_devices * T -> data: T",
    stateful=True,
    T=_NUMBERS,
    reduction=_REDUCTION,
    num_devices=attr("int", minimum=1),
)
reduce_op.shape(lambda input: functools.reduce(TensorShape.merge_with, input))


@reduce_op.kernel
def _reduce_kernel(input, *, reduction, device):
    return functools.reduce(MERGE[_MERGE_OPS[reduction]], [value.to(device) for value in input])


@reduce_op.gradient
def _reduce_gradient(op, grad):
    _check_sum(op)
    _check_device(grad, op.device)
    with device(op.device):
        spread = broadcast_op(grad, shape=grad.shape)
    return [spread] * len(op.inputs)


reduce_op.samples(covered_by="tests/ops/distributed/test_collectives.py")


def reduce_sum(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of the tensors, on the current device, which must be that of one of them."""
    if not tensors:
        raise ValueError("Must pass >0 tensors to reduce operations")
    for tensor in tensors:
        _check_device(tensor)
    result = reduce_op(tensors, reduction="sum")
    if result.device not in [tensor.device for tensor in tensors]:
        raise ValueError(
            f"One input tensor must be assigned to current device: {result.device or 'none'} is not among "
            f"{[tensor.device for tensor in tensors]}"
        )
    return result


broadcast_op = Op("NcclBroadcast", "input: T -> output: T", stateful=True, T=_NUMBERS, shape=attr("shape"))
broadcast_op.shape(lambda input, *, shape: shape)


@broadcast_op.kernel
def _broadcast_kernel(input):
    return input


@broadcast_op.gradient
def _broadcast_gradient(op, grad):
    """The sum that was made of the receivers' gradients, made by one reduction instead."""
    grads = list(grad.op.inputs)
    for tensor in grads:
        _check_device(tensor)
    with device(op.device):
        return reduce_op(grads, reduction="sum")


broadcast_op.samples(covered_by="tests/ops/distributed/test_collectives.py")


def broadcast(tensor: Tensor) -> Tensor:
    """The same tensor, for the use of other devices."""
    _check_device(tensor)
    with device(tensor.device):
        return broadcast_op(tensor, shape=tensor.shape)


_numbers = itertools.count()


def all_sum(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The sum of the tensors, on the device of each of them."""
    return _all_reduced("sum", tensors)


def _all_reduced(reduction: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    shared_name = f"c{next(_numbers)}"
    made = []
    for tensor in tensors:
        _check_device(tensor)
        with device(tensor.device):
            made.append(
                all_reduce_op(tensor, reduction=reduction, num_devices=len(tensors), shared_name=shared_name)
            )
    return made


def all_prod(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The product of the tensors, on the device of each of them."""
    return _all_reduced("prod", tensors)


def all_min(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The least of the tensors, on the device of each of them."""
    return _all_reduced("min", tensors)


def all_max(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The greatest of the tensors, on the device of each of them."""
    return _all_reduced("max", tensors)
