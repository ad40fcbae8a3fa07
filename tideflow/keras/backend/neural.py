"""Backend functions: convolutions, pooling, normalization, CTC."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.image.resizing import resized
from tideflow.keras.backend.arrays import seed_of_numpy
from tideflow.layers.argument_docs import explained
from tideflow.layers.keras_state import epsilon
from tideflow.layers.shapes import check_data_format, tensor_format

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import ShapeLike, TensorLike

_WORDS = {
    "kernel": "The weights of the filters, a tensor.",
    "depthwise_kernel": "The weights of the filters of single channels, a tensor.",
    "pointwise_kernel": "The weights that mix channels, a tensor.",
    "output_shape": "The shape of the output.",
    "pool_mode": '`"max"` or `"avg"`.',
    "bias": "The biases, a tensor.",
    "level": "The fraction that is dropped.",
    "predictions": "The predictions, a tensor.",
    "targets": "The right classes, a tensor.",
    "k": "How many of the largest predictions count.",
    "axis": "The axis.",
    "mean": "The mean, a tensor.",
    "var": "The variance, a tensor.",
    "beta": "The offset, a tensor.",
    "gamma": "The scale, a tensor.",
    "reduction_axes": "The axes over which statistics are computed.",
    "padding": '`"valid"` or `"same"`; for paddings, how much is added at each end.',
    "height_factor": "How much higher.",
    "width_factor": "How much wider.",
    "depth_factor": "How much deeper.",
    "inputs": "The input, a tensor.",
    "labels": "The labels, a tensor.",
    "label_lengths": "The lengths of the labels, a tensor.",
    "label_length": "The lengths of the labels, a tensor.",
    "input_length": "The lengths of the predictions, a tensor.",
    "greedy": "Whether the best path is taken, not a search over beams.",
    "beam_width": "The number of beams.",
    "top_paths": "The number of paths that are returned.",
}


def _channels_first(data_format: str | None) -> bool:
    return check_data_format(data_format) == "channels_first"


def _format(data_format: str | None, rank: int) -> str:
    return tensor_format(check_data_format(data_format), rank)


def _outer(sizes: Any, rank: int, data_format: str | None) -> list[int]:
    sizes = [sizes] * rank if isinstance(sizes, int) else list(sizes)
    return [1, 1, *sizes] if _channels_first(data_format) else [1, *sizes, 1]


def _sizes(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value)


@export("keras.backend.softmax")
@explained("Computes the softmax.", **_WORDS)
def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    return tf.nn.softmax(x, axis=axis)


@export("keras.backend.l2_normalize")
@explained("Scales to length one.", **_WORDS)
def l2_normalize(x: TensorLike, axis: Any = None) -> Tensor:
    return tf.nn.l2_normalize(x, axis=axis)


@export("keras.backend.in_top_k")
@explained("Computes whether the right class is among the largest predictions.", **_WORDS)
def in_top_k(predictions: TensorLike, targets: TensorLike, k: int) -> Tensor:
    return tf.nn.in_top_k(predictions, targets, k)


@export("keras.backend.dropout")
@explained("Sets random elements to zero, and scales the others up.", **_WORDS)
def dropout(
    x: TensorLike, level: float, noise_shape: ShapeLike | None = None, seed: int | None = None
) -> Tensor:
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed_of_numpy(seed))


@export("keras.backend.conv1d")
@explained("Convolves over one axis.", **_WORDS)
def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Tensor:
    width = kernel.shape.as_list()[0]
    if padding == "causal":
        x, padding = temporal_padding(x, (dilation_rate * (width - 1), 0)), "valid"
    return tf.nn.convolution(
        x,
        kernel,
        padding.upper(),
        _sizes(strides, 1),
        _sizes(dilation_rate, 1),
        data_format=_format(data_format, 3),
    )


@export("keras.backend.conv2d")
@explained("Convolves over two axes.", **_WORDS)
def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    return tf.nn.convolution(
        x,
        kernel,
        padding.upper(),
        _sizes(strides, 2),
        _sizes(dilation_rate, 2),
        data_format=_format(data_format, 4),
    )


@export("keras.backend.conv3d")
@explained("Convolves over three axes.", **_WORDS)
def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1, 1),
) -> Tensor:
    return tf.nn.convolution(
        x,
        kernel,
        padding.upper(),
        _sizes(strides, 3),
        _sizes(dilation_rate, 3),
        data_format=_format(data_format, 5),
    )


@export("keras.backend.conv2d_transpose")
@explained("Applies the transpose of a convolution.", **_WORDS)
def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Any,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    if isinstance(output_shape, (tuple, list)):
        output_shape = tf.stack(list(output_shape))
    if _sizes(dilation_rate, 2) != [1, 1]:
        return tf.nn.atrous_conv2d_transpose(
            x, kernel, output_shape, rate=dilation_rate[0], padding=padding.upper()
        )
    return tf.nn.conv2d_transpose(
        x,
        kernel,
        output_shape,
        _outer(strides, 2, data_format),
        padding=padding.upper(),
        data_format=_format(data_format, 4),
    )


@export("keras.backend.separable_conv2d")
@explained("Convolves each channel, then mixes channels.", **_WORDS)
def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    return tf.nn.separable_conv2d(
        x,
        depthwise_kernel,
        pointwise_kernel,
        _outer(strides, 2, data_format),
        padding.upper(),
        rate=_sizes(dilation_rate, 2),
        data_format=_format(data_format, 4),
    )


@export("keras.backend.pool2d")
@explained("Pools over two axes.", **_WORDS)
def pool2d(
    x: TensorLike,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    pool = tf.nn.max_pool if pool_mode == "max" else tf.nn.avg_pool
    return pool(
        x,
        _outer(pool_size, 2, data_format),
        _outer(strides, 2, data_format),
        padding.upper(),
        data_format=_format(data_format, 4),
    )


@export("keras.backend.pool3d")
@explained("Pools over three axes.", **_WORDS)
def pool3d(
    x: TensorLike,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    pool = tf.nn.max_pool3d if pool_mode == "max" else tf.nn.avg_pool3d
    return pool(
        x,
        _outer(pool_size, 3, data_format),
        _outer(strides, 3, data_format),
        padding.upper(),
        data_format=_format(data_format, 5),
    )


@export("keras.backend.bias_add")
@explained("Adds biases.", **_WORDS)
def bias_add(x: TensorLike, bias: TensorLike, data_format: str | None = None) -> Tensor:
    first, rank = _channels_first(data_format), x.shape.ndims
    sizes = bias.shape.as_list()
    if len(sizes) not in (1, rank - 1):
        raise ValueError(f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions")
    if len(sizes) == 1:
        return tf.nn.bias_add(x, bias, data_format="NCHW" if first and rank > 2 else "NHWC")
    moved = [sizes[-1], *sizes[:-1]] if first else sizes
    return x + tf.reshape(bias, [1, *moved])


@export("keras.backend.spatial_2d_padding")
@explained("Adds zeros around images.", **_WORDS)
def spatial_2d_padding(
    x: TensorLike, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    return _padded(x, padding, 2, data_format)


@export("keras.backend.spatial_3d_padding")
@explained("Adds zeros around volumes.", **_WORDS)
def spatial_3d_padding(
    x: TensorLike, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    return _padded(x, padding, 3, data_format)


@export("keras.backend.temporal_padding")
@explained("Adds zeros at the ends of sequences.", **_WORDS)
def temporal_padding(x: TensorLike, padding: Sequence[int] = (1, 1)) -> Tensor:
    return _padded(x, [padding], 1, "channels_last")


def _padded(x: Any, padding: Any, rank: int, data_format: str | None) -> Tensor:
    """`x` with zeros around its inner axes, so many before and behind each as the pair of that axis says."""
    inner = [list(pair) for pair in padding]
    if [len(pair) for pair in inner] != [2] * rank:
        raise AssertionError(f"padding must be two numbers for each of {rank} axes, not {padding}")
    return tf.pad(x, [[0, 0], [0, 0], *inner] if _channels_first(data_format) else [[0, 0], *inner, [0, 0]])


@export("keras.backend.resize_images")
@explained("Enlarges images.", **_WORDS)
def resize_images(
    x: TensorLike, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Tensor:
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    first = data_format == "channels_first"
    rows, cols = (2, 3) if first else (1, 2)
    static = x.shape.as_list()
    shape = tf.shape(x)[rows : cols + 1]
    shape *= tf.constant(np.array([height_factor, width_factor], dtype="int32"))
    if first:
        x = tf.transpose(x, [0, 2, 3, 1])
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    method = tf.image.resize_nearest_neighbor if interpolation == "nearest" else tf.image.resize_bilinear
    by_method = functools.partial(method, half_pixel_centers=True)
    x = resized(x, shape, by_method, preserve_aspect_ratio=False, name=None, same_as_is=False)
    if first:
        x = tf.transpose(x, [0, 3, 1, 2])
    made = list(static)
    made[rows] = None if static[rows] is None else static[rows] * height_factor
    made[cols] = None if static[cols] is None else static[cols] * width_factor
    x.set_shape(made)
    return x


@export("keras.backend.resize_volumes")
@explained("Enlarges volumes.", **_WORDS)
def resize_volumes(
    x: TensorLike, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Tensor:
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = tf.keras.backend.repeat_elements(x, factor, axis=axis)
    return x


@export("keras.backend.batch_normalization")
@explained("Applies batch normalization with given statistics.", **_WORDS)
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    axis: int = -1,
    epsilon: float = 0.001,
) -> Tensor:
    fused = _fused_format(x, axis)
    if fused is None:
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)
    gamma, beta = _scale_and_offset(x, gamma, beta, fused)
    return _fused(x, gamma, beta, fused, epsilon, mean=_vector(mean), variance=_vector(var))[0]


def _fused_format(x: Any, axis: int) -> str | None:
    """The layout of images whose channels are at `axis`; None if one op cannot normalize them."""
    if x.shape.ndims != 4 or x.dtype.base_dtype not in (tf.float32, tf.float16):
        return None
    return {-1: "NHWC", 3: "NHWC", -3: "NCHW", 1: "NCHW"}.get(axis)


def _scale_and_offset(x: Any, gamma: Any, beta: Any, data_format: str) -> tuple[Any, Any]:
    """The scale and the offset of each channel."""
    channels = [x.shape.as_list()[data_format.index("C")]]
    return (
        tf.constant(1.0, x.dtype.base_dtype, channels) if gamma is None else _vector(gamma),
        tf.constant(0.0, x.dtype.base_dtype, channels) if beta is None else _vector(beta),
    )


def _vector(value: Any) -> Any:
    return tf.reshape(value, [-1]) if value.shape.ndims > 1 else value


def _fused(x: Any, gamma: Any, beta: Any, data_format: str, epsilon: float, **statistics: Any) -> Any:
    """The normalized images, means and variances; given statistics are taken instead of the batch's."""
    return tf.nn.fused_batch_norm(
        x, gamma, beta, epsilon=epsilon, data_format=data_format, is_training=not statistics, **statistics
    )


@export("keras.backend.normalize_batch_in_training")
@explained(
    "Applies batch normalization with the statistics of the batch.",
    "The normalized batch, its mean and its variance.",
    **_WORDS,
)
def normalize_batch_in_training(
    x: TensorLike,
    gamma: TensorLike | None,
    beta: TensorLike | None,
    reduction_axes: Sequence[int],
    epsilon: float = 0.001,
) -> Any:
    if list(reduction_axes) == [0, 1, 2] and _fused_format(x, -1):
        return tuple(_fused(x, *_scale_and_offset(x, gamma, beta, "NHWC"), "NHWC", epsilon))
    axes = sorted(axis % x.shape.ndims for axis in reduction_axes)
    mean, var = tf.nn.moments(x, axes)
    if axes == list(range(x.shape.ndims))[:-1]:
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon), mean, var
    full = tf.shape(x)
    sizes = tf.stack([1 if axis in axes else full[axis] for axis in range(x.shape.ndims)])

    def wide(value: Any) -> Any:
        return None if value is None else tf.reshape(value, sizes)

    return tf.nn.batch_normalization(x, wide(mean), wide(var), wide(beta), wide(gamma), epsilon), mean, var


@export("keras.backend.local_conv1d")
@explained("Convolves over one axis, with other weights at each place.", **_WORDS)
def local_conv1d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    length = kernel.shape.as_list()[0]
    return local_conv(inputs, kernel, kernel_size, strides, (length,), data_format)


@export("keras.backend.local_conv2d")
@explained("Convolves over two axes, with other weights at each place.", **_WORDS)
def local_conv2d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def local_conv(
    inputs: Any, kernel: Any, size: Any, strides: Any, places: Any, data_format: str | None
) -> Tensor:
    """Convolves over any number of axes, with other weights at each place."""
    first = _channels_first(data_format)
    channels, filters = inputs.shape.as_list()[1 if first else -1], kernel.shape.as_list()[-1]
    rows = []
    for place in np.ndindex(*places):
        cut = [slice(p * s, p * s + k) for p, s, k in zip(place, strides, size, strict=True)]
        piece = inputs[(slice(None), slice(None), *cut)] if first else inputs[(slice(None), *cut)]
        rows.append(tf.reshape(piece, (1, -1, int(np.prod(size)) * channels)))
    product = tf.matmul(tf.concat(rows, axis=0), kernel)
    made = tf.reshape(product, (*places, -1, filters))
    rank = len(places)
    order = [rank, rank + 1, *range(rank)] if first else [rank, *range(rank), rank + 1]
    return tf.transpose(made, order)


@export("keras.backend.ctc_label_dense_to_sparse")
@explained("Converts labels to a sparse tensor.", "A sparse tensor.", **_WORDS)
def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> Any:
    mask = tf.sequence_mask(tf.cast(label_lengths, tf.int32), tf.shape(labels)[1])
    indices = tf.where(mask)
    return tf.SparseTensor(indices, tf.gather_nd(labels, indices), tf.cast(tf.shape(labels), tf.int64))


@export("keras.backend.ctc_batch_cost")
@explained("Computes the CTC loss of each sample.", **_WORDS)
def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> Tensor:
    label_length = tf.cast(tf.squeeze(label_length, axis=-1), tf.int32)
    input_length = tf.cast(tf.squeeze(input_length, axis=-1), tf.int32)
    labels = tf.cast(ctc_label_dense_to_sparse(y_true, label_length), tf.int32)
    logits = tf.log(tf.transpose(y_pred, [1, 0, 2]) + epsilon())
    return tf.expand_dims(tf.nn.ctc_loss(inputs=logits, labels=labels, sequence_length=input_length), 1)


@export("keras.backend.ctc_decode")
@explained(
    "Decodes the predictions of a model that was trained with the CTC loss.",
    "A list of paths, and the logarithms of their probabilities.",
    **_WORDS,
)
def ctc_decode(
    y_pred: TensorLike,
    input_length: TensorLike,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
) -> Any:
    logits = tf.log(tf.transpose(y_pred, [1, 0, 2]) + epsilon())
    input_length = tf.cast(input_length, tf.int32)
    if greedy:
        decoded, chances = tf.nn.ctc_greedy_decoder(inputs=logits, sequence_length=input_length)
    else:
        decoded, chances = tf.nn.ctc_beam_search_decoder(
            inputs=logits, sequence_length=input_length, beam_width=beam_width, top_paths=top_paths
        )
    return [tf.sparse.to_dense(path, default_value=-1) for path in decoded], chances
