"""Cells that compute what a layer of tf.contrib.cudnn_rnn does, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.contrib.rnn.blocks import LSTMBlockCell
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import joining
from tideflow.ops.linalg import matmul
from tideflow.ops.math import unary
from tideflow.ops.nn import activations
from tideflow.rnn.cells import GRUCell, input_depth
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, ShapeLike


@export("contrib.cudnn_rnn.CudnnCompatibleLSTMCell")
class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The step of a `CudnnLSTM`: it reads the weights that such a layer saved.

    Args:
      num_units: The number of units.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
    """

    def __init__(self, num_units: int, reuse: bool | None = None):
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


@export("contrib.cudnn_rnn.CudnnCompatibleGRUCell")
class CudnnCompatibleGRUCell(GRUCell):
    """The step of a `CudnnGRU`: it reads the weights that such a layer saved.

    It resets what the weights make of the state, where `tf.nn.rnn_cell.GRUCell` resets the state before.

    Args:
      num_units: The number of units.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      kernel_initializer: The initializer of the weights.
    """

    def __init__(
        self, num_units: int, reuse: bool | None = None, kernel_initializer: InitializerLike | None = None
    ):
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: ShapeLike) -> None:
        depth, units = input_depth(inputs_shape), self._num_units

        def kernel(name: str, rows: int, columns: int) -> Any:
            return self.add_weight(name, [rows, columns], initializer=self._kernel_initializer)

        def bias(name: str, size: int, value: float) -> Any:
            return self.add_weight(name, [size], initializer=initializers.Constant(value, dtype=self._dtype))

        self._gate_kernel = kernel("gates/kernel", depth + units, 2 * units)
        self._gate_bias = bias("gates/bias", 2 * units, 1.0)
        self._input_kernel = kernel("candidate/input_projection/kernel", depth, units)
        self._hidden_kernel = kernel("candidate/hidden_projection/kernel", units, units)
        self._input_bias = bias("candidate/input_projection/bias", units, 0.0)
        self._hidden_bias = bias("candidate/hidden_projection/bias", units, 0.0)
        self.built = True

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        sums = matmul.matmul(joining.concat([inputs, state], 1), self._gate_kernel)
        gates = unary.sigmoid(activations.bias_add(sums, self._gate_bias))
        reset, update = joining.split(gates, 2, axis=1)
        candidate = activations.bias_add(matmul.matmul(inputs, self._input_kernel), self._input_bias)
        hidden = activations.bias_add(matmul.matmul(state, self._hidden_kernel), self._hidden_bias)
        candidate = self._activation(candidate + reset * hidden)
        output = (1 - update) * candidate + update * state
        return output, output
