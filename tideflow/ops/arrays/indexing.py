"""Elements by index and by condition: gather, where, select, masks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import broadcasting, creation, joining, shapes
from tideflow.ops.helpers import cpu_functions
from tideflow.ops.helpers.axes import (
    as_value,
    brackets,
    by_places,
    elements,
    merged,
    normal_axis,
    of_rank_at_least,
    rank_for_axis,
    scalar,
    unequal_inputs,
)
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.rows import check_rows, linear_rows, rows_at, without_missing
from tideflow.ops.helpers.samples import boolean, f32
from tideflow.ops.helpers.types import INDICES, NUMERIC, types
from tideflow.ops.helpers.unsigned import modular
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged


def gathered(params: torch.Tensor, indices: torch.Tensor, axis: int = 0, batch_dims: int = 0) -> torch.Tensor:
    """Slices of `params` along an axis; the first `batch_dims` axes of both inputs are a batch's."""
    if batch_dims:
        return _gathered_in_batches(params, indices, axis, batch_dims)
    sizes = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
    if 0 in params.shape[:axis]:
        return params.new_empty(sizes)  # nothing to take, so that TensorFlow does not look at the indices
    if not indices.is_cuda and indices.dtype != torch.int16:
        try:
            return params.index_select(axis, indices.reshape(-1)).reshape(sizes)
        except (IndexError, RuntimeError):  # ATen looks at the indices too; these are TensorFlow's words
            check_rows(indices, params.shape[axis])
            raise
    places = indices.long() if indices.dtype == torch.int16 else indices
    places, is_missing = rows_at(places, params.shape[axis])
    result = params.index_select(axis, places.reshape(-1)).reshape(sizes)
    return without_missing(result, is_missing, params.ndim - axis - 1)


def _sizes_of(params: Tensor) -> Tensor:
    with colocate_with(params):  # where the rows are, so are their sizes
        return casting.cast(shapes.shape(params, out_type=dtypes.int64), dtypes.int32)


def _count(indices: Tensor) -> Tensor:
    return shapes.expand_dims(shapes.size(indices), 0)


def _sparse_rows(params: Tensor, indices: Tensor, grad: Any) -> IndexedSlices:
    sizes = _sizes_of(params)
    count = _count(indices)
    values = shapes.reshape(grad, joining.concat([count, sizes[1:]], 0))
    return IndexedSlices(values, shapes.reshape(indices, count), sizes)


# ---------------------------------------------------------------------------------- gather

gather_op = Op(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    validate_indices=True,
    Tindices=INDICES,
    colocate="params",
)


@gather_op.shape
def _gather_shape(params, indices):
    return indices.concatenate(of_rank_at_least(params, 1)[1:])


@gather_op.kernel
@modular
def _gather_kernel(params, indices):
    return gathered(params, indices)


gather_op.kernel("string")(by_places(gather_op.kernels[""]))


@gather_op.gradient
def _gather_gradient(op, grad):
    return [_sparse_rows(op.inputs[0], op.inputs[1], grad), None]


gather_op.samples((f32(3, 2), np.array([2, 0, 2], np.int32)), against=lambda x, i: np.take(x, i, 0))

gather_v2_op = Op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    batch_dims=0,
    Tindices=types("int16 int32 int64"),
    Taxis=INDICES,
    host="axis",
    colocate="params",
)


def _normal_batch_dims(batch_dims: int, rank: int) -> int:
    if not -rank <= batch_dims <= rank:
        raise ShapeError(f"batch_dims {batch_dims} is out of range [-{rank}, {rank}]")
    return batch_dims + rank if batch_dims < 0 else batch_dims


def _gathered_axis(axis: int, rank: int) -> int:
    there = f"Expected axis in the range [{-rank}, {rank}), but got {axis}"
    return normal_axis(axis, rank, rank_for_axis(axis, rank), there)


@gather_v2_op.shape
def _gather_v2_shape(params, indices, axis, *, batch_dims):
    of_rank_at_least(params, 1, "params must be at least 1 dimensional")
    if params.tuple is None or indices.tuple is None:
        return None
    batch_dims = _normal_batch_dims(batch_dims, indices.ndims)
    if scalar(axis, "axis must be scalar, but has shape ") is None:
        return [None] * (params.ndims + indices.ndims - batch_dims - 1)
    axis = _gathered_axis(axis, params.ndims)
    if axis < batch_dims:
        raise ShapeError(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    batch = merged(params[:batch_dims], indices[:batch_dims])
    return [
        *batch.tuple,
        *params.tuple[batch_dims:axis],
        *indices.tuple[batch_dims:],
        *params.tuple[axis + 1 :],
    ]


@gather_v2_op.value
def _gather_v2_value(op):
    """Sizes picked from sizes."""
    params, indices = elements(op.inputs[0]), partial_value(op.inputs[1])
    if (
        params is None
        or partial_value(op.inputs[2]) != 0
        or op.attrs["batch_dims"]
        or not fully_known(indices)
    ):
        return None
    places = np.array(indices, np.int64)
    if places.size and (places.min() < 0 or places.max() >= len(params)):
        return None
    return as_value(params[places])


def _gathered_in_batches(
    params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int
) -> torch.Tensor:
    batch = params.shape[:batch_dims]
    count = math.prod(batch)
    places, is_missing = rows_at(indices, params.shape[axis])
    rows = params.movedim(axis, batch_dims)
    rest = rows.shape[batch_dims + 1 :]
    flat_rows = rows.reshape(count, params.shape[axis], *rest)
    flat_places = places.reshape(count, math.prod(indices.shape[batch_dims:])).long()
    taken = flat_rows[torch.arange(count, device=params.device)[:, None], flat_places]
    if is_missing is not None:
        taken = without_missing(taken, is_missing.reshape(flat_places.shape), len(rest))
    taken = taken.reshape((*batch, *indices.shape[batch_dims:], *rest))
    # The axes between the batch and the gathered axis come before the indices' own.
    between, picked = axis - batch_dims, indices.ndim - batch_dims
    first = batch_dims + picked
    return taken.movedim(tuple(range(first, first + between)), tuple(range(batch_dims, batch_dims + between)))


@gather_v2_op.kernel
@modular
def _gather_v2_kernel(params, indices, axis, *, batch_dims):
    axis = _gathered_axis(scalar(axis), params.ndim)
    return gathered(params, indices, axis, _normal_batch_dims(batch_dims, indices.ndim))


gather_v2_op.kernel("string")(by_places(gather_v2_op.kernels[""]))


def _rows_of_all_batches(
    indices: Tensor, sizes: Tensor, axis: Any, batch_dims: int, cast: Callable, numbers: Callable
) -> Tensor:
    """The indices of rows in all batches together: row i of batch b is row b * sizes[axis] + i."""
    dtype, rank = indices.dtype.base_dtype, indices.shape.ndims
    rows_before = creation.ones([], dtype)
    sizes = cast(sizes, dtype)
    for place in reversed(range(batch_dims)):
        count = sizes[place]
        rows_before *= sizes[axis if place == batch_dims - 1 else place + 1]
        first = numbers(creation.zeros([], dtype), count, creation.ones([], dtype)) * rows_before
        along = [count if other == place else 1 for other in range(rank)]
        indices += shapes.reshape(first, joining.stack(along))
    return indices


def _summed_by_index(values: Tensor, indices: Tensor, batch_dims: int, sizes: Tensor, axis: Tensor) -> Tensor:
    size = sizes[axis]
    if not batch_dims:
        return tf.unsorted_segment_sum(values, shapes.reshape(indices, _count(indices)), size)
    count = _count(indices)
    values_sizes = shapes.shape(values)
    batch, inner = values_sizes[:batch_dims], values_sizes[batch_dims:][1:]
    batches = tf.reduce_prod(batch, [0])
    flat_shape = joining.concat([[-1], inner], 0)
    rows_in_all = size * batches
    # TensorFlow takes the size behind the batch here, which is wrong for any other axis.
    place = axis if (known := partial_value(axis)) is None else known
    rows = _rows_of_all_batches(indices, sizes, place, batch_dims, casting.cast, creation.range)
    summed = tf.unsorted_segment_sum(
        shapes.reshape(values, flat_shape), shapes.reshape(rows, count), rows_in_all
    )
    return shapes.reshape(summed, joining.concat([batch, flat_shape], 0))


def _dense_gather_gradient(
    params: Tensor, indices: Tensor, axis: Tensor, batch_dims: int, grad: Any
) -> Tensor:
    """Rows of the gradient, brought to the axis behind the batch, summed there by index and brought back."""
    sizes = _sizes_of(params)
    _count(indices)  # not needed here, but in TensorFlow's graphs
    if batch_dims < 0:
        batch_dims += indices.shape.ndims
    outer, inner = sizes[:axis], sizes[axis:][1:]
    values_shape = joining.concat([outer, [-1], inner], 0)
    rank, place = shapes.size(values_shape), shapes.size(outer)
    batch_axes = creation.range(batch_dims)
    between_axes = creation.range(batch_dims, place)
    inner_axes = creation.range(place + 1, rank)
    values = shapes.reshape(grad, values_shape)
    values = shapes.transpose(values, joining.concat([batch_axes, [place], between_axes, inner_axes], 0))
    summed = _summed_by_index(values, indices, batch_dims, sizes, axis)
    back = [batch_axes, between_axes + 1, [batch_dims], inner_axes]
    return shapes.transpose(summed, joining.concat(back, 0))


@gather_v2_op.gradient
def _gather_v2_gradient(op, grad):
    params, indices, axis = op.inputs
    if partial_value(axis) == 0:
        return [_sparse_rows(params, indices, grad), None, None]
    return [_dense_gather_gradient(params, indices, axis, op.attrs["batch_dims"], grad), None, None]


def _batch_take(params: np.ndarray, indices: np.ndarray, axis: np.ndarray, batch_dims: int = 0) -> np.ndarray:
    if not batch_dims:
        return np.take(params, indices, int(axis))
    return np.stack(
        [_batch_take(p, i, axis - (axis > 0), batch_dims - 1) for p, i in zip(params, indices, strict=True)]
    )


gather_v2_op.samples(
    (f32(3, 2), np.array([2, 0, 2], np.int32), np.array(0, np.int32)),
    (f32(3, 2), np.array(1), np.array(0, np.int32)),
    (f32(2, 3, 2), np.array([[1, 1], [0, 2]], np.int32), np.array(1, np.int64)),
    (f32(2, 3), np.array([2], np.int32), np.array(-1, np.int32)),
    (f32(3, 2), np.array([], np.int32), np.array(0, np.int32)),
    (f32(2, 3, 4), np.array([[0, 2], [1, 1]], np.int32), np.array(1, np.int32), {"batch_dims": 1}),
    (f32(2, 3, 4), np.array([[0, 3], [1, 1]], np.int32), np.array(2, np.int32), {"batch_dims": 1}),
    against=_batch_take,
)
gather_v2_op.refuses((f32(), np.array(0), np.array(0)), "Shape must be at least rank 1 but is rank 0")
gather_v2_op.refuses((f32(3, 2), np.array(0), np.array(2)), "axis 2 is out of range [-2, 2)")
gather_v2_op.refuses(
    (f32(3), np.array([1, 7]), np.array(0)), "indices[1] = 7 is not in [0, 3)", InvalidArgumentError
)


@export("gather", ragged="gather")
def gather(
    params: TensorOrRagged,
    indices: TensorOrRagged,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """Takes slices of a tensor by their indices along an axis.

    Args:
      params: A tensor of rank 1 or more, or a variable.
      indices: The places to take, a tensor of integers of any shape.
      validate_indices: Not used; indices are always checked, but on a GPU, where bad ones give 0.
      name: A name for the operation.
      axis: The axis to take slices along; by default the one behind the batch.
      batch_dims: How many first axes `params` and `indices` share; slices are taken in each entry by itself.

    Returns:
      A tensor of the type of `params`, whose axis `axis` is replaced by the axes of `indices` behind the
      batch.
    """
    axis = batch_dims if axis is None else axis
    is_first = (partial_value(axis) if isinstance(axis, Tensor) else axis) == 0
    if is_first and not isinstance(params, Tensor) and hasattr(params, "sparse_read"):
        return params.sparse_read(indices, name=name)
    return gather_v2_op.apply((params, indices, axis), name, {"batch_dims": batch_dims})


@export("batch_gather", ragged="batch_gather")
def batch_gather(params: TensorOrRagged, indices: TensorOrRagged, name: str | None = None) -> Tensor:
    """Takes slices by their indices along the last axis of `indices`; the axes before it are a batch.

    Args:
      params: A tensor that shares these axes with `indices`.
      indices: The places to take, a tensor of integers of known rank.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `params`.

    Raises:
      ValueError: If the rank of `indices` is not known.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        rank = indices.shape.ndims
        if not rank:
            raise ValueError("batch_dims = -1 must be less than rank(indices) = 0")
        indices_sizes, sizes = shapes.shape(indices), shapes.shape(params)
        rows = _rows_of_all_batches(indices, sizes, rank - 1, rank - 1, _always_cast, creation.range_op)
        rows = shapes.reshape(rows, [-1])
        inner = sizes[rank:]
        flat = shapes.reshape(params, joining.concat([[tf.reduce_prod(sizes[:rank], [0])], inner], 0))
        result = shapes.reshape(gather(flat, rows), joining.concat([indices_sizes, inner], 0))
        batch = indices.shape[: rank - 1].merge_with(params.shape[: rank - 1])
        result.set_shape(batch.concatenate(indices.shape[rank - 1 :]).concatenate(params.shape[rank:]))
        return result


def _always_cast(value: Any, dtype: Any) -> Tensor:
    """A Cast even where nothing changes, as TensorFlow's graphs have it."""
    return casting.cast_op(value, DstT=dtype)


# ---------------------------------------------------------------------------------- gather_nd

gather_nd_op = Op(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    Tindices=types("int16 int32 int64"),
    bad_indices_policy="",
    colocate="params",
)


@gather_nd_op.shape
def _gather_nd_shape(params, indices):
    of_rank_at_least(indices, 1)
    if params.tuple is None or indices.tuple is None or indices.tuple[-1] is None:
        return None
    depth = indices.tuple[-1]
    if depth > params.ndims:
        raise ShapeError(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{brackets(indices.tuple)} and params shape: {brackets(params.tuple)}",
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndims}",
        )
    return [*indices.tuple[:-1], *params.tuple[depth:]]


def gathered_slices(params: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """Slices of `params` at index vectors, which stand along the last axis of `indices`."""
    depth = indices.shape[-1]
    rest = params.shape[depth:]
    if not params.numel() and math.prod(indices.shape[:-1]):
        raise errors.invalid_argument(
            "Requested more than 0 entries, but params is empty. Params shape: "
            f"{brackets(params.shape)}, indices shape: {brackets(indices.shape)}"
        )
    rows, is_missing = linear_rows(indices, tuple(params.shape), "param shape")
    matrix = params.reshape(math.prod(params.shape[:depth]), *rest)
    taken = matrix.index_select(0, rows.reshape(-1)).reshape((*indices.shape[:-1], *rest))
    return without_missing(taken, is_missing, len(rest))


@gather_nd_op.kernel
@modular
def _gather_nd_kernel(params, indices):
    return gathered_slices(params, indices)


gather_nd_op.kernel("string")(by_places(gather_nd_op.kernels[""]))


@gather_nd_op.gradient
def _gather_nd_gradient(op, grad):
    params, indices = op.inputs
    sizes = shapes.shape(params, out_type=indices.dtype.base_dtype)
    if indices.shape.ndims == 2 and indices.shape.tuple[1] == 1:
        return [IndexedSlices(grad, shapes.squeeze(indices, -1), sizes), None]
    return [tf.scatter_nd(indices, grad, sizes), None]


gather_nd_op.samples(
    (f32(3, 2), np.array([[0, 1], [2, 0]], np.int32)),
    (f32(3, 2), np.array([[1], [0]])),
    (f32(3, 2), np.array([1, 1], np.int32)),
    (f32(2, 2), np.zeros([3, 0], np.int32)),
    (f32(3, 2), np.zeros([0, 2], np.int32)),
    against=lambda params, indices: (
        params[tuple(np.moveaxis(indices, -1, 0))]
        if indices.shape[-1]
        else np.broadcast_to(params, indices.shape[:-1] + params.shape)
    ),
)
gather_nd_op.refuses((f32(2, 2), np.array([[0, 0, 0]])), "indices.shape[-1] must be <= params.rank")
gather_nd_op.refuses((f32(2, 2), np.array([[2, 0]])), "does not index into", InvalidArgumentError)


@export("gather_nd", "manip.gather_nd", ragged="gather_nd")
def gather_nd(
    params: TensorLike, indices: TensorLike, name: str | None = None, batch_dims: int = 0
) -> Tensor:
    """Takes elements or slices of a tensor by index vectors.

    Args:
      params: A tensor, or a variable.
      indices: Index vectors along the last axis of a tensor of integers; a vector shorter than the rank of
        `params` takes a slice.
      name: A name for the operation.
      batch_dims: How many first axes `params` and `indices` share; slices are taken in each entry by itself.

    Returns:
      A tensor of the type of `params`: what the vectors index, in place of the vectors.
    """
    if batch_dims:
        return _batch_gather_nd(params, indices, batch_dims, name)
    if hasattr(params, "gather_nd"):
        return params.gather_nd(indices, name=name)
    return gather_nd_op(params, indices, name=name)


def _batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None) -> Tensor:
    """Index vectors that begin with their place in the batch."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        params = convert_to_tensor(params, name="params")
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather_nd does not allow indices with unknown shape.")
        if not 0 <= batch_dims < rank:
            raise ValueError(
                f"batch_dims = {batch_dims} must be between 0 and rank(indices) - 1 = {rank - 1}"
            )
        sizes, indices_sizes = shapes.shape(params), shapes.shape(indices)
        batch = sizes[:batch_dims]
        batches = tf.reduce_prod(batch, [0])
        axes_within = shapes.rank(indices) - batch_dims - 1
        sizes_within = indices_sizes[batch_dims:-1]
        numbers = [
            _always_cast(creation.range_op(0, size, 1), indices.dtype.base_dtype)
            for size in joining.unstack(batch, num=batch_dims)
        ]
        grid = creation.meshgrid(*numbers, indexing="ij")
        places = shapes.transpose(joining.stack([shapes.reshape(line, [-1]) for line in grid]))
        places_sizes = shapes.shape(places)
        ones = creation.ones(axes_within, dtypes.int32)
        places = shapes.reshape(places, joining.concat([places_sizes[:1], ones, places_sizes[1:]], 0))
        places = tf.tile(places, joining.concat([[1], sizes_within, [1]], 0))
        flat = shapes.reshape(indices, joining.concat([[batches], indices_sizes[batch_dims:]], 0))
        found = gather_nd_op(params, joining.concat([places, flat], -1))
        return shapes.reshape(found, joining.concat([batch, shapes.shape(found)[1:]], 0))


# ---------------------------------------------------------------------------------- where and select

where_op = Op(
    "Where",
    "input: T -> index: int64",
    T=attr("type", dtypes.bool, allowed=(*NUMERIC, dtypes.bool)),
    differentiable=False,
    python_names={"condition": "input"},
)


@where_op.shape
def _where_shape(input):
    return [None, input.ndims]


@where_op.kernel
def _where_kernel(input):
    return (input != 0).nonzero()


where_op.samples(
    (np.array([[True, False], [True, True]]),),
    (np.array([0.0, np.nan, -1.5], np.float32),),
    (np.array([0, 3], np.uint16),),
    (np.zeros([0, 2], np.bool_),),
    against=np.argwhere,
)

select_op = Op("Select", "condition: bool, t: T, e: T -> output: T", python_names={"x": "t", "y": "e"})


@select_op.shape
def _select_shape(condition, t, e):
    data = merged(t, e, unequal_inputs("Select", t, e).replace("input 1:", "input 2:"))
    if data.tuple is None or condition.ndims in (None, 0):
        return data
    if condition.ndims == 1 and data.ndims > 0:
        merged(condition, data[:1])  # one for each row
        return data
    return merged(data, condition)


def _per_element(condition: torch.Tensor, t: Any, e: Any) -> torch.Tensor:
    """The condition in a shape that broadcasts: a vector chooses among rows."""
    if t.shape != e.shape:
        raise ShapeError(
            f"'then' and 'else' must have the same size.  but received: {brackets(t.shape)} vs. "
            f"{brackets(e.shape)}"
        )
    if condition.ndim == 0 or condition.shape == t.shape:
        return condition
    if condition.ndim == 1 and t.ndim > 1:
        if condition.shape[0] == t.shape[0]:
            return condition.reshape(-1, *[1] * (t.ndim - 1))
        raise errors.invalid_argument(
            "Number of batches of 'then' must match size of 'cond', but saw: "
            f"{t.shape[0]} vs. {condition.shape[0]}",
        )
    raise ShapeError(
        "'cond' must be a scalar, a vector or of the shape of 'then'",
        unequal_inputs("Select", TensorShape(condition.shape), TensorShape(t.shape)),
    )


@select_op.kernel
def _select_kernel(condition, t, e):
    return cpu_functions.where(_per_element(condition, t, e), t, e)


@select_op.kernel("string")
def _select_string_kernel(condition, t, e):
    return np.where(_per_element(condition, t, e).numpy(), t, e)


@select_op.gradient
def _select_gradient(op, grad):
    condition, then, _ = op.inputs
    zeros = creation.zeros_like(then)
    return [None, select_op(condition, grad, zeros), select_op(condition, zeros, grad)]


select_op.samples(
    (boolean(2, 3), f32(2, 3), f32(2, 3, low=2, high=3)),
    (boolean(), f32(2, 3), f32(2, 3)),
    (boolean(0), f32(0), f32(0)),
    (np.array([True, False]), f32(2, 3), f32(2, 3, low=2, high=3)),
    against=lambda c, t, e: np.where(c.reshape(c.shape + (1,) * (t.ndim - c.ndim)) if c.ndim else c, t, e),
)
select_op.refuses((boolean(3), f32(2, 3), f32(2, 3)), "must be equal, but are 3 and 2")
select_op.refuses((boolean(2, 3), f32(2, 3), f32(3, 2)), "must be equal, but are 2 and 3")


@export("where", ragged="where")
def where(
    condition: TensorOrRagged,
    x: TensorOrRagged | None = None,
    y: TensorOrRagged | None = None,
    name: str | None = None,
) -> Tensor:
    """Chooses between two tensors by a condition; without them, finds the places where the condition holds.

    Args:
      condition: A tensor of type bool: of the shape of `x`, a vector that chooses among rows, or a scalar.
      x: What to take where the condition holds.
      y: What to take elsewhere, of the shape and type of `x`.
      name: A name for the operation.

    Returns:
      A tensor like `x` and `y`; without them, a matrix of type int64 with the index of each True element as a
      row.

    Raises:
      ValueError: If only one of `x` and `y` is given.
    """
    return _where(select_op, condition, x, y, name)


def _where(select: Callable, condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is not None:
        return select(condition, x, y, name=name)
    with name_scope(name, "Where", [condition]) as scope:
        condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
        return where_op(condition, name=scope)


select_v2_op = Op("SelectV2", "condition: bool, t: T, e: T -> output: T")


@select_v2_op.shape
def _select_v2_shape(condition, t, e):
    try:
        return broadcast_shapes(broadcast_shapes(condition, t), e)
    except ShapeError as error:
        operands = [brackets(shape.tuple) for shape in (condition, t, e)]
        raise ShapeError(
            str(error), "condition {}, then {}, and else {} must be broadcastable".format(*operands)
        ) from None


@select_v2_op.kernel
def _select_v2_kernel(condition, t, e):
    return cpu_functions.where(condition, t, e)


@select_v2_op.kernel("string")
def _select_v2_string_kernel(condition, t, e):
    return np.where(condition.numpy(), t, e)


@select_v2_op.gradient
def _select_v2_gradient(op, grad):
    condition, then, otherwise = op.inputs
    zero = creation.zeros([], grad.dtype.base_dtype)
    sizes: list[Tensor] = []

    def share(operand: Tensor, chosen: Tensor) -> Tensor:
        before = shapes.shape(operand)
        sizes[:] = sizes or [shapes.shape(op.outputs[0])]
        axes, _ = broadcasting.broadcast_gradient_args(before, sizes[0])
        return shapes.reshape(tf.reduce_sum(chosen, axes, keepdims=True), before)

    then_share = share(then, select_v2_op(condition, grad, zero))
    return [None, then_share, share(otherwise, select_v2_op(condition, zero, grad))]


select_v2_op.samples(
    (boolean(2, 1), f32(2, 3), f32(3)),
    (boolean(), f32(), f32(2)),
    (boolean(0, 1), f32(3), f32()),
    against=np.where,
)
select_v2_op.refuses((boolean(2), f32(2, 3), f32(2, 3)), "Dimensions must be equal, but are 2 and 3")


@export("where_v2")
def where_v2(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Chooses between two tensors by a condition, all three broadcast together; without the two, finds the
    places where the condition holds.

    Args:
      condition: A tensor of type bool.
      x: What to take where the condition holds.
      y: What to take elsewhere, of the type of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape; without `x` and `y`, a matrix of type int64 with
      the index of each True element as a row.

    Raises:
      ValueError: If only one of `x` and `y` is given.
    """
    return _where(select_v2_op, condition, x, y, name)


@export("boolean_mask")
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: int | None = None
) -> Tensor:
    """Takes the elements, or slices, of a tensor where a mask is True.

    Args:
      tensor: A tensor.
      mask: A tensor of type bool and known rank, of the shape of the axes of `tensor` that it covers.
      name: A name for the scope of the operations.
      axis: The first axis that the mask covers; by default 0.

    Returns:
      A tensor of the type of `tensor`, in which one axis stands for all that the mask covers.

    Raises:
      ValueError: If the mask is a scalar, its rank is not known, or the shapes do not fit.
    """
    with name_scope(name, None, [tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        covered = mask.shape.ndims
        if covered == 0:
            raise ValueError("mask cannot be scalar.")
        if covered is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        axis = _static_axis(axis, tensor.shape)
        whole = tensor.shape
        whole[axis : axis + covered].assert_is_compatible_with(mask.shape)
        count = whole[axis : axis + covered].num_elements()
        if tensor.is_eager:
            flat = shapes.reshape(tensor, [*whole.tuple[:axis], count, *whole.tuple[axis + covered :]])
        else:
            flat_size = tf.reduce_prod(shapes.shape(tensor)[axis : axis + covered], [0])
            flat_shape = [shapes.shape(tensor)[:axis], [flat_size], shapes.shape(tensor)[axis + covered :]]
            flat = shapes.reshape(tensor, joining.concat(flat_shape, 0))
            rest = whole[axis + covered :]
            flat.set_shape(TensorShape(whole[:axis]).concatenate([count]).concatenate(rest))
        places = shapes.squeeze(where(shapes.reshape(mask, [-1])), axis=[1])
        return gather(flat, places, axis=axis)


def _static_axis(axis: Any, shape: TensorShape) -> int:
    axis = partial_value(axis) if isinstance(axis, Tensor) else 0 if axis is None else int(axis)
    if axis is None:
        raise ValueError("boolean_mask needs to know its axis when the graph is built")
    return axis + shape.ndims if axis < 0 and shape.ndims is not None else axis
