"""What stands before a training: the directory, the devices, the hooks and the step that was reached."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence

from tideflow.cluster.device_setter import replica_device_setter
from tideflow.estimator.run_config import RunConfig, default_session_config
from tideflow.graph.scopes import GraphKeys
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.platform import logging
from tideflow.train import checkpoint_utils
from tideflow.train.saving_hooks import CheckpointSaverListener, SummarySaverHook
from tideflow.train.scaffold import Scaffold
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.train.step_hooks import StepCounterHook


def config_with_directory(config: RunConfig | None, model_dir: str | os.PathLike | None) -> RunConfig:
    """The configuration with a directory, and with a configuration of sessions."""
    if config is None:
        config = RunConfig()
        logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=default_session_config())
    given = None if model_dir is None else os.fspath(model_dir)
    if given is not None and config.model_dir not in (None, given):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
            f"constructor: '{given}', in `RunConfig`: '{config.model_dir}' "
        )
    if given:
        return RunConfig.replace(config, model_dir=given)
    if config.model_dir is None:
        made = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", made)
        return RunConfig.replace(config, model_dir=made)
    return config


def device_setter_of(config: RunConfig) -> Callable | None:
    """Variables go to parameter servers, if there are any."""
    if not config.num_ps_replicas:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas, worker_device=worker, cluster=config.cluster_spec
    )


def checked_hooks(hooks: Sequence[SessionRunHook] | None) -> list[SessionRunHook]:
    checked = list(hooks or ())
    for hook in checked:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return checked


def checked_listeners(
    listeners: Sequence[CheckpointSaverListener] | None,
) -> list[CheckpointSaverListener]:
    checked = list(listeners or ())
    for listener in checked:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return checked


def global_step_of_checkpoint(directory: str) -> int:
    """The global step of the newest checkpoint; 0 without one, or where it has none."""
    path = latest_checkpoint(directory)
    if path is None:
        return 0
    reader = checkpoint_utils.load_checkpoint(path)
    if not reader.has_tensor(GraphKeys.GLOBAL_STEP):
        return 0
    return int(reader.get_tensor(GraphKeys.GLOBAL_STEP))


def summary_hooks(config: RunConfig, scaffold: Scaffold) -> list[SessionRunHook]:
    hooks: list[SessionRunHook] = []
    if config.save_summary_steps:
        hooks.append(
            SummarySaverHook(
                save_steps=config.save_summary_steps, output_dir=config.model_dir, scaffold=scaffold
            )
        )
    if config.log_step_count_steps:
        hooks.append(StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=config.model_dir))
    return hooks
