"""Calls of functions, inlined: the body of a function takes the place of its call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.autodiff.gradients import gradients
from tideflow.compile.ir import Guards, Node, Value, make_node, predicate_root
from tideflow.graph import dtypes, errors, functions
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody
from tideflow.graph.graph import Graph
from tideflow.graph.op import Op, definition
from tideflow.graph.op_errors import type_word
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import creation
from tideflow.ops.arrays.constants import identity_op
from tideflow.ops.control_flow.calls import called, named

if TYPE_CHECKING:
    from tideflow.compile.build import Builder

truth_op = Op("_Truth", "value: T -> truth: bool", differentiable=False)
truth_op.shape(lambda value: [])
truth_op.samples(())


@truth_op.kernel
def _truth_kernel(value: torch.Tensor) -> torch.Tensor:
    """What `If` and `While` count as true: a number that is not zero, or a tensor that is not empty."""
    return value.ne(0) if not value.ndim else value.new_tensor(value.numel() > 0).bool()


@truth_op.kernel("string")
def _truth_string_kernel(value: np.ndarray) -> torch.Tensor:
    return torch.tensor(bool(value.item()) if not value.ndim else value.size > 0)


def check_arguments(body: FunctionBody, given: Sequence[dtypes.DType]) -> None:
    """A function is called with as many arguments as it has, of their types."""
    if len(given) != len(body.inputs):
        raise errors.invalid_argument(f"Expects {len(body.inputs)} arguments, but {len(given)} is provided")
    for i, (expected, found) in enumerate(zip(body.inputs, given)):
        if expected.dtype.base_dtype is not found.base_dtype:
            raise errors.invalid_argument(
                f"Expects arg[{i}] to be {type_word(expected.dtype)} but {type_word(found)} is provided"
            )


def _check_results(body: FunctionBody, op: Operation) -> None:
    """A call declares as many results as the function has, of their types."""
    found, declared = len(body.outputs), len(op.outputs)
    if found > declared:
        raise errors.internal(
            f"Function instantiation included invalid output index: {found - 1} not in [0, {declared})."
        )
    if found < declared:
        raise errors.internal(f"Missing {found}-th output from node {op.name}")
    for i, (result, output) in enumerate(zip(body.outputs, op.outputs)):
        if result.dtype.base_dtype is not output.dtype:
            raise errors.internal(
                f"Output {i} of type {type_word(result.dtype)} does not match declared output type "
                f"{type_word(output.dtype)} for node node {op.name}"
            )


def lowering(op: Operation) -> Callable[[Builder, Operation], None] | None:
    """What inlines the call of a function; None for any other operation."""
    if op.definition.calls is not None:
        return _call
    return _LOWERINGS.get(op.type)


def _call(builder: Builder, op: Operation) -> None:
    name, attrs = called(op)
    body = functions.body_of(op.graph, name, attrs)
    _check_results(body, op)
    _give(builder, op, builder.inline(body, builder.inputs(op), builder.guards_of(op), op.name))


def _gradient(builder: Builder, op: Operation) -> None:
    name, attrs = named(op.attrs["f"])
    body = gradient_body(op.graph, name, attrs)
    if len(body.outputs) != len(op.outputs):
        raise errors.invalid_argument(
            f"SymGrad expects to return {len(op.outputs)} tensor(s), but get {len(body.outputs)} tensor(s) "
            f"instead. {op.name} is the gradient of the function {name}."
        )
    _give(builder, op, builder.inline(body, builder.inputs(op), builder.guards_of(op), op.name))


def gradient_body(graph: Graph, name: str, attrs: dict[str, Any]) -> FunctionBody:
    """The gradient of a function: from its inputs and its outputs' gradients to its inputs' gradients."""
    if name in graph._function_gradients:
        return functions.body_of(graph, graph._function_gradients[name], attrs)
    key = (name, f"gradient {attrs!r}")
    if key not in graph._function_bodies:
        body = functions.body_of(graph, name, attrs)  # the gradient's nodes are added to its graph
        with body.graph.as_default():
            given = [
                functions.new_input(body.graph, output.dtype, output.shape, "output_gradient")
                for output in body.outputs
            ]
            grads = gradients(body.outputs, body.inputs, given)
            pairs = zip(grads, body.inputs, strict=True)
            outputs = [
                creation.zeros_like(x) if grad is None else convert_to_tensor(grad) for grad, x in pairs
            ]
        graph._function_bodies[key] = FunctionBody(body.graph, [*body.inputs, *given], outputs, [])
    return graph._function_bodies[key]


def _if(builder: Builder, op: Operation) -> None:
    cond, *args = builder.inputs(op)
    guards = builder.guards_of(op)
    pred = _truth(builder, cond, op, guards)
    branches: list[tuple[Guards, tuple[str, dict[str, Any]]]] = [
        (frozenset({(pred, side)}), named(op.attrs[key]))
        for side, key in ((False, "else_branch"), (True, "then_branch"))
    ]
    _choose(builder, op, args, guards, branches)


def _case(builder: Builder, op: Operation) -> None:
    """The last branch is also the one for an index that names none."""
    index, *args = builder.inputs(op)
    guards = builder.guards_of(op)
    functions_of = [named(branch) for branch in op.attrs["branches"]]
    branches: list[tuple[Guards, tuple[str, dict[str, Any]]]] = []
    others: Guards = frozenset()
    for i, function in enumerate(functions_of):
        if i == len(functions_of) - 1:
            branches.append((others, function))
            break
        pred = _equals(builder, index, i, op, guards)
        branches.append((others | {(pred, True)}, function))
        others |= {(pred, False)}
    _choose(builder, op, args, guards, branches)


def _choose(
    builder: Builder,
    op: Operation,
    args: list[Value],
    guards: Guards,
    branches: list[tuple[Guards, tuple[str, dict[str, Any]]]],
) -> None:
    """Inlines several functions, each under its condition, and merges their results."""
    results = []
    for i, (condition, (name, attrs)) in enumerate(branches):
        body = functions.body_of(op.graph, name, attrs)
        results.append(builder.inline(body, args, guards | condition, f"{op.name}/branch{i}"))
    for returned in results:
        if len(returned) != len(op.outputs):
            raise errors.invalid_argument(
                f"A branch of {op.name} returned {len(returned)} values. Expected: {len(op.outputs)}"
            )
    outputs = []
    for values in zip(*results, strict=True):
        node = make_node(
            "Merge", list(values), {"N": len(values), "T": values[0].dtype.base_dtype}, name=op.name
        )
        node.source, node.guards = op, guards
        node.choices = [condition for condition, _ in branches]
        builder.nodes.append(node)
        outputs.append(node.outputs[0])
    _give(builder, op, outputs)


def _while(builder: Builder, op: Operation) -> None:
    cond = functions.body_of(op.graph, *named(op.attrs["cond"]))
    body = functions.body_of(op.graph, *named(op.attrs["body"]))
    if len(cond.outputs) != 1:
        raise errors.invalid_argument(
            "Expected a single scalar return value from WhileOp cond, got "
            f"{len(cond.outputs)} tensors. The loop is {op.name}."
        )
    if len(body.outputs) != len(op.inputs):
        raise errors.invalid_argument(
            f"While loop body returned {len(body.outputs)} arguments. Expected: {len(op.inputs)}. "
            f"The loop is {op.name}."
        )
    check_arguments(body, [tensor.dtype for tensor in body.outputs])

    args = builder.inputs(op)
    constant = {i for i, inner in enumerate(body.inputs) if _unchanged(body.outputs[i]) is inner}
    if len(constant) == len(args):
        constant = set()

    def write(inner: Builder, variables: list[Value]) -> tuple[Value, list[Value]]:
        given = _with_constants(args, constant, variables)
        (test,) = inner.inline(cond, given, frozenset(), f"{op.name}/cond")
        pred = _truth(inner, test, op, frozenset())
        following = inner.inline(body, given, frozenset({(pred, True)}), f"{op.name}/body")
        return pred, [value for i, value in enumerate(following) if i not in constant]

    varying = [value for i, value in enumerate(args) if i not in constant]
    loop = builder.add_loop(op.name, varying, builder.guards_of(op), write, op)
    _give(builder, op, _with_constants(args, constant, loop.outputs))


def _unchanged(tensor: Tensor) -> Tensor:
    """The tensor that this one is, seen through Identities."""
    while tensor.op.definition is identity_op and not tensor.op.control_inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def _with_constants(args: list[Value], constant: set[int], varying: list[Value]) -> list[Value]:
    """A loop's variables, those that no iteration changes as the values from outside that they are."""
    rest = iter(varying)
    return [value if i in constant else next(rest) for i, value in enumerate(args)]


def _for(builder: Builder, op: Operation) -> None:
    """A loop with a counter, from `start` up or down to `limit`."""
    start, limit, delta, *args = builder.inputs(op)
    guards = builder.guards_of(op)
    body = functions.body_of(op.graph, *named(op.attrs["body"]))
    if len(body.outputs) != len(args):
        raise errors.invalid_argument(
            f"For loop body returned {len(body.outputs)} arguments. Expected: {len(args)}. "
            f"The loop is {op.name}."
        )
    check_arguments(body, [dtypes.int32, *(tensor.dtype for tensor in body.outputs)])
    whole = {"T": dtypes.int32}
    zero = _helper(
        builder, "Const", [], {"value": np.array(0, np.int32), "dtype": dtypes.int32}, op, frozenset()
    )
    direction = _helper(builder, "Sign", [delta], whole, op, guards)

    def write(inner: Builder, variables: list[Value]) -> tuple[Value, list[Value]]:
        nothing: Guards = frozenset()
        left = _helper(inner, "Sub", [limit, variables[0]], whole, op, nothing)
        left = _helper(inner, "Mul", [left, direction], whole, op, nothing)
        pred = _helper(inner, "Greater", [left, zero], whole, op, nothing)
        going_on = frozenset({(pred, True)})
        results = inner.inline(body, variables, going_on, f"{op.name}/body")
        return pred, [_helper(inner, "Add", [variables[0], delta], whole, op, going_on), *results]

    loop = builder.add_loop(op.name, [start, *args], guards, write, op)
    _give(builder, op, loop.outputs[1:])


def _truth(builder: Builder, value: Value, op: Operation, guards: Guards) -> Value:
    if value.dtype is dtypes.bool and value.shape.ndims == 0:
        return predicate_root(value)
    return _helper(builder, truth_op, [value], {"T": value.dtype.base_dtype}, op, guards)


def _equals(builder: Builder, index: Value, i: int, op: Operation, guards: Guards) -> Value:
    constant = {"value": np.array(i, np.int32), "dtype": dtypes.int32}
    number = _helper(builder, "Const", [], constant, op, frozenset())
    return _helper(builder, "Equal", [index, number], {"T": dtypes.int32}, op, guards)


def _helper(
    builder: Builder, kind: Any, inputs: list[Value], attrs: dict[str, Any], op: Operation, guards: Guards
) -> Value:
    node = make_node(kind, inputs, attrs, name=op.name)
    node.source, node.guards = op, guards
    builder.nodes.append(node)
    return node.outputs[0]


def _give(builder: Builder, op: Operation, values: list[Value]) -> None:
    """Sets the results of a call. Operations that wait for the call wait for a NoOp in its place."""
    for tensor, value in zip(op.outputs, values, strict=True):
        builder.values.setdefault(tensor, value)
    marker = Node(definition("NoOp"), op.name, [], {}, op)
    marker.guards = builder.guards_of(op)
    builder.nodes.append(marker)
    builder.node_of[op] = marker


_LOWERINGS: dict[str, Callable[[Builder, Operation], None]] = {
    "PartitionedCall": _call,
    "StatefulPartitionedCall": _call,
    "If": _if,
    "StatelessIf": _if,
    "Case": _case,
    "StatelessCase": _case,
    "While": _while,
    "StatelessWhile": _while,
    "For": _for,
    "SymbolicGradient": _gradient,
}

LOOPS = ("While", "StatelessWhile")


def bodies_called(op: Operation) -> list[tuple[int, FunctionBody]]:
    """The functions that an operation hands its inputs to, each with the number of inputs before those."""
    if op.type in LOOPS:
        return [(0, functions.body_of(op.graph, *named(op.attrs[key]))) for key in ("cond", "body")]
    if op.type in ("If", "StatelessIf"):
        keys = ("then_branch", "else_branch")
        return [(1, functions.body_of(op.graph, *named(op.attrs[key]))) for key in keys]
    if _LOWERINGS.get(op.type) is _call:
        return [(0, functions.body_of(op.graph, *called(op)))]
    return []
