"""Kernels for ops whose own ones look at values, or compute in NumPy: the same of PyTorch's operations alone,
so that a trace of them is right for all values. They are slower here, and used for nothing but tracing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph.op import Op
from tideflow.ops.arrays.distinct import unique_op, unique_with_counts_op
from tideflow.ops.arrays.indexing import select_op
from tideflow.ops.images import crop, resize, suppression
from tideflow.ops.math import segments
from tideflow.ops.sparse import parts, sparse_segments
from tideflow.ops.sparse.with_dense import sparse_to_dense_op

KERNELS: dict[Op, Callable[..., Any]] = {}


def _kernel_of(*ops: Op) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        KERNELS.update(dict.fromkeys(ops, kernel))
        return kernel

    return register


# -------------------------------------------------------------------------------- suppression


def _suppress(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    limit: int,
    threshold: float,
    least: float = -math.inf,
    sigma: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Places and scores of the chosen boxes, best first; -1 after the last."""
    boxes, scores = boxes.float(), scores.float()
    starts = torch.minimum(boxes[:, :2], boxes[:, 2:])
    stops = torch.maximum(boxes[:, :2], boxes[:, 2:])
    areas = torch.prod(stops - starts, 1)
    numbers = torch.arange(boxes.shape[0], device=boxes.device)

    def goes_on(count: Any, left: Any, chosen: Any, found: Any, *taken: Any) -> torch.Tensor:
        return (count < limit) & (left > -math.inf).any()

    def choose(
        count: Any, left: Any, chosen: Any, found: Any, starts: Any, stops: Any, areas: Any, numbers: Any
    ) -> tuple[torch.Tensor, ...]:
        best = left.argmax().reshape([1])
        score = left[best]
        inner = torch.minimum(stops, stops[best]) - torch.maximum(starts, starts[best])
        shared = torch.prod(inner.clamp(min=0), 1)
        overlap = shared / (areas + areas[best] - shared)
        overlap = torch.where((areas > 0) & (areas[best] > 0), overlap, torch.zeros_like(overlap))
        out = (overlap >= threshold) | (numbers == best)
        if sigma:
            left = left * torch.exp(-0.5 / sigma * overlap * overlap)
            out = out | (left <= least)
        left = torch.where(out, torch.full_like(left, -math.inf), left)
        place = count.reshape([1])
        return (
            count + 1,
            left,
            torch.index_put(chosen, (place,), best),
            torch.index_put(found, (place,), score),
        )

    initial = (
        torch.zeros([], dtype=torch.int64),
        torch.where(scores > least, scores, torch.full_like(scores, -math.inf)),
        torch.full([limit], -1, dtype=torch.int64),
        torch.zeros([limit]),
    )
    taken = starts, stops, areas, numbers
    _, _, chosen, found = torch.ops.higher_order.while_loop(goes_on, choose, initial, taken)
    return chosen, found


@_kernel_of(suppression.nms_op)
def _nms(boxes, scores, max_output_size, *, iou_threshold):
    return _nms_v2(boxes, scores, max_output_size, iou_threshold)


@_kernel_of(suppression.nms_v2_op, suppression.nms_v3_op)
def _nms_v2(boxes, scores, max_output_size, *thresholds):
    chosen, _ = _suppress(boxes, scores, max_output_size, *thresholds)
    return _places(chosen, is_padded=False)


@_kernel_of(suppression.nms_v4_op)
def _nms_v4(boxes, scores, max_output_size, *thresholds, pad_to_max_output_size):
    chosen, _ = _suppress(boxes, scores, max_output_size, *thresholds)
    return _places(chosen, pad_to_max_output_size), _count(chosen)


@_kernel_of(suppression.nms_v5_op)
def _nms_v5(boxes, scores, max_output_size, *thresholds, pad_to_max_output_size):
    chosen, found = _suppress(boxes, scores, max_output_size, *thresholds)
    best = found if pad_to_max_output_size else found[chosen >= 0]
    return _places(chosen, pad_to_max_output_size), best.to(scores.dtype), _count(chosen)


def _places(chosen: torch.Tensor, is_padded: bool) -> torch.Tensor:
    found = chosen.clamp(min=0) if is_padded else chosen[chosen >= 0]
    return found.to(torch.int32)


def _count(chosen: torch.Tensor) -> torch.Tensor:
    return (chosen >= 0).sum().to(torch.int32)


# -------------------------------------------------------------------------------- sizes of images


def _has_symbols(images: torch.Tensor, size: Any) -> bool:
    return any(isinstance(each, torch.SymInt) for each in (*images.shape[1:3], *size))


def _positions(old: Any, new: Any, align_corners: bool, half_pixel_centers: bool, shift: float) -> Any:
    """Where along an axis of the input each output element lies; `shift` is the middle of an element."""
    before, after = (torch.scalar_tensor(size, dtype=torch.float32) for size in (old, new))
    scale = before / after
    if align_corners:
        scale = torch.where(after > 1, (before - 1) / (after - 1).clamp(min=1), scale)
    numbers = torch.arange(new, dtype=torch.float32)
    return (numbers + 0.5) * scale - shift if half_pixel_centers else numbers * scale


@_kernel_of(resize.resize_bilinear_op)
def _resize_bilinear(images, size, *, align_corners, half_pixel_centers):
    if not _has_symbols(images, size):
        own = resize.resize_bilinear_op.kernels[""]
        return own(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
    found = images.float()
    for axis in (2, 1):
        old = found.shape[axis]
        at = _positions(old, size[axis - 1], align_corners, half_pixel_centers, 0.5)
        below = torch.floor(at)
        first = found.index_select(axis, below.clamp(min=0).long())
        second = found.index_select(axis, torch.ceil(at).long().clamp(max=old - 1))
        weights = (at - below).reshape([-1] + [1] * (3 - axis))
        found = (second - first) * weights + first
    return found


@_kernel_of(resize.resize_nearest_neighbor_op)
def _resize_nearest_neighbor(images, size, *, align_corners, half_pixel_centers):
    if not _has_symbols(images, size):
        own = resize.resize_nearest_neighbor_op.kernels[""]
        return own(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
    for axis in (2, 1):
        old = images.shape[axis]
        at = _positions(old, size[axis - 1], align_corners, half_pixel_centers, 0.0)
        at = torch.floor(at + 0.5 if align_corners else at)
        images = images.index_select(axis, at.long().clamp(max=old - 1))
    return images


@_kernel_of(crop.crop_and_resize_op)
def _crop_and_resize(image, boxes, box_ind, crop_size, *, method, extrapolation_value):
    return crop.cropped(image, boxes, box_ind, crop_size, method, extrapolation_value)


# -------------------------------------------------------------------------------- distinct elements


def _distinct(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Whether each element is the first of its value, and its number among those that are."""
    ordered, order = torch.sort(x)
    begins = ordered != torch.cat([ordered[:1], ordered[:-1]])
    group = begins.to(torch.int64).cumsum(0)
    places = torch.arange(x.shape[0], device=x.device)
    first = torch.full_like(places, 2**62).scatter_reduce(0, group, order, "amin")
    mine = torch.zeros_like(places).scatter(0, order, first.index_select(0, group))
    is_first = mine == places
    return is_first, (is_first.to(torch.int64).cumsum(0) - 1).index_select(0, mine)


@_kernel_of(unique_op)
def _unique(x, *, out_idx):
    is_first, numbers = _distinct(x)
    return x[is_first], numbers.to(out_idx.torch)


@_kernel_of(unique_with_counts_op)
def _unique_with_counts(x, *, out_idx):
    is_first, numbers = _distinct(x)
    found = x[is_first]
    counts = torch.zeros_like(found, dtype=torch.int64).scatter_add(0, numbers, torch.ones_like(numbers))
    return found, numbers.to(out_idx.torch), counts.to(out_idx.torch)


# -------------------------------------------------------------------------------- rows and segments


@_kernel_of(parts.sparse_fill_empty_rows_op)
def _sparse_fill_empty_rows(indices, values, dense_shape, default_value):
    rows = indices[:, 0]
    ones = torch.ones_like(rows)
    is_empty = torch.zeros([dense_shape[0]], dtype=torch.int64).scatter_add(0, rows, ones) == 0
    missing = is_empty.nonzero()  # a column
    added = torch.cat([missing, missing.new_zeros([missing.shape[0], len(dense_shape) - 1])], 1)
    every = torch.cat([indices, added])
    places = torch.arange(every.shape[0])
    order = torch.argsort(every[:, 0] * every.shape[0] + places)
    where_to = torch.zeros_like(places).scatter(0, order, places)
    filled = torch.cat([values, default_value.reshape([1]).expand(missing.shape[0])])
    return every[order], filled[order], is_empty, where_to[: indices.shape[0]]


@_kernel_of(sparse_to_dense_op)
def _sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value):
    at = sparse_indices.long()
    at = at.reshape([-1, at.shape[1] if at.ndim == 2 else 1])
    dense = default_value.expand(output_shape).clone()
    return torch.index_put(dense, at.unbind(1), sparse_values.expand([at.shape[0]]))


def _segment_count(ids: torch.Tensor) -> Any:
    """As many as the largest id says; none if there are no ids."""
    count = torch.cat([ids, ids.new_full([1], -1)]).max().item() + 1
    torch._check(count >= 0)
    return count


def _summed(data: torch.Tensor, ids: torch.Tensor, count: Any) -> torch.Tensor:
    return data.new_zeros([count, *data.shape[1:]]).index_add(0, ids, data)


def _row_counts(ids: torch.Tensor, count: Any, like: torch.Tensor) -> torch.Tensor:
    found = torch.zeros([count], dtype=torch.int64).scatter_add(0, ids, torch.ones_like(ids))
    return found.clamp(min=1).to(like.dtype).reshape([-1] + [1] * (like.ndim - 1))


@_kernel_of(segments.segment_sum_op)
def _segment_sum(data, segment_ids):
    ids = segment_ids.long()
    return _summed(data, ids, _segment_count(ids))


@_kernel_of(segments.segment_mean_op)
def _segment_mean(data, segment_ids):
    total = _segment_sum(data, segment_ids)
    counts = _row_counts(segment_ids.long(), total.shape[0], total)
    if data.is_floating_point() or data.is_complex():
        return total / counts
    return torch.div(total, counts, rounding_mode="trunc")


def _sparse_segments(divisor: Callable[[torch.Tensor], torch.Tensor] | None) -> Callable[..., Any]:
    def kernel(data, indices, segment_ids, num_segments=None):
        ids = segment_ids.long()
        count = _segment_count(ids) if num_segments is None else num_segments
        total = _summed(data.index_select(0, indices), ids, count)
        return total if divisor is None else total / divisor(_row_counts(ids, count, total))

    return kernel


_kernel_of(sparse_segments.sum_op, sparse_segments.counted_sum_op)(_sparse_segments(None))
_kernel_of(sparse_segments.mean_op, sparse_segments.counted_mean_op)(_sparse_segments(lambda count: count))
_kernel_of(sparse_segments.sqrt_n_op, sparse_segments.counted_sqrt_n_op)(_sparse_segments(torch.sqrt))


# -------------------------------------------------------------------------------- choices


@_kernel_of(select_op)
def _select(condition, t, e):
    if condition.ndim == 1:  # of rows
        condition = condition.reshape([-1] + [1] * (t.ndim - 1))
    return torch.where(condition, t, e)
