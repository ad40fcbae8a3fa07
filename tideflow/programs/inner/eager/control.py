"""How eager operations are run and ended: `eager.executor` and `eager.cancellation`; what a thread
has entered.

Kernels of the CPU have run when a call returns, whatever the executor, so waiting for one never takes long.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from tideflow.eager import context as modes
from tideflow.eager.compiled_body import steps_of_thread
from tideflow.graph import errors
from tideflow.graph.scopes import Global
from tideflow.graph.stacks import default_graphs
from tideflow.runtime.waiting import StepContext

# ------------------------------------------------------------------------------------------------ executors


class Executor:
    """What eager operations of a thread are handed to.

    Args:
      handle: Whether calls may return before their operations have run.
    """

    def __init__(self, handle: bool):
        self._handle = handle

    def is_async(self) -> bool:
        """Whether calls may return before their operations have run."""
        return self._handle

    def handle(self) -> bool:
        """What the executor was made of."""
        return self._handle

    def wait(self) -> None:
        """Waits until all operations have run: they have."""

    def clear_error(self) -> None:
        """Forgets errors of operations that ran later: calls have raised them all."""


def new_executor(enable_async: bool) -> Executor:
    """An executor for `context.executor_scope`.

    Args:
      enable_async: Whether calls may return before their operations have run.

    Returns:
      The executor.
    """
    return Executor(enable_async)


# --------------------------------------------------------------------------------------------- cancellation


class CancellationManager:
    """Ends functions that wait, on behalf of another thread."""

    def __init__(self) -> None:
        self._step = StepContext()

    @property
    def is_cancelled(self) -> bool:
        """Whether `start_cancel` was called."""
        return self._step.cancelled

    def start_cancel(self) -> None:
        """Ends all calls of this manager's functions."""
        self._step.cancel()

    def get_cancelable_function(self, concrete_function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which ends with CancelledError after `start_cancel`.

        Args:
          concrete_function: A ConcreteFunction.

        Returns:
          A function of the same arguments.
        """

        def cancelable(*args: Any, **kwargs: Any) -> Any:
            if self.is_cancelled:
                raise errors.CancelledError(None, None, "Function was cancelled before it was started")
            before, steps_of_thread.outer = steps_of_thread.outer, self._step
            try:
                return concrete_function(*args, **kwargs)
            finally:
                steps_of_thread.outer = before

        return cancelable


# ------------------------------------------------------------------------------------------------ switches

ContextSwitch = collections.namedtuple(
    "ContextSwitch", ["is_building_function", "enter_context_fn", "device_stack"]
)


class ContextSwitches:
    """The graphs that this thread has entered, and eager mode, the outermost first."""

    @property
    def stack(self) -> list[ContextSwitch]:
        """One entry for each."""
        is_eager = Global.graph is not None and Global.graph.is_eager
        found = [ContextSwitch(False, modes.eager_mode, None)] if is_eager else []
        for graph in default_graphs.items:
            enter = modes.eager_mode if graph.is_eager else graph.as_default
            devices = None if graph.is_eager else graph._local.devices
            found.append(ContextSwitch(graph.building_function, enter, devices))
        return found
