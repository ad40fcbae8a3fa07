"""`tf.while_loop`: a loop inside the graph, made of Enter, Merge, LoopCond, Switch, NextIteration and Exit.

Each loop variable is a ring: it enters, is merged with what the last iteration made of it, and goes round
through the body or leaves. Tensors that the functions take from outside enter as constants of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices, SparseTensor, components, from_components, is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import switches
from tideflow.ops.control_flow.contexts import LoopContext, inside, is_constant_enter
from tideflow.ops.control_flow.functional import functional_loop
from tideflow.ops.math import binary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("while_loop")
def while_loop(
    cond: Callable,
    body: Callable,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeats a function of some tensors while a condition on them is true.

    `cond` and `body` are called once, now, to build their part of the graph, which each step runs as often as
    needed.

    Args:
      cond: Takes the loop variables, returns a scalar bool tensor.
      body: Takes the loop variables, returns as many tensors of the same structure and types.
      loop_vars: The variables' first values: a list or tuple of tensors, TensorArrays, or structures of them.
      shape_invariants: What holds of the variables' shapes in every iteration, in the structure of
        `loop_vars`; unless it is given, a variable keeps the shape it begins with.
      parallel_iterations: A positive integer, how many iterations the graph allows to run at the same time.
      back_prop: Whether the loop is to be differentiable.
      swap_memory: Kept for TensorFlow's programs; it has no effect.
      name: A name for the scope of the new operations.
      maximum_iterations: A scalar integer after which many iterations the loop ends in any case.
      return_same_structure: Whether a list or tuple of one variable stays that, instead of becoming a tensor.

    Returns:
      The variables' last values, in the structure of `loop_vars`.

    Raises:
      TypeError: If `cond` or `body` is not callable.
      ValueError: If there are no loop variables, or one changes its type or shape from one iteration to the
        next.
    """
    _check_arguments(cond, body, loop_vars, parallel_iterations)
    if executing_eagerly():
        return _run_loop(cond, body, loop_vars, maximum_iterations, return_same_structure)
    with name_scope(name, "while", nest.flatten(loop_vars)):
        counted = maximum_iterations is not None
        single = isinstance(loop_vars, (list, tuple)) and len(loop_vars) == 1
        if counted:
            limit = _iteration_limit(maximum_iterations)
            counter = constants.constant(0, dtype=limit.dtype, name="iteration_counter")
            cond, body, loop_vars = _counted(cond, body, loop_vars, counter, limit)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants)
        graph = get_default_graph()
        if graph.functional_control_flow:
            loop = _FunctionalLoop(cond, body, loop_vars, shape_invariants)
            result, width = loop.build(parallel_iterations), loop.width
            alone = single if counted else width == 1
            result = result[1] if counted else result
            return result[0] if alone and not return_same_structure else result
        context = LoopContext(
            graph,
            graph.unique_name("while_context"),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=limit if counted else None,
        )
        if context.outer_context is None:
            graph.add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = _Loop(context, cond, body, loop_vars, shape_invariants).build()
        if return_same_structure:
            return result[1] if counted else result
        alone = single if counted else len(context.exits) == 1
        result = result[1] if counted else result
        return result[0] if alone else result


def _run_loop(
    cond: Callable, body: Callable, loop_vars: Any, maximum_iterations: Any, return_same_structure: bool
) -> Any:
    """The loop in eager mode: Python's own."""
    single = len(loop_vars) == 1
    left = None if maximum_iterations is None else int(maximum_iterations)
    while cond(*loop_vars) and left != 0:
        given, loop_vars = loop_vars, body(*loop_vars)
        if single and not isinstance(loop_vars, (list, tuple)):
            loop_vars = (loop_vars,)
        nest.assert_same_structure(list(given), list(loop_vars))
        left = None if left is None else left - 1
    loop_vars = nest.map_structure(_converted, loop_vars)
    return loop_vars[0] if single and not return_same_structure else loop_vars


def _check_arguments(cond: Any, body: Any, loop_vars: Any, parallel_iterations: Any) -> None:
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if loop_vars is None or not nest.flatten(loop_vars):
        raise ValueError("No loop variables provided")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")


def _iteration_limit(maximum_iterations: Any) -> Tensor:
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    return limit


def _counted(
    cond: Callable, body: Callable, loop_vars: Any, counter: Tensor, limit: Tensor
) -> tuple[Callable, Callable, tuple]:
    """The loop with a counter beside its variables, which ends it at the limit."""

    def both(i: Tensor, variables: Any) -> Tensor:
        return binary.logical_and(i < limit, cond(*_as_arguments(variables)))

    def step(i: Tensor, variables: Any) -> tuple:
        following = i + 1
        result = body(*_as_arguments(variables))
        if type(variables) in (list, tuple):
            result = type(variables)(_as_arguments(result))
        return following, result

    return both, step, (counter, loop_vars)


def _as_arguments(variables: Any) -> Sequence[Any]:
    return variables if isinstance(variables, (list, tuple)) else [variables]


class _Loop:
    """One `while_loop` being built."""

    def __init__(self, context: Any, cond: Callable, body: Callable, loop_vars: Any, invariants: Any):
        self.context = context
        self.cond = cond
        self.body = body
        self.structure = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
        self.values = [_converted(value) for value in nest.flatten(self.structure)]
        self.invariants = None if invariants is None else _flat_invariants(self.structure, invariants)

    def build(self) -> Any:
        with inside(self.context.graph, self.context):
            merged = self._enter()
            going_on, leaving = self._test(merged)
            result = self._iterate(merged, going_on)
            exits = [switches.exit(tensor) for tensor in leaving]
        self.context.give(exits)
        flat = nest.flatten(result)
        return nest.pack_sequence_as(result, self._packed(flat, exits))

    def _enter(self) -> list[Tensor]:
        """The variables' values at the beginning of an iteration."""
        context, graph = self.context, self.context.graph
        tensors = [part for value in self.values for part in components(value)]
        outside = [context._outside(tensor) for tensor in tensors]
        with control_dependencies(None):
            enters = [context.enter(tensor) for tensor in outside]
        for tensor in enters:
            graph.prevent_feeding(tensor)
            self._wait_where_the_loop_is(tensor)
        for tensor, inner, shape in zip(outside, enters, self._part_invariants(), strict=True):
            if shape is not None:
                _set_invariant(tensor, inner, shape)
        context.take_in(enters)
        context.enters += enters
        merged = [switches.merge([tensor, tensor])[0] for tensor in enters]
        context.pivot_for_pred = merged[0]
        return merged

    def _wait_where_the_loop_is(self, tensor: Tensor) -> None:
        """A value that is there in every iteration of an outer loop would start this one unasked."""
        outer = self.context.outer_context
        if outer is not None and is_constant_enter(tensor.op.inputs[0].op):
            tensor.op.control_inputs.append(outer.control_pivot.op)

    def _part_invariants(self) -> list[TensorShape | None]:
        if self.invariants is None:
            return [shape for value in self.values for shape in _own_invariants(value)]
        pairs = zip(self.values, self.invariants, strict=True)
        return [shape for value, given in pairs for shape in _component_invariants(value, as_shape(given))]

    def _test(self, merged: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """The variables on the way into the body, and on the way out."""
        pred = convert_to_tensor(self.cond(*self._arguments(merged)))
        self.context.pivot = switches.loop_cond(pred)
        sides = [switches.switch(tensor, self.context.pivot) for tensor in merged]
        return [constants.identity(on_true) for _, on_true in sides], [on_false for on_false, _ in sides]

    def _iterate(self, merged: list[Tensor], going_on: list[Tensor]) -> Any:
        self.context.pivot_for_body = going_on[0]
        arguments = self._arguments(going_on)
        result = self.body(*arguments)
        if not nest.is_nested(result):
            result = [result]
        # The outermost kind does not count: variables come as a list, and bodies tend to return tuples.
        nest.assert_same_structure(list(arguments), list(result))
        converted = [_converted(value) for value in nest.flatten(result)]
        following = [part for value in converted for part in components(value)]
        if len(following) != len(merged):
            raise ValueError("Number of inputs and outputs of body must match loop_vars")
        for tensor, value in zip(merged, following, strict=True):
            switches.add_back_edge(tensor, value)
        return result

    def _arguments(self, tensors: list[Tensor]) -> Any:
        return nest.pack_sequence_as(self.structure, self._packed(self.values, tensors))

    def _packed(self, likes: list[Any], tensors: list[Tensor]) -> list[Any]:
        """The tensors, those of composite values put together."""
        remaining = iter(tensors)
        return [
            from_components(like, [next(remaining) for _ in components(like)])
            if is_composite(like)
            else next(remaining)
            for like in likes
        ]


class _FunctionalLoop(_Loop):
    """One `while_loop` of a traced function."""

    def __init__(self, cond: Callable, body: Callable, loop_vars: Any, invariants: Any):
        super().__init__(None, cond, body, loop_vars, invariants)
        self.width = len([part for value in self.values for part in components(value)])

    def build(self, parallel_iterations: int) -> Any:
        tensors = [part for value in self.values for part in components(value)]
        shapes = [tensor.shape for tensor in tensors]
        if self.invariants is not None:
            for tensor, shape in zip(tensors, self._part_invariants(), strict=True):
                _check_invariant(tensor, shape)
            shapes = self._part_invariants()
        returned: list[Any] = []

        def iterate(variables: list[Tensor]) -> list[Tensor]:
            arguments = self._arguments(variables)
            result = self.body(*arguments)
            result = result if nest.is_nested(result) else [result]
            nest.assert_same_structure(list(arguments), list(result))
            returned.append(result)
            converted = [_converted(value) for value in nest.flatten(result)]
            return [part for value in converted for part in components(value)]

        exits = functional_loop(
            tensors, shapes, lambda x: self.cond(*self._arguments(x)), iterate, parallel_iterations
        )
        flat = nest.flatten(returned[0])
        return nest.pack_sequence_as(self.structure, self._packed(flat, exits))


def _converted(value: Any) -> Any:
    return value if is_composite(value) else convert_to_tensor(value)


def _flat_invariants(structure: Any, invariants: Any) -> list[Any]:
    invariants = invariants if isinstance(invariants, (list, tuple)) else [invariants]
    nest.assert_same_structure(list(structure), list(invariants), expand_composites=False)
    return nest.flatten_up_to(list(structure), list(invariants))


def _own_invariants(value: Any) -> list[TensorShape | None]:
    """The shapes of a value's parts that its kind keeps in a loop; None for one that keeps its own.

    The number of entries of a sparse or ragged tensor may change.
    """
    if isinstance(value, SparseTensor):
        return _component_invariants(value, value.dense_shape.shape)
    if hasattr(value, "_component_invariants"):
        return value._component_invariants(None)
    return [None] * len(components(value))


def _component_invariants(value: Any, shape: TensorShape) -> list[TensorShape | None]:
    """The shapes that the parts of a value may have, given what its whole may have.

    For a sparse tensor that is the shape of its `dense_shape`, for slices the shape of their values.
    """
    if isinstance(value, SparseTensor):
        if shape.ndims not in (None, 1):
            raise ValueError("Expected a shape with 1 dimension")
        rank = shape.with_rank(1).tuple[0]
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]
    if isinstance(value, IndexedSlices):
        parts = [shape, shape[:1], TensorShape([shape.ndims])]
        return parts[: len(components(value))]
    return value._component_invariants(shape) if is_composite(value) else [shape]


def _set_invariant(outside: Tensor, inner: Tensor, shape: TensorShape) -> None:
    _check_invariant(outside, shape)
    inner._shape = shape


def _check_invariant(outside: Tensor, shape: TensorShape) -> None:
    if not switches.shape_within(outside.shape, shape):
        raise ValueError(
            f"The shape invariant specified for {outside.name} is not compatible with the initial shape of "
            f"the loop variable. It enters the loop with shape {outside.shape}, but the specified shape "
            f"invariant is {shape}."
        )
