"""The primitives of dynamic control flow: values that go one of two ways, and values that go round.

A value passes a Switch to one side only; what depends on the other side does not run. Merge takes whichever
input is there. Enter brings a value into a frame, NextIteration into its next round, Exit out of it. The
step compiler reads this structure from the graph and writes `if` and `while` statements.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.composite import IndexedSlices, components, from_components, is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import colocate_with, control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.control_flow import contexts
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.math import binary, casting
from tideflow.ops.state import resource_variables

_TESTS = "tests/ops/control_flow/test_switches.py"


def common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """What holds of both shapes."""
    if a.tuple is None or b.tuple is None or len(a.tuple) != len(b.tuple):
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.tuple, b.tuple, strict=True)])


def shape_within(shape: TensorShape, invariant: TensorShape) -> bool:
    """Whether every shape that `shape` may be is one that `invariant` allows."""
    if invariant.tuple is None:
        return True
    if shape.tuple is None or len(shape.tuple) != len(invariant.tuple):
        return False
    return all(b is None or a == b for a, b in zip(shape.tuple, invariant.tuple, strict=True))


def check_invariant(merged: Tensor, following: Tensor, entering: Tensor | None = None) -> None:
    """A loop variable keeps its shape, as far as it is known, from one iteration to the next."""
    if not shape_within(following.shape, merged.shape):
        entering = merged.op.inputs[0].op.inputs[0] if entering is None else entering
        raise ValueError(
            f"Input tensor '{entering.name}' enters the loop with shape {merged.shape}, but has shape "
            f"{following.shape} after one iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )


def add_back_edge(merged: Any, value: Any, check_shape: bool = True) -> Any:
    """`value` is what `merged` is in the next iteration."""
    if is_composite(merged):
        pairs = zip(components(merged), components(value), strict=True)
        return from_components(merged, [add_back_edge(m, v, check_shape) for m, v in pairs])
    following = next_iteration(convert_to_tensor(value))
    if check_shape:
        check_invariant(merged, following)
    if merged.dtype.base_dtype is not following.dtype.base_dtype:
        raise ValueError(
            f"Input 1 of node {merged.op.name} was passed {following.dtype.base_dtype.name} from "
            f"{following.name} incompatible with expected {merged.dtype.base_dtype.name}."
        )
    merged.op._update_input(1, following)
    return following


def value_of(tensor: Tensor) -> Tensor:
    """The tensor, or the value of the variable whose handle it is."""
    return resource_variables.read_handle(tensor) if tensor.dtype.base_dtype is dtypes.resource else tensor


def zeros_like_output(op: Operation, index: int) -> Tensor:
    """Zeros in place of a gradient nobody sent; beside a Switch, only on the side that was taken."""
    tensor = op.outputs[index]
    context = op._control_flow_context
    if op.type not in ("Switch", "RefSwitch") or not isinstance(context, contexts.CondContext):
        return creation.zeros_like(value_of(tensor), optimize=False)
    other_side = switch(op.inputs[0], context.pred, beside=False)[1 - context.branch]
    pivot = constants.identity(other_side)
    if tensor.dtype.base_dtype is dtypes.resource:
        with control_dependencies([pivot]):
            return creation.zeros_like(value_of(other_side), optimize=False)
    size = shapes.shape_of(other_side, optimize=False)
    with control_dependencies([pivot]):
        return creation.zeros(size, dtype=tensor.dtype.base_dtype)


def map_parts(value: Any, function: Callable[[Tensor], Any]) -> Any:
    """What a function makes of a tensor, or of each tensor of a composite value."""
    return from_components(value, [function(part) for part in components(value)])


# ------------------------------------------------------------------------------------------------ one of two


def _not_scalar(shape: Any) -> str:
    return f"The second input must be a scalar, but it has shape {brackets(shape)}"


def scalar_predicate(pred: torch.Tensor) -> torch.Tensor:
    """The predicate, of which the graph does not know that it is a scalar."""
    if pred.ndim:
        raise errors.invalid_argument(_not_scalar(pred.shape))
    return pred


def _switch_shape(data, pred):
    of_rank(pred, 0, "" if pred.tuple is None else _not_scalar(pred.tuple))
    return [data, data]


def _switch_kernel(data, pred):
    return data, data  # what runs on which side is decided by the plan's `if`


def _switch_gradient(op, grad_false, grad_true):
    context = op._control_flow_context
    if isinstance(context, contexts.LoopContext):
        return _loop_switch_gradient(op, grad_false, grad_true), None
    if not isinstance(context, contexts.CondContext):
        if grad_false is None or grad_true is None:
            return None, None
        pred = op.inputs[1]
        sides = switch(grad_false, pred, beside=False)[0], switch(grad_true, pred, beside=False)[1]
        return merge(list(sides))[0], None
    grads = [grad_false, grad_true]
    if grads[0] is None or grads[1] is None:
        return None, None
    return merge(grads, name="cond_grad")[0], None


def _loop_switch_gradient(op: Operation, grad_exit: Any, grad_body: Any) -> Any:
    """The backward walk comes here twice: from the Exit, where the backward loop's variable begins, and from
    the body, where that variable's next value is known.
    """
    state = contexts.current_context().grad_state
    merged = state.variables.get(op)
    if merged is not None:
        if grad_body is not None:
            add_back_edge(merged, grad_body, check_shape=False)
        return None
    if grad_exit is None:
        return None
    merged = state.variables[op] = merge([grad_exit, grad_exit], name="b_switch")[0]
    return merged


def _passed_value(op: Any) -> Any:
    """What a branch or a loop takes in from outside is known in the graph as it is there. A plan does not
    ask: what is computed under a condition, or in a loop, stays there.
    """
    if not isinstance(op, Operation) or op.attrs.get("is_constant") is False:
        return None
    return [partial_value(op.inputs[0])] * 2 if len(op.outputs) == 2 else partial_value(op.inputs[0])


switch_op = Op("Switch", "data: T, pred: bool -> output_false: T, output_true: T", has_numeric_gradient=False)
switch_op.shape(_switch_shape)
switch_op.value(_passed_value)
switch_op.kernel(_switch_kernel)
switch_op.gradient(_switch_gradient)
switch_op.samples(covered_by=_TESTS)

ref_switch_op = Op("RefSwitch", "data: Ref(T), pred: bool -> output_false: Ref(T), output_true: Ref(T)")
ref_switch_op.shape(_switch_shape)
ref_switch_op.kernel(_switch_kernel)
ref_switch_op.gradient(_switch_gradient)
ref_switch_op.samples(covered_by=_TESTS)


def switch(data: Any, pred: Any, name: str | None = None, beside: bool = True) -> tuple[Any, Any]:
    """`data` on the side that `pred` chooses: (there when false, there when true); placed with the data
    unless `beside` is false.
    """
    if is_composite(data):
        with name_scope(name, "Switch", [*components(data), pred]):
            on_false, on_true = zip(*(switch(part, pred, beside=beside) for part in components(data)))
        return from_components(data, on_false), from_components(data, on_true)
    data = convert_to_tensor(data, name="data")
    if data.is_eager:
        nothing = constants.constant([], dtypes.float32)  # as TensorFlow gives for a side that is not taken
        return (nothing, data) if convert_to_tensor(pred, dtypes.bool) else (data, nothing)
    op = ref_switch_op if data.dtype._is_ref_dtype else switch_op
    with colocate_with(data, ignore_existing=True) if beside else contextlib.nullcontext():
        return tuple(op(data, pred, name=name or "Switch"))


def _merge_shape(inputs):
    first = inputs[0]
    for other in inputs[1:]:
        first = common_shape(first, other)
    return [first, []]


def _merge_kernel(inputs):
    """Eager mode alone calls it, where every input is there: plans have the Merge written out."""
    if len(inputs) > 1:
        raise errors.InternalError(None, None, "Merge can not have more than one valid input.")
    return inputs[0], torch.zeros((), dtype=torch.int32)


def _merge_gradient(op, grad, _):
    context = contexts.output_context(op.inputs[0].op)
    current = contexts.current_context()
    if isinstance(context, contexts.LoopContext):
        return list(switch(grad, current.pivot))
    if not isinstance(context, contexts.CondContext):
        taken = [binary.equal(op.outputs[1], i) for i in range(len(op.inputs))]
        return [switch(grad, pred, beside=False)[1] for pred in taken]
    pred = context.pred
    if current is not None and current.grad_state is not None:
        pred = current.grad_state.remembered_predicate(pred)
    return list(switch(grad, pred, name="cond_grad"))


merge_op = Op("Merge", "inputs: N * T -> output: T, value_index: int32")
merge_op.shape(_merge_shape)
merge_op.kernel(_merge_kernel)
merge_op.gradient(_merge_gradient)
merge_op.samples(covered_by=_TESTS)

ref_merge_op = Op("RefMerge", "inputs: N * Ref(T) -> output: Ref(T), value_index: int32")
ref_merge_op.shape(_merge_shape)
ref_merge_op.kernel(_merge_kernel)
ref_merge_op.gradient(_merge_gradient)
ref_merge_op.samples(covered_by=_TESTS)


def merge(inputs: list[Any], name: str | None = None) -> Any:
    """Whichever of `inputs` is there, and its position. Tensors beside sparse rows become sparse rows."""
    if any(x is None for x in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    if any(map(is_composite, inputs)):
        with name_scope(name, "Merge", inputs):
            values = _of_one_structure(inputs)
            parts = zip(*map(components, values), strict=True)
            merged = [merge_op(list(members)) for members in parts]
        return from_components(values[0], [value for value, _ in merged]), merged[0][1]
    inputs = [convert_to_tensor(x) for x in inputs]
    refs = all(t.dtype._is_ref_dtype for t in inputs)
    return (ref_merge_op if refs else merge_op)(inputs, name=name)


def _of_one_structure(values: list[Any]) -> list[Any]:
    """Composite values that are made of the same parts; tensors beside sparse rows become such."""
    if all(isinstance(x, (IndexedSlices, Tensor)) for x in values):
        values = with_one_index_type([_as_rows(x) for x in values])
    for value in values:
        if not is_composite(value):
            raise TypeError(f"Type {type(value)} not supported")
        check_same_parts(values[0], value)
    return values


def check_same_parts(first: Any, second: Any) -> None:
    """Two tensors, or two composite values of one type that are made of as many tensors."""
    composites = is_composite(first) + is_composite(second)
    other_type = composites == 2 and type(first) is not type(second)
    if composites != 1 and not other_type and len(components(first)) == len(components(second)):
        return
    raise (TypeError if other_type else ValueError)(
        f"The two structures don't have the same nested structure. First structure: {first}. Second "
        f"structure: {second}."
    )


def _as_rows(x: Any) -> IndexedSlices:
    if isinstance(x, IndexedSlices):
        return x
    size = shapes.shape_of(x, optimize=False)
    return IndexedSlices(x, creation.range(0, size[0]), size)


def with_one_index_type(rows: list[IndexedSlices]) -> list[IndexedSlices]:
    """Rows whose indices have one type: all are int64 where some are."""
    if len({each.indices.dtype for each in rows}) == 1:
        return rows
    return [
        IndexedSlices(each.values, casting.cast(each.indices, dtypes.int64), each.dense_shape)
        if each.indices.dtype == dtypes.int32
        else each
        for each in rows
    ]


# ------------------------------------------------------------------------------------------- round and round


def _passed(data):
    """Shape or value: what goes in comes out, in another frame or iteration."""
    return data


def _enter_gradient(op, grad):
    context = contexts.current_context()
    # Without a backward loop, `tf.gradients` was called in the loop's own body: this is the gradient of one
    # iteration, and it stays in that iteration.
    if not context.back_prop or context.grad_state is None:
        return grad
    if op.attrs["is_constant"]:
        return context.grad_state.accumulated(op, grad)
    left = map_parts(grad, exit)
    context.give(components(left))
    return left


# round
enter_op = Op(
    "Enter", "data: T -> output: T", frame_name=attr("string"), is_constant=False, parallel_iterations=10
)

enter_op.shape(lambda data, *, is_constant: data if is_constant else None)
enter_op.value(_passed_value)
enter_op.kernel(_passed)
enter_op.gradient(_enter_gradient)
enter_op.samples(covered_by=_TESTS)

ref_enter_op = Op(
    "RefEnter",
    "data: Ref(T) -> output: Ref(T)",
    frame_name=attr("string"),
    is_constant=False,
    parallel_iterations=10,
)
ref_enter_op.shape(_passed)
ref_enter_op.kernel(_passed)
ref_enter_op.gradient(_enter_gradient)
ref_enter_op.samples(covered_by=_TESTS)


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Any:
    """`data`, in a frame: in its first iteration, or in all of them."""
    if is_composite(data):
        return map_parts(data, lambda part: enter(part, frame_name, is_constant, parallel_iterations))
    op = ref_enter_op if data.dtype._is_ref_dtype else enter_op
    entered = op(
        data,
        frame_name=frame_name,
        is_constant=is_constant,
        parallel_iterations=parallel_iterations,
        name=name,
    )
    entered.set_shape(data.shape)
    return entered


def _exit_gradient(op, grad):
    context = contexts.current_context()
    if not context.back_prop:
        return None
    if op._control_flow_context.grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    for part in components(grad):
        context.knows(part)
    entered = map_parts(grad, lambda part: context.enter(part, name="b_exit"))
    context.enters += components(entered)
    return entered


exit_op = Op("Exit", "data: T -> output: T")
exit_op.shape(_passed)
exit_op.kernel(_passed)
exit_op.gradient(_exit_gradient)
exit_op.samples(covered_by=_TESTS)

ref_exit_op = Op("RefExit", "data: Ref(T) -> output: Ref(T)")
ref_exit_op.shape(_passed)
ref_exit_op.kernel(_passed)
ref_exit_op.gradient(_exit_gradient)
ref_exit_op.samples(covered_by=_TESTS)


def exit(data: Any, name: str | None = None) -> Any:
    """`data`, one frame further out."""
    if is_composite(data):
        return map_parts(data, exit)
    data = convert_to_tensor(data)
    return (ref_exit_op if data.dtype._is_ref_dtype else exit_op)(data, name=name)


def _next_iteration_gradient(op, grad):
    return grad


next_iteration_op = Op("NextIteration", "data: T -> output: T")
next_iteration_op.shape(_passed)
next_iteration_op.kernel(_passed)
next_iteration_op.gradient(_next_iteration_gradient)
next_iteration_op.samples(covered_by=_TESTS)

ref_next_iteration_op = Op("RefNextIteration", "data: Ref(T) -> output: Ref(T)")
ref_next_iteration_op.shape(_passed)
ref_next_iteration_op.kernel(_passed)
ref_next_iteration_op.gradient(_next_iteration_gradient)
ref_next_iteration_op.samples(covered_by=_TESTS)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """`data`, one iteration later."""
    if is_composite(data):
        return map_parts(data, next_iteration)
    op = ref_next_iteration_op if data.dtype._is_ref_dtype else next_iteration_op
    return op(data, name=name)


loop_cond_op = Op("LoopCond", "input: bool -> output: bool", differentiable=False)


@loop_cond_op.shape
def _loop_cond_shape(input):
    return of_rank(input, 0)


loop_cond_op.kernel(lambda input: input)
loop_cond_op.samples(covered_by=_TESTS)


def loop_cond(pred: Tensor, name: str | None = None) -> Tensor:
    """Whether a loop goes on."""
    return loop_cond_op(pred, name=name)


control_trigger_op = Op("ControlTrigger", "", differentiable=False)
control_trigger_op.shape(lambda: [])
control_trigger_op.kernel(lambda: None)
control_trigger_op.samples(covered_by=_TESTS)


def control_trigger(name: str | None = None) -> Operation:
    """Nothing, done even where what it waits for did not run."""
    return control_trigger_op(name=name)


contexts.register_primitives(switch=switch, enter=enter)
