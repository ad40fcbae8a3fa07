"""Long short-term memories that run along frequency as well as along time."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from tideflow.contrib.rnn.cells import sharded
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import dimension_value
from tideflow.ops.arrays import constants, creation, joining, shapes, slicing, tiling
from tideflow.ops.linalg import matmul
from tideflow.ops.math import clipping, unary
from tideflow.ops.nn import activations
from tideflow.rnn.cells import RNNCell, warn_of_joined_state
from tideflow.variables import initializers
from tideflow.variables import variable_scope as scopes


def _clipped(x: Tensor, limit: float | None) -> Tensor:
    return x if limit is None else clipping.clip_by_value(x, -limit, limit)


def _width(inputs: Tensor) -> int:
    width = inputs.shape.with_rank(2).as_list()[-1]
    if width is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return width


def _slices(inputs: Tensor, start: int, count: int, skip: int, size: int) -> list[Tensor]:
    return [slicing.slice(inputs, [0, start + f * skip], [-1, size]) for f in range(count)]


@export("contrib.rnn.TimeFreqLSTMCell")
class TimeFreqLSTMCell(RNNCell):
    """Long short-term memory along frequency in each step of time (Li et al., 2015).

    Args:
      num_units: The size of the state for each slice of the input.
      use_peepholes: Whether gates see the state.
      cell_clip: The limit of the state, if there is one.
      initializer: Unused.
      num_unit_shards: How many variables the weights are split into.
      forget_bias: What is added to the forget gate.
      feature_size: The size of a slice of the input.
      frequency_skip: How far apart slices begin.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def output_size(self) -> int:
        return self._num_units

    @property
    def state_size(self) -> int:
        return 2 * self._num_units

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        units, dtype = self._num_units, inputs.dtype
        count = int((_width(inputs) - self._feature_size) / self._frequency_skip) + 1
        parts = _slices(inputs, 0, count, self._frequency_skip, self._feature_size)
        rows = parts[0].shape.as_list()[1] + 2 * units
        kernel = sharded("W", [rows, 4 * units], dtype, self._num_unit_shards)
        bias = scopes.get_variable("B", [4 * units], initializer=initializers.Zeros(), dtype=dtype)
        peepholes = (
            {gate: scopes.get_variable(f"W_{gate}_diag", [units], dtype=dtype) for gate in "FIO"}
            if self._use_peepholes
            else {}
        )

        def gate(sums: Tensor, name: str, seen: Tensor) -> Tensor:
            return unary.sigmoid(sums + peepholes[name] * seen if peepholes else sums)

        below = creation.zeros([dimension_value(inputs.shape[0]) or inputs.shape[0], units], dtype)
        outputs: Any = None
        states: Any = None
        for number, part in enumerate(parts):
            c = slicing.slice(state, [0, 2 * number * units], [-1, units])
            m = slicing.slice(state, [0, (2 * number + 1) * units], [-1, units])
            sums = matmul.matmul(joining.concat([part, m, below], 1), kernel)
            i, j, f, o = joining.split(activations.bias_add(sums, bias), 4, axis=1)
            c_new = gate(f + self._forget_bias, "F", c) * c + gate(i, "I", c) * unary.tanh(j)
            c_new = _clipped(c_new, self._cell_clip)
            below = gate(o, "O", c_new) * unary.tanh(c_new)
            # One at a time, as TensorFlow does it: later operations get its numbers as seeds.
            states = joining.concat([c_new, below] if states is None else [states, c_new, below], 1)
            outputs = below if outputs is None else joining.concat([outputs, below], 1)
        return outputs, states


class _Way:
    """The weights of one way through a block of the grid: along frequency, or along time."""

    def __init__(self, kernel: Any, bias: Any, peepholes: dict[tuple[str, str], Any]):
        self.kernel = kernel
        self.bias = bias
        self.peepholes = peepholes

    def gate(self, sums: Tensor, name: str, along_frequency: Tensor, along_time: Tensor) -> Tensor:
        if self.peepholes:
            sums = sums + self.peepholes[name, "f"] * along_frequency + self.peepholes[name, "t"] * along_time
        return unary.sigmoid(sums)


@export("contrib.rnn.GridLSTMCell")
class GridLSTMCell(RNNCell):
    """Long short-term memory with a state along frequency beside that along time (Kalchbrenner et al., 2015).

    Args:
      num_units: The size of each state.
      use_peepholes: Whether gates see the states.
      share_time_frequency_weights: Whether both ways have the same weights.
      cell_clip: The limit of the states, if there is one.
      initializer: Unused.
      num_unit_shards: How many variables the weights are split into.
      forget_bias: What is added to the forget gates.
      feature_size: The size of a slice of the input.
      frequency_skip: How far apart slices begin.
      num_frequency_blocks: How many slices each block has.
      start_freqindex_list: Where in the input each block begins; one block of all if None.
      end_freqindex_list: Where each block ends.
      couple_input_forget_gates: Whether as much is forgotten as is taken in.
      state_is_tuple: Whether the state is a named tuple; otherwise it is one tensor.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.

    Raises:
      ValueError: If `num_frequency_blocks` is missing.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        warn_of_joined_state(self, state_is_tuple)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._num_frequency_blocks = num_frequency_blocks
        self._total_blocks = sum(int(count) for count in num_frequency_blocks)
        self._output_size = num_units * self._total_blocks * 2
        self._state_tuple_type = None
        self._state_size: Any = self._output_size
        if state_is_tuple:
            self._name_states("GridLSTMStateTuple", ["state"])

    def _name_states(self, name: str, prefixes: list[str]) -> None:
        fields = [
            f"{prefix}_f{slice_:02d}_b{block:02d}_{kind}"
            for prefix in prefixes
            for block, count in enumerate(self._num_frequency_blocks)
            for slice_ in range(count)
            for kind in "cm"
        ]
        self._state_tuple_type = collections.namedtuple(name, fields)
        self._state_size = self._state_tuple_type(*[self._num_units] * len(fields))

    @property
    def output_size(self) -> int:
        return self._output_size

    @property
    def state_size(self) -> Any:
        return self._state_size

    @property
    def state_tuple_type(self) -> Any:
        """The class of the state, a named tuple."""
        return self._state_tuple_type

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        outputs, states = self._blocks(self._features(inputs), state, _batch_size(inputs))
        if self._state_is_tuple:
            return joining.concat(outputs, 1), self._state_tuple_type(*states)
        joined = joining.concat(states, 1)
        return joining.concat(outputs, 1), joined

    def _blocks(
        self, features: list[list[Tensor]], state: Any, batch_size: Any, prefix: str = "state"
    ) -> tuple[list[Tensor], list[Tensor]]:
        outputs, states = [], []
        for block, parts in enumerate(features):
            block_outputs, block_states = self._block(parts, block, state, batch_size, prefix)
            outputs += block_outputs
            states += block_states
        return outputs, states

    def _ways(self, block: int, width: int, dtype: Any) -> tuple[_Way, _Way]:
        """The weights of a block: along frequency, and along time."""
        gates = 3 if self._couple_input_forget_gates else 4
        shape = [width + 2 * self._num_units, gates * self._num_units]
        ways = ["f"] if self._share_time_frequency_weights else ["f", "t"]
        kernels = []
        for way in ways:
            kernel = sharded(f"W_{way}_{block}", shape, dtype, self._num_unit_shards)
            zeros = initializers.Zeros()
            kernels.append(
                (kernel, scopes.get_variable(f"B_{way}_{block}", shape[1:], initializer=zeros, dtype=dtype))
            )
        peepholes: list[dict[tuple[str, str], Any]] = [{} for _ in ways]
        if self._use_peepholes:
            for found, word in zip(peepholes, ("freq", "time")):
                for gate in "IO" if self._couple_input_forget_gates else "FIO":
                    for axis in "ft":
                        name = f"W_{gate}_diag_{word}{axis}_{block}"
                        found[gate, axis] = scopes.get_variable(name, [self._num_units], dtype=dtype)
        made = [_Way(*pair, found) for pair, found in zip(kernels, peepholes, strict=True)]
        return made[0], made[-1]

    def _block(
        self, parts: list[Tensor], block: int, state: Any, batch_size: Any, prefix: str
    ) -> tuple[list[Tensor], list[Tensor]]:
        dtype, units = parts[0].dtype, self._num_units
        along_frequency, along_time = self._ways(block, parts[0].shape.as_list()[1], dtype)
        m_frequency = creation.zeros([batch_size, units], dtype)
        c_frequency = creation.zeros([batch_size, units], dtype)
        outputs, states = [], []
        for number, part in enumerate(parts):
            if self._state_is_tuple:
                name = f"{prefix}_f{number:02d}_b{block:02d}"
                c_time, m_time = getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
            else:
                c_time = slicing.slice(state, [0, 2 * number * units], [-1, units])
                m_time = slicing.slice(state, [0, (2 * number + 1) * units], [-1, units])
            seen = joining.concat([part, m_time, m_frequency], 1)
            before = c_frequency, c_time
            gates = self._gates(seen, along_frequency)
            shared = along_time is along_frequency
            gates_of_time = gates if shared else self._gates(seen, along_time)
            c_frequency = self._remembered(along_frequency, gates, before, before[0])
            c_time = self._remembered(along_time, gates_of_time, before, before[1])
            m_frequency = along_frequency.gate(gates["O"], "O", c_frequency, c_time) * unary.tanh(c_frequency)
            m_time = along_time.gate(gates_of_time["O"], "O", c_frequency, c_time) * unary.tanh(c_time)
            states += [c_time, m_time]
            outputs += [m_time, m_frequency]
        return outputs, states

    def _gates(self, seen: Tensor, way: _Way) -> dict[str, Tensor]:
        names = "IJO" if self._couple_input_forget_gates else "IJFO"
        sums = activations.bias_add(matmul.matmul(seen, way.kernel), way.bias)
        return dict(zip(names, joining.split(sums, len(names), axis=1)))

    def _remembered(
        self, way: _Way, gates: dict[str, Tensor], before: tuple[Tensor, Tensor], own: Tensor
    ) -> Tensor:
        take = way.gate(gates["I"], "I", *before)
        if self._couple_input_forget_gates:
            keep = 1.0 - take
        else:
            keep = way.gate(gates["F"] + self._forget_bias, "F", *before)
        return _clipped(keep * own + take * unary.tanh(gates["J"]), self._cell_clip)

    def _features(self, inputs: Tensor, offset: int = 0) -> list[list[Tensor]]:
        """The slices of each block; with an offset, of an input padded with zeros at one end."""
        width = _width(inputs)
        if offset != 0:
            around = [0, 0, 0, offset] if offset > 0 else [0, 0, -offset, 0]
            inputs = tiling.pad(inputs, constants.constant(around, shape=[2, 2]), "CONSTANT")
            offset = max(offset, 0)
        starts, stops = self._start_freqindex_list, self._end_freqindex_list
        counts = self._num_frequency_blocks
        if not starts:
            if len(counts) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(counts)}")
            starts, stops = [0], [width]
        elif len(starts) != len(stops or ()):
            raise ValueError(
                f"Length of start and end freqindex_list does not match {len(starts)} {len(stops or ())}"
            )
        elif len(counts) != len(starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list "
                f"{len(counts)} {len(starts)}"
            )
        features = []
        for start, stop, count in zip(starts, stops, counts, strict=True):
            found = int((stop - start - self._feature_size) / self._frequency_skip) + 1
            if found != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {found}, please check the "
                    "input size and filter config are correct."
                )
            features.append(_slices(inputs, start + offset, count, self._frequency_skip, self._feature_size))
        return features


def _batch_size(inputs: Tensor) -> Any:
    return dimension_value(inputs.shape[0]) or shapes.shape(inputs)[0]


@export("contrib.rnn.BidirectionalGridLSTMCell")
class BidirectionalGridLSTMCell(GridLSTMCell):
    """A `GridLSTMCell` that runs along frequency in both directions.

    Args:
      num_units: The size of each state.
      use_peepholes: Whether gates see the states.
      share_time_frequency_weights: Whether both ways have the same weights.
      cell_clip: The limit of the states, if there is one.
      initializer: Unused.
      num_unit_shards: How many variables the weights are split into.
      forget_bias: What is added to the forget gates.
      feature_size: The size of a slice of the input.
      frequency_skip: How far apart slices begin.
      num_frequency_blocks: How many slices each block has.
      start_freqindex_list: Where in the input each block begins; one block of all if None.
      end_freqindex_list: Where each block ends.
      couple_input_forget_gates: Whether as much is forgotten as is taken in.
      backward_slice_offset: By how much the slices of the backward direction are moved.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)
        self._name_states("BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"])
        self._output_size *= 2

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        batch_size = _batch_size(inputs)
        forward = backward = self._features(inputs)
        if self._backward_slice_offset:
            backward = self._features(inputs, self._backward_slice_offset)
        with scopes.variable_scope("fwd"):
            outputs, states = self._blocks(forward, state, batch_size, "fwd_state")
        with scopes.variable_scope("bwd"):
            turned = [parts[::-1] for parts in backward]
            more_outputs, more_states = self._blocks(turned, state, batch_size, "bwd_state")
        joined = self._state_tuple_type(*states, *more_states)
        return joining.concat(outputs + more_outputs, 1), joined
