"""Partitioners: functions of shape and dtype that say in how many parts a variable is cut along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import as_shape
from tideflow.variables import variable_scope
from tideflow.variables.store import store_of_default_graph

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, TensorLike
    from tideflow.variables.variable_scope import _ReuseMode

Partitioner = Callable[..., list[int]]


@export("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Makes a partitioner that divides every variable into the same number of parts.

    Args:
      num_shards: The number of parts. A variable has no more parts than its size along the axis.
      axis: The axis to divide.

    Returns:
      A partitioner for `tf.get_variable` and `tf.variable_scope`: a function of a shape and a dtype that
      returns the number of parts along each axis.
    """

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
    """Makes a partitioner that divides variables into as few parts as a size limit allows.

    Args:
      max_shard_bytes: The largest size of a part, in bytes.
      axis: The axis to divide.
      bytes_per_string_element: The size assumed for a string.
      max_shards: The largest number of parts; no limit if None.

    Returns:
      A partitioner for `tf.get_variable` and `tf.variable_scope`.

    Raises:
      ValueError: If a limit is not positive.
    """
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
    """Makes a partitioner that divides variables into as many parts as a least size allows.

    Args:
      max_partitions: The largest number of parts.
      axis: The axis to divide.
      min_slice_size: The least size of a part, in bytes.
      bytes_per_string_element: The size assumed for a string.

    Returns:
      A partitioner for `tf.get_variable` and `tf.variable_scope`.

    Raises:
      ValueError: If an argument is not positive.
    """

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
    initializer: InitializerLike | TensorLike,
    dtype: DTypeLike = dtypes.float32,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    name: str | None = None,
    reuse: bool | _ReuseMode | None = None,
) -> list[Any]:
    """Makes the parts of a partitioned variable; the way of old programs.

    Args:
      shape: The shape of the whole variable.
      slicing: The number of parts along each axis. At most one may be above 1.
      initializer: An initializer, or the initial value of the whole variable.
      dtype: The type of the elements.
      trainable: Whether optimizers change the parts by default.
      collections: The keys of the graph collections to add the parts to; GLOBAL_VARIABLES if None.
      name: The name of the variable.
      reuse: Whether existing parts are shared, as in `tf.variable_scope`.

    Returns:
      A list of the parts.

    Raises:
      ValueError: If `slicing` does not fit the shape.
    """
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
