"""Rows put together from several tensors, rows dealt out to several, and what one list has beyond another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import creation, indexing, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import brackets, merged, of_rank
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDEX
from tideflow.runtime.values import to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

# ---------------------------------------------------------------------------------- stitch


def _row_count(places: list[list[int | None]]) -> int | None:
    if not fully_known(places) or any(place < 0 for piece in places for place in piece):
        return None  # a negative place is refused in the step
    return 1 + max((place for piece in places for place in piece), default=-1)


def _check_prefix(position: int, places: Sequence[int | None], values: Sequence[int | None]) -> None:
    fits = len(places) <= len(values) and all(
        a is None or b is None or a == b for a, b in zip(places, values, strict=False)
    )
    if not fits:
        pairs = zip(values, places, strict=False)
        unequal = next((pair for pair in pairs if None not in pair and pair[0] != pair[1]), None)
        said = (
            f"Dimensions must be equal, but are {unequal[0]} and {unequal[1]}"
            if unequal
            else f"Shape must be at least rank {len(places)} but is rank {len(values)}"
        )
        raise ShapeError(
            said,
            f"data[{position}].shape = {brackets(values)} does not start with indices[{position}].shape = "
            f"{brackets(places)}",
        )


def stitched_shape(indices, data, *, values):
    """The shape rule of both ops that stitch."""
    row = as_shape(None)
    for position, (places, rows) in enumerate(zip(indices, data, strict=True)):
        if places.ndims is None or rows.ndims is None:
            continue
        _check_prefix(position, places.tuple, rows.tuple)
        in_step = ""
        if known := data[0].tuple:
            first, depth = indices[0], places.ndims
            in_step = (
                f"Need data[0].shape[{first.ndims}:] = data[{position}].shape[{depth}:], got data[0].shape = "
                f"{brackets(known)}, data[{position}].shape = {brackets(rows.tuple)}, indices[0].shape = "
                f"{brackets(first.tuple or ())}, indices[{position}].shape = {brackets(places.tuple)}"
            )
        row = merged(row, TensorShape(rows.tuple[places.ndims :]), in_step)
    known = [np.ravel(piece).tolist() for piece in values[0]]
    return None if row.tuple is None else [_row_count(known), *row.tuple]


def stitched_sizes(op):
    """Their value rule, for sizes put together: what is known of the pieces is known of the whole."""
    half = len(op.inputs) // 2
    values = [partial_value(tensor) for tensor in op.inputs]
    places = [np.ravel(value).tolist() for value in values[:half]]
    if not fully_known(values[:half]) or any(tensor.shape.ndims is None for tensor in op.inputs):
        return None
    if any(
        places.shape.ndims != data.shape.ndims
        for places, data in zip(op.inputs, op.inputs[half:], strict=False)
    ):
        return None
    count = _row_count(places)
    if count is None:
        return None
    result: list = [None] * count
    for piece, known in zip(places, values[half:], strict=True):
        elements = (
            np.ravel(np.array(known, dtype=object)).tolist() if known is not None else [None] * len(piece)
        )
        for place, element in zip(piece, elements, strict=True):
            result[place] = element
    return result


def _check_pieces(indices, data):
    for position, (places, values) in enumerate(zip(indices, data, strict=True)):
        _check_prefix(position, tuple(places.shape), tuple(values.shape))
        if places.numel() and int(places.min()) < 0:
            at = int((places.reshape(-1) < 0).nonzero()[0])
            raise ShapeError(f"indices[{at}] is out of range: indices[{position}] has {int(places.min())}")


def stitched_rows(indices, data):
    """Their kernel; a row that is given twice is the one given last."""
    _check_pieces(indices, data)
    row, dtype = tuple(data[0].shape[indices[0].dim() :]), data[0].dtype
    data = [unsigned.bits(values) for values in data]
    count = 1 + max((int(places.max()) for places in indices if places.numel()), default=-1)
    result = data[0].new_zeros((count, *row))
    for places, values in zip(indices, data, strict=True):
        result[places.reshape(-1).long()] = values.reshape(places.numel(), *row)
    return result.view(dtype)


def stitched_strings(indices, data):
    """Their kernel of strings."""
    _check_pieces(indices, data)
    rows = [np.asarray(values, dtype=object) for values in data]
    row = rows[0].shape[indices[0].dim() :]
    count = 1 + max((int(places.max()) for places in indices if places.numel()), default=-1)
    result = np.full((count, *row), b"", dtype=object)
    for places, values in zip(indices, rows, strict=True):
        result[np.asarray(places).reshape(-1)] = values.reshape(-1, *row)
    return result


def gathered_back(op, grad):
    """Their gradient."""
    half = len(op.inputs) // 2
    return [None] * half + [indexing.gather(grad, places) for places in op.inputs[:half]]


_PLACES = [np.array([[0, 3], [1, 4]], np.int32), np.array(2, np.int32)]


def _stitched(indices: list, data: list) -> np.ndarray:
    row = data[0].shape[indices[0].ndim :]
    result = np.zeros((1 + max(int(places.max()) for places in indices if places.size), *row), data[0].dtype)
    for places, values in zip(indices, data, strict=True):
        result[places.reshape(-1)] = values.reshape(-1, *row)
    return result


def _add_samples(op: Op) -> None:
    op.samples(
        ([np.array([0, 2], np.int32), np.array([1], np.int32)], [f32(2, 3), f32(1, 3)]),
        ([np.array([1, 0], np.int32), np.array([], np.int32)], [f32(2), f32(0)]),
        (_PLACES, [f32(2, 2, 3), f32(3)]),
        against=_stitched,
    )
    op.refuses(([np.array([0, -2], np.int32)], [f32(2)]), "indices[1] is out of range", InvalidArgumentError)
    op.refuses(([np.array([0, 2], np.int32)], [f32(3)]), "Dimensions must be equal, but are 3 and 2")


dynamic_stitch_op = Op("DynamicStitch", "indices: N * int32, data: N * T -> merged: T")
dynamic_stitch_op.shape(stitched_shape)
dynamic_stitch_op.value(stitched_sizes)
dynamic_stitch_op.kernel(stitched_rows)
dynamic_stitch_op.kernel("string")(stitched_strings)
dynamic_stitch_op.gradient(gathered_back)
_add_samples(dynamic_stitch_op)


@export("dynamic_stitch")
def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """Puts a tensor together from rows of several: its row `indices[m][i]` is `data[m][i]`.

    Args:
      indices: A list of tensors of type int32: where the rows of each piece go.
      data: A list of tensors of one type; the shape of `data[m]` begins with that of `indices[m]`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data` with one row more than the largest index; of rows given twice, the last
      counts.
    """
    return dynamic_stitch_op(list(indices), list(data), name=name)


parallel_dynamic_stitch_op = Op("ParallelDynamicStitch", "indices: N * int32, data: N * T -> merged: T")
parallel_dynamic_stitch_op.shape(stitched_shape)
parallel_dynamic_stitch_op.value(stitched_sizes)
parallel_dynamic_stitch_op.kernel(stitched_rows)
parallel_dynamic_stitch_op.kernel("string")(stitched_strings)
parallel_dynamic_stitch_op.gradient(gathered_back)
_add_samples(parallel_dynamic_stitch_op)

# ---------------------------------------------------------------------------------- partition

dynamic_partition_op = Op("DynamicPartition", "data: T, partitions: int32 -> outputs: num_partitions * T")


def _check_start(data: Sequence[int | None], partitions: Sequence[int | None]) -> None:
    in_step = (
        f"data.shape must start with partitions.shape, got data.shape = {brackets(data)}, partitions.shape = "
        f"{brackets(partitions)}"
    )
    if len(partitions) > len(data):
        raise ShapeError(f"Shape must be at least rank {len(partitions)} but is rank {len(data)}", in_step)
    for a, b in zip(data, partitions, strict=False):
        if None not in (a, b) and a != b:
            raise ShapeError(f"Dimensions must be equal, but are {a} and {b}", in_step)


@dynamic_partition_op.shape
def _dynamic_partition_shape(data, partitions, *, num_partitions):
    if data.ndims is None or partitions.ndims is None:
        return [None] * num_partitions
    _check_start(data.tuple, partitions.tuple)
    return [[None, *data.tuple[partitions.ndims :]]] * num_partitions


@dynamic_partition_op.kernel
@dynamic_partition_op.kernel("string")
def _dynamic_partition_kernel(data, partitions, *, num_partitions):
    row = data.shape[partitions.dim() :]
    _check_start(data.shape, partitions.shape)
    numbers = partitions.reshape(-1)
    wrong = ((numbers < 0) | (numbers >= num_partitions)).nonzero()
    if wrong.numel():
        first = int(wrong[0])
        place = ",".join(str(int(i)) for i in np.unravel_index(first, tuple(partitions.shape)))
        which = f"partitions[{place}]" if partitions.dim() else "partitions"
        raise ShapeError(f"{which} = {int(numbers[first])} is not in [0, {num_partitions})")
    rows = data.reshape(len(numbers), *row)
    is_text = isinstance(rows, np.ndarray)
    return [rows[(numbers == i).numpy() if is_text else numbers == i] for i in range(num_partitions)]


@dynamic_partition_op.gradient
def _dynamic_partition_gradient(op, *grads):
    data, partitions = op.inputs
    places = shapes.reshape(
        creation.range(tf.reduce_prod(shapes.shape(partitions))), shapes.shape(partitions)
    )
    dealt = dynamic_partition(places, partitions, len(grads))
    stitched = dynamic_stitch(dealt, grads)
    return [shapes.reshape(stitched, shapes.shape(data)), None]


_NUMBERS = np.array([1, 0, 1], np.int32)
dynamic_partition_op.samples(
    (f32(3, 2), _NUMBERS, {"num_partitions": 3}),
    (i32(3), _NUMBERS, {"num_partitions": 2}),
    (f32(2, 2), np.array([[0, 1], [1, 0]], np.int32), {"num_partitions": 2}),
    (f32(0, 2), np.zeros(0, np.int32), {"num_partitions": 1}),
    against=lambda data, numbers, num_partitions: [data[numbers == i] for i in range(num_partitions)],
)
dynamic_partition_op.refuses(
    (f32(3), np.zeros(2, np.int32), {"num_partitions": 2}), "Dimensions must be equal, but are 3 and 2"
)
dynamic_partition_op.refuses((f32(3), _NUMBERS, {"num_partitions": 1}), "not in [0, 1)", InvalidArgumentError)


@export("dynamic_partition", ragged="dynamic_partition")
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Deals the rows of a tensor out to several: row i goes to tensor `partitions[i]`.

    Args:
      data: A tensor.
      partitions: The number of the tensor that each row goes to, of type int32; its shape begins that of
        `data`.
      num_partitions: How many tensors there are.
      name: A name for the operation.

    Returns:
      A list of `num_partitions` tensors of the type of `data`.
    """
    return dynamic_partition_op(data, partitions, num_partitions=num_partitions, name=name)


# ---------------------------------------------------------------------------------- difference

list_diff_op = Op(
    "ListDiff",
    "x: T, y: T -> out: T, idx: out_idx",
    out_idx=INDEX,
    differentiable=None,
)


def _check_vectors(x: TensorShape, y: TensorShape) -> None:
    of_rank(x, 1, "x should be a 1D vector.")
    of_rank(y, 1, "y should be a 1D vector.")


@list_diff_op.shape
def _list_diff_shape(x, y):
    _check_vectors(x, y)
    return [[None], [None]]


@list_diff_op.value
def _list_diff_value(op):
    x, y = (partial_value(tensor) for tensor in op.inputs)
    if not isinstance(x, list) or not isinstance(y, list) or not fully_known([x, y]):
        return None, None
    kept = [place for place, item in enumerate(x) if item not in y]
    return [x[place] for place in kept], kept


@list_diff_op.kernel
def _list_diff_kernel(x, y, *, out_idx):
    _check_vectors(TensorShape(x.shape), TensorShape(y.shape))
    kept = torch.nonzero(~torch.isin(unsigned.bits(x), unsigned.bits(y))).reshape(-1)
    return x[kept], kept.to(out_idx.torch)


@list_diff_op.kernel("string")
def _list_diff_string_kernel(x, y, *, out_idx):
    known = set(y.tolist())
    kept = np.array([i for i, item in enumerate(x.tolist()) if item not in known], np.int64)
    return x[kept], to_torch(kept).to(out_idx.torch)


list_diff_op.samples(
    (np.array([1, 2, 3, 4, 5, 2], np.int32), np.array([1, 3, 5], np.int32)),
    (np.array([1.0, 2.0], np.float32), np.array([], np.float32), {"out_idx": dtypes.int64}),
    against=lambda x, y: (x[~np.isin(x, y)], np.flatnonzero(~np.isin(x, y))),
)
list_diff_op.refuses((f32(2, 2), f32(2)), "Shape must be rank 1 but is rank 2")


@export("setdiff1d")
def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: DTypeLike = dtypes.int32, name: str | None = None
) -> Any:
    """Finds the elements of one vector that another one does not have.

    Args:
      x: A vector.
      y: A vector of the same type.
      index_dtype: The type of the places, int32 or int64.
      name: A name for the operation.

    Returns:
      `out`, the elements of `x` that are not in `y`, and `idx`, their places in `x`.
    """
    return list_diff_op(x, y, out_idx=index_dtype, name=name)
