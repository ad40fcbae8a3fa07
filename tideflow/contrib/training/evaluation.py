"""Evaluating the checkpoints of a directory as they come."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.export import export, expose
from tideflow.ops.state import reference_variables
from tideflow.platform import logging
from tideflow.summary import functions as summaries
from tideflow.summary import writer
from tideflow.train.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from tideflow.train.evaluation import StopAfterNEvalsHook, get_or_create_eval_step, with_eval_step
from tideflow.train.monitored_session import ChiefSessionCreator, MonitoredSession
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.train.step_hooks import FinalOpsHook
from tideflow.variables.global_step import get_or_create_global_step
from tideflow.variables.global_step import global_step as global_step_of

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import SessionLike
    from tideflow.summary.writer import FileWriter
    from tideflow.train.coordinator import Coordinator

expose(
    wait_for_new_checkpoint,
    "contrib.training.wait_for_new_checkpoint",
    "contrib.slim.evaluation.wait_for_new_checkpoint",
)
expose(
    checkpoints_iterator,
    "contrib.training.checkpoints_iterator",
    "contrib.slim.evaluation.checkpoints_iterator",
)


@export("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes a summary at the end of a session.

    Args:
      log_dir: The directory of the summaries.
      summary_writer: The writer; one for `log_dir` if None.
      summary_op: The summary; all of the graph's if None.
      feed_dict: What the summary is fed.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        summary_op: Tensor | None = None,
        feed_dict: dict | None = None,
    ):
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._given_summary_op = summary_op
        self._feed_dict = feed_dict
        self._summary_writer = summary_writer
        self._log_dir = log_dir

    def begin(self) -> None:
        given = self._given_summary_op
        self._summary_op = summaries.merge_all() if given is None else given
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = writer.FileWriterCache.get(self._log_dir)

    def end(self, session: SessionLike) -> None:
        if self._summary_op is not None:
            step = global_step_of(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()


@export("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: dict | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: dict | None = None,
    eval_interval_secs: float = 60,
    hooks: list[SessionRunHook] | None = None,
    config: ConfigProto | None = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates each new checkpoint, so many times or until none comes.

    Args:
      checkpoint_dir: The directory of the checkpoints.
      master: The target of the session.
      scaffold: The Scaffold; a new one if None.
      eval_ops: Operations that every step runs.
      feed_dict: What those steps are fed.
      final_ops: What is computed at the end of an evaluation.
      final_ops_feed_dict: What `final_ops` are fed.
      eval_interval_secs: The least seconds from the start of one evaluation to the next.
      hooks: The hooks of the session.
      config: The configuration of the session.
      max_number_of_evaluations: How many checkpoints are evaluated at most; any number if None.
      timeout: How many seconds to wait for a checkpoint; any if None.
      timeout_fn: A function that is called when none came in time; if it returns True, the evaluations end.

    Returns:
      The value of `final_ops` for the last checkpoint.
    """
    eval_step = get_or_create_eval_step()
    hooks = hooks or []
    if eval_ops is not None:
        update_eval_step = reference_variables.assign_add(eval_step, 1)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(update_eval_step)
        eval_ops = with_eval_step(eval_ops, update_eval_step)
    final_ops_hook = FinalOpsHook(final_ops, final_ops_feed_dict)
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, path in enumerate(paths, 1):
        creator = ChiefSessionCreator(
            scaffold=scaffold, checkpoint_filename_with_path=path, master=master, config=config
        )
        with MonitoredSession(creator, [*hooks, final_ops_hook]) as session:
            logging.info("Starting evaluation at " + _now())
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, feed_dict)
            logging.info("Finished evaluation at " + _now())
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final_ops_hook.final_ops_values


def _now() -> str:
    return time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime())
