"""Functions of elements on ragged tensors: their flat values, broadcast against each other where need be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.dispatch import form
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.helpers.axes import size_sum
from tideflow.ops.math import binary, casting, checks, reductions, unary
from tideflow.ragged.arrays import map_flat_values, with_ragged_rank
from tideflow.ragged.partitions import row_splits_to_segment_ids, splits_of
from tideflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)


@form("ragged", "values")
def on_values(function: Callable) -> Callable:
    """The function of one tensor, first among its arguments, on flat values."""

    def ragged(*args: Any, **kwargs: Any) -> Any:
        return map_flat_values(function, *args, **kwargs)

    return ragged


@form("ragged", "broadcast_values")
def on_broadcast_values(function: Callable) -> Callable:
    """The function of two tensors, `x` and `y`, on flat values that are broadcast against each other."""

    def ragged(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        x, y = _as_tensors(x, y)
        x_values, y_values, nested = _broadcast(x, y)
        result = function(x_values, y_values, *args, **kwargs)
        return RaggedTensor.from_nested_row_splits(result, nested, validate=False)

    return ragged


def _as_tensors(x: Any, y: Any) -> list[Any]:
    """Both as tensors, of the type of the ragged one where that is open."""
    dtype = (x if is_ragged(x) else y).dtype
    tensors = [
        convert_to_tensor_or_ragged_tensor(value)
        if is_ragged(value)
        else convert_to_tensor(value, preferred_dtype=dtype)
        for value in (x, y)
    ]
    return match_row_splits_dtypes(*tensors)


def _broadcast(x: Any, y: Any) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
    """Flat values of both that fit each other, and the row splits of the result."""
    ragged = x if isinstance(x, RaggedTensor) else y
    other = y if ragged is x else x
    if isinstance(other, RaggedTensor):
        if _have_the_same_splits(x, y):
            return x.flat_values, y.flat_values, x.nested_row_splits
    elif other.shape.ndims == 0 or _fits_inside(other, ragged.flat_values):
        values = [tensor.flat_values if tensor is ragged else tensor for tensor in (x, y)]
        return *values, ragged.nested_row_splits
    return _broadcast_rows(x, y)


def _have_the_same_splits(x: RaggedTensor, y: RaggedTensor) -> bool:
    return list(map(id, x.nested_row_splits)) == list(map(id, y.nested_row_splits))


def _fits_inside(dense: Tensor, values: Tensor) -> bool:
    """Whether a dense operand has to do with a single value's dimensions only."""
    return None not in (dense.shape.ndims, values.shape.ndims) and dense.shape.ndims < values.shape.ndims


def _broadcast_rows(x: Any, y: Any) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
    """Level by level: which row of each operand a row of the result is made of.

    Where an operand has one row, or only rows of one element, it is used again for all of the other's.
    """
    if x.shape.ndims is None or y.shape.ndims is None:
        raise ValueError("Unable to broadcast: the rank of ragged operands must be known")
    operands = _alike(x, y)
    dtype = operands[0].row_splits.dtype
    sizes = [operand.nrows() for operand in operands]
    numbers = [creation.range(_agreed(sizes)) * _moves(own) for own in sizes]
    nested = []
    for _ in range(operands[0].ragged_rank):
        pairs = list(zip(operands, numbers, strict=True))
        lengths = [indexing.gather(operand.row_lengths(), rows) for operand, rows in pairs]
        splits = splits_of(_agreed(lengths))
        rows = row_splits_to_segment_ids(splits)
        columns = creation.range(shapes.shape(rows, out_type=dtype)[0]) - indexing.gather(splits, rows)
        starts = [indexing.gather(operand.row_starts(), own) for operand, own in pairs]
        numbers = [
            indexing.gather(start, rows) + columns * _moves(own)
            for start, own in zip(starts, lengths, strict=True)
        ]
        if not nested:
            splits.set_shape([size_sum(_known_rows(operands), 1)])
        nested.append(splits)
        operands = [operand.values for operand in operands]
    first, second = (indexing.gather(values, own) for values, own in zip(operands, numbers, strict=True))
    return first, second, nested


def _agreed(sizes: Sequence[Tensor]) -> Tensor:
    """The sizes that two make together: those of both, or of the one that is not all ones."""
    first, second = sizes
    together = first + casting.cast(_all_ones(first), first.dtype) * (second - first)
    tests = [
        checks.assert_equal(
            binary.logical_or(binary.equal(own, together), _all_ones(own)),
            True,
            message="Unable to broadcast: the sizes of a dimension of ragged operands differ",
        )
        for own in sizes
    ]
    with control_dependencies(tests):
        return constants.identity(together)


def _all_ones(sizes: Tensor) -> Tensor:
    return reductions.reduce_all(binary.equal(sizes, casting.cast(1, sizes.dtype)))


def _moves(sizes: Tensor) -> Tensor:
    """1 where an operand has elements of its own, 0 where its only one is used again."""
    return casting.cast(unary.logical_not(_all_ones(sizes)), sizes.dtype)


def _known_rows(operands: Sequence[RaggedTensor]) -> int | None:
    """The number of rows of the result as far as it is known."""
    known = [operand.shape.tuple[0] for operand in operands]
    more = [rows for rows in known if rows not in (None, 1)]
    return more[0] if more else None if None in known else 1


def _alike(x: Any, y: Any) -> list[RaggedTensor]:
    """Both with the same rank and the same number of ragged dimensions."""
    rank = max(x.shape.ndims, y.shape.ndims)
    raised = [_with_rank(tensor, rank) for tensor in (x, y)]
    ragged_rank = max(tensor.ragged_rank for tensor in raised if isinstance(tensor, RaggedTensor))
    dtype = next(tensor.row_splits.dtype for tensor in raised if isinstance(tensor, RaggedTensor))
    return [with_ragged_rank(tensor, ragged_rank, dtype) for tensor in raised]


def _with_rank(tensor: Any, rank: int) -> Any:
    """The tensor with dimensions of size 1 in front."""
    for _ in range(rank - tensor.shape.ndims):
        if isinstance(tensor, RaggedTensor):
            tensor = RaggedTensor.from_row_lengths(tensor, [tensor.nrows()], validate=False)
        else:
            tensor = shapes.expand_dims(tensor, 0)
    return tensor
