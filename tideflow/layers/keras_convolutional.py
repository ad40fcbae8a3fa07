"""Convolution layers of Keras: plain, transposed and separable. Those of `tf.layers` stand on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import (
    check_data_format,
    check_padding,
    convolved_size,
    deconvolved_size,
    sizes,
    tensor_format,
)
from tideflow.ops.arrays import joining, shapes, tiling
from tideflow.ops.nn import activations

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike


class Conv(Configured):
    """activation(convolution(inputs, kernel) + bias), over `rank` axes."""

    rank: int
    _paddings: tuple[str, ...] = ("valid", "same")
    _config = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
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
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._keep(
            filters=None if filters is None else int(filters),
            kernel_size=sizes(kernel_size, self.rank, "kernel_size"),
            strides=sizes(strides, self.rank, "strides"),
            padding=check_padding(padding, self._paddings),
            data_format=check_data_format(data_format),
            dilation_rate=sizes(dilation_rate, self.rank, "dilation_rate"),
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
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
            padding="VALID" if self.padding == "causal" else self.padding.upper(),
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
            trainable=True,
        )

    @property
    def _biases(self) -> int:
        return self.filters

    def _add_bias(self) -> None:
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                (self._biases,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )

    def call(self, inputs: Tensor) -> Tensor:
        return self._activated(self._biased(self._convolution(inputs, self.kernel)))

    def _biased(self, outputs: Tensor, data_format: str | None = None) -> Tensor:
        if not self.use_bias:
            return outputs
        if self.rank == 1 and self.data_format == "channels_first" and data_format is None:
            return outputs + shapes.reshape(self.bias, (1, self.filters, 1))
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


@export("keras.layers.Conv1D", "keras.layers.Convolution1D")
@described("Convolution over one axis.", padding='`"valid"`, `"same"` or `"causal"`.')
class Conv1D(Conv):
    rank = 1
    _paddings = ("valid", "same", "causal")

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: int | Sequence[int] = 1,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
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
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )

    def call(self, inputs: Tensor) -> Tensor:
        if self.padding == "causal":
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            time = [[before, 0]]
            last = self.data_format == "channels_last"
            inputs = tiling.pad(inputs, [[0, 0], *time, [0, 0]] if last else [[0, 0], [0, 0], *time])
        return super().call(inputs)


@export("keras.layers.Conv2D", "keras.layers.Convolution2D")
@described("Convolution over two axes.")
class Conv2D(Conv):
    rank = 2


@export("keras.layers.Conv3D", "keras.layers.Convolution3D")
@described("Convolution over three axes.")
class Conv3D(Conv):
    rank = 3


class ConvTranspose(Conv):
    """The transpose of a convolution: it makes images larger."""

    output_padding: tuple[int, ...] | None = None
    _config = (*Conv._config, "output_padding")

    def _set_output_padding(self, given: Any) -> None:
        if given is None:
            return
        self.output_padding = sizes(given, self.rank, "output_padding")
        if any(extra >= stride for extra, stride in zip(self.output_padding, self.strides, strict=True)):
            raise ValueError(
                f"Stride {self.strides} must be greater than output padding {self.output_padding}"
            )

    def _larger(self, inner: list[Any]) -> list[Any]:
        extra = self.output_padding or (None,) * self.rank
        spans = zip(inner, self.kernel_size, self.strides, self.dilation_rate, extra, strict=True)
        return [deconvolved_size(n, k, self.padding, s, d, e) for n, k, s, d, e in spans]

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
        larger = self._larger(inner)
        channels_first = self.data_format == "channels_first"
        output_shape = (batch, self.filters, *larger) if channels_first else (batch, *larger, self.filters)
        strides = (1, 1, *self.strides) if channels_first else (1, *self.strides, 1)
        output_shape = joining.stack(output_shape)
        if self.rank == 2:
            output_shape[0]
        outputs = self._transposed(inputs, output_shape, strides)
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._activated(self._biased(outputs))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        inner = shape[2:] if self.data_format == "channels_first" else shape[1:-1]
        return self._outer(shape[0], self._larger(inner))

    def _transposed(self, inputs: Tensor, output_shape: Tensor, strides: tuple[int, ...]) -> Tensor:
        if self.dilation_rate != (1,) * self.rank:
            if self.data_format == "channels_first":
                inputs = shapes.transpose(inputs, [0, 2, 3, 1])
                output_shape = joining.stack([output_shape[i] for i in (0, 2, 3, 1)])
            rate = self.dilation_rate[0]
            outputs = nn.atrous_conv2d_transpose(
                inputs, self.kernel, output_shape, rate, self.padding.upper()
            )
            return (
                shapes.transpose(outputs, [0, 3, 1, 2]) if self.data_format == "channels_first" else outputs
            )
        transposed = nn.conv2d_transpose if self.rank == 2 else nn.conv3d_transpose
        return transposed(
            inputs,
            self.kernel,
            output_shape,
            strides,
            padding=self.padding.upper(),
            data_format=self._tensor_format,
        )


@export("keras.layers.Conv2DTranspose", "keras.layers.Convolution2DTranspose")
@described("Transposed convolution over two axes, which enlarges its input.")
class Conv2DTranspose(ConvTranspose):
    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = (1, 1),
        padding: str = "valid",
        output_padding: int | Sequence[int] | None = None,
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = (1, 1),
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
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
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )
        self._set_output_padding(output_padding)


@export("keras.layers.Conv3DTranspose", "keras.layers.Convolution3DTranspose")
@described("Transposed convolution over three axes, which enlarges its input.")
class Conv3DTranspose(ConvTranspose):
    rank = 3
    _config = tuple(name for name in ConvTranspose._config if name != "dilation_rate")

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = (1, 1, 1),
        padding: str = "valid",
        output_padding: int | Sequence[int] | None = None,
        data_format: str | None = None,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
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
            **kwargs,
        )
        self._set_output_padding(output_padding)
