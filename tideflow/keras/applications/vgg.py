"""VGG16 and VGG19 (Simonyan and Zisserman, 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_FILTERS = (64, 128, 256, 512, 512)


def _vgg(name: str, depths: Sequence[int], given: Given) -> Any:
    layers = tf.keras.layers
    common.check_weights(given)
    x = image = common.image_input(given, common.image_shape(given, 224, 32))
    for block, (filters, depth) in enumerate(zip(_FILTERS, depths, strict=True), 1):
        for number in range(1, depth + 1):
            x = common.conv(x, filters, 3, f"block{block}_conv{number}", activation="relu", padding="same")
        x = layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if given.include_top:
        x = layers.Flatten(name="flatten")(x)
        for number in (1, 2):
            x = layers.Dense(4096, activation="relu", name=f"fc{number}")(x)
        x = layers.Dense(given.classes, activation="softmax", name="predictions")(x)
    else:
        x = common.features(x, given.pooling)
    return common.finished(given, image, x, name, f"{common.RELEASES}v0.1/", common.tf_kernels(name))


@export("keras.applications.VGG16", "keras.applications.vgg16.VGG16")
@common.model_of("Makes VGG16 (Simonyan and Zisserman, 2015).")
def VGG16(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _vgg("vgg16", (2, 2, 3, 3, 3), Given(**locals()))


@export("keras.applications.VGG19", "keras.applications.vgg19.VGG19")
@common.model_of("Makes VGG19 (Simonyan and Zisserman, 2015).")
def VGG19(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    return _vgg("vgg19", (2, 2, 4, 4, 4), Given(**locals()))
