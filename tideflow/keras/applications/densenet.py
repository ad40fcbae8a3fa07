"""Networks whose layers see all layers before them (Huang et al., 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given, channels_of, conv, join, pad, relu

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_GROWTH = 32  # the channels that a layer adds


def _norm(x: Tensor, name: str) -> Tensor:
    return common.norm(x, name, epsilon=1.001e-5)


def _layer(x: Tensor, name: str) -> Tensor:
    new = relu(_norm(x, f"{name}_0_bn"), f"{name}_0_relu")
    new = _norm(conv(new, 4 * _GROWTH, 1, f"{name}_1_conv", use_bias=False), f"{name}_1_bn")
    new = conv(relu(new, f"{name}_1_relu"), _GROWTH, 3, f"{name}_2_conv", padding="same", use_bias=False)
    return join([x, new], f"{name}_concat")


def _transition(x: Tensor, name: str) -> Tensor:
    x = relu(_norm(x, f"{name}_bn"), f"{name}_relu")
    x = conv(x, channels_of(x) // 2, 1, f"{name}_conv", use_bias=False)
    return tf.keras.layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _densenet(name: str, depths: Sequence[int], given: Given) -> Any:
    common.check_weights(given)
    image = common.image_input(given, common.image_shape(given, 224, 32))
    x = conv(pad(image, 3), 64, 7, "conv1/conv", strides=2, use_bias=False)
    x = relu(_norm(x, "conv1/bn"), "conv1/relu")
    x = tf.keras.layers.MaxPooling2D(3, strides=2, name="pool1")(pad(x, 1))
    for number, depth in enumerate(depths, 2):
        for layer in range(1, depth + 1):
            x = _layer(x, f"conv{number}_block{layer}")
        if number < 5:
            x = _transition(x, f"pool{number}")
    x = relu(_norm(x, "bn"), "relu")
    if given.include_top:
        x = common.classifier(x, given.classes, "avg_pool", "fc1000")
    else:
        x = common.features(x, given.pooling, "avg_pool", "max_pool")
    return common.finished(given, image, x, name, f"{common.KERAS_TEAM}densenet/", common.tf_kernels(name))


@export("keras.applications.DenseNet121", "keras.applications.densenet.DenseNet121")
@common.model_of("Makes a densely connected network of 121 layers (Huang et al., 2017).")
def DenseNet121(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _densenet("densenet121", (6, 12, 24, 16), Given(**locals()))


@export("keras.applications.DenseNet169", "keras.applications.densenet.DenseNet169")
@common.model_of("Makes a densely connected network of 169 layers (Huang et al., 2017).")
def DenseNet169(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _densenet("densenet169", (6, 12, 32, 32), Given(**locals()))


@export("keras.applications.DenseNet201", "keras.applications.densenet.DenseNet201")
@common.model_of("Makes a densely connected network of 201 layers (Huang et al., 2017).")
def DenseNet201(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _densenet("densenet201", (6, 12, 48, 32), Given(**locals()))
