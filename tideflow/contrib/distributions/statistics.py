"""Statistics of samples: percentiles, correlations with themselves later, moving averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.tools import pad_axis, prefer_static, rank_of, rotate_axes
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import GraphKeys, colocate_with, control_dependencies, name_scope
from tideflow.ops.arrays import creation, joining, ranking, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, checks, clipping, complex_numbers, reductions, unary
from tideflow.ops.signals import fourier
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.variables.base import Variable


@export("contrib.distributions.auto_correlation")
def auto_correlation(
    x: TensorLike,
    axis: int = -1,
    max_lags: TensorLike | None = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:
    """Computes how a sequence correlates with itself so many elements later.

    Args:
      x: The sequences, real or complex.
      axis: The axis of the sequences' elements.
      max_lags: How many elements later at most; as many as there are by default.
      center: Whether the mean is subtracted first.
      normalize: Whether the result is divided by that for no element later, which then is 1.
      name: The name of the operation.

    Returns:
      A tensor, with the numbers of elements later along `axis`.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype
        if not (dtype.is_complex or dtype.is_floating):
            raise TypeError(f"Argument x must have either float or complex dtype found: {dtype}")
        rank = rank_of(x)
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        x = rotate_axes(x, shift)
        if center:
            x = x - reductions.reduce_mean(x, axis=-1, keepdims=True)
        count = prefer_static(shapes.shape(x)[-1])
        # Padded with zeros, the sequence's end does not meet its beginning.
        length = casting.cast(count, dtypes.float64)
        padded_length = 2.0 ** unary.ceil(unary.log(length * 2) / np.log(2.0))
        padded = pad_axis(x, -1, back=True, count=casting.cast(padded_length - length, dtypes.int32))
        if not dtype.is_complex:
            padded = complex_numbers.complex(padded, creation.zeros_like(padded))
        spectrum = fourier.fft(padded)
        products = casting.cast(fourier.ifft(spectrum * unary.conj(spectrum)), dtype)
        if max_lags is None:
            lags: Any = count - 1
        else:
            lags = prefer_static(convert_to_tensor(max_lags, name="max_lags"))
            both_known = not isinstance(lags, Tensor) and not isinstance(count, Tensor)
            lags = min(count - 1, lags) if both_known else binary.minimum(count - 1, lags)
        products = products[..., : lags + 1]
        if x.shape.is_fully_defined() and not isinstance(lags, Tensor):
            products.set_shape([*x.shape.as_list()[:-1], min(count, lags + 1)])
        pairs = casting.cast(count, dtype.real_dtype) - creation.range(
            0.0, casting.cast(lags, dtype.real_dtype) + 1.0, dtype=dtype.real_dtype
        )
        products = products / casting.cast(pairs, dtype)
        if normalize:
            products = products / products[..., :1]
        return rotate_axes(products, -shift)


@export("contrib.distributions.percentile")
def percentile(
    x: TensorLike,
    q: TensorLike,
    axis: TensorLike | None = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes the number that a percentage of numbers do not exceed.

    Args:
      x: The numbers.
      q: The percentage, a scalar from 0 to 100.
      axis: The axes along which the numbers are; all by default.
      interpolation: Which of the two numbers around the percentage: "lower", "higher" or "nearest", which
        is the default.
      keep_dims: Whether the axes stay, with size 1.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operation.

    Returns:
      A tensor.

    Raises:
      ValueError: If the interpolation is another, `q` is not a scalar, or an axis is not there.
    """
    rounded = {"lower": unary.ceil, "higher": unary.floor, "nearest": unary.round}
    if interpolation is not None and interpolation not in rounded:
        raise ValueError(f"Argument 'interpolation' must be in {set(rounded)}.  Found {interpolation}")
    with name_scope(name or "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = casting.cast(q, dtypes.float64, name="q")
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"Expected argument 'x' to have ndims 0.  Found tensor {q}")
        if validate_args:
            zero, hundred = np.float64(0.0), np.float64(100.0)
            assertions = [
                checks.assert_rank(q, 0),
                checks.assert_greater_equal(q, zero),
                checks.assert_less_equal(q, hundred),
            ]
            q = grouping.with_dependencies(assertions, q)
        axes = None if axis is None else _checked_axes(axis, x)
        rows = shapes.reshape(x, [-1]) if axes is None else _axes_last(x, axes)
        count = shapes.shape(rows)[-1]
        place = (casting.cast(count, dtypes.float64) - 1) * (1.0 - q / 100.0)
        place = casting.cast(rounded[interpolation or "nearest"](place), dtypes.int32)
        place = clipping.clip_by_value(place, 0, count - 1)
        descending, _ = ranking.top_k(rows, k=count)
        result = descending[..., place]
        result.set_shape(rows.shape[:-1])
        if not keep_dims:
            return result
        if axes is None:
            return result * creation.ones(creation.ones([rank_of(x)], dtype=dtypes.int32), dtype=x.dtype)
        for position in sorted(axes):
            result = shapes.expand_dims(result, axis=position)
        return result


def _checked_axes(axis: TensorLike, x: Tensor) -> list[int]:
    axis = convert_to_tensor(axis, name="axis")
    checks.assert_integer(axis)
    if axis.shape.ndims is not None and axis.shape.ndims > 1:
        raise ValueError(f"Expected argument 'x' to have ndims <= 1.  Found tensor {axis}")
    known = constant_value(axis)
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if x.shape.ndims is None:
        raise ValueError(f"Expected argument 'x' to have statically defined 'ndims'.  Found: {x}")
    if x.shape.ndims < 1:
        raise ValueError(f"Expected argument 'x' to have ndims >= 1.  Found tensor {x}")
    rank = x.shape.ndims
    for each in known.reshape([-1]).tolist():
        if each >= rank:
            raise ValueError(f"dim {each} not in the interval [0, {rank - 1}].")
        if each < -rank:
            raise ValueError(f"Negatively indexed dim {each} not in the interval [-{rank}, -1]")
    return [each % rank for each in known.reshape([-1]).tolist()]


def _axes_last(x: Tensor, axes: list[int]) -> Tensor:
    """The elements along some axes as one last axis."""
    others = [axis for axis in range(x.shape.ndims) if axis not in axes]
    moved = shapes.transpose(x, perm=others + axes)
    if x.shape.is_fully_defined():
        sizes = [x.shape.tuple[axis] for axis in others]
        return shapes.reshape(moved, [*sizes, int(np.prod([x.shape.tuple[axis] for axis in axes]))])
    return shapes.reshape(moved, joining.concat([shapes.shape(moved)[: len(others)], [-1]], 0))


@export("contrib.distributions.assign_moving_mean_variance")
def assign_moving_mean_variance(
    mean_var: Variable, variance_var: Variable, value: TensorLike, decay: TensorLike, name: str | None = None
) -> tuple[Any, Any]:
    """Updates the exponentially weighted mean and variance of a value.

    Args:
      mean_var: The variable of the mean.
      variance_var: The variable of the variance.
      value: The value.
      decay: How much of the old mean stays: near 1.
      name: The name of the operation.

    Returns:
      The new mean and variance.

    Raises:
      TypeError: If the variables are not of one floating type.
    """
    with name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        with colocate_with(variance_var), colocate_with(mean_var):
            dtype = mean_var.dtype.base_dtype
            if not dtype.is_floating:
                raise TypeError(f"mean_var.base_dtype({dtype.name}) does not have float type `dtype`.")
            if dtype != variance_var.dtype.base_dtype:
                other = variance_var.dtype.base_dtype.name
                raise TypeError(f"mean_var.base_dtype({dtype.name}) != variance_var.base_dtype({other})")
            value = convert_to_tensor(value, dtype=dtype, name="value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            step = value - mean_var
            with control_dependencies([step]):
                mean = mean_var.assign_add((1.0 - decay) * step)
                shrink = (1.0 - decay) * (variance_var - decay * unary.square(step))
                return mean, variance_var.assign_sub(shrink)


@export("contrib.distributions.assign_log_moving_mean_exp")
def assign_log_moving_mean_exp(
    log_mean_exp_var: Variable, log_value: TensorLike, decay: TensorLike, name: str | None = None
) -> Any:
    """Updates the logarithm of the exponentially weighted mean of a number, given by its logarithm.

    Args:
      log_mean_exp_var: The variable of the mean's logarithm.
      log_value: The logarithm of the number.
      decay: How much of the old mean stays: near 1.
      name: The name of the operation.

    Returns:
      The new logarithm.

    Raises:
      TypeError: If the variable is not of a floating type.
    """
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        with colocate_with(log_mean_exp_var):
            dtype = log_mean_exp_var.dtype.base_dtype
            if not dtype.is_floating:
                raise TypeError(
                    f"log_mean_exp_var.base_dtype({dtype.name}) does not have float type `dtype`."
                )
            log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            step = (log_value - log_mean_exp_var)[None, ...]
            parts = [unary.log(decay) * creation.ones_like(step), step + unary.log1p(-decay)]
            return log_mean_exp_var.assign_add(
                reductions.reduce_logsumexp(joining.concat(parts, axis=0), axis=0)
            )


@export("contrib.distributions.moving_mean_variance")
def moving_mean_variance(
    value: TensorLike,
    decay: TensorLike,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Keeps the exponentially weighted mean and variance of a value in two variables.

    Args:
      value: The value.
      decay: How much of the old mean stays: near 1.
      collections: The collections of the variables; those of all variables by default.
      name: The name of the variables' scope.

    Returns:
      The new mean and variance.

    Raises:
      TypeError: If the value is not of a floating type.
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        dtype = value.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(f"value.base_dtype({dtype.name}) does not have float type `dtype`.")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        variance, mean = (
            get_variable(
                label,
                shape=value.shape,
                dtype=value.dtype,
                initializer=Zeros(),
                trainable=False,
                collections=collections,
            )
            for label in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)
