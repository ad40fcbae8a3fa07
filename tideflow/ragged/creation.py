"""Ragged tensors from nested lists, ranges and feeds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants
from tideflow.ops.math import casting
from tideflow.ops.sparse.ragged_tensors import ragged_range_op
from tideflow.ragged.partitions import splits_type
from tideflow.ragged.tensor import RaggedTensor
from tideflow.ragged.value import RaggedTensorValue

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


@export("ragged.constant")
def constant(
    pylist: TensorLike,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> Any:
    """Makes a constant RaggedTensor from nested lists.

    Args:
      pylist: The nested lists.
      dtype: The type of the elements; inferred if None.
      ragged_rank: The number of ragged dimensions; as many as possible if None.
      inner_shape: The shape of a value; inferred if None.
      name: The name of the operation.
      row_splits_dtype: The type of the row splits, int32 or int64.

    Returns:
      The RaggedTensor, or a tensor if there is no ragged dimension.

    Raises:
      ValueError: If the lists do not fit the arguments.
    """
    splits_dtype = splits_type(row_splits_dtype)
    with name_scope(name, "RaggedConstant"):
        nested, values, inner = _taken_apart(pylist, ragged_rank, inner_shape)
        if not nested:
            return constants.constant(pylist, dtype, name="Const")
        made: Any = constants.constant(values, dtype, shape=(len(values), *inner), name="values")
        for splits in reversed(nested):
            splits = constants.constant(splits, splits_dtype)
            made = RaggedTensor.from_row_splits(made, splits, validate=False)
        return made


@export("ragged.constant_value")
def constant_value(
    pylist: TensorLike,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> Any:
    """Makes a RaggedTensorValue from nested lists.

    Args:
      pylist: The nested lists.
      dtype: The type of the elements; inferred if None.
      ragged_rank: The number of ragged dimensions; as many as possible if None.
      inner_shape: The shape of a value; inferred if None.
      row_splits_dtype: The type of the row splits, int32 or int64.

    Returns:
      The RaggedTensorValue, or an array if there is no ragged dimension.
    """
    splits_dtype = splits_type(row_splits_dtype).as_numpy_dtype
    if dtype is not None and dtype not in (bytes, str):  # those are NumPy's alone
        dtype = dtypes.as_dtype(dtype).as_numpy_dtype
    nested, values, inner = _taken_apart(pylist, ragged_rank, inner_shape)
    if not nested:
        return np.array(pylist, dtype)
    found: Any = np.array(values, dtype).reshape(len(values), *inner)
    for splits in reversed(nested):
        found = RaggedTensorValue(found, np.array(splits, splits_dtype))
    return found


def _taken_apart(
    pylist: Any, ragged_rank: int | None, inner_shape: Sequence[int] | None
) -> tuple[list[list[int]], list, tuple[int, ...]]:
    """The row splits of nested lists, the innermost values one behind the other, and the shape of each."""
    depths = _scalar_depths(pylist)
    deepest = max(depths | {_depth(pylist)})
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    if depths and deepest > min(depths):
        raise ValueError(f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if deepest > expected or depths and deepest != expected:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )
    if ragged_rank is None:
        ragged_rank = max(deepest - 1 - len(inner_shape), 1) if inner_shape is not None else deepest - 1
    elif depths and deepest <= ragged_rank:
        raise ValueError(
            f"pylist has scalar values depth {deepest}, but ragged_rank={ragged_rank} requires scalar value "
            f"depth greater than {ragged_rank}"
        )
    nested, values = [], pylist
    for _ in range(ragged_rank):
        nested.append([0, *accumulate(len(row) for row in values)])
        values = [item for row in values for item in row]
    if inner_shape is None:
        inner_shape = _common_shape(values) if ragged_rank > 0 else ()
    return nested, values, tuple(inner_shape)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0


def _scalar_depths(value: Any) -> set[int]:
    """How many lists each scalar is in."""
    if not _is_list(value):
        return {0}
    return {depth + 1 for item in value for depth in _scalar_depths(item)}


def _depth(value: Any) -> int:
    """How many lists stand inside each other."""
    return 1 + max(map(_depth, value), default=0) if _is_list(value) else 0


def _common_shape(values: Sequence[Any]) -> tuple[int, ...]:
    """The shape that every value has."""
    shapes = {_shape(value) for value in values}
    if len(shapes) > 1:
        raise ValueError("inner values have inconsistent shape")
    return shapes.pop() if shapes else ()


def _shape(value: Any) -> tuple[int, ...]:
    return (len(value), *_common_shape(value)) if _is_list(value) else ()


@export("ragged.placeholder")
def placeholder(
    dtype: DTypeLike, ragged_rank: int, value_shape: ShapeLike | None = None, name: str | None = None
) -> Any:
    """Makes a placeholder for a RaggedTensor, which steps are fed a RaggedTensorValue for.

    Args:
      dtype: The type of the elements.
      ragged_rank: The number of ragged dimensions.
      value_shape: The shape of a value; unknown if None.
      name: The name of the operation.

    Returns:
      The RaggedTensor.
    """
    if ragged_rank == 0:
        return constants.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        shape = TensorShape([None]).concatenate(TensorShape(value_shape))
        result: Any = constants.placeholder(dtype, shape, "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = constants.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
        return result


@export("ragged.range")
def range_(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """Makes a row of numbers for each start.

    Args:
      starts: The first numbers; the limits, from 0 on, if `limits` is None.
      limits: The ends, which are not included.
      deltas: The steps.
      dtype: The type of the elements.
      name: The name of the operation.
      row_splits_dtype: The type of the row splits, int32 or int64.

    Returns:
      The RaggedTensor.
    """
    splits_dtype = splits_type(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        parts = [
            convert_to_tensor(value, dtype, part)
            for value, part in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))
        ]
        if dtype is None:
            widest = max((part.dtype for part in parts), key=_WIDENING.index)
            parts = [casting.cast(part, widest) for part in parts]
        splits, values = ragged_range_op(*parts, Tsplits=splits_dtype, name=scope)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


_WIDENING = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
