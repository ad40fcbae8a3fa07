"""Sums, means and extremes of ragged tensors: of rows, of columns, and of segments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.dispatch import form, replacement
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, indexing
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, reductions, segments, unary
from tideflow.ops.sparse.ragged_tensors import ragged_range_op
from tideflow.ops.strings import joined
from tideflow.ragged.arrays import map_flat_values
from tideflow.ragged.conversion import positive_axis
from tideflow.ragged.partitions import splits_of
from tideflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor

Fold = Callable[[Tensor, Tensor, Tensor], Tensor]  # of data, ids and the number of segments


@form("ragged", "segments")
def of_segments(fold: Fold) -> Callable:
    """The ragged form of `tf.math.unsorted_segment_…`."""

    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        with name_scope(name, "RaggedSegment", [data, segment_ids]):
            data = convert_to_tensor_or_ragged_tensor(data, name="data")
            ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
            return _folded(fold, data, ids, num_segments)

    return function


def _folded(fold: Fold, data: Any, ids: Any, count: Any) -> Any:
    """What `fold` makes of the rows of each segment, element by element; short rows just end earlier."""
    if isinstance(ids, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged.")
        return _folded(fold, data.values, ids.values, count)
    if not isinstance(data, RaggedTensor):
        return fold(data, ids, count)
    dtype = data.row_splits.dtype
    ids = casting.cast(ids, dtype)
    lengths = segments.unsorted_segment_max(data.row_lengths(), ids, count)
    lengths = binary.maximum(lengths, casting.cast(0, dtype))  # of no rows, the maximum is the least number
    splits = splits_of(lengths)
    starts = indexing.gather(splits[:-1], ids)
    _, places = ragged_range_op(
        starts, starts + data.row_lengths(), casting.cast(1, dtype), T=dtype, Tsplits=dtype
    )
    return RaggedTensor.from_row_splits(
        _folded(fold, data.values, places, splits[-1]), splits, validate=False
    )


def reduction(reduce: Callable, fold: Fold) -> Callable:
    """The ragged form of `tf.reduce_…`: `reduce` of a dense tensor, `fold` of segments."""

    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        if renamed("keepdims", keepdims, "keep_dims", keep_dims):
            raise ValueError("keepdims=True is not supported for RaggedTensors.")
        axis = renamed("axis", axis, "reduction_indices", reduction_indices)
        with name_scope(name, "RaggedReduce", [input_tensor, axis]):
            return _reduced(convert_to_tensor_or_ragged_tensor(input_tensor), _static(axis), reduce, fold)

    return function


def _static(axis: Any) -> Any:
    if not isinstance(axis, Tensor):
        return axis
    known = constant_value(axis)
    if known is None:
        raise ValueError("axis must be known at graph construction time.")
    return known.tolist()


def _reduced(data: Any, axis: Any, reduce: Callable, fold: Fold) -> Any:
    if not isinstance(data, RaggedTensor):
        return reduce(data, axis)
    if axis is None:
        return reduce(data.flat_values, None)
    if isinstance(axis, (list, tuple, np.ndarray)):
        for one in sorted((positive_axis(int(one), data.shape.ndims) for one in axis), reverse=True):
            data = _reduced(data, one, reduce, fold)
        return data
    axis = positive_axis(axis, data.shape.ndims)
    if axis == 0:
        lengths = data.row_lengths()
        dtype = lengths.dtype
        _, columns = ragged_range_op(
            casting.cast(0, dtype), lengths, casting.cast(1, dtype), T=dtype, Tsplits=dtype
        )
        longest = binary.maximum(reductions.reduce_max(lengths), casting.cast(0, dtype))
        return _folded(fold, data.values, columns, longest)
    if axis == 1:
        found = _folded(fold, data.values, data.value_rowids(), data.nrows())
        if isinstance(found, Tensor) and found.shape.ndims:
            found.set_shape([data.shape.tuple[0], *found.shape.as_list()[1:]])
        return found
    return data.with_values(_reduced(data.values, axis - 1, reduce, fold))


@replacement("ragged", "reduce_mean")
def reduce_mean(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Any:
    """The sum along the axes by the number of elements that are summed up."""
    total = reduction(reductions.reduce_sum, segments.unsorted_segment_sum)
    options = axis, keepdims, name, reduction_indices, keep_dims
    ones = map_flat_values(creation.ones_like, input_tensor)
    return map_flat_values(binary.truediv, total(input_tensor, *options), total(ones, *options))


# ------------------------------------------------------------------------------------------------ folds


def _any(data: Tensor, ids: Tensor, count: Any) -> Tensor:
    """Whether one of each segment is true."""
    found = segments.unsorted_segment_sum(casting.cast(data, dtypes.int32), ids, count)
    return binary.not_equal(found, 0)


def _all(data: Tensor, ids: Tensor, count: Any) -> Tensor:
    """Whether all of each segment are true."""
    return unary.logical_not(_any(unary.logical_not(data), ids, count))


_FOLDS = {
    "reduce_sum": segments.unsorted_segment_sum,
    "reduce_prod": segments.unsorted_segment_prod,
    "reduce_min": segments.unsorted_segment_min,
    "reduce_max": segments.unsorted_segment_max,
    "reduce_any": _any,
    "reduce_all": _all,
}
for _name, _fold in _FOLDS.items():
    form("ragged", _name)(functools.partial(reduction, fold=_fold))


# ------------------------------------------------------------------------------------------------ strings


@replacement("ragged", "reduce_join")
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """Strings joined along an axis."""

    def fold(data: Tensor, ids: Tensor, count: Any) -> Tensor:
        return joined.unsorted_segment_join(data, ids, count, separator)

    def reduce(data: Tensor, axes: Any) -> Tensor:
        return joined.reduce_join(data, axes, separator=separator)

    return reduction(reduce, fold)(inputs, axis, keepdims, name, reduction_indices, keep_dims)
