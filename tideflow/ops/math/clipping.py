"""Clipping: values kept within bounds, tensors and lists of tensors kept within a norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError, definition
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.graph.shapes import brackets
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import NUMERIC
from tideflow.ops.math import binary, casting, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

clip_by_value_op = Op("ClipByValue", "t: T, clip_value_min: T, clip_value_max: T -> output: T", T=NUMERIC)


@clip_by_value_op.shape
def _clip_by_value_shape(t, clip_value_min, clip_value_max):
    for bound in (clip_value_min, clip_value_max):
        if bound.tuple != () and not bound.is_compatible_with(t):
            shapes = [brackets(shape.tuple or ()) for shape in (t, clip_value_min, clip_value_max)]
            raise ShapeError(
                "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
                "input shape: {} clip_value_min shape: {} clip_value_max shape: {}".format(*shapes)
            )
    return t


def _clipped(t, clip_value_min, clip_value_max):
    return torch.maximum(torch.minimum(t, clip_value_max), clip_value_min)


unsigned.add_kernel(clip_by_value_op, _clipped, unsigned.by_order(_clipped))


def _like_bound(grad: Tensor, bound: Tensor) -> Tensor:
    return reductions.reduce_sum(grad) if bound.shape.ndims == 0 else grad


@clip_by_value_op.gradient
def _clip_by_value_gradient(op, grad):
    """An element inside the bounds gets the gradient; outside, the bound that took its place does."""
    t, low, high = op.inputs
    zeros = creation.zeros_like(grad)
    below, above = binary.less(t, low), binary.greater(t, high)
    inside = indexing.where(binary.logical_or(below, above), zeros, grad)
    to_low, to_high = indexing.where(below, grad, zeros), indexing.where(above, grad, zeros)
    return [inside, _like_bound(to_low, low), _like_bound(to_high, high)]


clip_by_value_op.samples(
    (f32(3, 4), f32(low=-0.6, high=-0.4), f32(low=0.4, high=0.6)),
    (f32(3, 4), f32(3, 4, low=-0.6, high=-0.4), f32(low=0.4, high=0.6)),
    (i32(5), i32(low=-2, high=-1), i32(low=1, high=2)),
    (f32(0, 2), f32(), f32()),
    against=lambda t, low, high: t.clip(max=high).clip(min=low),
)
clip_by_value_op.refuses((f32(3, 4), f32(3), f32()), "must be either of the same shape as input, or a scalar")


def _values(t: Any, name: str = "t") -> Tensor:
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t: Any, values: Tensor) -> Any:
    """The values in the form that `t` had: a tensor, or slices at the same indices."""
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


@export("clip_by_value", ragged="values")
def clip_by_value(
    t: TensorOrRagged, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """Moves what lies outside two bounds to the nearer one.

    Args:
      t: A tensor or IndexedSlices.
      clip_value_min: The lower bound, of a shape that broadcasts to that of `t`.
      clip_value_max: The upper bound, likewise.
      name: A name for the operation.

    Returns:
      A tensor or IndexedSlices like `t`.

    Raises:
      ValueError: If broadcasting a bound would make `t` larger.
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = _values(t)
        upper = binary.minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(upper.shape)
        clipped = binary.maximum(upper, clip_value_min, name=name)
        values.shape.assert_is_compatible_with(clipped.shape)
        return _like(t, clipped)


@export("clip_by_norm")
def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: TensorLike | None = None, name: str | None = None
) -> Any:
    """Scales a tensor down where its Euclidean norm exceeds a bound.

    Args:
      t: A tensor or IndexedSlices of floating-point numbers.
      clip_norm: The largest norm, a positive scalar.
      axes: The axes over which norms are taken, each part scaled by itself; by default one norm of all
        elements.
      name: A name for the operation.

    Returns:
      A tensor or IndexedSlices like `t`.
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = _values(t)
        squares = reductions.reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        # The root of 0 has no derivative: it is taken of 1 instead, and not used.
        safe = indexing.where(positive, squares, creation.ones_like(squares))
        norm = indexing.where(positive, unary.sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        clipped = constants.identity(scaled / binary.maximum(norm, clip_norm), name=name)
        return _like(t, clipped)


@export("clip_by_average_norm")
def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """Scales a tensor down where its Euclidean norm, divided by its number of elements, exceeds a bound.

    Args:
      t: A tensor of floating-point numbers.
      clip_norm: The largest average norm, a positive scalar.
      name: A name for the operation.

    Returns:
      A tensor like `t`.
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = convert_to_tensor(t, name="t")
        size = casting.cast(shapes.size(t), dtypes.float32)
        inverse_norm = unary.rsqrt(reductions.reduce_sum(t * t, creation.range(shapes.rank(t))))
        scaled = t * clip_norm * binary.minimum(inverse_norm * size, constants.constant(1.0) / clip_norm)
        return constants.identity(scaled, name=name)


def _check_list(t_list: Any) -> list:
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


@export("global_norm", "linalg.global_norm")
def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all elements of several tensors together.

    Args:
      t_list: Tensors and IndexedSlices of floating-point numbers; None among them counts as nothing.
      name: A name for the operation.

    Returns:
      A scalar of the type of the tensors.

    Raises:
      TypeError: If `t_list` is not a sequence.
    """
    t_list = _check_list(t_list)
    with name_scope(name, "global_norm", t_list):
        halves = []
        for i, t in enumerate(t_list):
            if t is not None:
                values = _values(t, f"t_{i}")
                with colocate_with(values):
                    halves.append(definition("L2Loss")(values))
        half = reductions.reduce_sum(joining.stack(halves))
        return unary.sqrt(half * constants.constant(2.0, dtype=half.dtype), name="global_norm")


@export("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Scales tensors down together where their common Euclidean norm exceeds a bound.

    Where the norm is not finite, every result is NaN.

    Args:
      t_list: Tensors and IndexedSlices of floating-point numbers; None among them stays None.
      clip_norm: The largest common norm, a positive scalar.
      use_norm: The common norm, where it is known already.
      name: A name for the operation.

    Returns:
      The list of the scaled tensors, and the common norm before scaling.

    Raises:
      TypeError: If `t_list` is not a sequence.
    """
    t_list = _check_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as name:
        one = 1.0 / use_norm
        scale = clip_norm * binary.minimum(one, constants.constant(1.0, dtype=use_norm.dtype) / clip_norm)
        scale = indexing.where(
            unary.is_finite(use_norm), scale, constants.constant(float("nan"), dtype=use_norm.dtype)
        )
        clipped = []
        for i, t in enumerate(t_list):
            if t is None:
                clipped.append(None)
                continue
            values = _values(t, f"t_{i}")
            with colocate_with(values):
                clipped.append(_like(t, constants.identity(values * scale, name=f"{name}_{i}")))
    return clipped, use_norm
