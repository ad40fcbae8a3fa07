"""Conditionals in the graph: `cond` and its relatives, made of Switch and Merge.

Only what the functions themselves make runs conditionally. A value made outside is computed whether or not
the branch that uses it is taken. This is the commonest misunderstanding of `cond`, so a warning explains it
in the first step where it happens (`compile/advice.py`).
"""

from __future__ import annotations

import collections
import functools
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import components, from_components, is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import (
    GraphKeys,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.ops.arrays import constants, joining
from tideflow.ops.control_flow import debugging, grouping, switches
from tideflow.ops.control_flow.contexts import CondContext, inside
from tideflow.ops.control_flow.functional import functional_cond, functional_switch
from tideflow.ops.math import binary, casting, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("cond")
def cond(
    pred: TensorLike,
    true_fn: Callable | None = None,
    false_fn: Callable | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable | None = None,
    fn2: Callable | None = None,
) -> Any:
    """The result of one of two functions, chosen in each step.

    Both functions are called once, now, to build their part of the graph; a step runs the part that `pred`
    chooses. What they use but did not make is computed in either case.

    Args:
      pred: A scalar bool tensor.
      true_fn: Called without arguments; returns a tensor, or a list, tuple or dict of tensors.
      false_fn: The same for a false `pred`; its result has the structure and the types of the other's.
      strict: Whether a list or tuple of one tensor stays that, instead of becoming the tensor.
      name: A name for the scope of the new operations.
      fn1: Another name for `true_fn`.
      fn2: Another name for `false_fn`.

    Returns:
      What the functions return, with tensors that have the value of the chosen one.

    Raises:
      TypeError: If a function is missing or not callable, or `pred` is a Python bool.
      ValueError: If the functions return nothing, or results of different types or structures.
    """
    true_fn, false_fn = _one_of(true_fn, fn1, "true_fn", "fn1"), _one_of(false_fn, fn2, "false_fn", "fn2")
    graph = get_default_graph()
    if graph.is_eager:
        result = (true_fn if pred else false_fn)()
        return result if strict else _unpack_single(result)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    with name_scope(name, "cond", [pred]):
        pred = convert_to_tensor(pred)
        if graph.functional_control_flow:
            result = functional_cond(pred, [true_fn, false_fn])
            return result if strict else _unpack_single(result)
        side_false, side_true = switches.switch_op(pred, pred, name="Switch")
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
        if not true_flat:
            raise ValueError("true_fn and false_fn must return at least one result.")
        merged = [switches.merge([f, t])[0] for f, t in zip(false_flat, true_flat, strict=True)]
        if true_context.outer_context is None:
            graph.add_to_collection(GraphKeys.COND_CONTEXT, true_context)
            graph.add_to_collection(GraphKeys.COND_CONTEXT, false_context)
        if not nest.is_nested(true_result):
            return merged[0]
        result = nest.pack_sequence_as(true_result, merged)
        return result if strict else _unpack_single(result)


def _one_of(function: Callable | None, old: Callable | None, name: str, old_name: str) -> Callable:
    if function is not None and old is not None:
        raise TypeError(
            f"cond(): {name} and {old_name} may not be set simultaneously: both name the same function."
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
    with inside(graph, context):
        result = function()
        if result is None:
            raise ValueError(f"{name} must have a return value.")
        if not strict:
            result = _unpack_single(result)
        flat = [_branch_result(context, value) for value in nest.flatten(result)]
    if context.outer_context is not None:
        context.outer_context.knows(*(part for value in flat for part in components(value)))
    return context, result, flat


def _branch_result(context: CondContext, value: Any) -> Any:
    """What a branch returns, as a value that is there only when the branch runs."""
    if isinstance(value, Operation):
        return grouping.with_dependencies([value], context.pivot)
    if is_composite(value):
        return from_components(value, [context.enter_value(part) for part in components(value)])
    return context.enter_value(convert_to_tensor(value))


def _unpack_single(result: Any) -> Any:
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result


def _check_same(true_result: Any, false_result: Any, true_flat: list[Any], false_flat: list[Any]) -> None:
    try:
        nest.assert_same_structure(true_result, false_result)
        for t, f in zip(true_flat, false_flat, strict=True):
            switches.check_same_parts(t, f)
    except (ValueError, TypeError) as error:
        raise type(error)(f"Incompatible return values of true_fn and false_fn: {error}") from None
    for t, f in zip(true_flat, false_flat, strict=True):
        if t.dtype.base_dtype is not f.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{t.dtype.base_dtype.name}, {f.dtype.base_dtype.name}"
            )


@export("contrib.framework.smart_cond")
def smart_cond(
    pred: TensorLike,
    true_fn: Callable | None = None,
    false_fn: Callable | None = None,
    name: str | None = None,
) -> Any:
    """`tf.cond`, or a plain call of one function where `pred` is known already.

    Args:
      pred: A scalar bool tensor, a Python bool, 0 or 1.
      true_fn: Called without arguments.
      false_fn: Called without arguments.
      name: A name for the scope of the new operations.

    Returns:
      What the chosen function returns, or what `tf.cond` does.

    Raises:
      TypeError: If `pred` is something else, or a function cannot be called.
    """
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"`{argument}` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    chosen: Any = true_fn if known else false_fn
    return chosen()


@export("contrib.framework.smart_constant_value")
def smart_constant_value(pred: TensorLike) -> bool | None:
    """Whether a condition is true, where that is known without running a step.

    Args:
      pred: A bool tensor, a Python bool, 0 or 1.

    Returns:
      A Python bool; None for a tensor that is not a constant.

    Raises:
      TypeError: If `pred` is something else.
    """
    if isinstance(pred, Tensor):
        value = _known_number(pred)
        return None if value is None else bool(value)
    if pred in (0, 1, True, False):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def _known_number(tensor: Tensor) -> Any:
    """The value of a scalar that follows from constants by arithmetic and comparisons; None otherwise."""
    value = constant_value(tensor)
    if value is not None:
        return value.item() if value.size == 1 else None
    if not tensor.op.definition.as_number:
        return None
    inputs = [_known_number(each) for each in tensor.op.inputs]
    if not all(isinstance(each, (bool, int, float)) for each in inputs):
        return None
    return eval(tensor.op.definition.as_number.format(*inputs), {"inf": math.inf, "nan": math.nan})


# ------------------------------------------------------------------------------------------------ one of many


@export("case")
def case(
    pred_fn_pairs: Mapping[Tensor, Callable] | Sequence[tuple[TensorLike, Callable]],
    default: Callable | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition is true.

    Args:
      pred_fn_pairs: A list of pairs of a scalar bool tensor and a function without arguments, or a dict from
        the one to the other. All functions return the same structure of tensors.
      default: The function to use where no condition is true; without one, that is an error in the step.
      exclusive: Whether it is an error in the step when several conditions are true.
      strict: Whether a list or tuple of one tensor stays that, instead of becoming the tensor.
      name: A name for the scope of the new operations.

    Returns:
      What the functions return, with tensors that have the value of the chosen one.

    Raises:
      TypeError: If the pairs are not pairs of a bool tensor and a function.
      InvalidArgumentError: When the step runs and the conditions do not choose one function.
    """
    pairs = _checked_pairs(pred_fn_pairs, exclusive, name)
    with name_scope(name, "case", [pred for pred, _ in pairs]):
        if default is None:
            default, pairs = _last_as_default(pairs)
        choose = default
        for pred, action in reversed(pairs):
            choose = functools.partial(cond, pred, true_fn=action, false_fn=choose, strict=strict)
        if not exclusive:
            return choose()
        with control_dependencies(
            [_assert_at_most([pred for pred, _ in pairs], 1, "Input error: exclusive=True")]
        ):
            return choose()


def _checked_pairs(pairs: Any, exclusive: bool, name: str) -> list[tuple[Tensor, Callable]]:
    if isinstance(pairs, dict):
        if not isinstance(pairs, collections.OrderedDict):
            if not exclusive:
                logging.getLogger("tideflow").warning(
                    "%s: An unordered dictionary of predicate/fn pairs was provided, but exclusive=False. "
                    "The order of conditional tests is deterministic but not guaranteed.",
                    name,
                )
            if not executing_eagerly():  # there they have no names
                pairs = dict(sorted(pairs.items(), key=lambda item: item[0].name))
        pairs = list(pairs.items())
    if not isinstance(pairs, (list, tuple)):
        raise TypeError("fns must be a list, tuple, or dict")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, action = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pred!r}")
        if pred.dtype.base_dtype is not dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {_label(pred)}")
        if not callable(action):
            raise TypeError(f"fn for pred {_label(pred)} must be callable.")
    return list(pairs)


def _label(pred: Tensor) -> str:
    return str(pred) if pred.is_eager else pred.name


def _last_as_default(pairs: list[tuple[Tensor, Callable]]) -> tuple[Callable, list[tuple[Tensor, Callable]]]:
    """Without a default the last pair is it, and says when its predicate is not true either."""
    *others, (pred, action) = pairs
    message = (
        f"Implementation error: selected default action #{len(others)} was called, but some of other "
        "predicates are True: "
    )

    def checked() -> Any:
        nothing_true = ("Input error: None of conditions evaluated as True:", _stacked([p for p, _ in pairs]))
        checks = [
            _assert_at_most([other for other, _ in others], 0, message),
            debugging.Assert(pred, data=nothing_true),
        ]
        with control_dependencies(checks):
            return action()

    return checked, others


def _stacked(preds: list[Tensor]) -> Tensor:
    return joining.stack(preds, name="preds_c")


def _assert_at_most(preds: list[Tensor], limit: int, message: str) -> Operation:
    stacked = _stacked(preds)
    count = reductions.reduce_sum(casting.cast(stacked, dtypes.int32), name="num_true_conds")
    fits = binary.less_equal(count, constants.constant(limit, name="n_true_conds"))
    names = ", ".join(map(_label, preds))
    text = f"{message}: more than {limit} conditions ({names}) evaluated as True:"
    return debugging.Assert(fits, data=[text, stacked], summarize=len(preds))


@export("switch_case")
def switch_case(
    branch_index: TensorLike,
    branch_fns: Mapping[int, Callable] | Sequence[Callable | tuple[int, Callable]],
    default: Callable | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of one of many functions, chosen by its number.

    Args:
      branch_index: A scalar tensor of an integer type.
      branch_fns: A list of functions without arguments, or a dict (or list of pairs) from the numbers 0, 1, …
        to functions. All return the same structure of tensors.
      default: The function to use for any other number; the one of the greatest number unless given.
      name: A name for the scope of the new operations.

    Returns:
      What the functions return, with tensors that have the value of the chosen one.

    Raises:
      TypeError: If the functions are not callable, or numbers not integers.
      ValueError: If there are no functions, or their numbers have gaps.
    """
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype!r}")
    by_index = _indexed_functions(branch_fns)
    branches = [by_index[i] for i in sorted(by_index)] + ([] if default is None else [default])
    with name_scope(name, "switch_case", [branch_index]):
        if executing_eagerly():
            number = int(branch_index.numpy())
            return branches[number if 0 <= number < len(branches) else -1]()
        return functional_switch(branch_index, branches)


def _indexed_functions(branch_fns: Any) -> dict[int, Callable]:
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        pairs = list(enumerate(branch_fns) if all(map(callable, branch_fns)) else branch_fns)
    else:
        raise TypeError(f"branch_fns must be a list, tuple, or dict, but got {type(branch_fns)}")
    if not pairs:
        raise ValueError("Must provide at least one item in branch_fns")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in branch_fns must be a 2-tuple, got {pair!r}")
        index, fn = pair
        if not isinstance(index, int):
            raise TypeError(f"branch index must be a Python `int`, got {type(index)} {index!r}")
        if not callable(fn):
            raise TypeError(f"fn for key {index} must be callable.")
    by_index = dict(pairs)
    if sorted(by_index) != list(range(len(pairs))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found "
            f"{sorted(by_index)}"
        )
    return by_index
