"""`tensorflow.python.ops.ragged.ragged_util`: small functions on the parts of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import creation, indexing, joining, rolling
from tideflow.ops.math import casting, checks, cumulative
from tideflow.programs.modules import generated_function
from tideflow.ragged.conversion import positive_axis


def auto_cast_partition_dtype() -> bool:
    """Whether row splits of different types are cast to one: no, they are refused."""
    return False


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Tensor]]) -> list[Operation]:
    """Checks that ragged tensors have the same rows.

    Args:
      nested_splits_lists: The row splits of each, the outermost first.

    Returns:
      The operations that check it.

    Raises:
      ValueError: If they have different numbers of ragged dimensions.
    """
    message = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(message)
    pairs = [pair for splits in others for pair in zip(first, splits, strict=True)]
    return [checks.assert_equal(one, other, message=message) for one, other in pairs]


def lengths_to_splits(lengths: Any) -> Tensor:
    """The splits of rows that have these lengths."""
    return joining.concat([[0], cumulative.cumsum(lengths)], axis=-1)


def repeat_ranges(params: Any, splits: Any, repeats: Any) -> Tensor:
    """Ranges of a tensor, each one or more times.

    Args:
      params: The tensor.
      splits: Where the ranges begin, and where the last ends.
      repeats: How many times each, or all.

    Returns:
      The ranges, one behind the other.
    """
    starts, limits = [rolling.repeat(part, repeats, axis=0) for part in (splits[:-1], splits[1:])]
    offsets = generated_function("ragged_range")(starts, limits, creation.ones([], starts.dtype))
    return indexing.gather(params, offsets.rt_dense_values)


def get_positive_axis(axis: int, ndims: int | None) -> int:
    """An axis counted from the front."""
    return positive_axis(axis, ndims)


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = dtypes.int32) -> Tensor:
    """A tensor of integers, as a type of integers."""
    tensor = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return casting.cast(tensor, dtype)


def repeat(data: Any, repeats: Any, axis: int, name: str | None = None) -> Tensor:
    """Each element along an axis several times."""
    return rolling.repeat(data, repeats, axis, name)
