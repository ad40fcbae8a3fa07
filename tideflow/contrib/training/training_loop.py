"""`tf.contrib.training.train`: a monitored session around one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata

from tideflow.export import export
from tideflow.train.monitored_session import MonitoredTrainingSession
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tideflow.graph.operation import Operation, Tensor


@export("contrib.training.train")
def train(
    train_op: Tensor | Operation,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: ConfigProto | None = None,
    max_wait_secs: float = 7200,
    run_metadata: RunMetadata | None = None,
) -> Any:
    """Makes steps of training until a hook stops them, or the data end.

    Args:
      train_op: The operation or tensor that makes a step.
      logdir: The directory of checkpoints and summaries.
      master: The target of the session.
      is_chief: Whether this task initializes the model and writes.
      scaffold: The Scaffold; a new one if None.
      hooks: The hooks of the session.
      chief_only_hooks: Hooks that only the chief has.
      save_checkpoint_secs: The seconds between checkpoints; none if None.
      save_summaries_steps: The steps between summaries; none if None.
      config: The configuration of the session.
      max_wait_secs: How many seconds other tasks wait for the chief.
      run_metadata: A RunMetadata that steps are traced into.

    Returns:
      What `train_op` last gave; None if no step was made.

    Raises:
      ValueError: If there is no directory and checkpoints or summaries are asked for, or nothing ends the
        training.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
