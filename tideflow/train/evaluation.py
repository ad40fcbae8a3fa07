"""Evaluating a checkpoint: its variables restored, a number of batches, and what is computed at the end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, control_dependencies, get_collection
from tideflow.ops.arrays import constants
from tideflow.ops.math import casting
from tideflow.ops.state import reference_variables
from tideflow.platform import logging
from tideflow.train.monitored_session import ChiefSessionCreator, MonitoredSession
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tideflow.train.step_hooks import FinalOpsHook, get_or_create_steps_per_run_variable
from tideflow.variables.base import Variable
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike


@export("contrib.training.get_or_create_eval_step")
def get_or_create_eval_step() -> Variable:
    """Gets the local variable that counts the batches of an evaluation, and makes it if there is none.

    Returns:
      The variable, which is in the collection EVAL_STEP.
    """
    found = get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class _EvalsHook(SessionRunHook):
    """Reads how many batches were evaluated, logs it, and stops when they are enough."""

    def __init__(self, num_evals: int | None):
        self._num_evals = num_evals
        self._evals_completed: Tensor | None = None

    def _set_evals_completed_tensor(self, updated_eval_step: Tensor) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def _log(self, completed: int) -> None:
        if self._num_evals is None:
            logging.info("Evaluation [%d]", completed)
        else:
            logging.info("Evaluation [%d/%d]", completed, self._num_evals)

    def _stop_if_enough(self, run_context: SessionRunContext, completed: int) -> None:
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


@export("contrib.training.StopAfterNEvalsHook")
class StopAfterNEvalsHook(_EvalsHook):
    """A hook that stops an evaluation after a number of batches.

    Args:
      num_evals: The number of batches; None to stop at the end of the data.
      log_progress: Whether the progress is logged.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        super().__init__(num_evals)
        self._log_progress = log_progress
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else num_evals // 10

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        completed = run_values.results["evals_completed"]
        if self._log_progress and (completed % self._log_frequency == 0 or completed == self._num_evals):
            self._log(completed)
        self._stop_if_enough(run_context, completed)


class MultiStepStopAfterNEvalsHook(_EvalsHook):
    """As StopAfterNEvalsHook, where one run evaluates several batches: the last one as many as are left."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1):
        super().__init__(num_evals)
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: SessionLike, coord: Any) -> None:
        self._plan_next_run(0, session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        completed = run_values.results["evals_completed"]
        self._plan_next_run(completed, run_context.session)
        self._log(completed)
        self._stop_if_enough(run_context, completed)

    def _plan_next_run(self, completed: int, session: Any) -> None:
        left = self._steps_per_run if self._num_evals is None else self._num_evals - completed
        self._steps_per_run_variable.load(min(left, self._steps_per_run), session=session)


def with_eval_step(eval_ops: Any, update_eval_step: Any) -> Any:
    """The ops of an evaluation, and the one that counts its batches."""
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = update_eval_step
        return eval_ops
    return [*(eval_ops if isinstance(eval_ops, (tuple, list)) else [eval_ops]), update_eval_step]


@export("contrib.training.evaluate_once")
def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: dict | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: dict | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: ConfigProto | None = None,
) -> Any:
    """Evaluates the model of a checkpoint.

    Args:
      checkpoint_path: The prefix of the checkpoint.
      master: The address of the server to run on; "" for this process.
      scaffold: A Scaffold for the session.
      eval_ops: Operations to run for each batch, until a hook or the end of the data stops it.
      feed_dict: Values to feed while `eval_ops` run.
      final_ops: Operations to run at the end.
      final_ops_feed_dict: Values to feed while `final_ops` run.
      hooks: Hooks of the session.
      config: The configuration of the session.

    Returns:
      The values of `final_ops`, or None.
    """
    eval_step = get_or_create_eval_step()
    all_hooks = list(hooks or ())
    if eval_ops is not None:
        eval_ops = with_eval_step(eval_ops, _counted(eval_step, all_hooks))
        completed = _latest_value(eval_step, eval_ops)
        for hook in all_hooks:
            if isinstance(hook, _EvalsHook):
                hook._set_evals_completed_tensor(completed)
    logging.info("Starting evaluation at " + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    final_ops_hook = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config
    )
    with MonitoredSession(creator, [*all_hooks, final_ops_hook]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final_ops_hook.final_ops_values


def _counted(eval_step: Variable, hooks: Sequence[SessionRunHook]) -> Any:
    batches: Any = 1
    if any(isinstance(hook, MultiStepStopAfterNEvalsHook) for hook in hooks):
        batches = casting.cast(get_or_create_steps_per_run_variable(), eval_step.dtype.base_dtype)
    return reference_variables.assign_add(eval_step, batches, use_locking=True)


def _latest_value(eval_step: Variable, eval_ops: Any) -> Tensor:
    with control_dependencies(list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops):
        return constants.identity(eval_step.read_value())
