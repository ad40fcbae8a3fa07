"""Blocks of an image as batch entries or as channels, and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, brackets, mismatch
from tideflow.ops.arrays import creation
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import by_places, host_rank, of_rank, of_rank_at_least, size_product
from tideflow.ops.helpers.samples import f32, i32, int32s
from tideflow.ops.helpers.types import INDEX

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _checked_blocks(block_shape: Any, margins: Any, name: str) -> tuple[list[int], list[list[int]]] | None:
    """The blocks' sizes and the margins of each spatial axis, None where they are not all known."""
    if block_shape is not None and host_rank(block_shape) != 1:
        raise ShapeError("block_shape must have rank 1.")
    blocks = block_shape
    if blocks is None or not fully_known(blocks):
        return None
    if any(block < 1 for block in blocks):
        raise ShapeError("block_shape must be positive")
    if margins is None or not fully_known(margins):
        return None
    found, wanted = TensorShape(np.shape(margins)), TensorShape([len(blocks), 2])
    if blocks and found.tuple != wanted.tuple:
        raise ShapeError(
            f"{mismatch(wanted, found)}. {name} must have a row for each block size, and 2 columns",
            f"{name} should have shape {brackets(wanted.tuple)} instead of {brackets(found.tuple)}",
        )
    if any(size < 0 for pair in margins for size in pair):
        raise ShapeError(f"{name} cannot be negative", f"{name.capitalize()} must be non-negative")
    return blocks, margins


def _image(shape: TensorShape) -> TensorShape:
    return of_rank(shape, 4, f"Input rank should be: 4 instead of: {shape.ndims}")


def _divided(size: int | None, by: int, in_step: str = "") -> int | None:
    if size is not None and size % by:
        raise ShapeError(f"Dimension size must be evenly divisible by {by} but is {size}", in_step)
    return None if size is None else size // by


def _sizes_beside_margins(
    input: TensorShape, blocks: Any, of_batch: Callable[..., int | None]
) -> list | None:
    """The shape of the result where margins are not known: its batch, and the axes that stay as they are."""
    if input.tuple is None or blocks is None:
        return None if input.tuple is None else [None] * input.ndims
    of_rank_at_least(input, len(blocks) + 1)
    batch, *rest = input.tuple
    if not fully_known(blocks):
        return [None, *[None] * len(blocks), *rest[len(blocks) :]]
    return [of_batch(batch, *blocks), *[None] * len(blocks), *rest[len(blocks) :]]


def space_to_batch_sizes(input: TensorShape, block_shape: Any, paddings: Any) -> list | None:
    """The shape of an image whose blocks are taken apart."""
    known = _checked_blocks(block_shape, paddings, "paddings")
    if known is None or input.tuple is None:
        return _sizes_beside_margins(input, block_shape, size_product)
    blocks, margins = known
    of_rank_at_least(input, len(blocks) + 1)
    batch, *rest = input.tuple
    padded = [None if size is None else size + sum(pair) for size, pair in zip(rest, margins, strict=False)]
    spatial = [
        _divided(size, block, f"padded_shape[{axis}]={size} is not divisible by block_shape[{axis}]={block}")
        for axis, (size, block) in enumerate(zip(padded, blocks, strict=True))
    ]
    return [size_product(batch, *blocks), *spatial, *rest[len(blocks) :]]


def _to_batch(input: Any, block_shape: list[int], paddings: list[list[int]]) -> Any:
    """Each block's elements apart: the place in the block becomes the slower part of the batch."""
    _, *spatial_and_rest = space_to_batch_sizes(TensorShape(tuple(input.shape)), block_shape, paddings)
    rank = len(block_shape)
    spatial, rest = spatial_and_rest[:rank], spatial_and_rest[rank:]
    padded = input
    if any(map(any, paddings)):
        sides = [n * b for n, b in zip(spatial, block_shape, strict=True)]
        padded = input.new_zeros([input.shape[0], *sides, *rest])
        inside = [
            slice(before, before + n) for (before, _), n in zip(paddings, input.shape[1:], strict=False)
        ]
        padded[(slice(None), *inside)] = input
    result = input.new_empty([*block_shape, input.shape[0], *spatial, *rest])
    for offset, places in zip(np.ndindex(*block_shape), _offsets(block_shape), strict=True):
        result[offset] = padded[(slice(None), *places)]
    return result.flatten(0, rank)


def _offsets(block_shape: Any) -> list[tuple[slice, ...]]:
    """For each offset in a block, in row-major order, an index of all places at that offset."""
    return [
        tuple(slice(start, None, block) for start, block in zip(offset, block_shape, strict=True))
        for offset in np.ndindex(*block_shape)
    ]


def _apart(x: np.ndarray, block_shape: Any, paddings: np.ndarray) -> np.ndarray:
    """Each offset in a block gives an image of its own."""
    rest = [(0, 0)] * (x.ndim - 1 - len(block_shape))
    padded = np.pad(x, [(0, 0), *paddings.tolist(), *rest])
    return np.concatenate([padded[(slice(None), *places)] for places in _offsets(block_shape)])


def _together(x: np.ndarray, block_shape: Any, crops: np.ndarray) -> np.ndarray:
    """Each part of the batch goes to its offset in a block."""
    parts = np.split(x, math.prod(block_shape))
    spatial = len(block_shape)
    sides = [size * block for size, block in zip(x.shape[1:], block_shape, strict=False)]
    image = np.zeros((len(parts[0]), *sides, *x.shape[spatial + 1 :]), x.dtype)
    for places, part in zip(_offsets(block_shape), parts, strict=True):
        image[(slice(None), *places)] = part
    kept = [slice(before, side - after) for side, (before, after) in zip(sides, crops, strict=True)]
    return image[(slice(None), *kept)]


# ---------------------------------------------------------------------------------- space and batch

space_to_batch_nd_op = Op(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    Tblock_shape=INDEX,
    Tpaddings=INDEX,
    host="block_shape, paddings",
)
space_to_batch_nd_op.shape(space_to_batch_sizes)
space_to_batch_nd_op.kernel(_to_batch)


@space_to_batch_nd_op.gradient
def _space_to_batch_nd_gradient(op, grad):
    return [batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None]


space_to_batch_nd_op.samples(
    (f32(2, 4, 4, 1), *int32s([2, 2], [[0, 0], [2, 0]])),
    (i32(1, 6), *int32s([3], [[0, 0]])),
    (f32(2, 3, 2), *int32s([2, 1], [[1, 0], [0, 0]])),
    against=_apart,
)
space_to_batch_nd_op.refuses((f32(2, 5), *int32s([2], [[0, 0]])), "evenly divisible by 2 but is 5")
space_to_batch_nd_op.refuses((f32(2, 4), *int32s([0], [[0, 0]])), "block_shape must be positive")


@export("space_to_batch_nd", "manip.space_to_batch_nd")
def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Takes the blocks of images apart: each offset in a block becomes an image of its own, further along the
    batch.

    Args:
      input: A tensor [batch, spatial axes, rest].
      block_shape: The sizes of a block, a vector of integers, one for each spatial axis.
      paddings: How many zeros to put before and after each spatial axis, a matrix with 2 columns. Padded
        sizes must be multiples of those of a block.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input`, with the spatial sizes divided by those of a block and the batch
      multiplied by them.
    """
    return space_to_batch_nd_op(input, block_shape, paddings, name=name)


def _cropped(size: int | None, crops: list[int]) -> int | None:
    if size is not None and sum(crops) > size:
        raise ShapeError(
            f"Negative dimension size caused by subtracting {sum(crops)} from {size}",
            f"cropped_shape[{size - sum(crops)}] must be non-negative",
        )
    return None if size is None else size - sum(crops)


def batch_to_space_sizes(input: TensorShape, block_shape: Any, crops: Any) -> list | None:
    """The shape of an image whose blocks are put together."""
    known = _checked_blocks(block_shape, crops, "crops")
    if known is None or input.tuple is None:
        return _sizes_beside_margins(input, block_shape, lambda batch, *blocks: _parts(batch, blocks))
    blocks, margins = known
    of_rank_at_least(input, len(blocks) + 1)
    batch, *rest = input.tuple
    spatial = [
        _cropped(size_product(size, block), pair)
        for size, block, pair in zip(rest, blocks, margins, strict=False)
    ]
    return [_parts(batch, blocks), *spatial, *rest[len(blocks) :]]


def _parts(batch: int | None, blocks: Sequence[int]) -> int | None:
    """How many images a batch of their parts makes."""
    size = math.prod(blocks)
    said = f"Input batch dimension ({batch}) is not divisible by product of block sizes ({size})"
    return _divided(batch, size, said)


def _to_space(input: Any, block_shape: list[int], crops: list[list[int]]) -> Any:
    """The inverse of `_to_batch`, then without the margins."""
    rank = len(block_shape)
    batch, *sizes = batch_to_space_sizes(TensorShape(tuple(input.shape)), block_shape, crops)
    whole = [n * b for n, b in zip(input.shape[1:], block_shape, strict=False)]
    image = input.new_empty([batch, *whole, *input.shape[rank + 1 :]])
    for part, places in zip(
        input.unflatten(0, [math.prod(block_shape), batch]).unbind(), _offsets(block_shape), strict=True
    ):
        image[(slice(None), *places)] = part
    inside = [slice(before, before + n) for (before, _), n in zip(crops, sizes, strict=False)]
    return image[(slice(None), *inside)]


batch_to_space_nd_op = Op(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    Tblock_shape=INDEX,
    Tcrops=INDEX,
    host="block_shape, crops",
)
batch_to_space_nd_op.shape(batch_to_space_sizes)
batch_to_space_nd_op.kernel(_to_space)


@batch_to_space_nd_op.gradient
def _batch_to_space_nd_gradient(op, grad):
    return [space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None]


batch_to_space_nd_op.samples(
    (f32(4, 2, 2, 1), *int32s([2, 2], [[0, 1], [0, 0]])),
    (i32(3, 2), *int32s([3], [[0, 0]])),
    against=_together,
)
batch_to_space_nd_op.refuses((f32(3, 4), *int32s([2], [[0, 0]])), "evenly divisible by 2 but is 3")


@export("batch_to_space_nd", "manip.batch_to_space_nd")
def batch_to_space_nd(
    input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None
) -> Tensor:
    """Puts images together from parts of the batch, one for each offset in a block. The inverse of
    `space_to_batch_nd`.

    Args:
      input: A tensor [batch, spatial axes, rest]; the size of the batch must be a multiple of the size of a
        block.
      block_shape: The sizes of a block, a vector of integers, one for each spatial axis.
      crops: How much to cut off before and after each spatial axis of the result, a matrix with 2 columns.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input`.
    """
    return batch_to_space_nd_op(input, block_shape, crops, name=name)


space_to_batch_op = Op(
    "SpaceToBatch",
    "input: T, paddings: Tpaddings -> output: T",
    Tpaddings=INDEX,
    block_size=attr("int", minimum=2),
    host="paddings",
)


@space_to_batch_op.shape
def _space_to_batch_shape(input, paddings, *, block_size):
    return space_to_batch_sizes(_image(input), [block_size] * 2, paddings)


@space_to_batch_op.kernel
def _space_to_batch_kernel(input, paddings, *, block_size):
    return _to_batch(input, [block_size] * 2, paddings)


@space_to_batch_op.gradient
def _space_to_batch_gradient(op, grad):
    return [batch_to_space_op(grad, op.inputs[1], block_size=op.attrs["block_size"]), None]


space_to_batch_op.samples(
    (f32(1, 4, 4, 2), *int32s([[0, 0], [2, 0]]), {"block_size": 2}),
    against=lambda x, paddings, block_size: _apart(x, [block_size] * 2, paddings),
)


def _as_images(tensor: Tensor) -> Tensor:
    """The tensor, known to have the four axes of images."""
    tensor.set_shape(tensor.shape.with_rank(4))
    return tensor


@export("space_to_batch", "nn.space_to_batch")
def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: TensorLike | None = None,
) -> Tensor:
    """`space_to_batch_nd` of images [batch, height, width, channels] with square blocks.

    Args:
      input: A tensor of rank 4.
      paddings: How many zeros to put before and after height and width, a matrix [2, 2].
      block_size: The deprecated name of `block_shape`.
      name: A name for the operation.
      block_shape: The side of a block, an integer of at least 2.

    Returns:
      A tensor of the type of `input`.
    """
    block_size = renamed("block_shape", block_shape, "block_size", block_size)
    return _as_images(space_to_batch_nd(input, np.array([block_size] * 2), paddings, name=name))


batch_to_space_op = Op(
    "BatchToSpace",
    "input: T, crops: Tidx -> output: T",
    block_size=attr("int", minimum=2),
    Tidx=INDEX,
    host="crops",
)


@batch_to_space_op.shape
def _batch_to_space_shape(input, crops, *, block_size):
    return batch_to_space_sizes(_image(input), [block_size] * 2, crops)


@batch_to_space_op.kernel
def _batch_to_space_kernel(input, crops, *, block_size):
    return _to_space(input, [block_size] * 2, crops)


@batch_to_space_op.gradient
def _batch_to_space_gradient(op, grad):
    return [space_to_batch_op(grad, op.inputs[1], block_size=op.attrs["block_size"]), None]


batch_to_space_op.samples(
    (f32(4, 2, 2, 1), *int32s([[0, 1], [0, 0]]), {"block_size": 2}),
    against=lambda x, crops, block_size: _together(x, [block_size] * 2, crops),
)


@export("batch_to_space")
def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: int | None,
    name: str | None = None,
    block_shape: TensorLike | None = None,
) -> Tensor:
    """`batch_to_space_nd` of images [batch, height, width, channels] with square blocks.

    Args:
      input: A tensor of rank 4.
      crops: How much to cut off before and after height and width, a matrix [2, 2].
      block_size: The deprecated name of `block_shape`.
      name: A name for the operation.
      block_shape: The side of a block, an integer of at least 2.

    Returns:
      A tensor of the type of `input`.
    """
    block_size = renamed("block_shape", block_shape, "block_size", block_size)
    return _as_images(batch_to_space_nd(input, np.array([block_size] * 2), crops, name=name))


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Finds the paddings that make blocks fit an image.

    Args:
      input_shape: The sizes of the spatial axes, a vector of type int32.
      block_shape: The sizes of a block, a vector of the same length, which must be known.
      base_paddings: The least paddings, a matrix with 2 columns; by default none.
      name: A name for the scope of the operations.

    Returns:
      The paddings for `space_to_batch_nd`, and the crops with which `batch_to_space_nd` takes off again what
      they add to `base_paddings`.

    Raises:
      ValueError: If the length of `block_shape` is not known.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        count = of_rank(block_shape.shape, 1).tuple[0]
        if count is None:
            raise ValueError("block_shape must have a known number of elements")
        if not count:
            return creation.zeros([0, 2], dtypes.int32), creation.zeros([0, 2], dtypes.int32)
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is None:
            base_paddings = creation.zeros([count, 2], dtypes.int32)
        else:
            base_paddings = convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base_paddings.shape.assert_is_compatible_with([count, 2])
        known = [partial_value(tensor) for tensor in (block_shape, base_paddings, input_shape)]
        if fully_known(known):
            blocks, margins, sizes = (np.array(value) for value in known)
            starts, ends = margins[:, 0], margins[:, 1]
            missing = (blocks - (sizes + starts + ends) % blocks) % blocks
            ends = ends + missing
        else:
            starts, ends, missing = _margins_in_graph(input_shape, block_shape, base_paddings)
        paddings = [[starts[i], ends[i]] for i in range(count)]
        paddings = convert_to_tensor(paddings, dtype=dtypes.int32, name="paddings")
        crops = [[0, missing[i]] for i in range(count)]
        return paddings, convert_to_tensor(crops, dtype=dtypes.int32, name="crops")


def _margins_in_graph(sizes: Tensor, blocks: Tensor, margins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    starts, ends = margins[:, 0], margins[:, 1]
    missing = (blocks - (sizes + starts + ends) % blocks) % blocks
    return starts, ends + missing, missing


# ---------------------------------------------------------------------------------- space and depth

_FORMAT = attr("string", "NHWC", allowed=("NHWC", "NCHW", "NCHW_VECT_C"))
_SIZE = attr("int", minimum=2)


def _places(data_format: str) -> tuple[int, int, int]:
    """The axes of height, width and channels."""
    return (2, 3, 1) if data_format.startswith("NC") else (1, 2, 3)


def _four(input: TensorShape, data_format: str) -> TensorShape:
    if data_format == "NCHW_VECT_C":
        raise ShapeError(
            "data_format NCHW_VECT_C is for quantized images on special hardware; use NHWC or NCHW"
        )
    return of_rank(input, 4)


def _as_nhwc(input: Any, data_format: str) -> Any:
    return input if data_format == "NHWC" else input.permute(0, 2, 3, 1)


def _from_nhwc(output: Any, data_format: str) -> Any:
    return output if data_format == "NHWC" else output.permute(0, 3, 1, 2)


def _checked_image(input: Any, data_format: str) -> Any:
    if input.ndim != 4:
        raise errors.invalid_argument(f"Input rank should be: 4 instead of: {input.ndim}")
    return input


def _spatial_index(data_format: str, places: tuple[slice, slice]) -> tuple:
    """An index of these rows and columns of images."""
    return (slice(None), slice(None), *places) if data_format == "NCHW" else (slice(None), *places)


def _offsets_as_channels(x: np.ndarray, block_size: int, data_format: str) -> np.ndarray:
    parts = [x[_spatial_index(data_format, places)] for places in _offsets([block_size] * 2)]
    return np.concatenate(parts, _places(data_format)[2])


def _channels_as_offsets(x: np.ndarray, block_size: int, data_format: str) -> np.ndarray:
    height, width, depth = _places(data_format)
    parts = np.split(x, block_size * block_size, depth)
    sizes = list(parts[0].shape)
    sizes[height], sizes[width] = sizes[height] * block_size, sizes[width] * block_size
    image = np.zeros(sizes, x.dtype)
    for places, part in zip(_offsets([block_size] * 2), parts, strict=True):
        image[_spatial_index(data_format, places)] = part
    return image


def _block_attrs(op: Any) -> dict[str, Any]:
    return {key: op.attrs[key] for key in ("block_size", "data_format")}


space_to_depth_op = Op("SpaceToDepth", "input: T -> output: T", block_size=_SIZE, data_format=_FORMAT)


@space_to_depth_op.shape
def _space_to_depth_shape(input, *, block_size, data_format):
    sizes = list(_four(input, data_format).tuple)
    height, width, depth = _places(data_format)
    said = f"Image width {sizes[width]} and height {sizes[height]} should be divisible by block_size: "
    f"{block_size}"
    sizes[height], sizes[width] = (_divided(sizes[axis], block_size, said) for axis in (height, width))
    sizes[depth] = size_product(sizes[depth], block_size, block_size)
    return sizes


@space_to_depth_op.kernel
def _space_to_depth_kernel(input, *, block_size, data_format):
    image = _as_nhwc(_checked_image(input, data_format), data_format)
    batch, height, width, depth = image.shape
    rows, columns = _divided(height, block_size), _divided(width, block_size)
    cells = image.reshape(batch, rows, block_size, columns, block_size, depth).permute(0, 1, 3, 2, 4, 5)
    return _from_nhwc(cells.reshape(batch, rows, columns, block_size * block_size * depth), data_format)


space_to_depth_op.kernel("string")(by_places(space_to_depth_op.kernels[""]))


@space_to_depth_op.gradient
def _space_to_depth_gradient(op, grad):
    return depth_to_space_op(grad, **_block_attrs(op))


space_to_depth_op.samples(
    (f32(2, 4, 4, 1), {"block_size": 2}),
    (f32(1, 2, 4, 6), {"block_size": 2, "data_format": "NCHW"}),
    against=_offsets_as_channels,
)
space_to_depth_op.refuses((f32(1, 3, 2, 1), {"block_size": 2}), "evenly divisible by 2 but is 3")


@export("space_to_depth", "nn.space_to_depth")
def space_to_depth(
    input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Makes each square block of an image one place with as many more channels.

    Args:
      input: Images, a tensor of rank 4 whose height and width are multiples of `block_size`.
      block_size: The side of a block, an integer of at least 2.
      name: A name for the operation.
      data_format: The order of the axes, "NHWC" or "NCHW".

    Returns:
      A tensor of the type of `input`; the offset in a block is the slower part of the channels.
    """
    return space_to_depth_op(input, block_size=block_size, data_format=data_format, name=name)


depth_to_space_op = Op("DepthToSpace", "input: T -> output: T", block_size=_SIZE, data_format=_FORMAT)


@depth_to_space_op.shape
def _depth_to_space_shape(input, *, block_size, data_format):
    sizes = list(_four(input, data_format).tuple)
    height, width, depth = _places(data_format)
    sizes[height], sizes[width] = (size_product(sizes[axis], block_size) for axis in (height, width))
    blocks = block_size * block_size
    said = f"Input depth dimension {sizes[depth]} should be divisible by: {blocks}"
    sizes[depth] = _divided(sizes[depth], blocks, said)
    return sizes


@depth_to_space_op.kernel
def _depth_to_space_kernel(input, *, block_size, data_format):
    image = _as_nhwc(_checked_image(input, data_format), data_format)
    batch, rows, columns, channels = image.shape
    depth = _divided(channels, block_size * block_size)
    cells = image.reshape(batch, rows, columns, block_size, block_size, depth).permute(0, 1, 3, 2, 4, 5)
    return _from_nhwc(cells.reshape(batch, rows * block_size, columns * block_size, depth), data_format)


depth_to_space_op.kernel("string")(by_places(depth_to_space_op.kernels[""]))


@depth_to_space_op.gradient
def _depth_to_space_gradient(op, grad):
    return space_to_depth_op(grad, **_block_attrs(op))


depth_to_space_op.samples(
    (f32(2, 2, 1, 4), {"block_size": 2}),
    (f32(1, 8, 2, 3), {"block_size": 2, "data_format": "NCHW"}),
    against=_channels_as_offsets,
)
depth_to_space_op.refuses((f32(1, 2, 2, 3), {"block_size": 2}), "evenly divisible by 4 but is 3")


@export("depth_to_space", "nn.depth_to_space")
def depth_to_space(
    input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Spreads the channels of each place of an image over a square block. The inverse of `space_to_depth`.

    Args:
      input: Images, a tensor of rank 4 whose channels are a multiple of `block_size` squared.
      block_size: The side of a block, an integer of at least 2.
      name: A name for the operation.
      data_format: The order of the axes, "NHWC" or "NCHW".

    Returns:
      A tensor of the type of `input`.
    """
    return depth_to_space_op(input, block_size=block_size, data_format=data_format, name=name)
