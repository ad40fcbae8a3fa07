"""Normalizations: batch normalization in one op, local response normalization, and the loss of an L2 norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import float32
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape, as_shape, brackets
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.helpers import cpu_functions, cpu_products, flops
from tideflow.ops.helpers.axes import merged, of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, types
from tideflow.ops.math import casting, reductions, unary
from tideflow.ops.nn.windows import channels, channels_first, from_channels_first, has_channels_first

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ---------------------------------------------------------------------------- batch normalization

_FLOAT = types("float")
_IMAGES = attr("string", "NHWC", allowed=("NHWC", "NCHW"))
_EPSILON = {"epsilon": attr("float", 9.999999747378752e-05), "is_training": True}
_MOVING = {**_EPSILON, "exponential_avg_factor": 1.0}
_LEAST_EPSILON_OF_CUDNN = 1e-5


def _normalized_shape(x: TensorShape, data_format: str, **vectors: TensorShape) -> tuple[list, list]:
    """The shape of the image and of a vector with an entry for each of its channels."""
    image = list(of_rank(x, len(data_format)).tuple)
    axis = 1 if has_channels_first(data_format) else -1
    for name, vector in vectors.items():
        (count,) = of_rank(vector, 1).tuple
        if None not in (count, image[axis]) and count != image[axis]:
            raise ShapeError(
                f"Dimensions must be equal, but are {image[axis]} and {count}: channels of x and {name}"
            )
        image[axis] = count if image[axis] is None else image[axis]
    return image, [image[axis]]


def _forward_shapes(x, scale, offset, mean, variance, data_format, is_training, factor) -> list:
    moving = {} if is_training and factor == 1.0 else {"mean": mean, "variance": variance}
    image, vector = _normalized_shape(x, data_format, scale=scale, offset=offset, **moving)
    return [image, vector, vector, vector, vector]


def _batch_norm_shape(x, scale, offset, mean, variance, *, data_format, is_training, exponential_avg_factor):
    return _forward_shapes(x, scale, offset, mean, variance, data_format, is_training, exponential_avg_factor)


def _check_channels(x, data_format, *vectors):
    """Refuses vectors without an entry for each channel: ATen would read, and write, past their ends."""
    if x.ndim != len(data_format):
        raise ShapeError(f"input must be {len(data_format)}-dimensional, not of shape {brackets(x.shape)}")
    shape = (channels(x.shape, data_format),)
    for vector in vectors:
        if vector.shape != shape:
            raise ShapeError(
                "scale, offset, mean and variance must have an entry for each channel of an input of shape "
                f"{brackets(x.shape)} in the format {data_format}, but one has shape {brackets(vector.shape)}"
            )


def _check_vectors(**vectors):
    """Refuses what is no vector; statistics that are not used may be empty ones."""
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise ShapeError(f"{name} must be 1-dimensional{brackets(vector.shape)}")


def _normalized(x, scale, offset, mean, variance, epsilon, factor, data_format):
    """The image normalized by its own statistics; ATen leaves mean and unbiased variance in given vectors."""
    _check_vectors(scale=scale, offset=offset, estimated_mean=mean, estimated_variance=variance)
    _check_channels(x, data_format, scale, offset)
    if not x.numel():
        nan = torch.full_like(scale, torch.nan)
        return x, nan, nan, nan, nan
    batch_mean, unbiased = torch.zeros_like(scale), torch.zeros_like(scale)
    image = channels_first(x, data_format)
    forward = torch.cudnn_batch_norm if _takes_cudnn(image, epsilon) else torch.native_batch_norm
    y = forward(image, scale, offset, batch_mean, unbiased, True, 1.0, epsilon)[0]
    count = x.numel() // len(scale)
    if count == 1:
        unbiased.zero_()
    biased = unbiased * ((count - 1) / count)
    moving_mean, moving_variance = batch_mean, unbiased
    if factor != 1.0:
        moving_mean, moving_variance = (
            torch.lerp(mean, batch_mean, factor),
            torch.lerp(variance, unbiased, factor),
        )
    return from_channels_first(y, data_format), moving_mean, moving_variance, batch_mean, biased


def _takes_cudnn(image: torch.Tensor, epsilon: float) -> bool:
    """Whether cuDNN normalizes it, a quarter faster than ATen's own kernels, and with no reserved space."""
    return (
        image.is_cuda
        and torch.backends.cudnn.enabled
        and image.dtype in (torch.float32, torch.float16)
        and image.dim() == 4
        and image.is_contiguous(memory_format=torch.channels_last)
        and epsilon >= _LEAST_EPSILON_OF_CUDNN
    )


def _normalized_by_estimates(x, scale, offset, mean, variance, epsilon, factor, data_format):
    if not x.numel():
        return x, mean, variance, mean, variance
    y = torch.batch_norm(
        channels_first(x, data_format),
        scale,
        offset,
        mean,
        variance,
        False,
        0.0,
        epsilon,
        torch.backends.cudnn.enabled,
    )
    return from_channels_first(y, data_format), mean, variance, mean, variance


def _batch_norm(
    x, scale, offset, mean, variance, *, epsilon, exponential_avg_factor, data_format, is_training
):
    arguments = (x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format)
    return _normalized(*arguments) if is_training else _normalized_by_estimates(*arguments)


def _channel_axis(op: Operation) -> int:
    data_format = op.attrs["data_format"]
    return 1 if has_channels_first(data_format) else len(data_format) - 1


def _axes_but_channels(op: Operation) -> list[int]:
    return [axis for axis in range(len(op.attrs["data_format"])) if axis != _channel_axis(op)]


def _by_channel(op: Operation, vector: Tensor) -> Tensor:
    """The vector in a shape that broadcasts over images."""
    sizes = [1] * len(op.attrs["data_format"])
    sizes[_channel_axis(op)] = -1
    return shapes.reshape(vector, sizes)


def _precise(tensor: Tensor) -> Tensor:
    return casting.cast(tensor, float32)


def _batch_norm_gradient(op: Operation, grads: tuple, back: Op) -> tuple:
    """Follows y alone: what arrives at the means and variances goes no further, as in TensorFlow."""
    x, scale, _, mean, variance = op.inputs
    statistics = op.outputs[3:] if op.attrs["is_training"] else [mean, variance, *op.outputs[5:]]
    common = {name: op.attrs[name] for name in ("epsilon", "data_format", "is_training")}
    by_x, by_scale, by_offset = back(grads[0], x, scale, *statistics, **common)[:3]
    return by_x, by_scale, by_offset, None, None


def _batch_norm_reference(x, scale, offset, mean, variance, *, epsilon, data_format, is_training):
    images = np.moveaxis(x, 1, -1) if has_channels_first(data_format) else x
    rows = images.reshape(-1, images.shape[-1])
    unbiased = variance
    if is_training:
        mean, variance, unbiased = rows.mean(0), rows.var(0), rows.var(0, ddof=1)
    y = (images - mean) / np.sqrt(np.add(variance, epsilon)) * scale + offset
    y = np.moveaxis(y, -1, 1) if has_channels_first(data_format) else y
    return y, mean, unbiased, mean, variance, 0.0


_EXACT = {"epsilon": 1e-3}
_ESTIMATED = {"epsilon": 1e-3, "is_training": False}
_NONE = np.zeros(0, np.float32)


def _moments(depth: int) -> tuple:
    """A mean and a variance; constants, since TensorFlow passes no gradient to them."""
    return [0.1, -0.2, 0.3][:depth], [0.5, 1.5, 1.0][:depth]


def _add_batch_norm_samples(op: Op) -> None:
    op.samples(
        (f32(2, 3, 2, 2), f32(2), f32(2), _NONE, _NONE, _EXACT),
        (f32(2, 3, 2, 2), f32(2), f32(2), *_moments(2), _ESTIMATED),
        (f32(2, 3, 2, 2), f32(3), f32(3), _NONE, _NONE, {**_EXACT, "data_format": "NCHW"}),
        against=_batch_norm_reference,
    )
    op.refuses((f32(2, 3, 2, 2), f32(3), f32(2), _NONE, _NONE), "are 2 and 3: channels of x and scale")
    op.refuses((f32(3, 2, 2), f32(2), f32(2), _NONE, _NONE), "Shape must be rank 4 but is rank 3")


fused_batch_norm_op = Op(
    "FusedBatchNorm",
    "x: T, scale: T, offset: T, mean: T, variance: T "
    "-> y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    T=_FLOAT,
    data_format=_IMAGES,
    **_MOVING,
    gradient_follows="y",
)
fused_batch_norm_op.shape(_batch_norm_shape)
fused_batch_norm_op.kernel(_batch_norm)
fused_batch_norm_op.gradient(lambda op, *grads: _batch_norm_gradient(op, grads, fused_batch_norm_grad_op))
_add_batch_norm_samples(fused_batch_norm_op)

_HALF_OR_FLOAT = types("half bfloat16 float")

fused_batch_norm_v2_op = Op(
    "FusedBatchNormV2",
    "x: T, scale: U, offset: U, mean: U, variance: U "
    "-> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    T=_HALF_OR_FLOAT,
    U=_FLOAT,
    data_format=_IMAGES,
    **_MOVING,
    gradient_follows="y",
)
fused_batch_norm_v2_op.shape(_batch_norm_shape)
fused_batch_norm_v2_op.kernel(_batch_norm)
fused_batch_norm_v2_op.gradient(
    lambda op, *grads: _batch_norm_gradient(op, grads, fused_batch_norm_grad_v2_op)
)
_add_batch_norm_samples(fused_batch_norm_v2_op)

_IMAGES_OR_VOLUMES = attr("string", "NHWC", allowed=("NHWC", "NCHW", "NDHWC", "NCDHW"))

fused_batch_norm_v3_op = Op(
    "FusedBatchNormV3",
    "x: T, scale: U, offset: U, mean: U, variance: U "
    "-> y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    T=_HALF_OR_FLOAT,
    U=types("bfloat16 float"),
    data_format=_IMAGES_OR_VOLUMES,
    **_MOVING,
    gradient_follows="y",
)


@fused_batch_norm_v3_op.shape
def _fused_batch_norm_v3_shape(
    x, scale, offset, mean, variance, *, data_format, is_training, exponential_avg_factor
):
    given = _forward_shapes(
        x, scale, offset, mean, variance, data_format, is_training, exponential_avg_factor
    )
    return [*given, None]


@fused_batch_norm_v3_op.kernel
def _fused_batch_norm_v3_kernel(
    x, scale, offset, mean, variance, *, epsilon, exponential_avg_factor, data_format, is_training
):
    results = _batch_norm(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
    )
    return *results, scale.new_zeros(())


fused_batch_norm_v3_op.gradient(
    lambda op, *grads: _batch_norm_gradient(op, grads, fused_batch_norm_grad_v3_op)
)
_add_batch_norm_samples(fused_batch_norm_v3_op)


@export("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalizes images over batch and space: (x - mean) / sqrt(variance + epsilon) * scale + offset.

    Args:
      x: Images [batch, height, width, channels] of half, bfloat16 or float32; `data_format` may put the
        channels second.
      scale: A float32 vector with an element for each channel.
      offset: A float32 vector with an element for each channel.
      mean: The mean of each channel, a float32 vector; where `is_training`, None: it is that of `x`.
      variance: The variance of each channel, a float32 vector; where `is_training`, None.
      epsilon: A small number, at least 1.001e-5, that is added to the variance.
      data_format: "NHWC" (the default) or "NCHW"; for volumes "NDHWC" or "NCDHW".
      is_training: Whether `x` is normalized by its own mean and variance.
      name: A name for the operation.

    Returns:
      The normalized images, of the type of `x`, and the mean and variance of each channel that a moving
      average is made of: while training those of `x` (the variance without bias), else those given.

    Raises:
      ValueError: Where `mean` or `variance` is given while training, or where channels and vectors differ in
        size.
    """
    x = convert_to_tensor(x, name="input")
    scale, offset = convert_to_tensor(scale, name="scale"), convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constants.constant([], dtype=float32) if mean is None else mean
    variance = constants.constant([], dtype=float32) if variance is None else variance
    results = fused_batch_norm_v3_op(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, 1.001e-5),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return results[0], results[1], results[2]


def _batch_norm_grad_shape(
    y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3=None, *, data_format, is_training
):
    vectors = {"scale": scale, "reserve_space_1": reserve_space_1, "reserve_space_2": reserve_space_2}
    image, vector = _normalized_shape(y_backprop, data_format, **vectors)
    channels, count = _normalized_shape(x, data_format, **vectors)
    image, vector = merged(as_shape(channels), as_shape(image)), merged(as_shape(count), as_shape(vector))
    unused = [0 if is_training else None]  # TensorFlow infers vectors; its kernels give empty ones
    return [image, vector, vector, unused, unused]


def _batch_norm_grad(
    y_backprop,
    x,
    scale,
    reserve_space_1,
    reserve_space_2,
    reserve_space_3=None,
    *,
    epsilon,
    data_format,
    is_training,
):
    if y_backprop.ndim != len(data_format):
        raise ShapeError(f"input must be {len(data_format)}-dimensional{brackets(y_backprop.shape)}")
    _check_vectors(**{"scale": scale, "saved mean": reserve_space_1, "saved variance": reserve_space_2})
    _check_channels(x, data_format, scale, reserve_space_1, reserve_space_2)
    if y_backprop.shape != x.shape:
        raise ShapeError(
            f"x and y_backprop must have one shape, but are {brackets(x.shape)} and "
            f"{brackets(y_backprop.shape)}"
        )
    none = scale.new_zeros(0)
    if not x.numel():
        zeros = torch.zeros_like(scale)
        return torch.zeros_like(x), zeros, zeros, none, none
    gradient, image = channels_first(y_backprop, data_format), channels_first(x, data_format)
    if is_training and _takes_cudnn(image, epsilon):
        by_image, by_scale, by_offset = torch.ops.aten.cudnn_batch_norm_backward.default(
            image,
            gradient.contiguous(memory_format=torch.channels_last),
            scale,
            None,
            None,
            reserve_space_1,
            torch.rsqrt(reserve_space_2 + epsilon),
            epsilon,
            image.new_empty(0, dtype=torch.uint8),
        )
        return from_channels_first(by_image, data_format), by_scale, by_offset, none, none
    results = torch.ops.aten.native_batch_norm_backward.default(
        gradient,
        image,
        scale,
        reserve_space_1,
        reserve_space_2,
        reserve_space_1,
        torch.rsqrt(reserve_space_2 + epsilon),
        is_training,
        epsilon,
        [True, True, True],
    )
    return from_channels_first(results[0], data_format), results[1], results[2], none, none


def _training_derivatives(g, x, s, v, p, q, axes, epsilon) -> tuple[Tensor, Tensor, Tensor]:
    def mean(tensor: Tensor) -> Tensor:
        return reductions.reduce_mean(tensor, axes, keepdims=True)

    shifted = x - mean(x)
    r = unary.rsqrt(mean(unary.square(shifted)) + epsilon)
    u = shifted * r
    vu, gu = mean(v * u), mean(g * u)
    v_across, g_across = v - mean(v) - u * vu, g - mean(g) - u * gu
    by_grad = s * r * v_across + p * u + q
    both = mean(v * g_across)
    by_x = p * r * g_across - s * unary.square(r) * (u * both + gu * v_across + vu * g_across)
    return by_grad, by_x, reductions.reduce_sum(r * v * g_across, axes)


def _second_derivatives(op: Operation, *grads: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """With u = (x - mean) r and r = 1 / sqrt(variance + epsilon), the gradient op gives, of g and s = scale,

        dx = s r (g - mean(g) - u mean(g u)),  dscale = sum(g u),  doffset = sum(g)

    while training, and dx = s r g otherwise. Derived here: <v, dx> + <p, dscale> + <q, doffset>.
    """
    g, x, scale = (_precise(tensor) for tensor in op.inputs[:3])
    given = [creation.zeros_like(y) if grad is None else grad for y, grad in zip(op.outputs, grads)]
    v, p, q = _precise(given[0]), _by_channel(op, given[1]), _by_channel(op, given[2])
    axes = _axes_but_channels(op)
    if op.attrs["is_training"]:
        results = _training_derivatives(g, x, _by_channel(op, scale), v, p, q, axes, op.attrs["epsilon"])
    else:
        mean, variance = (_by_channel(op, tensor) for tensor in op.inputs[3:5])
        r = unary.rsqrt(variance + op.attrs["epsilon"])
        s = _by_channel(op, scale)
        by_scale = reductions.reduce_sum(v * g * r, axes)
        results = s * r * v + p * r * (x - mean) + q, p * r * g, by_scale
    dtype = op.inputs[1].dtype.base_dtype
    return casting.cast(results[0], dtype), casting.cast(results[1], dtype), results[2]


def _batch_norm_grad_gradient(op, *grads):
    by_grad, by_x, by_scale = _second_derivatives(op, *grads[:3])
    return by_grad, by_x, by_scale, *[None for _ in op.inputs[3:]]


def _batch_norm_grad_reference(
    y_backprop, x, scale, mean, variance, last=0.0, *, epsilon, data_format, is_training
):
    window = {"epsilon": epsilon, "data_format": data_format, "is_training": is_training}

    def normalized(x: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> np.ndarray:
        return _batch_norm_reference(x, scale, offset, mean, variance, **window)[0]

    zeros, none = np.zeros(len(scale)), np.zeros(0)
    return (
        pulled_back(lambda moved: normalized(moved, scale, zeros), x, y_backprop),
        pulled_back(lambda moved: normalized(x, moved, zeros), scale, y_backprop),
        pulled_back(lambda moved: normalized(x, scale, moved), zeros, y_backprop),
        none,
        none,
    )


def _add_batch_norm_grad_samples(op: Op, *more: np.ndarray) -> None:
    first = {**_ESTIMATED, "data_format": "NCHW"}
    op.samples(
        (f32(2, 3, 2, 2), f32(2, 3, 2, 2), f32(2), *_moments(2), *more, _ESTIMATED),
        (f32(2, 3, 2, 2), f32(2, 3, 2, 2), f32(3), *_moments(3), *more, first),
        against=_batch_norm_grad_reference,
    )


fused_batch_norm_grad_op = Op(
    "FusedBatchNormGrad",
    "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T "
    "-> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
    T=_FLOAT,
    data_format=_IMAGES,
    **_EPSILON,
)
fused_batch_norm_grad_op.shape(_batch_norm_grad_shape)
fused_batch_norm_grad_op.kernel(_batch_norm_grad)
fused_batch_norm_grad_op.gradient(_batch_norm_grad_gradient)
_add_batch_norm_grad_samples(fused_batch_norm_grad_op)

fused_batch_norm_grad_v2_op = Op(
    "FusedBatchNormGradV2",
    "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U "
    "-> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
    T=_HALF_OR_FLOAT,
    U=_FLOAT,
    data_format=_IMAGES,
    **_EPSILON,
)
fused_batch_norm_grad_v2_op.shape(_batch_norm_grad_shape)
fused_batch_norm_grad_v2_op.kernel(_batch_norm_grad)
fused_batch_norm_grad_v2_op.gradient(_batch_norm_grad_gradient)
_add_batch_norm_grad_samples(fused_batch_norm_grad_v2_op)

fused_batch_norm_grad_v3_op = Op(
    "FusedBatchNormGradV3",
    "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U "
    "-> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    T=_HALF_OR_FLOAT,
    U=_FLOAT,
    data_format=_IMAGES_OR_VOLUMES,
    **_EPSILON,
)
fused_batch_norm_grad_v3_op.shape(_batch_norm_grad_shape)
fused_batch_norm_grad_v3_op.kernel(_batch_norm_grad)
fused_batch_norm_grad_v3_op.gradient(_batch_norm_grad_gradient)
_add_batch_norm_grad_samples(fused_batch_norm_grad_v3_op, np.float32(0))


# ---------------------------------------------------------------------------- local response normalization

_LRN = {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5}


def _sum_of_neighbours(image: torch.Tensor, radius: int) -> torch.Tensor:
    """Along the last axis, the sum over `radius` channels on either side."""
    if not 0 <= radius < 2**31:
        raise ShapeError(f"depth_radius = {radius} is negative or larger than int max")
    depth = image.shape[-1]
    radius = min(radius, depth)
    rows = image.reshape(-1, depth)
    if depth <= _DEEPEST_BAND:
        near = torch.ones(depth, depth, dtype=image.dtype, device=image.device).tril(radius).triu(-radius)
        multiply = torch.mm if image.is_cuda else cpu_products.product(False, False)
        return multiply(rows, near).view(image.shape)
    width = 2 * radius + 1
    sums = torch.nn.functional.avg_pool1d(rows.unsqueeze(1), width, 1, radius)
    return sums.reshape(image.shape) * width


_DEEPEST_BAND = 256  # channels; of more, a product with a matrix of them takes longer than a pool along them


def _power(norm: torch.Tensor, exponent: float) -> torch.Tensor:
    """A power of positive numbers: by logarithms, as TensorFlow has it, in a third of the time."""
    if exponent in (-1.0, -0.5, 0.5):
        return norm.pow(exponent)
    return cpu_functions.exp_(cpu_functions.log(norm).mul_(exponent))


lrn_op = Op("LRN", "input: T -> output: T", T=attr("type", "float", allowed=_HALF_OR_FLOAT), **_LRN)


@lrn_op.shape
def _lrn_shape(input):
    return of_rank(input, 4, "in must be 4-dimensional")


@lrn_op.kernel
def _lrn_kernel(input, *, depth_radius, bias, alpha, beta):
    if not input.numel():
        return input
    image = input.float()
    norm = bias + alpha * _sum_of_neighbours(image.square(), depth_radius)
    return (image * _power(norm, -beta)).to(input.dtype)


@lrn_op.gradient
def _lrn_gradient(op, grad):
    return lrn_grad_op(grad, op.inputs[0], op.outputs[0], **{name: op.attrs[name] for name in _LRN})


def _lrn_reference(input, depth_radius, bias, alpha, beta):
    depth = input.shape[-1]
    near = np.abs(np.subtract.outer(np.arange(depth), np.arange(depth))) <= depth_radius
    return input / (bias + alpha * (input**2 @ near)) ** beta


lrn_op.samples(
    f32(1, 2, 2, 7),
    (f32(2, 1, 2, 4), {"depth_radius": 1, "bias": 2.0, "alpha": 0.5, "beta": 0.75}),
    f32(0, 2, 2, 3),
    against=_lrn_reference,
)
lrn_op.refuses((f32(1, 2, 2, 3), {"depth_radius": -1}), "larger than int max", InvalidArgumentError)
lrn_op.refuses((f32(2, 3),), "Shape must be rank 4 but is rank 2")


@export("nn.local_response_normalization", "nn.lrn")
def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divides each element by (bias + alpha * s) ** beta, where s is the sum of squares of its neighbours in
    depth.

    Args:
      input: Images [batch, height, width, channels] of half, bfloat16 or float32.
      depth_radius: How many channels on either side are neighbours.
      bias: What is added to the sum, to avoid a division by 0.
      alpha: The factor of the sum.
      beta: The exponent.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      ValueError: Where `input` is not of rank 4.
    """
    return lrn_op(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn_grad_op = Op(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    T=attr("type", "float", allowed=_HALF_OR_FLOAT),
    differentiable=None,
    **_LRN,
)


_NO_IMAGES = "inputs must be 4-dimensional"


@lrn_grad_op.shape
def _lrn_grad_shape(input_grads, input_image, output_image):
    said = "input_grads, input_image, and out_image should have the same shape"
    image = merged(of_rank(input_grads, 4, _NO_IMAGES), input_image, said)
    return merged(image, output_image, said)


@lrn_grad_op.kernel
def _lrn_grad_kernel(input_grads, input_image, output_image, *, depth_radius, bias, alpha, beta):
    if input_grads.ndim != 4 or input_image.ndim != 4:
        raise ShapeError(f"{_NO_IMAGES}: {brackets(input_grads.shape)} and {brackets(input_image.shape)}")
    if not input_image.numel():
        return input_image
    grad, image, output = input_grads.float(), input_image.float(), output_image.float()
    norm = bias + alpha * _sum_of_neighbours(image.square(), depth_radius)
    shared = _sum_of_neighbours(grad * output / norm, depth_radius)
    return (grad * _power(norm, -beta) - 2 * alpha * beta * image * shared).to(input_image.dtype)


def _lrn_grad_reference(input_grads, input_image, output_image, depth_radius, bias, alpha, beta):
    settings = depth_radius, bias, alpha, beta
    return pulled_back(lambda image: _lrn_reference(image, *settings), input_image, input_grads)


_IMAGE = np.linspace(-1, 1, 28, dtype=np.float32).reshape(1, 2, 2, 7)
_NORMALIZED = _lrn_reference(_IMAGE, 2, bias=1.0, alpha=1.0, beta=0.5)
lrn_grad_op.samples((f32(1, 2, 2, 7), _IMAGE, _NORMALIZED, {"depth_radius": 2}), against=_lrn_grad_reference)

# ---------------------------------------------------------------------------- L2 loss

l2_loss_op = Op("L2Loss", "t: T -> output: T", T=FLOATS_HALF_FIRST)


@l2_loss_op.shape
def _l2_loss_shape(t):
    return []


@l2_loss_op.kernel
def _l2_loss_kernel(t):
    flat = t.reshape(-1)
    return torch.dot(flat, flat) / 2


@l2_loss_op.gradient
def _l2_loss_gradient(op, grad):
    return op.inputs[0] * grad


l2_loss_op.flops(lambda op: 3 * flops.size(op.inputs[0]) - 1)
l2_loss_op.samples(f32(2, 3), f32(), f32(0), against=lambda t: (t**2).sum() / 2)


@export("nn.l2_loss")
def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Computes half the sum of squares of all elements.

    Args:
      t: A tensor of a floating-point type.
      name: A name for the operation.

    Returns:
      A scalar of the type of `t`.
    """
    return l2_loss_op(t, name=name)
