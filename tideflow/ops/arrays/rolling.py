"""Tensors rolled along their axes, and slices repeated."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError, definition
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import broadcasting, creation, indexing, joining, shapes, tiling
from tideflow.ops.helpers.axes import host_rank, host_shape, merged
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDICES
from tideflow.ops.math import binary, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

roll_op = Op(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    Tshift=INDICES,
    Taxis=INDICES,
    host="shift, axis",
)


_UNLIKE_ROLLS = "shift and axis must have the same size"


@roll_op.shape
def _roll_shape(input, shift, axis):
    if input.ndims == 0:
        raise ShapeError("Shape must be at least rank 1 but is rank 0", "input must be 1-D or higher")
    for name, value in (("shift", shift), ("axis", axis)):
        _check_flat(name, value)
    if shift is not None and axis is not None:
        merged(*(TensorShape(np.shape(np.array(value, object))) for value in (shift, axis)), _UNLIKE_ROLLS)
    return input


def _check_flat(name: str, value: Any) -> None:
    if host_rank(value) > 1:
        raise ShapeError(
            f"Shape must be at most rank 1 but is rank {host_rank(value)}",
            f"{name} must be a scalar or a 1-D vector. Found: {host_shape(value)}",
        )


def _rolls(shift: Any, axis: Any, rank: int) -> tuple[list[int], list[int]]:
    shifts = shift if isinstance(shift, list) else [shift]
    axes = axis if isinstance(axis, list) else [axis]
    if not rank:
        raise ShapeError("input must be 1-D or higher")
    for name, value in (("shift", shift), ("axis", axis)):
        _check_flat(name, value)
    if host_rank(shift) != host_rank(axis) or len(shifts) != len(axes):
        raise ShapeError(f"{_UNLIKE_ROLLS}, but have {len(shifts)} and {len(axes)}")
    for place in axes:
        if not -rank <= place < rank:
            raise ShapeError(f"axis {place} is out of range")
    return shifts, axes


@roll_op.kernel
def _roll_kernel(input, shift, axis):
    shifts, axes = _rolls(shift, axis, input.ndim)
    return torch.roll(input, shifts, axes) if shifts else input.clone()


@roll_op.kernel("string")
def _roll_string_kernel(input, shift, axis):
    return functools.reduce(
        lambda x, roll: np.roll(x, *roll), zip(*_rolls(shift, axis, input.ndim), strict=True), input
    )


@roll_op.gradient
def _roll_gradient(op, grad):
    return [roll(grad, unary.negative(op.inputs[1]), op.inputs[2]), None, None]


roll_op.samples(
    (f32(2, 3), np.array(1, np.int32), np.array(0, np.int32)),
    (f32(2, 3), np.array([1, -4], np.int32), np.array([0, -1], np.int64)),
    (f32(0, 2), np.array(1, np.int32), np.array(0, np.int32)),
    against=lambda x, shift, axis: np.roll(x, shift.tolist(), axis.tolist()),
)
roll_op.refuses((f32(), np.array(1, np.int32), np.array(0, np.int32)), "Shape must be at least rank 1")


@export("roll", "manip.roll")
def roll(input: TensorLike, shift: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Moves the elements along some axes; those that fall off one end come in at the other.

    Args:
      input: A tensor of rank 1 or more.
      shift: By how many places, a scalar or a vector of integers; negative ones move toward the front.
      axis: The axes, a scalar or a vector of as many integers.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.
    """
    return roll_op(input, shift, axis, name=name)


@export("repeat")
def repeat(
    input: TensorLike, repeats: TensorLike, axis: int | None = None, name: str | None = None
) -> Tensor:
    """Repeats each element of a tensor, or each slice along an axis.

    Args:
      input: A tensor.
      repeats: How often, a scalar; or a vector with a number for each slice.
      axis: The axis to repeat along; by default the elements are repeated in one vector.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `input`.
    """
    if axis is None:
        input, axis = shapes.reshape(input, [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        data = _with_an_axis(convert_to_tensor(input, name="data"))
        repeats = _whole_numbers(repeats)
        repeats.shape.with_rank_at_most(1)
        axis = _from_the_front(axis, data.shape.ndims)
        sizes = shapes.shape(data)
        if repeats.shape.ndims == 0:
            copies = _repeated_axis(data, axis, repeats)
        else:
            copies = _repeated_slices(data, sizes, axis, repeats)
            if axis == 0:
                return copies
        return shapes.reshape(copies, joining.concat([sizes[:axis], [-1], sizes[axis + 1 :]], 0))


def _with_an_axis(data: Tensor) -> Tensor:
    """The tensor, or a vector of it where it is a scalar."""
    if data.shape.ndims is None:
        sizes = joining.concat([[1], shapes.shape(data)], 0)
        return shapes.reshape(data, sizes[-shapes.rank(data) :])
    return shapes.reshape(data, [1]) if data.shape.ndims == 0 else data


def _whole_numbers(repeats: Any) -> Tensor:
    repeats = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
    if not repeats.dtype.is_integer:
        raise TypeError(f"repeats must be an integer tensor; dtype={repeats.dtype}")
    return definition("Cast")(repeats, DstT=dtypes.int32)


def _from_the_front(axis: int, rank: int | None) -> int:
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


def _repeated_axis(data: Tensor, axis: int, count: Any) -> Tensor:
    """`count` copies of each slice, along a new axis behind `axis`."""
    expanded = shapes.expand_dims(data, axis + 1)
    if expanded.shape.ndims is not None:
        multiples = [1] * expanded.shape.ndims
        multiples[axis + 1] = count
        return tiling.tile(expanded, multiples)
    ones = creation.ones([shapes.rank(expanded)], dtypes.int32)
    return tiling.tile(expanded, joining.concat([ones[: axis + 1], [count], ones[axis + 2 :]], 0))


def _repeated_slices(data: Tensor, sizes: Tensor, axis: int, repeats: Tensor) -> Tensor:
    """As many copies of every slice as the most repeated one has, and a mask that keeps those wanted."""
    if data.shape.ndims is not None and repeats.shape.ndims == 1 and repeats.shape.tuple[0] != 1:
        data.shape[axis].assert_is_compatible_with(repeats.shape[0])
    if axis > 0 or repeats.shape.ndims is None or repeats.shape.tuple == (1,):
        repeats = broadcasting.broadcast_to(repeats, sizes[: axis + 1])
        repeats.set_shape([None] * (axis + 1))
    most = binary.maximum(0, reductions.reduce_max(repeats))
    mask = creation.sequence_mask(repeats, most)
    return indexing.boolean_mask(_repeated_axis(data, axis, most), mask)
