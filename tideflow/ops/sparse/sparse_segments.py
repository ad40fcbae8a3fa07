"""Segments of gathered rows: SparseSegmentSum and its kin reduce `data[indices]` without keeping it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.ops.arrays import indexing, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import merged, of_rank, scalar
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS, INDICES, REAL
from tideflow.ops.math import segments

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

INDEX = attr("type", dtypes.int32, allowed=INDICES)


def _check_range(indices: torch.Tensor, count: int, said: str = "Bad: indices[{at}] == {index}") -> None:
    wrong = torch.nonzero((indices < 0) | (indices >= count))
    if wrong.numel():
        at = int(wrong[0])
        raise ShapeError(f"{said.format(at=at, index=int(indices[at]))} out of range [0, {count}).")


def _checked_ids(indices: torch.Tensor, segment_ids: torch.Tensor) -> torch.Tensor:
    """The ids as int64, one for each index."""
    for name, value in (("indices", indices), ("segment_ids", segment_ids)):
        if value.dim() != 1:
            raise ShapeError(f"{name} should be a vector.")
    if len(indices) != len(segment_ids):
        raise ShapeError("segment_ids and indices should have same size.")
    return segment_ids.long()


def _segments_kernel(divisor: Callable | None) -> Callable:
    """Sums of gathered rows, divided by a function of their number, or by nothing."""

    @unsigned.modular
    def _kernel(data, indices, segment_ids, num_segments=None):
        ids, indices = _checked_ids(indices, segment_ids), indices.long()
        _check_range(indices, data.shape[0])
        counted = num_segments is not None
        count = segments.sorted_count(ids, order_first=counted)
        if counted:
            if count > _segment_count(num_segments):
                raise ShapeError(
                    f"segment ids must be < num_segments, but are up to {count - 1} of {num_segments}"
                )
            count = num_segments
        total = segments.sums_in_order(data, indices, ids, count)
        if divisor is None:
            return total
        return total / divisor(segments.row_counts(ids, count, total).to(total.dtype))

    return _kernel


def _rows(tensor: Tensor) -> Tensor:
    return shapes.shape(tensor)[0]


def _sum_gradient(op: Operation, grad: Tensor) -> list:
    data, indices, ids = op.inputs[:3]
    rows = _rows(data)
    spread = segments.unsorted_segment_sum(indexing.gather(grad, ids), indices, rows)
    return [spread] + [None] * (len(op.inputs) - 1)


def _gradient_by(op: Operation, grad: Tensor, gradient_op: Op) -> list:
    data, indices, ids = op.inputs[:3]
    return [gradient_op(grad, indices, ids, _rows(data))] + [None] * (len(op.inputs) - 1)


def _segments_reference(data, indices, ids, count, divisor):
    """In NumPy: segment by segment."""
    count = int(max(ids, default=-1)) + 1 if count is None else int(count)
    result = np.zeros((count, *data.shape[1:]), data.dtype)
    np.add.at(result, ids, data[indices])
    number = np.maximum(1, np.bincount(ids, minlength=count)).reshape(-1, *[1] * (data.ndim - 1))
    return (result / divisor(number)).astype(data.dtype)


_INDICES, _IDS = np.array([1, 0, 0, 2], np.int32), np.array([0, 0, 2, 2], np.int32)


def _plain_op(
    name: str, allowed: tuple, divisor: Callable | None, gradient: Callable, numpy_divisor: Callable
) -> Op:
    """An op with as many segments as the ids tell."""
    op = Op(
        name,
        "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T",
        T=allowed,
        Tidx=INDEX,
        Tsegmentids=INDEX,
        sparse_gradient=False,
    )

    @op.shape
    def _shape(data, indices, segment_ids):
        merged(of_rank(indices, 1), of_rank(segment_ids, 1))
        return segments.with_rows(None, data)

    op.kernel(_segments_kernel(divisor))
    op.gradient(gradient)
    op.samples(
        (f32(3, 2), _INDICES, _IDS),
        (f32(3), _INDICES, _IDS),
        (f32(3, 2), np.zeros(0, np.int32), np.zeros(0, np.int32)),
        against=lambda data, indices, ids: _segments_reference(data, indices, ids, None, numpy_divisor),
    )
    op.refuses((f32(3, 2), _INDICES, _IDS[:2]), "must be equal, but are 4 and 2")
    op.refuses((f32(2, 2), _INDICES, _IDS), "indices[3] == 2 out of range [0, 2)", InvalidArgumentError)
    return op


def _segment_count(num_segments: Any) -> int | None:
    if isinstance(num_segments, int) and num_segments < 0:
        raise ShapeError("Cannot specify a negative value for num_segments", "segment ids must be >= 0")
    return segments.row_count(num_segments, 3)


def _counted_shape(data, indices, segment_ids, num_segments):
    merged(of_rank(indices, 1), of_rank(segment_ids, 1))
    return segments.with_rows(_segment_count(num_segments), data)


def _gradient_shape(grad, indices, segment_ids, output_dim0):
    merged(of_rank(indices, 1), segment_ids, "segment_ids should be a vector.")
    if scalar(output_dim0, "output_dim0 should be a scalar, not shape ") is not None and output_dim0 < 0:
        raise ShapeError("Cannot specify a negative value for output_dim0")
    return segments.with_rows(output_dim0, grad)


def _counted_op(
    name: str, allowed: tuple, divisor: Callable | None, gradient: Callable, numpy_divisor: Callable
) -> Op:
    """An op with a given number of segments."""
    op = Op(
        name,
        "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T",
        T=allowed,
        Tidx=INDEX,
        Tsegmentids=INDEX,
        Tnumsegments=INDEX,
        sparse_gradient=False,
        host="num_segments",
    )
    op.shape(_counted_shape)
    op.kernel(_segments_kernel(divisor))
    op.gradient(gradient)
    op.samples(
        (f32(3, 2), _INDICES, _IDS, 4),
        (f32(3, 2), np.zeros(0, np.int32), np.zeros(0, np.int32), 2),
        against=lambda *inputs: _segments_reference(*inputs, numpy_divisor),
    )
    op.refuses((f32(3, 2), _INDICES, _IDS, -1), "Cannot specify a negative value for num_segments")
    op.refuses((f32(3, 2), _INDICES, _IDS, 2), "must be < num_segments", InvalidArgumentError)
    return op


def _gradient_op(name: str, divisor: Callable, gradient: Callable, numpy_divisor: Callable) -> Op:
    """Each gathered row gets its segment's gradient, divided as the segment was, added up by index."""
    op = Op(
        name,
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
        T=FLOATS,
        Tidx=INDEX,
        Tsegmentids=INDEX,
        host="output_dim0",
    )
    op.shape(_gradient_shape)

    @op.kernel
    def _kernel(grad, indices, segment_ids, output_dim0):
        ids, indices = _checked_ids(indices, segment_ids), indices.long()
        if len(ids) and int(ids[-1]) >= grad.shape[0]:
            raise ShapeError(f"Invalid number of segments: the last id is {int(ids[-1])} of {grad.shape[0]}")
        _check_range(indices, output_dim0, "Index {index}")
        _check_range(ids, grad.shape[0], "Segment id {index}")
        counts = segments.row_counts(ids, grad.shape[0], grad).to(grad.dtype)
        rows = torch.index_select(grad / divisor(counts), 0, ids)
        return segments.folded(rows, indices, output_dim0, "sum", 0)

    op.gradient(gradient)

    def reference(grad, indices, ids, rows):
        def reduced(data: np.ndarray) -> np.ndarray:
            return _segments_reference(data, indices, ids, len(grad), numpy_divisor)

        return pulled_back(reduced, np.zeros([rows, *grad.shape[1:]]), grad, step=1)

    op.samples((f32(3, 2), _INDICES, _IDS, 4), (f32(3), _INDICES, _IDS, 3), against=reference)
    op.refuses((f32(3, 2), _INDICES, _IDS, 2), "Index 2 out of range [0, 2)", InvalidArgumentError)
    return op


def _call(plain: Op, counted: Op, data: Any, indices: Any, ids: Any, name: str | None, count: Any) -> Tensor:
    if count is None:
        return plain(data, indices, ids, name=name)
    return counted(data, indices, ids, count, name=name)


# ---------------------------------------------------------------------------- sums

sum_op = _plain_op("SparseSegmentSum", REAL, None, _sum_gradient, np.ones_like)
counted_sum_op = _counted_op("SparseSegmentSumWithNumSegments", REAL, None, _sum_gradient, np.ones_like)


@export("sparse_segment_sum", "sparse.segment_sum")
def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """Computes the sums of segments of the rows `data[indices]`.

    The gathered rows are not kept.

    Args:
      data: A tensor of a real type; its rows are along the first axis.
      indices: An int32 or int64 vector: which rows are taken.
      segment_ids: An int32 or int64 vector of the same length: to which segment each of them belongs, in
        rising order.
      name: A name for the operation.
      num_segments: How many segments there are, a scalar; by default the last id and 1.

    Returns:
      A tensor [segments, *the other axes of `data`], of its type; 0 for segments without rows.

    Raises:
      ValueError: Where `indices` and `segment_ids` differ in length.
      InvalidArgumentError: In a step in which an index is no row, ids are not in order, or too large.
    """
    return _call(sum_op, counted_sum_op, data, indices, segment_ids, name, num_segments)


# ---------------------------------------------------------------------------- means


def _itself(counts: torch.Tensor) -> torch.Tensor:
    return counts


def _mean_gradient(op: Operation, grad: Tensor) -> list:
    return _gradient_by(op, grad, mean_grad_op)


mean_op = _plain_op("SparseSegmentMean", FLOATS, _itself, _mean_gradient, np.positive)
counted_mean_op = _counted_op(
    "SparseSegmentMeanWithNumSegments", FLOATS, _itself, _mean_gradient, np.positive
)


@export("sparse_segment_mean", "sparse.segment_mean")
def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """Computes the means of segments of the rows `data[indices]`.

    The gathered rows are not kept.

    Args:
      data: A tensor of a floating-point type; its rows are along the first axis.
      indices: An int32 or int64 vector: which rows are taken.
      segment_ids: An int32 or int64 vector of the same length: to which segment each of them belongs, in
        rising order.
      name: A name for the operation.
      num_segments: How many segments there are, a scalar; by default the last id and 1.

    Returns:
      A tensor [segments, *the other axes of `data`], of its type; 0 for segments without rows.

    Raises:
      ValueError: Where `indices` and `segment_ids` differ in length.
      InvalidArgumentError: In a step in which an index is no row, ids are not in order, or too large.
    """
    return _call(mean_op, counted_mean_op, data, indices, segment_ids, name, num_segments)


def _mean_grad_gradient(op, grad):
    rows, indices, ids, _ = op.inputs
    return [sparse_segment_mean(grad, indices, ids, num_segments=_rows(rows)), None, None, None]


mean_grad_op = _gradient_op("SparseSegmentMeanGrad", _itself, _mean_grad_gradient, np.positive)

# ---------------------------------------------------------------------------- sums over square roots


def _sqrt_n_gradient(op: Operation, grad: Tensor) -> list:
    return _gradient_by(op, grad, sqrt_n_grad_op)


sqrt_n_op = _plain_op("SparseSegmentSqrtN", FLOATS, torch.sqrt, _sqrt_n_gradient, np.sqrt)
counted_sqrt_n_op = _counted_op(
    "SparseSegmentSqrtNWithNumSegments", FLOATS, torch.sqrt, _sqrt_n_gradient, np.sqrt
)


@export("sparse_segment_sqrt_n", "sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """Computes sums of segments of the rows `data[indices]`, divided by the square root of the number of
    rows.

    The gathered rows are not kept.

    Args:
      data: A tensor of a floating-point type; its rows are along the first axis.
      indices: An int32 or int64 vector: which rows are taken.
      segment_ids: An int32 or int64 vector of the same length: to which segment each of them belongs, in
        rising order.
      name: A name for the operation.
      num_segments: How many segments there are, a scalar; by default the last id and 1.

    Returns:
      A tensor [segments, *the other axes of `data`], of its type; 0 for segments without rows.

    Raises:
      ValueError: Where `indices` and `segment_ids` differ in length.
      InvalidArgumentError: In a step in which an index is no row, ids are not in order, or too large.
    """
    return _call(sqrt_n_op, counted_sqrt_n_op, data, indices, segment_ids, name, num_segments)


def _sqrt_n_grad_gradient(op, grad):
    rows, indices, ids, _ = op.inputs
    return [sparse_segment_sqrt_n(grad, indices, ids, num_segments=_rows(rows)), None, None, None]


sqrt_n_grad_op = _gradient_op("SparseSegmentSqrtNGrad", torch.sqrt, _sqrt_n_grad_gradient, np.sqrt)
