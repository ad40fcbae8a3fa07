"""What the ops on variables share, whether they take a reference or a handle."""

from __future__ import annotations

from typing import Any

import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.resources import Variable


class HandleShape(TensorShape):
    """The (scalar) shape of a handle, which also knows dtype and shape of the variable behind it."""

    __slots__ = ("dtype", "variable_shape")

    def __init__(self, dtype: dtypes.DType, variable_shape: TensorShape):
        super().__init__(())
        self.dtype = dtype
        self.variable_shape = variable_shape

    def merge_with(self, other: Any) -> TensorShape:
        super().merge_with(other)
        return self


_NOTHING_KNOWN = TensorShape(None)


def variable_shape_of(handle: TensorShape) -> TensorShape:
    """The shape of the variable behind a handle of this shape, as far as the graph tells."""
    return handle.variable_shape if isinstance(handle, HandleShape) else _NOTHING_KNOWN


def check_dtype(handle: TensorShape, dtype: dtypes.DType, doing: str) -> None:
    """Refuses to use a handle for another type than its variable's."""
    if isinstance(handle, HandleShape) and handle.dtype is not dtype.base_dtype:
        found = f"Expected {errors.type_name(handle.dtype)} got {errors.type_name(dtype.base_dtype)}"
        raise ShapeError(f"Trying to {doing} variable with wrong dtype. {found}")


def check_shared(found: Variable, dtype: dtypes.DType, name: str) -> None:
    """Two nodes that share a variable by name must agree on its type."""
    if found.dtype is not dtype:
        shared = f"'{name}' shares the variable '{found.name}' as {dtype.name}"
        raise errors.invalid_argument(f"{shared}, but it holds {found.dtype.name}")


def same_shape(left: TensorShape, right: TensorShape) -> TensorShape:
    """Both shapes as one; ShapeError naming the first axis on which they differ."""
    if left.is_compatible_with(right):
        return left.merge_with(right)
    if left.ndims != right.ndims:
        raise ShapeError(f"Shapes must be equal rank, but are {left.ndims} and {right.ndims}")
    pairs = enumerate(zip(left.tuple, right.tuple))
    axis, (a, b) = next((i, pair) for i, pair in pairs if None not in pair and pair[0] != pair[1])
    raise ShapeError(
        f"Dimension {axis} in both shapes must be equal, but are {a} and {b}. "
        f"Shapes are {_open_shape(left)} and {_open_shape(right)}."
    )


def _open_shape(shape: TensorShape) -> str:
    return "[" + ",".join("?" if size is None else str(size) for size in shape.tuple) + "]"


def shape_text(shape: Any) -> str:
    """A shape as errors write it: [3,2]."""
    return str(list(shape)).replace(" ", "")


def counter_shape(shape: TensorShape) -> list:
    """The shape of a variable that counts: a scalar's."""
    if shape.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {shape.ndims}")
    return []


def count_up(variable: Variable, limit: int) -> torch.Tensor:
    """Adds 1 to a variable and returns what it was; OutOfRangeError once it has reached the limit."""
    with variable as buffer:
        before = buffer.clone()
        if before.item() >= limit:
            raise errors.out_of_range(f"Reached limit of {limit}")
        buffer.add_(1)
    return before


_SIGNED_TWIN = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def as_signed(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a type ATen can add: two's complement makes wrapping sums and products the same."""
    twin = _SIGNED_TWIN.get(tensor.dtype)
    return tensor if twin is None else tensor.view(twin)
