"""Index arithmetic of sparse tensors: rows of indices as numbers, in order and in groups, and their checks.

An index of a sparse tensor is a row of a matrix. Rows are ordered as the elements of the dense tensor are,
read row by row; a sparse tensor is well formed when its rows are in that order, each once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import brackets, of_rank, vector

# ------------------------------------------------------------------------------------------------ arithmetic


def strides(sizes: Sequence[int]) -> list[int]:
    """How far apart neighbours along each axis are in a dense tensor of these sizes."""
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


def places(rows: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """Where each index stands in the dense tensor, read row by row."""
    return (rows * torch.tensor(strides(sizes), dtype=torch.int64, device=rows.device)).sum(1)


def rows_at(places: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The index of each place of a dense tensor of these sizes."""
    steps = torch.tensor([strides(sizes), list(sizes)], dtype=torch.int64, device=places.device).clamp(min=1)
    return places.unsqueeze(1) // steps[0] % steps[1]


def numbered(rows: torch.Tensor) -> torch.Tensor:
    """A number for each row; rows are ordered as their numbers are. They may lie outside any shape."""
    if not rows.numel():
        return rows.new_zeros(rows.shape[0])
    lowest = rows.amin(0)
    return places(rows - lowest, (rows.amax(0) - lowest + 1).tolist())


def order(rows: torch.Tensor) -> torch.Tensor:
    """The places of the rows in ascending order."""
    return ascending(numbered(rows))


def ascending(numbers: torch.Tensor) -> torch.Tensor:
    """The places of the numbers in ascending order, equal ones as they come.

    Indices nearly always are in order already, or are a few runs that are: NumPy's sort sees that.
    """
    if numbers.is_cuda:
        return torch.argsort(numbers, stable=True)
    return torch.from_numpy(np.argsort(numbers.numpy(), kind="stable"))


class Groups(NamedTuple):
    """The distinct rows of a matrix in ascending order, and for each of its rows which of them it is."""

    rows: torch.Tensor
    members: torch.Tensor

    @property
    def count(self) -> int:
        return self.rows.shape[0]


def grouped(rows: torch.Tensor) -> Groups:
    """Equal rows together."""
    numbers = numbered(rows)
    sequence = ascending(numbers)
    numbers = numbers.index_select(0, sequence)
    first = torch.ones_like(numbers, dtype=torch.bool)
    first[1:] = numbers[1:] != numbers[:-1]
    members = torch.empty_like(sequence).scatter_(0, sequence, first.cumsum(0) - 1)
    return Groups(rows.index_select(0, sequence[first]), members)


# ---------------------------------------------------------------------------------------------------- values


def taken(values: Any, at: torch.Tensor) -> Any:
    """Those elements of a vector of numbers or strings that a mask or their places choose."""
    return values[at.numpy()] if isinstance(values, np.ndarray) else values[at]


def joined(parts: Sequence[Any]) -> Any:
    """Vectors of numbers or strings, one after the other."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else torch.cat(list(parts))


# ---------------------------------------------------------------------------------------------------- checks


def as_sparse(value: Any) -> SparseTensor:
    """The argument of a function that takes sparse tensors only."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def of_parts(indices: TensorShape, values: TensorShape) -> tuple[int | None, int | None]:
    """The number of elements of a sparse tensor and its rank, as far as its parts tell them."""
    count, rank = of_rank(indices, 2).tuple
    length = of_rank(values, 1).tuple[0]
    return (length if count is None else count), rank


def check_parts(indices: torch.Tensor, values: Any, sizes: Sequence[int]) -> None:
    """The parts of a sparse tensor must fit together."""
    if indices.ndim != 2:
        raise ShapeError(f"Input indices should be a matrix but received shape {brackets(indices.shape)}")
    if values.ndim != 1:
        raise ShapeError(f"Input values should be a vector but received shape {brackets(values.shape)}")
    if len(values) != len(indices):
        raise ShapeError(
            f"Number of values must match first dimension of indices. Got {len(values)} values, indices "
            f"shape: {brackets(indices.shape)}"
        )
    for size in vector(sizes):
        if size < 0:
            raise ShapeError(f"Sizes of a sparse tensor must not be negative, but are {brackets(sizes)}")
    if indices.shape[1] != len(sizes):
        raise ShapeError(
            f"Number of dimensions must match second dimension of indices. Got {len(sizes)} dimensions, "
            f"indices shape: {brackets(indices.shape)}"
        )


def outside(indices: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """For each index, whether it lies outside the shape."""
    limits = torch.tensor(list(sizes), dtype=indices.dtype, device=indices.device)
    return ((indices < 0) | (indices >= limits)).any(1)


def check_inside(indices: torch.Tensor, sizes: Sequence[int]) -> None:
    """Every index must lie in the shape."""
    wrong = outside(indices, sizes)
    if bool(wrong.any()):
        raise ShapeError(f"{first(indices, wrong)} is out of bounds: need 0 <= index < {brackets(sizes)}")


def check_order(indices: torch.Tensor, sizes: Sequence[int]) -> None:
    """Every index must lie in the shape; each stands once, and in order."""
    check_inside(indices, sizes)
    steps = places(indices, sizes).diff()
    wrong = steps <= 0
    if bool(wrong.any()):
        repeated = int(steps[int(wrong.nonzero()[0])]) == 0
        what = first(indices[1:], wrong, 1)
        if repeated:
            raise ShapeError(f"{what} is repeated")
        raise ShapeError(
            f"{what} is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy."
        )


def first(indices: torch.Tensor, wrong: torch.Tensor, offset: int = 0) -> str:
    at = int(wrong.nonzero()[0])
    return f"indices[{at + offset}] = {brackets(indices[at].tolist())}"


def check_same_sizes(a: Sequence[int], b: Sequence[int]) -> None:
    """Two sparse tensors must have one shape."""
    if len(a) != len(b):
        raise ShapeError(f"Operands do not have the same ranks; got shapes: {brackets(a)} and {brackets(b)}")
    for axis, (x, y) in enumerate(zip(a, b, strict=True)):
        if x != y:
            raise ShapeError(f"Operands' shapes do not match: got {x} and {y} for dimension {axis}")


# ---------------------------------------------------------------------------------------- for references


def elements_of(indices: np.ndarray, values: np.ndarray) -> dict[tuple[int, ...], Any]:
    """In NumPy: the elements of a sparse tensor by their indices."""
    return dict(zip(map(tuple, indices.tolist()), values))


def parts_of(elements: dict[tuple[int, ...], Any], rank: int, dtype: np.dtype) -> list[np.ndarray]:
    """In NumPy: indices, in order, and values of a sparse tensor with these elements."""
    rows = sorted(elements)
    values = np.array([elements[row] for row in rows], dtype)
    return [np.array(rows, np.int64).reshape(len(rows), rank), values]
