"""Broadcasting as ops: to a shape, the common shape of two, and the axes that a gradient is summed over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.shapes import broadcast_static_shape
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.axes import SIZES, as_sizes, brackets, moved, vector
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDEX

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

broadcast_to_op = Op("BroadcastTo", "input: T, shape: Tidx -> output: T", Tidx=INDEX, host="shape")


@broadcast_to_op.shape
def _broadcast_to_shape(input, shape):
    sizes = as_sizes(shape)
    if sizes is None:
        return None
    if input.tuple is None:
        return sizes
    if input.ndims > len(sizes):
        raise ShapeError(f"Shape must be at most rank {len(sizes)} but is rank {input.ndims}")
    for back in range(1, input.ndims + 1):
        old, new = input.tuple[-back], sizes[-back]
        if new is None:
            sizes[-back] = old if old is not None and old > 1 else None
        elif old not in (None, 1, new):
            raise ShapeError(f"Dimensions must be equal, but are {old} and {new}")
    return sizes


broadcast_to_op.value(moved)


def _checked_target(before: Sequence[int], sizes: list[int]) -> list[int]:
    vector(sizes, SIZES)
    for size in sizes:
        if size < 0:
            raise ShapeError(f"Dimension {size} must be >= 0")
    if len(before) > len(sizes):
        raise ShapeError(
            f"Rank of input ({len(before)}) must be no greater than rank of output shape ({len(sizes)})."
        )
    pairs = list(zip(reversed(before), reversed(sizes), strict=False))
    if any(old not in (1, new) for old, new in pairs):
        together = all(1 in pair or pair[0] == pair[1] for pair in pairs)
        raise ShapeError(
            f"Unable to broadcast tensor of shape {brackets(before)} to tensor of shape {brackets(sizes)}"
            if together
            else f"Incompatible shapes: {brackets(before)} vs. {brackets(sizes)}"
        )
    return sizes


@broadcast_to_op.kernel
def _broadcast_to_kernel(input, shape):
    return input.expand(_checked_target(input.shape, shape))


@broadcast_to_op.kernel("string")
def _broadcast_to_string_kernel(input, shape):
    return np.broadcast_to(input, _checked_target(input.shape, shape))


@broadcast_to_op.gradient
def _broadcast_to_gradient(op, grad):
    before = shapes.shape(op.inputs[0], out_type=op.inputs[1].dtype.base_dtype)
    _, axes = broadcast_gradient_args_op(op.inputs[1], before)
    return [shapes.reshape(tf.reduce_sum(grad, axes, keepdims=True), before), None]


broadcast_to_op.samples(
    (f32(3), np.array([2, 3], np.int32)),
    (f32(), np.array([2, 2], np.int64)),
    (f32(2, 1), np.array([2, 3], np.int32)),
    (f32(1), np.array([0], np.int32)),
    against=np.broadcast_to,
)
broadcast_to_op.refuses((f32(3), np.array([2], np.int32)), "must be equal, but are 3 and 2")


@export("broadcast_to")
def broadcast_to(input: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """Repeats a tensor along its axes of size 1, and along new ones in front, until it has a shape.

    Args:
      input: A tensor.
      shape: The shape to have, a vector of integers.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input` and of this shape.

    Raises:
      ValueError: If a size is neither 1 nor that of `shape`.
    """
    return broadcast_to_op(input, shape, name=name)


def _sizes(given: Any, place: int) -> list | None:
    return vector(given, f"In[{place}] must be a vector.")


def _check_broadcast(first: list[int], second: list[int]) -> None:
    if any(a != b and 1 not in (a, b) for a, b in zip(reversed(first), reversed(second), strict=False)):
        raise errors.invalid_argument(f"Incompatible shapes: {brackets(first)} vs. {brackets(second)}")


broadcast_args_op = Op(
    "BroadcastArgs", "s0: T, s1: T -> r0: T", T=INDEX, host="s0, s1", on_host=True, differentiable=False
)


@broadcast_args_op.shape
def _broadcast_args_shape(s0, s1):
    s0, s1 = _sizes(s0, 0), _sizes(s1, 1)
    return [None if s0 is None or s1 is None else max(len(s0), len(s1))]


def _common(size: int | None, other: int | None) -> int | None:
    if size is None or other is None or size != other and 1 not in (size, other):
        return None
    return other if size == 1 else size


@broadcast_args_op.value
def _broadcast_args_value(op):
    """A size beside one that is not known stays open: whether they fit is for the step to say."""
    first, second = (partial_value(tensor) for tensor in op.inputs)
    if first is None or second is None:
        return None
    rank = max(len(first), len(second))
    pairs = zip([1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second, strict=True)
    return [_common(*pair) for pair in pairs]


@broadcast_args_op.kernel
def _broadcast_args_kernel(s0, s1, *, T):
    _check_broadcast(_sizes(s0, 0), _sizes(s1, 1))
    return torch.tensor(broadcast_static_shape(s0, s1).as_list(), dtype=T.torch)


broadcast_args_op.samples(
    (np.array([2, 1, 3], np.int32), np.array([7, 1], np.int32)),
    (np.array([], np.int64), np.array([2], np.int64)),
    against=lambda a, b: np.array(np.broadcast_shapes(tuple(a), tuple(b)), a.dtype),
)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape of an element-wise operation on tensors of two shapes.

    Args:
      shape_x: A vector of integers.
      shape_y: A vector of integers of the same type.

    Returns:
      A vector of that type.
    """
    return broadcast_args_op(shape_x, shape_y)


broadcast_gradient_args_op = Op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    T=INDEX,
    host="s0, s1",
    on_host=True,
    differentiable=False,
)


@broadcast_gradient_args_op.shape
def _broadcast_gradient_args_shape(s0, s1):
    _sizes(s0, 0), _sizes(s1, 1)
    return [[None], [None]]


def _summed_axes(first: list[int], second: list[int]) -> list[list[int]]:
    """For each of two shapes that broadcast together, the axes along which the gradient must be summed."""
    if first == second:
        return [[], []]
    rank = max(len(first), len(second))
    pairs = list(zip([1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second, strict=True))
    return [[axis for axis, pair in enumerate(pairs) if pair[side] == 1] for side in (0, 1)]


@broadcast_gradient_args_op.value
def _broadcast_gradient_args_value(op):
    first, second = (partial_value(tensor) for tensor in op.inputs)
    if not (fully_known(first) and fully_known(second)):
        return [None, None]
    try:
        _check_broadcast(first, second)
    except errors.InvalidArgumentError:  # which the step will say
        return [None, None]
    return _summed_axes(first, second)


@broadcast_gradient_args_op.kernel
def _broadcast_gradient_args_kernel(s0, s1, *, T):
    _check_broadcast(_sizes(s0, 0), _sizes(s1, 1))
    return [torch.tensor(axes, dtype=T.torch) for axes in _summed_axes(s0, s1)]


def _sums_fit(s0: np.ndarray, s1: np.ndarray, r0: np.ndarray, r1: np.ndarray) -> list[bool]:
    """Summed over these axes, an array of the common shape has as many elements as the operand."""
    whole = np.ones(np.broadcast_shapes(tuple(s0), tuple(s1)))
    return [whole.sum(tuple(axes)).size == math.prod(sizes) for sizes, axes in ((s0, r0), (s1, r1))]


broadcast_gradient_args_op.samples(
    (np.array([2, 1, 3], np.int32), np.array([7, 1], np.int32)),
    (np.array([2, 3], np.int64), np.array([2, 3], np.int64)),
    (np.array([], np.int32), np.array([1], np.int32)),
    law=_sums_fit,
)


def broadcast_gradient_args(s0: Any, s1: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The axes along which the gradients of two broadcast operands, of shapes `s0` and `s1`, are summed."""
    return broadcast_gradient_args_op(s0, s1, name=name)
