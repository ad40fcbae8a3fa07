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

_TESTS = "tests/ops/control_flow/test_stacks.py"


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


stack_op = Op(
    "Stack",
    " -> handle: Ref(string)",
    elem_type=attr("type"),
    stack_name="",
    stateful=True,
    differentiable=False,
    role="step values",
)
stack_op.shape(lambda: [2])


@stack_op.kernel
def _stack_kernel(*, elem_type):
    return Stack(elem_type)


stack_op.samples(covered_by=_TESTS)

stack_v2_op = Op(
    "StackV2",
    "max_size: int32 -> handle: resource",
    holds_step_values="elem_type",
    elem_type=attr("type"),
    stack_name="",
    stateful=True,
    host="max_size",
    differentiable=False,
    role="step values",
)
stack_v2_op.shape(lambda max_size: [2])


@stack_v2_op.kernel
def _stack_v2_kernel(max_size, *, elem_type):
    return Stack(elem_type, max_size)


stack_v2_op.samples(covered_by=_TESTS)


def stack_v2(max_size: Any, elem_type: Any, name: str | None = None) -> Tensor:
    """A new stack for values of `elem_type`."""
    return stack_v2_op(max_size, elem_type=elem_type, name=name)


def _push(handle, elem, *, T):
    if handle.closed or T is not handle.dtype:
        handle.check(T)
    if len(handle) == handle.limit:
        raise errors.invalid_argument(f"Stack overflow: it may hold {handle.limit} values")
    handle.append(elem)
    return elem


stack_push_op = Op(
    "StackPush", "handle: Ref(string), elem: T -> output: T", swap_memory=False, differentiable=False
)
stack_push_op.shape(lambda handle, elem: elem)
stack_push_op.kernel(_push)
stack_push_op.samples(covered_by=_TESTS)

stack_push_v2_op = Op(
    "StackPushV2",
    "handle: resource, elem: T -> output: T",
    swap_memory=False,
    stateful=True,
    differentiable=False,
)
stack_push_v2_op.shape(lambda handle, elem: elem)
stack_push_v2_op.kernel(_push)
stack_push_v2_op.samples(covered_by=_TESTS)


def stack_push_v2(handle: Tensor, elem: Tensor, swap_memory: bool = False) -> Tensor:
    """Pushes; the value itself is returned."""
    return stack_push_v2_op(handle, elem, swap_memory=swap_memory)


def _pop(handle, *, elem_type):
    if not handle:
        handle.check(elem_type)
        raise errors.invalid_argument("Stack is empty when calling Pop()")
    return handle.pop()


stack_pop_op = Op("StackPop", "handle: Ref(string) -> elem: elem_type", differentiable=False)
stack_pop_op.shape(lambda handle: None)
stack_pop_op.kernel(_pop)
stack_pop_op.samples(covered_by=_TESTS)

stack_pop_v2_op = Op(
    "StackPopV2",
    "handle: resource -> elem: elem_type",
    stateful=True,
    differentiable=False,
    role="step values",
)
stack_pop_v2_op.shape(lambda handle: None)
stack_pop_v2_op.kernel(_pop)
stack_pop_v2_op.samples(covered_by=_TESTS)


def stack_pop_v2(handle: Tensor, elem_type: Any) -> Tensor:
    """The value pushed last, taken off."""
    return stack_pop_v2_op(handle, elem_type=elem_type)


def _close(handle):
    handle.clear()
    handle.closed = True


stack_close_op = Op("StackClose", "handle: Ref(string)", differentiable=False)
stack_close_op.shape(lambda handle: [])
stack_close_op.kernel(_close)
stack_close_op.samples(covered_by=_TESTS)

stack_close_v2_op = Op("StackCloseV2", "handle: resource", stateful=True, differentiable=False)
stack_close_v2_op.shape(lambda handle: [])
stack_close_v2_op.kernel(_close)
stack_close_v2_op.samples(covered_by=_TESTS)


def stack_close_v2(handle: Tensor) -> Operation:
    """Nothing can be pushed or popped any more."""
    return stack_close_v2_op(handle)
