"""Index arithmetic of sparse tensors: rows of indices as numbers, in order and in groups, and their checks.

An index of a sparse tensor is a row of a matrix. Rows are ordered as the elements of the dense tensor are,
read row by row; a sparse tensor is well formed when its rows are in that order, each once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import brackets, host_rank, host_shape, of_rank, same_size

# ------------------------------------------------------------------------------------------------ arithmetic


_MOST_PLACES = 2**62  # whose numbers, and their sums, are int64


def strides(sizes: Sequence[int]) -> list[int]:
    """How far apart neighbours along each axis are in a dense tensor of these sizes."""
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


def places(rows: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """Where each index stands in the dense tensor, read row by row."""
    steps = strides(sizes)
    if not steps:
        return rows.new_zeros(len(rows))
    return functools.reduce(torch.add, (rows[:, axis] * step for axis, step in enumerate(steps)))


def rows_at(places: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The index of each place of a dense tensor of these sizes."""
    steps = torch.tensor([strides(sizes), list(sizes)], dtype=torch.int64, device=places.device).clamp(min=1)
    return places.unsqueeze(1) // steps[0] % steps[1]


def numbered(rows: torch.Tensor) -> torch.Tensor:
    """A number for each row; rows are ordered as their numbers are. They may lie outside any shape."""
    if not rows.numel():
        return rows.new_zeros(rows.shape[0])
    columns = rows.unbind(1)
    lowest = [int(column.min()) for column in columns]
    sizes = [int(column.max()) - least + 1 for column, least in zip(columns, lowest, strict=True)]
    steps = strides(sizes)
    shift = sum(least * step for least, step in zip(lowest, steps, strict=True))
    if max(abs(shift), math.prod(sizes), *steps) > _MOST_PLACES:
        return torch.unique(rows, dim=0, return_inverse=True)[1]
    return places(rows, sizes) - shift


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
    if not rows.is_cuda:
        return _grouped_on_host(rows, numbers.numpy(), sequence.numpy())
    numbers = numbers.index_select(0, sequence)
    first = torch.ones_like(numbers, dtype=torch.bool)
    first[1:] = numbers[1:] != numbers[:-1]
    members = torch.empty_like(sequence).scatter_(0, sequence, first.cumsum(0) - 1)
    return Groups(rows.index_select(0, sequence[first]), members)


def _grouped_on_host(rows: torch.Tensor, numbers: np.ndarray, sequence: np.ndarray) -> Groups:
    """The same by NumPy, in half of ATen's time."""
    in_order = numbers.take(sequence)
    first = np.ones(len(in_order), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
    members = np.empty_like(sequence)
    members[sequence] = np.cumsum(first) - 1
    distinct = rows.numpy().take(sequence[first], 0)
    return Groups(torch.from_numpy(distinct), torch.from_numpy(members))


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
    return same_size(count, of_rank(values, 1).tuple[0]), rank


def sparse_rank(indices: TensorShape, values: TensorShape, rank: int | None) -> int | None:
    """The rank that the parts of a sparse tensor have together, in the words of ops that validate them."""
    rows, columns = of_rank(indices, 2).tuple
    count = of_rank(values, 1).tuple[0]
    if None not in (rows, count) and rows != count:
        raise ShapeError(f"Number of elements in index ({rows}) and values ({count}) do not match.")
    if None not in (columns, rank) and columns != rank:
        raise ShapeError(f"Index rank ({columns}) and shape rank ({rank}) do not match.")
    return rank if columns is None else columns


_ROWS = "indices and values rows (indexing dimension) must match. (indices = {rows}, values = {count})"


class PartWords(NamedTuple):
    """What a kernel of TensorFlow says of parts that are no sparse tensor, each of which stands for a check.

    In braces: the shapes of the `indices`, `values` and `sizes`, the number of `rows` of the indices and the
    `count` of the values.
    """

    indices: str = "Input indices should be a matrix but received shape {indices}"
    values: str = "Input values should be a vector but received shape {values}"
    sizes: str = "Input shape should be a vector but received shape {sizes}"
    rows: str = _ROWS


# The words of kernels that leave all checks but that of the sizes to their sparse tensor.
CREATED = PartWords(
    indices=_ROWS,
    values="vals must be a vec, but got: {values}",
    sizes="Expected input_shape to be a vector; got shape: {sizes}",
)


def named_words(name: str) -> PartWords:
    """The words of kernels that name their inputs, of which the sparse tensor's begin with this name."""
    vectors = f"Inputs {name}_values and {name}_shape should be vectors but received shapes: "
    return PartWords(
        indices=f"Input {name}_indices should be a matrix but received shape: {{indices}}",
        values=vectors + "{values} and {sizes}",
        sizes=vectors + "{values} and {sizes}",
    )


_PLAIN = PartWords()


def check_parts(indices: torch.Tensor, values: Any, sizes: Sequence[int], words: PartWords = _PLAIN) -> None:
    """The parts of a sparse tensor must fit together."""
    check_fit(indices, values, sizes, words)
    check_columns(indices, sizes)
    check_sizes(sizes)


def check_fit(indices: torch.Tensor, values: Any, sizes: Sequence[int], words: PartWords = _PLAIN) -> None:
    """The parts of a sparse tensor must be a matrix and two vectors, with as many values as indices."""
    if indices.ndim != 2:
        said = words.indices
    elif values.ndim != 1:
        said = words.values
    elif host_rank(sizes) != 1:
        said = words.sizes
    elif len(values) != len(indices):
        said = words.rows
    else:
        return
    rows, count = (part.shape[0] if part.ndim else 0 for part in (indices, values))
    shown = {"indices": brackets(indices.shape), "values": brackets(values.shape), "sizes": host_shape(sizes)}
    raise ShapeError(said.format(**shown, rows=rows, count=count))


def check_columns(
    indices: torch.Tensor, sizes: Sequence[int], said: str = "Order length must be SparseTensor rank."
) -> None:
    """Each index of a sparse tensor must have a place for each dimension; `said` are TensorFlow's words."""
    if indices.shape[1] != len(sizes):
        raise ShapeError(f"{said} The indices have {indices.shape[1]} columns for {len(sizes)} dimensions.")


def check_sizes(sizes: Sequence[int]) -> None:
    """The sizes of a sparse tensor must not be negative."""
    for size in sizes:
        if size < 0:
            raise ShapeError(f"Dimension {size} must be >= 0: the sizes are {brackets(sizes)}")


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
