"""Floats to quantized integers and back: by a given range, along an axis, there and back again at once.

Three modes: MIN_COMBINED and MIN_FIRST spread the integers from the minimum to the maximum (the second rounds
so that 0 is exact), SCALED multiplies by one factor, so that 0 is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import normal_axis, of_rank_at_least, scalar, vector
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.samples import quantized as sample_of
from tideflow.ops.helpers.types import FLOATS, QUANTIZED, types
from tideflow.ops.quantization.quantized_numbers import (
    as_stored,
    bounds,
    dequantized,
    numbers_of,
    plain,
    quantized,
    rounded,
    step_of,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_F = np.float32
_MODE = attr("string", "MIN_COMBINED", allowed=("MIN_COMBINED", "MIN_FIRST", "SCALED"))


def _channels(input: Any, axis: int, numbers: list | None) -> int | None:
    """The size of an axis that has a range for each of its places."""
    sizes = of_rank_at_least(input, axis + 1).tuple
    size = None if sizes is None else sizes[normal_axis(axis, len(sizes))]
    if size is not None and numbers is not None and len(numbers) != size:
        raise ShapeError(
            f"Dimensions must be equal, but are {size} and {len(numbers)}: axis {axis} and its ranges"
        )
    return len(numbers) if size is None and numbers is not None else size


def _along(input: torch.Tensor, axis: int, *ends: list[float]) -> Any:
    """Each place of the axis, with its range."""
    return zip(input.unbind(axis), *map(vector, ends), strict=True)


_LEAST_RANGE = 0.009999999776482582

# ---------------------------------------------------------------------------- to integers

quantize_v2_op = Op(
    "QuantizeV2",
    "input: float, min_range: float, max_range: float -> output: T, output_min: float, output_max: float",
    host="min_range max_range",
    T=QUANTIZED,
    mode=_MODE,
    round_mode=attr("string", "HALF_AWAY_FROM_ZERO", allowed=("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")),
    narrow_range=False,
    axis=-1,
    ensure_minimum_range=attr("float", _LEAST_RANGE),
)


@quantize_v2_op.shape
def _quantize_v2_shape(input, min_range, max_range, *, axis):
    if axis == -1:
        scalar(min_range)
        scalar(max_range)
        return [input, [], []]
    ends = [_channels(input, axis, vector(min_range))]
    _channels(input, axis, vector(max_range))
    return [input, ends, ends]


def _widened(low: np.float32, high: np.float32, least: float) -> tuple[np.float32, np.float32]:
    """The range, made to hold 0 and to be not so small that all numbers become one integer."""
    if high < low:
        raise ShapeError("input_max_range must be larger than input_min_range.")
    largest = max(_F(1), abs(low), abs(high))
    low = min(_F(0), low)
    margin = largest / _F(100) if least == _LEAST_RANGE else largest * _F(least)
    return low, max(_F(0), high, low + margin)


def _combined(numbers: torch.Tensor, dtype: DType, within: tuple[float, float]) -> torch.Tensor:
    lowest, highest = bounds(dtype)
    low, high = map(_F, within)
    places = (numbers.clamp(*within) - within[0]) * float(_F((highest - lowest) / float(high - low)))
    if lowest == 0:
        return as_stored(torch.floor(places + 0.5), dtype)
    return as_stored(rounded(places - (highest - lowest + 1) / 2), dtype)


_HUGE = float(np.finfo(np.float32).max)


def _scaled(
    numbers: torch.Tensor,
    dtype: DType,
    low: np.float32,
    high: np.float32,
    round_mode: str,
    narrow_range: bool,
) -> tuple[torch.Tensor, np.float32, np.float32]:
    lowest, highest = bounds(dtype)
    first, last = _F(lowest + narrow_range), _F(highest)
    from_low = first / low if first * low > 0 else _F(_HUGE)
    from_high = last / high if last * high > 0 else _F(_HUGE)
    scale = min(from_low, from_high)
    low, high = first / scale, last / scale
    places = numbers.clamp(float(low), float(high)) * float(scale)
    whole = torch.round(places) if round_mode == "HALF_TO_EVEN" else rounded(places)
    return as_stored(whole, dtype), low, high


@quantize_v2_op.kernel
def _quantize_v2_kernel(
    input, min_range, max_range, *, T, mode, round_mode, narrow_range, axis, ensure_minimum_range, device
):
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise ShapeError(f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'.")

    def at_once(numbers: torch.Tensor, low: float, high: float) -> tuple[torch.Tensor, float, float]:
        low, high = _widened(_F(low), _F(high), ensure_minimum_range)
        if mode == "SCALED":
            return _scaled(numbers, T, low, high, round_mode, narrow_range)
        function = _combined if mode == "MIN_COMBINED" else quantized
        return function(numbers, T, (float(low), float(high))), low, high

    if axis == -1:
        result, low, high = at_once(input, min_range, max_range)
        return result, *(torch.tensor(float(end), dtype=torch.float32, device=device) for end in (low, high))
    parts = [at_once(*each) for each in _along(input, axis, min_range, max_range)]
    results, lows, highs = zip(*parts, strict=True)
    ends = (
        torch.tensor(list(map(float, part)), dtype=torch.float32, device=device) for part in (lows, highs)
    )
    return torch.stack(results, axis), *ends


quantize_v2_op.gradient(undefined_gradient)


def _quantize_v2_law(input, low, high, output, new_low, new_high, axis):
    """The integers stand for the numbers, as near as the range and float32 allow."""
    if axis != -1:
        others = [other for other in range(input.ndim) if other != axis]
        new_low, new_high = np.expand_dims(new_low, others), np.expand_dims(new_high, others)
    wanted = np.clip(input, new_low, new_high)
    allowed = 0.51 * step_of(output, new_low, new_high) + 1e-6
    return [np.abs(numbers_of(output, new_low, new_high) - wanted) <= allowed]


quantize_v2_op.samples(
    *((f32(2, 3), -0.8, 0.7, {"T": kind, "mode": "MIN_FIRST"}) for kind in QUANTIZED),
    (f32(4), -0.5, 0.5, {"T": dtypes.qint8}),
    (f32(4), 0.0, 0.0, {"T": dtypes.quint8, "mode": "SCALED", "round_mode": "HALF_TO_EVEN"}),
    (f32(2, 3), [-1.0, -0.5], [0.5, 1.0], {"T": dtypes.quint8, "axis": 0}),
    (f32(0, 3), -1.0, 1.0, {"T": dtypes.qint16}),
    law=_quantize_v2_law,
)
quantize_v2_op.refuses(
    (f32(2), 1.0, 0.0, {"T": dtypes.quint8}), "input_max_range must be larger", InvalidArgumentError
)
quantize_v2_op.refuses((f32(2), [0.0], 1.0, {"T": dtypes.quint8}), "Shape must be rank 0 but is rank 1")


@export("quantization.quantize", "quantize")
def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Finds the integers of a quantized type that stand for numbers in a range.

    Args:
      input: A float32 tensor.
      min_range: The number that the lowest integer stands for, a float32 scalar.
      max_range: The number that the highest integer stands for, a float32 scalar.
      T: The quantized type: tf.qint8, tf.quint8, tf.qint16, tf.quint16 or tf.qint32.
      mode: How integers stand for numbers: "MIN_COMBINED" (the default) or "MIN_FIRST" (so that 0 is exact),
        evenly from the minimum to the maximum, or "SCALED", by one factor, so that 0 is 0.
      round_mode: Where halves go: "HALF_AWAY_FROM_ZERO" (the default), or in mode "SCALED" also
        "HALF_TO_EVEN".
      name: A name for the operation.

    Returns:
      The integers, a tensor of type `T` and of the shape of `input`; and the minimum and maximum that were
      really used, two scalars: the range is made to hold 0, and to be not too small.

    Raises:
      ValueError: Where an end of the range is not a scalar.
      InvalidArgumentError: In a step, where the maximum is below the minimum.
    """
    return quantize_v2_op(input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name)


@export("quantize_v2")
def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> tuple[Tensor, Tensor, Tensor]:
    """Finds the integers of a quantized type that stand for numbers in a range; see
    `tf.quantization.quantize`.

    Args:
      input: A float32 tensor.
      min_range: The number that the lowest integer stands for, a float32 scalar.
      max_range: The number that the highest integer stands for, a float32 scalar.
      T: The quantized type: tf.qint8, tf.quint8, tf.qint16, tf.quint16 or tf.qint32.
      mode: How integers stand for numbers: "MIN_COMBINED" (the default) or "MIN_FIRST" (so that 0 is exact),
        evenly from the minimum to the maximum, or "SCALED", by one factor, so that 0 is 0.
      name: A name for the operation.
      round_mode: Where halves go: "HALF_AWAY_FROM_ZERO" (the default), or in mode "SCALED" also
        "HALF_TO_EVEN".

    Returns:
      The integers, a tensor of type `T` and of the shape of `input`; and the minimum and maximum that were
      really used, two scalars: the range is made to hold 0, and to be not too small.

    Raises:
      ValueError: Where an end of the range is not a scalar.
      InvalidArgumentError: In a step, where the maximum is below the minimum.
    """
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


def _as_ranged(input: Any, low: Any, high: Any, axis: int) -> Any:
    """The input's shape; there must be one range for all of it, or one for each place along an axis."""
    if axis == -1:
        scalar(low)
        scalar(high)
    else:
        _channels(input, axis, vector(low))
        _channels(input, axis, vector(high))
    return input


# ---------------------------------------------------------------------------- and back

dequantize_op = Op(
    "Dequantize",
    "input: T, min_range: float, max_range: float -> output: dtype",
    host="min_range max_range",
    T=QUANTIZED,
    mode=_MODE,
    narrow_range=False,
    axis=-1,
    dtype=attr("type", "float", allowed=types("bfloat16 float")),
)


@dequantize_op.shape
def _dequantize_shape(input, min_range, max_range, *, axis):
    return _as_ranged(input, min_range, max_range, axis)


def _linear(dtype: DType, low: np.float32, high: np.float32, mode: str, narrow_range: bool) -> tuple:
    """What is added to an integer, what the sum is multiplied by, and what is added to that."""
    lowest, highest = bounds(dtype)
    if mode == "MIN_COMBINED":
        half = (highest - lowest + 1) / 2 if lowest else 0
        return (high - low) / (_F(highest) - _F(lowest)), _F(half), low
    from_high = high / _F(highest)
    return from_high if lowest == 0 else max(low / _F(lowest + narrow_range), from_high), _F(0), _F(0)


@dequantize_op.kernel
def _dequantize_kernel(input, min_range, max_range, *, T, mode, narrow_range, axis, dtype):
    def at_once(values: torch.Tensor, low: float, high: float) -> torch.Tensor:
        if mode == "MIN_FIRST":
            return dequantized(values, T, (low, high))
        scale, offset, start = _linear(T, _F(low), _F(high), mode, narrow_range)
        return (values.to(torch.float32) + float(offset)) * float(scale) + float(start)

    if axis == -1:
        return at_once(input, min_range, max_range).to(dtype.torch)
    parts = [at_once(*each) for each in _along(input, axis, min_range, max_range)]
    return torch.stack(parts, axis).to(dtype.torch)


dequantize_op.gradient(undefined_gradient)


def _dequantize_law(input, low, high, output, mode, narrow_range, axis):
    """From the lowest number to the highest, in MIN_FIRST moved by up to half a step; or a factor."""
    info = np.iinfo(plain(input).dtype)
    if axis != -1:
        others = [other for other in range(input.ndim) if other != axis]
        low, high = np.expand_dims(low, others), np.expand_dims(high, others)
    moved = 0.51 * step_of(input, low, high) if mode == "MIN_FIRST" else 0.0
    wanted = numbers_of(input, low, high)
    if mode == "SCALED":
        from_low = np.asarray(low) / (info.min + narrow_range) if info.min else -np.inf
        wanted = plain(input) * np.maximum(from_low, np.asarray(high) / info.max)
    found = output.astype(np.float64)
    precision = 1e-6 if output.dtype == np.float32 else 1e-2
    return [np.abs(found - wanted) <= moved + precision * np.maximum(1, np.abs(wanted))]


dequantize_op.samples(
    *((sample_of(kind, 2, 3), -0.8, 0.7, {"mode": "MIN_FIRST"}) for kind in QUANTIZED),
    (sample_of(dtypes.qint8, 4), -0.5, 0.5),
    (sample_of(dtypes.quint8, 4), -1.0, 2.0, {"mode": "SCALED", "dtype": dtypes.bfloat16}),
    (
        sample_of(dtypes.qint8, 2, 3),
        [-1.0, -0.5],
        [0.5, 1.0],
        {"mode": "SCALED", "axis": 0, "narrow_range": True},
    ),
    law=_dequantize_law,
)
dequantize_op.refuses((sample_of(dtypes.qint8, 2), 0.0, [1.0]), "Shape must be rank 0 but is rank 1")


@export("quantization.dequantize", "dequantize")
def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
) -> Tensor:
    """Computes the numbers that quantized integers stand for.

    Args:
      input: A tensor of a quantized type.
      min_range: The number that the lowest integer stands for, a float32 scalar.
      max_range: The number that the highest integer stands for, a float32 scalar.
      mode: How integers stand for numbers: "MIN_COMBINED" (the default) or "MIN_FIRST" (so that 0 is exact),
        evenly from the minimum to the maximum, or "SCALED", by one factor, so that 0 is 0.
      name: A name for the operation.

    Returns:
      A float32 tensor of the shape of `input`.

    Raises:
      ValueError: Where an end of the range is not a scalar.
    """
    return dequantize_op(input, min_range, max_range, mode=mode, name=name)


# ---------------------------------------------------------------------------- there and back

_THERE_AND_BACK = {"signed_input": True, "range_given": False}


def _symmetric(low: Any, high: Any, first: Any, last: Any) -> tuple[Any, Any, Any, Any]:
    """The range, widened so that one factor maps it to the integers; the factor; and its reciprocal."""
    huge = np.finfo(low.dtype).max
    from_low = first / low if first * low > 0 else huge
    from_high = last / high if last * high > 0 else huge
    if from_low < from_high:
        back = low / first
        return low, last * back, from_low, back
    back = high / last
    return first * back, high, from_high, back


def _there_and_back(
    input: torch.Tensor,
    low: float,
    high: float,
    signed: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
) -> torch.Tensor:
    if not 0 < num_bits < (62 if signed else 63):
        raise ShapeError(f"num_bits is out of range: {num_bits} with signed_input_ {int(signed)}")
    if not input.numel():
        return input
    number = np.float64 if input.dtype is torch.float64 else np.float32
    if not range_given:
        low, high = (end.item() for end in torch.aminmax(input))
    elif low > high:
        raise ShapeError(f"Invalid range: input_min {low:g} > input_max {high:g}")
    first = number(narrow_range - (1 << num_bits - 1) if signed else 0)
    last = number((1 << num_bits - 1) - 1 if signed else (1 << num_bits) - 1)
    low, high, scale, back = _symmetric(number(low), number(high), first, last)
    clamped = input.clamp(max=float(high)).clamp(min=float(low)) if range_given else input
    places = clamped * float(scale)
    whole = torch.round(places) if round_mode == "HALF_TO_EVEN" else torch.floor(places + 0.5)
    return whole * float(back)


def _there_and_back_law(
    input, output, low, high, signed_input, num_bits, range_given, narrow_range=False, axis=-1
):
    """Multiples of a step, so large that the integers reach both ends: the nearest to each number."""
    if axis != -1:
        others = [other for other in range(input.ndim) if other != axis]
        low, high = np.expand_dims(low, others), np.expand_dims(high, others)
    if not range_given:
        low, high = input.min(initial=0), input.max(initial=0)
    first = narrow_range - (1 << num_bits - 1) if signed_input else 0
    last = (1 << num_bits - signed_input) - 1
    step = np.maximum(np.asarray(low) / first if first else 0, np.asarray(high) / last)
    places = output / step
    wanted = np.clip(input, first * step, last * step)
    return [np.abs(places - np.round(places)) < 1e-3, np.abs(output - wanted) <= step * 0.5 + 1e-6]


def _unchanged(count: int) -> Callable:
    """The gradient of an op that is taken for the identity, with `count` inputs besides."""
    return lambda op, grad: (grad, *[None] * count)


quantize_and_dequantize_op = Op(
    "QuantizeAndDequantize",
    "input: T -> output: T",
    T=FLOATS,
    num_bits=8,
    input_min=0.0,
    input_max=0.0,
    **_THERE_AND_BACK,
    has_numeric_gradient=False,
)


quantize_and_dequantize_op.shape(lambda input: input)


@quantize_and_dequantize_op.kernel
def _quantize_and_dequantize_kernel(input, *, signed_input, num_bits, range_given, input_min, input_max):
    return _there_and_back(input, input_min, input_max, signed_input, num_bits, range_given)


quantize_and_dequantize_op.gradient(_unchanged(0))
quantize_and_dequantize_op.samples(
    f32(2, 3),
    (f32(4), {"range_given": True, "input_min": -0.5, "input_max": 0.5, "num_bits": 4}),
    law=lambda input, output, input_min, input_max, signed_input, num_bits, range_given: _there_and_back_law(
        input, output, input_min, input_max, signed_input, num_bits, range_given
    ),
)


def _each_there_and_back(input: torch.Tensor, low: Any, high: Any, axis: int, *given: Any) -> torch.Tensor:
    if axis == -1:
        return _there_and_back(input, low, high, *given)
    if not input.numel():
        return torch.empty_like(input)
    return torch.stack([_there_and_back(*each, *given) for each in _along(input, axis, low, high)], axis)


quantize_and_dequantize_v2_op = Op(
    "QuantizeAndDequantizeV2",
    "input: T, input_min: T, input_max: T -> output: T",
    host="input_min input_max",
    T=FLOATS,
    num_bits=8,
    round_mode=attr("string", "HALF_TO_EVEN", allowed=("HALF_TO_EVEN", "HALF_UP")),
    narrow_range=False,
    axis=-1,
    **_THERE_AND_BACK,
    has_numeric_gradient=False,
)


@quantize_and_dequantize_v2_op.shape
def _quantize_and_dequantize_v2_shape(input, input_min, input_max, *, axis):
    return _as_ranged(input, input_min, input_max, axis)


@quantize_and_dequantize_v2_op.kernel
def _quantize_and_dequantize_v2_kernel(
    input, input_min, input_max, *, signed_input, num_bits, range_given, round_mode, narrow_range, axis
):
    given = signed_input, num_bits, range_given, round_mode, narrow_range
    return _each_there_and_back(input, input_min, input_max, axis, *given)


quantize_and_dequantize_v2_op.gradient(_unchanged(2))


def _quantize_and_dequantize_v2_law(
    input, low, high, output, signed_input, num_bits, range_given, narrow_range, axis
):
    return _there_and_back_law(
        input, output, low, high, signed_input, num_bits, range_given, narrow_range, axis
    )


quantize_and_dequantize_v2_op.samples(
    (f32(2, 3), 0.0, 0.0),
    (f32(4), -0.5, 0.7, {"range_given": True, "round_mode": "HALF_UP", "narrow_range": True}),
    (f32(2, 3), [-1.0, -0.5], [0.5, 1.0], {"axis": 0, "range_given": True}),
    (f32(0, 3), 0.0, 0.0),
    law=_quantize_and_dequantize_v2_law,
)
quantize_and_dequantize_v2_op.refuses(
    (f32(2), 1.0, 0.0, {"range_given": True}), "Invalid range: input_min 1", InvalidArgumentError
)


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """Rounds numbers to those that integers of a few bits would hold, where 0 is held exactly.

    Its gradient passes to the input unchanged.

    Args:
      input: A tensor of a floating-point type.
      input_min: The lower end of the range, a scalar of that type; not used unless `range_given`.
      input_max: The upper end of the range.
      signed_input: Whether the integers are signed.
      num_bits: How many bits the integers have.
      range_given: Whether the range is given, and not that of the input.
      round_mode: Where halves go: "HALF_TO_EVEN" (the default) or "HALF_UP".
      name: A name for the operation.
      narrow_range: Whether the lowest signed integer is left out.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      InvalidArgumentError: In a step, where the range is empty, or `num_bits` is too large.
    """
    return quantize_and_dequantize_v2_op(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )


quantize_and_dequantize_v3_op = Op(
    "QuantizeAndDequantizeV3",
    "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T",
    host="input_min input_max num_bits",
    T=FLOATS,
    signed_input=True,
    range_given=True,
    narrow_range=False,
    axis=-1,
    has_numeric_gradient=False,
)


@quantize_and_dequantize_v3_op.shape
def _quantize_and_dequantize_v3_shape(input, input_min, input_max, num_bits, *, axis):
    scalar(num_bits)
    return _as_ranged(input, input_min, input_max, axis)


@quantize_and_dequantize_v3_op.kernel
def _quantize_and_dequantize_v3_kernel(
    input, input_min, input_max, num_bits, *, signed_input, range_given, narrow_range, axis
):
    given = signed_input, num_bits, range_given, "HALF_TO_EVEN", narrow_range
    return _each_there_and_back(input, input_min, input_max, axis, *given)


quantize_and_dequantize_v3_op.gradient(_unchanged(3))


def _quantize_and_dequantize_v3_law(
    input, low, high, num_bits, output, signed_input, range_given, narrow_range, axis
):
    return _there_and_back_law(
        input, output, low, high, signed_input, num_bits, range_given, narrow_range, axis
    )


quantize_and_dequantize_v3_op.samples(
    (f32(2, 3), -0.5, 0.7, 5),
    (f32(3), 0.0, 0.0, 8, {"range_given": False}),
    law=_quantize_and_dequantize_v3_law,
)
