"""RunConfig of tf.contrib.learn: which task of a cluster a process is, and how an estimator runs there."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, GPUOptions

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.contrib.learn.modes import TaskType
from tideflow.estimator import run_config as core
from tideflow.export import export
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOT_IN_UID = (
    "tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs session_config "
    "keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps"
).split()
_SECONDS_BETWEEN_CHECKPOINTS = 600


class Environment:
    """The names of where a cluster runs."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


def _environment() -> dict[str, Any]:
    return json.loads(os.environ.get("TF_CONFIG") or "{}")


class ClusterConfig:
    """The place of this process in a cluster, as the environment's TF_CONFIG says.

    Args:
      master: The target of the sessions; the address of this task if None.
      evaluation_master: The target of the sessions that evaluate.
    """

    def __init__(self, master: str | None = None, evaluation_master: str | None = None):
        environment = _environment()
        self._task_type = environment.get("task", {}).get("type")
        self._task_id = self.get_task_id()
        self._cluster_spec = ClusterSpec(environment.get("cluster", {}))
        if master is None:
            master = _master(self._cluster_spec, self._task_type, self._task_id)
        self._master = master
        jobs = self._cluster_spec.as_dict()
        self._num_ps_replicas = len(jobs.get(TaskType.PS, ()))
        self._num_worker_replicas = len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(TaskType.MASTER, ()))
        self._environment = environment.get("environment", Environment.LOCAL)
        chief = TaskType.MASTER if self._environment == Environment.CLOUD else TaskType.WORKER
        self._is_chief = self._task_type in (None, chief) and self._task_id == 0
        self._evaluation_master = evaluation_master or ""

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The addresses of all tasks."""
        return self._cluster_spec

    @property
    def environment(self) -> str:
        """Where the cluster runs: `local`, `cloud` or `google`."""
        return self._environment

    @property
    def evaluation_master(self) -> str:
        """The target of the sessions that evaluate."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this task initializes and saves the model."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The target of the sessions that train."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """The number of parameter servers."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """The number of workers, the master among them."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """The number of this task in its job."""
        return self._task_id

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        return self._task_type

    @staticmethod
    def get_task_id() -> int:
        """Reads the number of this task from the environment.

        Returns:
          The number; 0 if the environment does not say one.
        """
        return int(_environment().get("task", {}).get("index") or 0)


def _master(cluster: ClusterSpec, task_type: str | None, task_id: int) -> str:
    """The address of a task, for its sessions; "" for a process that is alone."""
    jobs = cluster.as_dict()
    if not task_type or sum(len(tasks) for tasks in jobs.values()) < 2:
        return ""
    hint = "Note that these values may be coming from the TF_CONFIG environment variable."
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{hint}")
    addresses = cluster.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n{cluster}"
            f"\n\n{hint}"
        )
    return f"grpc://{addresses[task_id]}"


@export("contrib.learn.RunConfig")
class RunConfig(ClusterConfig, core.RunConfig):
    """How an estimator of `tf.contrib.learn` runs.

    Args:
      master: The target of the sessions; by default that of this task in the cluster of TF_CONFIG.
      num_cores: How many threads run operations; as many as there are cores if 0.
      log_device_placement: Whether the log says on which device each operation runs.
      gpu_memory_fraction: Which part of a GPU's memory a session may take.
      tf_random_seed: The seed of the graphs.
      save_summary_steps: The interval of summaries, in steps.
      save_checkpoints_secs: The interval of checkpoints, in seconds; 600 if neither of the two is given.
      save_checkpoints_steps: The interval of checkpoints, in steps.
      keep_checkpoint_max: How many of the newest checkpoints are kept; all if 0 or None.
      keep_checkpoint_every_n_hours: One checkpoint of so many hours is kept besides.
      log_step_count_steps: The interval of log lines with the speed, in steps.
      protocol: The protocol between the tasks: `"grpc"`.
      evaluation_master: The target of the sessions that evaluate.
      model_dir: The directory of the model.
      session_config: The configuration of the sessions.
      session_creation_timeout_secs: How long a worker waits for the chief to initialize the model.

    Raises:
      ValueError: If TF_CONFIG is contradictory, or names another directory.
    """

    _USE_DEFAULT = 0

    @deprecated(None, "When switching to tf.estimator.Estimator, use tf.estimator.RunConfig instead.")
    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: ConfigProto | None = None,
        session_creation_timeout_secs: int | None = 7200,
    ):
        ClusterConfig.__init__(self, master=master, evaluation_master=evaluation_master)
        self._train_distribute = self._eval_distribute = None
        self._experimental_max_worker_delay_secs = self._device_fn = None
        self._tf_config = ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        if save_checkpoints_secs == RunConfig._USE_DEFAULT:
            save_checkpoints_secs = None if save_checkpoints_steps else _SECONDS_BETWEEN_CHECKPOINTS
        self._save_checkpoints_secs = save_checkpoints_secs
        self._save_checkpoints_steps = save_checkpoints_steps
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._log_step_count_steps = log_step_count_steps
        self._protocol = protocol
        self._session_config = session_config
        self._model_dir = _model_dir(model_dir)
        self._session_creation_timeout_secs = session_creation_timeout_secs

    def uid(self, whitelist: Iterable[str] | None = None) -> str:
        """Names a configuration: two with one name train the same model in the same place.

        Args:
          whitelist: The properties that may differ; by default those that change how a training is
            recorded and not what is trained.

        Returns:
          The name.
        """
        left_out = {f"_{name}" for name in (_NOT_IN_UID if whitelist is None else whitelist)}
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        state["_cluster_spec"] = dict(sorted(self._cluster_spec.as_dict().items()))
        return ", ".join(f"{name}={value!r}" for name, value in sorted(state.items()))

    @property
    def tf_config(self) -> ConfigProto:
        """The configuration of the server of this task."""
        return self._tf_config


def _model_dir(given: str | None) -> str | None:
    """The directory that was given, or that of TF_CONFIG."""
    told = _environment().get("model_dir")
    if told is None:
        return given
    if given is not None and given != told:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir "
            f'in TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {told}.\n'
        )
    logging.info("Using model_dir in TF_CONFIG: %s", told)
    return told
