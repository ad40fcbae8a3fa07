"""Short-time Fourier transforms: the spectrum of every frame of a signal, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, joining, shapes, tiling
from tideflow.ops.math import binary, casting, powers, reductions, unary
from tideflow.ops.signals import fourier
from tideflow.signal.framing import ceil_div, frame, overlap_and_add, scalar_tensor
from tideflow.signal.windows import hann_window

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("signal.stft", "contrib.signal.stft")
def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes the short-time Fourier transform of signals.

    Args:
      signals: Real signals, of shape [..., samples].
      frame_length: The number of samples in a frame.
      frame_step: The number of samples from the start of one frame to the next.
      fft_length: The size of the transform; the next power of 2 from `frame_length` on if None.
      window_fn: A function of a length and a dtype that returns the window; none if None.
      pad_end: Whether the end of a signal is padded with zeros.
      name: The name of the operation.

    Returns:
      The spectra, complex64 of shape [..., frames, fft_length / 2 + 1].
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length = scalar_tensor(frame_length, "frame_length")
        step = scalar_tensor(frame_step, "frame_step")
        points = _points(fft_length, length)
        frames = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return fourier.rfft(frames, [points])


@export("signal.inverse_stft", "contrib.signal.inverse_stft")
def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Computes signals from their short-time Fourier transforms.

    Args:
      stfts: The spectra, of shape [..., frames, fft_length / 2 + 1].
      frame_length: The number of samples in a frame.
      frame_step: The number of samples from the start of one frame to the next.
      fft_length: The size of the transform; the next power of 2 from `frame_length` on if None.
      window_fn: A function of a length and a dtype that returns the window; see
        `tf.signal.inverse_stft_window_fn`.
      name: The name of the operation.

    Returns:
      The signals, of shape [..., samples].
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length = scalar_tensor(frame_length, "frame_length")
        step = scalar_tensor(frame_step, "frame_step")
        points = _points(fft_length, length)
        frames = _of_length(fourier.irfft(stfts, [points]), length)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, step)


def _points(fft_length: Any, frame_length: Tensor) -> Tensor:
    """The points of a frame's transform: the next power of two, unless said otherwise."""
    if fft_length is not None:
        return scalar_tensor(fft_length, "fft_length")
    known = constant_value(frame_length)
    if known is not None:
        return constants.constant(2 ** math.ceil(math.log2(known)), frame_length.dtype)
    exponent = unary.ceil(unary.log(casting.cast(frame_length, dtypes.float32)) / math.log(2.0))
    return casting.cast(powers.pow(2.0, exponent), frame_length.dtype)


def _of_length(frames: Tensor, length: Tensor) -> Tensor:
    """Frames cut, or filled up with zeros, to `length`."""
    known = constant_value(length)
    size = None if frames.shape.ndims is None else frames.shape.tuple[-1]
    if known is not None and size is not None:
        known, rank = int(known), frames.shape.ndims
        if size > known:
            return frames[..., :known]
        return tiling.pad(frames, [[0, 0]] * (rank - 1) + [[0, known - size]]) if size < known else frames
    frames = frames[..., :length]
    missing = binary.maximum(0, length - shapes.shape(frames)[-1])
    outer = creation.zeros([shapes.rank(frames) - 1, 2], dtype=length.dtype)
    padded = tiling.pad(frames, joining.concat([outer, [[0, missing]]], 0))
    if known is not None and padded.shape.ndims is not None:
        padded.set_shape([None] * (padded.shape.ndims - 1) + [int(known)])
    return padded


@export("signal.inverse_stft_window_fn", "contrib.signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Callable = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """Makes the window function with which `tf.signal.inverse_stft` inverts `tf.signal.stft` exactly.

    Args:
      frame_step: The number of samples from the start of one frame to the next.
      forward_window_fn: The window function of the forward transform.
      name: The name of the operation.

    Returns:
      A window function.
    """
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step = scalar_tensor(frame_step, "frame_step")

    def window(frame_length: Any, dtype: Any) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = scalar_tensor(frame_length, "frame_length")
            forward = forward_window_fn(length, dtype=dtype)
            overlaps = ceil_div(length, step)
            # Every sample is weighted by the squares of all the windows that cover it: their sum must be 1.
            weights = tiling.pad(unary.square(forward), [(0, overlaps * step - length)])
            weights = shapes.reshape(weights, [overlaps, step])
            total = reductions.reduce_sum(weights, 0, keepdims=True)
            repeated = shapes.reshape(tiling.tile(total, [overlaps, 1]), [overlaps * step])
            return forward / repeated[:length]

    return window
