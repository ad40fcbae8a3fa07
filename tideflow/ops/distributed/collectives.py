"""Collective ops: what the devices of a group do together. TensorFlow keeps the functions, which are not
public, in `tensorflow.python.ops.collective_ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tideflow.graph import errors
from tideflow.graph.device import canonical_name
from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.helpers.types import types
from tideflow.runtime import collectives
from tideflow.runtime.collectives import Member, Terms
from tideflow.runtime.waiting import StepContext

_GROUP = {
    "group_size": attr("int"),
    "group_key": attr("int"),
    "instance_key": attr("int"),
    "communication_hint": "auto",
    "timeout_seconds": 0.0,
}


def _collective_op(name: str, signature: str, **attrs: Any) -> Op:
    """An op in which the members of a group wait for each other."""
    op = Op(name, signature, stateful=True, blocking=True, **_GROUP, **attrs)
    op.gradient(undefined_gradient)
    op.samples(covered_by="tests/ops/distributed/test_collectives.py")
    return op


def _meet(
    kind: str,
    value: torch.Tensor | None,
    shape: Sequence[int],
    dtype: torch.dtype,
    resources: Any,
    node: Any,
    context: StepContext,
) -> torch.Tensor:
    """Brings a member's value to where its instance meets, and returns what was made there."""
    attrs = node.attrs
    terms = Terms(
        kind,
        attrs["group_key"],
        attrs["instance_key"],
        attrs["group_size"],
        dtype,
        tuple(shape),
        attrs.get("merge_op", ""),
        attrs.get("final_op", ""),
    )
    if attrs["timeout_seconds"] > 0:
        context = context.inner(attrs["timeout_seconds"])
    member = Member(node.source.device, node.name, value, context, resources.is_closed)
    return collectives.of(resources).meet(member, terms)


def _kernel(kind: str) -> Callable:
    def _kernel_of_kind(input, *, resources, node, context):
        return _meet(kind, input, input.shape, input.dtype, resources, node, context)

    return _kernel_of_kind


def _check_device(t: Tensor) -> None:
    if not canonical_name(t.device):
        raise ValueError("Device assignment required for collective ops")


def _check_size(group_size: int, function: str) -> None:
    if group_size <= 1:
        raise ValueError(f"Parameter group_size to {function} must be at least 2.")


reduce_op = _collective_op(
    "CollectiveReduce",
    "input: T -> data: T",
    T=attr("type", allowed=types("bfloat16 float half double int32 int64")),
    merge_op=attr("string", allowed=("Min", "Max", "Mul", "Add")),
    final_op=attr("string", allowed=("Id", "Div")),
    subdiv_offsets=attr("list(int)"),
    wait_for=attr("list(int)", []),
)
reduce_op.shape(lambda input: input)
reduce_op.kernel(_kernel("reduce"))


def all_reduce(
    t: Tensor,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Sequence[int] = (0,),
    communication_hint: str = "auto",
) -> Tensor:
    """The sum (Add), product, least or greatest of all members' tensors; with final_op "Div" their mean."""
    _check_device(t)
    _check_size(group_size, "all_reduce")
    return reduce_op(
        t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=subdiv_offsets,
        communication_hint=communication_hint,
    )


_NUMBERS = types("float half double int32 int64")

gather_op = _collective_op(
    "CollectiveGather", "input: T -> data: T", T=attr("type", allowed=_NUMBERS), shape=attr("shape")
)


@gather_op.shape
def _gather_shape(input, *, group_size):
    input = input.with_rank_at_least(1)
    if input.ndims is None:
        return None
    first = input.tuple[0]
    return [None if first is None else first * group_size, *input.tuple[1:]]


gather_op.kernel(_kernel("gather"))


def all_gather(
    t: Tensor, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Tensor:
    """All members' tensors, one after the other along the first axis."""
    _check_device(t)
    _check_size(group_size, "all_gather")
    return gather_op(
        t,
        shape=[0],
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


_SENT = {"T": attr("type", allowed=types("bool float half double int32 int64")), "shape": attr("shape")}

send_op = _collective_op("CollectiveBcastSend", "input: T -> data: T", **_SENT)
send_op.shape(lambda input, *, shape: shape)


@send_op.kernel
def _send_kernel(input, *, shape, resources, node, context):
    if not as_shape(shape).is_compatible_with(tuple(input.shape)):
        raise errors.invalid_argument(
            f"Shape {tuple(input.shape)} is sent, but {as_shape(shape)} was declared"
        )
    return _meet("broadcast", input, input.shape, input.dtype, resources, node, context)


def broadcast_send(
    t: Tensor,
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Sends a tensor to the group's other members, who call `broadcast_recv`."""
    _check_device(t)
    _check_size(group_size, "broadcast_send")
    if t.shape != TensorShape(shape):
        raise ValueError(f"Shape of broadcast_send tensor not equal to delcared shape: {t.shape}, {shape}")
    if t.dtype != dtype:
        raise ValueError(f"Type of broadcast_send tensor not equal to declared type: {t.dtype}, {dtype}")
    return send_op(
        t,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


receive_op = _collective_op("CollectiveBcastRecv", " -> data: T", **_SENT)
receive_op.shape(lambda *, shape: shape)


@receive_op.kernel
def _receive_kernel(*, T, shape, resources, node, device, context):
    sizes = as_shape(shape)
    if not sizes.is_fully_defined():
        raise errors.invalid_argument(f"What is received must be of known shape, not {sizes}")
    return _meet("broadcast", None, sizes.tuple, T.torch, resources, node, context).to(device)


def broadcast_recv(
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """The tensor of the member that calls `broadcast_send`."""
    _check_size(group_size, "broadcast_send")
    return receive_op(
        shape=shape,
        T=dtype,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )
