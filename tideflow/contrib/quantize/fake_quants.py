"""FakeQuant operations with the ranges that they round to, which are learned in variables."""

from __future__ import annotations

import dataclasses

from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.math import binary, reductions
from tideflow.ops.quantization.fake_quant import (
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_per_channel,
)
from tideflow.ops.state.reference_variables import assign
from tideflow.train.moving_averages import assign_moving_average
from tideflow.variables.initializers import Constant
from tideflow.variables.variable_scope import get_variable, variable_scope


@dataclasses.dataclass(frozen=True)
class Rounding:
    """How values are rounded: to how many bits, and over which range."""

    bits: int
    is_training: bool
    symmetric: bool = False
    narrow_range: bool = False  # without the lowest number, so that zero is in the middle
    is_moving: bool = True  # whether the range is a moving average of those of the batches
    first_min: float = -6.0
    first_max: float = 6.0
    decay: float = 0.999  # of the moving averages of ranges
    per_channel: bool = False  # whether the last axis has a range for each of its elements
    collection: str | None = None  # of the ranges, beside the global variables


def fake_quant(inputs: Tensor, how: Rounding, name_prefix: str, reuse: bool | None = None) -> Tensor:
    """The tensor rounded, in a variable scope of that name; a graph for training updates the range first."""
    with variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        shape = _channels(inputs, name_prefix) if how.per_channel else []
        low, high = _bound("min", how.first_min, shape, how), _bound("max", how.first_max, shape, how)
        if how.is_training:
            low, high = _updated(low, high, *_range(*_extremes(inputs, how), how), how)
        rounded = (
            fake_quant_with_min_max_vars_per_channel if how.per_channel else fake_quant_with_min_max_vars
        )
        return rounded(inputs, low, high, num_bits=how.bits, narrow_range=how.narrow_range)


def _channels(inputs: Tensor, name_prefix: str) -> list[int | None]:
    if inputs.shape.ndims not in (1, 2, 4):
        raise AssertionError(f"Expected 1D, 2D or 4D input, was: {inputs.shape} in  scope: {name_prefix}")
    return inputs.shape.as_list()[-1:]


def _extremes(inputs: Tensor, how: Rounding) -> tuple[Tensor, Tensor]:
    """The lowest and the highest value of a batch, or of each of its channels."""
    rank = inputs.shape.ndims
    if how.per_channel and rank == 1:
        return inputs, inputs
    axes = list(range(rank - 1)) if how.per_channel else None
    return (
        reductions.reduce_min(inputs, axis=axes, name="BatchMin"),
        reductions.reduce_max(inputs, axis=axes, name="BatchMax"),
    )


def _bound(name: str, first: float, shape: list[int | None], how: Rounding):
    return get_variable(
        name,
        shape=shape,
        initializer=Constant(first),
        collections=[*([how.collection] if how.collection else []), GraphKeys.GLOBAL_VARIABLES],
        trainable=False,
    )


def _range(low: Tensor, high: Tensor, how: Rounding) -> tuple[Tensor, Tensor]:
    """The range to round to for a batch's lowest and highest value: one with zero in it."""
    if not how.symmetric:
        return binary.minimum(low, 0.0), binary.maximum(high, 0.0)
    ratio = -1 if how.narrow_range else -((1 << how.bits) - 2) / (1 << how.bits)
    return binary.minimum(low, high / ratio), binary.maximum(high, low * ratio)


def _updated(low, high, new_low: Tensor, new_high: Tensor, how: Rounding):
    if how.is_moving:
        return (
            assign_moving_average(low, new_low, how.decay, name="AssignMinEma"),
            assign_moving_average(high, new_high, how.decay, name="AssignMaxEma"),
        )
    return assign(low, new_low, name="AssignMinLast"), assign(high, new_high, name="AssignMaxLast")
