"""Moments of tensors, and the normalization by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import float16, float32
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.math import binary, casting, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("nn.moments")
def moments(
    x: TensorLike,
    axes: int | Sequence[int] | Tensor,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance of a tensor over axes.

    Args:
      x: The tensor.
      axes: The axes.
      shift: Has no effect.
      name: The name of the operation.
      keep_dims: An older name of `keepdims`.
      keepdims: Whether the axes stay, with size 1.

    Returns:
      The mean and the variance.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    with name_scope(name, "moments", [x, axes]):
        half = x.dtype.base_dtype is float16
        wide = casting.cast(x, float32) if half else x
        mean = reductions.reduce_mean(wide, axes, keepdims=True, name="mean")
        squares = binary.squared_difference(wide, constants.stop_gradient(mean))
        variance = reductions.reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keepdims:
            mean, variance = shapes.squeeze(mean, axes), shapes.squeeze(variance, axes)
        return _narrowed(mean, variance, half)


def _narrowed(mean: Tensor, variance: Tensor, half: bool) -> tuple[Tensor, Tensor]:
    return (casting.cast(mean, float16), casting.cast(variance, float16)) if half else (mean, variance)


@export("nn.weighted_moments")
def weighted_moments(
    x: TensorLike,
    axes: int | Sequence[int] | Tensor,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the weighted mean and variance of a tensor over axes.

    Args:
      x: The tensor.
      axes: The axes.
      frequency_weights: The weights, which are broadcast to the shape of `x`.
      name: The name of the operation.
      keep_dims: An older name of `keepdims`.
      keepdims: Whether the axes stay, with size 1.

    Returns:
      The mean and the variance.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype.base_dtype is float16
        x = casting.cast(x, float32) if half else x
        if weights.dtype.base_dtype is not x.dtype.base_dtype:
            weights = casting.cast(weights, x.dtype.base_dtype)
        total = reductions.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        everywhere = weights + creation.zeros_like(x)
        count = reductions.reduce_sum(everywhere, axes, name="sum_of_weights", keepdims=True)
        divisor = unary.reciprocal(count, name="inv_weight_sum")
        mean = binary.multiply(total, divisor)
        squares = weights * binary.squared_difference(x, mean)
        squares = reductions.reduce_sum(squares, axes, name="weighted_distsq", keepdims=True)
        variance = binary.multiply(squares, divisor)
        if not keepdims:
            mean, variance = shapes.squeeze(mean, axis=axes), shapes.squeeze(variance, axis=axes)
        return _narrowed(mean, variance, half)


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike,
    axes: Sequence[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Computes the count, the sum and the sum of squares of a tensor over axes.

    Args:
      x: The tensor.
      axes: The axes.
      shift: A value that is subtracted first, close to the mean, for better precision.
      keep_dims: An older name of `keepdims`.
      name: The name of the operation.
      keepdims: Whether the axes stay, with size 1.

    Returns:
      The count, the sum, the sum of squares, and the shift or None.
    """
    axes = list(set(axes))
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        dtype, known = x.dtype.base_dtype, x.shape.tuple
        if known is not None and all(known[axis] is not None for axis in axes):
            count = constants.constant(math.prod(known[axis] for axis in axes), dtype=dtype)
        else:
            sizes = indexing.gather(casting.cast(shapes.shape(x), dtype), axes)
            count = reductions.reduce_prod(sizes, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, dtype=dtype, name="shift")
            shifted, squares = binary.subtract(x, shift), binary.squared_difference(x, shift)
        else:
            shifted, squares = x, unary.square(x)
        total = reductions.reduce_sum(shifted, axes, keepdims=keepdims, name="mean_ss")
        total_squares = reductions.reduce_sum(squares, axes, keepdims=keepdims, name="var_ss")
        return count, total, total_squares, shift


@export("nn.normalize_moments")
def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance from the results of `tf.nn.sufficient_statistics`.

    Args:
      counts: The count.
      mean_ss: The sum.
      variance_ss: The sum of squares.
      shift: The shift, or None.
      name: The name of the operation.

    Returns:
      The mean and the variance.
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = unary.reciprocal(counts, name="divisor")
        if shift is None:
            mean = shifted = binary.multiply(mean_ss, divisor, name="mean")
        else:
            shifted = binary.multiply(mean_ss, divisor, name="shifted_mean")
            mean = binary.add(shifted, shift, name="mean")
        squares = binary.multiply(variance_ss, divisor)
        return mean, binary.subtract(squares, unary.square(shifted), name="variance")


@export("nn.batch_normalization")
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike,
    scale: TensorLike,
    variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Computes `(x - mean) / sqrt(variance + epsilon) * scale + offset`.

    Args:
      x: The input tensor.
      mean: The mean.
      variance: The variance.
      offset: The offset, or None.
      scale: The scale, or None.
      variance_epsilon: A small number that is added to the variance.
      name: The name of the operation.

    Returns:
      A tensor of the shape of `x`.
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = unary.rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        dtype = x.dtype.base_dtype
        scaled = x * casting.cast(factor, dtype)
        shift = offset - mean * factor if offset is not None else -mean * factor
        return scaled + casting.cast(shift, dtype)


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: TensorLike | None = None,
    m: TensorLike | None = None,
    v: TensorLike | None = None,
    beta: TensorLike | None = None,
    gamma: TensorLike | None = None,
    variance_epsilon: TensorLike | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
) -> Tensor:
    """Computes batch normalization; an older form of `tf.nn.batch_normalization`.

    Args:
      t: The input tensor.
      m: The mean.
      v: The variance.
      beta: The offset.
      gamma: The scale.
      variance_epsilon: A small number that is added to the variance.
      scale_after_normalization: Whether the result is multiplied by `gamma`.
      name: The name of the operation.
      input: Another name for `t`.
      mean: Another name for `m`.
      variance: Another name for `v`.

    Returns:
      A tensor of the shape of `t`.
    """
    t = renamed("input", input, "t", t)
    m = renamed("mean", mean, "m", m)
    v = renamed("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)
