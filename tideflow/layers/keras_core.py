"""Keras's layers of which `tf.layers` has its own form: dense, dropout and flatten."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers import keras_state
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import check_data_format
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.linalg import contraction, matmul
from tideflow.ops.math import casting
from tideflow.ops.nn import activations
from tideflow.ops.sparse.with_dense import sparse_tensor_dense_matmul

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike, TensorLike


@export("keras.layers.Dense")
class Dense(Configured):
    """A fully connected layer: `activation(inputs @ kernel + bias)`.

    Args:
      units: The size of the output.
      activation: The activation, a function of a tensor or its name; none if None.
      use_bias: Whether there is a bias.
      kernel_initializer: The initializer of the weights.
      bias_initializer: The initializer of the biases.
      kernel_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the biases.
      activity_regularizer: The regularizer of the output.
      kernel_constraint: The constraint of the weights, which optimizers apply after each update.
      bias_constraint: The constraint of the biases.
      **kwargs: Arguments of `tf.keras.layers.Layer`.
    """

    _config = (
        "units",
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
        units: int,
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
        super().__init__(**_flattened_shape(kwargs))
        self._keep(
            units=int(units),
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
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: ShapeLike) -> None:
        dtype = dtypes.as_dtype(self._dtype or keras_state.floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        width = TensorShape(input_shape).as_list()[-1]
        if width is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: width})
        self.kernel = self.add_weight(
            "kernel",
            [width, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        if inputs.shape.ndims > 2:
            outputs = contraction.tensordot(inputs, self.kernel, [[inputs.shape.ndims - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        elif isinstance(inputs, SparseTensor):
            outputs = sparse_tensor_dense_matmul(casting.cast(inputs, self._compute_dtype), self.kernel)
        else:
            outputs = matmul.matmul(casting.cast(inputs, self._compute_dtype), self.kernel)
        if self.use_bias:
            outputs = activations.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.ndims is None or shape.as_list()[-1] is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {input_shape}"
            )
        return shape[:-1].concatenate(self.units)


def _flattened_shape(kwargs: dict[str, Any]) -> dict[str, Any]:
    """`input_dim=3` is a short form of `input_shape=(3,)`."""
    if "input_shape" not in kwargs and "input_dim" in kwargs:
        kwargs["input_shape"] = (kwargs.pop("input_dim"),)
    return kwargs


@export("keras.layers.Dropout")
class Dropout(Configured):
    """Sets random elements to zero during training, and scales the others up.

    Args:
      rate: The probability that an element is dropped.
      noise_shape: The shape of the random decisions, which is broadcast to that of the input.
      seed: The seed of the random numbers.
      **kwargs: Arguments of `tf.keras.layers.Layer`.
    """

    _config = ("rate", "noise_shape", "seed")

    def __init__(
        self, rate: float, noise_shape: TensorLike | None = None, seed: int | None = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _noise_shape(self, inputs: Tensor) -> Any:
        """The shape of the random decisions, with what is open taken from the inputs."""
        if not isinstance(self.noise_shape, (list, tuple)):
            return self.noise_shape
        full = shapes.shape(inputs)
        return [full[axis] if size is None else size for axis, size in enumerate(self.noise_shape)]

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Tensor:
        if training is None:
            training = keras_state.learning_phase()
        return conditionals.smart_cond(
            training,
            lambda: nn.dropout(inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate),
            lambda: constants.identity(inputs),
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


@export("keras.layers.Flatten")
class Flatten(Configured):
    """Joins all axes but the first into one.

    Args:
      data_format: `"channels_last"` or `"channels_first"`: the order of the axes in the input. The output is
        that of channels last.
      **kwargs: Arguments of `tf.keras.layers.Layer`.
    """

    _config = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = check_data_format(data_format)
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
