"""Operators that change shapes, and that take from and put into places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import numpy_helper

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import (
    Given,
    as_int32_scalar,
    operator,
    rank_of,
    sizes_of,
)


def flattened(x: Any, axis: int) -> Any:
    """A matrix: the axes before one, and those from it on."""
    axis = axis % rank_of(x) if axis < 0 else axis
    sizes = tf.shape(x)
    return tf.reshape(x, tf.stack([tf.reduce_prod(sizes[:axis]), tf.reduce_prod(sizes[axis:])]))


@operator("Flatten")
def _flatten(given: Given) -> Any:
    x, axis = given.inputs[0], given.attribute("axis", 1)
    sizes = x.shape.as_list()
    axis = axis % len(sizes) if axis < 0 else axis
    if None not in sizes[axis:]:
        return tf.reshape(x, [-1 if axis else 1, math.prod(sizes[axis:])])
    return flattened(x, axis)


@operator("Reshape")
def _reshape(given: Given) -> Any:
    x, shape = given.inputs[0], given.attribute("shape", given.input(1))
    known = given.array(1) if len(given.inputs) > 1 else np.array(shape)
    if given.attribute("allowzero", 0) or known is not None and 0 not in known:
        return tf.reshape(x, shape if known is None else known)
    if known is not None:
        sizes = tf.shape(x, out_type=tf.int64)
        return tf.reshape(x, tf.stack([sizes[i] if n == 0 else n for i, n in enumerate(known.tolist())]))
    sizes = tf.shape(x, out_type=tf.int64)
    count = tf.minimum(tf.size(shape), tf.size(sizes))
    kept = tf.concat([sizes[:count], tf.zeros([tf.size(shape) - count], tf.int64)], 0)
    return tf.reshape(x, tf.where(tf.equal(shape, 0), kept, shape))


@operator("Transpose")
def _transpose(given: Given) -> Any:
    return tf.transpose(given.inputs[0], given.attribute("perm"))


@operator("Squeeze")
def _squeeze(given: Given) -> Any:
    return tf.squeeze(given.inputs[0], given.numbers("axes", 1))


@operator("Unsqueeze")
def _unsqueeze(given: Given) -> Any:
    x, axes = given.inputs[0], given.numbers("axes", 1) or []
    rank = given.rank() + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        x = tf.expand_dims(x, axis)
    return x


@operator("Concat")
def _concat(given: Given) -> Any:
    return tf.concat(list(given.inputs), given.attribute("axis"))


@operator("Split")
def _split(given: Given) -> Any:
    x, axis = given.inputs[0], given.attribute("axis", 0)
    sizes = given.attribute("split", given.input(1))
    if sizes is None:
        length = sizes_of(x)[axis]
        each = -(-length // given.outputs)
        sizes = [*[each] * (given.outputs - 1), length - each * (given.outputs - 1)]
    return tuple(tf.split(x, sizes, axis, num=given.outputs))


@operator("Slice")
def _slice(given: Given) -> Any:
    x = given.inputs[0]
    if given.opset >= 10 and (given.array(1) is None or given.array(2) is None):
        return _slice_at(given)
    starts, ends = given.numbers("starts", 1) or [], given.numbers("ends", 2) or []
    axes = given.numbers("axes", 3) or list(range(len(starts)))
    steps = given.numbers("steps", 4) or [1] * len(starts)
    spec = [slice(None)] * given.rank()
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        limits = np.iinfo(np.int32)
        ends_before_all = step < 0 and end < -(1 << 31)
        stop = None if ends_before_all else int(np.clip(end, limits.min, limits.max))
        spec[axis] = slice(int(np.clip(start, limits.min, limits.max)), stop, step)
    return x[tuple(spec)]


def _slice_at(given: Given) -> Any:
    """A slice whose begin or end only a step knows."""
    x, starts, ends = given.inputs[:3]
    count = starts.shape.as_list()[0]
    if count is None:
        raise ValueError("the number of sliced axes must be known")
    axes = given.numbers("axes", 3) or list(range(count))
    steps = given.numbers("steps", 4) or [1] * count
    sizes = tf.shape(x, out_type=tf.int64)
    starts, ends = tf.cast(starts, tf.int64), tf.cast(ends, tf.int64)
    spec = [slice(None)] * given.rank()
    for i, (axis, step) in enumerate(zip(axes, steps, strict=True)):
        size = sizes[axis]
        first, last = (0, size) if step > 0 else (-1, size - 1)
        start, end = (tf.where(at < 0, at + size, at) for at in (starts[i], ends[i]))
        start, end = (tf.clip_by_value(at, tf.cast(first, tf.int64), last) for at in (start, end))
        # An end of -1 would count from the end: the slice is turned round instead.
        spec[axis] = slice(start, end, step) if step > 0 else slice(end + 1, start + 1, 1)
    made = x[tuple(spec)]
    for axis, step in zip(axes, steps, strict=True):
        if step < 0:
            made = tf.reverse(made, [axis])[
                (slice(None),) * (axis % given.rank()) + (slice(None, None, -step),)
            ]
    return made


@operator("Gather")
def _gather(given: Given) -> Any:
    x, places = given.inputs
    axis = given.attribute("axis", 0)
    known = given.array(1)
    if known is not None:
        length = x.shape.as_list()[axis]
        if length is not None or (known >= 0).all():
            return tf.gather(x, np.where(known < 0, known + (length or 0), known), axis=axis)
    length = tf.cast(tf.shape(x)[axis], places.dtype)
    return tf.gather(x, tf.where(places < 0, places + length, places), axis=axis)


@operator("GatherElements")
def _gather_elements(given: Given) -> Any:
    x, places = given.inputs
    return tf.gather_nd(x, _coordinates(x, places, given.attribute("axis", 0)))


@operator("NonZero")
def _non_zero(given: Given) -> Any:
    x = given.inputs[0]
    return tf.transpose(tf.where(x if x.dtype == tf.bool else tf.not_equal(x, tf.zeros_like(x))))


@operator("DepthToSpace")
def _depth_to_space(given: Given) -> Any:
    x, block = given.inputs[0], given.attribute("blocksize")
    batch, depth, height, width = sizes_of(x)
    if given.attribute("mode", "DCR") == "DCR":
        parts, order = [batch, block, block, depth // block**2, height, width], [0, 3, 4, 1, 5, 2]
    else:
        parts, order = [batch, depth // block**2, block, block, height, width], [0, 1, 4, 2, 5, 3]
    turned = tf.transpose(tf.reshape(x, tf.stack(parts)), order)
    return tf.reshape(turned, tf.stack([batch, depth // block**2, height * block, width * block]))


@operator("SpaceToDepth")
def _space_to_depth(given: Given) -> Any:
    x, block = given.inputs[0], given.attribute("blocksize")
    batch, depth, height, width = sizes_of(x)
    parts = [batch, depth, height // block, block, width // block, block]
    order = [0, 3, 5, 1, 2, 4] if given.attribute("mode", "DCR") == "DCR" else [0, 1, 3, 5, 2, 4]
    turned = tf.transpose(tf.reshape(x, tf.stack(parts)), order)
    return tf.reshape(turned, tf.stack([batch, depth * block**2, height // block, width // block]))


@operator("GatherND")
def _gather_nd(given: Given) -> Any:
    x, places = given.inputs
    batch = given.attribute("batch_dims", 0)
    sizes = tf.shape(x, out_type=places.dtype)[batch : batch + places.shape[-1].value]
    return tf.gather_nd(x, _from_the_front(places, sizes), batch_dims=batch)


@operator("ScatterND")
def _scatter_nd(given: Given) -> Any:
    x, places, updates = given.inputs
    places = _from_the_front(places, tf.shape(x, out_type=places.dtype)[: places.shape[-1]])
    return _scattered(given, x, places, updates)


def _from_the_front(places: Any, sizes: Any) -> Any:
    """Places of which negative ones count from the end."""
    return tf.where_v2(places < 0, places + sizes, places)


def _scattered(given: Given, x: Any, places: Any, updates: Any) -> Any:
    how = given.attribute("reduction", "none")
    if how == "none":
        return tf.tensor_scatter_update(x, places, updates)
    if how == "add":
        return tf.tensor_scatter_add(x, places, updates)
    # The others one after another: a place may be updated many times.
    depth = places.shape[-1].value
    rows, values = (
        tf.reshape(places, [-1, depth]),
        tf.reshape(updates, tf.concat([[-1], tf.shape(x)[depth:]], 0)),
    )

    def update(i: Any, made: Any) -> tuple[Any, Any]:
        one = rows[i : i + 1]
        joined = _JOINED[how](tf.gather_nd(made, one), values[i : i + 1])
        return i + 1, tf.tensor_scatter_update(made, one, joined)

    invariants = [tf.TensorShape([]), x.shape]
    return tf.while_loop(lambda i, made: i < tf.shape(rows)[0], update, [0, x], invariants)[1]


_JOINED = {"mul": tf.multiply, "max": tf.maximum, "min": tf.minimum}


@operator("ScatterElements", "Scatter")
def _scatter_elements(given: Given) -> Any:
    x, places, updates = given.inputs
    return _scattered(given, x, _coordinates(x, places, given.attribute("axis", 0)), updates)


def _coordinates(x: Any, places: Any, axis: int) -> Any:
    """Where in `x` each of the places along an axis is."""
    rank = rank_of(x)
    axis %= rank
    sizes, length = tf.shape(places, out_type=places.dtype), tf.shape(x, out_type=places.dtype)[axis]
    at = []
    for i in range(rank):
        if i == axis:
            at.append(_from_the_front(places, length))
        else:
            column = tf.reshape(tf.range(sizes[i]), [-1 if k == i else 1 for k in range(rank)])
            at.append(tf.broadcast_to(column, sizes))
    return tf.stack(at, -1)


@operator("TensorScatter")
def _tensor_scatter(given: Given) -> Any:
    """Puts an update into a cache: from a place of each batch on, around its end if it is circular."""
    cache, update, starts = given.inputs[0], given.inputs[1], given.input(2)
    rank, axis = given.rank(), given.attribute("axis", -2) % given.rank()
    count, length = (tf.shape(each, out_type=tf.int64)[axis] for each in (update, cache))
    batch = tf.shape(cache, out_type=tf.int64)[0]
    starts = tf.zeros([batch], tf.int64) if starts is None else starts
    places = starts[:, None] + tf.range(count)
    if given.attribute("mode", "linear") == "circular":
        places = tf.floormod(places, length)
    at = tf.stack([tf.broadcast_to(tf.range(batch)[:, None], tf.shape(places)), places], -1)
    order = [0, axis, *(i for i in range(1, rank) if i != axis)]
    made = tf.tensor_scatter_update(tf.transpose(cache, order), at, tf.transpose(update, order))
    return tf.transpose(made, [order.index(i) for i in range(rank)])


@operator("ReverseSequence")
def _reverse_sequence(given: Given) -> Any:
    time, batch = given.attribute("time_axis", 0), given.attribute("batch_axis", 1)
    return tf.reverse_sequence(*given.inputs, seq_axis=time, batch_axis=batch)


@operator("EyeLike")
def _eye_like(given: Given) -> Any:
    x = given.inputs[0]
    rows, columns = sizes_of(x)
    on = tf.equal(tf.range(columns)[None] - tf.range(rows)[:, None], given.attribute("k", 0))
    return tf.cast(on, given.dtype("dtype", x.dtype))


@operator("Shape")
def _shape(given: Given) -> Any:
    sizes = tf.shape(given.inputs[0], out_type=tf.int64)
    start, end = given.attribute("start", 0), given.attribute("end")
    return sizes[start:] if end is None else sizes[start:end]


@operator("Size")
def _size(given: Given) -> Any:
    return tf.size(given.inputs[0], out_type=tf.int64)


@operator("Constant")
def _constant(given: Given) -> Any:
    ((name, value),) = given.attributes.items()
    if name == "value":
        return numpy_helper.to_array(value)
    if name.startswith("value_string"):
        return np.array(value, dtype=object)
    return np.array(value, dtype=np.float32 if "float" in name else np.int64)


@operator("ConstantOfShape")
def _constant_of_shape(given: Given) -> Any:
    value = given.attribute("value")
    one = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value)
    return tf.fill(given.inputs[0], one.ravel()[0])


@operator("Expand")
def _expand(given: Given) -> Any:
    x, shape = given.inputs
    return tf.broadcast_to(x, tf.broadcast_dynamic_shape(tf.shape(x, out_type=tf.int64), shape))


@operator("Tile")
def _tile(given: Given) -> Any:
    return tf.tile(*given.inputs)


@operator("Range")
def _range(given: Given) -> Any:
    first, end, step = (tf.reshape(each, []) for each in given.inputs)
    if first.dtype in (tf.int32, tf.int64, tf.float32, tf.float64):
        return tf.range(first, end, step)
    return tf.cast(tf.range(*(tf.cast(each, tf.float32) for each in (first, end, step))), first.dtype)


@operator("Pad")
def _pad(given: Given) -> Any:
    x = given.inputs[0]
    margins = _margins(given)
    mode = given.attribute("mode", "constant")
    if mode == "constant":
        value = given.attribute("value", given.input(2))
        value = tf.zeros([], x.dtype) if value is None else tf.reshape(tf.cast(value, x.dtype), [])
        return tf.pad(_cropped(x, margins), tf.maximum(margins, 0), constant_values=value)
    if mode == "reflect":
        return tf.pad(_cropped(x, margins), tf.maximum(margins, 0), mode="REFLECT")
    for axis in range(given.rank()):
        x = _with_margins(x, axis, margins[axis], mode)
    return x


def _margins(given: Given) -> Any:
    """What comes before and after each axis: an array where it is known, else a tensor."""
    rank = given.rank()
    axes = [axis % rank for axis in given.numbers("axes", 3) or range(rank)]
    if "pads" not in given.attributes and given.array(1) is None:
        pads = tf.transpose(tf.reshape(tf.cast(given.inputs[1], tf.int32), [2, len(axes)]))
        rows = tf.unstack(pads, len(axes))
        return tf.stack([rows[axes.index(i)] if i in axes else tf.zeros([2], tf.int32) for i in range(rank)])
    pads = given.numbers("pads", 1) or []
    margins = np.zeros([rank, 2], np.int32)
    for i, axis in enumerate(axes):
        margins[axis] = pads[i], pads[i + len(axes)]
    return margins


def _cropped(x: Any, margins: Any) -> Any:
    """Without what negative margins take away."""
    if isinstance(margins, np.ndarray):
        cuts = [slice(max(0, -a), -max(0, -b) or None) for a, b in margins.tolist()]
        return x[tuple(cuts)] if (margins < 0).any() else x
    cut = tf.maximum(-margins, 0)
    return tf.slice(x, cut[:, 0], tf.shape(x) - cut[:, 0] - cut[:, 1])


def _with_margins(x: Any, axis: int, margins: Any, mode: str) -> Any:
    """One axis with its first and last elements repeated, or with itself before and after."""
    size = tf.shape(x)[axis]
    places = tf.range(-margins[0], size + margins[1])
    if mode == "edge":
        places = tf.clip_by_value(places, 0, size - 1)
    elif mode == "wrap":
        places = tf.floormod(places, size)
    else:
        raise ValueError(f"mode {mode} is not known")
    return tf.gather(x, places, axis=axis)


@operator("OneHot")
def _one_hot(given: Given) -> Any:
    places, depth, values = given.inputs
    depth, places = as_int32_scalar(depth), tf.cast(places, tf.int32)
    places = tf.where(places < 0, places + depth, places)
    axis = given.attribute("axis", -1) % (given.rank() + 1)
    return tf.one_hot(places, depth, values[1], values[0], axis=axis)


@operator("Trilu")
def _trilu(given: Given) -> Any:
    x = given.inputs[0]
    k = 0 if given.input(1) is None else tf.cast(given.inputs[1], tf.int32)
    rows, columns = tf.range(tf.shape(x)[-2])[:, None], tf.range(tf.shape(x)[-1])[None]
    kept = columns - rows >= k if given.attribute("upper", 1) else columns - rows <= k
    return tf.where_v2(kept, x, tf.zeros_like(x))
