"""Xception: convolutions of single channels, then across channels (Chollet, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given, conv, norm, relu

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike


def _separable(x: Tensor, filters: int, name: str) -> Tensor:
    x = tf.keras.layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return norm(x, f"{name}_bn")


def _smaller_block(x: Tensor, number: int, filters: Sequence[int]) -> Tensor:
    """Half the size, with a shortcut of stride 2."""
    name = f"block{number}"
    shortcut = norm(conv(x, filters[-1], 1, strides=2, padding="same", use_bias=False))
    for place, width in enumerate(filters, 1):
        if number > 2 or place > 1:
            x = relu(x, f"{name}_sepconv{place}_act")
        x = _separable(x, width, f"{name}_sepconv{place}")
    x = tf.keras.layers.MaxPooling2D(3, strides=2, padding="same", name=f"{name}_pool")(x)
    return tf.keras.layers.Add()([x, shortcut])


def _middle_block(x: Tensor, number: int) -> Tensor:
    shortcut = x
    for place in range(1, 4):
        x = relu(x, f"block{number}_sepconv{place}_act")
        x = _separable(x, 728, f"block{number}_sepconv{place}")
    return tf.keras.layers.Add()([x, shortcut])


@export("keras.applications.Xception", "keras.applications.xception.Xception")
@common.model_of("Makes Xception (Chollet, 2017).")
def Xception(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(**locals())
    common.check_weights(given)
    x = image = common.image_input(given, common.image_shape(given, 299, 71))
    for number, (filters, stride) in enumerate(((32, 2), (64, 1)), 1):
        name = f"block1_conv{number}"
        x = relu(norm(conv(x, filters, 3, name, strides=stride, use_bias=False), f"{name}_bn"), f"{name}_act")
    for number, filters in enumerate((128, 256, 728), 2):
        x = _smaller_block(x, number, (filters, filters))
    for number in range(5, 13):
        x = _middle_block(x, number)
    x = _smaller_block(x, 13, (728, 1024))
    for number, filters in enumerate((1536, 2048), 1):
        x = relu(_separable(x, filters, f"block14_sepconv{number}"), f"block14_sepconv{number}_act")
    x = common.classifier(x, classes, "avg_pool") if include_top else common.features(x, pooling)
    files = common.tf_kernels("xception")
    return common.finished(given, image, x, "xception", f"{common.RELEASES}v0.4/", files)
