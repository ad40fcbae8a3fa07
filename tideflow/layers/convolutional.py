"""Convolution layers: plain, transposed and separable."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers.base import Layer
from tideflow.layers.function_docs import function_doc
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import (
    check_data_format,
    check_padding,
    convolved_size,
    deconvolved_size,
    sizes,
    tensor_format,
)
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.nn import activations
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike


class _Conv(Layer):
    """activation(convolution(inputs, kernel) + bias), over `rank` axes."""

    rank: int

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
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.filters = int(filters)
        self.kernel_size = sizes(kernel_size, self.rank, "kernel_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding = check_padding(padding)
        self.data_format = check_data_format(data_format)
        self.dilation_rate = sizes(dilation_rate, self.rank, "dilation_rate")
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _channel_axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    @property
    def _tensor_format(self) -> str:
        return tensor_format(self.data_format, self.rank + 2)

    def _channels(self, input_shape: Any) -> int:
        channels = TensorShape(input_shape).tuple[self._channel_axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        return channels

    def build(self, input_shape: ShapeLike) -> None:
        channels = self._channels(input_shape)
        self.kernel = self._add_kernel("kernel", (*self.kernel_size, channels, self.filters))
        self._add_bias()
        self._convolution = nn.Convolution(
            TensorShape(input_shape),
            filter_shape=self.kernel.shape,
            dilation_rate=self.dilation_rate,
            strides=self.strides,
            padding=self.padding.upper(),
            data_format=self._tensor_format,
        )
        self.built = True

    def _add_kernel(self, name: str, shape: tuple[int, ...]) -> Any:
        return self.add_weight(
            name,
            shape,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )

    def _add_bias(self) -> None:
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                (self.filters,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def call(self, inputs: Tensor) -> Tensor:
        return self._activated(self._biased(self._convolution(inputs, self.kernel)))

    def _biased(self, outputs: Tensor, data_format: str | None = None) -> Tensor:
        if not self.use_bias:
            return outputs
        return activations.bias_add(outputs, self.bias, data_format=data_format or self._bias_format)

    @property
    def _bias_format(self) -> str:
        return "NCHW" if self.data_format == "channels_first" else "NHWC"

    def _activated(self, outputs: Tensor) -> Tensor:
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        inner = shape[2:] if self.data_format == "channels_first" else shape[1:-1]
        spans = zip(inner, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        return self._outer(shape[0], [convolved_size(n, k, self.padding, s, d) for n, k, s, d in spans])

    def _outer(self, batch: Any, inner: list[Any]) -> TensorShape:
        if self.data_format == "channels_first":
            return TensorShape([batch, self.filters, *inner])
        return TensorShape([batch, *inner, self.filters])


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


class _ConvTranspose(_Conv):
    """The transpose of a convolution: it makes images larger."""

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

    def build(self, input_shape: ShapeLike) -> None:
        channels = self._channels(input_shape)
        self.kernel = self._add_kernel("kernel", (*self.kernel_size, self.filters, channels))
        self._add_bias()
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        full = shapes.shape(inputs)
        first = 2 if self.data_format == "channels_first" else 1
        batch = full[0]
        inner = [full[first + i] for i in range(self.rank)]
        spans = zip(inner, self.kernel_size, self.strides, strict=True)
        larger = [deconvolved_size(n, k, self.padding, s) for n, k, s in spans]
        channels_first = self.data_format == "channels_first"
        output_shape = (batch, self.filters, *larger) if channels_first else (batch, *larger, self.filters)
        strides = (1, 1, *self.strides) if channels_first else (1, *self.strides, 1)
        transposed = nn.conv2d_transpose if self.rank == 2 else nn.conv3d_transpose
        output_shape = joining.stack(output_shape)
        if self.rank == 2:
            output_shape[0]
        outputs = transposed(
            inputs,
            self.kernel,
            output_shape,
            strides,
            padding=self.padding.upper(),
            data_format=self._tensor_format,
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._activated(self._biased(outputs))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        inner = shape[2:] if self.data_format == "channels_first" else shape[1:-1]
        spans = zip(inner, self.kernel_size, self.strides, strict=True)
        return self._outer(shape[0], [deconvolved_size(n, k, self.padding, s) for n, k, s in spans])


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


class _SeparableConv(_Conv):
    """A convolution of each channel by itself, then one that mixes the channels point by point."""

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
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = depthwise_initializer
        self.pointwise_initializer = pointwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint

    def build(self, input_shape: ShapeLike) -> None:
        channels = self._channels(input_shape)
        between = channels * self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            (*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            (*(1,) * self.rank, between, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )
        self._add_bias()
        self.built = True


@export("layers.SeparableConv2D")
class SeparableConv2D(_SeparableConv):
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

    def call(self, inputs: Tensor) -> Tensor:
        strides = (1, *self.strides, 1) if self.data_format == "channels_last" else (1, 1, *self.strides)
        outputs = nn.separable_conv2d(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=strides,
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=self._tensor_format,
        )
        return self._activated(self._biased(outputs))


@export("layers.SeparableConv1D")
class SeparableConv1D(_SeparableConv):
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

    def call(self, inputs: Tensor) -> Tensor:
        last = self.data_format == "channels_last"
        axis = 1 if last else 2
        strides = (1, *self.strides * 2, 1) if last else (1, 1, *self.strides * 2)
        outputs = nn.separable_conv2d(
            shapes.expand_dims(inputs, axis),
            shapes.expand_dims(self.depthwise_kernel, 0),
            shapes.expand_dims(self.pointwise_kernel, 0),
            strides=strides,
            padding=self.padding.upper(),
            rate=(1, *self.dilation_rate),
            data_format="NHWC" if last else "NCHW",
        )
        return self._activated(shapes.squeeze(self._biased(outputs, "NHWC" if last else "NCHW"), [axis]))


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
