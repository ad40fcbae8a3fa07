"""RunConfig: where an estimator keeps its model, how often it writes, and which task of a cluster it is."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, GraphOptions
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.export import export
from tideflow.platform import logging
from tideflow.platform.function_arguments import fn_args

_USE_DEFAULT = object()
_BOTH_INTERVALS = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."


class TaskType:
    """The jobs of a cluster that estimators know."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


_REPLACEABLE = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
]

_CHECKS: list[tuple[str, Callable[[Any], bool], str]] = [
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda n: n >= 0, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", lambda n: n >= 0, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", lambda n: n >= 0, "save_checkpoints_secs should be >= 0"),
    (
        "session_config",
        lambda config: isinstance(config, ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    ("keep_checkpoint_max", lambda n: n >= 0, "keep_checkpoint_max should be >= 0"),
    ("keep_checkpoint_every_n_hours", lambda n: n > 0, "keep_checkpoint_every_n_hours should be > 0"),
    ("log_step_count_steps", lambda n: n > 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", lambda seed: isinstance(seed, int), "tf_random_seed must be integer."),
    (
        "experimental_max_worker_delay_secs",
        lambda delay: isinstance(delay, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    ("session_creation_timeout_secs", lambda n: n > 0, "session_creation_timeout_secs should be > 0"),
    (
        "device_fn",
        lambda function: callable(function) and set(fn_args(function)) == {"op"},
        'device_fn must be callable with exactly one argument "op".',
    ),
    (
        "protocol",
        lambda protocol: protocol in ("grpc", "grpc+verbs"),
        "protocol should be grpc or grpc+verbs",
    ),
]


def default_session_config(device_filters: list[str] | None = None) -> ConfigProto:
    """The configuration of an estimator's sessions where the user gives none."""
    rewrites = RewriterConfig(meta_optimizer_iterations=RewriterConfig.ONE)
    return ConfigProto(
        allow_soft_placement=True,
        graph_options=GraphOptions(rewrite_options=rewrites),
        device_filters=device_filters,
    )


@export("estimator.RunConfig")
class RunConfig:
    """How an estimator runs. The environment's TF_CONFIG says which task of which cluster this process is.

    Args:
      model_dir: The directory of the model: checkpoints, summaries, exports.
      tf_random_seed: The seed of the graphs.
      save_summary_steps: The interval of summaries, in steps.
      save_checkpoints_steps: The interval of checkpoints, in steps.
      save_checkpoints_secs: The interval of checkpoints, in seconds; 600 if neither of the two is given.
      session_config: The configuration of the sessions.
      keep_checkpoint_max: How many of the newest checkpoints are kept; all if 0 or None.
      keep_checkpoint_every_n_hours: One checkpoint of so many hours is kept besides.
      log_step_count_steps: The interval of log lines with the loss and the speed, in steps.
      train_distribute: The distribution strategy of the training.
      device_fn: A function from an operation to its device; variables go to parameter servers if None.
      protocol: The protocol between the tasks: `"grpc"`.
      eval_distribute: The distribution strategy of the evaluation.
      experimental_distribute: The strategies of both.
      experimental_max_worker_delay_secs: The longest time that a worker waits before it starts to train.
      session_creation_timeout_secs: How long a worker waits for the chief to initialize the model.

    Raises:
      ValueError: If an argument is out of its range, or TF_CONFIG is contradictory.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: Any = _USE_DEFAULT,
        save_checkpoints_secs: Any = _USE_DEFAULT,
        session_config: ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: int | None = 7200,
    ):
        steps, secs = _intervals(save_checkpoints_steps, save_checkpoints_secs)
        environment = json.loads(os.environ.get("TF_CONFIG", "{}"))
        if environment:
            logging.info("TF_CONFIG environment variable: %s", environment)
        RunConfig._replace(
            self,
            _REPLACEABLE,
            model_dir=_model_dir(environment, None if model_dir is None else os.fspath(model_dir)),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=steps,
            save_checkpoints_secs=secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._take_place_in_cluster(environment)
        if not self._session_config and self._cluster_spec:
            self._session_config = self._session_config_of_task()

    # ------------------------------------------------------------------------------ the task in its cluster

    def _take_place_in_cluster(self, environment: dict[str, Any]) -> None:
        self._service = environment.get("service")
        if self._service is not None and not isinstance(self._service, dict):
            raise TypeError(
                f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(self._service)}'
            )
        jobs = environment.get("cluster", {})
        # An evaluator runs steps of its own alone: no server waits for it.
        self._cluster_spec = ClusterSpec(
            {job: tasks for job, tasks in jobs.items() if job != TaskType.EVALUATOR}
        )
        task = environment.get("task", {})
        if self._cluster_spec:
            self._be_a_task(task, environment)
        else:
            self._be_alone(task, environment)

    def _be_alone(self, task: dict[str, Any], environment: dict[str, Any]) -> None:
        self._task_type = task.get("type", TaskType.WORKER)
        self._task_id = int(task.get("index", 0))
        if self._task_type != TaskType.WORKER:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
        if self._task_id != 0:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        self._master = environment.get("session_master", "")
        self._evaluation_master = environment.get("eval_session_master", "")
        self._is_chief = True
        self._global_id_in_cluster: int | None = 0
        self._num_ps_replicas, self._num_worker_replicas = 0, 1

    def _be_a_task(self, task: dict[str, Any], environment: dict[str, Any]) -> None:
        chief = TaskType.WORKER if trains_in_step(self) else TaskType.CHIEF
        if TaskType.MASTER in self._cluster_spec.jobs:
            chief = TaskType.MASTER
            if TaskType.CHIEF in self._cluster_spec.jobs:
                raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        self._task_type, self._task_id = _checked_task(self._cluster_spec, task, chief)
        self._is_chief = self._task_type == chief and self._task_id == 0
        is_evaluator = self._task_type == TaskType.EVALUATOR
        if is_evaluator and chief == TaskType.MASTER:
            raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
        self._evaluation_master = environment.get("eval_session_master", "") if is_evaluator else ""
        if is_evaluator:  # it reads checkpoints, and needs nobody
            self._cluster_spec = ClusterSpec({})
            self._master, self._global_id_in_cluster = "", None
            self._num_ps_replicas, self._num_worker_replicas = 0, 0
            return
        sizes = {job: self._cluster_spec.num_tasks(job) for job in self._cluster_spec.jobs}
        self._master = _session_master(self._cluster_spec, self._task_type, self._task_id, environment)
        self._num_ps_replicas = sizes.get(TaskType.PS, 0)
        self._num_worker_replicas = sum(sizes.get(job, 0) for job in {TaskType.WORKER, chief})
        others = sorted(set(sizes) - {chief, TaskType.PS})
        jobs = [chief, *others, TaskType.PS]
        before = jobs[: jobs.index(self._task_type)]
        self._global_id_in_cluster = self._task_id + sum(sizes[job] for job in before)

    def _session_config_of_task(self) -> ConfigProto | None:
        """Workers do not wait for each other: a session sees its own task and the parameter servers."""
        filters = {
            TaskType.MASTER: ["/job:ps", "/job:master"],
            TaskType.CHIEF: ["/job:ps", "/job:chief"],
            TaskType.WORKER: ["/job:ps", f"/job:worker/task:{self._task_id}"],
            TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
        }
        if self._task_type not in filters:
            return None
        return default_session_config(filters[self._task_type])

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster; empty on one machine."""
        return self._cluster_spec

    @property
    def task_type(self) -> str:
        """The job of this task."""
        return self._task_type

    @property
    def task_id(self) -> int:
        """The index of this task in its job."""
        return self._task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """The number of this task among all of the cluster: the chief, the workers, the parameter servers."""
        return self._global_id_in_cluster

    @property
    def is_chief(self) -> bool:
        """Whether this task initializes the model and writes its checkpoints."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The target of the sessions that train."""
        return self._master

    @property
    def evaluation_master(self) -> str:
        """The target of the sessions that evaluate."""
        return self._evaluation_master

    @property
    def num_ps_replicas(self) -> int:
        """The number of parameter servers."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """The number of tasks that train, the chief among them."""
        return self._num_worker_replicas

    @property
    def service(self) -> dict[str, Any] | None:
        """What TF_CONFIG says under "service"."""
        return self._service

    # ---------------------------------------------------------------------------------------- what was given

    @property
    def model_dir(self) -> str | None:
        """The directory of the model."""
        return self._model_dir

    @property
    def tf_random_seed(self) -> int | None:
        """The seed of the graphs."""
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int | None:
        """The interval of summaries, in steps."""
        return self._save_summary_steps

    @property
    def save_checkpoints_steps(self) -> int | None:
        """The interval of checkpoints, in steps."""
        return self._save_checkpoints_steps

    @property
    def save_checkpoints_secs(self) -> float | None:
        """The interval of checkpoints, in seconds."""
        return self._save_checkpoints_secs

    @property
    def session_config(self) -> ConfigProto | None:
        """The configuration of the sessions."""
        return self._session_config

    @property
    def keep_checkpoint_max(self) -> int | None:
        """How many of the newest checkpoints are kept."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_every_n_hours(self) -> float | None:
        """One checkpoint of so many hours is kept besides."""
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        """The interval of log lines, in steps."""
        return self._log_step_count_steps

    @property
    def train_distribute(self) -> Any:
        """The distribution strategy of the training."""
        return self._train_distribute

    @property
    def eval_distribute(self) -> Any:
        """The distribution strategy of the evaluation."""
        return self._eval_distribute

    @property
    def device_fn(self) -> Callable | None:
        """The function from an operation to its device."""
        return self._device_fn

    @property
    def protocol(self) -> str | None:
        """The protocol between the tasks."""
        return self._protocol

    @property
    def experimental_max_worker_delay_secs(self) -> int | None:
        """The longest time that a worker waits before it starts to train."""
        return self._experimental_max_worker_delay_secs

    @property
    def session_creation_timeout_secs(self) -> int | None:
        """How long a worker waits for the chief to initialize the model."""
        return self._session_creation_timeout_secs

    def replace(self, **kwargs: Any) -> RunConfig:
        """Copies the configuration with some values changed.

        Args:
          **kwargs: The new values, by the names of the constructor's arguments.

        Returns:
          The copy.

        Raises:
          ValueError: If a property cannot be replaced, or a value is out of its range.
        """
        return RunConfig._replace(copy.deepcopy(self), _REPLACEABLE, **kwargs)

    @staticmethod
    def _replace(config: Any, allowed_properties_list: list[str], **kwargs: Any) -> Any:
        for key, value in kwargs.items():
            if key not in allowed_properties_list:
                raise ValueError(
                    f"Replacing {key} is not supported. Allowed properties are {allowed_properties_list}."
                )
            setattr(config, f"_{key}", value)
        replaces_steps = kwargs.get("save_checkpoints_steps") is not None
        replaces_secs = kwargs.get("save_checkpoints_secs") is not None
        if replaces_steps and replaces_secs:
            raise ValueError(_BOTH_INTERVALS)
        if replaces_steps and "save_checkpoints_secs" not in kwargs:
            config._save_checkpoints_secs = None
        if replaces_secs and "save_checkpoints_steps" not in kwargs:
            config._save_checkpoints_steps = None
        for name, is_valid, message in _CHECKS:
            value = getattr(config, f"_{name}")
            if value is not None and not is_valid(value):
                raise ValueError(message)
        return config


def trains_in_step(config: RunConfig) -> bool:
    """Whether this is one of several workers that a strategy keeps in step, each with its own variables.
    The first of them is the chief.
    """
    return bool(config.train_distribute) and set(config.cluster_spec.jobs) == {TaskType.WORKER}


def _intervals(steps: Any, secs: Any) -> tuple[int | None, float | None]:
    """The intervals of checkpoints: ten minutes where neither is given."""
    if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
        return None, 600
    steps, secs = (None if given is _USE_DEFAULT else given for given in (steps, secs))
    if steps is not None and secs is not None:
        raise ValueError(_BOTH_INTERVALS)
    return steps, secs


def _model_dir(environment: dict[str, Any], given: str | None) -> str | None:
    ours = environment.get("model_dir")
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    if ours == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if ours:
        if given and ours != given:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the same value as the "
                f'model_dir in TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {ours}.\n'
            )
        logging.info("Using model_dir in TF_CONFIG: %s", ours)
    return given or ours


def _checked_task(cluster: ClusterSpec, task: dict[str, Any], chief: str) -> tuple[str, int]:
    """The job and the index of this task, which must be one of the cluster, or an evaluator beside it."""
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if chief != TaskType.WORKER and cluster.num_tasks(chief) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    job, index = task.get("type"), task.get("index")
    if not job:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if index is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    index = int(index)
    if index < 0:
        raise ValueError("Task index must be non-negative number.")
    if job == TaskType.EVALUATOR:
        return job, index
    whence = f"\n{cluster}\n\nNote that these values may be coming from the TF_CONFIG environment variable."
    if job not in cluster.jobs:
        raise ValueError(f"{job} is not a valid task_type in the cluster_spec:{whence}")
    if index >= len(cluster.job_tasks(job)):
        raise ValueError(f"{index} is not a valid task_id for task_type {job} in the cluster_spec:{whence}")
    return job, index


def _session_master(cluster: ClusterSpec, job: str, index: int, environment: dict[str, Any]) -> str:
    if "session_master" in environment:
        return environment["session_master"]
    if sum(cluster.num_tasks(each) for each in cluster.jobs) == 1:
        return ""
    return f"grpc://{cluster.job_tasks(job)[index]}"
