"""Images taken at other places than their own: resized, along a grid, in regions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, operator, sizes_of

Taps = list[tuple[Any, Any]]  # places along an axis, as int32, and their weights

# ---------------------------------------------------------------------------- resized


@operator("Resize", "Upsample")
def _resize(given: Given) -> Any:
    x = given.inputs[0]
    axes = [axis % given.rank() for axis in given.attribute("axes", range(given.rank()))]
    lengths = [sizes_of(x)[axis] for axis in axes]
    roi = given.input(1) if given.opset >= 11 else None
    for i, (axis, (scale, size)) in enumerate(zip(axes, _scales_and_sizes(given, lengths), strict=True)):
        region = None if roi is None else (roi[i], roi[i + len(axes)])
        x = _along(given, x, axis, scale, size, region)
    return x


def _scales_and_sizes(given: Given, lengths: Sequence[Any]) -> list[tuple[Any, Any]]:
    """By axis, how much larger it becomes, and how large. Numbers where they are known."""
    if "scales" in given.attributes:  # of Upsample, before version 9
        scales = list(given.attribute("scales"))
    else:
        at = 2 if given.opset >= 11 else 1
        if given.input(at) is None or given.inputs[at].shape.as_list() == [0]:
            return _given_sizes(given, lengths)
        known = given.array(at)
        scales = tf.unstack(given.inputs[at], len(lengths)) if known is None else known.tolist()
    return [(scale, _times(length, scale)) for length, scale in zip(lengths, scales, strict=True)]


def _times(length: Any, scale: Any) -> Any:
    if isinstance(length, int) and isinstance(scale, float):
        return math.floor(np.float32(length) * np.float32(scale))
    return tf.cast(tf.floor(tf.cast(length, tf.float32) * scale), tf.int32)


def _given_sizes(given: Given, lengths: Sequence[Any]) -> list[tuple[Any, Any]]:
    known = given.array(3)
    sizes = tf.unstack(tf.cast(given.inputs[3], tf.int32), len(lengths)) if known is None else known.tolist()
    ratios = [_ratio(size, length) for size, length in zip(sizes, lengths, strict=True)]
    policy = given.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return list(zip(ratios, sizes, strict=True))
    one = (tf.reduce_min if policy == "not_larger" else tf.reduce_max)(tf.stack(ratios))
    return [(one, tf.cast(tf.floor(one * tf.cast(n, tf.float32) + 0.5), tf.int32)) for n in lengths]


def _ratio(size: Any, length: Any) -> Any:
    if isinstance(size, int) and isinstance(length, int):
        return float(np.float32(size) / np.float32(length))
    return tf.cast(size, tf.float32) / tf.cast(length, tf.float32)


def _along(given: Given, x: Any, axis: int, scale: Any, size: Any, region: Any) -> Any:
    """One axis in its new size."""
    how = given.attribute(
        "coordinate_transformation_mode", "half_pixel" if given.opset >= 11 else "asymmetric"
    )
    length, mode = sizes_of(x)[axis], given.attribute("mode", "nearest")
    if isinstance(scale, float) and scale == 1 and how != "tf_crop_and_resize":
        return x
    at = _origins(how, tf.cast(tf.range(size), tf.float32), _as_float(length), _as_float(size), scale, region)
    if given.flag("antialias") and mode != "nearest":
        made = _filtered(given, x, axis, at, length, scale)
    else:
        made = _weighed(x, axis, length, _taps(given, mode, at, length))
    if how != "tf_crop_and_resize":
        return made
    outside = (at < 0) | (at > _as_float(length) - 1)
    rank = x.shape.ndims
    outside = tf.reshape(outside, [-1 if i == axis else 1 for i in range(rank)])
    return tf.where_v2(outside, tf.cast(given.attribute("extrapolation_value", 0.0), made.dtype), made)


def _as_float(value: Any) -> Any:
    return tf.cast(value, tf.float32)


def _origins(how: str, at: Any, length: Any, size: Any, scale: Any, region: Any) -> Any:
    """Where the places of a resized axis were before."""
    if how == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if how == "pytorch_half_pixel":
        return tf.where_v2(size > 1, (at + 0.5) / scale - 0.5, tf.zeros_like(at))
    if how == "half_pixel_symmetric":
        center = length / 2
        return center * (1 - size / (scale * length)) + (at + 0.5) / scale - 0.5
    if how == "align_corners":
        return tf.where_v2(size > 1, at * (length - 1) / tf.maximum(size - 1, 1), tf.zeros_like(at))
    if how == "asymmetric":
        return at / scale
    if how == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    if how == "tf_crop_and_resize":
        first, last = (_as_float(each) for each in region)
        wide = first * (length - 1) + at * (last - first) * (length - 1) / tf.maximum(size - 1, 1)
        return tf.where_v2(size > 1, wide, 0.5 * (first + last) * (length - 1) + tf.zeros_like(at))
    raise ValueError(f"coordinate_transformation_mode {how} is not known")


_NEAREST: dict[str, Callable] = {
    "round_prefer_floor": lambda at: tf.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: tf.floor(at + 0.5),
    "floor": tf.floor,
    "ceil": tf.ceil,
}


def _taps(given: Given, mode: str, at: Any, length: Any) -> Taps:
    if mode == "nearest":
        default = "round_prefer_floor" if given.opset >= 11 else "floor"
        return [(tf.cast(_NEAREST[given.attribute("nearest_mode", default)](at), tf.int32), None)]
    if mode == "linear":
        return _linear_taps(at)
    taps = _cubic_taps(at, given.attribute("cubic_coeff_a", -0.75))
    if not given.flag("exclude_outside"):
        return taps
    inside = [(place, weight * _as_float((place >= 0) & (place < length))) for place, weight in taps]
    total = tf.add_n([weight for _, weight in inside])
    return [(place, weight / total) for place, weight in inside]


def _linear_taps(at: Any) -> Taps:
    low = tf.floor(at)
    return [(tf.cast(low, tf.int32), 1 - (at - low)), (tf.cast(low, tf.int32) + 1, at - low)]


def _cubic_taps(at: Any, a: float) -> Taps:
    low = tf.floor(at)
    return [(tf.cast(low, tf.int32) + i, _cubic(at - low - i, a)) for i in (-1, 0, 1, 2)]


def _cubic(distance: Any, a: float) -> Any:
    """Keys' piecewise cubic filter."""
    d = tf.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return tf.where_v2(d <= 1, near, tf.where_v2(d < 2, far, tf.zeros_like(d)))


def _weighed(x: Any, axis: int, length: Any, taps: Taps) -> Any:
    """The sum of what stands at places along an axis; places outside are its ends."""
    total = None
    for place, weight in taps:
        value = tf.gather(x, tf.clip_by_value(place, 0, length - 1), axis=axis)
        if weight is not None:
            shape = [-1 if i == axis else 1 for i in range(x.shape.ndims)]
            value *= tf.cast(tf.reshape(weight, shape), x.dtype)
        total = value if total is None else total + value
    return total


def _filtered(given: Given, x: Any, axis: int, at: Any, length: Any, scale: Any) -> Any:
    """Each new number is the mean of all old ones near it, so that none is left out."""
    shrink = tf.minimum(_as_float(scale), 1.0)
    reach = tf.cast(tf.ceil(2 / shrink), tf.int32) + 1
    places = tf.range(-reach, length + reach)
    distance = (_as_float(places) - at[:, None]) * shrink
    if given.attribute("mode") == "linear":
        weights = tf.maximum(1 - tf.abs(distance), 0.0)
    else:
        weights = _cubic(distance, given.attribute("cubic_coeff_a", -0.75))
    if given.flag("exclude_outside"):
        weights *= _as_float((places >= 0) & (places < length))
    weights /= tf.reduce_sum(weights, 1, keepdims=True)
    # What lies outside counts as the ends of the axis.
    columns = tf.clip_by_value(places, 0, length - 1)
    weights = tf.transpose(tf.unsorted_segment_sum(tf.transpose(weights), columns, length))
    rank = x.shape.ndims
    order = [*(i for i in range(rank) if i != axis), axis]
    made = tf.tensordot(tf.transpose(x, order), tf.cast(tf.transpose(weights), x.dtype), 1)
    return tf.transpose(made, [order.index(i) for i in range(rank)])


# ---------------------------------------------------------------------------- along a grid


@operator("GridSample")
def _grid_sample(given: Given) -> Any:
    x, grid = given.inputs
    lengths = sizes_of(x)[2:]
    mode = given.attribute("mode", "linear").removeprefix("bi")
    padding = given.attribute("padding_mode", "zeros")
    taps = []
    for i, length in enumerate(lengths):
        at = grid[..., len(lengths) - 1 - i]
        low, high = (
            (0.0, _as_float(length) - 1) if given.flag("align_corners") else (-0.5, _as_float(length) - 0.5)
        )
        at = (at + 1) / 2 * (high - low) + low
        if mode != "cubic":
            at = _within(padding, at, low, high, length)
        taps.append(
            [_inside(padding, place, weight, low, high, length) for place, weight in _grid_taps(mode, at)]
        )
    return _gathered(x, lengths, taps)


def _grid_taps(mode: str, at: Any) -> Taps:
    if mode == "nearest":
        return [(tf.cast(tf.round(at), tf.int32), tf.ones_like(at))]
    return _linear_taps(at) if mode == "linear" else _cubic_taps(at, -0.75)


def _within(padding: str, at: Any, low: Any, high: Any, length: Any) -> Any:
    if padding == "border":
        return tf.clip_by_value(at, 0.0, _as_float(length) - 1)
    return _reflected(at, low, high) if padding == "reflection" else at


def _reflected(at: Any, low: Any, high: Any) -> Any:
    """Places outside, mirrored at both ends until they are inside."""
    span = tf.maximum(high - low, 1e-6)
    around = tf.floormod(at - low, 2 * span)
    return low + tf.minimum(around, 2 * span - around)


def _inside(padding: str, place: Any, weight: Any, low: Any, high: Any, length: Any) -> tuple[Any, Any]:
    """A place that is there, with no weight if what is outside counts as zero."""
    if padding == "zeros":
        weight = tf.where_v2((place >= 0) & (place < length), weight, tf.zeros_like(weight))
    elif padding == "reflection":
        place = tf.cast(tf.round(_reflected(_as_float(place), low, high)), tf.int32)
    return tf.clip_by_value(place, 0, length - 1), weight


def _gathered(x: Any, lengths: Sequence[Any], taps: Sequence[Taps]) -> Any:
    """Sums over all combinations of the taps of the axes. Places have the batch as their first axis."""
    channels_last = tf.transpose(x, [0, *range(2, x.shape.ndims), 1])
    batch, channels = sizes_of(x)[:2]
    flat = tf.reshape(channels_last, tf.stack([batch, -1, channels]))
    total = None
    for chosen in itertools.product(*taps):
        place, weight = 0, 1.0
        for length, (at, share) in zip(lengths, chosen, strict=True):
            place, weight = place * length + at, weight * share
        value = tf.gather(flat, place, batch_dims=1, axis=1) * tf.cast(weight, x.dtype)[..., None]
        total = value if total is None else total + value
    rank = total.shape.ndims
    return tf.transpose(total, [0, rank - 1, *range(1, rank - 1)])


@operator("AffineGrid")
def _affine_grid(given: Given) -> Any:
    """The places from which an image is taken that is turned, moved and stretched."""
    theta, sizes = given.inputs
    spatial = tf.unstack(tf.cast(sizes, tf.int32), theta.shape.as_list()[1] + 2)[2:]
    axes = []
    for size in spatial:
        steps = _as_float(tf.range(size))
        if given.flag("align_corners"):
            axes.append(steps * 2 / tf.maximum(_as_float(size) - 1, 1.0) - 1)
        else:
            axes.append((2 * steps + 1) / _as_float(size) - 1)
    grids = tf.meshgrid(*axes, indexing="ij")
    points = tf.cast(tf.stack([*grids[::-1], tf.ones_like(grids[0])], -1), theta.dtype)
    turned = tf.matmul(tf.reshape(points, [1, -1, len(axes) + 1]), tf.transpose(theta, [0, 2, 1]))
    return tf.reshape(turned, tf.stack([tf.shape(theta)[0], *spatial, len(axes)]))


@operator("DeformConv")
def _deform_conv(given: Given) -> Any:
    """A convolution whose windows take their numbers from beside their places."""
    x, weights, offsets = given.inputs[:3]
    bias, mask = given.input(3), given.input(4)
    kernel = weights.shape.as_list()[2:]
    count, groups = len(kernel), given.attribute("group", 1)
    of_offsets = given.attribute("offset_group", 1)
    strides, dilations, pads = (
        given.attribute(name, default)
        for name, default in (("strides", [1] * count), ("dilations", [1] * count), ("pads", [0] * 2 * count))
    )
    batch, channels, *lengths = sizes_of(x)
    steps = sizes_of(offsets)[2:]
    points = math.prod(kernel)
    moved = tf.reshape(offsets, tf.stack([batch * of_offsets, points, count, *steps]))
    grid = np.indices(kernel).reshape(count, points)
    taps = []
    for i, length in enumerate(lengths):
        start = _as_float(tf.range(steps[i]) * strides[i] - pads[i])
        start = tf.reshape(start, [1, 1, *(-1 if k == i else 1 for k in range(count))])
        inner = np.reshape(grid[i] * dilations[i], [1, points, *[1] * count]).astype(np.float32)
        at = start + inner + _as_float(moved[:, :, i])
        taps.append([_inside("zeros", place, share, 0.0, 0.0, length) for place, share in _linear_taps(at)])
    images = tf.reshape(x, tf.stack([batch * of_offsets, channels // of_offsets, *lengths]))
    taken = _gathered(images, lengths, taps)
    if mask is not None:
        taken *= tf.reshape(mask, tf.stack([batch * of_offsets, 1, points, *steps]))
    columns = tf.reshape(taken, tf.stack([batch, groups, channels // groups * points, -1]))
    filters = tf.reshape(weights, [1, groups, -1, weights.shape.as_list()[1] * points])
    made = tf.reshape(tf.matmul(filters, columns), tf.stack([batch, -1, *steps]))
    return made if bias is None else made + tf.reshape(bias, [1, -1, *[1] * count])


# ---------------------------------------------------------------------------- regions


@operator("RoiAlign")
def _roi_align(given: Given) -> Any:
    """The mean, or the largest, of points in each cell of regions."""
    x, regions, batches = given.inputs
    half_pixel = (
        given.attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel" and given.opset >= 16
    )
    corners = regions * given.attribute("spatial_scale", 1.0) - (0.5 if half_pixel else 0.0)
    least, ratio = (0.0 if half_pixel else 1.0), given.attribute("sampling_ratio", 0)
    taps, shares = [], []
    for i, cells in enumerate((given.attribute("output_height", 1), given.attribute("output_width", 1))):
        first = corners[:, 1 - i]
        extent = corners[:, 3 - i] - first
        extent = extent if half_pixel else tf.maximum(extent, least)
        points = tf.fill(tf.shape(first), ratio) if ratio else tf.cast(tf.ceil(extent / cells), tf.int32)
        points = tf.maximum(points, 1)
        at, share = _points(first, extent / cells, cells, points, ratio)
        taps.append(_point_taps(at, sizes_of(x)[2 + i]))
        shares.append(share)
    averages = given.attribute("mode", "avg") == "avg"
    combined = _gathered_regions(tf.gather(x, batches), taps, tf.add if averages else tf.maximum)
    weight = shares[0][:, None, :, :, None, None] * shares[1][:, None, None, None, :, :]
    if averages:
        counts = tf.reduce_sum(weight, [3, 5])
        return tf.reduce_sum(combined * weight, [3, 5]) / counts
    return tf.reduce_max(tf.where_v2(weight > 0, combined, x.dtype.min), [3, 5])


def _points(first: Any, cell: Any, cells: int, points: Any, ratio: int) -> tuple[Any, Any]:
    """Of each region: where the points of its cells are, [regions, cells, points], and which are its own."""
    most = ratio or tf.reduce_max(points)
    step = tf.cast(tf.range(most), tf.float32) + 0.5
    own = tf.cast(tf.range(most) < points[:, None], tf.float32)
    inner = step * (cell / _as_float(points))[:, None]
    starts = first[:, None] + _as_float(tf.range(cells)) * cell[:, None]
    return starts[:, :, None] + inner[:, None], tf.tile(own[:, None], [1, cells, 1])


def _point_taps(at: Any, length: Any) -> Taps:
    inside = _as_float((at >= -1) & (at <= _as_float(length)))
    at = tf.clip_by_value(at, 0.0, _as_float(length) - 1)
    return [(tf.clip_by_value(place, 0, length - 1), weight * inside) for place, weight in _linear_taps(at)]


def _gathered_regions(images: Any, taps: Sequence[Taps], join: Callable) -> Any:
    """[regions, channels, rows of cells, points, columns of cells, points]."""
    total = None
    for row, row_weight in taps[0]:
        rows = tf.gather(tf.transpose(images, [0, 2, 1, 3]), row, batch_dims=1, axis=1)
        for column, column_weight in taps[1]:
            value = tf.gather(tf.transpose(rows, [0, 4, 1, 2, 3]), column, batch_dims=1, axis=1)
            weight = row_weight[:, None, None, :, :] * column_weight[:, :, :, None, None]
            value *= tf.cast(weight, images.dtype)[..., None]
            total = value if total is None else join(total, value)
    return tf.transpose(total, [0, 5, 3, 4, 1, 2])


@operator("MaxRoiPool")
def _max_roi_pool(given: Given) -> Any:
    """The largest pixel in each cell of regions, whose corners are rounded to pixels; 0 of an empty cell."""
    x, regions = given.inputs
    images = tf.gather(x, tf.cast(regions[:, 0], tf.int32))
    scaled = regions[:, 1:] * given.attribute("spatial_scale", 1.0)
    corners = tf.sign(scaled) * tf.floor(tf.abs(scaled) + 0.5)
    for i, cells in enumerate(given.attribute("pooled_shape")):
        first, last = corners[:, 1 - i], corners[:, 3 - i]
        images = _largest_in_cells(images, 2 + i, first, tf.maximum(last - first + 1, 1.0) / cells, cells)
    return tf.where_v2(tf.equal(images, -np.inf), tf.zeros([], x.dtype), images)


def _largest_in_cells(images: Any, axis: int, first: Any, cell: Any, cells: int) -> Any:
    """Along an axis of images, one for each region, the largest value of each cell; -inf of an empty one."""
    length = sizes_of(images)[axis]
    places = _as_float(tf.range(length))
    shape = [-1, 1, 1, 1]
    shape[axis] = length
    lowest = tf.constant(-np.inf, images.dtype)
    found = []
    for i in range(cells):
        begin, end = first + tf.floor(i * cell), first + tf.ceil((i + 1) * cell)
        own = (places >= begin[:, None]) & (places < end[:, None])
        found.append(tf.reduce_max(tf.where_v2(tf.reshape(own, shape), images, lowest), axis))
    return tf.stack(found, axis)


@operator("NonMaxSuppression")
def _non_max_suppression(given: Given) -> Any:
    """Of each image and class, the boxes that overlap no better one."""
    boxes, scores = given.inputs[:2]
    most = tf.reshape(given.inputs[2], []) if given.input(2) is not None else tf.constant(0, tf.int64)
    overlap = tf.reshape(given.inputs[3], []) if given.input(3) is not None else tf.constant(0.0)
    overlap = tf.minimum(tf.math.nextafter(overlap, 2.0), 1.0)  # ours leaves out what overlaps as much, too
    least = tf.reshape(given.inputs[4], []) if given.input(4) is not None else -np.inf
    if given.attribute("center_point_box", 0):
        x, y, width, height = tf.unstack(boxes, 4, -1)
        boxes = tf.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], -1)
    classes, count = tf.shape(scores)[1], tf.shape(scores)[0] * tf.shape(scores)[1]

    def select(i: Any, found: Any) -> tuple[Any, Any]:
        image, of_class = i // classes, i % classes
        limit = tf.cast(tf.minimum(most, tf.shape(boxes, out_type=tf.int64)[1]), tf.int32)
        kept = tf.image.non_max_suppression(boxes[image], scores[image, of_class], limit, overlap, least)
        rows = tf.stack([tf.fill(tf.shape(kept), image), tf.fill(tf.shape(kept), of_class), kept], 1)
        return i + 1, found.write(i, tf.cast(rows, tf.int64))

    found = tf.TensorArray(tf.int64, count, infer_shape=False, element_shape=[None, 3])
    return tf.while_loop(lambda i, _: i < count, select, [0, found])[1].concat()
