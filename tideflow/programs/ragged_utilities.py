"""`tensorflow.python.ops.ragged.ragged_util`: small functions on the parts of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import creation, indexing, joining, rolling
from tideflow.ops.math import checks, cumulative
from tideflow.programs.modules import generated_function


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
