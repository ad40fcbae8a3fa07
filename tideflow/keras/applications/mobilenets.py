"""Small models: MobileNet (Howard et al., 2017) and MobileNet v2 (Sandler et al., 2018)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given, channels_of, conv, pad
from tideflow.layers.nodes import is_keras_tensor

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_ALPHA = "The width: the factor of the number of filters of each layer."


def _relu6(x: Tensor, name: str) -> Tensor:
    return tf.keras.layers.ReLU(6.0, name=name)(x)


def _sizes(shape: Sequence[int | None]) -> tuple[int | None, int | None]:
    return (shape[1], shape[2]) if common.channels_first() else (shape[0], shape[1])


def _default_size(shape: Sequence[int | None] | None, known: Sequence[int]) -> int:
    """The size of the images that weights of ImageNet are there for."""
    rows, cols = (None, None) if shape is None else _sizes(shape)
    return rows if rows is not None and rows == cols and rows in known else 224


def _check_width(given: Given, alpha: float, known: Sequence[float], words: str) -> None:
    if given.weights == "imagenet" and alpha not in known:
        raise ValueError(f"If imagenet weights are being loaded, alpha can be one of {words} only.")


def _named_size(given: Given, shape: Sequence[int | None], known: Sequence[int]) -> int | None:
    """The size in the model's name, and in that of its file."""
    rows, cols = _sizes(shape)
    if given.weights == "imagenet" and (rows != cols or rows not in known):
        warnings.warn(
            f"`input_shape` is undefined or non-square, or `rows` is not in {list(known)}. Weights for input "
            "shape (224, 224) will be loaded as the default.",
            stacklevel=4,
        )
        return 224
    return rows


# ----------------------------------------------------------------------------------------------- MobileNet

_SIZES = (128, 160, 192, 224)
_WIDTHS = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0", 0.25: "2_5"}
# The filters and the stride of each block.
_BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *((512, 1),) * 5,
    (1024, 2),
    (1024, 1),
)


def _depthwise_block(x: Tensor, number: int, filters: int, stride: int, multiplier: int) -> Tensor:
    if stride > 1:
        x = pad(x, ((0, 1), (0, 1)), f"conv_pad_{number}")
    x = tf.keras.layers.DepthwiseConv2D(
        3,
        padding="same" if stride == 1 else "valid",
        depth_multiplier=multiplier,
        strides=stride,
        use_bias=False,
        name=f"conv_dw_{number}",
    )(x)
    x = _relu6(common.norm(x, f"conv_dw_{number}_bn"), f"conv_dw_{number}_relu")
    x = conv(x, filters, 1, f"conv_pw_{number}", padding="same", use_bias=False)
    return _relu6(common.norm(x, f"conv_pw_{number}_bn"), f"conv_pw_{number}_relu")


@export("keras.applications.MobileNet", "keras.applications.mobilenet.MobileNet")
@common.model_of(
    "Makes MobileNet (Howard et al., 2017).",
    alpha=_ALPHA,
    depth_multiplier="The number of filters for each channel in the convolutions of single channels.",
    dropout="The probability that a feature is dropped before the classifier.",
)
def MobileNet(
    input_shape: Sequence[int | None] | None = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes)
    layers = tf.keras.layers
    common.check_weights(given)
    shape = common.image_shape(given, _default_size(input_shape, _SIZES), 32)
    if weights == "imagenet" and depth_multiplier != 1:
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1")
    _check_width(given, alpha, tuple(_WIDTHS), "`0.25`, `0.50`, `0.75` or `1.0`")
    rows = _named_size(given, shape, _SIZES)
    image = common.image_input(given, shape)
    x = conv(
        pad(image, ((0, 1), (0, 1)), "conv1_pad"), int(32 * alpha), 3, "conv1", strides=2, use_bias=False
    )
    x = _relu6(common.norm(x, "conv1_bn"), "conv1_relu")
    for number, (filters, stride) in enumerate(_BLOCKS, 1):
        x = _depthwise_block(x, number, int(filters * alpha), stride, depth_multiplier)
    if include_top:
        last = int(1024 * alpha)
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Reshape((last, 1, 1) if common.channels_first() else (1, 1, last), name="reshape_1")(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = conv(x, classes, 1, "conv_preds", padding="same")
        x = layers.Reshape((classes,), name="reshape_2")(x)
        x = layers.Activation("softmax", name="act_softmax")(x)
    else:
        x = common.features(x, pooling)
    stem = f"mobilenet_{_WIDTHS.get(alpha)}_{rows}_tf"
    name = f"mobilenet_{alpha:0.2f}_{rows}"
    return common.finished(
        given, image, x, name, f"{common.RELEASES}v0.6/", (f"{stem}.h5", f"{stem}_no_top.h5")
    )


# -------------------------------------------------------------------------------------------- MobileNet v2

_SIZES_V2 = (96, 128, 160, 192, 224)
# The filters and the stride of each block.
_BLOCKS_V2 = (
    (16, 1),
    (24, 2),
    (24, 1),
    (32, 2),
    *((32, 1),) * 2,
    (64, 2),
    *((64, 1),) * 3,
    *((96, 1),) * 3,
    (160, 2),
    *((160, 1),) * 2,
    (320, 1),
)


def _in_eights(filters: float) -> int:
    """The multiple of eight next to a number of filters, but not less than nine tenths of it."""
    rounded = max(8, int(filters + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * filters else rounded


def _norm(x: Tensor, name: str) -> Tensor:
    return common.norm(x, name, epsilon=1e-3, momentum=0.999)


def _inverted_block(x: Tensor, number: int, filters: int, stride: int) -> Tensor:
    """Wide between narrow ends, with a shortcut from end to end where they are alike."""
    name = f"block_{number}_" if number else "expanded_conv_"
    before, channels = x, channels_of(x)
    if number:
        x = conv(x, 6 * channels, 1, f"{name}expand", padding="same", use_bias=False)
        x = _relu6(_norm(x, f"{name}expand_BN"), f"{name}expand_relu")
    if stride == 2:
        x = pad(x, common.same_padding(x, 3), f"{name}pad")
    x = tf.keras.layers.DepthwiseConv2D(
        3,
        strides=stride,
        use_bias=False,
        padding="same" if stride == 1 else "valid",
        name=f"{name}depthwise",
    )(x)
    x = _relu6(_norm(x, f"{name}depthwise_BN"), f"{name}depthwise_relu")
    x = _norm(conv(x, filters, 1, f"{name}project", padding="same", use_bias=False), f"{name}project_BN")
    if stride == 1 and channels == filters:
        x = tf.keras.layers.Add(name=f"{name}add")([before, x])
    return x


def _check_shapes(given: Given) -> None:
    """An input tensor and a shape must say the same size."""
    if given.input_shape is None or given.input_tensor is None:
        return
    if not is_keras_tensor(given.input_tensor):
        raise ValueError("input_tensor specified: ", given.input_tensor, "is not a keras tensor")
    if given.input_tensor.shape.as_list()[2] != given.input_shape[1]:
        raise ValueError(
            "input_shape: ",
            given.input_shape,
            "and input_tensor: ",
            given.input_tensor,
            "do not meet the same shape requirements",
        )


@export("keras.applications.MobileNetV2", "keras.applications.mobilenet_v2.MobileNetV2")
@common.model_of("Makes MobileNet v2 (Sandler et al., 2018).", alpha=_ALPHA)
def MobileNetV2(
    input_shape: Sequence[int | None] | None = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(include_top, weights, input_tensor, input_shape, pooling, classes)
    common.check_weights(given)
    _check_shapes(given)
    known = input_shape
    if known is None and input_tensor is not None and is_keras_tensor(input_tensor):
        known = input_tensor.shape.as_list()[1:]
    shape = common.image_shape(given, _default_size(known, _SIZES_V2), 32)
    _check_width(
        given, alpha, (0.35, 0.5, 0.75, 1.0, 1.3, 1.4), "`0.35`, `0.50`, `0.75`, `1.0`, `1.3` or `1.4`"
    )
    rows = _named_size(given, shape, _SIZES_V2)
    image = common.image_input(given, shape)
    x = pad(image, common.same_padding(image, 3), "Conv1_pad")
    x = conv(x, _in_eights(32 * alpha), 3, "Conv1", strides=2, use_bias=False)
    x = _relu6(_norm(x, "bn_Conv1"), "Conv1_relu")
    for number, (filters, stride) in enumerate(_BLOCKS_V2):
        x = _inverted_block(x, number, _in_eights(int(filters * alpha)), stride)
    x = conv(x, _in_eights(1280 * max(alpha, 1.0)), 1, "Conv_1", use_bias=False)
    x = _relu6(_norm(x, "Conv_1_bn"), "out_relu")
    x = common.classifier(x, classes, dense="Logits") if include_top else common.features(x, pooling)
    stem = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{rows}"
    origin = "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/"
    name = f"mobilenetv2_{alpha:0.2f}_{rows}"
    return common.finished(given, image, x, name, origin, (f"{stem}.h5", f"{stem}_no_top.h5"))
