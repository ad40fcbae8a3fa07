"""NASNet-A: cells that a search has found (Zoph et al., 2018)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.applications import common
from tideflow.keras.applications.common import Given, channels_of, conv, join, pad, relu
from tideflow.layers import keras_state

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike


def _norm(x: Tensor, name: str) -> Tensor:
    return common.norm(x, name, momentum=0.9997, epsilon=1e-3)


def _conv(x: Tensor, filters: int, name: str, size: int = 1, **kwargs: Any) -> Tensor:
    return conv(x, filters, size, name, use_bias=False, kernel_initializer="he_normal", **kwargs)


def _add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    return tf.keras.layers.Add(name=name)([x, y])


def _separable(x: Tensor, filters: int, name: str, size: int = 3, stride: int = 1) -> Tensor:
    """ReLU, separable convolution and normalization, twice; the first has the stride."""
    with tf.name_scope(f"separable_conv_block_{name}"):
        for number in (1, 2):
            x = _separable_half(x, filters, name, size, stride if number == 1 else 1, number)
    return x


def _separable_half(x: Tensor, filters: int, name: str, size: int, stride: int, number: int) -> Tensor:
    x = relu(x)
    if stride == 2:
        x = pad(x, common.same_padding(x, size), f"separable_conv_1_pad_{name}")
    x = tf.keras.layers.SeparableConv2D(
        filters,
        size,
        strides=stride,
        padding="valid" if stride == 2 else "same",
        use_bias=False,
        kernel_initializer="he_normal",
        name=f"separable_conv_{number}_{name}",
    )(x)
    return _norm(x, f"separable_conv_{number}_bn_{name}")


def _adjusted(before: Tensor | None, x: Tensor, filters: int, name: str) -> Tensor:
    """The output of the cell before the last one, in the size of that of the last one."""
    layers = tf.keras.layers
    if before is None:
        return x
    if before.shape.as_list()[2] != x.shape.as_list()[2]:
        with tf.name_scope(f"adjust_block/adjust_reduction_block_{name}"):
            before = relu(before, f"adjust_relu_1_{name}")
            halves = []
            for number in (1, 2):
                half = before
                if number == 2:  # the pixels between those of the first half
                    half = layers.Cropping2D(((1, 0), (1, 0)))(pad(half, ((0, 1), (0, 1))))
                half = layers.AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_{number}_{name}")(half)
                halves.append(_conv(half, filters // 2, f"adjust_conv_{number}_{name}", padding="same"))
            return _norm(join(halves), f"adjust_bn_{name}")
    if channels_of(before) != filters:
        with tf.name_scope(f"adjust_block/adjust_projection_block_{name}"):
            before = _conv(relu(before), filters, f"adjust_conv_projection_{name}", padding="same")
            return _norm(before, f"adjust_bn_{name}")
    return before


def _squeezed(x: Tensor, filters: int, kind: str, name: str) -> Tensor:
    return _norm(_conv(relu(x), filters, f"{kind}_conv_1_{name}", padding="same"), f"{kind}_bn_1_{name}")


def _pooled(x: Tensor, name: str) -> Tensor:
    return tf.keras.layers.AveragePooling2D(3, strides=1, padding="same", name=name)(x)


def _normal_cell(x: Tensor, before: Tensor | None, filters: int, name: str) -> tuple[Tensor, Tensor]:
    def separable(y: Tensor, place: str, size: int = 3) -> Tensor:
        return _separable(y, filters, f"normal_{place}_{name}", size)

    def add(number: int, y: Tensor, z: Tensor) -> Tensor:
        return _add(y, z, f"normal_add_{number}_{name}")

    with tf.name_scope(f"normal_A_block_{name}"):
        p = _adjusted(before, x, filters, name)
        h = _squeezed(x, filters, "normal", name)
        with tf.name_scope("block_1"):
            one = add(1, separable(h, "left1", 5), separable(p, "right1"))
        with tf.name_scope("block_2"):
            two = add(2, separable(p, "left2", 5), separable(p, "right2"))
        with tf.name_scope("block_3"):
            three = add(3, _pooled(h, f"normal_left3_{name}"), p)
        with tf.name_scope("block_4"):
            four = add(4, *(_pooled(p, f"normal_{side}4_{name}") for side in ("left", "right")))
        with tf.name_scope("block_5"):
            five = add(5, separable(h, "left5"), h)
        return join([p, one, two, three, four, five], f"normal_concat_{name}"), x


def _reduction_cell(x: Tensor, before: Tensor | None, filters: int, name: str) -> tuple[Tensor, Tensor]:
    def separable(y: Tensor, place: str, size: int, stride: int = 2) -> Tensor:
        return _separable(y, filters, f"reduction_{place}_{name}", size, stride)

    def pool(layer: Any, place: str) -> Tensor:
        return layer(3, strides=2, name=f"reduction_{place}_{name}")(padded)

    layers = tf.keras.layers
    with tf.name_scope(f"reduction_A_block_{name}"):
        p = _adjusted(before, x, filters, name)
        h = _squeezed(x, filters, "reduction", name)
        padded = pad(h, common.same_padding(h, 3), f"reduction_pad_1_{name}")
        with tf.name_scope("block_1"):
            one = _add(separable(h, "left1", 5), separable(p, "right1", 7), f"reduction_add_1_{name}")
        with tf.name_scope("block_2"):
            two = pool(layers.MaxPooling2D, "left2")
            two = _add(two, separable(p, "right2", 7), f"reduction_add_2_{name}")
        with tf.name_scope("block_3"):
            three = pool(layers.AveragePooling2D, "left3")
            three = _add(three, separable(p, "right3", 5), f"reduction_add3_{name}")
        with tf.name_scope("block_4"):
            four = _add(two, _pooled(one, f"reduction_left4_{name}"))
        with tf.name_scope("block_5"):
            five = separable(one, "left4", 3, stride=1)
            five = _add(five, pool(layers.MaxPooling2D, "right5"), f"reduction_add4_{name}")
        return join([two, three, four, five], f"reduction_concat_{name}"), x


def _nasnet(given: Given, size: int, width: int, blocks: int, stem: int, skips: bool, files: Any) -> Any:
    """`width` is the number of filters of the first cells; each reduction doubles it."""
    common.check_weights(given)
    shape = given.input_shape
    if isinstance(shape, tuple) and None in shape and given.weights == "imagenet":
        raise ValueError(
            "When specifying the input shape of a NASNet and loading `ImageNet` weights, the input_shape "
            f"argument must be static (no None entries). Got: `input_shape={shape}`."
        )
    image = common.image_input(given, common.image_shape(given._replace(include_top=True), size, 32))
    x = _norm(_conv(image, stem, "stem_conv1", 3, strides=2), "stem_bn1")
    x, p = _reduction_cell(x, None, width // 4, "stem_1")
    x, p = _reduction_cell(x, p, width // 2, "stem_2")
    for stage in range(3):
        filters = width * 2**stage
        if stage:
            x, reduced = _reduction_cell(x, p, filters, f"reduce_{stage * blocks}")
            p = p if skips else reduced
        for block in range(blocks):
            x, p = _normal_cell(x, p, filters, str(stage * blocks + block + (stage > 0)))
    x = relu(x)
    x = common.classifier(x, given.classes) if given.include_top else common.features(x, given.pooling)
    return common.finished(given, image, x, "NASNet", f"{common.RELEASES}v0.8/", files)


def _channels_last(given: Given, *arguments: Any) -> Any:
    if not common.channels_first():
        return _nasnet(given, *arguments)
    warnings.warn(
        "The NASNet family of models is only available for the input data format "
        '"channels_last" (width, height, channels). However your settings specify the default data format '
        '"channels_first" (channels, width, height). The model being returned right now will expect '
        'inputs to follow the "channels_last" data format.',
        stacklevel=3,
    )
    keras_state.set_image_data_format("channels_last")
    try:
        return _nasnet(given, *arguments)
    finally:
        keras_state.set_image_data_format("channels_first")


@export("keras.applications.NASNetLarge", "keras.applications.nasnet.NASNetLarge")
@common.model_of("Makes NASNet-A (6 @ 4032) (Zoph et al., 2018).")
def NASNetLarge(
    input_shape: Sequence[int | None] | None = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(**locals())
    return _channels_last(given, 331, 168, 6, 96, True, ("nasnet_large.h5", "nasnet_large_no_top.h5"))


@export("keras.applications.NASNetMobile", "keras.applications.nasnet.NASNetMobile")
@common.model_of("Makes NASNet-A (4 @ 1056) (Zoph et al., 2018).")
def NASNetMobile(
    input_shape: Sequence[int | None] | None = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: TensorLike | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    given = Given(**locals())
    return _channels_last(given, 224, 44, 4, 32, False, ("nasnet_mobile.h5", "nasnet_mobile_no_top.h5"))
