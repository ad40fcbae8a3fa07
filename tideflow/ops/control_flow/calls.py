"""Calls of functions of the graph's library: plainly, conditionally, in a loop, and their gradients.

The step compiler writes the body of a function in the place of its call; `If`, `Case` and `While` become the
same `if` and `while` of the plan as the constructs made of Switch and Merge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.graph import functions
from tideflow.graph.device import DeviceSpec
from tideflow.graph.graph_def import attr_from_proto, attr_proto
from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.operation import Operation
from tideflow.graph.schema import attr
from tideflow.ops.arrays import creation
from tideflow.runtime.values import empty_like_type

_TESTS = "tests/ops/control_flow/test_calls.py"


def named(function: Any) -> tuple[str, dict[str, Any]]:
    """The name and the attributes of a `func` attribute."""
    if isinstance(function, str):
        return function, {}
    return function.name, {key: attr_from_proto(value) for key, value in function.attr.items()}


def called(op: Any) -> tuple[str, dict[str, Any]]:
    """The function that a call runs."""
    return op.definition.calls(op) if op.definition.calls is not None else named(op.attrs["f"])


def _written_out(*inputs: Any) -> None:
    """The kernel of all calls, which is never called: the compiler writes the function's body instead."""


def _symbolic_gradient(name: str, attrs: dict[str, Any], inputs: list, grads: list) -> list:
    function = NameAttrList(name=name)
    for key, value in attrs.items():
        function.attr[key].CopyFrom(attr_proto(value))
    types = [tensor.dtype.base_dtype for tensor in inputs]
    result = symbolic_gradient_op([*inputs, *grads], f=function, Tout=types)
    for made, tensor in zip(result, inputs, strict=True):
        made.set_shape(tensor.shape)
    return result


def _dense(op: Operation, grads: tuple) -> list:
    return [
        creation.zeros_like(tensor) if grad is None else grad
        for tensor, grad in zip(op.outputs, grads, strict=True)
    ]


_TYPES = {"Tin": attr("list(type)", minimum=0), "Tout": attr("list(type)", minimum=0)}
_CALL = {"f": attr("func"), "config": "", "config_proto": "", "executor_type": ""}


def _call_gradient(op, *grads):
    """The gradient of a function's call is a call of the function's gradient."""
    name, attrs = called(op)
    if op.definition.calls is None:
        return _Registered.call_gradient(op, *grads)
    return _symbolic_gradient(name, attrs, list(op.inputs), _dense(op, grads))


class _Registered:
    """What differentiates operations that call any function: `autodiff/` registers it."""

    call_gradient: Any = None
    choice_gradient: Any = None
    loop_gradient: Any = None


def register_gradients(**gradients: Callable[..., Any]) -> None:
    """Sets what differentiates calls, choices or loops."""
    for name, function in gradients.items():
        setattr(_Registered, name, staticmethod(function))


def call_op_for(body: functions.FunctionBody) -> Op:
    """The op type that calls a function: its calls keep their order if the function has effects."""
    return stateful_partitioned_call_op if body.targets else partitioned_call_op


partitioned_call_op = Op("PartitionedCall", "args: Tin -> output: Tout", **_TYPES, **_CALL)
partitioned_call_op.shape(lambda inputs, *, Tout: [None] * len(Tout))
partitioned_call_op.kernel(_written_out)
partitioned_call_op.gradient(_call_gradient)
partitioned_call_op.samples(covered_by=_TESTS)

stateful_partitioned_call_op = Op(
    "StatefulPartitionedCall", "args: Tin -> output: Tout", stateful=True, **_TYPES, **_CALL
)
stateful_partitioned_call_op.shape(lambda inputs, *, Tout: [None] * len(Tout))
stateful_partitioned_call_op.kernel(_written_out)
stateful_partitioned_call_op.gradient(_call_gradient)
stateful_partitioned_call_op.samples(covered_by=_TESTS)

remote_call_op = Op(
    "RemoteCall",
    "target: string, args: Tin -> output: Tout",
    stateful=True,
    on_host=True,
    f=attr("func"),
    Tin=attr("list(type)", minimum=1),
    Tout=attr("list(type)", minimum=1),
)
remote_call_op.shape(lambda target, inputs, *, Tout: [None] * len(Tout))


@remote_call_op.kernel
def _remote_call_kernel(target, args, *, planned, context):
    """Runs the function here: the devices of one process see the same memory of the host."""
    DeviceSpec.from_string(target.item().decode())  # a name that is none is refused
    return list(planned("f", [])(context, *args))


remote_call_op.gradient(undefined_gradient)
remote_call_op.samples(covered_by=_TESTS)

_BRANCHES = {"then_branch": attr("func"), "else_branch": attr("func")}

_SHAPES = {"output_shapes": attr("list(shape)", [])}


def _if_gradient(op, *grads):
    """A conditional of the branches' gradients."""
    return _Registered.choice_gradient(op, ("then_branch", "else_branch"), grads)


if_op = Op("If", "cond: Tcond, input: Tin -> output: Tout", stateful=True, **_TYPES, **_BRANCHES, **_SHAPES)
if_op.shape(lambda chosen, inputs, *, Tout, output_shapes: output_shapes or [None] * len(Tout))
if_op.kernel(_written_out)
if_op.gradient(_if_gradient)
if_op.samples(covered_by=_TESTS)

stateless_if_op = Op(
    "StatelessIf", "cond: Tcond, input: Tin -> output: Tout", **_TYPES, **_BRANCHES, **_SHAPES
)
stateless_if_op.shape(lambda chosen, inputs, *, Tout, output_shapes: output_shapes or [None] * len(Tout))
stateless_if_op.kernel(_written_out)
stateless_if_op.gradient(_if_gradient)
stateless_if_op.samples(covered_by=_TESTS)


def _case_gradient(op, *grads):
    """One of the branches' gradients."""
    return _Registered.choice_gradient(op, "branches", grads)


case_op = Op(
    "Case",
    "branch_index: int32, input: Tin -> output: Tout",
    stateful=True,
    branches=attr("list(func)", minimum=1),
    **_TYPES,
    **_SHAPES,
)
case_op.shape(lambda chosen, inputs, *, Tout, output_shapes: output_shapes or [None] * len(Tout))
case_op.kernel(_written_out)
case_op.gradient(_case_gradient)
case_op.samples(covered_by=_TESTS)

stateless_case_op = Op(  # of later versions
    "StatelessCase",
    "branch_index: int32, input: Tin -> output: Tout",
    branches=attr("list(func)", minimum=1),
    **_TYPES,
    **_SHAPES,
)
stateless_case_op.shape(lambda chosen, inputs, *, Tout, output_shapes: output_shapes or [None] * len(Tout))
stateless_case_op.kernel(_written_out)
stateless_case_op.gradient(_case_gradient)
stateless_case_op.samples(covered_by=_TESTS)


def _while_gradient(op, *grads):
    """A loop backward, over what the iterations have kept."""
    return _Registered.loop_gradient(op, grads)


_LOOP = {"T": attr("list(type)", minimum=0), "cond": attr("func"), "body": attr("func")}

while_op = Op(
    "While",
    "input: T -> output: T",
    stateful=True,
    parallel_iterations=10,
    **_LOOP,
    **_SHAPES,
)
while_op.shape(lambda inputs, *, T, output_shapes: output_shapes or [None] * len(T))
while_op.kernel(_written_out)
while_op.gradient(_while_gradient)
while_op.samples(covered_by=_TESTS)

stateless_while_op = Op(
    "StatelessWhile",
    "input: T -> output: T",
    parallel_iterations=10,
    **_LOOP,
    **_SHAPES,
)
stateless_while_op.shape(lambda inputs, *, T, output_shapes: output_shapes or [None] * len(T))
stateless_while_op.kernel(_written_out)
stateless_while_op.gradient(_while_gradient)
stateless_while_op.samples(covered_by=_TESTS)

for_op = Op(
    "For",
    "start: int32, limit: int32, delta: int32, input: T -> output: T",
    T=attr("list(type)", minimum=0),
    body=attr("func"),
)
for_op.shape(lambda start, limit, delta, inputs, *, T: [None] * len(T))
for_op.kernel(_written_out)
for_op.gradient(undefined_gradient)
for_op.samples(covered_by=_TESTS)

symbolic_gradient_op = Op(
    "SymbolicGradient",
    "input: Tin -> output: Tout",
    Tin=attr("list(type)", minimum=1),
    Tout=attr("list(type)", minimum=1),
    f=attr("func"),
    differentiable=False,
)
symbolic_gradient_op.shape(lambda inputs, *, Tout: [*inputs, *[None] * len(Tout)][: len(Tout)])
symbolic_gradient_op.kernel(_written_out)
symbolic_gradient_op.samples(covered_by=_TESTS)

# The arguments and results of functions, as TensorFlow's runtime writes them into graphs.
argument_op = Op(
    "_Arg",
    " -> output: T",
    index=attr("int", minimum=0),
    stateful=True,
    differentiable=False,
    importable=True,
)
argument_op.shape(lambda: None)
argument_op.kernel(lambda: None)
argument_op.samples(covered_by=_TESTS)

result_op = Op(
    "_Retval", "input: T", index=attr("int", minimum=0), stateful=True, differentiable=False, importable=True
)
result_op.shape(lambda input: [])
result_op.kernel(lambda input: None)
result_op.samples(covered_by=_TESTS)

fake_param_op = Op("FakeParam", " -> output: dtype", shape=attr("shape"), differentiable=False)
fake_param_op.shape(lambda *, shape: shape)


@fake_param_op.kernel
def _fake_param_kernel(*, dtype, shape):
    return empty_like_type(dtype, tuple(size or 0 for size in shape.tuple or ()))


fake_param_op.samples(covered_by=_TESTS)
