"""Operators that make one number, or a few, of many: reductions, places of the largest, running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, Operator, as_int32_scalar, operator, register_all
from tideflow.exchange.onnx_operators.shapes import flattened


def _reduction(function: Callable) -> Operator:
    def operator(given: Given) -> Any:
        x, axes, keeps = given.inputs[0], _axes(given), given.flag("keepdims", True)
        if x.dtype == tf.bool:
            return _OF_CONDITIONS[function](x, axes, keepdims=keeps)
        numbers = tf.cast(x, tf.float64) if function in _OF_REALS and x.dtype.is_integer else x
        return tf.cast(function(numbers, axes, keepdims=keeps), x.dtype)

    return operator


def _axes(given: Given) -> Any:
    """The axes; None for all."""
    axes = given.attribute("axes", given.input(1))
    known = axes
    if isinstance(axes, tf.Tensor):
        known = [] if axes.shape.as_list() == [0] else given.array(1)
    if known is None:
        return (
            tf.cast(axes, tf.int32)
            if axes is not None
            else ([] if given.flag("noop_with_empty_axes") else None)
        )
    return [int(axis) for axis in known] if len(known) or given.flag("noop_with_empty_axes") else None


def _l1(x: Any, *args: Any, **kwargs: Any) -> Any:
    return tf.reduce_sum(tf.abs(x), *args, **kwargs)


def _l2(x: Any, *args: Any, **kwargs: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(x * x, *args, **kwargs))


def _log_sum(x: Any, *args: Any, **kwargs: Any) -> Any:
    return tf.log(tf.reduce_sum(x, *args, **kwargs))


def _sum_square(x: Any, *args: Any, **kwargs: Any) -> Any:
    return tf.reduce_sum(x * x, *args, **kwargs)


_OF_CONDITIONS = {tf.reduce_max: tf.reduce_any, tf.reduce_min: tf.reduce_all}
_OF_REALS = (_l2, _log_sum, tf.reduce_logsumexp)
_REDUCTIONS = {
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": tf.reduce_logsumexp,
    "ReduceMax": tf.reduce_max,
    "ReduceMean": tf.reduce_mean,
    "ReduceMin": tf.reduce_min,
    "ReduceProd": tf.reduce_prod,
    "ReduceSum": tf.reduce_sum,
    "ReduceSumSquare": _sum_square,
}
register_all({name: _reduction(function) for name, function in _REDUCTIONS.items()})


def _place_of(function: Callable) -> Operator:
    def operator(given: Given) -> Any:
        x, axis = given.inputs[0], given.attribute("axis", 0)
        if given.flag("select_last_index"):
            length = tf.shape(x, out_type=tf.int64)[axis]
            found = length - 1 - function(tf.reverse(x, [axis]), axis, output_type=tf.int64)
        else:
            found = function(x, axis, output_type=tf.int64)
        return tf.expand_dims(found, axis) if given.flag("keepdims", True) else found

    return operator


register_all({"ArgMax": _place_of(tf.argmax), "ArgMin": _place_of(tf.argmin)})


def _running(function: Callable) -> Operator:
    def operator(given: Given) -> Any:
        x, axis = given.inputs
        return function(x, as_int32_scalar(axis), given.flag("exclusive"), given.flag("reverse"))

    return operator


register_all({"CumSum": _running(tf.cumsum), "CumProd": _running(tf.cumprod)})


@operator("TopK")
def _top_k(given: Given) -> Any:
    x, last = given.inputs[0], given.rank() - 1
    axis = given.attribute("axis", -1) % given.rank()
    k = as_int32_scalar(given.attribute("k", given.input(1)))
    order = [i for i in range(last + 1) if i != axis] + [axis]
    turned = x if axis == last else tf.transpose(x, order)
    ranked = turned if given.flag("largest", True) else _opposite(turned)
    values, places = tf.nn.top_k(ranked, k)
    if not given.flag("largest", True):
        values = _opposite(values)
    back = [order.index(i) for i in range(last + 1)]
    found = values, tf.cast(places, tf.int64)
    return found if axis == last else tuple(tf.transpose(each, back) for each in found)


def _opposite(x: Any) -> Any:
    """Numbers in the opposite order; turned twice they are the same."""
    return tf.bitwise.invert(x) if x.dtype.is_integer else -x


def _along(function: Callable) -> Operator:
    """Along one axis; before version 13, over all from that axis on."""

    def operator(given: Given) -> Any:
        x = given.inputs[0]
        if given.opset >= 13:
            return function(x, axis=given.attribute("axis", -1))
        made = tf.reshape(function(flattened(x, given.attribute("axis", 1)), axis=-1), tf.shape(x))
        made.set_shape(x.shape)
        return made

    return operator


def _hardmax(x: Any, axis: int) -> Any:
    return tf.one_hot(tf.argmax(x, axis), tf.shape(x)[axis], axis=axis, dtype=x.dtype)


register_all(
    {
        "Hardmax": _along(_hardmax),
        "LogSoftmax": _along(tf.nn.log_softmax),
        "Softmax": _along(tf.nn.softmax),
    }
)


@operator("LpNormalization")
def _lp_normalization(given: Given) -> Any:
    x, axis = given.inputs[0], given.attribute("axis", -1)
    norm = (_l1 if given.attribute("p", 2) == 1 else _l2)(x, axis, keepdims=True)
    return tf.where_v2(norm > 0, x / norm, tf.zeros_like(x))


@operator("Compress")
def _compress(given: Given) -> Any:
    x, kept = given.inputs
    axis = given.attribute("axis")
    places = tf.where(kept)[:, 0]
    return tf.gather(tf.reshape(x, [-1]), places) if axis is None else tf.gather(x, places, axis=axis)


@operator("Unique")
def _unique(given: Given) -> Any:
    x, axis = given.inputs[0], given.attribute("axis")
    x = tf.reshape(x, [-1]) if axis is None else x
    values, inverse, counts = tf.raw_ops.UniqueWithCountsV2(
        x=x, axis=[axis % given.rank() if axis else 0], out_idx=tf.int64
    )
    axis = axis or 0
    firsts = tf.unsorted_segment_min(
        tf.range(tf.size(inverse, out_type=tf.int64)), inverse, tf.size(counts, out_type=tf.int64)
    )
    if given.flag("sorted", True):
        order = _sorting(tf.gather(x, firsts, axis=axis), axis)
        values, firsts, counts = (
            tf.gather(values, order, axis=axis),
            tf.gather(firsts, order),
            tf.gather(counts, order),
        )
        inverse = tf.gather(tf.cast(tf.invert_permutation(order), tf.int64), inverse)
    return values, firsts, inverse, counts


def _sorting(x: Any, axis: int) -> Any:
    """The order in which what stands along an axis is sorted, first by its first number."""
    length, rank = tf.shape(x)[axis], x.shape.ndims
    first = tf.transpose(x, [axis % rank, *(i for i in range(rank) if i != axis % rank)])
    rows = tf.reshape(first, tf.stack([length, -1]))

    def by_column(column: Any, order: Any) -> tuple[Any, Any]:
        again = tf.argsort(tf.gather(rows[:, column], order), stable=True)
        return column - 1, tf.gather(order, again)

    initial = tf.shape(rows)[1] - 1, tf.range(length)
    return tf.while_loop(lambda column, order: column >= 0, by_column, initial)[1]
