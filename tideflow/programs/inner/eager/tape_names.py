"""What tests and libraries take from `eager.tape` and `eager.imperative_grad`."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tideflow.autodiff.gradients import UnconnectedGradients
from tideflow.eager.recording import Record, recording
from tideflow.eager.tape import GradientTape
from tideflow.ops.arrays import constants

VSpace = collections.namedtuple(
    "VSpace", ["aggregate_fn", "num_elements_fn", "zeros_fn", "ones_fn", "graph_shape_fn"]
)


class Tape:
    """A tape on the stack of those that record.

    Args:
      tape: The GradientTape.
    """

    def __init__(self, tape: GradientTape):
        self._tape = tape

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that it has watched."""
        return self._tape.watched_variables()


def push_new_tape(persistent: bool = False, watch_accessed_variables: bool = True) -> Tape:
    """Has a new tape record.

    Args:
      persistent: Whether several gradients may be computed.
      watch_accessed_variables: Whether variables are watched as they are read.

    Returns:
      The tape.
    """
    made = Tape(GradientTape(persistent, watch_accessed_variables))
    push_tape(made)
    return made


def push_tape(tape: Tape) -> None:
    """Has a tape record again.

    Args:
      tape: The tape.
    """
    tape._tape._push()


def pop_tape(tape: Tape) -> None:
    """Ends a tape's recording.

    Args:
      tape: The tape.
    """
    tape._tape._pop()


def watch(tape: Tape, tensor: Any) -> None:
    """Has a tape record what is computed from a tensor.

    Args:
      tape: The tape.
      tensor: The tensor.
    """
    tape._tape.watch(tensor)


def watch_variable(tape: Tape, variable: Any) -> None:
    """Has a tape record what is computed from a variable.

    Args:
      tape: The tape.
      variable: The variable.
    """
    tape._tape.watch(variable)


def variable_accessed(variable: Any) -> None:
    """Has all tapes of this thread watch a variable that is read.

    Args:
      variable: The variable.
    """
    variables_accessed([variable])


def variables_accessed(variables: Sequence[Any]) -> None:
    """Has all tapes of this thread watch variables that are read, the trainable ones.

    Args:
      variables: The variables.
    """
    for tape in recording.tapes:
        for variable in variables:
            if variable.trainable and tape._watch_accessed_variables:
                tape.watch(variable)


@contextlib.contextmanager
def stop_recording() -> Iterator[None]:
    """Has no tape of this thread record within a `with` block."""
    before, recording.tapes = recording.tapes, ()
    try:
        yield
    finally:
        recording.tapes = before


def should_record(tensors: Sequence[Any]) -> bool:
    """Whether a tape of this thread watches one of these tensors.

    Args:
      tensors: The tensors.

    Returns:
      Whether one does.
    """
    return any(tape._uses(tensors) for tape in recording.tapes)


def record_operation(
    op_type: str, output_tensors: Sequence[Any], input_tensors: Sequence[Any], backward_function: Callable
) -> None:
    """Has the tapes of this thread keep an operation with a gradient of its own.

    Args:
      op_type: What to call it.
      output_tensors: Its results.
      input_tensors: What they were computed from.
      backward_function: Gives gradients of the inputs for those of the results.
    """
    record = Record(
        constants.identity_n_op,
        {"op_type": op_type},
        list(input_tensors),
        list(output_tensors),
        gradient=lambda op, *grads: backward_function(*grads),
    )
    for tape in recording.tapes:
        tape.add_record(record)


def delete_trace(tensor_id: int) -> None:
    """Has the tapes of this thread forget a tensor.

    Args:
      tensor_id: The `id` of the tensor.
    """
    for tape in recording.tapes:
        tape._tracked.pop(tensor_id, None)


def could_possibly_record() -> bool:
    """Whether a tape of this thread records."""
    return bool(recording.tapes)


def imperative_grad(
    tape: Tape,
    target: Sequence[Any],
    sources: Sequence[Any],
    output_gradients: Sequence[Any] | None = None,
    sources_raw: Sequence[Any] | None = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Any]:
    """Gradients of what a tape recorded.

    Args:
      tape: The tape.
      target: The tensors that are differentiated.
      sources: The tensors by which.
      output_gradients: The weights of the targets; ones where it is None.
      sources_raw: The objects that the sources were made of, whose zeros are returned.
      unconnected_gradients: What to return for a source on which no target depends.

    Returns:
      A gradient, or None, for each source.
    """
    found: list[Any] = tape._tape.gradient(
        list(target), list(sources), output_gradients, UnconnectedGradients(unconnected_gradients)
    )
    return found
