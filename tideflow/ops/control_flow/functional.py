"""Conditionals and loops in traced functions: operations that call functions of the library.

In the body of a `tf.function`, `tf.cond` makes an `If` and `tf.while_loop` a `While`, as in TensorFlow, and
`tf.switch_case` makes a `Case` in every graph. What
a branch or an iteration takes from outside becomes an argument of its function.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.graph import dtypes, functions, nest
from tideflow.graph.composite import components, from_components, is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, WaitingGraph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants
from tideflow.ops.arrays import shapes as array_shapes
from tideflow.ops.control_flow import calls, switches


class PartGraph(WaitingGraph):
    """The function of a branch, or of an iteration, while it is made."""

    functional_control_flow = True

    def __init__(self, outer: Any, label: str = "", siblings: Sequence[PartGraph] = ()) -> None:
        super().__init__(outer)
        self.label, self.siblings = label, tuple(siblings)
        self.seed = outer.seed
        self._collections = outer._collections  # what a part adds is seen outside

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The input that stands for a tensor of outside, which another branch is not."""
        for other in self.siblings:
            if not tensor.is_eager and tensor.graph is other:
                raise ValueError(f"Tensor {tensor.name} in {other.label} is accessed from {self.label}.")
        return super().capture(tensor, name)

    def with_inputs(self, outputs: list[Tensor], order: list[Tensor], first: int = 0) -> FunctionBody:
        """The finished function, whose inputs stand for these tensors from outside, after its `first` own."""
        self.inputs[first:] = [self.capture(tensor) for tensor in order]
        self.outputs = outputs
        return FunctionBody(self, self.inputs, outputs, functions.effects_of(self))


def define(body: FunctionBody, kind: str) -> NameAttrList:
    """Adds the function of a part to the library around it."""
    graph = get_default_graph()
    scope = graph.get_name_scope().replace("/", "_")
    numbers = (f"{scope}_{kind}_{number}" for number in itertools.count(len(graph._functions)))
    name = next(name for name in numbers if name not in graph._functions)
    functions.add_function(graph, name, body, [f"output_{i}" for i in range(len(body.outputs))], body.targets)
    return NameAttrList(name=name)


def _as_result(value: Any, chosen: Tensor) -> Any:
    """What a branch returned, made of tensors of its function."""
    if isinstance(value, Operation):
        with control_dependencies([value]):
            return constants.identity(chosen)
    if is_composite(value):
        return from_components(value, [constants.identity(part) for part in components(value)])
    return constants.identity(convert_to_tensor(value))


def _check_alike(results: list[Any], leaves: list[list[Any]], names: list[str], caller: str) -> None:
    for i, alike in enumerate(zip(*leaves, strict=False)):
        if len({is_composite(leaf) for leaf in alike}) > 1:
            raise TypeError(f"Cannot reconcile {caller} {i}-th outputs:\n  branches returned: {alike}")
    types = [[[part.dtype for part in components(leaf)] for leaf in found] for found in leaves]
    for name, result, found in zip(names[1:], results[1:], types[1:], strict=True):
        try:
            nest.assert_same_structure(results[0], result)
            if found != types[0]:
                raise TypeError(f"{results[0]} and {result} have different types: {types[0]} and {found}")
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"{names[0]} and {name} arguments to {caller} must have the same number, type, and overall "
                f"structure of return values.\n\n{names[0]} output: {results[0]}\n{name} output: {result}"
                f"\n\nError details:\n{error}"
            ) from None


def functional_cond(pred: Tensor, branches: list[Callable[[], Any]]) -> Any:
    """What one of two functions returns, by an `If`. The first is for a true predicate."""
    pred = _scalar(pred)

    def node(taken: list[Tensor], bodies: list[FunctionBody], **attrs: Any) -> Operation:
        op = calls.if_op if any(body.targets for body in bodies) else calls.stateless_if_op
        then_branch, else_branch = define(bodies[0], "true"), define(bodies[1], "false")
        return op.node(pred, taken, then_branch=then_branch, else_branch=else_branch, **attrs)

    names = ["true_fn", "false_fn"]
    return _choice(pred, branches, node, names, names, "tf.cond")


def _scalar(pred: Tensor) -> Tensor:
    """A predicate of one element, without the axes that it may have."""
    return pred if pred.shape.ndims == 0 else array_shapes.squeeze(pred)


def functional_switch(index: Tensor, branches: list[Callable[[], Any]]) -> Any:
    """What the function of a number returns, by a `Case`. The last is for every other number too."""

    def node(taken: list[Tensor], bodies: list[FunctionBody], **attrs: Any) -> Operation:
        named = [define(body, f"branch{i}") for i, body in enumerate(bodies)]
        return calls.case_op.node(index, taken, branches=named, **attrs)

    names = [f"branches[{i}]" for i in range(len(branches))]
    labels = [f"branch {i}" for i in range(len(branches))]
    with name_scope("indexed_case"):
        return _choice(index, branches, node, names, labels, "tf.switch_case")


def _choice(
    chosen: Tensor,
    branches: list[Callable[[], Any]],
    make: Callable[..., Operation],
    names: list[str],
    labels: list[str],
    caller: str,
) -> Any:
    """What one of the functions returns, by the operation that `make` makes of their bodies.

    The operation bears the name of the scope that it is made in.
    """
    graph = get_default_graph()
    parts: list[PartGraph] = []
    results, flats = [], []
    for label, function in zip(labels, branches, strict=True):
        part = PartGraph(graph, label, parts)
        with part.as_default():
            result = function()
            flat = [None if leaf is None else _as_result(leaf, chosen) for leaf in nest.flatten(result)]
        parts.append(part)
        results.append(result)
        flats.append(flat)
    leaves = [[leaf for leaf in flat if leaf is not None] for flat in flats]
    _check_alike(results, leaves, names, caller)
    taken = list(dict.fromkeys(tensor for part in parts for tensor in part.captured))
    outputs = [[tensor for leaf in found for tensor in components(leaf)] for found in leaves]
    bodies = [part.with_inputs(out, taken) for part, out in zip(parts, outputs, strict=True)]
    shapes = [
        functools.reduce(switches.common_shape, [tensor.shape for tensor in alike])
        for alike in zip(*outputs, strict=True)
    ]
    types = [tensor.dtype for tensor in outputs[0]]
    with control_dependencies([op for part in parts for op in part.outside_controls]):
        node = make(taken, bodies, Tout=types, output_shapes=shapes, name=f"{graph.get_name_scope()}/")
    node._set_attr("_lower_using_switch_merge", True)
    given = iter([constants.identity(tensor) for tensor in node.outputs])
    merged = [
        None if leaf is None else from_components(leaf, [next(given) for _ in components(leaf)])
        for leaf in flats[0]
    ]
    return nest.pack_sequence_as(results[0], merged) if nest.is_nested(results[0]) else merged[0]


def functional_loop(
    initial: list[Tensor],
    shapes: list[TensorShape],
    test: Callable[[list[Tensor]], Any],
    iterate: Callable[[list[Tensor]], list[Tensor]],
    parallel_iterations: int,
) -> list[Tensor]:
    """The last values of variables, by a `While`. `test` and `iterate` get their values in an iteration."""
    graph = get_default_graph()
    count = len(initial)

    def part() -> PartGraph:
        made = PartGraph(graph)
        for i, (tensor, shape) in enumerate(zip(initial, shapes, strict=True)):
            made.add_input(tensor.dtype.base_dtype, shape, f"variable_{i}")._variable = getattr(
                tensor, "_variable", None
            )
        return made

    condition, body = part(), part()
    with condition.as_default():
        pred = convert_to_tensor(test(list(condition.inputs[:count])))
        if pred.dtype is not dtypes.bool:
            raise TypeError(f"Input 'cond' of 'while' Op must be a scalar bool, not {pred}.")
        pred = _scalar(condition.capture(pred))
    with body.as_default():
        following = [body.capture(tensor) for tensor in iterate(list(body.inputs[:count]))]
        for before, after, entering in zip(body.inputs[:count], following, initial, strict=True):
            if after.dtype.base_dtype is not before.dtype.base_dtype:
                raise TypeError(
                    f"Loop var {entering.name} enters the loop with type {entering.dtype} but has type "
                    f"{after.dtype} after 1 iteration."
                )
            switches.check_invariant(before, after, entering)
    taken = list(dict.fromkeys((*condition.captured, *body.captured)))
    test_body = condition.with_inputs([pred], taken, count)
    loop_body = body.with_inputs(following, taken, count)
    loop_body.outputs += body.inputs[count:]
    op = calls.while_op if test_body.targets or loop_body.targets else calls.stateless_while_op
    with control_dependencies([*condition.outside_controls, *body.outside_controls]):
        node = op.node(
            [*initial, *taken],
            T=[tensor.dtype.base_dtype for tensor in (*initial, *taken)],
            cond=define(test_body, "cond"),
            body=define(loop_body, "body"),
            output_shapes=[*shapes, *[tensor.shape for tensor in taken]],
            parallel_iterations=parallel_iterations,
            name=f"{graph.get_name_scope()}/",
        )
    node._set_attr("_lower_using_switch_merge", True)
    return [constants.identity(tensor) for tensor in node.outputs[:count]]
