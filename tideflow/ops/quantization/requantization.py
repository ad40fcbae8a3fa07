"""Quantized tensors in other ranges and types: requantized, shrunk to what they use, joined, reshaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.helpers.axes import scalar, vector
from tideflow.ops.helpers.samples import quantized
from tideflow.ops.helpers.types import INDICES, QUANTIZED
from tideflow.ops.quantization.quantized_numbers import (
    Range,
    as_scalars,
    as_stored,
    bounds,
    check_scalars,
    meaning,
    numbers_of,
    plain,
    requantized,
    step_of,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_GIVEN = "input: Tinput, input_min: float, input_max: float"
_ENDS = "input_min input_max"


def _used(values: torch.Tensor, dtype: DType, within: Range) -> Range:
    """The range of the numbers that are really there, and 0."""
    if not values.numel():
        return 0.0, 0.0
    lowest, highest = (end.item() for end in torch.aminmax(values.to(torch.int64)))
    return min(0.0, float(meaning(lowest, dtype, within))), float(meaning(highest, dtype, within))


_WIDE, _NARROW = quantized(dtypes.qint32, 2, 3), quantized(dtypes.quint8, 2, 3)

# ---------------------------------------------------------------------------- one range

requantization_range_op = Op(
    "RequantizationRange", f"{_GIVEN} -> output_min: float, output_max: float", host=_ENDS, Tinput=QUANTIZED
)


@requantization_range_op.shape
def _requantization_range_shape(input, input_min, input_max):
    check_scalars(input_min, input_max)
    return [[], []]


@requantization_range_op.kernel
def _requantization_range_kernel(input, input_min, input_max, *, Tinput, device):
    return as_scalars(device, *_used(input, Tinput, (input_min, input_max)))


requantization_range_op.gradient(undefined_gradient)


def _requantization_range_reference(input, input_min, input_max):
    numbers = numbers_of(input, input_min, input_max)
    return min(numbers.min(), 0.0), numbers.max()


requantization_range_op.samples(
    (_WIDE, -3.0, 5.0), (_NARROW, 0.0, 1.0), against=_requantization_range_reference
)
requantization_range_op.refuses((_WIDE, [0.0], 1.0), "Shape must be rank 0 but is rank 1")

_RESULT = "output: out_type, output_min: float, output_max: float"
_REQUESTED = "requested_output_min: float, requested_output_max: float"
_REQUESTED_ENDS = "requested_output_min requested_output_max"

requantize_op = Op(
    "Requantize",
    f"{_GIVEN}, {_REQUESTED} -> {_RESULT}",
    host=f"{_ENDS} {_REQUESTED_ENDS}",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
)


@requantize_op.shape
def _requantize_shape(input, input_min, input_max, requested_output_min, requested_output_max):
    check_scalars(input_min, input_max, requested_output_min, requested_output_max)
    return [input, [], []]


@requantize_op.kernel
def _requantize_kernel(
    input, input_min, input_max, requested_output_min, requested_output_max, *, Tinput, out_type, device
):
    within = requested_output_min, requested_output_max
    if within[0] > 0:
        raise ShapeError(f"requested_output_min must be <= 0, but got {within[0]:g}")
    if within[1] < within[0]:
        raise ShapeError(
            f"requested_output_max must be >= requested_output_min, but got {within[1]:g} and {within[0]:g}"
        )
    result = requantized(input, Tinput, (input_min, input_max), out_type, within)
    return result, *as_scalars(device, *within)


requantize_op.gradient(undefined_gradient)


def _requantized_law(numbers, step, output, low, high):
    """The new integers stand for the numbers, as near as the steps of the old and the new range allow."""
    allowed = 0.51 * step + 1.01 * step_of(output, low, high) + 1e-5
    return [np.abs(numbers_of(output, low, high) - np.clip(numbers, low, high)) <= allowed]


def _requantize_law(input, input_min, input_max, requested_min, requested_max, output, low, high):
    numbers, step = (of(input, input_min, input_max) for of in (numbers_of, step_of))
    return [low == requested_min, high == requested_max, *_requantized_law(numbers, step, output, low, high)]


requantize_op.samples(
    *((_WIDE, -3.0, 5.0, -1.0, 2.0, {"out_type": kind}) for kind in QUANTIZED),
    (_NARROW, -1.0, 1.0, -0.5, 0.5, {"out_type": dtypes.qint8}),
    law=_requantize_law,
)
requantize_op.refuses(
    (_WIDE, -3.0, 5.0, 1.0, 2.0, {"out_type": dtypes.quint8}), "must be <= 0", InvalidArgumentError
)

quantize_down_and_shrink_range_op = Op(
    "QuantizeDownAndShrinkRange",
    f"{_GIVEN} -> {_RESULT}",
    host=_ENDS,
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
)


@quantize_down_and_shrink_range_op.shape
def _quantize_down_and_shrink_range_shape(input, input_min, input_max):
    check_scalars(input_min, input_max)
    return [input, [], []]


@quantize_down_and_shrink_range_op.kernel
def _quantize_down_and_shrink_range_kernel(input, input_min, input_max, *, Tinput, out_type, device):
    used = _used(input, Tinput, (input_min, input_max))
    result = requantized(input, Tinput, (input_min, input_max), out_type, used)
    return result, *as_scalars(device, *used)


quantize_down_and_shrink_range_op.gradient(undefined_gradient)


def _quantize_down_and_shrink_range_law(input, input_min, input_max, output, low, high):
    wanted = _requantization_range_reference(input, input_min, input_max)
    numbers, step = (of(input, input_min, input_max) for of in (numbers_of, step_of))
    return [np.allclose([low, high], wanted), *_requantized_law(numbers, step, output, low, high)]


quantize_down_and_shrink_range_op.samples(
    (_WIDE, -3.0, 5.0, {"out_type": dtypes.quint8}), law=_quantize_down_and_shrink_range_law
)

# ---------------------------------------------------------------------------- a range for each channel


def _spans(values: torch.Tensor, low: list[float], high: list[float]) -> torch.Tensor:
    """How far each channel's range reaches from 0: these ranges are symmetric."""
    low, high = vector(low), vector(high)
    if not values.ndim or not len(low) == len(high) == values.shape[-1]:
        raise ShapeError(
            f"input_min and input_max must have an element for each of the channels of shape "
            f"{list(values.shape)}, but have {len(low)} and {len(high)}"
        )
    ends = np.maximum(np.abs(np.float32(low)), np.abs(np.float32(high)))
    return torch.from_numpy(np.asarray(ends)).to(values.device)


_EACH = [-1.0, -2.0, -0.5], [1.0, 2.0, 0.5]

requantization_range_per_channel_op = Op(
    "RequantizationRangePerChannel",
    "input: T, input_min: float, input_max: float -> output_min: float, output_max: float",
    host=_ENDS,
    T=attr("type", "qint32", allowed=QUANTIZED),
    clip_value_max=attr("float"),
)


@requantization_range_per_channel_op.shape
def _requantization_range_per_channel_shape(input, input_min, input_max):
    vector(input_min)
    vector(input_max)
    return [[], []]


@requantization_range_per_channel_op.kernel
def _requantization_range_per_channel_kernel(input, input_min, input_max, *, T, clip_value_max, device):
    spans = _spans(input, input_min, input_max)
    if not input.numel():
        return as_scalars(device, 0.0, 0.0)
    rows = input.to(torch.int64).reshape(-1, len(spans))
    largest = rows.abs().amax(0).to(torch.float32) * spans / float(bounds(T)[1] + 1)
    reach = min(largest.max().item(), clip_value_max)
    return as_scalars(device, -reach if (rows < 0).any() else 0.0, reach)


requantization_range_per_channel_op.gradient(undefined_gradient)


def _numbers_by_channel(input: np.ndarray, low: list[float], high: list[float]) -> np.ndarray:
    """In NumPy: the numbers that integers stand for, each channel in a range symmetric around 0."""
    info = np.iinfo(plain(input).dtype)
    return plain(input) / (info.max + 1) * np.maximum(np.abs(low), np.abs(high))


def _requantization_range_per_channel_reference(input, input_min, input_max, clip_value_max):
    numbers = _numbers_by_channel(input, input_min, input_max)
    reach = min(np.abs(numbers).max(), clip_value_max)
    return -reach if numbers.min() < 0 else 0.0, reach


requantization_range_per_channel_op.samples(
    (_WIDE, *_EACH, {"clip_value_max": 9.0}),
    (_WIDE, *_EACH, {"clip_value_max": 0.5}),
    against=_requantization_range_per_channel_reference,
)

requantize_per_channel_op = Op(
    "RequantizePerChannel",
    f"input: T, input_min: float, input_max: float, {_REQUESTED} -> {_RESULT}",
    host=f"{_ENDS} {_REQUESTED_ENDS}",
    T=attr("type", "qint32", allowed=QUANTIZED),
    out_type=attr("type", "quint8", allowed=QUANTIZED),
)


@requantize_per_channel_op.shape
def _requantize_per_channel_shape(input, input_min, input_max, requested_output_min, requested_output_max):
    vector(input_min)
    vector(input_max)
    check_scalars(requested_output_min, requested_output_max)
    return [input, [], []]


@requantize_per_channel_op.kernel
def _requantize_per_channel_kernel(
    input, input_min, input_max, requested_output_min, requested_output_max, *, T, out_type, device
):
    spans = _spans(input, input_min, input_max)
    reach = max(abs(requested_output_min), abs(requested_output_max))
    lowest, highest = bounds(out_type)
    scales = highest * (spans / reach / float(bounds(T)[1] + 1))
    places = torch.round(input.to(torch.float32) * scales)
    result = as_stored(places.clamp(lowest, highest), out_type)
    return result, *as_scalars(device, requested_output_min, requested_output_max)


requantize_per_channel_op.gradient(undefined_gradient)


def _requantize_per_channel_law(input, input_min, input_max, requested_min, requested_max, output, low, high):
    """The new integers stand for the numbers, as near as they reach."""
    numbers, info = _numbers_by_channel(input, input_min, input_max), np.iinfo(output.dtype)
    unit = max(abs(low), abs(high)) / info.max
    error = output * unit - np.clip(numbers, info.min * unit, info.max * unit)
    return [low == requested_min, high == requested_max, np.abs(error) <= 0.51 * unit]


requantize_per_channel_op.samples(
    (_WIDE, *_EACH, 0.0, 1.0),
    (_WIDE, *_EACH, -1.0, 1.0, {"out_type": dtypes.qint8}),
    law=_requantize_per_channel_law,
)

quantized_reshape_op = Op(
    "QuantizedReshape",
    "tensor: T, shape: Tshape, input_min: float, input_max: float "
    "-> output: T, output_min: float, output_max: float",
    host=f"shape {_ENDS}",
    Tshape=attr("type", "int32", allowed=INDICES),
)


@quantized_reshape_op.shape
def _quantized_reshape_shape(tensor, shape, input_min, input_max):
    check_scalars(input_min, input_max)
    return [shapes.reshape_op.shape_rule(tensor, shape), [], []]


@quantized_reshape_op.kernel
def _quantized_reshape_kernel(tensor, shape, input_min, input_max, *, device):
    return shapes.reshape_op.kernels[""](tensor, shape), *as_scalars(device, input_min, input_max)


quantized_reshape_op.gradient(undefined_gradient)
quantized_reshape_op.samples(
    (_NARROW, [3, -1], -1.0, 1.0),
    against=lambda tensor, shape, low, high: (plain(tensor).reshape(shape), low, high),
)
quantized_reshape_op.refuses((_NARROW, [4], -1.0, 1.0), "6 elements to shape [4]")

quantized_concat_op = Op(
    "QuantizedConcat",
    "concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float "
    "-> output: T, output_min: float, output_max: float",
    host="concat_dim input_mins input_maxes",
    N=attr("int", minimum=2),
)


@quantized_concat_op.shape
def _quantized_concat_shape(concat_dim, values, input_mins, input_maxes):
    check_scalars(*input_mins, *input_maxes)
    scalar(concat_dim, "Concat dim tensor should be a scalar integer, but got shape ")
    return [joining.concat_op.shape_rule(concat_dim, values), [], []]


def _around(dtype: DType, low: float, high: float) -> Range:
    """A range that holds another and 0; of signed integers, symmetric."""
    if bounds(dtype)[0] == 0:
        return min(0.0, low), high
    reach = max(-low, high)
    return -reach, reach


@quantized_concat_op.kernel
def _quantized_concat_kernel(concat_dim, values, input_mins, input_maxes, *, T, device):
    within = _around(T, min(input_mins), max(input_maxes))
    parts = [
        value if (low, high) == within else requantized(value, T, (low, high), T, within)
        for value, low, high in zip(values, input_mins, input_maxes, strict=True)
    ]
    return torch.cat(parts, concat_dim), *as_scalars(device, *within)


quantized_concat_op.gradient(undefined_gradient)


def _quantized_concat_law(axis, values, lows, highs, output, low, high):
    """The numbers one after the other, in a range that holds all of theirs."""
    numbers = np.concatenate([numbers_of(*each) for each in zip(values, lows, highs)], axis)
    step = max(step_of(*each) for each in zip(values, lows, highs))
    is_around = low <= min(lows) and high >= max(highs)
    return [is_around, *_requantized_law(numbers, step, output, low, high)]


quantized_concat_op.samples(
    (0, [_NARROW, _NARROW], [-1.0, 0.0], [1.0, 2.0]),
    (1, [_WIDE, _WIDE], [-1.0, 0.0], [1.0, 2.0]),
    law=_quantized_concat_law,
)
quantized_concat_op.refuses(
    (0, [_NARROW, quantized(dtypes.quint8, 2, 4)], [0.0, 0.0], [1.0, 1.0]), "must be equal, but are 3 and 4"
)


@export("quantization.quantized_concat", "quantized_concat")
def quantized_concat(
    concat_dim: TensorLike, values: list, input_mins: list, input_maxes: list, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Joins quantized tensors along an axis, in a range that holds all of theirs.

    Args:
      concat_dim: The axis, an int32 scalar.
      values: At least two tensors of one quantized type and of one shape but for that axis.
      input_mins: The number that the lowest integer of each stands for, as many float32 scalars.
      input_maxes: The number that the highest integer of each stands for, as many float32 scalars.
      name: A name for the operation.

    Returns:
      The joined tensor, and the minimum and maximum of its range, two scalars.

    Raises:
      ValueError: Where shapes do not fit.
    """
    return quantized_concat_op(concat_dim, values, input_mins, input_maxes, name=name)
