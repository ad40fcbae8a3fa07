"""Functions that eager mode calls after each operation: those of a program, and checks for inf and NaN."""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tideflow.eager import watching
from tideflow.export import export
from tideflow.graph.scopes import executing_eagerly
from tideflow.platform import logging


@export("contrib.eager.ExecutionCallback")
class ExecutionCallback(enum.Enum):
    """What happens where an operation gives inf or NaN."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An operation has given inf or NaN.

    Args:
      op_type: The op type.
      op_name: The name of the call, or None.
      output_index: Which output it was.
      num_outputs: How many there are.
      value: The value, an array.
    """

    def __init__(self, op_type: str, op_name: str | None, output_index: int, num_outputs: int, value: Any):
        self.op_type = op_type
        self.op_name = op_name
        self.output_index = output_index
        self.num_outputs = num_outputs
        self.value = value
        counts = {"inf(s)": np.count_nonzero(np.isinf(value)), "nan(s)": np.count_nonzero(np.isnan(value))}
        found = " and ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name: {op_name!r}) "
            f"contains {found} out of a total of {np.size(value)} element(s). Tensor value: {value}"
        )


@export("contrib.eager.inf_nan_callback")
def inf_nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Any,
    outputs: Sequence[Any],
    op_name: str | None,
    check_inf: bool = True,
    check_nan: bool = True,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """Looks for inf and NaN in the outputs of an operation.

    Args:
      op_type: The op type.
      inputs: The inputs, which are not looked at.
      attrs: The attributes, which are not looked at.
      outputs: The outputs.
      op_name: The name of the call.
      check_inf: Whether infinities count.
      check_nan: Whether NaNs count.
      action: What happens then, one of `tf.contrib.eager.ExecutionCallback` or its value.

    Raises:
      InfOrNanError: If there are any and `action` is RAISE.
      ValueError: If there are any and `action` is IGNORE, or if there is no such action.
    """
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        if (check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any()):
            _report(InfOrNanError(op_type, op_name, index, len(outputs), value), action)


def _report(error: InfOrNanError, action: ExecutionCallback) -> None:
    if action is ExecutionCallback.PRINT:
        print(f"Warning: {error}")
    elif action is ExecutionCallback.WARN:
        logging.warn(str(error))
    elif action is ExecutionCallback.RAISE:
        raise error
    else:
        raise ValueError(
            f"Invalid action for inf_nan_callback: {action}. Valid actions are: {{PRINT | WARN | RAISE}}"
        )


@export("contrib.eager.inf_callback")
def inf_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Any,
    outputs: Sequence[Any],
    op_name: str | None,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """Looks for inf in the outputs of an operation.

    Args:
      op_type: The op type.
      inputs: The inputs, which are not looked at.
      attrs: The attributes, which are not looked at.
      outputs: The outputs.
      op_name: The name of the call.
      action: What happens then, one of `tf.contrib.eager.ExecutionCallback` or its value.
    """
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


@export("contrib.eager.nan_callback")
def nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Any,
    outputs: Sequence[Any],
    op_name: str | None,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """Looks for NaN in the outputs of an operation.

    Args:
      op_type: The op type.
      inputs: The inputs, which are not looked at.
      attrs: The attributes, which are not looked at.
      outputs: The outputs.
      op_name: The name of the call.
      action: What happens then, one of `tf.contrib.eager.ExecutionCallback` or its value.
    """
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


@export("contrib.eager.add_execution_callback")
def add_execution_callback(callback: Callable[..., Any]) -> None:
    """Has a function called after each operation of eager mode.

    Args:
      callback: Called as `callback(op_type, inputs, attrs, outputs, op_name)`; `attrs` has names and values
        of attributes in turn.
    """
    watching.set_callbacks([*watching.callbacks, callback])


@export("contrib.eager.clear_execution_callbacks")
def clear_execution_callbacks() -> None:
    """Has no function called after operations any more."""
    watching.set_callbacks([])


def _checks(callback: Any) -> bool:
    return callback is inf_nan_callback or getattr(callback, "func", None) is inf_nan_callback


@export("contrib.eager.seterr")
def seterr(inf_or_nan: ExecutionCallback | str | None = None) -> dict[str, ExecutionCallback]:
    """Says what happens where an operation of eager mode gives inf or NaN.

    Args:
      inf_or_nan: One of `tf.contrib.eager.ExecutionCallback` or its value; None changes nothing.

    Returns:
      What was said before, by the names of the arguments.

    Raises:
      ValueError: If there is no such action.
    """
    action = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    before = ExecutionCallback.IGNORE
    for callback in filter(_checks, watching.callbacks):
        before = getattr(callback, "keywords", {}).get("action", ExecutionCallback.RAISE)
    if action is not None:
        kept = [callback for callback in watching.callbacks if not _checks(callback)]
        if action is not ExecutionCallback.IGNORE:
            kept.append(functools.partial(inf_nan_callback, action=action))
        watching.set_callbacks(kept)
    return {"inf_or_nan": before}


@export("contrib.eager.errstate")
@contextlib.contextmanager
def errstate(inf_or_nan: ExecutionCallback | str | None = None) -> Iterator[None]:
    """Says for a block what happens where an operation of eager mode gives inf or NaN.

    Args:
      inf_or_nan: One of `tf.contrib.eager.ExecutionCallback` or its value.

    Yields:
      Nothing.
    """
    before = seterr(inf_or_nan) if executing_eagerly() else {}
    try:
        yield
    finally:
        seterr(**before)
