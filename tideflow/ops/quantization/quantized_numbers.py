"""Numbers held as integers of a few bits: what an integer means in a range, and which integer a number gets.

The lowest integer of a type stands for a range's minimum, the highest for its maximum, and all others lie
evenly between. TensorFlow computes this in float32 for tensors (`dequantized`, `quantized`) and in float64
for single numbers (`meaning`, `nearest`); both are followed to the bit, since a last bit may decide which
integer a number is rounded to. A range is a pair of Python floats that float32 holds exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph.dtypes import DType, qint32, quint8
from tideflow.graph.op import ShapeError
from tideflow.ops.helpers.axes import scalar

_F = np.float32
Range = tuple[float, float]


def bounds(dtype: DType) -> tuple[int, int]:
    """The lowest and the highest integer of a quantized type."""
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


def steps(dtype: DType) -> int:
    """How many integers the type has."""
    return 1 << 8 * dtype.size


def rounded(x: torch.Tensor) -> torch.Tensor:
    """The nearest integer; halves go away from zero."""
    whole = torch.trunc(x)
    return whole + torch.where((x - whole).abs() >= 0.5, torch.sign(x), 0)


def _away(x: Any) -> Any:
    """The same of NumPy's numbers."""
    return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)


def as_stored(whole: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Floats without fractions as integers of the type; what does not fit is cut to its low bits."""
    return whole.to(torch.int64).to(dtype.torch)


def as_scalars(device: torch.device, *numbers: float) -> list[torch.Tensor]:
    """Numbers as the scalar outputs of an op."""
    return [torch.tensor(number, dtype=torch.float32, device=device) for number in numbers]


def check_scalars(*values: Any) -> None:
    """What shape rules say of minima and maxima: each is one number."""
    for value in values:
        scalar(value)


def check_rising(low: float, high: float, names: str) -> None:
    """ShapeError where a range is empty; `names` are those of its maximum and its minimum."""
    if not high > low:
        bigger, smaller = names.split()
        raise ShapeError(f"{bigger} must be larger than {smaller}.")


# ---------------------------------------------------------------------------- tensors, in float32


def dequantized(values: torch.Tensor, dtype: DType, within: Range) -> torch.Tensor:
    """The numbers that integers stand for."""
    low, high = map(_F, within)
    scale = _F(float(high - low) / (steps(dtype) - 1))
    start = low if high == low else _F(_away(low / scale)) * scale
    offset = start - _F(bounds(dtype)[0]) * scale
    return values.to(torch.float32) * float(scale) + float(offset)


def quantized(numbers: torch.Tensor, dtype: DType, within: Range) -> torch.Tensor:
    """The integers that stand for numbers, the nearest where a number is out of range."""
    low, high = map(_F, within)
    lowest, highest = bounds(dtype)
    scale = _F(0) if high == low else _F((steps(dtype) - 1) / float(high - low))
    offset = _F(_away(low * scale)) - _F(lowest)
    last = min(_F(highest), np.nextafter(_F(2**31), _F(0)))  # the largest float that int32 can hold
    places = rounded(numbers * float(scale)) - float(offset)
    return as_stored(places.clamp(float(lowest), float(last)), dtype)


def requantized(
    values: torch.Tensor, dtype: DType, within: Range, out_type: DType, out_within: Range
) -> torch.Tensor:
    """Integers that mean the same in another type and range."""
    if dtype is qint32 and out_type is quint8:
        return _narrowed(values, within, out_within)
    return quantized(dequantized(values, dtype, within), out_type, out_within)


_FRACTION = 16  # bits


def _narrowed(values: torch.Tensor, within: Range, out_within: Range) -> torch.Tensor:
    """From 32 bits to 8, in fixed point: TensorFlow's way for the sums of products."""
    (low, high), (out_low, out_high) = map(_F, within), map(_F, out_within)
    if not np.isfinite([low, high, out_low, out_high]).all():
        raise ShapeError(
            f"ranges must be finite, but are [{low}, {high}] of the input and [{out_low}, {out_high}] of the "
            "output"
        )
    span = float(out_high - out_low)
    if span == 0:
        scale = shift = start = 0
    else:
        scale = int(255.0 * (1 << _FRACTION) * float(high - low) / span)
        middle = _F(float(low + high) / 2)
        shift = int(middle * _F(255.0 / span) * _F(1 << _FRACTION))
        start = int((1 << _FRACTION) * (float(out_low) * 255.0) / span)
    if max(map(abs, (scale, shift, start))) >= 1 << 62:
        raise ShapeError(f"the range [{low}, {high}] is too large for the range [{out_low}, {out_high}]")
    fixed = (values.to(torch.int64) * scale >> 32) + (shift - start + (1 << _FRACTION - 1))
    return (fixed >> _FRACTION).clamp(0, 255).to(torch.uint8)


# ---------------------------------------------------------------------------- single numbers, in float64


def meaning(value: Any, dtype: DType, within: Range) -> Any:
    """The number that an integer (or each of an array) stands for, in float32."""
    low, high = map(_F, within)
    if low == high:
        return np.full(np.shape(value), low)[()]
    scale = float(high - low) * (steps(dtype) / (steps(dtype) - 1)) / steps(dtype)
    start = float(_F(_away(low / _F(scale))) * _F(scale))
    return _F(start + (np.float64(_F(value)) - bounds(dtype)[0]) * scale)


def nearest(number: Any, dtype: DType, within: Range) -> Any:
    """The integer that stands for a number (or each of an array), out of bounds where it is out of range."""
    low, high = map(_F, within)
    lowest = bounds(dtype)[0]
    if low == high:
        return np.full(np.shape(number), lowest)[()]
    scale = steps(dtype) / (float(high - low) * (steps(dtype) / (steps(dtype) - 1)))
    return (_away(np.float64(number) * scale) - _away(float(low) * scale)).astype(np.int64) + lowest


def nearest_inside(number: Any, dtype: DType, within: Range) -> Any:
    """The integer of the type that stands for a number (or each of an array)."""
    return np.clip(nearest(number, dtype, within), *bounds(dtype))


def zero_point(dtype: DType, within: Range) -> int:
    """The integer that stands for 0; it may lie outside of the type."""
    return int(nearest(0.0, dtype, within))


def level(dtype: DType, within: Range) -> np.float32:
    """How much one step of the integers is worth."""
    low, high = map(_F, within)
    lowest, highest = bounds(dtype)
    return (high - low) / _F(highest - lowest)


def product_range(dtype: DType, within: Range, other: DType, other_within: Range, out_type: DType) -> Range:
    """The range in which products of integers mean the products of numbers."""
    worth = level(dtype, within) * level(other, other_within)
    lowest, highest = bounds(out_type)
    return float(worth * _F(lowest)), float(worth * _F(highest))


# ---------------------------------------------------------------------------- for references, in NumPy


def plain(integers: np.ndarray) -> np.ndarray:
    """Integers of a quantized type as those of NumPy's type."""
    return integers.view(integers.dtype[0]) if integers.dtype.names else integers


def step_of(integers: np.ndarray, low: Any, high: Any) -> Any:
    """How far apart the numbers are that neighbouring integers of this array's type stand for."""
    info = np.iinfo(plain(integers).dtype)
    return np.subtract(high, low, dtype=np.float64) / (info.max - info.min)


def numbers_of(integers: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """The numbers that integers stand for, evenly from `low` to `high`, in float64."""
    from_lowest = plain(integers).astype(np.float64) - np.iinfo(plain(integers).dtype).min
    return np.float64(low) + from_lowest * step_of(integers, low, high)


def products_of(integers: np.ndarray, high: float) -> np.ndarray:
    """The numbers that products of integers stand for: 0 is 0, and the highest integer is `high`."""
    return integers.astype(np.float64) * high / np.iinfo(integers.dtype).max
