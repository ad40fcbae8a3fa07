"""FakeQuant operations with the ranges that they round to, which are learned in variables."""

from __future__ import annotations

import dataclasses

from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.math import binary, reductions
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_vars
from tideflow.ops.state.reference_variables import assign
from tideflow.train.moving_averages import assign_moving_average
from tideflow.variables.initializers import Constant
from tideflow.variables.variable_scope import get_variable, variable_scope

_DECAY = 0.999  # of the moving averages of ranges
_FIRST_MAX = 6.0


@dataclasses.dataclass(frozen=True)
class Rounding:
    """How values are rounded: to how many bits, and over which range."""

    bits: int
    is_training: bool
    symmetric: bool = False
    narrow_range: bool = False  # without the lowest number, so that zero is in the middle
    is_moving: bool = True  # whether the range is a moving average of those of the batches
    first_min: float = -6.0


def fake_quant(inputs: Tensor, how: Rounding, name_prefix: str) -> Tensor:
    """The tensor rounded, in a variable scope of that name; a graph for training updates the range first."""
    with variable_scope(None, default_name=name_prefix, values=[inputs]) as scope:
        scope.set_partitioner(None)
        low, high = _bound("min", how.first_min), _bound("max", _FIRST_MAX)
        if how.is_training:
            batch_low = reductions.reduce_min(inputs, name="BatchMin")
            batch_high = reductions.reduce_max(inputs, name="BatchMax")
            low, high = _updated(low, high, *_range(batch_low, batch_high, how), how)
        return fake_quant_with_min_max_vars(
            inputs, low, high, num_bits=how.bits, narrow_range=how.narrow_range
        )


def _bound(name: str, first: float):
    return get_variable(
        name,
        shape=[],
        initializer=Constant(first),
        collections=[GraphKeys.GLOBAL_VARIABLES],
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
            assign_moving_average(low, new_low, _DECAY, name="AssignMinEma"),
            assign_moving_average(high, new_high, _DECAY, name="AssignMaxEma"),
        )
    return assign(low, new_low, name="AssignMinLast"), assign(high, new_high, name="AssignMaxLast")
