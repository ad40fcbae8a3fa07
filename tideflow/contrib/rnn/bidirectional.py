"""Networks that run in both directions, one above the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.ops.arrays import joining
from tideflow.rnn import loops
from tideflow.variables import variable_scope as scopes

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike, TensorLike
    from tideflow.variables.variable_scope import VariableScope


def _layers(
    cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any
) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
    """For each layer its scope, entered, its cells and their states; ValueError where they do not match."""
    for cells, name in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {name} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, name in ((states_fw, "fw"), (states_bw, "bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"initial_states_{name} must be a list of state tensors (one per layer).")
    none = [None] * len(cells_fw)
    rows = zip(cells_fw, cells_bw, states_fw or none, states_bw or none, strict=True)
    for number, row in enumerate(rows):
        with scopes.variable_scope(f"cell_{number}") as scope:
            yield scope, *row


@export("contrib.rnn.stack_bidirectional_rnn")
def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Sequence[Tensor],
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[Any, tuple, tuple]:
    """`static_bidirectional_rnn` of each pair of cells on what the pair below it made.

    Args:
      cells_fw: The cells that run forward, one for each layer.
      cells_bw: The cells that run backward, as many.
      inputs: The inputs, a tensor [batch, depth] for each step.
      initial_states_fw: The states of the forward cells at the start; zeros if None.
      initial_states_bw: The states of the backward cells at the start; zeros if None.
      dtype: The type of the states and outputs; needed without initial states.
      sequence_length: The length of each row, an int32 vector; all of it if None.
      scope: The variable scope; `"stack_bidirectional_rnn"` if None.

    Returns:
      The outputs, forward and backward side by side; the last states of the forward cells; those of the
      backward cells.

    Raises:
      ValueError: If there is no pair of cells, or not as many forward as backward.
    """
    states_fw, states_bw = [], []
    layers = _layers(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    with scopes.variable_scope(scope or "stack_bidirectional_rnn"):
        for own, cell_fw, cell_bw, start_fw, start_bw in layers:
            inputs, state_fw, state_bw = loops.static_bidirectional_rnn(
                cell_fw,
                cell_bw,
                inputs,
                initial_state_fw=start_fw,
                initial_state_bw=start_bw,
                sequence_length=sequence_length,
                dtype=dtype,
                scope=own,
            )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


@export("contrib.rnn.stack_bidirectional_dynamic_rnn")
def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: TensorLike,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple, tuple]:
    """`bidirectional_dynamic_rnn` of each pair of cells on what the pair below it made.

    Args:
      cells_fw: The cells that run forward, one for each layer.
      cells_bw: The cells that run backward, as many.
      inputs: The inputs, a tensor [batch, time, depth].
      initial_states_fw: The states of the forward cells at the start; zeros if None.
      initial_states_bw: The states of the backward cells at the start; zeros if None.
      dtype: The type of the states and outputs; needed without initial states.
      sequence_length: The length of each row, an int32 vector; all of it if None.
      parallel_iterations: As of `tf.while_loop`.
      time_major: Whether time is the first axis of inputs and outputs.
      scope: The variable scope; `"stack_bidirectional_rnn"` if None.
      swap_memory: As of `tf.while_loop`.

    Returns:
      The outputs, forward and backward side by side; the last states of the forward cells; those of the
      backward cells.

    Raises:
      ValueError: If there is no pair of cells, or not as many forward as backward.
    """
    states_fw, states_bw = [], []
    layers = _layers(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    with scopes.variable_scope(scope or "stack_bidirectional_rnn"):
        for _, cell_fw, cell_bw, start_fw, start_bw in layers:
            outputs, (state_fw, state_bw) = loops.bidirectional_dynamic_rnn(
                cell_fw,
                cell_bw,
                inputs,
                initial_state_fw=start_fw,
                initial_state_bw=start_bw,
                sequence_length=sequence_length,
                parallel_iterations=parallel_iterations,
                dtype=dtype,
                swap_memory=swap_memory,
                time_major=time_major,
            )
            inputs = joining.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)
