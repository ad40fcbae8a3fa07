"""Cells whose units do not see each other's states: each has one recurrent weight, or none."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants, joining, tiling
from tideflow.ops.linalg import matmul
from tideflow.ops.math import unary
from tideflow.ops.nn import activations
from tideflow.rnn.cells import LSTMStateTuple, UnitsCell, basic_lstm_step, input_depth
from tideflow.variables import initializers


class _Independent(UnitsCell):
    """A cell with an input kernel and a recurrent weight for each unit and gate."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def _weights(
        self, depth: int, gates: int, bias_start: Any, prefix: str = "", input_kernel: str = "kernel_w"
    ) -> tuple[Any, Any, Any]:
        """The input kernel, the recurrent weights, and the bias of some gates."""
        units = gates * self._num_units
        kernel = self.add_weight(
            f"{prefix}{input_kernel}", [depth, units], initializer=self._kernel_initializer
        )
        spread = initializers.RandomUniform(minval=-1, maxval=1, dtype=self._dtype)
        recurrent = self.add_weight(f"{prefix}kernel_u", [1, units], initializer=spread)
        start = bias_start if self._bias_initializer is None else self._bias_initializer
        return kernel, recurrent, self.add_weight(f"{prefix}bias", [units], initializer=start)


@export("contrib.rnn.IndRNNCell")
class IndRNNCell(_Independent):
    """A recurrent cell in which each unit sees its own state only (Li et al., 2018).

    Args:
      num_units: The size of the state.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype)

    def build(self, inputs_shape: Any) -> None:
        self._cell = self._weights(input_depth(inputs_shape), 1, self._zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        kernel, recurrent, bias = self._cell
        sums = matmul.matmul(inputs, kernel) + state * recurrent
        output = self._activation(activations.bias_add(sums, bias))
        return output, output


@export("contrib.rnn.IndyGRUCell")
class IndyGRUCell(_Independent):
    """A gated recurrent unit in which each unit sees its own state only.

    Args:
      num_units: The size of the state.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      kernel_initializer: The initializer of the input weights.
      bias_initializer: The initializer of the biases; ones for the gates and zeros elsewhere if None.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
    """

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        ones = initializers.Constant(1.0, dtype=self._dtype)
        self._gates = self._weights(depth, 2, ones, "gates/")
        self._candidate = self._weights(depth, 1, self._zeros_initializer(), "candidate/", "kernel")
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        kernel, recurrent, bias = self._gates
        sums = matmul.matmul(inputs, kernel) + tiling.tile(state, [1, 2]) * recurrent
        gates = unary.sigmoid(activations.bias_add(sums, bias))
        reset, update = joining.split(gates, 2, axis=1)
        kept = reset * state
        kernel, recurrent, bias = self._candidate
        sums = matmul.matmul(inputs, kernel) + kept * recurrent
        candidate = self._activation(activations.bias_add(sums, bias))
        output = update * state + (1 - update) * candidate
        return output, output


@export("contrib.rnn.IndyLSTMCell")
class IndyLSTMCell(_Independent):
    """Long short-term memory in which each unit sees its own output only (Gonnet, Deselaers 2019).

    Args:
      num_units: The size of the state.
      forget_bias: What is added to the forget gate.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      kernel_initializer: The initializer of the input weights.
      bias_initializer: The initializer of the biases; zeros if None.
      name: The name of the cell.
      dtype: The type of the variables; that of the input if None.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape: Any) -> None:
        self._cell = self._weights(input_depth(inputs_shape), 4, self._zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        one = constants.constant(1, dtype=dtypes.int32)
        kernel, recurrent, bias = self._cell
        c, h = state
        sums = matmul.matmul(inputs, kernel)
        sums += tiling.tile(h, [1, 4]) * recurrent
        gates = joining.split(activations.bias_add(sums, bias), 4, axis=one)
        c, h = basic_lstm_step(gates, c, self._forget_bias, self._activation)
        return h, LSTMStateTuple(c, h)


@export("contrib.rnn.SRUCell")
class SRUCell(UnitsCell):
    """A simple recurrent unit: gates do not depend on the state (Lei et al., 2017).

    Args:
      num_units: The size of the state.
      activation: The activation; tanh if None.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
      name: The name of the cell.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, reuse, name, kwargs.pop("dtype", None), **kwargs)

    def build(self, inputs_shape: Any) -> None:
        self._kernel = self.add_weight("kernel", [input_depth(inputs_shape), 4 * self._num_units])
        self._bias = self.add_weight("bias", [2 * self._num_units], initializer=initializers.Zeros())
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        new, forget, reset, highway = joining.split(matmul.matmul(inputs, self._kernel), 4, axis=1)
        gates = activations.bias_add(joining.concat([forget, reset], 1), self._bias)
        forget, reset = joining.split(unary.sigmoid(gates), 2, axis=1)
        c = forget * state + (1.0 - forget) * new
        return reset * self._activation(c) + (1.0 - reset) * highway, c
