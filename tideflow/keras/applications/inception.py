"""Inception v3 (Szegedy et al., 2015) and Inception-ResNet v2 (Szegedy et al., 2016).

A module of these networks is a table: each branch is a list of convolutions, `(filters, size)` or
`(filters, size, stride)`. One with a stride has no padding, as the first layers of the networks have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given, channels_of, conv, join, relu

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_WIDE, _HIGH = (1, 7), (7, 1)
_STEM = ((32, 3, 2), (32, 3, 1), (64, 3))
_STEM_END = ((80, 1, 1), (192, 3, 1))


def _unit(x: Tensor, filters: int, size: Any, stride: int | None = None, name: str | None = None) -> Tensor:
    """Convolution, normalization, ReLU."""
    padding = "same" if stride is None else "valid"
    x = conv(x, filters, size, name, strides=stride or 1, padding=padding, use_bias=False)
    return relu(common.norm(x, name and f"{name}_bn", scale=False), name and f"{name}_ac")


def _branch(x: Tensor, units: Sequence[Any]) -> Tensor:
    for unit in units:
        x = _unit(x, *unit)
    return x


def _average(x: Tensor, filters: int) -> Tensor:
    return _unit(tf.keras.layers.AveragePooling2D(3, strides=1, padding="same")(x), filters, 1)


def _stem(x: Tensor) -> Tensor:
    for units in (_STEM, _STEM_END):
        x = tf.keras.layers.MaxPooling2D(3, strides=2)(_branch(x, units))
    return x


def _module(x: Tensor, name: str, branches: Sequence[Any], averaged: int | None = None) -> Tensor:
    """Branches side by side. The last one pools: a mean and so many filters, or a maximum of stride 2."""
    made = [_branch(x, units) for units in branches]
    if averaged is not None:
        made.append(_average(x, averaged))
    else:
        made.append(tf.keras.layers.MaxPooling2D(3, strides=2)(x))
    return join(made, name)


def _of_sevens(n: int) -> list[Any]:
    """The branches of the modules on images of 17 x 17."""
    return [
        [(192, 1)],
        [(n, 1), (n, _WIDE), (192, _HIGH)],
        [(n, 1), (n, _HIGH), (n, _WIDE), (n, _HIGH), (192, _WIDE)],
    ]


_OF_FIVES = [[(64, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)]]
_MODULES_V3 = (
    *(("mixed" + str(i), _OF_FIVES, averaged) for i, averaged in enumerate((32, 64, 64))),
    ("mixed3", [[(384, 3, 2)], [(64, 1), (96, 3), (96, 3, 2)]], None),
    *((f"mixed{i}", _of_sevens(n), 192) for i, n in enumerate((128, 160, 160, 192), 4)),
    ("mixed8", [[(192, 1), (320, 3, 2)], [(192, 1), (192, _WIDE), (192, _HIGH), (192, 3, 2)]], None),
)


def _last_module(x: Tensor, number: int) -> Tensor:
    def forked(stem: Tensor, name: str | None = None) -> Tensor:
        return join([_unit(stem, 384, (1, 3)), _unit(stem, 384, (3, 1))], name)

    one = _unit(x, 320, 1)
    three = forked(_unit(x, 384, 1), f"mixed9_{number}")
    double = forked(_branch(x, [(448, 1), (384, 3)]))
    return join([one, three, double, _average(x, 192)], f"mixed{9 + number}")


@export("keras.applications.InceptionV3", "keras.applications.inception_v3.InceptionV3")
@common.model_of("Makes Inception v3 (Szegedy et al., 2015).")
def InceptionV3(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(**locals())
    common.check_weights(given)
    image = common.image_input(given, common.image_shape(given, 299, 75))
    x = _stem(image)
    for name, branches, averaged in _MODULES_V3:
        x = _module(x, name, branches, averaged)
    for number in range(2):
        x = _last_module(x, number)
    x = common.classifier(x, classes, "avg_pool") if include_top else common.features(x, pooling)
    files = common.tf_kernels("inception_v3")
    return common.finished(given, image, x, "inception_v3", f"{common.RELEASES}v0.5/", files)


_RESIDUAL = {
    "block35": [[(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]],
    "block17": [[(192, 1)], [(128, 1), (160, _WIDE), (192, _HIGH)]],
    "block8": [[(192, 1)], [(192, 1), (224, (1, 3)), (256, (3, 1))]],
}
_BEFORE = {
    "block35": ("mixed_5b", [[(96, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)]], 64),
    "block17": ("mixed_6a", [[(384, 3, 2)], [(256, 1), (256, 3), (384, 3, 2)]], None),
    "block8": (
        "mixed_7a",
        [[(256, 1), (384, 3, 2)], [(256, 1), (288, 3, 2)], [(256, 1), (288, 3), (320, 3, 2)]],
        None,
    ),
}
_REPEATED = (("block35", 10, 0.17), ("block17", 20, 0.1), ("block8", 10, 0.2))


def _residual(x: Tensor, kind: str, number: int, scale: float, activates: bool) -> Tensor:
    name = f"{kind}_{number}"
    mixed = join([_branch(x, units) for units in _RESIDUAL[kind]], f"{name}_mixed")
    up = conv(mixed, channels_of(x), 1, f"{name}_conv", padding="same")
    x = tf.keras.layers.Lambda(
        lambda inputs, scale: inputs[0] + inputs[1] * scale,
        output_shape=tuple(x.shape.as_list()[1:]),
        arguments={"scale": scale},
        name=name,
    )([x, up])
    return relu(x, f"{name}_ac") if activates else x


@export("keras.applications.InceptionResNetV2", "keras.applications.inception_resnet_v2.InceptionResNetV2")
@common.model_of("Makes Inception-ResNet v2 (Szegedy et al., 2016).")
def InceptionResNetV2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    input_shape: Sequence[int | None] | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(**locals())
    common.check_weights(given)
    image = common.image_input(given, common.image_shape(given, 299, 75))
    x = _stem(image)
    for kind, times, scale in _REPEATED:
        x = _module(x, *_BEFORE[kind])
        for number in range(1, times + 1):
            last = kind == "block8" and number == times
            x = _residual(x, kind, number, 1.0 if last else scale, activates=not last)
    x = _unit(x, 1536, 1, name="conv_7b")
    x = common.classifier(x, classes, "avg_pool") if include_top else common.features(x, pooling)
    files = common.tf_kernels("inception_resnet_v2")
    return common.finished(given, image, x, "inception_resnet_v2", f"{common.RELEASES}v0.7/", files)
