"""The weights of a stack in one buffer, as cuDNN has them, and by cell, as the cells of TensorFlow do."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.helpers.recurrent_layouts import GATES, Layout
from tideflow.ops.nn import cudnn_params

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

UNIDIRECTIONAL, BIDIRECTIONAL = "unidirectional", "bidirectional"


def _cut(parts: Sequence[Any], count: int) -> list[list[Any]]:
    """The parts in `count` equal runs."""
    size = len(parts) // count
    return [list(parts[i * size : (i + 1) * size]) for i in range(count)]


class _Converter(abc.ABC):
    """What the converters of all kinds of cells share.

    Args:
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_size: The size of the inputs of the first layer.
      num_proj: The size of a projection of the outputs; None for none.
      input_mode: How the first layer takes its inputs.
      direction: `"unidirectional"` or `"bidirectional"`.
    """

    _rnn_mode: ClassVar[str]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = "linear_input",
        direction: str = UNIDIRECTIONAL,
    ):
        self._sizes = num_layers, num_units, input_size
        self._num_proj = num_proj
        self._modes = {"rnn_mode": self._rnn_mode, "input_mode": input_mode, "direction": direction}
        self._layout = Layout.of(*self._sizes, num_proj, **self._modes)
        self._gates = GATES[self._rnn_mode]
        self._cells = num_layers * self._layout.directions

    def tf_canonical_to_opaque(
        self, tf_canonicals: Sequence[TensorLike], weights_proj: Sequence[TensorLike] | None = None
    ) -> Tensor:
        """Makes the buffer from the weights of cells.

        Args:
          tf_canonicals: The weights of all cells, layer after layer, the forward one first, then their
            biases: a list of tensors.
          weights_proj: The weights of the projections, a list of tensors; None for none.

        Returns:
          The buffer, a vector.
        """
        half = len(tf_canonicals) // 2
        weights, biases = [], []
        for i, cell in enumerate(_cut(tf_canonicals[:half], self._cells)):
            weights += self._weights_to_gates(i // self._layout.directions, *cell)
            if weights_proj is not None:
                weights.append(shapes.transpose(weights_proj[i]))
        for cell in _cut(tf_canonicals[half:], self._cells):
            biases += self._biases_to_gates(*cell)
        flat = [shapes.reshape(part, [-1]) for part in weights]
        if self._num_proj:
            return cudnn_params.canonical_to_params_v2_op(
                *self._sizes, flat, biases, num_proj=self._num_proj, **self._modes
            )
        return cudnn_params.canonical_to_params_op(*self._sizes, flat, biases, **self._modes)

    def opaque_to_tf_canonical(self, opaque_param: TensorLike) -> tuple[list[Tensor], ...]:
        """Takes the weights of cells from the buffer.

        Args:
          opaque_param: The buffer, a vector.

        Returns:
          The weights of all cells, layer after layer, the forward one first, their biases and, with
          `num_proj`, the weights of the projections.
        """
        count = 2 * self._gates * self._cells
        if self._num_proj:
            parts = cudnn_params.params_to_canonical_v2_op(
                *self._sizes,
                opaque_param,
                num_params_weights=count + self._cells,
                num_params_biases=count,
                num_proj=self._num_proj,
                **self._modes,
            )
        else:
            parts = cudnn_params.params_to_canonical_op(
                *self._sizes, opaque_param, num_params=count, **self._modes
            )
        weights, biases, projections = [], [], []
        for cell in _cut(parts[0], self._cells):
            if self._num_proj:
                projections.append(shapes.transpose(cell.pop()))
            weights += self._gates_to_weights(*cell)
        for cell in _cut(parts[1], self._cells):
            biases += self._gates_to_biases(*cell)
        return (weights, biases, projections) if self._num_proj else (weights, biases)

    # ------------------------------------------------------------------ one cell

    def _split_columns(self, layer: int, weights: Tensor) -> list[Tensor]:
        """Weights of the inputs, and of the state."""
        return joining.split(weights, [self._layout.input_width(layer), self._layout.state], axis=1)

    @abc.abstractmethod
    def _weights_to_gates(self, layer: int, *weights: TensorLike) -> list[Tensor]:
        """The weights of each gate of inputs, then of the state, from those of a cell."""

    @abc.abstractmethod
    def _gates_to_weights(self, *gates: Tensor) -> list[Tensor]:
        """The weights of a cell, from those of its gates."""

    @abc.abstractmethod
    def _biases_to_gates(self, *biases: TensorLike) -> list[Tensor]:
        """The biases of each gate, from those of a cell."""

    @abc.abstractmethod
    def _gates_to_biases(self, *gates: Tensor) -> list[Tensor]:
        """The biases of a cell, from those of its gates."""


class _OneKernel(_Converter):
    """Cells with one kernel and one bias, in which the gates stand in an order of their own."""

    _order: ClassVar[tuple[int, ...]]  # of the cell's gates in cuDNN; it is its own reverse

    def _weights_to_gates(self, layer: int, *weights: TensorLike) -> list[Tensor]:
        rows = joining.split(shapes.transpose(*weights), self._gates, axis=0)
        parts = [self._split_columns(layer, rows[i]) for i in self._order]
        return [part[0] for part in parts] + [part[1] for part in parts]

    def _gates_to_weights(self, *gates: Tensor) -> list[Tensor]:
        of_inputs, of_state = _cut(gates, 2)
        rows = [joining.concat([of_inputs[i], of_state[i]], axis=1) for i in self._order]
        return [shapes.transpose(joining.concat(rows, axis=0))]

    def _biases_to_gates(self, *biases: TensorLike) -> list[Tensor]:
        """A cell has one bias where cuDNN adds two: each is half of it."""
        (bias,) = biases
        parts = joining.split(bias, self._gates, axis=0)
        return [parts[i] * 0.5 for i in self._order] * 2

    def _gates_to_biases(self, *gates: Tensor) -> list[Tensor]:
        of_inputs, of_state = _cut(gates, 2)
        return [joining.concat([of_inputs[i] + of_state[i] for i in self._order], axis=0)]


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM")
class CudnnParamsFormatConverterLSTM(_OneKernel):
    """Converts the weights of a stack of LSTMs, to and from those of `CudnnCompatibleLSTMCell`.

    Args:
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_size: The size of the inputs of the first layer.
      num_proj: The size of a projection of the outputs; None for none.
      input_mode: How the first layer takes its inputs.
      direction: `"unidirectional"` or `"bidirectional"`.
    """

    _rnn_mode, _order = "lstm", (0, 2, 1, 3)


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterTanh")
class CudnnParamsFormatConverterTanh(_OneKernel):
    """Converts the weights of a stack of tanh layers, to and from those of `tf.nn.rnn_cell.BasicRNNCell`.

    Args:
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_size: The size of the inputs of the first layer.
      num_proj: None.
      input_mode: How the first layer takes its inputs.
      direction: `"unidirectional"` or `"bidirectional"`.
    """

    _rnn_mode, _order = "rnn_tanh", (0,)


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterRelu")
class CudnnParamsFormatConverterRelu(_OneKernel):
    """Converts the weights of a stack of ReLU layers, to and from those of `tf.nn.rnn_cell.BasicRNNCell`.

    Args:
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_size: The size of the inputs of the first layer.
      num_proj: None.
      input_mode: How the first layer takes its inputs.
      direction: `"unidirectional"` or `"bidirectional"`.
    """

    _rnn_mode, _order = "rnn_relu", (0,)


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterGRU")
class CudnnParamsFormatConverterGRU(_Converter):
    """Converts the weights of a stack of GRUs, to and from those of `CudnnCompatibleGRUCell`.

    Args:
      num_layers: The number of layers.
      num_units: The number of units of a layer.
      input_size: The size of the inputs of the first layer.
      num_proj: None.
      input_mode: How the first layer takes its inputs.
      direction: `"unidirectional"` or `"bidirectional"`.
    """

    _rnn_mode = "gru"

    def _weights_to_gates(self, layer: int, *weights: TensorLike) -> list[Tensor]:
        gates, of_inputs, of_state = (shapes.transpose(part) for part in weights)
        reset, update = (self._split_columns(layer, part) for part in joining.split(gates, 2, axis=0))
        return [reset[0], update[0], of_inputs, reset[1], update[1], of_state]

    def _gates_to_weights(self, *gates: Tensor) -> list[Tensor]:
        (reset, update, of_inputs), (reset_state, update_state, of_state) = _cut(gates, 2)
        rows = [joining.concat([reset, reset_state], axis=1), joining.concat([update, update_state], axis=1)]
        both = shapes.transpose(joining.concat(rows, axis=0))
        return [both, shapes.transpose(of_inputs), shapes.transpose(of_state)]

    def _biases_to_gates(self, *biases: TensorLike) -> list[Tensor]:
        gates, of_inputs, of_state = biases
        halves = joining.split(gates * 0.5, 2, axis=0)
        return [*halves, of_inputs, *halves, of_state]

    def _gates_to_biases(self, *gates: Tensor) -> list[Tensor]:
        (reset, update, of_inputs), (reset_state, update_state, of_state) = _cut(gates, 2)
        return [joining.concat([reset + reset_state, update + update_state], axis=0), of_inputs, of_state]
