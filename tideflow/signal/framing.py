"""Signals cut into frames that overlap, and put together again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, indexing, joining, shapes, slicing, tiling
from tideflow.ops.math import binary, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def scalar_tensor(value: Any, name: str) -> Tensor:
    """The value as a tensor that has no axes."""
    tensor = convert_to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def ceil_div(number: Any, divisor: Any) -> Any:
    """number / divisor, rounded up."""
    return -(-number // divisor)


@export("signal.frame", "contrib.signal.frame")
def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: TensorLike = -1,
    name: str | None = None,
) -> Tensor:
    """Divides a signal into frames, which may overlap.

    Args:
      signal: The signal, of any rank.
      frame_length: The number of samples in a frame.
      frame_step: The number of samples from the start of one frame to the next.
      pad_end: Whether frames that reach past the end are padded; else there are none.
      pad_value: The value to pad with.
      axis: The axis to divide.
      name: The name of the operation.

    Returns:
      A tensor in which the axis is replaced by two, of frames and of samples.

    Raises:
      ValueError: If an argument is not a scalar.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(1)
        length, step = scalar_tensor(frame_length, "frame_length"), scalar_tensor(frame_step, "frame_step")
        axis = scalar_tensor(axis, "axis")
        known_shape = _frame_shape(signal, length, step, pad_end, axis)

        axis = creation.range(shapes.rank(signal))[axis]
        sizes = shapes.shape(signal)
        before, samples, behind = sizes[:axis], sizes[axis], sizes[axis + 1 :]
        if pad_end:
            count = ceil_div(samples, step)
            missing = binary.maximum(0, length + step * (count - 1) - samples)
            signal = _padded(signal, axis, missing, convert_to_tensor(pad_value, signal.dtype))
            samples = samples + missing
        else:
            count = binary.maximum(0, 1 + (samples - length) // step)

        # Frames begin and end between blocks: moving blocks is cheaper than moving samples.
        block = _block_length(length, step)
        blocks = samples // block
        whole = slicing.slice(
            signal, creation.zeros_like(sizes), joining.concat([before, [blocks * block], behind], 0)
        )
        in_blocks = shapes.reshape(whole, joining.concat([before, [blocks, block], behind], 0))
        first = shapes.expand_dims(creation.range(count) * (step // block), 1)
        chosen = first + shapes.expand_dims(creation.range(length // block), 0)
        framed = indexing.gather(in_blocks, chosen, axis=axis)
        result = shapes.reshape(framed, joining.concat([before, [count, length], behind], 0))
        result.set_shape(known_shape)
        return result


def _frame_shape(
    signal: Tensor, frame_length: Tensor, frame_step: Tensor, pad_end: bool, axis: Tensor
) -> list[int | None] | None:
    """What is known of the frames' shape."""
    sizes, place = signal.shape.tuple, constant_value(axis)
    if sizes is None:
        return None
    if place is None:
        return [None] * (len(sizes) + 1)
    length, step = (None if v is None else int(v) for v in map(constant_value, (frame_length, frame_step)))
    samples, count = sizes[place], None
    if samples is not None and step is not None and pad_end:
        count = ceil_div(samples, step)
    elif samples is not None and step is not None and length is not None:
        count = max(0, 1 + (samples - length) // step)
    place = int(place) % len(sizes)
    return [*sizes[:place], count, length, *sizes[place + 1 :]]


def _padded(signal: Tensor, axis: Tensor, missing: Tensor, value: Tensor) -> Tensor:
    value.shape.assert_has_rank(0)
    after = creation.one_hot(axis, shapes.rank(signal), on_value=missing, off_value=0)
    paddings = joining.stack([creation.zeros_like(after), after], axis=1)
    return tiling.pad(signal, paddings, constant_values=value)


def _block_length(frame_length: Tensor, frame_step: Tensor) -> int:
    """The longest block of which length and step are multiples, where they are known."""
    length, step = constant_value(frame_length), constant_value(frame_step)
    return 1 if length is None or step is None else math.gcd(int(length), int(step))


@export("signal.overlap_and_add", "contrib.signal.overlap_and_add")
def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Adds up overlapping frames to a signal.

    Args:
      signal: The frames, of shape [..., frames, frame_length].
      frame_step: The number of samples from the start of one frame to the next.
      name: The name of the operation.

    Returns:
      The signal, of shape [..., samples].

    Raises:
      ValueError: If the rank is below 2, or `frame_step` is not a scalar integer.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = scalar_tensor(frame_step, "frame_step")
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype!r}")
        sizes = shapes.shape(signal)
        outer, frames, length = sizes[:-2], sizes[-2], sizes[-1]
        samples = length + step * (frames - 1)
        known_step = constant_value(step)
        if known_step is not None and signal.shape.tuple is not None and known_step == signal.shape.tuple[-1]:
            return shapes.reshape(signal, joining.concat([outer, [samples]], 0), name="fast_path")
        return _sum_of_shifted(signal, outer, frames, length, step)[..., :samples]


def _sum_of_shifted(signal: Tensor, outer: Tensor, frames: Tensor, length: Tensor, step: Tensor) -> Tensor:
    """Each frame is some steps long: the parts k of all frames, moved by k steps, are added up.

    Part k of all frames is a row. Rows that are `parts` steps longer than needed, read again as rows one step
    shorter, have each moved one step further than the one before.
    """

    def inner(*sizes: Any) -> Tensor:
        return joining.concat([outer, list(sizes)], 0)

    parts = ceil_div(length, step)
    outer_rank = shapes.size(outer)
    paddings = [[0, parts], [0, parts * step - length]]
    paddings = joining.concat([creation.zeros([outer_rank, 2], dtypes.int32), paddings], 0)
    cut = shapes.reshape(tiling.pad(signal, paddings), inner(frames + parts, parts, step))
    axes = joining.concat([creation.range(outer_rank), outer_rank + [1, 0, 2]], 0)
    steps = shapes.reshape(shapes.transpose(cut, axes), inner((frames + parts) * parts, step))
    total = frames + parts - 1
    moved = shapes.reshape(steps[..., : total * parts, :], inner(parts, total, step))
    return shapes.reshape(reductions.reduce_sum(moved, -3), inner(total * step))
