"""Fractional pooling: windows of two neighbouring sizes, in an order drawn at random, tile each axis.

A pooling sequence holds where the windows of an axis begin, and the axis' size at its end; overlapping
windows take the first element of the next one too. Both pools go along one axis after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.axes import as_sizes, of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import types
from tideflow.ops.nn.pool_kernels import added_at
from tideflow.runtime import distributions
from tideflow.runtime.philox import Stream

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_NUMBERS = types("float double int32 int64")
_REGIONS = "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64"
_POOL = {
    "pooling_ratio": attr("list(float)", minimum=4),
    "pseudo_random": False,
    "overlapping": False,
    "deterministic": False,
    "seed": 0,
    "seed2": 0,
}


def _pooled_sizes(image: Any, ratios: list[float]) -> list[int | None]:
    if len(ratios) != 4:
        raise ShapeError(f"pooling_ratio field must specify 4 dimensions, but has {len(ratios)}")
    if ratios[0] != 1 or ratios[3] != 1:
        raise ShapeError(f"Fractional pooling is over rows and columns only, got pooling_ratio {ratios}")
    sizes = [
        None if size is None else math.floor(np.float32(size) / np.float32(r))
        for size, r in zip(image, ratios)
    ]
    for axis in (1, 2):
        if ratios[axis] < 1 or sizes[axis] == 0:
            raise ShapeError(
                f"pooling_ratio {ratios[axis]:g} leaves nothing of axis {axis}, which has size {image[axis]}"
            )
    return sizes


def _pooled_shapes(value, *, pooling_ratio):
    sizes = _pooled_sizes(of_rank(value, 4, "tensor_in must be 4-dimensional").tuple, pooling_ratio)
    # TensorFlow infers sequences that are one too short.
    return [sizes, *([None if sizes[axis] is None else sizes[axis] + 1] for axis in (1, 2))]


def _random_widths(length: int, count: int, stream: Stream) -> np.ndarray:
    """Windows of two sizes, the larger as often as the length demands, shuffled."""
    widths = np.full(count, length // count)
    widths[: length % count] += 1
    return widths[distributions.permutation(stream.reserve_blocks(-(-count // 4)), count)]


def _pseudo_random_widths(length: int, count: int, stream: Stream) -> np.ndarray:
    """Windows between the numbers ceil(alpha * (i + u)), for one random u below a bound: with a larger u, a
    window might exceed the two sizes.
    """
    alpha, small = length / count, length // count
    largest = min((small + 2) / alpha - 1, (length + 1 - small) / alpha - (count - 1))
    u = distributions.uniform(stream.reserve_blocks(1), [1], np.float64)[0] * largest
    inner = np.ceil(alpha * (np.arange(1, count) + u)).astype(np.int64)
    return np.diff(inner, prepend=1, append=length + 1)


def _sequences(image: Any, ratios: list[float], pseudo_random: bool, stream: Stream) -> list[list[int]]:
    sizes = _pooled_sizes(list(image), ratios)
    draw = _pseudo_random_widths if pseudo_random else _random_widths
    return [[0, *np.cumsum(draw(image[axis], sizes[axis], stream)).tolist()] for axis in (1, 2)]


def _stream(state: dict, deterministic: bool, seed: int, seed2: int) -> Stream:
    """The random numbers of one run: the same in each where the op is deterministic."""
    if not deterministic:
        if seed or seed2:
            raise ShapeError("Both seed and seed2 should be 0 if deterministic is false.")
        return Stream()
    if seed or seed2:
        return Stream(seed, seed2)
    drawn = state.setdefault("seeds", tuple(np.random.SeedSequence().generate_state(2).tolist()))
    return Stream(*drawn)


def _members(
    sequence: list[int], overlapping: bool, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """The elements of each window [windows, widest], filled up with its last one; and how many it has."""
    starts = np.array(sequence[:-1], np.int64)
    last = np.minimum(np.array(sequence[1:]) - (0 if overlapping else 1), sequence[-1] - 1)
    counts = last - starts + 1
    members = np.minimum(starts[:, None] + np.arange(counts.max(initial=0)), last[:, None])
    return torch.from_numpy(members).to(device), torch.from_numpy(counts).to(device)


def _along_both(value: torch.Tensor, sequences: list, overlapping: bool, pool: Callable) -> torch.Tensor:
    """An image pooled along its rows, then along its columns."""
    for axis, sequence in zip((1, 2), sequences):
        members, counts = _members(sequence, overlapping, value.device)
        windows = value.index_select(axis, members.flatten()).unflatten(axis, members.shape)
        value = pool(windows, axis + 1, counts)
    return value


def _as_tensors(sequences: list, device: torch.device) -> list[torch.Tensor]:
    return [torch.tensor(sequence, device=device) for sequence in sequences]


def _spread(*sizes: int) -> np.ndarray:
    """Elements far enough from each other that no small step changes which is the maximum."""
    return np.random.default_rng(2).permutation(math.prod(sizes)).reshape(sizes).astype(np.float32)


_SEEDED = {"pooling_ratio": [1.0, 1.4, 1.7, 1.0], "deterministic": True, "seed": 3, "seed2": 5}
_OVERLAPPING = {**_SEEDED, "overlapping": True, "pseudo_random": True}


def _pooled_cells(value, rows, columns, overlapping, pool):
    """In NumPy: `pool` of each cell between the beginnings of rows and of columns."""
    cells = [
        [
            pool(value[:, top : bottom + overlapping, left : right + overlapping], axis=(1, 2))
            for left, right in pairwise(columns)
        ]
        for top, bottom in pairwise(rows)
    ]
    return np.moveaxis(cells, 2, 0)


def _add_samples(op: Op, pool: Callable) -> None:
    """What is common to both pools; `pool` is NumPy's function of a cell."""

    def law(value, output, rows, columns, *, pooling_ratio, overlapping):
        pooled = _pooled_cells(value, rows, columns, overlapping, pool)
        claims = [(output, pooled if value.dtype.kind == "f" else np.trunc(pooled))]
        for sequence, size, ratio in zip((rows, columns), value.shape[1:], pooling_ratio[1:]):
            widths = np.diff(sequence)
            claims += [sequence[0] == 0, sequence[-1] == size, len(widths) == size // ratio]
            claims += [widths >= np.floor(ratio), widths <= np.ceil(ratio)]
        return claims

    op.samples(
        (_spread(2, 7, 9, 2), _SEEDED),
        (_spread(1, 10, 8, 1), _OVERLAPPING),
        (i32(1, 5, 6, 2), _SEEDED),
        (f32(0, 7, 9, 2), _SEEDED),
        law=law,
    )
    op.refuses((f32(1, 7, 9), _SEEDED), "Shape must be rank 4 but is rank 3")
    op.refuses((f32(1, 7, 9, 2), {"pooling_ratio": [1.0, 1.4, 1.4, 2.0]}), "over rows and columns only")


fractional_max_pool_op = Op("FractionalMaxPool", f"value: T -> {_REGIONS}", T=_NUMBERS, **_POOL)
fractional_max_pool_op.shape(_pooled_shapes)


def _maximum(windows: torch.Tensor, axis: int, counts: torch.Tensor) -> torch.Tensor:
    return windows.amax(axis)


@fractional_max_pool_op.kernel
def _fractional_max_pool_kernel(
    value, *, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, state
):
    stream = _stream(state, deterministic, seed, seed2)
    sequences = _sequences(value.shape, pooling_ratio, pseudo_random, stream)
    return _along_both(value, sequences, overlapping, _maximum), *_as_tensors(sequences, value.device)


@fractional_max_pool_op.gradient
def _fractional_max_pool_gradient(op, grad, *_):
    pooled, rows, columns = op.outputs
    overlapping = op.attrs["overlapping"]
    return fractional_max_pool_grad_op(op.inputs[0], pooled, grad, rows, columns, overlapping=overlapping)


_add_samples(fractional_max_pool_op, np.max)


@export("nn.fractional_max_pool")
def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: list[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the maximum of windows of two neighbouring sizes, in an order drawn at random, that tile
    images.

    Args:
      value: Images [batch, height, width, channels] of float32, float64, int32 or int64.
      pooling_ratio: By how much each axis shrinks, a list of four numbers of which the first and last are 1.
      pseudo_random: Whether the windows come from one random number, which spreads the larger ones evenly,
        and not in a random order.
      overlapping: Whether a window takes the first element of the next one too.
      deterministic: Whether every run draws the same windows.
      seed: The first seed, for deterministic runs only.
      seed2: The second seed, for deterministic runs only.
      name: A name for the operation.

    Returns:
      The pooled images, of the type of `value`, and where the windows of rows and of columns begin, two int64
      vectors that end with the image's height and width.

    Raises:
      ValueError: Where `pooling_ratio` is not of that form, or leaves nothing of an axis.
    """
    return fractional_max_pool_op(
        value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def _window_sizes(sequences: list, overlapping: bool, device: torch.device) -> torch.Tensor:
    """How many elements each window of an image has: [rows, columns, 1]."""
    rows, columns = (_members(sequence, overlapping, device)[1] for sequence in sequences)
    return (rows[:, None] * columns)[..., None]


fractional_avg_pool_op = Op("FractionalAvgPool", f"value: T -> {_REGIONS}", T=_NUMBERS, **_POOL)
fractional_avg_pool_op.shape(_pooled_shapes)


def _total(windows: torch.Tensor, axis: int, counts: torch.Tensor) -> torch.Tensor:
    """The sum of each window, without the elements that only fill it up."""
    real = torch.arange(windows.shape[axis], device=windows.device) < counts[:, None]
    real = real.view(*real.shape, *[1] * (windows.ndim - axis - 1))
    return torch.where(real, windows, 0).sum(axis, dtype=windows.dtype)


def _quotient(value: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    if value.is_floating_point():
        return value / sizes.to(value.dtype)
    return torch.div(value, sizes.to(value.dtype), rounding_mode="trunc")


@fractional_avg_pool_op.kernel
def _fractional_avg_pool_kernel(
    value, *, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, state
):
    stream = _stream(state, deterministic, seed, seed2)
    sequences = _sequences(value.shape, pooling_ratio, pseudo_random, stream)
    totals = _along_both(value, sequences, overlapping, _total)
    mean = _quotient(totals, _window_sizes(sequences, overlapping, value.device))
    return mean, *_as_tensors(sequences, value.device)


def _sizes(image: Tensor) -> TensorShape | Tensor:
    if image.shape.is_fully_defined():
        return image.shape
    return shapes.shape(image, out_type="int64")


@fractional_avg_pool_op.gradient
def _fractional_avg_pool_gradient(op, grad, *_):
    image, (_, rows, columns) = op.inputs[0], op.outputs
    overlapping = op.attrs["overlapping"]
    return fractional_avg_pool_grad_op(_sizes(image), grad, rows, columns, overlapping=overlapping)


_add_samples(fractional_avg_pool_op, np.mean)


@export("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: list[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the mean of windows of two neighbouring sizes, in an order drawn at random, that tile images.

    Args:
      value: Images [batch, height, width, channels] of float32, float64, int32 or int64.
      pooling_ratio: By how much each axis shrinks, a list of four numbers of which the first and last are 1.
      pseudo_random: Whether the windows come from one random number, which spreads the larger ones evenly,
        and not in a random order.
      overlapping: Whether a window takes the first element of the next one too.
      deterministic: Whether every run draws the same windows.
      seed: The first seed, for deterministic runs only.
      seed2: The second seed, for deterministic runs only.
      name: A name for the operation.

    Returns:
      The pooled images, of the type of `value`, and where the windows of rows and of columns begin, two int64
      vectors that end with the image's height and width.

    Raises:
      ValueError: Where `pooling_ratio` is not of that form, or leaves nothing of an axis.
    """
    return fractional_avg_pool_op(
        value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64"


def _check_backprop(grad: torch.Tensor, rows: list[int], columns: list[int], image: Any) -> None:
    expected = [image[0], len(rows) - 1, len(columns) - 1, image[3]]
    if list(grad.shape) != expected:
        raise ShapeError(f"out_backprop must have shape {expected}, but has {list(grad.shape)}")
    for name, sequence, size in (("row", rows, image[1]), ("col", columns, image[2])):
        if sequence[0] != 0 or sequence[-1] != size or min(np.diff(sequence), default=1) < 1:
            raise ShapeError(f"{name}_pooling_sequence must rise from 0 to {size}, but is {sequence}")


fractional_max_pool_grad_op = Op(
    "FractionalMaxPoolGrad",
    f"orig_input: T, orig_output: T, out_backprop: T, {_SEQUENCES} -> output: T",
    host="row_pooling_sequence col_pooling_sequence",
    T=_NUMBERS,
    overlapping=False,
)


@fractional_max_pool_grad_op.shape
def _fractional_max_pool_grad_shape(
    orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence
):
    return of_rank(orig_input, 4)


@fractional_max_pool_grad_op.kernel
def _fractional_max_pool_grad_kernel(
    orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence, *, overlapping
):
    _check_backprop(out_backprop, row_pooling_sequence, col_pooling_sequence, orig_input.shape)
    if not out_backprop.numel():
        return torch.zeros_like(orig_input)
    rows, columns = (
        _members(s, overlapping, orig_input.device)[0] for s in (row_pooling_sequence, col_pooling_sequence)
    )
    _, height, width, depth = orig_input.shape
    places = (rows[:, None, :, None] * width + columns[:, None, :]).flatten(2)  # [rows, columns, elements]
    elements = orig_input.flatten(1, 2)[:, places]  # [batch, rows, columns, elements, depth]
    largest = elements == elements.amax(3, keepdim=True)
    first = torch.where(largest, places[..., None], height * width).amin(3)
    # Where a window has a NaN, none of its elements equals the maximum: the first one is taken.
    first = torch.where(first < height * width, first, places[..., :1])
    flat = first * depth + torch.arange(depth, device=first.device)
    image = [len(orig_input), 1, *orig_input.shape[1:]]
    return added_at(flat.unsqueeze(1), out_backprop.unsqueeze(1), image).squeeze(1)


fractional_max_pool_grad_op.gradient(undefined_gradient)


def _fractional_max_pool_grad_reference(orig_input, orig_output, grad, rows, columns, overlapping):
    return pulled_back(lambda x: _pooled_cells(x, rows, columns, overlapping, np.max), orig_input, grad)


fractional_max_pool_grad_op.samples(
    (_spread(1, 4, 5, 2), f32(1, 2, 3, 2), f32(1, 2, 3, 2), [0, 1, 4], [0, 2, 3, 5]),
    (_spread(1, 4, 5, 2), f32(1, 2, 3, 2), f32(1, 2, 3, 2), [0, 1, 4], [0, 2, 3, 5], {"overlapping": True}),
    against=_fractional_max_pool_grad_reference,
)

fractional_avg_pool_grad_op = Op(
    "FractionalAvgPoolGrad",
    f"orig_input_tensor_shape: int64, out_backprop: T, {_SEQUENCES} -> output: T",
    host="orig_input_tensor_shape row_pooling_sequence col_pooling_sequence",
    T=_NUMBERS,
    overlapping=False,
)


@fractional_avg_pool_grad_op.shape
def _fractional_avg_pool_grad_shape(
    orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence
):
    sizes = (
        "original input tensor shape must be1-dimensional and 4 elements"  # TensorFlow's, without the space
    )
    return of_rank(as_shape(as_sizes(orig_input_tensor_shape, sizes)), 4, sizes)


def _handed_out(
    shares: torch.Tensor, sequence: list[int], overlapping: bool, axis: int, size: int
) -> torch.Tensor:
    """The sum, at each element of an axis, of the shares of the windows that it is in."""
    members, counts = _members(sequence, overlapping, shares.device)
    place = torch.arange(members.shape[1], device=shares.device)
    real = (place < counts[:, None]).flatten()
    window = torch.arange(len(members), device=shares.device).repeat_interleave(members.shape[1])
    sizes = [*shares.shape[:axis], size, *shares.shape[axis + 1 :]]
    result = shares.new_zeros(sizes)
    return result.index_add_(axis, members.flatten()[real], shares.index_select(axis, window[real]))


@fractional_avg_pool_grad_op.kernel
def _fractional_avg_pool_grad_kernel(
    orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence, *, overlapping
):
    _check_backprop(out_backprop, row_pooling_sequence, col_pooling_sequence, orig_input_tensor_shape)
    sequences = [row_pooling_sequence, col_pooling_sequence]
    # Integers are divided in float64 too: only the sum of an element's shares is truncated.
    shares = out_backprop.double() / _window_sizes(sequences, overlapping, out_backprop.device)
    for axis, sequence in zip((1, 2), sequences):
        shares = _handed_out(shares, sequence, overlapping, axis, orig_input_tensor_shape[axis])
    return shares.to(out_backprop.dtype)


fractional_avg_pool_grad_op.gradient(undefined_gradient)


def _fractional_avg_pool_grad_reference(sizes, grad, rows, columns, overlapping):
    zeros = np.zeros(sizes)
    return pulled_back(lambda x: _pooled_cells(x, rows, columns, overlapping, np.mean), zeros, grad, step=1)


fractional_avg_pool_grad_op.samples(
    ([1, 4, 5, 2], f32(1, 2, 3, 2), [0, 1, 4], [0, 2, 3, 5]),
    ([1, 4, 5, 2], f32(1, 2, 3, 2), [0, 1, 4], [0, 2, 3, 5], {"overlapping": True}),
    against=_fractional_avg_pool_grad_reference,
)
