"""Segments: sums, means, products and extremes of the rows that share an id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import brackets, of_rank, of_rank_at_least, scalar
from tideflow.ops.helpers.elementwise import described
from tideflow.ops.helpers.rows import is_for_numpy
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDEX, INDICES, NUMERIC, REAL, types
from tideflow.ops.math import binary, casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

TINDICES = attr("type", allowed=INDICES)

# ---------------------------------------------------------------------------------- the work itself

_OF_NUMPY = {"amax": np.maximum, "amin": np.minimum, "prod": np.multiply}


def folded(data: torch.Tensor, ids: torch.Tensor, count: int, how: str, start: Any) -> torch.Tensor:
    """Row i of data goes into row ids[i] of the result, whose `count` rows begin as `start`."""
    result = data.new_full((count, *data.shape[1:]), start)
    if not data.numel():
        return result
    if how == "sum":
        return result.index_add(0, ids, data)
    if how == "prod" and data.is_complex():  # ATen's scattered products are of real numbers
        for row, target in zip(data, ids.tolist(), strict=True):
            result[target] *= row
        return result
    if data.dim() == 1 and data.is_floating_point() and is_for_numpy(data):
        with np.errstate(all="ignore"):
            _OF_NUMPY[how].at(result.numpy(), ids.numpy(), data.numpy())
        return result
    where = ids.view(-1, *[1] * (data.dim() - 1)).expand_as(data)
    return result.scatter_reduce(0, where, data, how, include_self=True)


def sums_in_order(
    data: torch.Tensor, places: torch.Tensor | None, ids: torch.Tensor, count: int
) -> torch.Tensor:
    """The sums of rows with the same id, whose ids ascend: of all rows of data, or of those at some places.

    ATen's sum of bags of embeddings neither copies rows nor looks at the id of each one.
    """
    if not _are_bags(data, ids, count):
        rows = data if places is None else torch.index_select(data, 0, places)
        return folded(rows, ids, count, "sum", 0)
    lengths = torch.bincount(ids, minlength=count)
    places = torch.arange(len(ids)) if places is None else places.long()
    table = data.reshape(len(data), -1)
    bags = functional.embedding_bag(places, table, lengths.cumsum(0) - lengths, mode="sum")
    return bags.view(count, *data.shape[1:])


def _are_bags(data: torch.Tensor, ids: torch.Tensor, count: int) -> bool:
    if type(data) is not torch.Tensor or not data.is_cpu or data.dtype is not torch.float32:
        return False
    return bool(data.numel() and len(ids) and count)


def sorted_count(ids: torch.Tensor, order_first: bool = False) -> int:
    """The number of segments of ids that must not decrease; `order_first`: that fault is told first."""
    if not ids.numel():
        return 0
    count = int(ids[-1]) + 1
    if order_first and bool((ids[1:] < ids[:-1]).any()):
        raise ShapeError("segment ids are not increasing")
    if count <= 0:
        raise ShapeError("segment ids must be >= 0")
    if bool((ids[1:] < ids[:-1]).any()):
        raise ShapeError("segment ids are not increasing")
    if int(ids[0]) < 0:
        raise ShapeError(
            f"Segment id {int(ids[0])} out of range [0, {count}), possibly because 'segment_ids' input is "
            "not sorted: segment ids should be >= 0"
        )
    return count


def checked_ids(data: torch.Tensor, segment_ids: torch.Tensor) -> torch.Tensor:
    """The ids as int64; there must be one for each row."""
    if not data.dim():
        raise ShapeError("input must be at least rank 1")
    if segment_ids.dim() != 1:
        raise ShapeError("segment_ids should be a vector.")
    if segment_ids.shape[0] != data.shape[0]:
        raise ShapeError(
            "segment_ids should be the same size as dimension 0 of input, but their shapes are "
            f"{brackets(segment_ids.shape)} and {brackets(data.shape)}"
        )
    return segment_ids.long()


def row_counts(ids: torch.Tensor, count: int, like: torch.Tensor) -> torch.Tensor:
    """How many rows each segment has, 1 where it has none, shaped to divide the segments."""
    counts = torch.bincount(ids, minlength=count) if count else ids.new_zeros(0)
    return counts.clamp_min(1).view(-1, *[1] * (like.dim() - 1))


def with_rows(rows: int | None, data: TensorShape) -> list[int | None] | None:
    """The shape of data with another number of rows."""
    of_rank_at_least(data, 1)
    return None if data.tuple is None else [rows, *data.tuple[1:]]


def row_count(count: int | None, position: int) -> int | None:
    """The number of segments that the input at this position gives, which must not be negative."""
    if scalar(count, "num_segments should be a scalar, not shape ") is not None and count < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input {position}, must be non-negative but is {count}",
            f"Input num_segments == {count} must not be negative.",
        )
    return count


# ---------------------------------------------------------------------------------- sorted ids


def _sorted_op(name: str, allowed: tuple) -> Op:
    return Op(name, "data: T, segment_ids: Tindices -> output: T", T=allowed, Tindices=TINDICES)


def sorted_shape(data, segment_ids):
    """The shape rule of ops on sorted ids."""
    of_rank(segment_ids, 1)
    return with_rows(None, data)


SORTED_ARGUMENTS = {
    "data": "A tensor of numbers, of rank 1 or more.",
    "segment_ids": "The segment of each row of `data`: a vector of int32 or int64, sorted, none negative.",
}
SORTED_RESULT = (
    "A tensor of the type of `data`, with a row for each id up to the last one in place of its rows."
)


def _sorted_function(name: str, op: Op, doc: str) -> Any:
    def function(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
        return op(data, segment_ids, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = described(doc, SORTED_ARGUMENTS, SORTED_RESULT)
    return export(name, f"math.{name}")(function)


def _segment_by_segment(reduce: Any, of_nothing: Any) -> Any:
    """Segments one by one, in NumPy."""

    def reference(data, ids, count=None):
        count = int(max(ids, default=-1)) + 1 if count is None else int(count)
        data = data.reshape(-1, *data.shape[np.ndim(ids) :])
        rows = [data[np.ravel(ids) == i] for i in range(count)]
        nothing = of_nothing(data.dtype) if callable(of_nothing) else of_nothing
        full = [reduce(part, axis=0) if len(part) else np.full(data.shape[1:], nothing) for part in rows]
        return np.array(full, data.dtype).reshape(count, *data.shape[1:])

    return reference


IDS = np.array([0, 0, 2, 2], np.int32)
SORTED_SAMPLES = (
    (f32(4, 3), IDS),
    (f32(4), IDS.astype(np.int64)),
    (f32(0, 3), np.zeros(0, np.int32)),
    (i32(4, 2, low=1), IDS),
)
WITH_ZEROS = np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 1.0], [2.0, 0.0]], np.float32)


def _add_sorted_refusals(op: Op) -> None:
    op.refuses((f32(3, 2), np.array([[0, 1, 1]], np.int32)), "Shape must be rank 1 but is rank 2")
    op.refuses(
        (f32(3), np.array([0, 2, 1], np.int32)), "segment ids are not increasing", InvalidArgumentError
    )
    op.refuses(
        (f32(3), np.array([0, 1], np.int32)), "same size as dimension 0 of input", InvalidArgumentError
    )


segment_sum_op = _sorted_op("SegmentSum", NUMERIC)
segment_sum_op.shape(sorted_shape)


@segment_sum_op.kernel
@unsigned.modular
def _segment_sum_kernel(data, segment_ids):
    ids = checked_ids(data, segment_ids)
    return sums_in_order(data, None, ids, sorted_count(ids))


@segment_sum_op.gradient
def _segment_sum_gradient(op, grad):
    return [indexing.gather(grad, op.inputs[1]), None]


segment_sum_op.samples(*SORTED_SAMPLES, against=_segment_by_segment(np.sum, 0))
_add_sorted_refusals(segment_sum_op)

segment_sum = _sorted_function(
    "segment_sum", segment_sum_op, "The sum of the rows of each segment, 0 where there are none."
)


def _divided(total: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    if total.is_floating_point() or total.is_complex():
        return total / counts.to(total.dtype)
    return torch.div(total.to(torch.int64), counts, rounding_mode="trunc").to(total.dtype)


segment_mean_op = _sorted_op("SegmentMean", NUMERIC)
segment_mean_op.shape(sorted_shape)


@segment_mean_op.kernel
def _segment_mean_kernel(data, segment_ids):
    ids = segment_ids.long()
    total = segment_sum_op.kernels[""](data, ids)
    return _divided(total, row_counts(ids, total.shape[0], total))


@segment_mean_op.gradient
def _segment_mean_gradient(op, grad):
    data, ids = op.inputs
    rank = shapes.rank(data)
    ones_shape = joining.concat([shapes.shape(ids), creation.fill(shapes.expand_dims(rank - 1, 0), 1)], 0)
    ones = creation.fill(ones_shape, constants.constant(1, dtype=grad.dtype))
    return [indexing.gather(grad / segment_sum(ones, ids), ids), None]


segment_mean_op.samples(*SORTED_SAMPLES, against=_segment_by_segment(np.mean, 0))
_add_sorted_refusals(segment_mean_op)

segment_mean = _sorted_function(
    "segment_mean", segment_mean_op, "The mean of the rows of each segment, 0 where there are none."
)


def _gathered(
    params: Tensor, ids: Tensor, clipped: Tensor | None = None, kept: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of params by id, 0 for negative ids; with the ids clipped at 0 and which elements are kept."""
    if clipped is None:
        clipped = binary.maximum(ids, creation.zeros_like(ids))
    rows = indexing.gather(params, clipped)
    if kept is None:
        kept = binary.greater_equal(ids, 0)
        if rows.shape.ndims is None or ids.shape.ndims is None:
            missing = shapes.rank(rows) - shapes.rank(kept)
            tail = creation.ones([missing], dtypes.int32)
            kept = shapes.reshape(kept, joining.concat([shapes.shape(kept), tail], 0))
        else:
            for _ in range(rows.shape.ndims - ids.shape.ndims):
                kept = shapes.expand_dims(kept, -1)
        kept = kept & creation.ones_like(rows, dtype=dtypes.bool)
    return indexing.where(kept, rows, creation.zeros_like(rows)), clipped, kept


def _gradient_of_products(data: Tensor, ids: Tensor, count: Any, products: Tensor, grad: Tensor) -> Tensor:
    """The product of the others: by division, and where x is 0, from the products without zeros.

    A segment with two zeros or more has no slope at all.
    """
    is_zero = binary.equal(data, 0)
    zeros = unsorted_segment_sum(casting.cast(is_zero, dtypes.int32), ids, count)
    grad = indexing.where(binary.greater(zeros, 1), creation.zeros_like(grad), grad)
    nonzero = unsorted_segment_prod(indexing.where(is_zero, creation.ones_like(data), data), ids, count)
    clipped = binary.maximum(ids, creation.zeros_like(ids))
    whole, rest = indexing.gather(products, clipped), indexing.gather(nonzero, clipped)
    others = indexing.where(is_zero, rest, whole / data)
    return _gathered(grad, ids, clipped)[0] * others


segment_prod_op = _sorted_op("SegmentProd", NUMERIC)
segment_prod_op.shape(sorted_shape)


@segment_prod_op.kernel
@unsigned.modular
def _segment_prod_kernel(data, segment_ids):
    ids = checked_ids(data, segment_ids)
    return folded(data, ids, sorted_count(ids), "prod", 1)


@segment_prod_op.gradient
def _segment_prod_gradient(op, grad):
    data, ids = op.inputs
    return [_gradient_of_products(data, ids, shapes.shape(op.outputs[0])[0], op.outputs[0], grad), None]


segment_prod_op.samples(*SORTED_SAMPLES, (WITH_ZEROS, IDS), against=_segment_by_segment(np.prod, 1))
_add_sorted_refusals(segment_prod_op)

segment_prod = _sorted_function(
    "segment_prod", segment_prod_op, "The product of the rows of each segment, 1 where there are none."
)


def _fold_extreme(data: torch.Tensor, ids: torch.Tensor, count: int, how: str) -> torch.Tensor:
    """Segments' extremes; one without rows is the finite number that loses against any other."""
    limits = torch.finfo(data.dtype) if data.is_floating_point() else torch.iinfo(data.dtype)
    return folded(data, ids, count, how, limits.min if how == "amax" else limits.max)


def _sorted_extreme(how: str) -> Any:
    """The kernel of SegmentMax or SegmentMin; a segment without rows is 0."""

    def _kernel(data, segment_ids):
        ids = checked_ids(data, segment_ids)
        count = sorted_count(ids)
        extremes = unsigned.bits(unsigned.ordered(_fold_extreme)(data, ids, count, how))
        empty = torch.bincount(ids, minlength=count) == 0 if count else ids.new_zeros(0, dtype=torch.bool)
        empty = empty.view(-1, *[1] * (data.dim() - 1))
        return torch.where(empty, torch.zeros_like(extremes), extremes).view(data.dtype)

    return _kernel


def shared_by_ties(op, grad):
    """The gradient of SegmentMax and SegmentMin: rows that tie for the extreme share it."""
    data, ids = op.inputs
    zeros = creation.zeros_like(data)
    chosen = binary.equal(data, indexing.gather(op.outputs[0], ids))
    ties = segment_sum(casting.cast(chosen, grad.dtype), ids)
    return [indexing.where(chosen, indexing.gather(grad / ties, ids), zeros), None]


segment_max_op = _sorted_op("SegmentMax", REAL)
segment_max_op.shape(sorted_shape)
segment_max_op.kernel(_sorted_extreme("amax"))
segment_max_op.gradient(shared_by_ties)
segment_max_op.samples(*SORTED_SAMPLES, against=_segment_by_segment(np.max, 0))
_add_sorted_refusals(segment_max_op)

segment_max = _sorted_function(
    "segment_max", segment_max_op, "The largest elements of the rows of each segment, 0 where there are none."
)

segment_min_op = _sorted_op("SegmentMin", REAL)
segment_min_op.shape(sorted_shape)
segment_min_op.kernel(_sorted_extreme("amin"))
segment_min_op.gradient(shared_by_ties)
segment_min_op.samples(*SORTED_SAMPLES, against=_segment_by_segment(np.min, 0))
_add_sorted_refusals(segment_min_op)

segment_min = _sorted_function(
    "segment_min",
    segment_min_op,
    "The smallest elements of the rows of each segment, 0 where there are none.",
)


# ---------------------------------------------------------------------------------- unsorted ids


def _unsorted_op(name: str, allowed: tuple, indices: Any = TINDICES) -> Op:
    signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
    return Op(name, signature, T=allowed, Tindices=indices, Tnumsegments=INDEX, host="num_segments")


def _check_prefix(data: tuple, ids: tuple) -> None:
    in_step = f"data.shape = {brackets(data)} does not start with segment_ids.shape = {brackets(ids)}"
    if len(ids) > len(data):
        raise ShapeError(f"Shape must be at least rank {len(ids)} but is rank {len(data)}", in_step)
    for axis, (a, b) in enumerate(zip(data, ids, strict=False)):
        if a is not None and b is not None and a != b:
            raise ShapeError(
                f"Dimensions must be equal, but are {a} and {b} (axis {axis} of data and of segment_ids)",
                in_step,
            )


def unsorted_shape(data, segment_ids, num_segments):
    """The shape rule of ops on unsorted ids."""
    rows = row_count(num_segments, 2)
    if data.ndims is None or segment_ids.ndims is None:
        return None
    _check_prefix(data.tuple, segment_ids.tuple)
    return [rows, *data.tuple[segment_ids.ndims :]]


def _rows(data: torch.Tensor, segment_ids: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Data and ids with one id a row."""
    row_count(count, 2)
    _check_prefix(tuple(data.shape), tuple(segment_ids.shape))
    ids = segment_ids.reshape(-1).long()
    return data.reshape(ids.shape[0], *data.shape[segment_ids.dim() :]), ids


def _kept_rows(
    data: torch.Tensor, segment_ids: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Data and ids with one id a row; rows of a negative id are left out."""
    data, ids = _rows(data, segment_ids, count)
    if not ids.numel():
        return data, ids
    least, largest = torch.aminmax(ids)
    if largest >= count:
        beyond = int(torch.nonzero(ids >= count)[0])
        where = ",".join(map(str, np.unravel_index(beyond, tuple(segment_ids.shape))))
        raise ShapeError(f"segment_ids[{where}] = {int(ids[beyond])} is out of range [0, {count})")
    if least >= 0:
        return data, ids
    kept = ids >= 0
    return data[kept], ids[kept]


UNSORTED_ARGUMENTS = {
    "data": "A tensor of numbers.",
    "segment_ids": "The segment of each row of `data`, integers of the shape of its first axes. Rows with a "
    "negative id are left out.",
    "num_segments": "How many segments there are; every id must be less.",
}
UNSORTED_RESULT = (
    "A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`."
)


def _unsorted_function(name: str, op: Op, doc: str) -> Any:
    def function(
        data: TensorOrRagged, segment_ids: TensorOrRagged, num_segments: TensorLike, name: str | None = None
    ) -> Tensor:
        return op(data, segment_ids, num_segments, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = described(doc, UNSORTED_ARGUMENTS, UNSORTED_RESULT)
    return export(name, f"math.{name}", ragged="segments")(function)


def _limits(dtype: np.dtype) -> Any:
    return np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)


MIXED = np.array([2, -1, 0, 2], np.int32)
UNSORTED_SAMPLES = (
    (f32(4, 3), MIXED, 3),
    (f32(2, 2, 3), MIXED.reshape(2, 2), 4),
    (f32(0, 3), np.zeros(0, np.int32), 2),
    (i32(4), MIXED, 3),
)


def _add_unsorted_refusals(op: Op) -> None:
    op.refuses((f32(1, 3), IDS, 3), "Dimensions must be equal, but are 1 and 4")
    op.refuses((f32(4), IDS, -1), "must be non-negative but is -1")
    op.refuses((f32(4), IDS, 2), "segment_ids[2] = 2 is out of range [0, 2)", InvalidArgumentError)


unsorted_segment_sum_op = _unsorted_op(
    "UnsortedSegmentSum", NUMERIC, attr("type", allowed=types("int16 int32 int64"))
)
unsorted_segment_sum_op.shape(unsorted_shape)


@unsorted_segment_sum_op.kernel
@unsigned.modular
def _unsorted_segment_sum_kernel(data, segment_ids, num_segments):
    return folded(*_kept_rows(data, segment_ids, num_segments), num_segments, "sum", 0)


@unsorted_segment_sum_op.kernel("cuda")
def _unsorted_segment_sum_cuda_kernel(data, segment_ids, num_segments):
    """Rows of no segment are added to one more, as the host does not know which they are."""
    if not data.is_floating_point():
        return unsorted_segment_sum_op.kernels[""](data, segment_ids, num_segments)
    rows, ids = _rows(data, segment_ids, num_segments)
    places = torch.where((ids >= 0) & (ids < num_segments), ids, num_segments)
    return rows.new_zeros([num_segments + 1, *rows.shape[1:]]).index_add_(0, places, rows)[:num_segments]


@unsorted_segment_sum_op.gradient
def _unsorted_segment_sum_gradient(op, grad):
    return [_gathered(grad, op.inputs[1])[0], None, None]


unsorted_segment_sum_op.samples(*UNSORTED_SAMPLES, against=_segment_by_segment(np.sum, 0))
_add_unsorted_refusals(unsorted_segment_sum_op)

unsorted_segment_sum = _unsorted_function(
    "unsorted_segment_sum",
    unsorted_segment_sum_op,
    "The sum of the rows of each segment, 0 where there are none.",
)

unsorted_segment_prod_op = _unsorted_op("UnsortedSegmentProd", NUMERIC)
unsorted_segment_prod_op.shape(unsorted_shape)


@unsorted_segment_prod_op.kernel
@unsigned.modular
def _unsorted_segment_prod_kernel(data, segment_ids, num_segments):
    return folded(*_kept_rows(data, segment_ids, num_segments), num_segments, "prod", 1)


@unsorted_segment_prod_op.gradient
def _unsorted_segment_prod_gradient(op, grad):
    data, ids, count = op.inputs
    return [_gradient_of_products(data, ids, count, op.outputs[0], grad), None, None]


unsorted_segment_prod_op.samples(
    *UNSORTED_SAMPLES, (WITH_ZEROS, IDS, 3), against=_segment_by_segment(np.prod, 1)
)
_add_unsorted_refusals(unsorted_segment_prod_op)

unsorted_segment_prod = _unsorted_function(
    "unsorted_segment_prod",
    unsorted_segment_prod_op,
    "The product of the rows of each segment, 1 where there are none.",
)


def shared_by_ties_of_unsorted(op, grad):
    """The gradient of UnsortedSegmentMax and UnsortedSegmentMin: rows that tie for the extreme share it."""
    data, ids, count = op.inputs
    extremes, clipped, kept = _gathered(op.outputs[0], ids)
    chosen = binary.logical_and(binary.equal(data, extremes), kept)
    ties = unsorted_segment_sum(casting.cast(chosen, grad.dtype), ids, count)
    shared, _, _ = _gathered(grad / ties, ids, clipped, kept)
    return [indexing.where(chosen, shared, creation.zeros_like(shared)), None, None]


unsorted_segment_max_op = _unsorted_op("UnsortedSegmentMax", REAL)
unsorted_segment_max_op.shape(unsorted_shape)


@unsorted_segment_max_op.kernel
@unsigned.ordered
def _unsorted_segment_max_kernel(data, segment_ids, num_segments):
    return _fold_extreme(*_kept_rows(data, segment_ids, num_segments), num_segments, "amax")


unsorted_segment_max_op.gradient(shared_by_ties_of_unsorted)
unsorted_segment_max_op.samples(
    *UNSORTED_SAMPLES, against=_segment_by_segment(np.max, lambda dtype: _limits(dtype).min)
)
_add_unsorted_refusals(unsorted_segment_max_op)

unsorted_segment_max = _unsorted_function(
    "unsorted_segment_max",
    unsorted_segment_max_op,
    "The largest elements of the rows of each segment, the lowest finite number where there are none.",
)

unsorted_segment_min_op = _unsorted_op("UnsortedSegmentMin", REAL)
unsorted_segment_min_op.shape(unsorted_shape)


@unsorted_segment_min_op.kernel
@unsigned.ordered
def _unsorted_segment_min_kernel(data, segment_ids, num_segments):
    return _fold_extreme(*_kept_rows(data, segment_ids, num_segments), num_segments, "amin")


unsorted_segment_min_op.gradient(shared_by_ties_of_unsorted)
unsorted_segment_min_op.samples(
    *UNSORTED_SAMPLES, against=_segment_by_segment(np.min, lambda dtype: _limits(dtype).max)
)
_add_unsorted_refusals(unsorted_segment_min_op)

unsorted_segment_min = _unsorted_function(
    "unsorted_segment_min",
    unsorted_segment_min_op,
    "The smallest elements of the rows of each segment, the highest finite number where there are none.",
)


@export("unsorted_segment_mean", "math.unsorted_segment_mean", ragged="segments")
def unsorted_segment_mean(
    data: TensorOrRagged, segment_ids: TensorOrRagged, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment, 0 where there are none.

    Args:
      data: A tensor of floating-point numbers.
      segment_ids: The segment of each row of `data`, integers of the shape of its first axes. Rows with a
        negative id are left out.
      num_segments: How many segments there are; every id must be less.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`.
    """
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


def _segment_sizes(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows each segment has, at least 1, shaped to divide the segments."""
    ones = creation.ones(shapes.shape(segment_ids), dtype=data.dtype)
    counts = unsorted_segment_sum(ones, segment_ids, num_segments)
    if data.shape.ndims is not None and segment_ids.shape.ndims is not None:
        shape = [num_segments] + [1] * (data.shape.ndims - segment_ids.shape.ndims)
    else:
        tail = creation.ones([shapes.rank(data) - shapes.rank(segment_ids)], dtypes.int32)
        shape = joining.concat([[num_segments], tail], 0)
    return binary.maximum(shapes.reshape(counts, shape), 1)


@export("unsorted_segment_sqrt_n", "math.unsorted_segment_sqrt_n", ragged="segments")
def unsorted_segment_sqrt_n(
    data: TensorOrRagged, segment_ids: TensorOrRagged, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment, divided by the square root of their number.

    Args:
      data: A tensor of floating-point numbers.
      segment_ids: The segment of each row of `data`, integers of the shape of its first axes. Rows with a
        negative id are left out.
      num_segments: How many segments there are; every id must be less.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`.
    """
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / unary.sqrt(counts)
