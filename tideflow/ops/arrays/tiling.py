"""Tensors repeated, padded, mirrored and reversed along their axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, joining, shapes, slicing
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import (
    as_sizes,
    brackets,
    host_rank,
    moved,
    of_rank,
    one_value,
    size_product,
    size_sum,
    vector,
)
from tideflow.ops.helpers.looking import can_look
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDEX, INDICES, types
from tideflow.ops.helpers.unsigned import modular
from tideflow.ops.math import reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

# ---------------------------------------------------------------------------------- tile

_MULTIPLES = "Expected multiples to be 1-D, but got shape "


def _checked_multiples(multiples: list[int], rank: int) -> list[int]:
    if len(vector(multiples, _MULTIPLES)) != rank:
        raise ShapeError(
            f"Expected multiples argument to be a vector of length {rank} but got length {len(multiples)}"
        )
    for i, count in enumerate(multiples):
        if count < 0:
            raise ShapeError(f"Expected multiples[{i}] >= 0, but got {count}")
    return multiples


tile_op = Op("Tile", "input: T, multiples: Tmultiples -> output: T", Tmultiples=INDEX, host="multiples")


@tile_op.shape
def _tile_shape(input, multiples):
    counts = as_sizes(multiples, _MULTIPLES)
    if counts is None:
        return None if input.tuple is None else [None] * input.ndims
    sizes = of_rank(input, len(counts)).tuple
    return [size_product(size, count) for size, count in zip(sizes, counts, strict=True)]


tile_op.value(moved)


@tile_op.kernel
def _tile_kernel(input, multiples):
    return input.repeat(_checked_multiples(multiples, input.ndim))


@tile_op.kernel("string")
def _tile_string_kernel(input, multiples):
    return np.tile(input, _checked_multiples(multiples, input.ndim))


@tile_op.gradient
def _tile_gradient(op, grad):
    sizes = shapes.shape(op.inputs[0], out_type=op.inputs[1].dtype.base_dtype)
    # Each axis of the gradient as two: which copy, and the place in it.
    pairs = shapes.reshape(shapes.transpose(joining.stack([op.inputs[1], sizes])), [-1])
    copies = creation.range(0, shapes.size(pairs), 2)
    return [reductions.reduce_sum(shapes.reshape(convert_to_tensor(grad), pairs), copies), None]


tile_op.samples(
    (f32(2, 3), np.array([2, 1], np.int32)),
    (f32(2), np.array([0], np.int64)),
    (f32(), np.array([], np.int32)),
    (i32(1, 2), np.array([2, 3], np.int32)),
    against=np.tile,
)
tile_op.refuses((f32(2), np.array([1, 1], np.int32)), "Shape must be rank 2 but is rank 1")


@export("tile", "manip.tile", ragged="tile")
def tile(input: TensorOrRagged, multiples: TensorLike, name: str | None = None) -> Tensor:
    """Repeats a tensor along its axes.

    Args:
      input: A tensor.
      multiples: How many copies along each axis, a vector of integers.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input`.
    """
    return tile_op(input, multiples, name=name)


tile_grad_op = Op("TileGrad", "input: T, multiples: int32 -> output: T", host="multiples")


@tile_grad_op.shape
def _tile_grad_shape(input, multiples):
    counts = as_sizes(multiples, _MULTIPLES)
    if counts is None:
        return None if input.tuple is None else [None] * input.ndims
    sizes = of_rank(input, len(counts)).tuple
    return [size // count if size and count else None for size, count in zip(sizes, counts, strict=True)]


@tile_grad_op.kernel
@modular
def _tile_grad_kernel(input, multiples):
    """The sum of the copies that Tile made."""
    counts = _checked_multiples(multiples, input.ndim)
    if any(count == 0 or size % count for size, count in zip(input.shape, counts, strict=True)):
        raise ShapeError(f"A tensor of shape {brackets(input.shape)} was not tiled {counts} times")
    pairs = [part for size, count in zip(input.shape, counts) for part in (count, size // count)]
    return input.reshape(pairs).sum(list(range(0, len(pairs), 2)), dtype=input.dtype) if pairs else input


@tile_grad_op.gradient
def _tile_grad_gradient(op, grad):
    return [tile(grad, op.inputs[1]), None]


def _copies_added(input: np.ndarray, multiples: np.ndarray) -> np.ndarray:
    for axis, count in enumerate(multiples.tolist()):
        input = sum(np.split(input, count, axis))
    return input


tile_grad_op.samples(
    (f32(4, 3), np.array([2, 1], np.int32)),
    (i32(2, 6), np.array([1, 3], np.int32)),
    (f32(), np.array([], np.int32)),
    against=_copies_added,
)


# ---------------------------------------------------------------------------------- pad


def _padded_shape(input: TensorShape, paddings: list | None, sign: int = 1) -> list | None:
    if paddings is None:
        return None if input.tuple is None else [None] * input.ndims
    rank = host_rank(paddings)
    in_step = f"paddings must be a matrix with 2 columns: {brackets(np.shape(paddings))}"
    if paddings and rank != 2:
        raise ShapeError(f"Shape must be rank 2 but is rank {rank}", in_step)
    if paddings and len(paddings[0]) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(paddings[0])}", in_step)
    sizes = of_rank(input, len(paddings)).tuple
    for size, pair in zip(sizes, paddings, strict=True):
        if sign < 0 and None not in (size, *pair) and min(pair) >= 0 and sum(pair) > size:
            first = min(pair[0], size)
            less = f"subtracting {pair[1] if first == pair[0] else pair[0]} from {size - first}"
            raise ShapeError(f"Negative dimension size caused by {less}", _too_much(pair, size - sum(pair)))
        if any(count is not None and count < 0 for count in pair):
            raise ShapeError("Paddings must be non-negative")
    return [
        size_sum(size, *(None if n is None else sign * n for n in pair))
        for size, pair in zip(sizes, paddings, strict=True)
    ]


def _checked_paddings(paddings: list, sizes: Sequence[int], word: str = "Paddings") -> list[list[int]]:
    if paddings and (host_rank(paddings) != 2 or len(paddings[0]) != 2):
        raise ShapeError("paddings must be a matrix with 2 columns")
    if len(paddings) != len(sizes):
        raise ShapeError(
            "The first dimension of paddings must be the rank of inputs: "
            f"[{len(paddings)},2] {brackets(sizes)}"
        )
    for before, after in paddings:
        if before < 0 or after < 0:
            raise ShapeError(f"{word} must be non-negative: {before} {after}")
    return paddings


def _sizes_with(paddings: list, sizes: Sequence[int]) -> list[int]:
    return [size + sum(pair) for size, pair in zip(sizes, _checked_paddings(paddings, sizes), strict=True)]


def _surrounded(input: Any, background: Any, paddings: list[list[int]]) -> Any:
    """`background`, a fresh buffer, with the input in its middle."""
    middle = tuple(
        slice(before, before + size) for (before, _), size in zip(paddings, input.shape, strict=True)
    )
    background[middle] = input
    return background


def _middle_of(op: Any, grad: Any) -> Tensor:
    input, paddings = op.inputs[:2]
    before = slicing.slice(paddings, [0, 0], joining.stack([shapes.rank(input), 1]))
    begin = shapes.reshape(before, [-1])
    return slicing.slice(grad, begin, shapes.shape(input, out_type=begin.dtype))


pad_op = Op("Pad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, host="paddings")
pad_op.shape(lambda input, paddings: _padded_shape(input, paddings))


@pad_op.kernel
def _pad_kernel(input, paddings):
    return _surrounded(input, input.new_zeros(_sizes_with(paddings, input.shape)), paddings)


@pad_op.kernel("string")
def _pad_string_kernel(input, paddings):
    return _surrounded(input, np.full(_sizes_with(paddings, input.shape), b"", dtype=object), paddings)


@pad_op.gradient
def _pad_gradient(op, grad):
    return [_middle_of(op, grad), None]


pad_op.samples(
    (f32(2, 3), np.array([[1, 2], [0, 3]], np.int32)),
    (f32(), np.zeros([0, 2], np.int32)),
    (f32(0, 2), np.array([[1, 0], [0, 0]], np.int64)),
    against=lambda x, paddings: np.pad(x, paddings.tolist()) if x.ndim else x,
)
pad_op.refuses((f32(2), np.array([[-1, 0]], np.int32)), "Paddings must be non-negative")
pad_op.refuses((f32(2, 3), np.array([[1, 1]], np.int32)), "Shape must be rank 1 but is rank 2")

pad_v2_op = Op(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    Tpaddings=INDEX,
    host="paddings",
    has_numeric_gradient=False,  # TensorFlow gives `constant_values` none
)


@pad_v2_op.shape
def _pad_v2_shape(input, paddings, constant_values):
    of_rank(constant_values, 0, f"constant_values must be a scalar. Found: {constant_values}")
    return _padded_shape(input, paddings)


@pad_v2_op.kernel
def _pad_v2_kernel(input, paddings, constant_values):
    background = (
        one_value(constant_values, "constant_values")
        .expand(_sizes_with(paddings, input.shape))
        .clone(memory_format=torch.contiguous_format)
    )
    return _surrounded(input, background, paddings)


@pad_v2_op.kernel("string")
def _pad_v2_string_kernel(input, paddings, constant_values):
    background = np.full(_sizes_with(paddings, input.shape), constant_values[()], dtype=object)
    return _surrounded(input, background, paddings)


@pad_v2_op.gradient
def _pad_v2_gradient(op, grad):
    return [_middle_of(op, grad), None, None]


pad_v2_op.samples(
    (f32(2, 3), np.array([[1, 2], [0, 3]], np.int32), f32()),
    (i32(2), np.array([[2, 0]], np.int64), i32()),
    against=lambda x, paddings, value: np.pad(x, paddings.tolist(), constant_values=value),
)

_MODE = attr("string", allowed=("REFLECT", "SYMMETRIC"))


def _too_much(pair: list[int], size: int) -> str:
    """What TensorFlow says of the gradient of paddings that leave nothing to pad."""
    return f"paddings must be less than the output dimension size: {pair[0]}, {pair[1]} not less than {size}"


def _mirrored_axes(paddings: list, sizes: Sequence[int], mode: str) -> list[tuple[int, list[int]]]:
    """For each axis that grows, the place of the input that each place of the result shows."""
    skip = 1 if mode == "REFLECT" else 0  # whether the border itself is not repeated
    axes = []
    for axis, ((before, after), size) in enumerate(
        zip(_checked_paddings(paddings, sizes, "paddings"), sizes, strict=True)
    ):
        if max(before, after) > size - skip:
            limit, word = ("less than", "not less than") if skip else ("no greater than", "greater than")
            raise ShapeError(f"paddings must be {limit} the dimension size: {before}, {after} {word} {size}")
        if before or after:
            left = [place + skip for place in range(before)][::-1]
            right = [size - 1 - skip - place for place in range(after)]
            axes.append((axis, [*left, *range(size), *right]))
    return axes


mirror_pad_op = Op(
    "MirrorPad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, mode=_MODE, host="paddings"
)
mirror_pad_op.shape(lambda input, paddings: _padded_shape(input, paddings))


@mirror_pad_op.kernel
@modular
def _mirror_pad_kernel(input, paddings, *, mode):
    for axis, places in _mirrored_axes(paddings, input.shape, mode):
        input = input.index_select(axis, torch.tensor(places, device=input.device))
    return input


@mirror_pad_op.kernel("string")
def _mirror_pad_string_kernel(input, paddings, *, mode):
    for axis, places in _mirrored_axes(paddings, input.shape, mode):
        input = np.take(input, places, axis)
    return input


@mirror_pad_op.gradient
def _mirror_pad_gradient(op, grad):
    return [mirror_pad_grad_op(grad, op.inputs[1], mode=op.attrs["mode"]), None]


mirror_pad_op.samples(
    (f32(3, 4), np.array([[1, 2], [0, 3]], np.int32), {"mode": "REFLECT"}),
    (f32(3, 4), np.array([[3, 2], [0, 4]], np.int64), {"mode": "SYMMETRIC"}),
    against=lambda x, paddings, mode: np.pad(x, paddings.tolist(), mode=mode.lower()),
)


@export("pad")
def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: TensorLike = 0,
) -> Tensor:
    """Surrounds a tensor with a value, or with its own mirror image.

    Args:
      tensor: A tensor.
      paddings: How many places to put before and after each axis, a matrix of integers with 2 columns.
      mode: "CONSTANT": a value; "REFLECT": a mirror image that does not repeat the border; "SYMMETRIC": one
        that does.
      name: A name for the operation.
      constant_values: The value, a scalar of the type of `tensor`.

    Returns:
      A tensor of the type of `tensor`.

    Raises:
      ValueError: If the mode is not known.
    """
    kind = mode.upper()
    if kind == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0 and constant_values == 0:
            return pad_op(tensor, paddings, name=name)
        return pad_v2_op(tensor, paddings, constant_values, name=name)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Unknown padding mode: {mode.upper()}")
    return mirror_pad_op(tensor, paddings, mode=kind, name=name)


mirror_pad_grad_op = Op(
    "MirrorPadGrad",
    "input: T, paddings: Tpaddings -> output: T",
    Tpaddings=INDEX,
    mode=_MODE,
    host="paddings",
)


@mirror_pad_grad_op.shape
def _mirror_pad_grad_shape(input, paddings):
    return _padded_shape(input, paddings, sign=-1)


@mirror_pad_grad_op.kernel
@modular
def _mirror_pad_grad_kernel(input, paddings, *, mode):
    sizes = []
    for size, pair in zip(input.shape, _checked_paddings(paddings, input.shape), strict=True):
        sizes.append(size - sum(pair))
        if sizes[-1] < 0:
            raise ShapeError(_too_much(pair, sizes[-1]))
    for axis, places in _mirrored_axes(paddings, sizes, mode):
        total = input.new_zeros([*input.shape[:axis], sizes[axis], *input.shape[axis + 1 :]])
        input = total.index_add_(axis, torch.tensor(places, device=input.device), input)
    return input


@mirror_pad_grad_op.gradient
def _mirror_pad_grad_gradient(op, grad):
    return [mirror_pad_op(grad, op.inputs[1], mode=op.attrs["mode"]), None]


def _added_at_their_source(input: np.ndarray, paddings: np.ndarray, mode: str) -> np.ndarray:
    """NumPy pads the places of the elements, which tells where each element came from."""
    sizes = np.array(input.shape) - paddings.sum(1)
    total = np.zeros(sizes.prod(), input.dtype)
    sources = np.pad(np.arange(total.size).reshape(sizes), paddings.tolist(), mode=mode.lower())
    np.add.at(total, sources.ravel(), input.ravel())
    return total.reshape(sizes)


mirror_pad_grad_op.samples(
    (f32(6, 4), np.array([[1, 2], [0, 0]], np.int32), {"mode": "REFLECT"}),
    (f32(8), np.array([[3, 2]], np.int32), {"mode": "SYMMETRIC"}),
    against=_added_at_their_source,
)

# ---------------------------------------------------------------------------------- reverse

reverse_op = Op(
    "Reverse",
    "tensor: T, dims: bool -> output: T",
    T=types(
        "uint8 int8 uint16 int16 uint32 int32 uint64 int64 bool bfloat16 half float double complex64 "
        "complex128 string"
    ),
    host="dims",
)


@reverse_op.shape
def _reverse_shape(tensor, dims):
    flags = vector(dims, _no_vector(dims))
    if flags is None:
        return tensor
    return of_rank(tensor, len(flags), _other_count(flags, tensor.ndims))


def _no_vector(axes: Any) -> str:
    return f"'dims' must be 1-dimension, not {host_rank(axes)}, but has shape "


def _other_count(flags: list[bool], rank: int | None) -> str:
    return (
        "'dims' must have the same number of values as 'input' has dimensions. 'input' has "
        f"{rank}'dims' has {len(flags)} values"
    )


def _flagged_axes(flags: list[bool], rank: int) -> list[int]:
    if len(vector(flags, _no_vector(flags))) != rank:
        raise ShapeError(_other_count(flags, rank))
    return tuple(axis for axis, flag in enumerate(flags) if flag)


@reverse_op.kernel
@modular
def _reverse_kernel(tensor, dims):
    return tensor.flip(_flagged_axes(dims, tensor.ndim))


@reverse_op.kernel("string")
def _reverse_string_kernel(tensor, dims):
    return np.flip(tensor, _flagged_axes(dims, tensor.ndim))


@reverse_op.gradient
def _reverse_gradient(op, grad):
    return [reverse_op(grad, op.inputs[1]), None]


reverse_op.samples(
    (f32(2, 3), np.array([True, False])),
    (f32(), np.array([], np.bool_)),
    against=lambda x, dims: np.flip(x, tuple(np.flatnonzero(dims))),
)

reverse_v2_op = Op(
    "ReverseV2",
    "tensor: T, axis: Tidx -> output: T",
    Tidx=INDEX,
    T=types(
        "uint8 int8 uint16 int16 int32 uint32 int64 uint64 bool bfloat16 half float double complex64 "
        "complex128 string"
    ),
    host="axis",
)


def _checked_axes(axes: list[int], rank: int) -> tuple[int, ...]:
    seen: list[int] = []
    for i, axis in enumerate(vector(axes, _no_vector(axes))):
        if not -rank <= axis < rank:
            raise ShapeError(f"'axis'[{i}] = {axis} is out of valid range [{-rank}, {rank})")
        if axis % rank in seen:
            raise ShapeError(f"axis {axis % rank} specified more than once.")
        seen.append(axis % rank)
    return tuple(seen)


@reverse_v2_op.shape
def _reverse_v2_shape(tensor, axis):
    axes = vector(axis, _no_vector(axis))
    if axes is not None and fully_known(axes) and tensor.ndims is not None:
        _checked_axes(axes, tensor.ndims)
    return tensor


reverse_v2_op.value(moved)


@reverse_v2_op.kernel
@modular
def _reverse_v2_kernel(tensor, axis):
    return tensor.flip(_checked_axes(axis, tensor.ndim))


@reverse_v2_op.kernel("string")
def _reverse_v2_string_kernel(tensor, axis):
    return np.flip(tensor, _checked_axes(axis, tensor.ndim))


@reverse_v2_op.gradient
def _reverse_v2_gradient(op, grad):
    return [reverse(grad, op.inputs[1]), None]


reverse_v2_op.samples(
    (f32(2, 3), np.array([0], np.int32)),
    (f32(2, 3), np.array([-1, 0], np.int64)),
    (f32(0, 3), np.array([], np.int32)),
    against=lambda x, axis: np.flip(x, tuple(axis)),
)
reverse_v2_op.refuses((f32(2, 3), np.array([2], np.int32)), "'axis'[0] = 2 is out of valid range")
reverse_v2_op.refuses((f32(2, 3), np.array([0, -2], np.int32)), "axis 0 specified more than once")


@export("reverse", "reverse_v2", "manip.reverse")
def reverse(tensor: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Reverses the order of the elements along some axes.

    Args:
      tensor: A tensor.
      axis: The axes, a vector of integers; negative ones are counted from the end.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `tensor`.
    """
    return reverse_v2_op(tensor, axis, name=name)


reverse_sequence_op = Op(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen -> output: T",
    seq_dim=attr("int"),
    batch_dim=0,
    Tlen=attr("type", dtypes.int64, allowed=INDICES),
)


@reverse_sequence_op.shape
def _reverse_sequence_shape(input, seq_lengths, *, seq_dim, batch_dim):
    lengths = of_rank(seq_lengths, 1, f"seq_lens input must be 1-dim, not {seq_lengths.ndims}")
    if input.tuple is None:
        return None
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if not 0 <= axis < input.ndims:
            raise ShapeError(f"{name} must be < input rank: {axis} vs. {input.ndims}")
    batch, count = input.tuple[batch_dim], lengths.tuple[0]
    if None not in (batch, count) and batch != count:
        raise ShapeError(f"Dimensions must be equal, but are {batch} and {count}")
    return [count if axis == batch_dim and size is None else size for axis, size in enumerate(input.tuple)]


def _check_lengths(lengths: list[int], sizes: Sequence[int], seq_dim: int, batch_dim: int) -> None:
    if batch_dim == seq_dim:
        raise errors.invalid_argument(f"batch_dim == seq_dim == {seq_dim}")
    if len(lengths) != sizes[batch_dim]:
        raise errors.invalid_argument(
            f"len(seq_lens) != input.dims({batch_dim}), ({len(lengths)} vs. {sizes[batch_dim]})"
        )
    for i, length in enumerate(lengths):
        if length < 0:
            raise errors.invalid_argument(f"seq_lens({i}) < 0")
        if length > sizes[seq_dim]:
            raise errors.invalid_argument(f"seq_lens({i}) > input.dims({seq_dim})")


@reverse_sequence_op.kernel
def _reverse_sequence_kernel(input, seq_lengths, *, seq_dim, batch_dim):
    if can_look() and not input.is_cuda:
        _check_lengths(seq_lengths.tolist(), input.shape, seq_dim, batch_dim)
    places = torch.arange(input.shape[seq_dim], device=input.device)
    lengths = seq_lengths[:, None]
    sources = torch.where(places < lengths, lengths - 1 - places, places)
    rows = torch.arange(seq_lengths.shape[0], device=input.device)[:, None]
    return input.movedim((batch_dim, seq_dim), (0, 1))[rows, sources].movedim((0, 1), (batch_dim, seq_dim))


@reverse_sequence_op.kernel("string")
def _reverse_sequence_string_kernel(input, seq_lengths, *, seq_dim, batch_dim):
    lengths = seq_lengths.tolist()
    _check_lengths(lengths, input.shape, seq_dim, batch_dim)
    result = np.moveaxis(input, (batch_dim, seq_dim), (0, 1)).copy()
    for row, length in enumerate(lengths):
        result[row, :length] = result[row, :length][::-1].copy()
    return np.moveaxis(result, (0, 1), (batch_dim, seq_dim))


@reverse_sequence_op.gradient
def _reverse_sequence_gradient(op, grad):
    axes = {key: op.attrs[key] for key in ("seq_dim", "batch_dim")}
    return [reverse_sequence_op(grad, op.inputs[1], **axes), None]


def _turned_one_by_one(
    input: np.ndarray, lengths: np.ndarray, seq_dim: int, batch_dim: int = 0
) -> np.ndarray:
    """Sequence by sequence, element by element."""
    result = input.copy()
    for place in np.ndindex(input.shape):
        source = list(place)
        if place[seq_dim] < lengths[place[batch_dim]]:
            source[seq_dim] = lengths[place[batch_dim]] - 1 - place[seq_dim]
        result[place] = input[tuple(source)]
    return result


reverse_sequence_op.samples(
    (f32(2, 3, 2), np.array([2, 3]), {"seq_dim": 1}),
    (f32(3, 2), np.array([1, 0], np.int32), {"seq_dim": 0, "batch_dim": 1}),
    against=_turned_one_by_one,
)
reverse_sequence_op.refuses((f32(2, 3), np.array([1]), {"seq_dim": 1}), "must be equal, but are 2 and 1")


@export("reverse_sequence")
def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Reverses the first elements of each sequence of a batch and leaves the others where they are.

    Args:
      input: A tensor.
      seq_lengths: How many elements of each sequence are reversed, a vector of integers.
      seq_axis: The axis along which a sequence lies.
      batch_axis: The axis along which the sequences are counted; by default 0.
      name: A name for the operation.
      seq_dim: The deprecated name of `seq_axis`.
      batch_dim: The deprecated name of `batch_axis`.

    Returns:
      A tensor of the shape and type of `input`.
    """
    seq_dim = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_dim = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    if seq_dim is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    return reverse_sequence_op(input, seq_lengths, seq_dim=seq_dim, batch_dim=batch_dim or 0, name=name)
