"""Stacks: what a loop pushes in its iterations, the backward loop pops in reverse.

A stack lives as long as its step; popping lets the value go, so that memory is freed as the backward pass
goes.
"""

from __future__ import annotations

from typing import Any

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr

stack_op = Op(
    "Stack",
    " -> handle: Ref(string)",
    elem_type=attr("type"),
    stack_name="",
    stateful=True,
    differentiable=False,
)
stack_push_op = Op(
    "StackPush", "handle: Ref(string), elem: T -> output: T", swap_memory=False, differentiable=False
)
stack_pop_op = Op("StackPop", "handle: Ref(string) -> elem: elem_type", differentiable=False)
stack_close_op = Op("StackClose", "handle: Ref(string)", differentiable=False)
stack_v2_op = Op(
    "StackV2",
    "max_size: int32 -> handle: resource",
    elem_type=attr("type"),
    stack_name="",
    stateful=True,
    host="max_size",
    differentiable=False,
)
stack_push_v2_op = Op(
    "StackPushV2",
    "handle: resource, elem: T -> output: T",
    swap_memory=False,
    stateful=True,
    differentiable=False,
)
stack_pop_v2_op = Op("StackPopV2", "handle: resource -> elem: elem_type", stateful=True, differentiable=False)
stack_close_v2_op = Op("StackCloseV2", "handle: resource", stateful=True, differentiable=False)


class Stack(list):
    """The values of one stack; `limit` is the most it may hold, negative for no limit."""

    def __init__(self, dtype: dtypes.DType, limit: int = -1):
        super().__init__()
        self.dtype = dtype
        self.limit = limit
        self.closed = False

    def check(self, dtype: dtypes.DType) -> None:
        if self.closed:
            raise errors.cancelled("the stack is closed")
        if dtype is not self.dtype:
            raise errors.invalid_argument(
                f"Must have type {self.dtype.name} but got {dtype.name}, the type of the stack's elements",
            )


@stack_op.kernel
def _(*, elem_type):
    return Stack(elem_type)


@stack_v2_op.kernel
def _(max_size, *, elem_type):
    return Stack(elem_type, max_size)


@stack_push_op.kernel
@stack_push_v2_op.kernel
def _(handle, elem, *, T):
    if handle.closed or T is not handle.dtype:
        handle.check(T)
    if len(handle) == handle.limit:
        raise errors.invalid_argument(f"Stack overflow: it may hold {handle.limit} values")
    handle.append(elem)
    return elem


@stack_pop_op.kernel
@stack_pop_v2_op.kernel
def _(handle, *, elem_type):
    if not handle:
        handle.check(elem_type)
        raise errors.invalid_argument("Stack is empty when calling Pop()")
    return handle.pop()


@stack_close_op.kernel
@stack_close_v2_op.kernel
def _(handle):
    handle.clear()
    handle.closed = True


stack_op.shape(lambda: [2])
stack_v2_op.shape(lambda max_size: [2])
for _op in (stack_push_op, stack_push_v2_op):
    _op.shape(lambda handle, elem: elem)
for _op in (stack_pop_op, stack_pop_v2_op):
    _op.shape(lambda handle: None)
for _op in (stack_close_op, stack_close_v2_op):
    _op.shape(lambda handle: [])
for _op in (stack_op, stack_push_op, stack_pop_op, stack_close_op):
    _op.samples()
for _op in (stack_v2_op, stack_push_v2_op, stack_pop_v2_op, stack_close_v2_op):
    _op.samples()


def stack_v2(max_size: Any, elem_type: Any, name: str | None = None) -> Tensor:
    """A new stack for values of `elem_type`."""
    return stack_v2_op(max_size, elem_type=elem_type, name=name)


def stack_push_v2(handle: Tensor, elem: Tensor, swap_memory: bool = False) -> Tensor:
    """Pushes; the value itself is returned."""
    return stack_push_v2_op(handle, elem, swap_memory=swap_memory)


def stack_pop_v2(handle: Tensor, elem_type: Any) -> Tensor:
    """The value pushed last, taken off."""
    return stack_pop_v2_op(handle, elem_type=elem_type)


def stack_close_v2(handle: Tensor) -> Operation:
    """Nothing can be pushed or popped any more."""
    return stack_close_v2_op(handle)
