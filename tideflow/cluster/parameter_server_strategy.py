"""tf.distribute.experimental.ParameterServerStrategy: workers that train alone, on shared variables."""

from __future__ import annotations

import contextlib
from typing import Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.device_setter import replica_device_setter
from tideflow.cluster.resolvers import TFConfigClusterResolver
from tideflow.distribute.central_storage import CentralExtended
from tideflow.distribute.devices import canonical, local_accelerators
from tideflow.distribute.input_context import InputContext
from tideflow.distribute.strategy import Strategy
from tideflow.export import export
from tideflow.graph.scopes import device


@export("distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """Runs a replica on each device of this worker, with the variables on the cluster's parameter servers.

    Each worker builds its own graph and trains by itself; what they share are the variables. Without a
    cluster, variables are on the CPU.

    Args:
      cluster_resolver: A `tf.distribute.cluster_resolver.ClusterResolver`; that of TF_CONFIG if None.
    """

    def __init__(self, cluster_resolver: Any = None):
        if cluster_resolver is None:
            cluster_resolver = TFConfigClusterResolver()
        super().__init__(ServersExtended(self))
        cluster = cluster_resolver.cluster_spec()
        if cluster:
            self.extended._configure(None, cluster, cluster_resolver.task_type, cluster_resolver.task_id)


class ServersExtended(CentralExtended):
    """Replicas on the devices of this worker, with the variables on parameter servers."""

    def __init__(self, container_strategy: Strategy):
        devices = [canonical(name) for name in local_accelerators()]
        central = devices[0] if len(devices) == 1 else "/device:CPU:0"
        super().__init__(container_strategy, devices, canonical(central))
        self._cluster: Any = None
        self._task: tuple[str, int] = ("worker", 0)
        self._servers: tuple[str, ...] = ()
        self._setter: Any = None

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: Any, task_id: Any) -> None:
        if cluster_spec:
            cluster = ClusterSpec(cluster_spec)
            if task_type is None or task_id is None:
                raise ValueError("When `cluster_spec` is given, must also specify `task_type` and `task_id`.")
            count = len(cluster.as_dict().get("ps", ()))
            if not count:
                raise ValueError("The cluster spec needs to have `ps` jobs.")
            self._cluster, self._task = cluster, (task_type, task_id)
            worker = f"/job:{task_type}/task:{task_id}"
            self._devices = tuple([f"{worker}{_last(name)}" for name in local_accelerators()])
            self._servers = tuple([f"/job:ps/task:{i}/device:CPU:0" for i in range(count)])
            self._setter = replica_device_setter(
                ps_tasks=count, worker_device=worker, merge_devices=True, cluster=cluster
            )
        if session_config is not None:
            session_config.CopyFrom(self._update_config_proto(session_config))

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices on which variables are."""
        return self._servers or super().parameter_devices

    def _variable_device(self) -> contextlib.AbstractContextManager[Any]:
        return device(self._setter) if self._setter is not None else super()._variable_device()

    def _default_device(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if self._cluster is None else device(self._devices[0])

    def _input_context(self) -> InputContext:
        if self._cluster is None:
            return super()._input_context()
        jobs = self._cluster.as_dict()
        workers = [(job, i) for job in ("chief", "worker") for i in range(len(jobs.get(job, ())))]
        return InputContext(len(workers), workers.index(self._task), self._num_replicas_in_sync)

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = super()._update_config_proto(config_proto)
        if self._cluster is not None:
            updated.isolate_session_state = False
            del updated.device_filters[:]
            job, index = self._task
            updated.device_filters.extend([f"/job:{job}/task:{index}", "/job:ps"])
        return updated

    @property
    def _is_chief(self) -> bool:
        if self._cluster is None:
            return True
        job, index = self._task
        return job == "chief" or ("chief" not in self._cluster.jobs and (job, index) == ("worker", 0))

    @property
    def experimental_should_init(self) -> bool:
        """The chief initializes the variables."""
        return self._is_chief

    @property
    def should_checkpoint(self) -> bool:
        """The chief writes checkpoints."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """The chief writes summaries."""
        return self._is_chief


def _last(name: str) -> str:
    return name[name.rindex("/device:") :]
