"""The value of a list of tensors: an immutable sequence, so that every version of it can be kept and shared.

In a step a list is one cell of a variant tensor, which is an object array, like a tensor of strings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.shapes import TensorShape

Element: TypeAlias = Any  # a tensor, an object array, or None for an element that was never set


@dataclass(frozen=True)
class TensorList:
    """Tensors of one dtype, of shapes that `element_shape` allows."""

    dtype: DType
    element_shape: TensorShape
    values: tuple[Element, ...] = ()
    limit: int = -1  # the largest number of elements; negative for no limit

    def with_values(self, values: Sequence[Element]) -> TensorList:
        return TensorList(self.dtype, self.element_shape, tuple(values), self.limit)

    def takes(self, value: Element) -> bool:
        """Whether the shape of a value is one that elements may have."""
        sizes = self.element_shape.tuple
        if sizes is None or sizes == value.shape:  # nearly always: no need to make a shape of it
            return True
        return self.element_shape.is_compatible_with(TensorShape(value.shape))

    def pushed(self, value: Element, where: str = "") -> TensorList:
        """A list with one more value."""
        self.check_type(value)
        if not self.takes(value):
            raise refusal(
                f"Tried to append a tensor with incompatible shape to a list{where}. Op element shape: "
                f"{shown(value.shape)} list shape: {shown(self.element_shape)}"
            )
        if 0 <= self.limit <= len(self.values):
            raise refusal(
                f"Tried to push item into a full list list size: {len(self.values)} max_num_elements: "
                f"{self.limit}"
            )
        return self.with_values((*self.values, value))

    def replaced(self, index: int, value: Element) -> TensorList:
        """A list with another value at `index`."""
        self.check_type(value)
        if not self.takes(value):
            raise refusal(
                f"Tried to set a tensor with incompatible shape at a list index. Item element shape: "
                f"{shown(value.shape)} list shape: {shown(self.element_shape)}"
            )
        return self.with_values((*self.values[:index], value, *self.values[index + 1 :]))

    def check_type(self, value: Element) -> None:
        found = value.dtype if isinstance(value, torch.Tensor) else None
        if found is not self.dtype.torch:
            what = "objects" if found is None else str(found).removeprefix("torch.")
            raise refusal(f"Invalid data types; op elements {what} but list elements {self.dtype.name}")

    def common_shape(self, shape: TensorShape) -> TensorShape:
        """The merged shape of all elements: the given shape, the declared one, and those of the elements."""
        for other in (self.element_shape, *(v.shape for v in self.values if v is not None)):
            shape = merged(shape, TensorShape(other) if not isinstance(other, TensorShape) else other)
        return shape

    def zeros(self, shape: Sequence[int]) -> Element:
        """The value of an element that was never set."""
        if self.dtype.torch is None:
            return np.full(tuple(shape), b"", dtype=object)
        there = next((v for v in self.values if v is not None), None)
        return torch.zeros(
            tuple(shape), dtype=self.dtype.torch, device=None if there is None else there.device
        )

    def zeros_like(self) -> TensorList:
        """A list of zeros with the same length and shapes."""
        return self.with_values([None if v is None else self.zeros(v.shape) for v in self.values])

    def plus(self, other: TensorList) -> TensorList:
        """The sums of the elements. If an element is not set in one list, the other's is taken."""
        if self.dtype is not other.dtype:
            raise refusal(
                "Trying to add two lists of tensors of different dtypes. One is "
                f"{self.dtype.name} and the other is {other.dtype.name}"
            )
        if len(self.values) != len(other.values):
            raise refusal(
                "Trying to add two lists of tensors with different lengths. One is "
                f"{len(self.values)} and the other is {len(other.values)}"
            )
        sums = [
            b if a is None else a if b is None else a + b
            for a, b in zip(self.values, other.values, strict=True)
        ]
        return dataclasses.replace(
            self, values=tuple(sums), element_shape=merged(self.element_shape, other.element_shape)
        )


def merged(shape: TensorShape, other: TensorShape) -> TensorShape:
    """The merged shape of two that must be compatible; InvalidArgumentError if they are not."""
    if not shape.is_compatible_with(other):
        if shape.ndims != other.ndims:
            raise refusal(
                f"PartialTensorShape: Incompatible ranks during merge: {shape.ndims} vs. {other.ndims}: the "
                f"shapes are {shown(shape)} and {shown(other)}"
            )
        raise refusal(
            f"PartialTensorShape: Incompatible shapes during merge: {shown(shape)} vs. {shown(other)}"
        )
    return shape.merge_with(other)


def refusal(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


def shown(shape: Any) -> str:
    """A shape as TensorFlow's kernels write it."""
    sizes = shape.tuple if isinstance(shape, TensorShape) else tuple(shape)
    if sizes is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in sizes) + "]"


# -------------------------------------------------------------------------------------------- variant tensors


def as_variant(value: Any) -> np.ndarray:
    """A variant tensor of one cell."""
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def list_in(handle: np.ndarray, dtype: DType | None = None) -> TensorList:
    """The list that a variant tensor holds, whose elements must be of `dtype`."""
    found = handle[()] if handle.ndim == 0 else None
    if not isinstance(found, TensorList):
        what = f"a variant of shape {shown(handle.shape)}" if handle.ndim else f"a {type(found).__name__}"
        raise refusal(f"Input handle is not a list. Saw: '{what}'")
    if dtype is not None and found.dtype is not dtype:
        raise refusal(f"Invalid data types; op elements {dtype.name} but list elements {found.dtype.name}")
    return found


def zeros_of(variants: np.ndarray) -> np.ndarray:
    """Zeros of the shapes of variant values, each of which is a list or a tensor."""
    return _by_cell(_zero, variants)


def sum_of(inputs: Sequence[np.ndarray]) -> np.ndarray:
    """The sums of variant values, cell by cell."""
    first, *others = inputs
    for other in others:
        if other.shape != first.shape:
            raise refusal(
                f"Inputs must have one shape, but have {shown(first.shape)} and {shown(other.shape)}"
            )
        first = _by_cell(_sum, first, other)
    return first


def _by_cell(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    made = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(made.shape):
        made[place] = function(*(array[place] for array in arrays))
    return made


def _zero(cell: Any) -> Any:
    return torch.zeros_like(cell) if isinstance(cell, torch.Tensor) else cell.zeros_like()


def _sum(cell: Any, other: Any) -> Any:
    return cell + other if isinstance(cell, torch.Tensor) else cell.plus(other)
