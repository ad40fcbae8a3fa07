"""The configuration of a TPUEstimator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.estimator import run_config
from tideflow.export import export

_ITERATIONS = re.compile(r"[1-9]\d*[smh]?")
_CORES = (1, 2, 4, 8, 16, 32, 64, 128)


@export("estimator.tpu.InputPipelineConfig", "contrib.tpu.InputPipelineConfig")
class InputPipelineConfig:
    """Who calls the input function on a TPU: PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


def check_positive_integer(value: Any, name: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


class _TPUFields(NamedTuple):
    iterations_per_loop: int | str = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: int = InputPipelineConfig.PER_HOST_V1
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Sequence[Any] | None = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1


@export("estimator.tpu.TPUConfig", "contrib.tpu.TPUConfig")
class TPUConfig(_TPUFields):
    """How a TPU is used. On CPUs and GPUs it is checked, and has no effect.

    Args:
      iterations_per_loop: The number of steps between two returns to the host, or a time such as `"60s"`.
      num_shards: The number of cores.
      num_cores_per_replica: The number of cores of one replica of the model.
      per_host_input_for_training: Who calls the input function: of InputPipelineConfig, or True for each
        host and False for each core.
      tpu_job_name: The job of the TPU workers.
      initial_infeed_sleep_secs: How long the input waits for the compilation, in seconds.
      input_partition_dims: How the features, and the labels, are split over the cores.
      eval_training_input_configuration: Whether the input of an evaluation is sliced.
      experimental_host_call_every_n_steps: The interval of host calls, in steps.

    Raises:
      ValueError: If an argument is out of its range.
    """

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: int | bool = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Sequence[Any] | None = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ):
        if not _ITERATIONS.fullmatch(str(iterations_per_loop)):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or "
                "time-based value `<N><s|m|h>` where <N> is any positive integer and `s`, `m`, `h` are unit "
                "of time in seconds, minutes, hours respectively. Examples of valid values: `3600s`, `60m`, "
                "`1h`."
            )
        if num_shards is not None:
            check_positive_integer(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            _check_partition(input_partition_dims, per_host_input_for_training, num_cores_per_replica)
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
            raise ValueError(
                f"num_cores_per_replica must be {', '.join(map(str, _CORES))}; got {num_cores_per_replica}"
            )
        if eval_training_input_configuration not in (
            InputPipelineConfig.PER_HOST_V1,
            InputPipelineConfig.SLICED,
        ):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = 1 + per_host_input_for_training
        if initial_infeed_sleep_secs:
            check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


def _check_partition(dims: Sequence[Any], per_host: Any, cores: int | None) -> None:
    if len(dims) not in (1, 2):
        raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
    if per_host is not InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
    if cores is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


@export("estimator.tpu.RunConfig", "contrib.tpu.RunConfig")
class RunConfig(run_config.RunConfig):
    """A RunConfig for a TPUEstimator.

    Args:
      tpu_config: A TPUConfig.
      evaluation_master: The target of the sessions that evaluate; that of training if None.
      master: The target of the sessions that train.
      cluster: A ClusterResolver, whose master and cluster are used.
      **kwargs: The arguments of `tf.estimator.RunConfig`.

    Raises:
      ValueError: If both `master` and `cluster` are given.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        if master is not None or cluster is not None:
            self._master = cluster.master() if master is None else master
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != run_config.TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster is not None:
            self._cluster_spec = cluster.cluster_spec()
            if self._session_config is None:
                self._session_config = ConfigProto(allow_soft_placement=True, isolate_session_state=True)
            if self._session_config.HasField("cluster_def"):
                raise ValueError("You cannot provide a ClusterResolver and session_config.cluster_def.")
            if self._cluster_spec:
                self._session_config.cluster_def.CopyFrom(self._cluster_spec.as_cluster_def())

    @property
    def tpu_config(self) -> TPUConfig:
        """The TPUConfig."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The ClusterResolver, or None."""
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """Copies the configuration with some values changed.

        Args:
          **kwargs: The new values, by the names of the constructor's arguments.

        Returns:
          The copy.
        """
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        copied: Any = super().replace(**kwargs)
        copied._tpu_config = tpu_config
        return copied
