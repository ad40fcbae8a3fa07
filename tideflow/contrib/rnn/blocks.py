"""Cells whose step, or whose whole sequence, is one op."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.scoped import Layer
from tideflow.ops.arrays import creation, indexing, joining, shapes, tiling
from tideflow.ops.math import casting, reductions
from tideflow.ops.nn import rnn_blocks
from tideflow.rnn.cells import LayerRNNCell, LSTMStateTuple
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


def _add_lstm_weights(layer: Any, input_size: int) -> None:
    units = layer._num_units
    layer._kernel = layer.add_weight("kernel", [input_size + units, units * 4])
    layer._bias = layer.add_weight("bias", [units * 4], initializer=initializers.Constant(0.0))
    if layer._use_peephole:
        layer._w_i_diag, layer._w_f_diag, layer._w_o_diag = (
            layer.add_weight(f"w_{gate}_diag", [units]) for gate in "ifo"
        )
    layer.built = True


def _peepholes(layer: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """The peepholes' weights by gate (i, f, o), zeros where there are none."""
    if layer._use_peephole:
        return layer._w_i_diag, layer._w_f_diag, layer._w_o_diag
    none = creation.zeros([layer._num_units], dtype=dtype)
    return none, none, none


@export("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(LayerRNNCell):
    """Long short-term memory, a step in one op.

    Args:
      num_units: The number of units.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      cell_clip: The largest absolute value of the cell's state; any if None.
      use_peephole: Whether the gates see the cell's state.
      dtype: The type of the variables; that of the first input if None.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      name: The name of the layer.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: DTypeLike | None = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: TensorShape) -> None:
        input_size = inputs_shape.as_list()[1]
        if not input_size:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs_shape}")
        _add_lstm_weights(self, input_size)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        wci, wcf, wco = _peepholes(self, self._dtype)
        c, h = state
        gates = rnn_blocks.lstm_block_cell_op(
            *(inputs, c, h, self._kernel, wci, wcf, wco, self._bias),
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        c, h = gates[1], gates[6]
        return h, LSTMStateTuple(c, h)


@export("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(Layer, abc.ABC):
    """A layer that runs an LSTM over inputs of [time, batch, depth], as an op of its own does.

    Args:
      trainable: Whether the layer's variables are trained.
      name: The name of the layer.
      dtype: The type of the variables; that of the first input if None.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """The number of units."""

    @abc.abstractmethod
    def _call_cell(
        self, inputs: Tensor, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> tuple[Tensor, Tensor]:
        """The memories and the outputs of all times."""

    def call(
        self,
        inputs: TensorLike | Sequence[Tensor],
        initial_state: Any = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
    ) -> tuple[Any, LSTMStateTuple]:
        """Runs the network over inputs.

        Args:
          inputs: The inputs, a tensor [time, batch, depth] or a list of tensors.
          initial_state: The state at the start, a pair; zeros if None.
          dtype: The type of the state; needed without an initial one.
          sequence_length: The length of each row, an int32 vector; all of it if None.

        Returns:
          The outputs of all times, and the state after each row's last.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = joining.stack(inputs)
        time_len, batch_size, depth = inputs.shape.with_rank(3).as_list()
        if not depth:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.shape}")
        batch_size = shapes.shape(inputs)[1] if batch_size is None else batch_size
        time_len = shapes.shape(inputs)[0] if time_len is None else time_len
        c, h = initial_state = self._initial(initial_state, batch_size, dtype)
        dtype = initial_state[0].dtype if dtype is None else dtype
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        memories, outputs = self._call_cell(inputs, c, h, dtype, sequence_length)
        if sequence_length is None:
            last = LSTMStateTuple(memories[-1], outputs[-1])
        else:
            outputs *= self._mask(sequence_length, time_len, dtype)
            memories = joining.concat([shapes.expand_dims(c, [0]), memories], 0)
            with_first = joining.concat([shapes.expand_dims(h, [0]), outputs], 0)
            rows = [_rows_at(each, sequence_length, batch_size) for each in (memories, with_first)]
            last = LSTMStateTuple(*rows)
        return joining.unstack(outputs) if is_list else outputs, last

    def _initial(self, state: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
        if state is not None:
            if len(state) != 2:
                raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
            return state
        if dtype is None:
            raise ValueError("Either initial_state or dtype needs to be specified")
        zeros = creation.zeros(joining.stack([batch_size, self.num_units]), dtype=dtype)
        return zeros, zeros

    def _mask(self, sequence_length: Tensor, time_len: Any, dtype: Any) -> Tensor:
        lasting = creation.sequence_mask(sequence_length, time_len, dtype=dtype)
        mask = shapes.transpose(lasting, [1, 0])
        return tiling.tile(shapes.expand_dims(mask, [-1]), [1, 1, self.num_units])


def _rows_at(values: Tensor, times: Tensor, batch_size: Any) -> Tensor:
    """Of each row of the batch, its value at its time."""
    return indexing.gather_nd(values, joining.stack([times, creation.range(batch_size)], axis=1))


@export("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """Long short-term memory over a whole sequence in one op.

    Args:
      num_units: The number of units.
      forget_bias: What is added to the forget gate, so that little is forgotten at first.
      cell_clip: The largest absolute value of the cell's state; any if None.
      use_peephole: Whether the gates see the cell's state.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      dtype: The type of the variables; that of the first input if None.
      name: The name of the layer.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        _add_lstm_weights(self, input_shape.as_list()[2])

    def _call_cell(
        self,
        inputs: Tensor,
        initial_cell_state: Any = None,
        initial_output: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> tuple[Tensor, Tensor]:
        time_len = inputs.shape.with_rank(3).as_list()[0]
        time_len = shapes.shape(inputs)[0] if time_len is None else time_len
        wci, wcf, wco = _peepholes(self, dtype)
        longest = time_len if sequence_length is None else reductions.reduce_max(sequence_length)
        gates = rnn_blocks.block_lstm_op(
            casting.cast(longest, dtypes.int64),
            *(inputs, initial_cell_state, initial_output, self._kernel, wci, wcf, wco, self._bias),
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return gates[1], gates[6]


@export("contrib.rnn.GRUBlockCell")
class GRUBlockCell(LayerRNNCell):
    """Gated recurrent unit, a step in one op.

    Args:
      num_units: The number of units.
      cell_size: A deprecated name of `num_units`.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      name: The name of the layer.
    """

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> int:
        return self._cell_size

    @property
    def output_size(self) -> int:
        return self._cell_size

    def build(self, input_shape: TensorShape) -> None:
        input_size, units = input_shape.as_list()[1], self._cell_size
        if input_size is None:
            raise ValueError("Expecting input_size to be set.")
        gate_kernel, gate_bias, kernel, bias = self._names
        self._gate_kernel = self.add_weight(gate_kernel, [input_size + units, units * 2])
        self._gate_bias = self.add_weight(gate_bias, [units * 2], initializer=initializers.Constant(1.0))
        self._candidate_kernel = self.add_weight(kernel, [input_size + units, units])
        self._candidate_bias = self.add_weight(bias, [units], initializer=initializers.Constant(0.0))
        self.built = True

    def call(self, inputs: Tensor, h_prev: Tensor) -> tuple[Tensor, Tensor]:
        width = h_prev.shape.with_rank(2).as_list()[1]
        if width != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {width}")
        weights = (self._gate_kernel, self._candidate_kernel, self._gate_bias, self._candidate_bias)
        *_, h = rnn_blocks.gru_block_cell_op(inputs, h_prev, *weights)
        return h, h


@export("contrib.rnn.GRUBlockCellV2")
class GRUBlockCellV2(GRUBlockCell):
    """`GRUBlockCell` with the names that `tf.nn.rnn_cell.GRUCell` gives its variables.

    Args:
      num_units: The number of units.
      cell_size: A deprecated name of `num_units`.
      reuse: Whether the variables of an earlier cell of the same scope are shared.
      name: The name of the layer.
    """

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
