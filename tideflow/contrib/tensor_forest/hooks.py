"""Hooks of sessions that train forests."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor

_log = logging.getLogger("tensorflow")
LOSS_NAME = "rf_training_loss"


@export("contrib.tensor_forest.random_forest.TensorForestRunOpAtEndHook")
class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs operations when training ends, in the order of their names, and logs what they say.

    Args:
      op_dict: The operations by name.
    """

    def __init__(self, op_dict: Mapping[str, Any]):
        self._ops = op_dict

    def end(self, session: Any) -> None:
        """Runs the operations.

        Args:
          session: The session that ends.
        """
        for name in sorted(self._ops):
            _log.info("%s: %s", name, session.run(self._ops[name]))


@export("contrib.tensor_forest.random_forest.TensorForestLossHook")
class TensorForestLossHook(SessionRunHook):
    """Ends training when the loss has not fallen for some steps.

    Args:
      early_stopping_rounds: For how many steps it need not fall.
      early_stopping_loss_threshold: By which share it must fall to count.
      loss_op: The loss, a scalar; the tensor called `rf_training_loss` if None.
    """

    def __init__(
        self,
        early_stopping_rounds: int,
        early_stopping_loss_threshold: float | None = None,
        loss_op: Tensor | None = None,
    ):
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: float | None = None
        self.last_step, self.steps = -1, 0

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the step and the loss.

        Args:
          run_context: The context of the run.
        """
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name(LOSS_NAME).outputs[0]
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks at the loss, and asks to stop.

        Args:
          run_context: The context of the run.
          run_values: The step and the loss.
        """
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        if self.last_step == -1 or self.last_step > step:  # a new session, or one that was restored
            _log.info("TensorForestLossHook resetting last_step.")
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        if self.min_loss is None or loss < self.min_loss - self.min_loss * self.early_stopping_loss_threshold:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            _log.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()
