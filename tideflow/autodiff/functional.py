"""Gradients of functional conditionals and loops: `If`, `Case` and `While`.

The gradient of a conditional is a conditional of its branches' gradients; that of a loop, a loop backward.
The operation gets further outputs: what the gradients need of the branch that ran, or lists of what they need
of each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.autodiff.functions import (
    Derivative,
    call,
    carries_gradient,
    define,
    derivative,
    source_of_gradients,
    with_outputs,
)
from tideflow.graph import dtypes, functions
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, FunctionGraph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.ops.arrays import constants, creation
from tideflow.ops.control_flow import switches, tensor_lists
from tideflow.ops.control_flow.calls import fake_param_op, named, register_gradients
from tideflow.ops.helpers.tensor_lists import ListShape
from tideflow.ops.helpers.variables import variable_shape_of


def _dense(grad: Any, like: Tensor) -> Tensor:
    """A gradient as a tensor; zeros where there is none."""
    if grad is not None:
        return convert_to_tensor(grad)
    if like.dtype is dtypes.resource:
        known = variable_shape_of(like.shape)
        if known.is_fully_defined():
            sizes: Any = known.as_list()
            return creation.zeros(sizes, like.shape.dtype)  # type: ignore[attr-defined]
    return creation.zeros_like(switches.value_of(like))


def _given(op: Operation, grads: Sequence[Any]) -> list[int]:
    """The outputs whose gradients are taken: all that can have one."""
    return [
        i
        for i, tensor in enumerate(op.outputs)
        if grads[i] is not None
        or carries_gradient(tensor)
        and (tensor.dtype is not dtypes.variant or isinstance(tensor.shape, ListShape))
    ]


def _add_outputs(op: Operation, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Gives an operation further outputs, like these tensors of functions."""
    first = len(op.outputs)
    for tensor in tensors:
        op.outputs.append(Tensor(op, len(op.outputs), tensor.dtype.base_dtype))
        if tensor.dtype is dtypes.variant:
            op.outputs[-1]._shape = tensor.shape
    return list(op.outputs[first:])


def _add_inputs(op: Operation, tensors: Sequence[Tensor]) -> None:
    for tensor in tensors:
        op.inputs = (*op.inputs, tensor)
        tensor._consumers.append(op)


def _share_captures(op: Operation, bodies: Sequence[FunctionBody], first: int) -> None:
    """Where a gradient captured something from outside through one of the functions that an operation calls,
    all of them take it, and the operation is given it. `first` inputs of it are no arguments.
    """
    count = len(op.inputs) - first
    new = {
        outer: None
        for body in bodies
        if len(body.inputs) > count
        for outer, inner in body.graph.captured.items()  # type: ignore[attr-defined]
        if inner in body.inputs[count:]
    }
    for body in bodies:
        if new:
            graph: Any = body.graph
            body.inputs[count:] = [graph.capture(outer) for outer in new]
    _add_inputs(op, list(new))


# ------------------------------------------------------------------------------------------------ choices


def _choice_gradient(op: Operation, keys: Any, grads: Sequence[Any]) -> list[Any]:
    many = isinstance(keys, str)
    names = [named(f)[0] for f in (op.attrs[keys] if many else [op.attrs[key] for key in keys])]
    bodies = [functions.body_called(op.graph, name, op.inputs[1:]) for name in names]
    given = _given(op, grads)
    derived = [
        derivative(body, [body.outputs[i] for i in given], name, source_of_gradients())
        for body, name in zip(bodies, names, strict=True)
    ]
    _share_captures(op, bodies, 1)
    more = [_beyond(body, one) for body, one in zip(bodies, derived, strict=True)]
    results_taken = [
        i
        for i in range(len(op.outputs))
        if any(body.outputs[i] in one.intermediates for body, one in zip(bodies, derived, strict=True))
    ]
    forward = _with_fakes(bodies, more)
    for body, one in zip(forward, derived, strict=True):
        define(op.graph, one.names[0], body)
    added = iter(_add_outputs(op, [tensor for found in more for tensor in found]))
    kept = [[next(added) for _ in found] for found in more]
    op.attrs["Tout"] = [tensor.dtype for tensor in op.outputs]
    op.attrs["Tin"] = [tensor.dtype for tensor in op.inputs[1:]]
    op.attrs["output_shapes"] = [tensor.shape for tensor in op.outputs] if op.attrs["output_shapes"] else []
    _name_functions(op, keys, [one.names[0] for one in derived])
    weights = [_dense(grads[i], op.outputs[i]) for i in given]
    inputs = [
        *weights,
        *op.inputs[1:],
        *[op.outputs[i] for i in results_taken],
        *[tensor for found in kept for tensor in found],
    ]
    wanted = [j for j in range(len(bodies[0].inputs)) if any(one.grads[j] is not None for one in derived)]
    backward = []
    for branch, (body, one) in enumerate(zip(bodies, derived, strict=True)):
        tensors: list[Any] = [*body.inputs, *[body.outputs[i] for i in results_taken]]
        for other, found in enumerate(more):
            tensors += found if other == branch else [None] * len(found)
        backward.append(_backward_branch(inputs, len(weights), tensors, body, one, wanted))
    types = [tensor.dtype for tensor in backward[0].outputs]
    graph = get_default_graph()
    for one, made in zip(derived, backward, strict=True):
        define(graph, f"{one.names[1]}_branch", made)
    attrs: dict[str, Any] = {"Tout": types}
    chosen = [NameAttrList(name=f"{one.names[1]}_branch") for one in derived]
    attrs |= {keys: chosen} if many else dict(zip(keys, chosen, strict=True))
    node = op.definition.node(op.inputs[0], inputs, **attrs)
    results: list[Any] = [None] * len(op.inputs)
    for j, tensor in zip(wanted, node.outputs, strict=True):
        if op.inputs[j + 1].dtype is not dtypes.resource:
            tensor.set_shape(op.inputs[j + 1].shape)
        results[j + 1] = tensor
    return results


def _beyond(body: FunctionBody, derived: Derivative) -> list[Tensor]:
    """The intermediates that are no inputs or outputs yet."""
    known = {*body.inputs, *body.outputs}
    return [tensor for tensor in derived.intermediates if tensor not in known]


def _with_fakes(bodies: Sequence[FunctionBody], more: Sequence[Sequence[Tensor]]) -> list[FunctionBody]:
    """The branches with the intermediates of all as outputs: those of the others are there in name only."""
    made = []
    for body, own in zip(bodies, more, strict=True):
        outputs = list(body.outputs)
        with body.graph.as_default():
            for found in more:
                outputs += found if found is own else [_fake(tensor) for tensor in found]
        made.append(with_outputs(body, outputs))
    return made


def _fake(tensor: Tensor) -> Tensor:
    if tensor.dtype is dtypes.variant:
        made: Tensor = tensor_lists.empty_list_op(np.zeros(0, np.int32), -1, element_dtype=dtypes.float32)
        return made
    found: Tensor = fake_param_op(dtype=tensor.dtype, shape=tensor.shape)
    return found


def _name_functions(op: Operation, keys: Any, names: Sequence[str]) -> None:
    chosen = [NameAttrList(name=name) for name in names]
    if isinstance(keys, str):
        op.attrs[keys] = chosen
    else:
        op.attrs.update(zip(keys, chosen, strict=True))
    op.graph._mutated()


def _backward_branch(
    inputs: Sequence[Tensor],
    count: int,
    tensors: Sequence[Tensor | None],
    body: FunctionBody,
    derived: Derivative,
    wanted: Sequence[int],
) -> FunctionBody:
    """The gradient of a branch, as a function of what all branches' gradients take: `count` gradients, then
    what these tensors of the branch have become.
    """
    graph = FunctionGraph(get_default_graph())
    with graph.as_default():
        given = [graph.add_input(t.dtype, t.shape, f"input_{i}") for i, t in enumerate(inputs)]
        values: dict[Any, Tensor] = {}
        for tensor, value in zip(tensors, given[count:], strict=True):
            values.setdefault(tensor, value)
        taken = [*given[:count], *[values[tensor] for tensor in derived.intermediates]]
        found = derived.packed(call(derived.names[1], derived.body, taken))
        results = [_dense(found[j], values[body.inputs[j]]) for j in wanted]
    return FunctionBody(graph, graph.inputs, results, functions.effects_of(graph))


# ------------------------------------------------------------------------------------------------ loops


def _loop_gradient(op: Operation, grads: Sequence[Any]) -> list[Any]:
    name, test_name = named(op.attrs["body"])[0], named(op.attrs["cond"])[0]
    body, test = (functions.body_called(op.graph, one, op.inputs) for one in (name, test_name))
    given = _given(op, grads)
    derived = derivative(body, [body.outputs[i] for i in given], name, source_of_gradients())
    _share_captures(op, [body, test], 0)
    more_variables = len(body.inputs) - len(body.outputs)
    if more_variables:
        body.outputs += body.inputs[len(body.outputs) :]
        _add_outputs(op, body.inputs[-more_variables:])
    variables = len(body.inputs)
    invariant = {x for x, y in zip(body.inputs, body.outputs, strict=True) if _passes(x, y)}
    kept = [tensor for tensor in derived.intermediates if tensor not in invariant]
    lists, count = _keep(op, body, test, derived, kept)
    # Backward: a counter, the gradients of the variables, sums for what only iterations read, and the lists.
    summed = [j for j in range(variables) if derived.grads[j] is not None and j not in given]
    weights = [_dense(grads[i], op.outputs[i]) for i in given]
    sums = [_dense(None, op.inputs[j]) for j in summed]
    outside = [op.inputs[body.inputs.index(x)] for x in derived.intermediates if x in invariant]
    initial = [count, *weights, *sums, *lists, *outside]
    node = _backward_loop(op, body, derived, initial, given, summed, kept, invariant)
    results: list[Any] = [None] * len(op.inputs)
    for j, tensor in zip((*given, *summed), node.outputs[1:], strict=False):
        results[j] = tensor
    return results


def _passes(x: Tensor, y: Tensor) -> bool:
    """Whether an iteration leaves a variable as it is."""
    while y is not x and y.op.definition is constants.identity_op:
        y = y.op.inputs[0]
    return y is x


def _keep(
    op: Operation, body: FunctionBody, test: FunctionBody, derived: Derivative, kept: Sequence[Tensor]
) -> tuple[list[Tensor], Tensor]:
    """Has a loop count its iterations and keep intermediates of each in lists, unless it does: both are
    outputs then.
    """
    inputs, outputs, test_inputs = list(body.inputs), list(body.outputs), list(test.inputs)
    initial: list[Tensor] = []
    place = body.derivatives.get("kept", {})  # the positions of the counter (None) and of lists, by tensor

    def add(key: Tensor | None, dtype: dtypes.DType, start: Any, following: Any) -> None:
        if key in place:
            return
        with op.graph.as_default(), op.graph.control_dependencies(None):
            initial.append(start())
        place[key] = len(inputs)
        with body.graph.as_default():
            inputs.append(functions.new_input(body.graph, dtype, initial[-1].shape, "kept"))
            outputs.append(following(inputs[-1]))
        test_inputs.append(functions.new_input(test.graph, dtype, initial[-1].shape, "kept"))

    place = dict(place)
    add(None, dtypes.int32, lambda: constants.constant(0, dtypes.int32), lambda i: i + 1)
    for tensor in kept:
        add(tensor, dtypes.variant, partial(_empty_list, tensor), partial(_pushed, tensor))
    if initial:
        forward = FunctionBody(body.graph, inputs, outputs, body.targets, {"kept": place})
        again = FunctionBody(test.graph, test_inputs, test.outputs, test.targets)
        names = derived.names[0], f"{derived.names[0]}_cond"
        define(op.graph, names[0], forward)
        define(op.graph, names[1], again)
        _add_inputs(op, initial)
        _add_outputs(op, initial)
        op.attrs["T"] = [tensor.dtype.base_dtype for tensor in op.inputs]
        if op.attrs["output_shapes"]:
            known = [*op.attrs["output_shapes"], *[tensor.shape for tensor in initial]]
            op.attrs["output_shapes"] = known
        op.attrs["body"], op.attrs["cond"] = NameAttrList(name=names[0]), NameAttrList(name=names[1])
        op.graph._mutated()
    return [op.outputs[place[tensor]] for tensor in kept], op.outputs[place[None]]


def _backward_loop(
    op: Operation,
    body: FunctionBody,
    derived: Derivative,
    initial: list[Tensor],
    given: Sequence[int],
    summed: Sequence[int],
    kept: Sequence[Tensor],
    invariant: set[Tensor],
) -> Operation:
    graph = get_default_graph()
    shapes_of = [
        initial[0].shape,
        *[body.inputs[i].shape for i in given],
        *[tensor.shape for tensor in initial[1 + len(given) :]],
    ]

    def part() -> FunctionGraph:
        made = FunctionGraph(graph)
        for i, (tensor, shape) in enumerate(zip(initial, shapes_of, strict=True)):
            made.add_input(tensor.dtype.base_dtype, shape, f"variable_{i}")
        return made

    test, step = part(), part()
    with test.as_default():
        goes_on = test.inputs[0] > 0
    with step.as_default():
        left = iter(step.inputs)
        following = [next(left) - 1]
        weights = [next(left) for _ in given]
        sums = [next(left) for _ in summed]
        values: dict[Tensor, Tensor] = {}
        lists = []
        for tensor in kept:
            shorter, values[tensor] = _popped(next(left), tensor)
            lists.append(shorter)
        outside = list(left)
        values |= dict(zip([x for x in derived.intermediates if x in invariant], outside, strict=True))
        taken = [*weights, *[values[tensor] for tensor in derived.intermediates]]
        found = derived.packed(call(derived.names[1], derived.body, taken))
        following += [_dense(found[i], weight) for i, weight in zip(given, weights, strict=True)]
        following += [known + convert_to_tensor(found[j]) for j, known in zip(summed, sums, strict=True)]
        following += [*lists, *outside]
    test_body = FunctionBody(test, test.inputs, [goes_on], [])
    step_body = FunctionBody(step, step.inputs, following, functions.effects_of(step))
    names = f"{derived.names[1]}_cond", f"{derived.names[1]}_body"
    define(graph, names[0], test_body)
    define(graph, names[1], step_body)
    node: Operation = op.definition.node(
        initial,
        T=[tensor.dtype.base_dtype for tensor in initial],
        cond=NameAttrList(name=names[0]),
        body=NameAttrList(name=names[1]),
        output_shapes=shapes_of,
    )
    return node


def _sizes(tensor: Tensor) -> Tensor:
    """What is known of a tensor's shape, as lists take it."""
    known = tensor.shape
    sizes = -1 if known.ndims is None else [-1 if n is None else n for n in known.as_list()]
    return constants.constant(sizes, dtypes.int32)


def _empty_list(like: Tensor) -> Tensor:
    made: Tensor = tensor_lists.empty_list_op(_sizes(like), -1, element_dtype=like.dtype.base_dtype)
    return made


def _pushed(tensor: Tensor, handle: Tensor) -> Tensor:
    made: Tensor = tensor_lists.push_back_op(handle, tensor, element_dtype=tensor.dtype.base_dtype)
    return made


def _popped(handle: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """A list without its last element, and that element."""
    shorter, element = tensor_lists.pop_back_op(handle, _sizes(like), element_dtype=like.dtype.base_dtype)
    element._shape = element.shape.merge_with(like.shape) if like.dtype is not dtypes.variant else like.shape
    return shorter, element


register_gradients(choice_gradient=_choice_gradient, loop_gradient=_loop_gradient)
