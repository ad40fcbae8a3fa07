"""`tf.contrib.training.train`: a monitored session around one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata

from tideflow.export import export
from tideflow.train.monitored_session import MonitoredTrainingSession
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook


@export("contrib.training.train")
def train(
    train_op: Any,
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
    """Runs `train_op` until a hook stops it, or the data end; returns what it last gave."""
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
