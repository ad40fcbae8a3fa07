"""Separable and depthwise convolution layers of Keras."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers.argument_docs import described
from tideflow.layers.keras_convolutional import Conv
from tideflow.ops.arrays import shapes, tiling

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike


class SeparableConv(Conv):
    """A convolution of each channel by itself, then one that mixes the channels point by point."""

    _config = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        "depth_multiplier",
        "activation",
        "use_bias",
        "kernel_initializer",
        "kernel_regularizer",
        "kernel_constraint",
        "depthwise_initializer",
        "pointwise_initializer",
        "bias_initializer",
        "depthwise_regularizer",
        "pointwise_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "depthwise_constraint",
        "pointwise_constraint",
        "bias_constraint",
    )

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = 1,
        depth_multiplier: int = 1,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        depthwise_initializer: str | InitializerLike | None = "glorot_uniform",
        pointwise_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        depthwise_regularizer: str | RegularizerLike | None = None,
        pointwise_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        depthwise_constraint: str | Callable | None = None,
        pointwise_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
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
            **kwargs,
        )
        self._keep(
            depth_multiplier=depth_multiplier,
            depthwise_initializer=depthwise_initializer,
            pointwise_initializer=pointwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            pointwise_regularizer=pointwise_regularizer,
            depthwise_constraint=depthwise_constraint,
            pointwise_constraint=pointwise_constraint,
        )

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


_SUMMARY = "Separable convolution over {}: a convolution of each channel, then one that mixes channels."


@export("keras.layers.SeparableConv2D", "keras.layers.SeparableConvolution2D")
@described(_SUMMARY.format("two axes"))
class SeparableConv2D(SeparableConv):
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


@export("keras.layers.SeparableConv1D", "keras.layers.SeparableConvolution1D")
@described(_SUMMARY.format("one axis"), padding='`"valid"`, `"same"` or `"causal"`.')
class SeparableConv1D(SeparableConv):
    rank = 1
    _paddings = ("valid", "same", "causal")

    def call(self, inputs: Tensor) -> Tensor:
        last = self.data_format == "channels_last"
        if self.padding == "causal":
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = tiling.pad(
                inputs, [[0, 0], [before, 0], [0, 0]] if last else [[0, 0], [0, 0], [before, 0]]
            )
        axis = 1 if last else 2
        strides = (1, *self.strides * 2, 1) if last else (1, 1, *self.strides * 2)
        outputs = nn.separable_conv2d(
            shapes.expand_dims(inputs, axis),
            shapes.expand_dims(self.depthwise_kernel, 0),
            shapes.expand_dims(self.pointwise_kernel, 0),
            strides=strides,
            padding="VALID" if self.padding == "causal" else self.padding.upper(),
            rate=(1, *self.dilation_rate),
            data_format="NHWC" if last else "NCHW",
        )
        return self._activated(shapes.squeeze(self._biased(outputs, "NHWC" if last else "NCHW"), [axis]))


@export("keras.layers.DepthwiseConv2D")
@described("Convolution of each channel by itself, over two axes.")
class DepthwiseConv2D(Conv):
    rank = 2
    _config = (
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        "activation",
        "use_bias",
        "bias_initializer",
        "bias_regularizer",
        "activity_regularizer",
        "bias_constraint",
        "depth_multiplier",
        "depthwise_initializer",
        "depthwise_regularizer",
        "depthwise_constraint",
    )

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        depthwise_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        depthwise_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        depthwise_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            None,
            kernel_size,
            strides,
            padding,
            data_format,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self._keep(
            depth_multiplier=depth_multiplier,
            depthwise_initializer=depthwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            depthwise_constraint=depthwise_constraint,
        )

    @property
    def _biases(self) -> int:
        return self._input_channels * self.depth_multiplier

    def build(self, input_shape: ShapeLike) -> None:
        if TensorShape(input_shape).ndims < 4:
            raise ValueError(
                "Inputs to `DepthwiseConv2D` should have rank 4. Received input shape:", str(input_shape)
            )
        self._input_channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            (*self.kernel_size, self._input_channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self._add_bias()
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        strides = (1, *self.strides, 1) if self.data_format == "channels_last" else (1, 1, *self.strides)
        outputs = nn.depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides,
            self.padding.upper(),
            rate=self.dilation_rate,
            data_format=self._tensor_format,
        )
        return self._activated(self._biased(outputs))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = super().compute_output_shape(input_shape).as_list()
        channels = TensorShape(input_shape).as_list()[self._channel_axis]
        shape[self._channel_axis] = channels * self.depth_multiplier
        return TensorShape(shape)
