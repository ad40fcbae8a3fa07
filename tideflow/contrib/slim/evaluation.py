"""`slim.evaluation`: a checkpoint, or each as it comes, evaluated over so many batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.contrib.training import evaluation
from tideflow.export import export
from tideflow.summary import functions as summaries
from tideflow.train.evaluation import StopAfterNEvalsHook
from tideflow.train.evaluation import evaluate_once as evaluate_checkpoint
from tideflow.train.saver import Saver
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import VariableLike

_USE_DEFAULT = 0


@export("contrib.slim.evaluation.evaluate_once")
def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: dict | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: dict | None = None,
    final_op: Any = None,
    final_op_feed_dict: dict | None = None,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    summary_op_feed_dict: dict | None = None,
    variables_to_restore: Sequence[VariableLike] | None = None,
    session_config: ConfigProto | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> Any:
    """Evaluates one checkpoint and writes the summaries.

    Args:
      master: The target of the session.
      checkpoint_path: The checkpoint.
      logdir: The directory of the summaries.
      num_evals: How often `eval_op` runs.
      initial_op: What runs first.
      initial_op_feed_dict: What it is fed.
      eval_op: What every step runs.
      eval_op_feed_dict: What it is fed.
      final_op: What is computed at the end.
      final_op_feed_dict: What it is fed.
      summary_op: The summary; all of the graph's by default, none if None.
      summary_op_feed_dict: What it is fed.
      variables_to_restore: The variables of the checkpoint; all if None.
      session_config: The configuration of the session.
      hooks: Further hooks of the session.

    Returns:
      The value of `final_op`, or None.
    """
    all_hooks = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    return evaluate_checkpoint(
        checkpoint_path,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, None, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=all_hooks,
        config=session_config,
    )


@export("contrib.slim.evaluation.evaluation_loop")
def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: dict | None = None,
    init_fn: Callable | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: dict | None = None,
    final_op: Any = None,
    final_op_feed_dict: dict | None = None,
    summary_op: Tensor | int | None = _USE_DEFAULT,
    summary_op_feed_dict: dict | None = None,
    variables_to_restore: Sequence[VariableLike] | None = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: ConfigProto | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> Any:
    """Evaluates each new checkpoint of a directory.

    Args:
      master: The target of the session.
      checkpoint_dir: The directory of the checkpoints.
      logdir: The directory of the summaries.
      num_evals: How often `eval_op` runs.
      initial_op: What runs first.
      initial_op_feed_dict: What it is fed.
      init_fn: A function of the Scaffold and the session that is called after `initial_op`.
      eval_op: What every step runs.
      eval_op_feed_dict: What it is fed.
      final_op: What is computed at the end.
      final_op_feed_dict: What it is fed.
      summary_op: The summary; all of the graph's by default, none if None.
      summary_op_feed_dict: What it is fed.
      variables_to_restore: The variables of the checkpoint; all if None.
      eval_interval_secs: The least seconds from one evaluation to the next.
      max_number_of_evaluations: How many checkpoints are evaluated at most; any number if None.
      session_config: The configuration of the session.
      timeout: How many seconds to wait for a checkpoint; any if None.
      timeout_fn: A function that is called when none came in time; if it returns True, the evaluations end.
      hooks: Further hooks of the session.

    Returns:
      The value of `final_op` for the last checkpoint.
    """
    all_hooks = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    return evaluation.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=all_hooks,
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _hooks(
    num_evals: int | None,
    logdir: str,
    summary_op: Any,
    feed_dict: dict | None,
    hooks: Sequence[SessionRunHook] | None,
) -> list[SessionRunHook]:
    summary_op = summaries.merge_all() if summary_op is _USE_DEFAULT else summary_op
    all_hooks: list[SessionRunHook] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        all_hooks.append(
            evaluation.SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict)
        )
    return all_hooks + list(hooks or ())


def _scaffold(init_op: Any, init_feed_dict: dict | None, init_fn: Any, variables: Any) -> Scaffold:
    saver = None if variables is None else Saver(variables)
    return Scaffold(init_op=init_op, init_feed_dict=init_feed_dict, init_fn=init_fn, saver=saver)
