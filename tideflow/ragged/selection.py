"""Parts of ragged tensors: slices by index vectors, dimensions of size 1 left out, rows by partition."""

from __future__ import annotations

from typing import Any

from tideflow.dispatch import replacement
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.control_flow.debugging import Assert
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, reductions
from tideflow.ragged.arrays import expand_dims, gather, stack_dynamic_partitions, tile
from tideflow.ragged.conversion import positive_axis
from tideflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    match_row_splits_dtypes,
)

# ------------------------------------------------------------------------------------------ index vectors


@replacement("ragged", "gather_nd")
def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """Slices by index vectors, which may have fewer entries than `params` has dimensions."""
    if not isinstance(batch_dims, int) or batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        params, indices = match_row_splits_dtypes(params, indices)
        size = _vector_size(indices)
        if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
            return indexing.gather_nd(params, indices)
        if indices.shape.ndims > 2:
            return _of_many_dimensions(params, indices)
        if size == 0:
            return _whole_for_each(params, indices)
        if size == 1:
            return gather(params, shapes.reshape(indices, [-1]))
        return _by_vectors(params, casting.cast(indices, params.row_splits.dtype), size)


def _vector_size(indices: Any) -> int:
    """How many entries the index vectors have; ValueError where that is not known."""
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("indices.rank be statically known.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if isinstance(indices, RaggedTensor) and rank == indices.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    size = indices.shape.as_list()[-1]
    if size is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    return int(size)


def _of_many_dimensions(params: Any, indices: Any) -> Any:
    """The slices of a list of vectors, in the dimensions that are around the list."""
    outer = indices.shape.ndims - 2
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    rows = RaggedTensor.from_tensor(indices, ragged_rank=outer, row_splits_dtype=params.row_splits.dtype)
    found = rows.with_flat_values(gather_nd(params, rows.flat_values))
    return found.to_tensor() if found.ragged_rank == outer else found


def _whole_for_each(params: RaggedTensor, indices: Tensor) -> RaggedTensor:
    """An empty index vector takes all of `params`."""
    rank = params.ragged_rank + shapes.rank(params.flat_values)
    for _ in range(indices.shape.ndims - 1):
        params = expand_dims(params, axis=0)
    once = creation.ones([rank], dtypes.int32)
    return tile(params, joining.concat([shapes.shape(indices)[:-1], once], 0))


def _by_vectors(params: RaggedTensor, indices: Tensor, size: int) -> Any:
    """Goes in one dimension after the other: first to the row, then to the place among the values of rows."""
    places = indexing.gather(params.row_splits, indices[..., 0]) + indices[..., 1]
    values = params.values
    for dimension in range(2, size):
        if not isinstance(values, RaggedTensor):
            vectors = joining.concat([shapes.expand_dims(places, 1), indices[..., dimension:]], 1)
            return indexing.gather_nd(values, vectors)
        places = indexing.gather(values.row_starts(), places) + indices[..., dimension]
        values = values.values
    return gather(values, places)


# ------------------------------------------------------------------------------------ dimensions of size 1


@replacement("ragged", "squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """The tensor without the dimensions that `axis` names."""
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    with name_scope(name, "RaggedSqueeze", [input]):
        data = convert_to_tensor_or_ragged_tensor(input)
        if not isinstance(data, RaggedTensor):
            return shapes.squeeze(data, axis, name)
        axes = {positive_axis(one, data.shape.ndims) for one in _listed(axis)}
        dense = [one - data.ragged_rank for one in axes if one > data.ragged_rank]
        with control_dependencies(_are_of_size_one(data, axes)):
            values = constants.identity(data.flat_values)
        if dense:
            values = shapes.squeeze(values, dense)
        splits = [row for i, row in enumerate(data.nested_row_splits) if i + 1 not in axes]
        if splits and 0 in axes:
            splits.pop(0)
        if axes.issuperset(range(data.ragged_rank + 1)):
            return shapes.squeeze(values, [0], name)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _listed(axis: Any) -> list[int]:
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    if isinstance(axis, int):
        return [axis]
    if not isinstance(axis, (list, tuple)) or not all(isinstance(one, int) for one in axis):
        raise TypeError("Axis must be a list or tuple of integers.")
    return list(axis)


def _are_of_size_one(data: RaggedTensor, axes: set[int]) -> list[Any]:
    """Assertions that the ragged dimensions among `axes` are of size 1."""

    def refused(axis: int) -> list[str]:
        return [f"the given axis (axis = {axis}) is not squeezable!"]

    tests = [
        Assert(reductions.reduce_all(binary.equal(lengths, 1)), refused(i + 1))
        for i, lengths in enumerate(data.nested_row_lengths())
        if i + 1 in axes
    ]
    if 0 in axes:
        tests.append(Assert(binary.equal(shapes.size(data.row_splits), 2), refused(0)))
    return tests


# ------------------------------------------------------------------------------------- rows by partition


@replacement("ragged", "dynamic_partition")
def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Any]:
    """The rows of each partition."""
    if not isinstance(num_partitions, int):
        raise TypeError(f"Expected int for argument 'num_partitions' not {num_partitions!r}.")
    if num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    found = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [found[i] for i in range(num_partitions)]
