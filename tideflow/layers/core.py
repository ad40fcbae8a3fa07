"""Dense, dropout and flatten layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.layers import keras_core
from tideflow.layers.scoped import Layer
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, TensorLike


@export("layers.Dense")
class Dense(keras_core.Dense, Layer):
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
        super().__init__(
            units,
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


@export("layers.Dropout")
class Dropout(keras_core.Dropout, Layer):
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
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs: Tensor, training: TensorLike = False) -> Tensor:
        return super().call(inputs, training=training)


@export("layers.Flatten")
class Flatten(keras_core.Flatten, Layer):
    """Joins all axes but the first into one.

    Args:
      data_format: `"channels_last"` or `"channels_first"`: the order of the axes in the input. The output is
        that of channels last.
      **kwargs: Arguments of `tf.layers.Layer`.
    """


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
