"""ConvLSTM2D: a recurrent layer over images, whose gates are convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras.backend import neural
from tideflow.keras.layers.cells import BOUNDS, WEIGHTS, Cell, OfCell, add_weights, forgetful
from tideflow.layers.argument_docs import described
from tideflow.layers.shapes import check_data_format, check_padding, convolved_size, sizes

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike


class ConvLSTM2DCell(Cell):
    """The cell of `ConvLSTM2D`."""

    _gates = 4
    _config = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        "activation",
        "recurrent_activation",
        "use_bias",
        *WEIGHTS,
        "unit_forget_bias",
        *BOUNDS,
        "dropout",
        "recurrent_dropout",
    )

    def __init__(self, **given: Any):
        own = {name: given.pop(name) for name in self._config}
        super().__init__(**given)
        self._take(own)
        self.kernel_size = sizes(self.kernel_size, 2, "kernel_size")
        self.strides = sizes(self.strides, 2, "strides")
        self.padding = check_padding(self.padding)
        self.data_format = check_data_format(self.data_format)
        self.dilation_rate = sizes(self.dilation_rate, 2, "dilation_rate")
        self.state_size = (self.filters, self.filters)

    def build(self, input_shape: Any) -> None:
        channels = tf.TensorShape(input_shape).as_list()[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        width = self.filters * 4
        bias = (
            forgetful(self.bias_initializer, self.filters) if self.unit_forget_bias else self.bias_initializer
        )
        add_weights(
            self,
            (*self.kernel_size, channels, width),
            (*self.kernel_size, self.filters, width),
            (width,) if self.use_bias else None,
            bias,
        )
        self.built = True

    def input_conv(self, x: Any, kernel: Any, bias: Any = None) -> Any:
        """What one gate takes from the image of a time step."""
        x = neural.conv2d(
            x,
            kernel,
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )
        return x if bias is None else neural.bias_add(x, bias, data_format=self.data_format)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        h, carry = states
        masks, recurrent_masks = self._masks(inputs, h, training)
        kernels = tf.split(self.kernel, 4, axis=3)
        recurrent_kernels = tf.split(self.recurrent_kernel, 4, axis=3)
        biases = tf.split(self.bias, 4) if self.use_bias else [None] * 4

        def gate(k: int) -> Any:
            x = self.input_conv(inputs * masks[k] if masks else inputs, kernels[k], biases[k])
            state = h * recurrent_masks[k] if recurrent_masks else h
            return x + neural.conv2d(
                state, recurrent_kernels[k], padding="same", data_format=self.data_format
            )

        i, f, c, o = (gate(k) for k in range(4))
        carry = self.recurrent_activation(f) * carry + self.recurrent_activation(i) * self.activation(c)
        h = self.recurrent_activation(o) * self.activation(carry)
        return h, [h, carry]


@export("keras.layers.ConvLSTM2D")
@described("Long short-term memory over images, whose gates are convolutions (Shi et al., 2015).")
class ConvLSTM2D(OfCell):
    _cell = ConvLSTM2DCell
    _input_rank = 5

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: int | Sequence[int] = (1, 1),
        activation: str | Callable | None = "tanh",
        recurrent_activation: str | Callable | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        recurrent_initializer: str | InitializerLike | None = "orthogonal",
        bias_initializer: str | InitializerLike | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | RegularizerLike | None = None,
        recurrent_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        activity_regularizer: str | RegularizerLike | None = None,
        kernel_constraint: str | Callable | None = None,
        recurrent_constraint: str | Callable | None = None,
        bias_constraint: str | Callable | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ):
        if kwargs.get("unroll"):
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        self._init(locals(), kwargs)

    def _image(self, shape: Sequence[int | None]) -> list[int | None]:
        """The shape of the output of a time step, without the batch."""
        first = self.data_format == "channels_first"
        inner = shape[3:] if first else shape[2:4]
        spans = zip(inner, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        inner = [convolved_size(n, k, self.padding, s, d) for n, k, s, d in spans]
        return [self.filters, *inner] if first else [*inner, self.filters]

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = tf.TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()
        image = self._image(shape)
        output = tf.TensorShape([*shape[: 2 if self.return_sequences else 1], *image])
        return [output, *[tf.TensorShape([shape[0], *image])] * 2] if self.return_state else output

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()
        self._state_shape = self._image(shape)
        super().build(input_shape)

    def _sizes_of_states(self) -> list[list[int]]:
        if None in self._state_shape:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size and the number of rows and columns: "
                "give `batch_input_shape` to the first layer of a Sequential model, or `batch_shape` to an "
                "Input."
            )
        return [self._state_shape] * 2

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Makes states of zeros.

        Args:
          inputs: The sequences of images.

        Returns:
          A list of states.
        """
        kernel = [*self.cell.kernel.shape.as_list()[:-1], self.filters]
        zeros = tf.reduce_sum(tf.zeros_like(inputs), axis=1)
        return [self.cell.input_conv(zeros, tf.zeros(kernel, inputs.dtype))] * 2
