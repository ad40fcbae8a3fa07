"""Models that are ready: a linear one, and one that is wide and deep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras import optimizers
from tideflow.keras.engine.training import Model
from tideflow.keras.layers import serialization
from tideflow.layers import activations
from tideflow.layers.argument_docs import described
from tideflow.layers.base import Layer
from tideflow.layers.keras_core import Dense
from tideflow.variables import keras_initializers, regularizers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike


@export("keras.experimental.LinearModel")
@described("A linear model of one input or several: a dense layer for each, their sum, and a bias.")
class LinearModel(Model):
    def __init__(
        self,
        units: int = 1,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | InitializerLike | None = "glorot_uniform",
        bias_initializer: str | InitializerLike | None = "zeros",
        kernel_regularizer: str | RegularizerLike | None = None,
        bias_regularizer: str | RegularizerLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras_initializers.get(kernel_initializer)
        self.bias_initializer = keras_initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def build(self, input_shape: Any) -> None:
        """Makes the layers and the bias.

        Args:
          input_shape: The shape of the input, or a list of shapes.
        """
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        self.dense_layers = [
            Dense(
                self.units,
                use_bias=False,
                kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
                input_shape=shape,
            )
            for shape in shapes
        ]
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                (self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                dtype=self.dtype,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Computes the output.

        Args:
          inputs: The input, or a list of inputs.

        Returns:
          The output.

        Raises:
          ValueError: If there are more or fewer inputs than at first.
        """
        inputs = inputs if isinstance(inputs, (tuple, list)) else [inputs]
        if len(inputs) != len(self.dense_layers):
            raise ValueError(f"Expected {len(self.dense_layers)} inputs, but got {len(inputs)} inputs")
        result: Any = None
        for given, layer in zip(inputs, self.dense_layers, strict=True):
            output = layer(given)
            result = output if result is None else result + output
        if self.use_bias:
            result = tf.nn.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {
            **Layer.get_config(self),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": keras_initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras_initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """Makes a model from the result of `get_config`.

        Args:
          config: The arguments by name.
          custom_objects: Not used.

        Returns:
          The model.
        """
        return cls(**config)


@export("keras.experimental.WideDeepModel")
@described(
    "The mean of a linear model and a deep one (Cheng et al., 2016). Each may have an optimizer of its own.",
    linear_model="The linear model.",
    dnn_model="The deep model.",
)
class WideDeepModel(Model):
    def __init__(
        self, linear_model: Any, dnn_model: Any, activation: str | Callable | None = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """Computes the output.

        Args:
          inputs: A list of the inputs of the linear and of the deep model, or one input for both.

        Returns:
          The output.
        """
        two = isinstance(inputs, (tuple, list)) and len(inputs) == 2
        wide, deep = inputs if two else (inputs, inputs)
        output = 0.5 * (self.linear_model(wide) + self.dnn_model(deep))
        return self.activation(output) if self.activation else output

    def compile(self, optimizer: Any = "rmsprop", *args: Any, **kwargs: Any) -> None:
        """Says how the model is trained.

        Args:
          optimizer: The optimizer, or a list of that of the linear and that of the deep model.
          *args: As for `tf.keras.Model.compile`.
          **kwargs: As for `tf.keras.Model.compile`.
        """
        two = isinstance(optimizer, (list, tuple))
        super().compile(optimizer[0] if two else optimizer, *args, **kwargs)
        if two:
            self.optimizer = [optimizers.get(each) for each in optimizer]

    def _optimizer_updates(self) -> list[Any]:
        pair = self.optimizer if isinstance(self.optimizer, list) else [self.optimizer] * 2
        updates: list[Any] = []
        for optimizer, model in zip(pair, (self.linear_model, self.dnn_model), strict=True):
            updates += optimizer.get_updates(self.total_loss, model.trainable_weights)
        return updates

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {
            **Layer.get_config(self),
            "linear_model": serialization.serialize(self.linear_model),
            "dnn_model": serialization.serialize(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """Makes a model from the result of `get_config`.

        Args:
          config: The arguments by name.
          custom_objects: The program's own layers, by class name.

        Returns:
          The model.
        """
        config = dict(config)
        for name in ("linear_model", "dnn_model"):
            config[name] = serialization.deserialize(config[name], custom_objects)
        return cls(**config)
