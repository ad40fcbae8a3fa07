"""Pooling: what all pools share, and the maximum of each window of an image with its gradients.

A maximum's gradient goes to the first place where its window has it. ATen keeps those places from the forward
pass; TensorFlow's gradient ops get only the input and the output, so they find them again, unless a rewrite
has paired them with the pool (see `_MaxPoolIndices`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.helpers import flops
from tideflow.ops.helpers.arguments import per_axis, renamed
from tideflow.ops.helpers.axes import merged, of_rank, of_size, vector
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import REAL, types
from tideflow.ops.nn.pool_kernels import (
    max_pool_back,
    max_pool_back_again,
    max_pool_back_finding,
    max_pool_places,
    max_pool_values,
    pool_arguments,
)
from tideflow.ops.nn.windows import Window, channels, has_channels_first, image_shape, spatial, windows_of

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_MAX_TYPES = types("half bfloat16 float double int32 int64 uint8 int16 int8 uint16 qint8")
_EXPLICIT = {
    "padding": attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    "explicit_paddings": attr("list(int)", []),
}
WINDOW = {"ksize": attr("list(int)", minimum=4), "strides": attr("list(int)", minimum=4)}
PLANES = {"data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW"))}
SIMPLE = {"padding": attr("string", allowed=("SAME", "VALID"))}
WINDOW_3D = {"ksize": attr("list(int)", minimum=5), "strides": attr("list(int)", minimum=5), **SIMPLE}
VOLUMES = {"data_format": attr("string", "NDHWC", allowed=("NDHWC", "NCDHW"))}
_PLANES_VECT = {"data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW", "NCHW_VECT_C"))}


def _float_by_default(allowed: tuple) -> Any:
    return attr("type", "float", allowed=allowed)


def geometry(op: Operation, target: Op) -> dict[str, Any]:
    """The attributes that the op shares with another op of its family."""
    names = ("ksize", "strides", "padding", "explicit_paddings", "data_format", "include_batch_in_index")
    return {name: op.attrs[name] for name in names if name in op.attrs and name in target.attrs}


def _depth_pooled_shape(image: tuple, ksize: list[int], strides: list[int], data_format: str) -> list:
    """What a step refuses, as in TensorFlow, has some shape in the graph."""
    size, depth = channels(ksize, data_format), channels(image, data_format)
    kept = all(width == 1 for width in (*spatial(ksize, data_format), *spatial(strides, data_format)))
    sizes = spatial(image, data_format) if kept else [None] * (len(image) - 2)
    divides = depth is not None and channels(strides, data_format) == size and not depth % size
    return image_shape(image[0], sizes, depth // size if divides else None, data_format)


def _check_depth_window(depth: int, ksize: Sequence[int], strides: Sequence[int], data_format: str) -> None:
    size = channels(ksize, data_format)
    if any(width != 1 for width in spatial(ksize, data_format)):
        raise errors.unimplemented(
            "MaxPooling supports exactly one of pooling across depth or pooling across width/height, got "
            f"ksize {list(ksize)}"
        )
    if depth % size:
        raise errors.unimplemented(
            "Depthwise max pooling requires the depth window to evenly divide the input depth, got "
            f"{size} and {depth}"
        )
    if channels(strides, data_format) != size:
        raise errors.unimplemented(
            "Depthwise max pooling requires the depth window to equal the depth stride, got "
            f"{size} and {channels(strides, data_format)}"
        )


def _other_rank(data_format: str, input: TensorShape) -> str:
    """What TensorFlow's kernels say of images of another rank."""
    if len(data_format) == 4:
        return f"tensor_in_shape must have 2 spatial dimensions. {input.ndims} {data_format}"
    return f"tensor_in must be {len(data_format)}-dimensional"


def pooled_shape(
    input: TensorShape,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str,
    explicit_paddings: Sequence[int] = (),
    *,
    depth_too: bool = False,
    in_step: bool = False,
) -> list:
    """The shape of a pooled image; only a maximum may go over channels too. `in_step` as in `Window`."""
    if data_format == "NCHW_VECT_C":
        *planes, quads = of_rank(input, 5).tuple
        inner = as_shape(planes), ksize, strides, padding, "NCHW", explicit_paddings
        return [*pooled_shape(*inner, in_step=in_step), quads]
    image = of_rank(input, len(data_format), _other_rank(data_format, input)).tuple
    if ksize is None or strides is None or None in ksize or None in strides:
        return image_shape(image[0], [None] * (len(image) - 2), None, data_format)
    if len(ksize) != len(image):
        raise ShapeError(f"The ksize attribute must contain {len(image)} values, but got: {len(ksize)}")
    if min(ksize) <= 0:
        raise ShapeError(f"Sliding window ksize must be > 0, got {list(ksize)}")
    if ksize[0] != 1:
        raise ShapeError("Pooling is not yet supported on the batch dimension.")
    depth = channels(image, data_format)
    if channels(ksize, data_format) != 1:
        if not depth_too:
            raise ShapeError(
                f"Non-spatial pooling is not yet supported, got ksize {list(ksize)}. Volunteers? :)"
            )
        return _depth_pooled_shape(image, ksize, strides, data_format)
    window = Window.of(spatial(ksize, data_format), data_format, strides, padding, None, explicit_paddings)
    places = window.output_sizes(spatial(image, data_format), in_step)
    return image_shape(image[0], places, depth, data_format)


def empty_pool(
    image: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
    explicit_paddings: Sequence[int] = (),
) -> list | None:
    """The shape of a pooled image that has no elements, which ATen refuses; None of any other image."""
    given = as_shape([size if isinstance(size, int) else None for size in image])  # not so of symbols
    shape = pooled_shape(given, ksize, strides, padding, data_format, explicit_paddings, in_step=True)
    return shape if 0 in shape else None


def planned_pool(node: Any, image: Any) -> tuple | None:
    """The arguments for a plan; None where the shape is unknown or empty, or the pool is an unusual one."""
    attrs = node.attrs
    data_format = attrs.get("data_format", "NHWC")
    if (
        not image.shape.num_elements()
        or data_format == "NCHW_VECT_C"
        or channels(attrs["ksize"], data_format) != 1
    ):
        return None
    sizes, explicit = image.shape.tuple, attrs.get("explicit_paddings", ())
    window = attrs["ksize"], attrs["strides"], attrs["padding"]
    if empty_pool(sizes, *window, data_format, explicit):
        return None
    return pool_arguments(sizes, data_format, *window, explicit)


def sliding_window(ksize: Any, strides: Any, data_format: str, spatial_rank: int) -> dict[str, Any]:
    """The attributes of a window given in short."""
    first = has_channels_first(data_format)
    return {
        "ksize": per_axis(ksize, spatial_rank, first, "ksize"),
        "strides": per_axis(strides, spatial_rank, first, "strides"),
        "data_format": data_format,
    }


def windows_in(
    images: np.ndarray,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
    explicit_paddings: Sequence[int] = (),
    fill: float = np.nan,
) -> np.ndarray:
    """What the window sees, [batch, *places, elements, channels]: the references of pools are made of it."""
    images = np.moveaxis(images, 1, -1) if has_channels_first(data_format) else images
    sizes = spatial(ksize, data_format)
    pairs = spatial(list(zip(explicit_paddings[::2], explicit_paddings[1::2])), data_format)
    windows = windows_of(images, sizes, spatial(strides, data_format), pairs or padding, fill=fill)
    return windows.reshape(*windows.shape[: -len(sizes) - 1], math.prod(sizes), images.shape[-1])


def in_format(pooled: np.ndarray, data_format: str) -> np.ndarray:
    """Pooled images, whose channels are last, in the order of the format."""
    return np.moveaxis(pooled, -1, 1) if has_channels_first(data_format) else pooled


# The images are odd: more padding comes after than before.
HALVES = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
SLIDING = {"ksize": [1, 2, 3, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
INSIDE = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 2, 1], "padding": "VALID"}
FIRST = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}
_AROUND = {**HALVES, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 0, 1, 1, 0, 0, 0]}
VOLUME_HALVES = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
VOLUME_SLIDING = {"ksize": [1, 2, 1, 3, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}


# ---------------------------------------------------------------------------- the maximum


def _max_pool_shape(input, *, ksize, strides, padding, data_format, explicit_paddings=(), in_step=False):
    window = ksize, strides, padding, data_format, explicit_paddings
    return pooled_shape(input, *window, depth_too=True, in_step=in_step)


def _depth_maximum(
    input: torch.Tensor, ksize: Sequence[int], strides: Sequence[int], data_format: str
) -> torch.Tensor:
    _check_depth_window(channels(input.shape, data_format), ksize, strides, data_format)
    axis = 1 if has_channels_first(data_format) else input.ndim - 1
    return input.unflatten(axis, (-1, channels(ksize, data_format))).amax(axis + 1)


def _max_pool(input, ksize, strides, padding, data_format, explicit_paddings):
    if data_format == "NCHW_VECT_C":
        planes = input.permute(0, 1, 4, 2, 3).flatten(1, 2)
        result = _max_pool(planes, ksize, strides, padding, "NCHW", explicit_paddings)
        return result.unflatten(1, (-1, input.shape[-1])).permute(0, 1, 3, 4, 2)
    if channels(ksize, data_format) != 1:
        return _depth_maximum(input, ksize, strides, data_format)
    if shape := empty_pool(input.shape, ksize, strides, padding, data_format, explicit_paddings):
        return input.new_zeros(shape)
    return max_pool_values(
        input, *pool_arguments(input.shape, data_format, ksize, strides, padding, explicit_paddings)
    )


def _max_pool_kernel(input, *, ksize, strides, padding, data_format, explicit_paddings=()):
    return _max_pool(input, ksize, strides, padding, data_format, explicit_paddings)


def _max_pool_specialized(node):
    image = node.inputs[0]
    planned = planned_pool(node, image)
    return None if planned is None else (max_pool_values, [image, *planned])


def _spread(*sizes: int) -> np.ndarray:
    """Elements far enough from each other that no small step changes which is the maximum."""
    return np.random.default_rng(0).permutation(math.prod(sizes)).reshape(sizes).astype(np.float32) / 2


def maximum_reference(input, ksize, strides, padding, data_format="NHWC", explicit_paddings=()):
    """The maximum of each window in NumPy."""
    windows = windows_in(input, ksize, strides, padding, data_format, explicit_paddings, -np.inf)
    return in_format(windows.max(-2), data_format)


def _maximum_grad_reference(
    orig_input, orig_output, grad, ksize, strides, padding, data_format="NHWC", explicit_paddings=()
):
    window = ksize, strides, padding, data_format, explicit_paddings
    return pulled_back(lambda image: maximum_reference(image, *window), orig_input, grad)


def _maximum_grad_grad_reference(orig_input, orig_output, grad, ksize, strides, padding, data_format="NHWC"):
    window = ksize, strides, padding, data_format, (), -np.inf
    image, moved = windows_in(orig_input, *window), windows_in(grad, *window)
    return np.take_along_axis(moved, image.argmax(-2)[..., None, :], -2).squeeze(-2)


max_pool_op = Op(
    "MaxPool",
    "input: T -> output: T",
    T=_float_by_default(_MAX_TYPES),
    **WINDOW,
    **_EXPLICIT,
    **_PLANES_VECT,
)
max_pool_op.shape(_max_pool_shape)
max_pool_op.kernel(_max_pool_kernel)
max_pool_op.specialize(_max_pool_specialized)


@max_pool_op.gradient
def _max_pool_gradient(op, grad):
    return max_pool_grad_op(op.inputs[0], op.outputs[0], grad, **geometry(op, max_pool_grad_op))


max_pool_op.flops(flops.pooling)
max_pool_op.samples(
    (f32(2, 5, 4, 3), HALVES),
    (f32(1, 4, 5, 2), SLIDING),
    (f32(1, 4, 4, 2), INSIDE),
    (f32(1, 2, 5, 4), FIRST),
    (f32(1, 4, 5, 1), _AROUND),
    (f32(0, 4, 4, 2), INSIDE),
    against=maximum_reference,
)
max_pool_op.refuses((f32(1, 5, 5, 3), {**INSIDE, "ksize": [1, 7, 2, 1]}), "subtracting 7 from 5")
max_pool_op.refuses((f32(1, 5, 5), HALVES), "Shape must be rank 4 but is rank 3")
max_pool_op.refuses((f32(1, 5, 5, 3), {**INSIDE, "ksize": [2, 2, 2, 1]}), "batch dimension")


@export("nn.max_pool")
def max_pool(
    value: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Computes the maximum of each window of images.

    Args:
      value: Images [batch, height, width, channels] of a real type or qint8; `data_format` may put the
        channels second.
      ksize: The window's size: one number, two (height, width), or four in the order of `data_format`.
      strides: How far the window moves from place to place: one, two or four numbers as for `ksize`.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      data_format: "NHWC" (the default: batch, height, width, channels), "NCHW" or "NCHW_VECT_C".
      name: A name for the operation.
      input: Another name of `value`.

    Returns:
      Images of the type of `value` with a place for each position of the window.

    Raises:
      ValueError: Where the window is larger than the images, or where it is empty.
    """
    value = renamed("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        window = sliding_window(ksize, strides, data_format or "NHWC", 2)
        if 0 in window["ksize"]:
            raise ValueError("ksize cannot be zero.")
        return max_pool_op(value, padding=padding, name=name, **window)


@export("nn.max_pool2d")
def max_pool2d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Computes the maximum of each window of images.

    Args:
      input: Images [batch, height, width, channels] of a real type or qint8; `data_format` may put the
        channels second.
      ksize: The window's size: one number, two (height, width), or four in the order of `data_format`.
      strides: How far the window moves from place to place: one, two or four numbers as for `ksize`.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      data_format: "NHWC" (the default: batch, height, width, channels), "NCHW" or "NCHW_VECT_C".
      name: A name for the operation.

    Returns:
      Images of the type of `input` with a place for each position of the window.

    Raises:
      ValueError: Where the window is larger than the images.
    """
    with name_scope(name, "MaxPool2d", [input]) as name:
        return max_pool_op(
            input, padding=padding, name=name, **sliding_window(ksize, strides, data_format or "NHWC", 2)
        )


def _without_ksize(attrs: dict[str, Any]) -> tuple:
    rest = {name: value for name, value in attrs.items() if name not in ("ksize", "strides")}
    return attrs["ksize"], attrs["strides"], rest


def _check_lengths(**windows: Any) -> None:
    """A window that comes as an input has four sizes."""
    for name, sizes in windows.items():
        said = f"Sliding window {name} field must specify 4 dimensions"
        if vector(sizes, f"{said}: ") is not None:
            of_size(len(sizes), 4, said)


max_pool_v2_op = Op(
    "MaxPoolV2",
    "input: T, ksize: int32, strides: int32 -> output: T",
    host="ksize strides",
    T=_float_by_default(_MAX_TYPES),
    **SIMPLE,
    **_PLANES_VECT,
)


@max_pool_v2_op.shape
def _max_pool_v2_shape(input, ksize, strides, *, padding, data_format, in_step=False):
    _check_lengths(ksize=ksize, stride=strides)
    return pooled_shape(input, ksize, strides, padding, data_format, depth_too=True, in_step=in_step)


@max_pool_v2_op.kernel
def _max_pool_v2_kernel(input, ksize, strides, *, padding, data_format):
    return _max_pool(input, ksize, strides, padding, data_format, ())


@max_pool_v2_op.gradient
def _max_pool_v2_gradient(op, grad):
    image, ksize, strides = op.inputs
    window = geometry(op, max_pool_grad_v2_op)
    return max_pool_grad_v2_op(image, op.outputs[0], grad, ksize, strides, **window), None, None


max_pool_v2_op.samples(
    (f32(1, 5, 4, 3), *_without_ksize(HALVES)),
    (f32(1, 2, 5, 4), *_without_ksize(FIRST)),
    against=maximum_reference,
)

_FLOAT_VOLUMES = types("half bfloat16 float")


max_pool3d_op = Op("MaxPool3D", "input: T -> output: T", T=_FLOAT_VOLUMES, **WINDOW_3D, **VOLUMES)
max_pool3d_op.shape(_max_pool_shape)
max_pool3d_op.kernel(_max_pool_kernel)
max_pool3d_op.specialize(_max_pool_specialized)


@max_pool3d_op.gradient
def _max_pool3d_gradient(op, grad):
    return max_pool3d_grad_op(op.inputs[0], op.outputs[0], grad, **geometry(op, max_pool3d_grad_op))


max_pool3d_op.samples(
    (_spread(1, 3, 4, 3, 2), VOLUME_HALVES),
    (_spread(1, 3, 2, 4, 1), VOLUME_SLIDING),
    against=maximum_reference,
)


@export("nn.max_pool3d")
def max_pool3d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Computes the maximum of each window of volumes.

    Args:
      input: Volumes [batch, depth, height, width, channels] of type float32, half or bfloat16; `data_format`
        may put the channels second.
      ksize: The window's size: one number, three (depth, height, width), or five in the order of
        `data_format`.
      strides: How far the window moves from place to place: one, three or five numbers as for `ksize`.
      padding: "SAME" (the window begins at every stride-th element and may reach over the edge) or "VALID"
        (it stays inside).
      data_format: "NDHWC" (the default: batch, depth, height, width, channels) or "NCDHW".
      name: A name for the operation.

    Returns:
      Volumes of the type of `input` with a place for each position of the window.

    Raises:
      ValueError: Where the window is larger than the volumes.
    """
    with name_scope(name, "MaxPool3D", [input]) as name:
        window = sliding_window(ksize, strides, data_format or "NDHWC", 3)
        return max_pool3d_op(input, padding=padding, name=name, **window)


_GRAD = "orig_input: T, orig_output: T, grad: T -> output: T"


def _zeros_like(tensor: Tensor) -> Tensor:
    return creation.zeros(shapes.shape(tensor), dtype=tensor.dtype)


def _max_pool_grad_shape(
    orig_input, orig_output, grad, *, ksize, strides, padding, data_format, explicit_paddings=()
):
    window = ksize, strides, padding, data_format, explicit_paddings
    pooled = pooled_shape(orig_input, *window, depth_too=True, in_step=True)
    merged(as_shape(pooled), merged(orig_output, grad))
    return of_rank(orig_input, len(data_format))


def _check_ranks(data_format: str, **images: torch.Tensor) -> None:
    for name, image in images.items():
        if image.ndim != len(data_format):
            raise ShapeError(f"{name} must be {len(data_format)}-dimensional, not {list(image.shape)}")


def _check_same_shape(name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    if tensor.shape != other.shape:
        raise ShapeError(
            f"Expected {other_name} shape to be {list(tensor.shape)} as {name}'s, but got {list(other.shape)}"
        )


def _check_window(ksize: Any, strides: Any, data_format: str) -> None:
    """The window of a gradient must have a size along each axis, and none but 1 along channels."""
    for name, sizes in (("ksize", ksize), ("strides", strides)):
        if not isinstance(sizes, Sequence) or len(sizes) != len(data_format):
            raise ShapeError(
                f"Sliding window {name} field must specify {len(data_format)} dimensions, but is {sizes}"
            )
    if channels(ksize, data_format) != 1 or channels(strides, data_format) != 1:
        raise errors.unimplemented(
            "MaxPoolingGrad is not yet supported on the depth dimension. "
            f"ksize {list(ksize)} and strides {list(strides)} were given."
        )


def _max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format, explicit_paddings):
    _check_ranks(data_format, tensor_in=orig_input, tensor_out=orig_output, out_backprop=grad)
    _check_window(ksize, strides, data_format)
    _check_same_shape("orig_output", orig_output, "grad", grad)
    if not orig_input.numel() or not grad.numel():
        return torch.zeros_like(orig_input, dtype=grad.dtype)
    arguments = pool_arguments(orig_input.shape, data_format, ksize, strides, padding, explicit_paddings)
    return max_pool_back_finding(orig_input.to(grad.dtype), grad, *arguments)


def _max_pool_grad_kernel(
    orig_input, orig_output, grad, *, ksize, strides, padding, data_format, explicit_paddings=()
):
    return _max_pool_grad(
        orig_input, orig_output, grad, ksize, strides, padding, data_format, explicit_paddings
    )


def _max_pool_grad_specialized(node):
    image, _, grad = node.inputs
    planned = planned_pool(node, image)
    if planned is None or image.dtype != grad.dtype:
        return None
    return max_pool_back_finding, [image, grad, *planned]


def _second_gradient(op: Operation, grad: Tensor, target: Op, *sizes: Tensor) -> tuple:
    if op.attrs["padding"] == "EXPLICIT":
        raise LookupError(f"The gradient of {op.type} '{op.name}' is not defined for explicit paddings")
    image, pooled = op.inputs[:2]
    by_grad = target(image, pooled, grad, *sizes, **geometry(op, target))
    return _zeros_like(image), _zeros_like(pooled), by_grad, *[None for _ in sizes]


max_pool_grad_op = Op("MaxPoolGrad", _GRAD, T=_float_by_default(REAL), **WINDOW, **_EXPLICIT, **PLANES)
max_pool_grad_op.shape(_max_pool_grad_shape)
max_pool_grad_op.kernel(_max_pool_grad_kernel)
max_pool_grad_op.specialize(_max_pool_grad_specialized)
max_pool_grad_op.gradient(lambda op, grad: _second_gradient(op, grad, max_pool_grad_grad_op))


@max_pool_grad_op.flops
def _max_pool_grad_flops(op):
    flops.check_format(op)
    return (math.prod(op.attrs["ksize"]) + 1) * flops.size(op.inputs[1])


max_pool_grad_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 3, 2, 2), HALVES),
    (f32(1, 4, 5, 1), f32(1, 4, 5, 1), f32(1, 4, 5, 1), SLIDING),
    (f32(1, 4, 5, 1), f32(1, 2, 3, 1), f32(1, 2, 3, 1), _AROUND),
    against=_maximum_grad_reference,
)

_GRAD_V2 = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T"

max_pool_grad_v2_op = Op(
    "MaxPoolGradV2", _GRAD_V2, host="ksize strides", T=_float_by_default(REAL), **SIMPLE, **PLANES
)


@max_pool_grad_v2_op.shape
def _max_pool_grad_v2_shape(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    _check_lengths(ksize=ksize, strides=strides)
    pooled = pooled_shape(orig_input, ksize, strides, padding, data_format, depth_too=True, in_step=True)
    merged(as_shape(pooled), merged(orig_output, grad))
    return of_rank(orig_input, 4)


@max_pool_grad_v2_op.kernel
def _max_pool_grad_v2_kernel(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    return _max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format, ())


max_pool_grad_v2_op.gradient(
    lambda op, grad: _second_gradient(op, grad, max_pool_grad_grad_v2_op, *op.inputs[3:])
)
max_pool_grad_v2_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 3, 2, 2), *_without_ksize(HALVES)),
    against=_maximum_grad_reference,
)

max_pool3d_grad_op = Op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    T=_float_by_default(_FLOAT_VOLUMES),
    TInput=_float_by_default(_FLOAT_VOLUMES),
    **WINDOW_3D,
    **VOLUMES,
)
max_pool3d_grad_op.shape(_max_pool_grad_shape)
max_pool3d_grad_op.kernel(_max_pool_grad_kernel)
max_pool3d_grad_op.specialize(_max_pool_grad_specialized)
max_pool3d_grad_op.gradient(lambda op, grad: _second_gradient(op, grad, max_pool3d_grad_grad_op))
max_pool3d_grad_op.samples(
    (_spread(1, 3, 4, 3, 1), f32(1, 2, 2, 2, 1), f32(1, 2, 2, 2, 1), VOLUME_HALVES),
    against=_maximum_grad_reference,
)


_OTHER_GRAD = "Expected grad to have the shape of orig_input"


def _max_pool_grad_grad_shape(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    pooled = as_shape(pooled_shape(orig_input, ksize, strides, padding, data_format, in_step=True))
    merged(orig_input, grad, _OTHER_GRAD)
    return merged(pooled, orig_output)


def _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    _check_ranks(data_format, tensor_in=orig_input, tensor_out=orig_output, out_grad_backprop=grad)
    _check_window(ksize, strides, data_format)
    _check_same_shape("orig_input", orig_input, "grad", grad)
    if not orig_output.numel():
        return torch.zeros_like(orig_output)
    return max_pool_back_again(
        orig_input, grad, *pool_arguments(orig_input.shape, data_format, ksize, strides, padding)
    )


def _max_pool_grad_grad_kernel(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    return _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


max_pool_grad_grad_op = Op("MaxPoolGradGrad", _GRAD, T=REAL, **WINDOW, **SIMPLE, **PLANES)
max_pool_grad_grad_op.shape(_max_pool_grad_grad_shape)
max_pool_grad_grad_op.kernel(_max_pool_grad_grad_kernel)
max_pool_grad_grad_op.gradient(lambda op, grad: _second_gradient(op, grad, max_pool_grad_op))
max_pool_grad_grad_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 5, 4, 2), HALVES),
    (f32(1, 4, 5, 1), f32(1, 4, 5, 1), f32(1, 4, 5, 1), SLIDING),
    against=_maximum_grad_grad_reference,
)

max_pool_grad_grad_v2_op = Op(
    "MaxPoolGradGradV2", _GRAD_V2, host="ksize strides", T=REAL, differentiable=None, **SIMPLE, **PLANES
)


@max_pool_grad_grad_v2_op.shape
def _max_pool_grad_grad_v2_shape(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    _check_lengths(ksize=ksize, strides=strides)
    attrs = {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format}
    return _max_pool_grad_grad_shape(orig_input, orig_output, grad, **attrs)


@max_pool_grad_grad_v2_op.kernel
def _max_pool_grad_grad_v2_kernel(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    return _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


max_pool_grad_grad_v2_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 5, 4, 2), *_without_ksize(HALVES)),
    against=_maximum_grad_grad_reference,
)

max_pool3d_grad_grad_op = Op("MaxPool3DGradGrad", _GRAD, T=REAL, differentiable=False, **WINDOW_3D, **VOLUMES)
max_pool3d_grad_grad_op.shape(_max_pool_grad_grad_shape)
max_pool3d_grad_grad_op.kernel(_max_pool_grad_grad_kernel)
max_pool3d_grad_grad_op.samples(
    (_spread(1, 3, 4, 3, 1), f32(1, 2, 2, 2, 1), f32(1, 3, 4, 3, 1), VOLUME_HALVES),
    against=_maximum_grad_grad_reference,
)

# ---------------------------------------------------------------------------- a maximum that keeps its places

# Never in a user's graph: a rewrite puts these for a MaxPool and its MaxPoolGrad where a step runs both.
_KEPT = {**WINDOW, **_EXPLICIT, **PLANES}

max_pool_indices_op = Op(
    "_MaxPoolIndices", "input: T -> output: T, places: int64", T=REAL, differentiable=False, **_KEPT
)


@max_pool_indices_op.shape
def _max_pool_indices_shape(input, *, ksize, strides, padding, data_format, explicit_paddings):
    shape = pooled_shape(input, ksize, strides, padding, data_format, explicit_paddings, in_step=True)
    return [shape, shape]


@max_pool_indices_op.kernel
def _max_pool_indices_kernel(input, *, ksize, strides, padding, data_format, explicit_paddings):
    if shape := empty_pool(input.shape, ksize, strides, padding, data_format, explicit_paddings):
        return input.new_zeros(shape), input.new_zeros(shape, dtype=torch.int64)
    return max_pool_places(
        input, *pool_arguments(input.shape, data_format, ksize, strides, padding, explicit_paddings)
    )


@max_pool_indices_op.specialize
def _max_pool_indices_specialized(node):
    planned = planned_pool(node, node.inputs[0])
    return None if planned is None else (max_pool_places, [node.inputs[0], *planned])


def _max_pool_indices_law(input, output, places, ksize, strides, padding):
    """The places are flat ones in a plane; there the input is as large as its windows' maxima."""
    planes, flat = (array.reshape(len(input), -1, input.shape[-1]) for array in (input, places))
    found = np.take_along_axis(planes, flat, 1).reshape(output.shape)
    return [(found, output), (output, maximum_reference(input, ksize, strides, padding))]


max_pool_indices_op.samples((f32(1, 5, 4, 3), HALVES), law=_max_pool_indices_law)

max_pool_grad_indices_op = Op(
    "_MaxPoolGradIndices",
    "places: int64, grad: T -> output: T",
    T=REAL,
    input_sizes=attr("list(int)"),
    differentiable=False,
    **_KEPT,
)


@max_pool_grad_indices_op.shape
def _max_pool_grad_indices_shape(places, grad, *, input_sizes):
    merged(places, grad)
    return input_sizes


@max_pool_grad_indices_op.kernel
def _max_pool_grad_indices_kernel(
    places, grad, *, input_sizes, ksize, strides, padding, data_format, explicit_paddings
):
    if not grad.numel():
        return grad.new_zeros(input_sizes)
    arguments = pool_arguments(input_sizes, data_format, ksize, strides, padding, explicit_paddings)
    return max_pool_back(input_sizes, places, grad, *arguments)


@max_pool_grad_indices_op.specialize
def _max_pool_grad_indices_specialized(node):
    planned = planned_pool(node, node.outputs[0])
    sizes = node.attrs["input_sizes"]
    return None if planned is None else (max_pool_back, [sizes, *node.inputs, *planned])


def _max_pool_grad_indices_reference(places, grad, input_sizes):
    batch, *_, depth = input_sizes
    result = np.zeros([batch, math.prod(input_sizes[1:-1]), depth])
    rows, flat = np.arange(batch)[:, None, None], places.reshape(batch, -1, depth)
    np.add.at(result, (rows, flat, np.arange(depth)), grad.reshape(flat.shape))
    return result.reshape(input_sizes)


max_pool_grad_indices_op.samples(
    (
        np.array([0, 3, 8, 14]).reshape(1, 2, 2, 1),
        f32(1, 2, 2, 1),
        {**HALVES, "input_sizes": [1, 4, 4, 1]},
    ),
    against=_max_pool_grad_indices_reference,
)
