"""Small gated cells: the minimal recurrent network and the chaos-free one.

They are not in contrib's public namespace: programs take them from `contrib.rnn.python.ops.rnn_cell`.
"""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib.rnn.cells import known_width
from tideflow.graph.operation import Tensor
from tideflow.rnn.cells import LayerRNNCell


class _Gated(LayerRNNCell):
    """A cell of `units` units with the arguments of a Keras layer."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self.units = units
        self.activation = tf.keras.activations.get(activation)
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)
        self.bias_initializer = tf.keras.initializers.get(bias_initializer)

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

    def _width(self, inputs_shape: Any) -> int:
        width = tf.TensorShape(inputs_shape).as_list()[-1]
        if width is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        return width

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "activation": tf.keras.activations.serialize(self.activation),
            "kernel_initializer": tf.keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": tf.keras.initializers.serialize(self.bias_initializer),
        }


class MinimalRNNCell(_Gated):
    """A cell that moves its state towards its activated input, as far as one gate says (Chen, 2017).

    Args:
      units: The size of the state.
      activation: The activation, a function or its name.
      kernel_initializer: The initializer of the weights.
      bias_initializer: The initializer of the gate's bias.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    def build(self, inputs_shape: Any) -> None:
        rows = self._width(inputs_shape) + 2 * self.units
        self.kernel = self.add_weight("kernel", [rows, self.units], initializer=self.kernel_initializer)
        self.bias = self.add_weight("bias", [self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        width = known_width(inputs)
        forward, gate_kernel = tf.split(self.kernel, [width, 2 * self.units], axis=0)
        new = self.activation(tf.matmul(inputs, forward))
        sums = tf.matmul(tf.concat([new, state], 1), gate_kernel)
        gate = tf.sigmoid(tf.nn.bias_add(sums, self.bias))
        output = gate * state + (1 - gate) * new
        return output, output


class CFNCell(_Gated):
    """A chaos-free cell: without input its state decays (Laurent and von Brecht, 2016).

    Args:
      units: The size of the state.
      activation: The activation, a function or its name.
      kernel_initializer: The initializer of the weights.
      bias_initializer: The initializer of the gates' biases.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    def build(self, inputs_shape: Any) -> None:
        width, units, start = self._width(inputs_shape), self.units, self.kernel_initializer
        self.kernel = self.add_weight("kernel", [width, 3 * units], initializer=start)
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [units, 2 * units], initializer=start)
        self.bias = self.add_weight("bias", [2 * units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        known_width(inputs)
        gate_kernel, new_kernel = tf.split(self.kernel, [2 * self.units, self.units], axis=1)
        sums = tf.matmul(state, self.recurrent_kernel) + tf.matmul(inputs, gate_kernel)
        gates = tf.sigmoid(tf.nn.bias_add(sums, self.bias))
        kept, left = tf.split(gates, 2, axis=1)
        new = self.activation(tf.matmul(inputs, new_kernel))
        output = kept * self.activation(state) + (1 - left) * new
        return output, output
