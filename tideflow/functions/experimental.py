"""`tf.experimental`: choices of how functions are run, which are checked and have no effect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tideflow.export import export

_EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")


@export("experimental.function_executor_type")
@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Names the executor of the functions that are called in a `with` block.

    A function runs as one compiled plan, in the thread that calls it, whichever is named.

    Args:
      executor_type: `""` or `"DEFAULT"`, or `"SINGLE_THREADED_EXECUTOR"`.

    Raises:
      ValueError: If there is no such executor.
    """
    if executor_type is not None and executor_type not in _EXECUTORS:
        raise ValueError(f"No executor factory registered for the given executor type: {executor_type}")
    yield


@export("experimental.output_all_intermediates")
def output_all_intermediates(state: bool | None) -> None:
    """Says whether functional conditionals and loops give out what their gradients may need.

    They give out what a gradient asks for when it is built, whatever is said here.

    Args:
      state: True, False, or None for the default.
    """
