"""What the image models share: their input, their end, their weights, and short forms of their layers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.keras.utils.data_utils import get_file
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import explained
from tideflow.layers.nodes import is_keras_tensor

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor

RELEASES = "https://github.com/fchollet/deep-learning-models/releases/download/"
KERAS_TEAM = "https://github.com/keras-team/keras-applications/releases/download/"

ARGUMENTS = {
    "include_top": "Whether the model ends in a classifier, and not in features.",
    "weights": 'None for random weights, the path of a file, or `"imagenet"` for a file in '
    "`~/.keras/models`: nothing is downloaded.",
    "input_tensor": "A tensor that is the model's input; a new input if None.",
    "input_shape": "The shape of an image; that of the paper if None.",
    "pooling": 'How features are pooled if there is no classifier: `"avg"`, `"max"`, or None for not at all.',
    "classes": "The number of classes.",
}


class Given(NamedTuple):
    """The arguments that all image models have."""

    include_top: bool
    weights: str | None
    input_tensor: Any
    input_shape: Sequence[int | None] | None
    pooling: str | None
    classes: int


def model_of(summary: str, **own: str) -> Callable:
    """Gives the function that makes a model its docstring."""
    return explained(summary, "The model, not compiled.", **{**ARGUMENTS, **own})


# -------------------------------------------------------------------------------------------- short forms


def channels_first() -> bool:
    return keras_state.image_data_format() == "channels_first"


def channel_axis() -> int:
    return 1 if channels_first() else 3


def channels_of(x: Tensor) -> int:
    return x.shape.as_list()[channel_axis()]


def conv(x: Tensor, filters: int, size: Any, name: str | None = None, **kwargs: Any) -> Tensor:
    return tf.keras.layers.Conv2D(filters, size, name=name, **kwargs)(x)


def norm(x: Tensor, name: str | None = None, **kwargs: Any) -> Tensor:
    return tf.keras.layers.BatchNormalization(axis=channel_axis(), name=name, **kwargs)(x)


def relu(x: Tensor, name: str | None = None) -> Tensor:
    return tf.keras.layers.Activation("relu", name=name)(x)


def pad(x: Tensor, padding: Any, name: str | None = None) -> Tensor:
    return tf.keras.layers.ZeroPadding2D(padding, name=name)(x)


def join(branches: Sequence[Tensor], name: str | None = None) -> Tensor:
    return tf.keras.layers.Concatenate(axis=channel_axis(), name=name)(list(branches))


def same_padding(x: Tensor, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The zeros around an image with which a filter of stride 2 sees what the papers' models see."""
    first = 2 if channels_first() else 1
    inner = x.shape.as_list()[first : first + 2]
    even = [1 if n is None else 1 - n % 2 for n in (inner if inner[0] is not None else (None, None))]
    return (size // 2 - even[0], size // 2), (size // 2 - even[1], size // 2)


# ----------------------------------------------------------------------------------------- input and end


def check_weights(given: Given) -> None:
    """Refuses weights that are neither known nor there."""
    if given.weights not in ("imagenet", None) and not os.path.exists(given.weights):
        raise ValueError(
            "The `weights` argument should be either `None` (random initialization), `imagenet` "
            "(pre-training on ImageNet), or the path to the weights file to be loaded."
        )
    if given.weights == "imagenet" and given.include_top and given.classes != 1000:
        raise ValueError(
            'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000'
        )


def image_shape(given: Given, default: int, smallest: int) -> tuple[int | None, ...]:
    """The shape of an image: as given, or that of the paper."""
    first, shape = channels_first(), given.input_shape
    pretrained = given.weights == "imagenet"

    def of(channels: int, size: int | None) -> tuple[int | None, ...]:
        return (channels, size, size) if first else (size, size, channels)

    channels = 3
    if not pretrained and shape and len(shape) == 3:
        channels = shape[0 if first else -1]
        if channels not in (1, 3):
            warnings.warn(
                "This model usually expects 1 or 3 input channels. However, it was passed an input_shape "
                f"with {channels} input channels.",
                stacklevel=4,
            )
    if pretrained and given.include_top:
        if shape is not None and tuple(shape) != of(3, default):
            raise ValueError(
                "When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                f"{of(3, default)}."
            )
        return of(3, default)
    if not shape:
        return of(channels, default if given.include_top else None)
    if len(shape) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    if pretrained and shape[0 if first else -1] != 3:
        raise ValueError(f"The input must have 3 channels; got `input_shape={shape}`")
    if any(size is not None and size < smallest for size in (shape[1:] if first else shape[:2])):
        raise ValueError(f"Input size must be at least {smallest}x{smallest}; got `input_shape={shape}`")
    if given.include_top and None in shape:
        raise ValueError(
            f"If `include_top` is True, you should specify a static `input_shape`. Got `input_shape={shape}`"
        )
    return tuple(shape)


def image_input(given: Given, shape: tuple[int | None, ...]) -> Tensor:
    """The tensor that the model begins with."""
    if given.input_tensor is None:
        return tf.keras.Input(shape=shape)
    if is_keras_tensor(given.input_tensor):
        return given.input_tensor
    return tf.keras.Input(tensor=given.input_tensor, shape=shape)


def classifier(x: Tensor, classes: int, pool: str | None = None, dense: str = "predictions") -> Tensor:
    """The mean over the image, then a class."""
    x = tf.keras.layers.GlobalAveragePooling2D(name=pool)(x)
    return tf.keras.layers.Dense(classes, activation="softmax", name=dense)(x)


def features(x: Tensor, pooling: str | None, avg: str | None = None, max: str | None = None) -> Tensor:
    """What a model without a classifier ends in."""
    if pooling == "avg":
        return tf.keras.layers.GlobalAveragePooling2D(name=avg)(x)
    if pooling == "max":
        return tf.keras.layers.GlobalMaxPooling2D(name=max)(x)
    return x


def finished(given: Given, image: Tensor, x: Tensor, name: str, origin: str, files: tuple[str, str]) -> Any:
    """The model of an input and an output, with its weights.

    `files` are the names of the files of ImageNet's weights, with and without the classifier, and `origin` is
    where they can be had.
    """
    sources = image if given.input_tensor is None else tf.keras.utils.get_source_inputs(given.input_tensor)
    model = tf.keras.Model(sources, x, name=name)
    if given.weights == "imagenet":
        file = files[0 if given.include_top else 1]
        model.load_weights(get_file(file, origin + file, cache_subdir="models"))
    elif given.weights is not None:
        model.load_weights(given.weights)
    return model


def tf_kernels(name: str) -> tuple[str, str]:
    """The names of two files of weights, as most models have them."""
    stem = f"{name}_weights_tf_dim_ordering_tf_kernels"
    return f"{stem}.h5", f"{stem}_notop.h5"
