"""Conditionals in the graph: Switch and Merge, and the `cond` that is made of them.

A value passes a Switch to one side only; what depends on the other side does not run. Merge takes whichever
input is there. The step compiler reads this structure from the graph and writes `if` statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from tideflow.graph.shapes import TensorShape
from tideflow.ops import constants, creation, flow, resource_state

switch_op = Op("Switch", "data: T, pred: bool -> output_false: T, output_true: T")
ref_switch_op = Op("RefSwitch", "data: Ref(T), pred: bool -> output_false: Ref(T), output_true: Ref(T)")
merge_op = Op("Merge", "inputs: N * T -> output: T, value_index: int32")
ref_merge_op = Op("RefMerge", "inputs: N * Ref(T) -> output: Ref(T), value_index: int32")


@switch_op.shape
@ref_switch_op.shape
def _(data, pred):
    pred.with_rank(0)
    return [data, data]


@switch_op.kernel
@ref_switch_op.kernel
def _(data, pred):
    return data, data  # what runs on which side is decided by the plan's `if`


@switch_op.gradient
@ref_switch_op.gradient
def _(op, grad_false, grad_true):
    if grad_false is None or grad_true is None:
        return None, None
    if op.inputs[0].dtype.base_dtype is dtypes.resource:
        # The gradient of a variable is dense here: a handle has no zeros of its own.
        grad_false, grad_true = convert_to_tensor(grad_false), convert_to_tensor(grad_true)
    return merge([convert_to_tensor(grad_false), convert_to_tensor(grad_true)], name="cond_grad")[0], None


@merge_op.shape
@ref_merge_op.shape
def _(inputs):
    first = inputs[0]
    for other in inputs[1:]:
        first = _common_shape(first, other)
    return [first, []]


def _common_shape(a: Any, b: Any) -> Any:
    """What holds of both shapes."""
    if a.tuple is None or b.tuple is None or len(a.tuple) != len(b.tuple):
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.tuple, b.tuple, strict=True)])


@merge_op.kernel
@ref_merge_op.kernel
def _(inputs):
    raise AssertionError("a Merge is written into the plan, not called")


@merge_op.gradient
@ref_merge_op.gradient
def _(op, grad, _):
    context = op.inputs[0].op._control_flow_context
    if not isinstance(context, CondContext):
        return [grad] * len(op.inputs)  # merged without a cond: each side that is there gets the gradient
    return list(switch(grad, context.pred, name="cond_grad"))


switch_op.samples()
ref_switch_op.samples()
merge_op.samples()
ref_merge_op.samples()


def switch(data: Any, pred: Any, name: str | None = None) -> tuple[Any, Any]:
    """`data` on the side that `pred` chooses: (there when false, there when true)."""
    if isinstance(data, IndexedSlices):
        values, indices = switch(data.values, pred), switch(data.indices, pred)
        full = (None, None) if data.dense_shape is None else switch(data.dense_shape, pred)
        return tuple(IndexedSlices(v, i, s) for v, i, s in zip(values, indices, full, strict=True))
    data = convert_to_tensor(data, name="data")
    op = ref_switch_op if data.dtype._is_ref_dtype else switch_op
    with colocate_with(data, ignore_existing=True):
        return tuple(op(data, pred, name=name or "Switch"))


def merge(inputs: list[Any], name: str | None = None) -> Any:
    """Whichever of `inputs` is there, and its position."""
    refs = all(t.dtype._is_ref_dtype for t in inputs)
    return (ref_merge_op if refs else merge_op)(list(inputs), name=name or "Merge")


def zeros_like_output(op: Operation, index: int) -> Tensor:
    """Zeros in place of a gradient nobody sent; beside a Switch, only on the side that was taken."""
    tensor = op.outputs[index]
    context = op._control_flow_context
    if op.type not in ("Switch", "RefSwitch") or not isinstance(context, CondContext):
        return creation.zeros_like(value_of(tensor), optimize=False)
    other_side = switch(op.inputs[0], context.pred)[1 - context.branch]
    with control_dependencies(
        [constants.identity(other_side) if other_side.dtype.base_dtype is not dtypes.resource else other_side]
    ):
        return creation.zeros_like(value_of(other_side), optimize=False)


def value_of(tensor: Tensor) -> Tensor:
    """The tensor, or the value of the variable whose handle it is."""
    return resource_state.read_handle(tensor) if tensor.dtype.base_dtype is dtypes.resource else tensor


# ------------------------------------------------------------------------------------------------ cond


class CondContext:
    """One branch being built: values from outside come in through a Switch; ops without inputs wait for the
    pivot.
    """

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int):
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        self.outer_context = get_default_graph()._local.context
        self.name = pivot.op.name
        self._inside: set[Tensor] = {pred, pivot}
        self._entered: dict[Tensor, Tensor] = {}

    def enter_value(self, tensor: Tensor) -> Tensor:
        """The tensor as this branch sees it."""
        if tensor in self._inside:
            return self._entered.get(tensor, tensor)
        outside = tensor if self.outer_context is None else self.outer_context.enter_value(tensor)
        graph = tensor.graph
        with control_dependencies(None):
            inner = switch(outside, self.pred)[self.branch]
        for controls in graph._local.controls:
            if tensor.op in controls.seen:  # what waits for a block's dependencies does so in here too
                controls.seen.add(inner.op)
        self._adopt(inner.op)
        graph.prevent_feeding(inner)
        self._inside.add(tensor)
        self._entered[tensor] = inner
        return inner

    def _adopt(self, op: Operation) -> None:
        op._control_flow_context = self
        op.graph.prevent_fetching(op)
        context = self
        while context is not None:
            context._inside.update(op.outputs)
            context = context.outer_context

    def add_op(self, op: Operation) -> None:
        """A new operation of this branch."""
        if not op.inputs and not any(_is_inside(control, self) for control in op.control_inputs):
            op.control_inputs.append(self.pivot.op)
        self._adopt(op)
        for tensor in op.outputs:
            op.graph.prevent_feeding(tensor)

    def result(self, value: Any) -> Any:
        """A branch's result as a tensor that is there only when the branch runs."""
        if isinstance(value, Operation):
            return flow.with_dependencies([value], self.pivot)
        if isinstance(value, IndexedSlices):
            full = None if value.dense_shape is None else self._output(value.dense_shape)
            return IndexedSlices(self._output(value.values), self._output(value.indices), full)
        if isinstance(value, SparseTensor):
            return SparseTensor(
                self._output(value.indices), self._output(value.values), self._output(value.dense_shape)
            )
        return self._output(convert_to_tensor(value))

    def _output(self, tensor: Tensor) -> Tensor:
        return self.enter_value(tensor)


def _is_inside(op: Operation, context: CondContext) -> bool:
    inner = op._control_flow_context
    while inner is not None:
        if inner is context:
            return True
        inner = inner.outer_context
    return False


@export("cond")
def cond(
    pred: Any,
    true_fn: Callable | None = None,
    false_fn: Callable | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable | None = None,
    fn2: Callable | None = None,
) -> Any:
    """The result of `true_fn()` where `pred` is true, else of `false_fn()`; only what the functions make
    runs conditionally.
    """
    true_fn, false_fn = _one_of(true_fn, fn1, "true_fn", "fn1"), _one_of(false_fn, fn2, "false_fn", "fn2")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    graph = get_default_graph()
    with name_scope(name, "cond", [pred]):
        pred = convert_to_tensor(pred, dtype=dtypes.bool)
        side_false, side_true = switch_op(pred, pred, name="Switch")
        pivot_true = constants.identity(side_true, name="switch_t")
        pivot_false = constants.identity(side_false, name="switch_f")
        pred = constants.identity(pred, name="pred_id")
        for tensor in (side_true, side_false, pivot_true, pivot_false, pred):
            graph.prevent_fetching(tensor.op)
        true_context, true_result, true_flat = _branch(
            graph, CondContext(pred, pivot_true, 1), true_fn, "true_fn", strict
        )
        false_context, false_result, false_flat = _branch(
            graph, CondContext(pred, pivot_false, 0), false_fn, "false_fn", strict
        )
        _check_same(true_result, false_result, true_flat, false_flat)
        merged = [_merge_results(f, t) for f, t in zip(false_flat, true_flat, strict=True)]
        if true_context.outer_context is None:
            graph.add_to_collection(GraphKeys.COND_CONTEXT, true_context)
            graph.add_to_collection(GraphKeys.COND_CONTEXT, false_context)
        if not nest.is_nested(true_result):
            return merged[0]
        return nest.pack_sequence_as(true_result, merged)


def _one_of(function: Callable | None, old: Callable | None, name: str, old_name: str) -> Callable:
    if function is not None and old is not None:
        raise TypeError(
            f"cond(): {old_name} is deprecated in favor of {name}, and cannot be used alongside it."
        )
    function = function if function is not None else old
    if function is None:
        raise TypeError(f"cond(): {name} argument required")
    if not callable(function):
        raise TypeError(f"{name} must be callable.")
    return function


def _branch(
    graph: Any, context: CondContext, function: Callable, name: str, strict: bool
) -> tuple[CondContext, Any, list[Any]]:
    local = graph._local
    outer, local.context = local.context, context
    try:
        result = function()
        if result is None:
            raise ValueError(f"{name} must have a return value.")
        if not strict:
            result = _unpack_single(result)
        flat = [context.result(value) for value in nest.flatten(result)]
    finally:
        local.context = outer
    return context, result, flat


def _unpack_single(result: Any) -> Any:
    return (
        result[0]
        if isinstance(result, (list, tuple)) and len(result) == 1 and not hasattr(result, "_fields")
        else result
    )


def _check_same(true_result: Any, false_result: Any, true_flat: list[Any], false_flat: list[Any]) -> None:
    try:
        nest.assert_same_structure(true_result, false_result)
    except (ValueError, TypeError) as error:
        raise type(error)(f"Incompatible return values of true_fn and false_fn: {error}") from None
    for t, f in zip(true_flat, false_flat, strict=True):
        if t.dtype.base_dtype is not f.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type(s). Received "
                f"{t.dtype.name} from true_fn and {f.dtype.name} from false_fn."
            )


def _merge_results(on_false: Any, on_true: Any) -> Any:
    if isinstance(on_true, IndexedSlices):
        full = None
        if on_true.dense_shape is not None and on_false.dense_shape is not None:
            full = merge([on_false.dense_shape, on_true.dense_shape])[0]
        return IndexedSlices(
            merge([on_false.values, on_true.values])[0], merge([on_false.indices, on_true.indices])[0], full
        )
    if isinstance(on_true, SparseTensor):
        parts = ("indices", "values", "dense_shape")
        return SparseTensor(*[merge([getattr(on_false, p), getattr(on_true, p)])[0] for p in parts])
    return merge([on_false, on_true])[0]


@export("contrib.framework.smart_cond")
def smart_cond(pred: Any, true_fn: Callable, false_fn: Callable, name: str | None = None) -> Any:
    """`cond`, or the one function where `pred` is already known."""
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()


@export("contrib.framework.smart_constant_value")
def smart_constant_value(pred: Any) -> bool | None:
    """The value of `pred` where it is a Python value or a constant, else None."""
    if isinstance(pred, Tensor):
        value = pred.op.attrs["value"] if pred.op.type == "Const" else None
        return None if value is None else bool(value)
    if pred in (0, 1, True, False):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")
