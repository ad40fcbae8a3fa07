"""Segments of gathered rows: SparseSegmentSum and its kin reduce `data[indices]` without keeping it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.arrays import indexing, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import merged, of_rank
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS, INDICES, REAL
from tideflow.ops.math import segments

INDEX = attr("type", dtypes.int32, allowed=INDICES)


def _sparse_op(name: str, allowed: tuple) -> Op:
    return Op(
        name,
        "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T",
        T=allowed,
        Tidx=INDEX,
        Tsegmentids=INDEX,
        sparse_gradient=False,
    )


def _counted_op(name: str, allowed: tuple) -> Op:
    return Op(
        f"{name}WithNumSegments",
        "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T",
        T=allowed,
        Tidx=INDEX,
        Tsegmentids=INDEX,
        Tnumsegments=INDEX,
        sparse_gradient=False,
        host="num_segments",
    )


sum_op, counted_sum_op = _sparse_op("SparseSegmentSum", REAL), _counted_op("SparseSegmentSum", REAL)
mean_op, counted_mean_op = _sparse_op("SparseSegmentMean", FLOATS), _counted_op("SparseSegmentMean", FLOATS)
sqrt_n_op, counted_sqrt_n_op = (
    _sparse_op("SparseSegmentSqrtN", FLOATS),
    _counted_op("SparseSegmentSqrtN", FLOATS),
)


def _gradient_op(name: str) -> Op:
    return Op(
        f"{name}Grad",
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
        T=FLOATS,
        Tidx=INDEX,
        Tsegmentids=INDEX,
        host="output_dim0",
    )


mean_grad_op, sqrt_n_grad_op = _gradient_op("SparseSegmentMean"), _gradient_op("SparseSegmentSqrtN")


def _sum_family_shape(data, indices, segment_ids):
    merged(of_rank(indices, 1), of_rank(segment_ids, 1))
    return segments.with_rows(None, data)


sqrt_n_op.shape(_sum_family_shape)
mean_op.shape(_sum_family_shape)
sum_op.shape(_sum_family_shape)


def _counted_sum_family_shape(data, indices, segment_ids, num_segments):
    merged(of_rank(indices, 1), of_rank(segment_ids, 1))
    return segments.with_rows(segments.row_count(num_segments, 3), data)


sqrt_n_grad_op.shape(_counted_sum_family_shape)
mean_grad_op.shape(_counted_sum_family_shape)
counted_sqrt_n_op.shape(_counted_sum_family_shape)
counted_mean_op.shape(_counted_sum_family_shape)
counted_sum_op.shape(_counted_sum_family_shape)


def _check_range(indices: torch.Tensor, count: int) -> None:
    wrong = torch.nonzero((indices < 0) | (indices >= count))
    if wrong.numel():
        at = int(wrong[0])
        raise ShapeError(f"indices[{at}] == {int(indices[at])} out of range [0, {count})")


def _kernel(divisor: Any) -> Any:
    """Sums of gathered rows, divided by a function of their number, or by nothing."""

    @unsigned.modular
    def kernel(data, indices, segment_ids, num_segments=None):
        ids, indices = segments.checked_ids(indices, segment_ids), indices.long()
        _check_range(indices, data.shape[0])
        count = segments.sorted_count(ids)
        if num_segments is not None:
            if count > segments.row_count(num_segments, 3):
                raise ShapeError(
                    f"segment ids must be < num_segments, but are up to {count - 1} of {num_segments}"
                )
            count = num_segments
        total = segments.folded(torch.index_select(data, 0, indices), ids, count, "sum", 0)
        if divisor is None:
            return total
        return total / divisor(segments.row_counts(ids, count, total).to(total.dtype))

    return kernel


def _itself(counts: torch.Tensor) -> torch.Tensor:
    return counts


for _plain, _counted, _divisor in (
    (sum_op, counted_sum_op, None),
    (mean_op, counted_mean_op, _itself),
    (sqrt_n_op, counted_sqrt_n_op, torch.sqrt),
):
    _plain.kernel(_kernel(_divisor))
    _counted.kernel(_kernel(_divisor))


def _gradient_kernel(divisor: Any) -> Any:
    """Each gathered row gets its segment's gradient, divided as the segment was, added up by index."""

    def kernel(grad, indices, segment_ids, output_dim0):
        ids, indices = segments.checked_ids(indices, segment_ids), indices.long()
        _check_range(indices, output_dim0)
        _check_range(ids, grad.shape[0])
        counts = segments.row_counts(ids, grad.shape[0], grad).to(grad.dtype)
        rows = torch.index_select(grad / divisor(counts), 0, ids)
        return segments.folded(rows, indices, output_dim0, "sum", 0)

    return kernel


mean_grad_op.kernel(_gradient_kernel(_itself))
sqrt_n_grad_op.kernel(_gradient_kernel(torch.sqrt))


def _rows(tensor: Tensor) -> Tensor:
    return shapes.shape(tensor)[0]


def _sum_family_gradient(op, grad):
    data, indices, ids = op.inputs[:3]
    rows = _rows(data)
    spread = segments.unsorted_segment_sum(indexing.gather(grad, ids), indices, rows)
    return [spread] + [None] * (len(op.inputs) - 1)


counted_sum_op.gradient(_sum_family_gradient)
sum_op.gradient(_sum_family_gradient)


def _by_op(gradient_op: Op) -> Any:
    def gradient(op, grad):
        data, indices, ids = op.inputs[:3]
        return [gradient_op(grad, indices, ids, _rows(data))] + [None] * (len(op.inputs) - 1)

    return gradient


mean_op.gradient(_by_op(mean_grad_op))
counted_mean_op.gradient(_by_op(mean_grad_op))
sqrt_n_op.gradient(_by_op(sqrt_n_grad_op))
counted_sqrt_n_op.gradient(_by_op(sqrt_n_grad_op))


@mean_grad_op.gradient
def _mean_grad_gradient(op, grad):
    rows, indices, ids, _ = op.inputs
    return [sparse_segment_mean(grad, indices, ids, num_segments=_rows(rows)), None, None, None]


@sqrt_n_grad_op.gradient
def _sqrt_n_grad_gradient(op, grad):
    rows, indices, ids, _ = op.inputs
    return [sparse_segment_sqrt_n(grad, indices, ids, num_segments=_rows(rows)), None, None, None]


_INDICES, _IDS = np.array([1, 0, 0, 2], np.int32), np.array([0, 0, 2, 2], np.int32)


def _against(divisor: Any) -> Any:
    def reference(data, indices, ids, count=None):
        count = int(max(ids, default=-1)) + 1 if count is None else int(count)
        result = np.zeros((count, *data.shape[1:]), data.dtype)
        np.add.at(result, ids, data[indices])
        number = np.maximum(1, np.bincount(ids, minlength=count)).reshape(-1, *[1] * (data.ndim - 1))
        return (result / divisor(number)).astype(data.dtype)

    return reference


for _plain, _counted, _divisor in (
    (sum_op, counted_sum_op, np.ones_like),
    (mean_op, counted_mean_op, np.positive),
    (sqrt_n_op, counted_sqrt_n_op, np.sqrt),
):
    _plain.samples((f32(3, 2), _INDICES, _IDS), (f32(3), _INDICES, _IDS), against=_against(_divisor))
    _plain.samples((f32(3, 2), np.zeros(0, np.int32), np.zeros(0, np.int32)))
    _plain.refuses((f32(3, 2), _INDICES, _IDS[:2]), "must be equal, but are 4 and 2")
    _plain.refuses((f32(2, 2), _INDICES, _IDS), "indices[3] == 2 out of range [0, 2)", InvalidArgumentError)
    _counted.samples((f32(3, 2), _INDICES, _IDS, 4), against=_against(_divisor))
    _counted.samples((f32(3, 2), np.zeros(0, np.int32), np.zeros(0, np.int32), 2))
    _counted.refuses((f32(3, 2), _INDICES, _IDS, -1), "must be non-negative but is -1")
    _counted.refuses((f32(3, 2), _INDICES, _IDS, 2), "must be < num_segments", InvalidArgumentError)


def _add_samples_and_refuses_of_mean_grad_family(op: Op) -> None:
    op.samples((f32(3, 2), _INDICES, _IDS, 4), (f32(3), _INDICES, _IDS, 3))
    op.refuses((f32(3, 2), _INDICES, _IDS, 2), "indices[3] == 2 out of range [0, 2)", InvalidArgumentError)


_add_samples_and_refuses_of_mean_grad_family(mean_grad_op)
_add_samples_and_refuses_of_mean_grad_family(sqrt_n_grad_op)


def _call(plain: Op, counted: Op, data: Any, indices: Any, ids: Any, name: str | None, count: Any) -> Tensor:
    if count is None:
        return plain(data, indices, ids, name=name)
    return counted(data, indices, ids, count, name=name)


@export("sparse_segment_sum", "sparse.segment_sum")
def sparse_segment_sum(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """Sums of the rows `data[indices]` with equal, sorted ids."""
    return _call(sum_op, counted_sum_op, data, indices, segment_ids, name, num_segments)


@export("sparse_segment_mean", "sparse.segment_mean")
def sparse_segment_mean(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """Means of the rows `data[indices]` with equal, sorted ids."""
    return _call(mean_op, counted_mean_op, data, indices, segment_ids, name, num_segments)


@export("sparse_segment_sqrt_n", "sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """Sums of the rows `data[indices]` with equal, sorted ids, divided by the square root of their number."""
    return _call(sqrt_n_op, counted_sqrt_n_op, data, indices, segment_ids, name, num_segments)
