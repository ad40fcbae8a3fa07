"""Partitioners: functions of shape and dtype that say in how many parts a variable is cut along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import as_shape
from tideflow.variables import variable_scope
from tideflow.variables.store import store_of_default_graph

Partitioner = Callable[..., list[int]]


@export("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """The same number of parts for every variable, but never more than there are rows."""

    def partitioner(shape: Any, **unused: Any) -> list[int]:
        sizes = as_shape(shape).as_list()
        parts = [1] * len(sizes)
        parts[axis] = min(num_shards, sizes[axis])
        return parts

    return partitioner


@export("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """As few parts as keep each below a size in bytes."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards is not None and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        sizes = _full(shape)
        bytes_a_slice = math.prod(sizes) // sizes[axis] * _element_bytes(dtype, bytes_per_string_element)
        slices_a_part = max(1, max_shard_bytes // bytes_a_slice)
        count = math.ceil(sizes[axis] / slices_a_part)
        parts = [1] * len(sizes)
        parts[axis] = count if max_shards is None else min(max_shards, count)
        return parts

    return partitioner


@export("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """As many parts as there may be, but none below a size in bytes."""

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        sizes = _full(shape)
        total = math.prod(sizes) * _element_bytes(dtype, bytes_per_string_element)
        count = math.ceil(total / min_slice_size)
        parts = [1] * len(sizes)
        parts[axis] = max(1, min(sizes[axis], max_partitions, count))
        return parts

    return partitioner


def _full(shape: Any) -> list[int]:
    shape = as_shape(shape)
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    return shape.as_list()


def _element_bytes(dtype: Any, bytes_per_string: int) -> int:
    dtype = dtypes.as_dtype(dtype)
    return bytes_per_string if dtype is dtypes.string else dtype.size


@export("create_partitioned_variables")
def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The parts of a variable cut as `slicing` says: the older way, before partitioners."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope.variable_scope(name, "PartitionedVariable", reuse=reuse) as scope, name_scope(None):
        variable = store_of_default_graph()._get_partitioned_variable(
            name=scope.name,
            partitioner=lambda **unused: list(slicing),
            shape=shape,
            dtype=dtype,
            initializer=scope.initializer if initializer is None else initializer,
            regularizer=scope.regularizer,
            reuse=scope.reuse,
            trainable=trainable,
            collections=collections,
            caching_device=scope.caching_device,
            validate_shape=True,
            use_resource=scope.use_resource,
            constraint=scope.constraint,
        )
        return list(variable)
