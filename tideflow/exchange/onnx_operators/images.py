"""Windows that move over images: convolutions and pools. Images have their channels first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, Operator, operator, register_all, sizes_of

MOST_PLACES = 1 << 20  # of a window

_FORMATS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def _largest(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else tf.maximum(a, b)


def _padded(x: Any, pads: Sequence[Any], value: float = 0.0) -> Any:
    """Spatial axes with margins: ONNX gives all that come before, then all that come after."""
    if all(isinstance(each, int) and each == 0 for each in pads):
        return x
    half = len(pads) // 2
    margins = [[0, 0], [0, 0], *([pads[i], pads[i + half]] for i in range(half))]
    return tf.pad(x, margins, constant_values=tf.constant(value, x.dtype))


def _pads(
    given: Given, x: Any, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[Any]:
    """The margins of a window that moves over the spatial axes."""
    mode = given.attribute("auto_pad", "NOTSET")
    if mode == "NOTSET":
        return list(given.attribute("pads", [0] * 2 * len(sizes)))
    if mode == "VALID":
        return [0] * 2 * len(sizes)
    before, after = [], []
    for length, size, stride, dilation in zip(sizes_of(x)[2:], sizes, strides, dilations, strict=True):
        total = _largest(0, (-(-length // stride) - 1) * stride + (size - 1) * dilation + 1 - length)
        less, more = total // 2, total - total // 2
        before.append(more if mode == "SAME_LOWER" else less)
        after.append(less if mode == "SAME_LOWER" else more)
    return before + after


def _windows(given: Given, count: int) -> tuple[list[int], list[int]]:
    strides = list(given.attribute("strides", [1] * count))
    return strides, list(given.attribute("dilations", [1] * count))


@operator("Conv")
def _conv(given: Given) -> Any:
    return _with_bias(convolved(given, *given.inputs[:2]), given.input(2))


def _with_bias(y: Any, bias: Any) -> Any:
    return y if bias is None else y + tf.reshape(bias, [1, -1, *[1] * (y.shape.ndims - 2)])


def convolved(given: Given, x: Any, weights: Any) -> Any:
    """The convolution that a node's attributes describe."""
    sizes = weights.shape.as_list()[2:]
    strides, dilations = _windows(given, len(sizes))
    x = _padded(x, _pads(given, x, sizes, strides, dilations))
    kernel = tf.transpose(weights, [*range(2, len(sizes) + 2), 1, 0])
    groups = given.attribute("group", 1)
    inputs, kernels = _split(x, groups, 1), _split(kernel, groups, -1)
    made = [
        tf.nn.convolution(
            each, one, "VALID", strides=strides, dilation_rate=dilations, data_format=_FORMATS[len(sizes)]
        )
        for each, one in zip(inputs, kernels, strict=True)
    ]
    return made[0] if groups == 1 else tf.concat(made, 1)


def _split(x: Any, groups: int, axis: int) -> list[Any]:
    return tf.split(x, groups, axis) if groups > 1 else [x]


@operator("ConvTranspose")
def _conv_transpose(given: Given) -> Any:
    """What the gradient of a convolution computes: each number of the image weighs a copy of the filter."""
    x, weights = given.inputs[:2]
    sizes = weights.shape.as_list()[2:]
    strides, dilations = _windows(given, len(sizes))
    groups = given.attribute("group", 1)
    spread = _spread(x, strides)
    margins = [dilation * (size - 1) for dilation, size in zip(dilations, sizes, strict=True)]
    kernel = tf.reverse(weights, list(range(2, len(sizes) + 2)))
    made = [
        tf.nn.convolution(
            _padded(each, margins * 2),
            tf.transpose(one, [*range(2, len(sizes) + 2), 0, 1]),
            "VALID",
            dilation_rate=dilations,
            data_format=_FORMATS[len(sizes)],
        )
        for each, one in zip(_split(spread, groups, 1), _split(kernel, groups, 0), strict=True)
    ]
    whole = made[0] if groups == 1 else tf.concat(made, 1)
    return _with_bias(_cut(given, x, whole, strides), given.input(2))


def _spread(x: Any, strides: Sequence[int]) -> Any:
    """An image with zeros between its numbers."""
    for axis, stride in enumerate(strides, 2):
        if stride > 1:
            rank = x.shape.ndims
            apart = tf.pad(
                tf.expand_dims(x, axis + 1),
                [[0, stride - 1 if i == axis + 1 else 0] for i in range(rank + 1)],
            )
            sizes = sizes_of(x)
            joined = tf.reshape(apart, [n * stride if i == axis else n for i, n in enumerate(sizes)])
            x = joined[(slice(None),) * axis + (slice(None, 1 - stride),)]
    return x


def _cut(given: Given, x: Any, whole: Any, strides: Sequence[int]) -> Any:
    """What is left of a transposed convolution without its margins, or with some more at its end."""
    count = len(strides)
    more = list(given.attribute("output_padding", [0] * count))
    sizes, lengths = sizes_of(whole)[2:], sizes_of(x)[2:]
    mode, wanted = given.attribute("auto_pad", "NOTSET"), given.attribute("output_shape")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [length * stride for length, stride in zip(lengths, strides, strict=True)]
    if wanted is None:
        pads = given.attribute("pads", [0] * 2 * count)
        before, after = list(pads[:count]), [pads[count + i] - more[i] for i in range(count)]
    else:
        cuts = [size + add - want for size, add, want in zip(sizes, more, list(wanted)[-count:], strict=True)]
        less, rest = [cut // 2 for cut in cuts], [cut - cut // 2 for cut in cuts]
        before = less if mode == "SAME_UPPER" else rest
        after = [cut - first - add for cut, first, add in zip(cuts, before, more, strict=True)]
    return _resized(whole, before, after)


def _resized(x: Any, before: Sequence[Any], after: Sequence[Any]) -> Any:
    """Spatial axes without some of their begin and end; with zeros where a number is negative."""
    x = _padded(x, [_largest(0, -n) for n in (*before, *after)])
    spec = [slice(None), slice(None)]
    for size, first, last in zip(sizes_of(x)[2:], before, after, strict=True):
        spec.append(slice(_largest(0, first), size - _largest(0, last)))
    return x[tuple(spec)]


# ---------------------------------------------------------------------------- pools


def _over_the_edge(given: Given, x: Any, pads: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """How much further than its margin each spatial axis goes, where its last window begins inside."""
    strides, dilations = _windows(given, len(sizes))
    if not given.flag("ceil_mode"):
        return [0] * len(sizes)
    further = []
    for i, length in enumerate(sizes_of(x)[2:]):
        room = length + pads[i] + pads[i + len(sizes)] - dilations[i] * (sizes[i] - 1) - 1
        count = -(-room // strides[i])
        begins_outside = count * strides[i] >= length + pads[i]
        if isinstance(begins_outside, bool):
            count -= begins_outside
        else:
            count -= tf.cast(begins_outside, tf.int32)
        further.append(_largest(0, count * strides[i] - room))
    return further


def _margins(given: Given, x: Any, sizes: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """The margins that a pool counts, and those with what lies beyond them."""
    strides, dilations = _windows(given, len(sizes))
    pads = _pads(given, x, sizes, strides, dilations)
    further = _over_the_edge(given, x, pads, sizes)
    half = len(sizes)
    return pads, [*pads[:half], *(pads[half + i] + further[i] for i in range(half))]


def _pooled(given: Given, x: Any, kind: str, sizes: Sequence[int]) -> Any:
    strides, dilations = _windows(given, len(sizes))
    if math.prod(sizes) > MOST_PLACES:
        raise ValueError(f"a window of {list(sizes)} has more than {MOST_PLACES} places")
    jumps = any(stride > size for stride, size in zip(strides, sizes, strict=True))
    if jumps or max(strides) > 1 and max(dilations) > 1:  # for which there is no pool
        views = [x[spec] for spec in _views(given, x, sizes)]
        return reduce(tf.maximum, views) if kind == "MAX" else tf.add_n(views) / len(views)
    return tf.nn.pool(x, sizes, kind, "VALID", dilations, strides, data_format=_FORMATS[len(sizes)])


def _views(given: Given, x: Any, sizes: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """For each place of a window, the slice of all that stands at this place of some window."""
    strides, dilations = _windows(given, len(sizes))
    every = list(zip(sizes_of(x)[2:], sizes, strides, dilations, strict=True))
    for offsets in itertools.product(*(range(n) for n in sizes)):
        spec = [slice(None), slice(None)]
        for offset, (length, size, stride, dilation) in zip(offsets, every, strict=True):
            spec.append(slice(offset * dilation, offset * dilation + length - dilation * (size - 1), stride))
        yield tuple(spec)


@operator("AveragePool")
def _average_pool(given: Given) -> Any:
    x, sizes = given.inputs[0], list(given.attribute("kernel_shape"))
    counted, all_margins = _margins(given, x, sizes)
    made = _pooled(given, _padded(x, all_margins), "AVG", sizes)
    if all(each == 0 for each in all_margins):
        return made
    beyond = [more - less for more, less in zip(all_margins, counted, strict=True)]
    ones = tf.ones_like(x[:1, :1])
    if given.flag("count_include_pad"):
        shares = _padded(_padded(ones, counted, 1.0), beyond)
    else:
        shares = _padded(ones, all_margins)
    return made / _pooled(given, shares, "AVG", sizes)


@operator("LpPool")
def _lp_pool(given: Given) -> Any:
    x, sizes, power = given.inputs[0], list(given.attribute("kernel_shape")), given.attribute("p", 2)
    _, margins = _margins(given, x, sizes)
    mean = _pooled(given, _padded(tf.abs(x) ** power, margins), "AVG", sizes)
    return (mean * math.prod(sizes)) ** (1 / power)


@operator("MaxPool")
def _max_pool(given: Given) -> Any:
    x, sizes = given.inputs[0], list(given.attribute("kernel_shape"))
    _, margins = _margins(given, x, sizes)
    lowest = -math.inf if x.dtype.is_floating else x.dtype.min
    padded = _padded(x, margins, lowest)
    if given.outputs > 1:
        return _max_with_places(given, padded, margins, sizes)
    if x.dtype.is_floating:
        return _pooled(given, padded, "MAX", sizes)
    return tf.cast(_pooled(given, tf.cast(padded, tf.float32), "MAX", sizes), x.dtype)


def _max_with_places(given: Given, x: Any, margins: Sequence[Any], sizes: Sequence[int]) -> tuple[Any, Any]:
    """The largest of each window, and where it is in the whole input. A window is as many slices as it has
    places.
    """
    before = given.inputs[0]
    count = len(sizes)
    lengths = tf.shape(before, out_type=tf.int64)
    if given.flag("storage_order"):
        order = [0, 1, *range(count + 1, 1, -1)]
        numbers = tf.reshape(tf.range(tf.reduce_prod(lengths)), tf.gather(lengths, order))
        numbers = tf.transpose(numbers, order)
    else:
        numbers = tf.reshape(tf.range(tf.reduce_prod(lengths)), lengths)
    numbers = tf.pad(numbers, [[0, 0], [0, 0], *zip(margins[:count], margins[count:], strict=True)])
    best, places = None, None
    for spec in _views(given, x, sizes):
        value, at = x[spec], numbers[spec]
        if best is None:
            best, places = value, at
        else:
            better = value > best
            best, places = tf.where(better, value, best), tf.where(better, at, places)
    return best, places


@operator("MaxUnpool")
def _max_unpool(given: Given) -> Any:
    x, places = given.inputs[:2]
    sizes = list(given.attribute("kernel_shape"))
    strides, _ = _windows(given, len(sizes))
    pads = given.attribute("pads", [0] * 2 * len(sizes))
    batch, channels, *lengths = (tf.cast(n, tf.int64) for n in sizes_of(x))
    spatial = [
        (length - 1) * strides[i] - pads[i] - pads[i + len(sizes)] + sizes[i]
        for i, length in enumerate(lengths)
    ]
    shape = tf.stack([batch, channels, *spatial])
    flat = tf.scatter_nd(tf.reshape(places, [-1, 1]), tf.reshape(x, [-1]), tf.reduce_prod(shape)[None])
    made, wanted = tf.reshape(flat, shape), given.input(2)
    return made if wanted is None else tf.pad(made, tf.stack([tf.zeros_like(shape), wanted - shape], 1))


def _over_image(function: Callable) -> Operator:
    return lambda given: function(given.inputs[0], list(range(2, given.rank())), keepdims=True)


register_all({"GlobalAveragePool": _over_image(tf.reduce_mean), "GlobalMaxPool": _over_image(tf.reduce_max)})


@operator("GlobalLpPool")
def _global_lp_pool(given: Given) -> Any:
    x, power = given.inputs[0], given.attribute("p", 2)
    return tf.reduce_sum(tf.abs(x) ** power, list(range(2, given.rank())), keepdims=True) ** (1 / power)


@operator("Col2Im")
def _col2im(given: Given) -> Any:
    """Adds the columns of windows up, each where its window was."""
    x = given.inputs[0]
    image, block = given.numbers("image_shape", 1) or [], given.numbers("block_shape", 2) or []
    count = len(image)
    strides, dilations = _windows(given, count)
    pads = given.attribute("pads", [0] * 2 * count)
    steps = [
        (image[i] + pads[i] + pads[i + count] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
        for i in range(count)
    ]
    batch, rows, _ = sizes_of(x)
    channels = rows // math.prod(block)
    whole = [image[i] + pads[i] + pads[i + count] for i in range(count)]
    grids = np.indices([*block, *steps])
    at = [grids[i] * dilations[i] + grids[count + i] * strides[i] for i in range(count)]
    places = np.ravel_multi_index(at, whole).reshape(-1)
    columns = tf.reshape(x, [batch * channels, places.size])
    sums = tf.transpose(tf.unsorted_segment_sum(tf.transpose(columns), places, math.prod(whole)))
    made = tf.reshape(sums, [batch, channels, *whole])
    return _resized(made, pads[:count], pads[count:])
