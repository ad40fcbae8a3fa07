"""Convolution layers: plain, transposed and separable."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.layers import keras_convolutional, keras_separable
from tideflow.layers.function_docs import function_doc
from tideflow.layers.scoped import Layer
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike


class _Conv(keras_convolutional.Conv, Layer):
    """A convolution with the defaults of `tf.layers`."""

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: int | Sequence[int] = 1,
        activation: Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = initializers.Zeros(),
        kernel_regularizer: RegularizerLike | None = None,
        bias_regularizer: RegularizerLike | None = None,
        activity_regularizer: RegularizerLike | None = None,
        kernel_constraint: Callable | None = None,
        bias_constraint: Callable | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


@export("layers.Conv1D")
class Conv1D(_Conv):
    """Convolution over one axis.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 1


@export("layers.Conv2D")
class Conv2D(_Conv):
    """Convolution over two axes.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 2


@export("layers.Conv3D")
class Conv3D(_Conv):
    """Convolution over three axes.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 3


class _ConvTranspose(keras_convolutional.ConvTranspose, _Conv):
    """A transposed convolution with the defaults of `tf.layers`."""

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = initializers.Zeros(),
        kernel_regularizer: RegularizerLike | None = None,
        bias_regularizer: RegularizerLike | None = None,
        activity_regularizer: RegularizerLike | None = None,
        kernel_constraint: Callable | None = None,
        bias_constraint: Callable | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            1,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            trainable,
            name,
            **kwargs,
        )


@export("layers.Conv2DTranspose")
class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution over two axes, which enlarges its input.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 2


@export("layers.Conv3DTranspose")
class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution over three axes, which enlarges its input.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights; that of the variable scope if None.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 3


class _SeparableConv(keras_separable.SeparableConv, Layer):
    """A separable convolution with the defaults of `tf.layers`."""

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: int | Sequence[int] = 1,
        depth_multiplier: int = 1,
        activation: Callable | None = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike | None = None,
        pointwise_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = initializers.Zeros(),
        depthwise_regularizer: RegularizerLike | None = None,
        pointwise_regularizer: RegularizerLike | None = None,
        bias_regularizer: RegularizerLike | None = None,
        activity_regularizer: RegularizerLike | None = None,
        depthwise_constraint: Callable | None = None,
        pointwise_constraint: Callable | None = None,
        bias_constraint: Callable | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            depth_multiplier,
            activation,
            use_bias,
            depthwise_initializer,
            pointwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            pointwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            pointwise_constraint,
            bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


@export("layers.SeparableConv2D")
class SeparableConv2D(_SeparableConv, keras_separable.SeparableConv2D):
    """Separable convolution over two axes: a convolution of each channel, then one that mixes channels.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      depth_multiplier: The number of filters for each input channel.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      depthwise_initializer: The initializer of the depthwise weights.
      pointwise_initializer: The initializer of the pointwise weights.
      bias_initializer: The initializer of the biases.
      depthwise_regularizer: The regularizer of the depthwise weights.
      pointwise_regularizer: The regularizer of the pointwise weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      depthwise_constraint: The constraint of the depthwise weights.
      pointwise_constraint: The constraint of the pointwise weights.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 2


@export("layers.SeparableConv1D")
class SeparableConv1D(_SeparableConv, keras_separable.SeparableConv1D):
    """Separable convolution over one axis: a convolution of each channel, then one that mixes channels.

    Args:
      filters: The number of output channels.
      kernel_size: The size of the filter along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of neighbouring elements of the filter. Only one of strides and dilation may
        be above 1.
      depth_multiplier: The number of filters for each input channel.
      activation: The activation, a function of a tensor; none if None.
      use_bias: Whether there is a bias.
      depthwise_initializer: The initializer of the depthwise weights.
      pointwise_initializer: The initializer of the pointwise weights.
      bias_initializer: The initializer of the biases.
      depthwise_regularizer: The regularizer of the depthwise weights.
      pointwise_regularizer: The regularizer of the pointwise weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      depthwise_constraint: The constraint of the depthwise weights.
      pointwise_constraint: The constraint of the pointwise weights.
      bias_constraint: The constraint of the biases.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 1


# ------------------------------------------------------------------------------------------------ functions


_REUSE = "  reuse: Whether the variables of an earlier layer of the same name are shared.\n"


def _functional(layer: type[_Conv], name: str) -> Callable:
    """The function that makes a layer and applies it once; it takes the layer's arguments, and `reuse`."""
    own = [p for p in inspect.signature(layer).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    inputs = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([inputs, *own, inputs.replace(name="reuse", default=None)])

    def convolve(*args: Any, **kwargs: Any) -> Tensor:
        given = signature.bind(*args, **kwargs).arguments
        inputs, reuse = given.pop("inputs"), given.pop("reuse", None)
        return layer(**given, _reuse=reuse, _scope=given.get("name")).apply(inputs)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = function_doc(layer, _REUSE)
    convolve.__signature__ = signature
    return export(f"layers.{name}")(convolve)


conv1d = _functional(Conv1D, "conv1d")
conv2d = _functional(Conv2D, "conv2d")
conv3d = _functional(Conv3D, "conv3d")
conv2d_transpose = _functional(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = _functional(Conv3DTranspose, "conv3d_transpose")
separable_conv1d = _functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = _functional(SeparableConv2D, "separable_conv2d")
