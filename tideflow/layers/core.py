"""Dense, dropout and flatten layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers.base import Layer
from tideflow.layers.input_spec import InputSpec
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.linalg import contraction, matmul
from tideflow.ops.nn import activations
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike, TensorLike


@export("layers.Dense")
class Dense(Layer):
    """A fully connected layer: `activation(inputs @ kernel + bias)`.

    Args:
      units: The size of the output.
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
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        units: int,
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
        self.units = int(units)
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        dtype = dtypes.as_dtype(self._dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        width = TensorShape(input_shape).tuple[-1]
        if width is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: width})
        self.kernel = self.add_weight(
            "kernel",
            [width, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        if inputs.shape.ndims > 2:
            outputs = contraction.tensordot(inputs, self.kernel, [[inputs.shape.ndims - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            outputs = matmul.matmul(inputs, self.kernel)
        if self.use_bias:
            outputs = activations.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.ndims is None or shape.tuple[-1] is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {input_shape}"
            )
        return shape[:-1].concatenate(self.units)


@export("layers.Dropout")
class Dropout(Layer):
    """Sets random elements to zero during training, and scales the others up.

    Args:
      rate: The probability that an element is dropped.
      noise_shape: The shape of the random decisions, which is broadcast to that of the input.
      seed: The seed of the random numbers.
      name: The name of the layer.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        rate: float = 0.5,
        noise_shape: TensorLike | None = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Tensor, training: TensorLike = False) -> Tensor:
        return conditionals.smart_cond(
            training,
            lambda: nn.dropout(inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate),
            lambda: constants.identity(inputs),
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


@export("layers.Flatten")
class Flatten(Layer):
    """Joins all axes but the first into one.

    Args:
      data_format: `"channels_last"` or `"channels_first"`: the order of the axes in the input. The output is
        that of channels last.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = _data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = shapes.transpose(inputs, [0, *range(2, rank), 1])
        sizes = inputs.shape.as_list()
        batch = shapes.shape(inputs)[0] if sizes[0] is None or None in sizes[1:] else sizes[0]
        outputs = shapes.reshape(inputs, (batch, -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        first, *rest = TensorShape(input_shape).as_list()
        return TensorShape([first, TensorShape(rest).num_elements() if None not in rest else None])


def _data_format(value: str | None) -> str:
    value = "channels_last" if value is None else value.lower()
    if value not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". Received: '
            + str(value)
        )
    return value


@export("layers.dense")
def dense(
    inputs: TensorLike,
    units: int,
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
    reuse: bool | None = None,
) -> Tensor:
    """Applies a fully connected layer: `activation(inputs @ kernel + bias)`.

    Args:
      inputs: The input tensor.
      units: The size of the output.
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
      reuse: Whether the variables of an earlier layer of the same name are shared.

    Returns:
      The output tensor, of the shape of the input except for the last axis.
    """
    layer = Dense(
        units,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)


@export("layers.dropout")
def dropout(
    inputs: TensorLike,
    rate: float = 0.5,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    training: TensorLike = False,
    name: str | None = None,
) -> Tensor:
    """Sets random elements to zero during training, and scales the others up.

    Args:
      inputs: The input tensor.
      rate: The probability that an element is dropped.
      noise_shape: The shape of the random decisions, which is broadcast to that of the input.
      seed: The seed of the random numbers.
      training: Whether elements are dropped: a bool or a bool tensor.
      name: The name of the layer.

    Returns:
      The output tensor.
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


@export("layers.flatten")
def flatten(inputs: TensorLike, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """Joins all axes but the first into one.

    Args:
      inputs: The input tensor.
      name: The name of the layer.
      data_format: `"channels_last"` or `"channels_first"`: the order of the axes in the input.

    Returns:
      A matrix.
    """
    return Flatten(name=name, data_format=data_format).apply(inputs)
