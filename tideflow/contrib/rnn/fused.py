"""Networks that take a whole sequence at once, time first, and cells made into such."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.ops.arrays import joining, tiling
from tideflow.rnn import loops

if TYPE_CHECKING:
    from tideflow.rnn.cells import RNNCell


@export("contrib.rnn.FusedRNNCell")
class FusedRNNCell(abc.ABC):
    """Something that runs over a whole sequence of [time, batch, depth]."""

    @abc.abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """Outputs of all times, and the last state."""


@export("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell that is run over the sequence by `static_rnn` or `dynamic_rnn`.

    Args:
      cell: The cell.
      use_dynamic_rnn: Whether `dynamic_rnn` runs the cell; if not, `static_rnn`.
    """

    def __init__(self, cell: RNNCell, use_dynamic_rnn: bool = False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        options = dict(initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope)
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            inputs = joining.stack(inputs) if is_list else inputs
            outputs, state = loops.dynamic_rnn(self._cell, inputs, time_major=True, **options)
            return joining.unstack(outputs) if is_list else outputs, state
        inputs = inputs if is_list else joining.unstack(inputs)
        outputs, state = loops.static_rnn(self._cell, inputs, **options)
        return outputs if is_list else joining.stack(outputs), state


@export("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """A fused network that reads its inputs from the end; outputs stand where their inputs did.

    Args:
      cell: The fused network.
    """

    def __init__(self, cell: FusedRNNCell):
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(sequence: Any, lengths: Any) -> Any:
    if isinstance(sequence, list):
        return sequence[::-1]
    if lengths is None:
        return tiling.reverse(sequence, [0])
    return tiling.reverse_sequence(sequence, lengths, 0, 1)
