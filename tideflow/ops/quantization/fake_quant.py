"""Fake quantization: numbers as they would come back from being held in a few bits, for training.

The range is nudged so that 0 is held exactly. The gradient passes as if nothing were rounded, inside of the
nudged range; what lies outside moves the range's ends instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape, as_shape, brackets
from tideflow.ops.helpers.axes import merged, of_rank, of_rank_at_least, same_size, unequal_inputs
from tideflow.ops.helpers.samples import f32
from tideflow.ops.quantization.quantized_numbers import rounded

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_OTHER_SIZE = "gradient and input must be the same size"  # in TensorFlow's words

_BITS = {"num_bits": 8, "narrow_range": False}
_ARGS = {"min": -6.0, "max": 6.0, **_BITS}


def nudged(
    low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The range's ends, moved so that 0 is a level, and the distance of levels."""
    if not 2 <= num_bits <= 16:
        raise ShapeError(f"num_bits must be between 2 and 16, inclusive, but is {num_bits}")
    first, last = float(narrow_range), float((1 << num_bits) - 1)
    scale = (high - low) / (last - first)
    zero = rounded(first - low / scale).clamp(first, last)
    return (first - zero) * scale, (last - zero) * scale, scale


def clamped(inputs: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return torch.maximum(torch.minimum(inputs, high), low)


def _ends(inputs: torch.Tensor, low: float, high: float) -> list[torch.Tensor]:
    if low >= high:
        raise ShapeError(f"min has to be smaller than max, was: {low:g} >= {high:g}")
    return [torch.tensor(end, dtype=torch.float32, device=inputs.device) for end in (low, high)]


def _given(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in _ARGS if name in op.attrs}


def _levels(low: Any, high: Any, num_bits: int, narrow_range: bool) -> np.ndarray:
    """In NumPy: the numbers that inputs are rounded to, along a last axis. One of them is 0."""
    count = (1 << num_bits) - 1 - narrow_range
    step = (np.asarray(high, np.float64) - low) / count
    zero = np.clip(np.round(-np.asarray(low, np.float64) / step), 0, count)
    return (np.arange(count + 1) - zero[..., None]) * step[..., None]


def _rounded_reference(inputs, min, max, num_bits, narrow_range):
    if not np.any(max) and not np.any(min):
        return np.zeros_like(inputs)
    levels = _levels(min, max, num_bits, narrow_range)
    levels = np.broadcast_to(levels, (*inputs.shape, levels.shape[-1]))
    nearest = np.abs(inputs[..., None] - levels).argmin(-1)
    return np.take_along_axis(levels, nearest[..., None], -1)[..., 0]


def _parted_reference(gradients, inputs, min, max, num_bits, narrow_range):
    """The gradients of what is inside of the levels, below and above; with no levels all is inside."""
    if not np.any(max) and not np.any(min):
        return gradients, np.zeros_like(gradients), np.zeros_like(gradients)
    levels = _levels(min, max, num_bits, narrow_range)
    below, above = inputs < levels[..., 0], inputs > levels[..., -1]
    return np.where(below | above, 0, gradients), np.where(below, gradients, 0), np.where(above, gradients, 0)


_NARROW = {"num_bits": 4, "narrow_range": True}

fake_quant_with_min_max_args_op = Op(
    "FakeQuantWithMinMaxArgs", "inputs: float -> outputs: float", **_ARGS, has_numeric_gradient=False
)


fake_quant_with_min_max_args_op.shape(lambda inputs: inputs)


@fake_quant_with_min_max_args_op.kernel
def _fake_quant_with_min_max_args_kernel(inputs, *, min, max, num_bits, narrow_range):
    low, high, scale = nudged(*_ends(inputs, min, max), num_bits, narrow_range)
    # TensorFlow multiplies by the reciprocal here, but divides where tensors give the range: the last bit
    # may differ.
    return torch.floor((clamped(inputs, low, high) - low) * (1 / scale) + 0.5) * scale + low


@fake_quant_with_min_max_args_op.gradient
def _fake_quant_with_min_max_args_gradient(op, grad):
    return fake_quant_with_min_max_args_gradient_op(grad, op.inputs[0], **_given(op))


fake_quant_with_min_max_args_op.samples(
    f32(2, 3),
    (f32(4, low=-9.0, high=9.0), {"min": -2.0, "max": 3.0, **_NARROW}),
    f32(),
    f32(0, 2),
    against=_rounded_reference,
)
fake_quant_with_min_max_args_op.refuses(
    (f32(2), {"min": 1.0, "max": 1.0}), "min has to be smaller than max", InvalidArgumentError
)


@export("quantization.fake_quant_with_min_max_args", "fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rounds numbers to those that integers of a few bits would hold in a range.

    The range is moved so that 0 is held exactly. What lies outside becomes its nearest end.

    Args:
      inputs: A float32 tensor.
      min: The lower end of the range.
      max: The upper end.
      num_bits: How many bits the integers have, from 2 to 16.
      narrow_range: Whether the lowest integer is left out.
      name: A name for the operation.

    Returns:
      A float32 tensor of the shape of `inputs`. Its gradient passes where the inputs are inside of the range.

    Raises:
      InvalidArgumentError: In a step, where `num_bits` is out of range, or `min` is not below `max`.
    """
    return fake_quant_with_min_max_args_op(
        inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


fake_quant_with_min_max_args_gradient_op = Op(
    "FakeQuantWithMinMaxArgsGradient", "gradients: float, inputs: float -> backprops: float", **_ARGS
)


@fake_quant_with_min_max_args_gradient_op.shape
def _fake_quant_with_min_max_args_gradient_shape(gradients, inputs):
    return merged(gradients, inputs, unequal_inputs("FakeQuantWithMinMaxArgsGradient", gradients, inputs))


@fake_quant_with_min_max_args_gradient_op.kernel
def _fake_quant_with_min_max_args_gradient_kernel(gradients, inputs, *, min, max, num_bits, narrow_range):
    low, high, _ = nudged(*_ends(inputs, min, max), num_bits, narrow_range)
    return gradients * ((inputs >= low) & (inputs <= high))


fake_quant_with_min_max_args_gradient_op.gradient(undefined_gradient)
fake_quant_with_min_max_args_gradient_op.samples(
    (f32(2, 3), f32(2, 3)),
    (f32(4), f32(4), {"min": -0.5, "max": 0.5, **_NARROW}),
    against=lambda *given, min, max, num_bits, narrow_range: _parted_reference(
        *given, min, max, num_bits, narrow_range
    )[0],
)


@export("quantization.fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of `tf.quantization.fake_quant_with_min_max_args`.

    Args:
      gradients: The gradient by the outputs, a float32 tensor of the shape of `inputs`.
      inputs: The inputs, a float32 tensor.
      min: The lower end of the range.
      max: The upper end.
      num_bits: How many bits the integers have, from 2 to 16.
      narrow_range: Whether the lowest integer is left out.
      name: A name for the operation.

    Returns:
      A float32 tensor: `gradients` where the inputs are inside of the range, else 0.
    """
    return fake_quant_with_min_max_args_gradient_op(
        gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def _quantized(inputs, min, max, num_bits, narrow_range):
    low, high, scale = nudged(min, max, num_bits, narrow_range)
    result = torch.floor((clamped(inputs, low, high) - low) / scale + 0.5) * scale + low
    return torch.where((min == 0) & (max == 0), 0, result)


fake_quant_with_min_max_vars_op = Op(
    "FakeQuantWithMinMaxVars",
    "inputs: float, min: float, max: float -> outputs: float",
    **_BITS,
    has_numeric_gradient=False,
)


@fake_quant_with_min_max_vars_op.shape
def _fake_quant_with_min_max_vars_shape(inputs, min, max):
    of_rank(min, 0)
    of_rank(max, 0)
    return inputs


@fake_quant_with_min_max_vars_op.kernel
def _fake_quant_with_min_max_vars_kernel(inputs, min, max, *, num_bits, narrow_range):
    return _quantized(inputs, min, max, num_bits, narrow_range)


@fake_quant_with_min_max_vars_op.gradient
def _fake_quant_with_min_max_vars_gradient(op, grad):
    return fake_quant_with_min_max_vars_gradient_op(grad, *op.inputs, **_given(op))


fake_quant_with_min_max_vars_op.samples(
    (f32(2, 3), -0.7, 0.5), (f32(4), 0.0, 0.0), (f32(4), -0.3, 0.6, _NARROW), against=_rounded_reference
)
fake_quant_with_min_max_vars_op.refuses((f32(2), f32(1), f32()), "Shape must be rank 0 but is rank 1")


@export("quantization.fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars")
def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rounds numbers to those that integers of a few bits would hold in a range that can be trained.

    Args:
      inputs: A float32 tensor.
      min: The lower end of the range, a float32 scalar.
      max: The upper end, a float32 scalar.
      num_bits: How many bits the integers have, from 2 to 16.
      narrow_range: Whether the lowest integer is left out.
      name: A name for the operation.

    Returns:
      A float32 tensor of the shape of `inputs`. Where the inputs are inside of the range, its gradient passes
      to them, where they are below or above, to that end of the range.

    Raises:
      InvalidArgumentError: In a step, where `num_bits` is out of range.
    """
    return fake_quant_with_min_max_vars_op(
        inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


_VARS_GRAD = (
    "gradients: float, inputs: float, min: float, max: float "
    "-> backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float"
)


def _parted(gradients, inputs, min, max, num_bits, narrow_range):
    """The gradients of inputs inside of the range, below and above it; all are inside of [0, 0]."""
    low, high, _ = nudged(min, max, num_bits, narrow_range)
    nothing = (min == 0) & (max == 0)
    inside = ((inputs >= low) & (inputs <= high)) | nothing
    return (
        gradients * inside,
        gradients * ((inputs < low) & ~nothing),
        gradients * ((inputs > high) & ~nothing),
    )


fake_quant_with_min_max_vars_gradient_op = Op("FakeQuantWithMinMaxVarsGradient", _VARS_GRAD, **_BITS)


@fake_quant_with_min_max_vars_gradient_op.shape
def _fake_quant_with_min_max_vars_gradient_shape(gradients, inputs, min, max):
    merged(of_rank(min, 0), max)
    return [merged(gradients, inputs, _OTHER_SIZE), [], []]


@fake_quant_with_min_max_vars_gradient_op.kernel
def _fake_quant_with_min_max_vars_gradient_kernel(gradients, inputs, min, max, *, num_bits, narrow_range):
    inside, below, above = _parted(gradients, inputs, min, max, num_bits, narrow_range)
    return inside, below.sum(), above.sum()


fake_quant_with_min_max_vars_gradient_op.gradient(undefined_gradient)


def _fake_quant_with_min_max_vars_gradient_reference(*given, num_bits, narrow_range):
    inside, below, above = _parted_reference(*given, num_bits, narrow_range)
    return inside, below.sum(), above.sum()


fake_quant_with_min_max_vars_gradient_op.samples(
    (f32(2, 3), f32(2, 3), -0.7, 0.5),
    (f32(4), f32(4), 0.0, 0.0),
    against=_fake_quant_with_min_max_vars_gradient_reference,
)


@export("quantization.fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_gradient")
def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the gradients of `tf.quantization.fake_quant_with_min_max_vars`.

    Args:
      gradients: The gradient by the outputs, a float32 tensor of the shape of `inputs`.
      inputs: The inputs, a float32 tensor.
      min: The lower end of the range, a float32 scalar.
      max: The upper end, a float32 scalar.
      num_bits: How many bits the integers have, from 2 to 16.
      narrow_range: Whether the lowest integer is left out.
      name: A name for the operation.

    Returns:
      The gradients by `inputs`, a tensor of their shape, and by `min` and `max`, two scalars.
    """
    return fake_quant_with_min_max_vars_gradient_op(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def _per_channel_shapes(inputs: TensorShape, min: TensorShape, max: TensorShape) -> tuple[Any, TensorShape]:
    sizes = of_rank_at_least(inputs, 1).tuple
    last = None if sizes is None else sizes[-1]
    for ends in (min, max):
        last = same_size(last, of_rank(ends, 1).tuple[0])
    return inputs if sizes is None else as_shape([*sizes[:-1], last]), as_shape([last])


def _check_channels(
    inputs: torch.Tensor, low: torch.Tensor, high: torch.Tensor, gradients: Any = None
) -> None:
    if gradients is not None and gradients.shape != inputs.shape:
        raise ShapeError(f"{_OTHER_SIZE}, not {brackets(gradients.shape)} and {brackets(inputs.shape)}")
    if not inputs.ndim or low.shape != inputs.shape[-1:] or high.shape != inputs.shape[-1:]:
        depth = inputs.shape[-1] if inputs.ndim else 0
        name, wrong = ("min", low) if low.shape != (depth,) else ("max", high)
        raise ShapeError(
            f"{name} has incorrect size, expected {depth} was {wrong.numel()}: one element for each channel "
            f"of inputs of shape {brackets(inputs.shape)}"
        )


fake_quant_with_min_max_vars_per_channel_op = Op(
    "FakeQuantWithMinMaxVarsPerChannel",
    "inputs: float, min: float, max: float -> outputs: float",
    **_BITS,
    has_numeric_gradient=False,
)


@fake_quant_with_min_max_vars_per_channel_op.shape
def _fake_quant_with_min_max_vars_per_channel_shape(inputs, min, max):
    return _per_channel_shapes(inputs, min, max)[0]


@fake_quant_with_min_max_vars_per_channel_op.kernel
def _fake_quant_with_min_max_vars_per_channel_kernel(inputs, min, max, *, num_bits, narrow_range):
    _check_channels(inputs, min, max)
    return _quantized(inputs, min, max, num_bits, narrow_range)


@fake_quant_with_min_max_vars_per_channel_op.gradient
def _fake_quant_with_min_max_vars_per_channel_gradient(op, grad):
    return fake_quant_with_min_max_vars_per_channel_gradient_op(grad, *op.inputs, **_given(op))


fake_quant_with_min_max_vars_per_channel_op.samples(
    (f32(2, 3), f32(3, low=-1.0, high=0.0), f32(3, low=0.1)),
    (f32(3), f32(3, low=-1.0, high=0.0), f32(3, low=0.1), _NARROW),
    against=_rounded_reference,
)
fake_quant_with_min_max_vars_per_channel_op.refuses(
    (f32(2, 3), f32(2), f32(2)), "Dimensions must be equal, but are 3 and 2"
)


@export("quantization.fake_quant_with_min_max_vars_per_channel", "fake_quant_with_min_max_vars_per_channel")
def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rounds numbers to those that integers of a few bits would hold in a range of each channel.

    Args:
      inputs: A float32 tensor whose last axis is that of the channels.
      min: The lower end of each channel's range, a float32 vector.
      max: The upper end of each, a float32 vector.
      num_bits: How many bits the integers have, from 2 to 16.
      narrow_range: Whether the lowest integer is left out.
      name: A name for the operation.

    Returns:
      A float32 tensor of the shape of `inputs`.

    Raises:
      ValueError: Where channels and ranges differ in number.
    """
    return fake_quant_with_min_max_vars_per_channel_op(
        inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


fake_quant_with_min_max_vars_per_channel_gradient_op = Op(
    "FakeQuantWithMinMaxVarsPerChannelGradient", _VARS_GRAD, **_BITS
)


@fake_quant_with_min_max_vars_per_channel_gradient_op.shape
def _fake_quant_with_min_max_vars_per_channel_gradient_shape(gradients, inputs, min, max):
    of_rank_at_least(gradients, 1)
    merged(max, of_rank(min, 1))
    image, channels = _per_channel_shapes(merged(gradients, inputs, _OTHER_SIZE), min, max)
    return [image, channels, channels]


@fake_quant_with_min_max_vars_per_channel_gradient_op.kernel
def _fake_quant_with_min_max_vars_per_channel_gradient_kernel(
    gradients, inputs, min, max, *, num_bits, narrow_range
):
    _check_channels(inputs, min, max, gradients)
    inside, below, above = _parted(gradients, inputs, min, max, num_bits, narrow_range)
    return inside, *(part.unsqueeze(0).flatten(0, -2).sum(0) for part in (below, above))


fake_quant_with_min_max_vars_per_channel_gradient_op.gradient(undefined_gradient)


def _fake_quant_with_min_max_vars_per_channel_gradient_reference(*given, num_bits, narrow_range):
    inside, below, above = _parted_reference(*given, num_bits, narrow_range)
    return inside, below.sum(0), above.sum(0)


fake_quant_with_min_max_vars_per_channel_gradient_op.samples(
    (f32(2, 3), f32(2, 3), f32(3, low=-1.0, high=0.0), f32(3, low=0.1)),
    against=_fake_quant_with_min_max_vars_per_channel_gradient_reference,
)


@export(
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
    "fake_quant_with_min_max_vars_per_channel_gradient",
)
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the gradients of `tf.quantization.fake_quant_with_min_max_vars_per_channel`.

    Args:
      gradients: The gradient by the outputs, a float32 tensor of the shape of `inputs`.
      inputs: The inputs, a float32 tensor whose last axis is that of the channels.
      min: The lower end of each channel's range, a float32 vector.
      max: The upper end of each, a float32 vector.
      num_bits: How many bits the integers have, from 2 to 16.
      narrow_range: Whether the lowest integer is left out.
      name: A name for the operation.

    Returns:
      The gradients by `inputs`, a tensor of their shape, and by `min` and `max`, two vectors.
    """
    return fake_quant_with_min_max_vars_per_channel_gradient_op(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


FAKE_QUANTS = frozenset(
    (
        fake_quant_with_min_max_args_op,
        fake_quant_with_min_max_vars_op,
        fake_quant_with_min_max_vars_per_channel_op,
    )
)
