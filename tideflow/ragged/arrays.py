"""Ragged tensors joined, taken apart, masked and mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.dispatch import replacement
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, indexing, joining, rolling, shapes, sorting, tiling
from tideflow.ops.math import casting, checks, segments
from tideflow.ragged.conversion import positive_axis
from tideflow.ragged.partitions import partition_tensor
from tideflow.ragged.slicing import gathered_rows
from tideflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

# ------------------------------------------------------------------------------------------------ values


@export("ragged.map_flat_values")
def map_flat_values(op: Callable, *args: Any, **kwargs: Any) -> Any:
    """Applies a function to the flat values of ragged tensors.

    Args:
      op: The function.
      *args: Its arguments. Each RaggedTensor among them, also within lists, is replaced by its flat values.
      **kwargs: Its keyword arguments, likewise.

    Returns:
      The result, with the row splits of the ragged arguments.

    Raises:
      ValueError: If the ragged arguments have different row splits.
    """
    found: list[RaggedTensor] = []
    arguments = _with_flat_values(args, found)
    keywords = {key: _with_flat_values(value, found) for key, value in kwargs.items()}
    if not found:
        return op(*arguments, **keywords)
    nested = _common_splits([ragged.nested_row_splits for ragged in match_row_splits_dtypes(*found)])
    return RaggedTensor.from_nested_row_splits(op(*arguments, **keywords), nested, validate=False)


def _with_flat_values(value: Any, found: list[RaggedTensor]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_with_flat_values(item, found) for item in value])
    if not is_ragged(value):
        return value
    ragged = convert_to_tensor_or_ragged_tensor(value)
    found.append(ragged)
    return ragged.flat_values


def _common_splits(nested: Sequence[Sequence[Tensor]]) -> Sequence[Tensor]:
    """Row splits, of which all tensors must have the same."""
    first, *others = nested
    if any(len(other) != len(first) for other in others):
        raise ValueError("Inputs must have the same ragged_rank")
    tests = [
        checks.assert_equal(a, b, message="Inputs must have identical ragged splits")
        for other in others
        for a, b in zip(first, other, strict=True)
        if a is not b
    ]
    if not tests:
        return first
    with control_dependencies(tests):
        return [constants.identity(splits) for splits in first]


# ------------------------------------------------------------------------------------------------ joining


@export("ragged.stack")
@replacement("ragged", "stack")
def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Stacks tensors of one rank along a new axis. Their sizes may differ.

    Args:
      values: The tensors, ragged or not.
      axis: The new axis.
      name: The name of the operation.

    Returns:
      The RaggedTensor.
    """
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, new_axis=True)


@replacement("ragged", "concat")
def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """Tensors of one rank joined along an axis."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, new_axis=False)


def _joined(values: list, axis: int, new_axis: bool) -> Any:
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    tensors = match_row_splits_dtypes(*(convert_to_tensor_or_ragged_tensor(value) for value in values))
    ranks = {tensor.shape.ndims for tensor in tensors} - {None}
    if len(ranks) > 1:
        first = next(tensor.shape for tensor in tensors if tensor.shape.ndims is not None)
        other = next(tensor.shape for tensor in tensors if tensor.shape.ndims not in (None, first.ndims))
        raise ValueError(f"Shape {other} must have rank {first.ndims}")
    rank = ranks.pop() if ranks else None
    axis = positive_axis(axis, None if rank is None else rank + new_axis)
    if not any(isinstance(tensor, RaggedTensor) for tensor in tensors):
        if not (new_axis and axis == 0 and rank is not None and rank > 1):
            return joining.stack(tensors, axis) if new_axis else joining.concat(tensors, axis)
        tensors = [RaggedTensor.from_tensor(tensor) for tensor in tensors]
    return _join(_equally_ragged(tensors), axis, new_axis)


def _equally_ragged(tensors: Sequence[Any]) -> list[RaggedTensor]:
    """The tensors with as many ragged dimensions as the one that has most."""
    most = max(tensor.ragged_rank for tensor in tensors if isinstance(tensor, RaggedTensor))
    dtype = next(tensor.row_splits.dtype for tensor in tensors if isinstance(tensor, RaggedTensor))
    return [with_ragged_rank(tensor, most, dtype) for tensor in tensors]


def with_ragged_rank(tensor: Any, ragged_rank: int, dtype: dtypes.DType) -> Any:
    """The tensor with this number of ragged dimensions."""
    if not ragged_rank:
        return tensor
    if not isinstance(tensor, RaggedTensor):
        return RaggedTensor.from_tensor(tensor, ragged_rank=ragged_rank, row_splits_dtype=dtype)
    return tensor.with_values(with_ragged_rank(tensor.values, ragged_rank - 1, dtype))


def _join(tensors: Sequence[Any], axis: int, new_axis: bool) -> Any:
    """Joins along the first axis, row by row along the second, and the values of rows along others."""
    if not isinstance(tensors[0], RaggedTensor):
        return joining.stack(tensors, axis) if new_axis else joining.concat(tensors, axis)
    if axis > 1:
        (splits,) = _common_splits([[tensor.row_splits] for tensor in tensors])
        values = _join([tensor.values for tensor in tensors], axis - 1, new_axis)
        return RaggedTensor.from_row_splits(values, splits, validate=False)
    together = _one_behind_the_other(tensors)
    if axis == 0:
        counts = joining.stack([tensor.nrows() for tensor in tensors])
        return RaggedTensor.from_row_lengths(together, counts, validate=False) if new_axis else together
    return _row_by_row(together, tensors, new_axis)


def _one_behind_the_other(tensors: Sequence[Any]) -> Any:
    if len(tensors) == 1:
        return tensors[0]
    if not isinstance(tensors[0], RaggedTensor):
        return joining.concat(tensors, 0)
    values = _one_behind_the_other([tensor.values for tensor in tensors])
    splits, end = [tensors[0].row_splits], tensors[0].row_splits[-1]
    for tensor in tensors[1:]:
        splits.append(tensor.row_splits[1:] + end)
        end = splits[-1][-1] if len(splits) < len(tensors) else end
    return RaggedTensor.from_row_splits(values, joining.concat(splits, 0), validate=False)


def _row_by_row(together: RaggedTensor, tensors: Sequence[RaggedTensor], new_axis: bool) -> RaggedTensor:
    """The first rows of all tensors, then the second …; joined, or as rows of a new dimension."""
    rows, count = tensors[0].nrows(), len(tensors)
    tests = [
        checks.assert_equal(rows, t.nrows(), message="Input tensors have incompatible shapes.")
        for t in tensors[1:]
    ]
    with control_dependencies(tests):
        rows = constants.identity(rows)
    numbers = creation.range(rows * count)
    order = shapes.reshape(shapes.transpose(shapes.reshape(numbers, joining.stack([count, rows]))), [-1])
    permuted = gathered_rows(together, order)
    if new_axis:
        ends = creation.range(rows + 1) * count
        ends.set_shape(tensors[0].row_splits.shape)
        return RaggedTensor.from_row_splits(permuted, ends, validate=False)
    splits = permuted.row_splits[::count]
    splits.set_shape(tensors[0].row_splits.shape)
    return RaggedTensor.from_row_splits(permuted.values, splits, validate=False)


# ------------------------------------------------------------------------------------------------ taking


@replacement("ragged", "gather")
def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: int | None = None,
    batch_dims: int = 0,
) -> Any:
    """Rows by number; numbers may be ragged."""
    if axis not in (None, 0) or batch_dims:
        raise ValueError("Only axis=0 and batch_dims=0 are supported for RaggedTensors.")
    with name_scope(name, "RaggedGather", [params, indices]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        return (
            gathered_rows(params, indices)
            if isinstance(params, RaggedTensor)
            else indexing.gather(params, indices)
        )


@replacement("ragged", "expand_dims")
def expand_dims(input: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Any:
    """Another dimension of size 1."""
    axis = dim if axis is None else axis
    with name_scope(name, "RaggedExpandDims", [input]):
        tensor = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not isinstance(tensor, RaggedTensor):
            return shapes.expand_dims(tensor, axis)
        rank = tensor.shape.ndims
        axis = positive_axis(axis, None if rank is None else rank + 1)
        if axis == 0:
            splits = joining.stack([casting.cast(0, tensor.row_splits.dtype), tensor.nrows()])
            return RaggedTensor.from_row_splits(tensor, splits, validate=False)
        if axis == 1:
            splits = creation.range(tensor.nrows() + 1)
            splits.set_shape(tensor.row_splits.shape)
            return RaggedTensor.from_row_splits(tensor, splits, validate=False)
        return tensor.with_values(expand_dims(tensor.values, axis - 1))


@replacement("ragged", "batch_gather")
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """Elements of each row, by the numbers in the same row of `indices`."""
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if indices.shape.ndims == 0:
            raise ValueError("indices.rank must be at least 1.")
        params, indices = match_row_splits_dtypes(params, indices)
        return _gathered_by_rows(params, indices)


_OTHER_BATCHES = "batch shape from indices does not match params shape"


def _gathered_by_rows(params: Any, indices: Any) -> Any:
    if not isinstance(indices, RaggedTensor):
        return _gathered_by_even_rows(params, indices)
    if indices.shape.ndims > 2:
        if not isinstance(params, RaggedTensor):
            raise ValueError(_OTHER_BATCHES)
        with control_dependencies([checks.assert_equal(params.row_splits, indices.row_splits)]):
            return indices.with_values(_gathered_by_rows(params.values, indices.values))
    if not isinstance(params, RaggedTensor):
        if params.shape.ndims is not None and params.shape.ndims < 2:
            raise ValueError(_OTHER_BATCHES)
        params = RaggedTensor.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
    starts = indexing.gather(params.row_starts(), indices.value_rowids())
    places = casting.cast(indices.values, starts.dtype) + starts
    return indices.with_values(gather(params.values, places))


def _gathered_by_even_rows(params: Any, indices: Tensor) -> Any:
    """Elements of each row, as many of every row."""
    if not isinstance(params, RaggedTensor):
        return indexing.batch_gather(params, indices)
    if indices.shape.ndims == 1:
        return gather(params, indices)
    if indices.shape.ndims > 2:
        raise ValueError(_OTHER_BATCHES)
    starts = shapes.expand_dims(params.row_starts(), 1)
    return gather(params.values, casting.cast(indices, starts.dtype) + starts)


@replacement("ragged", "tile")
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each axis."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        ragged = convert_to_tensor_or_ragged_tensor(input, name="input")
        multiples = casting.cast(multiples, ragged.row_splits.dtype)
        of_values = joining.concat([casting.cast([1], multiples.dtype), multiples[2:]], 0)
        inner = tile if isinstance(ragged.values, RaggedTensor) else tiling.tile
        ragged = ragged.with_values(inner(ragged.values, of_values))
        numbers = creation.range(ragged.nrows())
        again = gathered_rows(ragged, rolling.repeat(numbers, multiples[1]))  # each row so often, then as one
        ends = indexing.gather(again.row_splits, creation.range(ragged.nrows() + 1) * multiples[1])
        longer = RaggedTensor.from_row_splits(again.values, ends, validate=False)
        all_numbers = tiling.tile(numbers, multiples[:1])
        tiled = gathered_rows(longer, all_numbers)
        count = all_numbers.shape.as_list()[0]
        tiled.row_splits.set_shape([None if count is None else count + 1])
        return tiled


@replacement("ragged", "size")
def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of elements."""
    return shapes.size(convert_to_tensor_or_ragged_tensor(input).flat_values, name, out_type)


@replacement("ragged", "rank")
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions."""
    with name_scope(name, "RaggedRank", [input]):
        tensor = convert_to_tensor_or_ragged_tensor(input)
        return shapes.rank(tensor.flat_values) + tensor.ragged_rank


@export("ragged.boolean_mask")
def boolean_mask(data: TensorOrRagged, mask: TensorOrRagged, name: str | None = None) -> Any:
    """Selects the elements for which a mask is true, and keeps the mask's rows.

    Args:
      data: A tensor, ragged or not.
      mask: A bool tensor, ragged or not, of the first axes of `data`.
      name: The name of the operation.

    Returns:
      A tensor of the rank of `data`; ragged if the mask has more than one axis.
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        dimensions = mask.shape.ndims
        if dimensions is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if dimensions == 0:
            raise ValueError("mask cannot be scalar.")
        if dimensions == 1:
            data.shape[:1].assert_is_compatible_with(mask.shape)
            if isinstance(data, RaggedTensor):
                return gathered_rows(data, shapes.reshape(indexing.where(mask), [-1]))
            return indexing.boolean_mask(data, mask)
        if not isinstance(data, RaggedTensor) and not isinstance(mask, RaggedTensor):
            data.shape[:dimensions].assert_is_compatible_with(mask.shape)
        return _masked_rows(*_ragged_alike(data, mask, dimensions - 1))


def _ragged_alike(data: Any, mask: Any, ragged_rank: int) -> list[RaggedTensor]:
    tensors = match_row_splits_dtypes(data, mask)
    splits = [tensor.row_splits.dtype for tensor in tensors if isinstance(tensor, RaggedTensor)]
    dtype = splits[0] if splits else dtypes.int64
    deepest = [
        max(ragged_rank, data.ragged_rank) if isinstance(data, RaggedTensor) else ragged_rank,
        ragged_rank,
    ]
    return [with_ragged_rank(tensor, deep, dtype) for tensor, deep in zip(tensors, deepest, strict=True)]


def _masked_rows(data: RaggedTensor, mask: RaggedTensor) -> RaggedTensor:
    if isinstance(mask.values, RaggedTensor):
        return mask.with_values(_masked_rows(data.values, mask.values))
    kept = boolean_mask(data.values, mask.values)
    counts = segments.unsorted_segment_sum(
        casting.cast(mask.values, mask.row_splits.dtype), mask.value_rowids(), mask.nrows()
    )
    counts.set_shape([mask.shape.tuple[0]])
    return RaggedTensor.from_row_lengths(kept, counts, validate=False)


@replacement("ragged", "where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Where the condition holds: the places; or the element (or row) of x, elsewhere that of y."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, dtypes.bool, name="condition")
        if x is None and y is None:
            places = condition.to_sparse()
            return indexing.boolean_mask(places.indices, places.values)
        if isinstance(condition, RaggedTensor):
            if not (is_ragged(x) and is_ragged(y)):
                raise ValueError("Input shapes do not match.")
            return map_flat_values(indexing.where, condition, x, y)
        condition.shape.assert_has_rank(1)
        together = concat([x, y], 0)
        numbers = creation.range(shapes.size(condition, out_type=dtypes.int64))
        count = shapes.shape(numbers, out_type=dtypes.int64)[0]
        return gather(together, indexing.where(condition, numbers, numbers + count))


@replacement("ragged", "one_hot")
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """A vector for each index, with `on_value` at that place."""
    if axis not in (None, -1):
        raise ValueError("Only axis=-1 is supported for RaggedTensors.")
    with name_scope(name, "RaggedOneHot", [indices]):
        return map_flat_values(
            lambda flat: creation.one_hot(flat, depth, on_value, off_value, -1, dtype), indices
        )


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(
    data: TensorOrRagged, partitions: TensorOrRagged, num_partitions: TensorLike, name: str | None = None
) -> Any:
    """Groups the elements of a tensor by partition.

    Args:
      data: The tensor, ragged or not.
      partitions: The number of the partition of each element.
      num_partitions: The number of partitions.
      name: The name of the operation.

    Returns:
      A RaggedTensor with a row for each partition.
    """
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        partitions = convert_to_tensor_or_ragged_tensor(partitions, name="partitions")
        if isinstance(partitions, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError("partitions must not be ragged if data is not")
            rows = casting.cast(partitions.values, partitions.row_splits.dtype)
            return stack_dynamic_partitions(data.values, rows, num_partitions)
        dimensions = partitions.shape.ndims
        if dimensions is None:
            raise ValueError("partitions must have known rank")
        if dimensions == 0:
            return _of_one_partition(data, partitions, num_partitions)
        if dimensions > 1:
            if not isinstance(data, RaggedTensor):
                data = RaggedTensor.from_tensor(data)
            rows = RaggedTensor.from_tensor(partitions).values
            return stack_dynamic_partitions(data.values, rows, num_partitions)
        if isinstance(data, RaggedTensor):
            partitions = casting.cast(partitions, data.row_splits.dtype)
        return _sorted_by_partition(data, partition_tensor(partitions, "partitions"), num_partitions)


def _of_one_partition(data: Any, partition: Tensor, num_partitions: Any) -> Any:
    return stack_dynamic_partitions(joining.stack([data]), joining.stack([partition]), num_partitions)


def _sorted_by_partition(data: Any, partitions: Tensor, num_partitions: Any) -> RaggedTensor:
    count = casting.cast(convert_to_tensor(num_partitions, name="num_partitions"), partitions.dtype)
    order = sorting.argsort(partitions, stable=True)
    rowids = indexing.gather(partitions, order)
    message = "partitions must be less than num_partitions"
    tests = [checks.assert_less(rowids[-1:], count, message=message), checks.assert_non_negative(rowids[:1])]
    with control_dependencies(tests):
        rowids = constants.identity(rowids)
    taken = gathered_rows(data, order) if isinstance(data, RaggedTensor) else indexing.gather(data, order)
    return RaggedTensor.from_value_rowids(taken, rowids, count, validate=False)
