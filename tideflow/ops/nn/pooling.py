"""Pooling: the maximum or the mean of each window of an image, and the gradients of both.

A maximum's gradient goes to the first place where its window has it. ATen keeps those places from the forward
pass; TensorFlow's gradient ops get only the input and the output, so they find them again, unless a rewrite
has paired them with the pool (see `_MaxPoolIndices`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.arrays.constants import stop_gradient
from tideflow.ops.helpers.arguments import per_axis, renamed
from tideflow.ops.helpers.axes import as_sizes, merged, of_rank
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, INDICES, REAL, types
from tideflow.ops.nn.pool_kernels import (
    added_at,
    avg_pool_back,
    avg_pool_values,
    how,
    max_pool_back,
    max_pool_back_again,
    max_pool_back_finding,
    max_pool_places,
    max_pool_values,
    signed,
    unsigned_again,
)
from tideflow.ops.nn.windows import Window, channels, has_channels_first, image_shape, spatial

_MAX_TYPES = types("half bfloat16 float double int32 int64 uint8 int16 int8 uint16 qint8")
_EXPLICIT = {
    "padding": attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    "explicit_paddings": attr("list(int)", []),
}
_WINDOW = {"ksize": attr("list(int)", minimum=4), "strides": attr("list(int)", minimum=4)}
_PLANES_VECT = {"data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW", "NCHW_VECT_C"))}


def _float_by_default(allowed: tuple) -> Any:
    return attr("type", "float", allowed=allowed)


def _geometry(op: Operation, target: Op) -> dict[str, Any]:
    """The attributes that the op shares with another op of its family."""
    names = ("ksize", "strides", "padding", "explicit_paddings", "data_format", "include_batch_in_index")
    return {name: op.attrs[name] for name in names if name in op.attrs and name in target.attrs}


def _depth_pooled_shape(image: tuple, ksize: list[int], strides: list[int], data_format: str) -> list:
    size, depth = channels(ksize, data_format), channels(image, data_format)
    if any(width != 1 for width in spatial(ksize, data_format)):
        raise ShapeError("Maximum pooling goes either across depth or across width and height, not both")
    if channels(strides, data_format) != size or (depth or 0) % size:
        raise ShapeError(
            f"Depthwise max pooling requires the depth window ({size}) to equal the depth stride and to "
            f"divide the depth ({depth})"
        )
    sizes = spatial(image, data_format)
    return image_shape(image[0], sizes, None if depth is None else depth // size, data_format)


def _pooled_shape(
    input: TensorShape,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str,
    explicit_paddings: Sequence[int] = (),
    *,
    depth_too: bool = False,
) -> list:
    if data_format == "NCHW_VECT_C":
        *planes, vector = of_rank(input, 5).tuple
        return [*_pooled_shape(as_shape(planes), ksize, strides, padding, "NCHW", explicit_paddings), vector]
    image = of_rank(input, len(data_format)).tuple
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
            raise ShapeError(f"Pooling over the channels is not supported, got ksize {list(ksize)}")
        return _depth_pooled_shape(image, ksize, strides, data_format)
    window = Window.of(spatial(ksize, data_format), data_format, strides, padding, None, explicit_paddings)
    return image_shape(image[0], window.output_sizes(spatial(image, data_format)), depth, data_format)


def _max_pool_family_shape(input, *, ksize, strides, padding, data_format, explicit_paddings=()):
    return _pooled_shape(input, ksize, strides, padding, data_format, explicit_paddings, depth_too=True)


def _depth_maximum(input: torch.Tensor, ksize: Sequence[int], data_format: str) -> torch.Tensor:
    axis = 1 if has_channels_first(data_format) else input.ndim - 1
    return input.unflatten(axis, (-1, channels(ksize, data_format))).amax(axis + 1)


def _max_pool(input, ksize, strides, padding, data_format, explicit_paddings):
    if data_format == "NCHW_VECT_C":
        planes = input.permute(0, 1, 4, 2, 3).flatten(1, 2)
        result = _max_pool(planes, ksize, strides, padding, "NCHW", explicit_paddings)
        return result.unflatten(1, (-1, input.shape[-1])).permute(0, 1, 3, 4, 2)
    if not input.numel() or channels(ksize, data_format) != 1:
        given = as_shape(list(input.shape))
        shape = _pooled_shape(given, ksize, strides, padding, data_format, explicit_paddings, depth_too=True)
        return input.new_zeros(shape) if not input.numel() else _depth_maximum(input, ksize, data_format)
    return max_pool_values(input, *how(input.shape, data_format, ksize, strides, padding, explicit_paddings))


def _max_pool_family_kernel(input, *, ksize, strides, padding, data_format, explicit_paddings=()):
    return _max_pool(input, ksize, strides, padding, data_format, explicit_paddings)


def _planned(node: Any, image: Any) -> tuple | None:
    """What `how` says when the plan is made; None where the shape is unknown or empty, or the op unusual."""
    attrs = node.attrs
    data_format = attrs.get("data_format", "NHWC")
    if (
        not image.shape.num_elements()
        or data_format == "NCHW_VECT_C"
        or channels(attrs["ksize"], data_format) != 1
    ):
        return None
    explicit = attrs.get("explicit_paddings", ())
    return how(image.shape.tuple, data_format, attrs["ksize"], attrs["strides"], attrs["padding"], explicit)


def _max_pool_family_specialized(node):
    image = node.inputs[0]
    planned = _planned(node, image)
    return None if planned is None else (max_pool_values, [image, *planned])


_HALVES = {
    "ksize": [1, 2, 2, 1],
    "strides": [1, 2, 2, 1],
    "padding": "SAME",
}  # an odd image: more padding after
_SLIDING = {"ksize": [1, 2, 3, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
_INSIDE = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 2, 1], "padding": "VALID"}
_FIRST = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}
_AROUND = {**_HALVES, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 0, 1, 1, 0, 0, 0]}


def _sliding(ksize: Any, strides: Any, data_format: str, spatial_rank: int) -> dict[str, Any]:
    """The attributes of a window given in short."""
    first = has_channels_first(data_format)
    return {
        "ksize": per_axis(ksize, spatial_rank, first, "ksize"),
        "strides": per_axis(strides, spatial_rank, first, "strides"),
        "data_format": data_format,
    }


# ---------------------------------------------------------------------------- maximum

max_pool_op = Op(
    "MaxPool",
    "input: T -> output: T",
    T=_float_by_default(_MAX_TYPES),
    **_WINDOW,
    **_EXPLICIT,
    **_PLANES_VECT,
)
max_pool_op.shape(_max_pool_family_shape)
max_pool_op.kernel(_max_pool_family_kernel)
max_pool_op.specialize(_max_pool_family_specialized)


@max_pool_op.gradient
def _max_pool_gradient(op, grad):
    return max_pool_grad_op(op.inputs[0], op.outputs[0], grad, **_geometry(op, max_pool_grad_op))


max_pool_op.samples(
    (f32(2, 5, 4, 3), _HALVES),
    (f32(1, 4, 5, 2), _SLIDING),
    (f32(1, 4, 4, 2), _INSIDE),
    (f32(1, 2, 5, 4), _FIRST),
    (f32(1, 4, 5, 1), _AROUND),
    (f32(0, 4, 4, 2), _INSIDE),
)
max_pool_op.refuses((f32(1, 5, 5, 3), {**_INSIDE, "ksize": [1, 6, 2, 1]}), "subtracting 6 from 5")
max_pool_op.refuses((f32(1, 5, 5), _HALVES), "Shape must be rank 4 but is rank 3")
max_pool_op.refuses((f32(1, 5, 5, 3), {**_INSIDE, "ksize": [2, 2, 2, 1]}), "batch dimension")


@export("nn.max_pool")
def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The maximum of each window of an image."""
    value = renamed("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        window = _sliding(ksize, strides, data_format or "NHWC", 2)
        if 0 in window["ksize"]:
            raise ValueError("ksize cannot be zero.")
        return max_pool_op(value, padding=padding, name=name, **window)


@export("nn.max_pool2d")
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of an image."""
    with name_scope(name, "MaxPool2d", [input]) as name:
        return max_pool_op(
            input, padding=padding, name=name, **_sliding(ksize, strides, data_format or "NHWC", 2)
        )


_SIMPLE = {"padding": attr("string", allowed=("SAME", "VALID"))}


def _without_ksize(attrs: dict[str, Any]) -> tuple:
    rest = {name: value for name, value in attrs.items() if name not in ("ksize", "strides")}
    return attrs["ksize"], attrs["strides"], rest


max_pool_v2_op = Op(
    "MaxPoolV2",
    "input: T, ksize: int32, strides: int32 -> output: T",
    host="ksize strides",
    T=_float_by_default(_MAX_TYPES),
    **_SIMPLE,
    **_PLANES_VECT,
)


@max_pool_v2_op.shape
def _max_pool_v2_shape(input, ksize, strides, *, padding, data_format):
    return _pooled_shape(input, ksize, strides, padding, data_format, depth_too=True)


@max_pool_v2_op.kernel
def _max_pool_v2_kernel(input, ksize, strides, *, padding, data_format):
    return _max_pool(input, ksize, strides, padding, data_format, ())


@max_pool_v2_op.gradient
def _max_pool_v2_gradient(op, grad):
    image, ksize, strides = op.inputs
    geometry = _geometry(op, max_pool_grad_v2_op)
    return max_pool_grad_v2_op(image, op.outputs[0], grad, ksize, strides, **geometry), None, None


max_pool_v2_op.samples(
    (f32(1, 5, 4, 3), *_without_ksize(_HALVES)), (f32(1, 2, 5, 4), *_without_ksize(_FIRST))
)

_WINDOW_3D = {"ksize": attr("list(int)", minimum=5), "strides": attr("list(int)", minimum=5), **_SIMPLE}
_VOLUMES = {"data_format": attr("string", "NDHWC", allowed=("NDHWC", "NCDHW"))}
_FLOAT_VOLUMES = types("half bfloat16 float")
_VOLUME_HALVES = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
_VOLUME_SLIDING = {"ksize": [1, 2, 1, 3, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}


def _spread(*sizes: int) -> np.ndarray:
    """Elements far enough from each other that no small step changes which is the maximum."""
    return np.random.default_rng(0).permutation(math.prod(sizes)).reshape(sizes).astype(np.float32) / 2


max_pool3d_op = Op("MaxPool3D", "input: T -> output: T", T=_FLOAT_VOLUMES, **_WINDOW_3D, **_VOLUMES)
max_pool3d_op.shape(_max_pool_family_shape)
max_pool3d_op.kernel(_max_pool_family_kernel)
max_pool3d_op.specialize(_max_pool_family_specialized)


@max_pool3d_op.gradient
def _max_pool3d_gradient(op, grad):
    return max_pool3d_grad_op(op.inputs[0], op.outputs[0], grad, **_geometry(op, max_pool3d_grad_op))


max_pool3d_op.samples((_spread(1, 3, 4, 3, 2), _VOLUME_HALVES), (_spread(1, 3, 2, 4, 1), _VOLUME_SLIDING))


@export("nn.max_pool3d")
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a volume."""
    with name_scope(name, "MaxPool3D", [input]) as name:
        window = _sliding(ksize, strides, data_format or "NDHWC", 3)
        return max_pool3d_op(input, padding=padding, name=name, **window)


_PLANES = {"data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW"))}
_GRAD = "orig_input: T, orig_output: T, grad: T -> output: T"


def _zeros_like(tensor: Tensor) -> Tensor:
    return creation.zeros(shapes.shape(tensor), dtype=tensor.dtype)


def _max_pool_grad_family_shape(orig_input, orig_output, grad, *, data_format):
    return of_rank(orig_input, len(data_format))


def _check_same_shape(name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    if tensor.shape != other.shape:
        raise ShapeError(
            f"Expected {other_name} shape to be {list(tensor.shape)} as {name}'s, but got {list(other.shape)}"
        )


def _max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format, explicit_paddings):
    _check_same_shape("orig_output", orig_output, "grad", grad)
    if not orig_input.numel():
        return torch.zeros_like(orig_input, dtype=grad.dtype)
    arguments = how(orig_input.shape, data_format, ksize, strides, padding, explicit_paddings)
    return max_pool_back_finding(orig_input.to(grad.dtype), grad, *arguments)


def _max_pool_grad_family_kernel(
    orig_input, orig_output, grad, *, ksize, strides, padding, data_format, explicit_paddings=()
):
    return _max_pool_grad(
        orig_input, orig_output, grad, ksize, strides, padding, data_format, explicit_paddings
    )


def _max_pool_grad_family_specialized(node):
    image, _, grad = node.inputs
    planned = _planned(node, image)
    if planned is None or image.dtype != grad.dtype:
        return None
    return max_pool_back_finding, [image, grad, *planned]


def _second_gradient(op: Operation, grad: Tensor, target: Op, *sizes: Tensor) -> tuple:
    if op.attrs["padding"] == "EXPLICIT":
        raise LookupError(f"The gradient of {op.type} '{op.name}' is not defined for explicit paddings")
    image, pooled = op.inputs[:2]
    by_grad = target(image, pooled, grad, *sizes, **_geometry(op, target))
    return _zeros_like(image), _zeros_like(pooled), by_grad, *[None for _ in sizes]


# ---------------------------------------------------------------------------- gradients of the maximum

max_pool_grad_op = Op("MaxPoolGrad", _GRAD, T=_float_by_default(REAL), **_WINDOW, **_EXPLICIT, **_PLANES)
max_pool_grad_op.shape(_max_pool_grad_family_shape)
max_pool_grad_op.kernel(_max_pool_grad_family_kernel)
max_pool_grad_op.specialize(_max_pool_grad_family_specialized)
max_pool_grad_op.gradient(lambda op, grad: _second_gradient(op, grad, max_pool_grad_grad_op))
max_pool_grad_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 3, 2, 2), _HALVES),
    (f32(1, 4, 5, 1), f32(1, 4, 5, 1), f32(1, 4, 5, 1), _SLIDING),
    (f32(1, 4, 5, 1), f32(1, 2, 3, 1), f32(1, 2, 3, 1), _AROUND),
)

_GRAD_V2 = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T"

max_pool_grad_v2_op = Op(
    "MaxPoolGradV2", _GRAD_V2, host="ksize strides", T=_float_by_default(REAL), **_SIMPLE, **_PLANES
)


@max_pool_grad_v2_op.shape
def _max_pool_grad_v2_shape(orig_input, orig_output, grad, ksize, strides):
    return of_rank(orig_input, 4)


@max_pool_grad_v2_op.kernel
def _max_pool_grad_v2_kernel(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    return _max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format, ())


max_pool_grad_v2_op.gradient(
    lambda op, grad: _second_gradient(op, grad, max_pool_grad_grad_v2_op, *op.inputs[3:])
)
max_pool_grad_v2_op.samples((f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 3, 2, 2), *_without_ksize(_HALVES)))

max_pool3d_grad_op = Op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    T=_float_by_default(_FLOAT_VOLUMES),
    TInput=_float_by_default(_FLOAT_VOLUMES),
    **_WINDOW_3D,
    **_VOLUMES,
)
max_pool3d_grad_op.shape(_max_pool_grad_family_shape)
max_pool3d_grad_op.kernel(_max_pool_grad_family_kernel)
max_pool3d_grad_op.specialize(_max_pool_grad_family_specialized)
max_pool3d_grad_op.gradient(lambda op, grad: _second_gradient(op, grad, max_pool3d_grad_grad_op))
max_pool3d_grad_op.samples((_spread(1, 3, 4, 3, 1), f32(1, 2, 2, 2, 1), f32(1, 2, 2, 2, 1), _VOLUME_HALVES))


def _max_pool_grad_grad_family_shape(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    return orig_output.merge_with(_pooled_shape(orig_input, ksize, strides, padding, data_format))


def _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    _check_same_shape("orig_input", orig_input, "grad", grad)
    if not orig_input.numel():
        return torch.zeros_like(orig_output)
    return max_pool_back_again(orig_input, grad, *how(orig_input.shape, data_format, ksize, strides, padding))


def _max_pool_grad_grad_family_kernel(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
    return _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


max_pool_grad_grad_op = Op("MaxPoolGradGrad", _GRAD, T=REAL, **_WINDOW, **_SIMPLE, **_PLANES)
max_pool_grad_grad_op.shape(_max_pool_grad_grad_family_shape)
max_pool_grad_grad_op.kernel(_max_pool_grad_grad_family_kernel)
max_pool_grad_grad_op.gradient(lambda op, grad: _second_gradient(op, grad, max_pool_grad_op))
max_pool_grad_grad_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 5, 4, 2), _HALVES),
    (f32(1, 4, 5, 1), f32(1, 4, 5, 1), f32(1, 4, 5, 1), _SLIDING),
)

max_pool_grad_grad_v2_op = Op(
    "MaxPoolGradGradV2", _GRAD_V2, host="ksize strides", T=REAL, differentiable=False, **_SIMPLE, **_PLANES
)


@max_pool_grad_grad_v2_op.shape
def _max_pool_grad_grad_v2_shape(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    return orig_output.merge_with(_pooled_shape(orig_input, ksize, strides, padding, data_format))


@max_pool_grad_grad_v2_op.kernel
def _max_pool_grad_grad_v2_kernel(orig_input, orig_output, grad, ksize, strides, *, padding, data_format):
    return _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)


max_pool_grad_grad_v2_op.samples(
    (f32(1, 5, 4, 2), f32(1, 3, 2, 2), f32(1, 5, 4, 2), *_without_ksize(_HALVES))
)

max_pool3d_grad_grad_op = Op(
    "MaxPool3DGradGrad", _GRAD, T=REAL, differentiable=False, **_WINDOW_3D, **_VOLUMES
)
max_pool3d_grad_grad_op.shape(_max_pool_grad_grad_family_shape)
max_pool3d_grad_grad_op.kernel(_max_pool_grad_grad_family_kernel)
max_pool3d_grad_grad_op.samples(
    (_spread(1, 3, 4, 3, 1), f32(1, 2, 2, 2, 1), f32(1, 3, 4, 3, 1), _VOLUME_HALVES)
)

# ---------------------------------------------------------------------------- a maximum that keeps its places

# Never in a user's graph: a rewrite puts these for a MaxPool and its MaxPoolGrad where a step runs both.
_KEPT = {**_WINDOW, **_EXPLICIT, **_PLANES}

max_pool_indices_op = Op(
    "_MaxPoolIndices", "input: T -> output: T, places: int64", T=REAL, differentiable=False, **_KEPT
)


@max_pool_indices_op.shape
def _max_pool_indices_shape(input, *, ksize, strides, padding, data_format, explicit_paddings):
    shape = _pooled_shape(input, ksize, strides, padding, data_format, explicit_paddings)
    return [shape, shape]


@max_pool_indices_op.kernel
def _max_pool_indices_kernel(input, *, ksize, strides, padding, data_format, explicit_paddings):
    if not input.numel():
        given = as_shape(list(input.shape))
        shape = _pooled_shape(given, ksize, strides, padding, data_format, explicit_paddings)
        return input.new_zeros(shape), input.new_zeros(shape, dtype=torch.int64)
    return max_pool_places(input, *how(input.shape, data_format, ksize, strides, padding, explicit_paddings))


@max_pool_indices_op.specialize
def _max_pool_indices_specialized(node):
    planned = _planned(node, node.inputs[0])
    return None if planned is None else (max_pool_places, [node.inputs[0], *planned])


max_pool_indices_op.samples((f32(1, 5, 4, 3), _HALVES))

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
    arguments = how(input_sizes, data_format, ksize, strides, padding, explicit_paddings)
    return max_pool_back(input_sizes, places, grad, *arguments)


@max_pool_grad_indices_op.specialize
def _max_pool_grad_indices_specialized(node):
    planned = _planned(node, node.outputs[0])
    sizes = node.attrs["input_sizes"]
    return None if planned is None else (max_pool_back, [sizes, *node.inputs, *planned])


max_pool_grad_indices_op.samples(
    (
        np.array([0, 3, 8, 14]).reshape(1, 2, 2, 1),
        f32(1, 2, 2, 1),
        {**_HALVES, "input_sizes": [1, 4, 4, 1]},
    )
)

_ARGMAX = {**_WINDOW, **_SIMPLE, "include_batch_in_index": False}

# ---------------------------------------------------------------------------- a maximum that tells its places

max_pool_with_argmax_op = Op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    T=REAL,
    Targmax=attr("type", "int64", allowed=INDICES),
    **_ARGMAX,
)


@max_pool_with_argmax_op.shape
def _max_pool_with_argmax_shape(input, *, ksize, strides, padding):
    shape = _pooled_shape(input, ksize, strides, padding, "NHWC")
    return [shape, shape]


@max_pool_with_argmax_op.kernel
def _max_pool_with_argmax_kernel(input, *, ksize, strides, padding, Targmax, include_batch_in_index):
    if not input.numel():
        shape = _pooled_shape(as_shape(list(input.shape)), ksize, strides, padding, "NHWC")
        return input.new_zeros(shape), input.new_zeros(shape, dtype=Targmax.torch)
    result, places = max_pool_places(input, *how(input.shape, "NHWC", ksize, strides, padding))
    batch, height, width, depth = input.shape
    argmax = places * depth + torch.arange(depth, device=input.device)
    if include_batch_in_index:
        first = torch.arange(batch, device=input.device) * (height * width * depth)
        argmax = argmax + first.view(-1, 1, 1, 1)
    return result, argmax.to(Targmax.torch)


@max_pool_with_argmax_op.gradient
def _max_pool_with_argmax_gradient(op, grad, argmax_grad):
    geometry = _geometry(op, max_pool_grad_with_argmax_op)
    return max_pool_grad_with_argmax_op(op.inputs[0], grad, op.outputs[1], **geometry)


max_pool_with_argmax_op.samples(
    (f32(2, 5, 4, 2), _HALVES), (f32(2, 4, 5, 1), {**_SLIDING, "include_batch_in_index": True})
)


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """The maximum of each window of an image, and its place in the flattened image."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    return max_pool_with_argmax_op(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=renamed("output_dtype", output_dtype, "Targmax", Targmax),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def _within_image(argmax: torch.Tensor, image: torch.Tensor, include_batch: bool) -> torch.Tensor:
    """Flat places [batch, ...] in each image of the batch."""
    size = image[:1].numel()
    places = argmax.long().flatten(1)
    return places % max(size, 1) if include_batch else places


max_pool_grad_with_argmax_op = Op(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    T=REAL,
    Targmax=INDICES,
    differentiable=False,
    **_ARGMAX,
)


@max_pool_grad_with_argmax_op.shape
def _max_pool_grad_with_argmax_shape(input, grad, argmax, *, ksize, strides, padding):
    merged(merged(as_shape(_pooled_shape(input, ksize, strides, padding, "NHWC")), argmax), grad)
    return of_rank(input, 4)


@max_pool_grad_with_argmax_op.kernel
def _max_pool_grad_with_argmax_kernel(input, grad, argmax, *, include_batch_in_index):
    places = _within_image(argmax, input, include_batch_in_index)
    return added_at(
        places.unsqueeze(1), grad.flatten(1).unsqueeze(1), [len(places), 1, *input.shape[1:]]
    ).squeeze(1)


max_pool_grad_with_argmax_op.samples(
    (f32(1, 4, 4, 1), f32(1, 2, 2, 1), np.array([0, 3, 8, 14]).reshape(1, 2, 2, 1), _HALVES)
)

max_pool_grad_grad_with_argmax_op = Op(
    "MaxPoolGradGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    T=REAL,
    Targmax=INDICES,
    differentiable=False,
    **_ARGMAX,
)


@max_pool_grad_grad_with_argmax_op.shape
def _max_pool_grad_grad_with_argmax_shape(input, grad, argmax, *, ksize, strides, padding):
    pooled = _pooled_shape(merged(input, grad), ksize, strides, padding, "NHWC")
    return merged(as_shape(pooled), argmax)


@max_pool_grad_grad_with_argmax_op.kernel
def _max_pool_grad_grad_with_argmax_kernel(input, grad, argmax, *, include_batch_in_index):
    places = _within_image(argmax, input, include_batch_in_index)
    taken = signed(grad).flatten(1).gather(1, places).view(argmax.shape)
    return unsigned_again(taken, grad.dtype)


max_pool_grad_grad_with_argmax_op.samples(
    (f32(1, 4, 4, 1), f32(1, 4, 4, 1), np.array([0, 3, 8, 14]).reshape(1, 2, 2, 1), _HALVES)
)


def _avg_pool_family_shape(value, *, ksize, strides, padding, data_format):
    return _pooled_shape(value, ksize, strides, padding, data_format)


def _avg_pool_family_kernel(value, *, ksize, strides, padding, data_format):
    if not value.numel():
        given = as_shape(list(value.shape))
        return value.new_zeros(_pooled_shape(given, ksize, strides, padding, data_format))
    return avg_pool_values(value, *how(value.shape, data_format, ksize, strides, padding))


def _avg_pool_family_specialized(node):
    planned = _planned(node, node.inputs[0])
    return None if planned is None else (avg_pool_values, [node.inputs[0], *planned])


# ---------------------------------------------------------------------------- mean

avg_pool_op = Op("AvgPool", "value: T -> output: T", T=FLOATS_HALF_FIRST, **_WINDOW, **_SIMPLE, **_PLANES)
avg_pool_op.shape(_avg_pool_family_shape)
avg_pool_op.kernel(_avg_pool_family_kernel)
avg_pool_op.specialize(_avg_pool_family_specialized)
avg_pool_op.samples(
    (f32(2, 5, 4, 3), _HALVES),
    (f32(1, 4, 5, 2), _SLIDING),
    (f32(1, 4, 4, 2), _INSIDE),
    (f32(1, 2, 5, 4), _FIRST),
)

_DEPTH = {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"}
avg_pool_op.refuses((f32(1, 5, 5, 4), _DEPTH), "Pooling over the channels is not supported")


@export("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window of an image, of what it covers of it."""
    with name_scope(name, "AvgPool", [value]) as name:
        value = renamed("input", input, "value", value)
        return avg_pool_op(
            value, padding=padding, name=name, **_sliding(ksize, strides, data_format or "NHWC", 2)
        )


avg_pool3d_op = Op("AvgPool3D", "input: T -> output: T", T=FLOATS_HALF_FIRST, **_WINDOW_3D, **_VOLUMES)
avg_pool3d_op.shape(_avg_pool_family_shape)
avg_pool3d_op.kernel(_avg_pool_family_kernel)
avg_pool3d_op.specialize(_avg_pool_family_specialized)
avg_pool3d_op.samples((f32(1, 3, 4, 3, 2), _VOLUME_HALVES), (f32(1, 3, 2, 4, 1), _VOLUME_SLIDING))


@export("nn.avg_pool3d")
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a volume, of what it covers of it."""
    with name_scope(name, "AvgPool3D", [input]) as name:
        window = _sliding(ksize, strides, data_format or "NDHWC", 3)
        return avg_pool3d_op(input, padding=padding, name=name, **window)


def _avg_pool_grad_family_shape(orig_input_shape, grad, *, data_format):
    return of_rank(as_shape(as_sizes(orig_input_shape)), len(data_format))


def _avg_pool_grad_family_kernel(orig_input_shape, grad, *, ksize, strides, padding, data_format):
    expected = _pooled_shape(as_shape(orig_input_shape), ksize, strides, padding, data_format)
    if list(grad.shape) != expected:
        raise ShapeError(f"Expected grad shape to be {expected}, but got {list(grad.shape)}")
    if not grad.numel():
        return grad.new_zeros(orig_input_shape)
    return avg_pool_back(grad, orig_input_shape, *how(orig_input_shape, data_format, ksize, strides, padding))


def _avg_pool_grad_family_specialized(node):
    planned = _planned(node, node.outputs[0])
    return (
        None
        if planned is None
        else (avg_pool_back, [node.inputs[1], node.outputs[0].shape.as_list(), *planned])
    )


avg_pool_grad_op = Op(
    "AvgPoolGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    host="orig_input_shape",
    T=FLOATS_HALF_FIRST,
    **_WINDOW,
    **_SIMPLE,
    **_PLANES,
)
avg_pool_grad_op.shape(_avg_pool_grad_family_shape)
avg_pool_grad_op.kernel(_avg_pool_grad_family_kernel)
avg_pool_grad_op.specialize(_avg_pool_grad_family_specialized)
avg_pool_grad_op.samples(([2, 5, 4, 3], f32(2, 3, 2, 3), _HALVES), ([1, 4, 5, 2], f32(1, 4, 5, 2), _SLIDING))

avg_pool3d_grad_op = Op(
    "AvgPool3DGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    host="orig_input_shape",
    T=FLOATS_HALF_FIRST,
    **_WINDOW_3D,
    **_VOLUMES,
)
avg_pool3d_grad_op.shape(_avg_pool_grad_family_shape)
avg_pool3d_grad_op.kernel(_avg_pool_grad_family_kernel)
avg_pool3d_grad_op.specialize(_avg_pool_grad_family_specialized)
avg_pool3d_grad_op.samples(([1, 3, 4, 3, 2], f32(1, 2, 2, 2, 2), _VOLUME_HALVES))


def _mean_derivatives(forward: Op, back: Op) -> None:
    @forward.gradient
    def forward_gradient(op, grad):
        return back(shapes.shape(op.inputs[0]), grad, **_geometry(op, back))

    @back.gradient
    def back_gradient(op, grad):
        return stop_gradient(op.inputs[0]), forward(grad, **_geometry(op, forward))


_mean_derivatives(avg_pool_op, avg_pool_grad_op)
_mean_derivatives(avg_pool3d_op, avg_pool3d_grad_op)
