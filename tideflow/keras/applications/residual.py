"""Residual networks (He et al., 2015), and those that normalize first (He et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given, conv, pad, relu

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike


def _norm(x: Tensor, name: str) -> Tensor:
    return common.norm(x, name, epsilon=1.001e-5)


def _block(x: Tensor, filters: int, name: str, stride: int, projects: bool) -> Tensor:
    shortcut = x
    if projects:
        shortcut = _norm(conv(x, 4 * filters, 1, f"{name}_0_conv", strides=stride), f"{name}_0_bn")
    x = _norm(conv(x, filters, 1, f"{name}_1_conv", strides=stride), f"{name}_1_bn")
    x = relu(x, f"{name}_1_relu")
    x = _norm(conv(x, filters, 3, f"{name}_2_conv", padding="same"), f"{name}_2_bn")
    x = relu(x, f"{name}_2_relu")
    x = _norm(conv(x, 4 * filters, 1, f"{name}_3_conv"), f"{name}_3_bn")
    x = tf.keras.layers.Add(name=f"{name}_add")([shortcut, x])
    return relu(x, f"{name}_out")


def _block_v2(x: Tensor, filters: int, name: str, stride: int, projects: bool) -> Tensor:
    first = relu(_norm(x, f"{name}_preact_bn"), f"{name}_preact_relu")
    shortcut = x
    if projects:
        shortcut = conv(first, 4 * filters, 1, f"{name}_0_conv", strides=stride)
    elif stride > 1:
        shortcut = tf.keras.layers.MaxPooling2D(1, strides=stride)(x)
    x = _norm(conv(first, filters, 1, f"{name}_1_conv", use_bias=False), f"{name}_1_bn")
    x = pad(relu(x, f"{name}_1_relu"), 1, f"{name}_2_pad")
    x = _norm(conv(x, filters, 3, f"{name}_2_conv", strides=stride, use_bias=False), f"{name}_2_bn")
    x = conv(relu(x, f"{name}_2_relu"), 4 * filters, 1, f"{name}_3_conv")
    return tf.keras.layers.Add(name=f"{name}_out")([shortcut, x])


def _stack(x: Tensor, number: int, depth: int) -> Tensor:
    """Blocks of which the first has the stride; the first stack has none."""
    for block in range(1, depth + 1):
        stride = 2 if block == 1 and number > 2 else 1
        x = _block(x, 2 ** (number + 4), f"conv{number}_block{block}", stride, block == 1)
    return x


def _stack_v2(x: Tensor, number: int, depth: int) -> Tensor:
    """Blocks of which the last has the stride; the last stack has none."""
    for block in range(1, depth + 1):
        stride = 2 if block == depth and number < 5 else 1
        x = _block_v2(x, 2 ** (number + 4), f"conv{number}_block{block}", stride, block == 1)
    return x


def _resnet(name: str, depths: Sequence[int], given: Given) -> Any:
    second = name.endswith("v2")
    common.check_weights(given)
    image = common.image_input(given, common.image_shape(given, 224, 32))
    x = conv(pad(image, 3, "conv1_pad"), 64, 7, "conv1_conv", strides=2)
    if not second:
        x = relu(_norm(x, "conv1_bn"), "conv1_relu")
    x = tf.keras.layers.MaxPooling2D(3, strides=2, name="pool1_pool")(pad(x, 1, "pool1_pad"))
    for number, depth in enumerate(depths, 2):
        x = (_stack_v2 if second else _stack)(x, number, depth)
    if second:
        x = relu(_norm(x, "post_bn"), "post_relu")
    if given.include_top:
        x = common.classifier(x, given.classes, "avg_pool", "probs")
    else:
        x = common.features(x, given.pooling, "avg_pool", "max_pool")
    return common.finished(given, image, x, name, f"{common.KERAS_TEAM}resnet/", common.tf_kernels(name))


@export(
    "keras.applications.ResNet50",
    "keras.applications.resnet.ResNet50",
    "keras.applications.resnet50.ResNet50",
)
@common.model_of("Makes a residual network of 50 layers (He et al., 2015).")
def ResNet50(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _resnet("resnet50", (3, 4, 6, 3), Given(**locals()))


@export("keras.applications.ResNet101", "keras.applications.resnet.ResNet101")
@common.model_of("Makes a residual network of 101 layers (He et al., 2015).")
def ResNet101(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _resnet("resnet101", (3, 4, 23, 3), Given(**locals()))


@export("keras.applications.ResNet152", "keras.applications.resnet.ResNet152")
@common.model_of("Makes a residual network of 152 layers (He et al., 2015).")
def ResNet152(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _resnet("resnet152", (3, 8, 36, 3), Given(**locals()))


@export("keras.applications.ResNet50V2", "keras.applications.resnet_v2.ResNet50V2")
@common.model_of("Makes a residual network of 50 layers that normalizes first (He et al., 2016).")
def ResNet50V2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _resnet("resnet50v2", (3, 4, 6, 3), Given(**locals()))


@export("keras.applications.ResNet101V2", "keras.applications.resnet_v2.ResNet101V2")
@common.model_of("Makes a residual network of 101 layers that normalizes first (He et al., 2016).")
def ResNet101V2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _resnet("resnet101v2", (3, 4, 23, 3), Given(**locals()))


@export("keras.applications.ResNet152V2", "keras.applications.resnet_v2.ResNet152V2")
@common.model_of("Makes a residual network of 152 layers that normalizes first (He et al., 2016).")
def ResNet152V2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _resnet("resnet152v2", (3, 8, 36, 3), Given(**locals()))
