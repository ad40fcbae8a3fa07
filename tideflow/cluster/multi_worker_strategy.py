"""tf.distribute.experimental.MultiWorkerMirroredStrategy: replicas on all workers of a cluster, in step.

Each worker builds the same graph for its own devices. Collectives join them: the chief's initial values go to
the others, and gradients are summed over all replicas of all workers.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.resolvers import TFConfigClusterResolver
from tideflow.cluster.server import Server
from tideflow.distribute.devices import canonical, local_accelerators
from tideflow.distribute.input_context import InputContext
from tideflow.distribute.mirrored import MirroredExtended
from tideflow.distribute.reductions import (
    CrossDeviceOps,
    ReduceOp,
    copied_to,
    devices_of,
    values_of,
)
from tideflow.distribute.strategy import Strategy
from tideflow.distribute.values import Mirrored
from tideflow.eager.context import eager_graph
from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import device, executing_eagerly, graph_outside
from tideflow.ops.arrays import constants
from tideflow.ops.distributed import collectives

_REPLICAS, _WORKERS = 1, 2  # the keys of the groups
_KEYS = "_strategy_instance_keys"  # the attribute in which a graph counts what its members do together


@export("distribute.experimental.CollectiveCommunication")
class CollectiveCommunication(enum.Enum):
    """How workers exchange values.

    Attributes:
      AUTO: As the devices allow: by NCCL between GPUs, else by Gloo.
      RING: By Gloo.
      NCCL: By NCCL, between GPUs.
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@export("distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """Runs replicas on the devices of all workers of a cluster, each with a copy of every variable.

    The cluster is that of TF_CONFIG; without one, the strategy mirrors variables on the devices of this
    process.

    Args:
      communication: How workers exchange values.
    """

    def __init__(self, communication: CollectiveCommunication = CollectiveCommunication.AUTO):
        super().__init__(MultiWorkerExtended(self, communication))


class MultiWorkerExtended(MirroredExtended):
    """Replicas on the devices of all workers, joined by collectives."""

    def __init__(self, container_strategy: Strategy, communication: CollectiveCommunication):
        super().__init__(container_strategy)
        self._communication = communication
        self._workers: list[tuple[str, int]] = []
        self._task: tuple[str, int] = ("worker", 0)
        self._cluster: Any = None
        self._server: Server | None = None  # this worker's server, once it is asked for
        resolver = TFConfigClusterResolver()
        cluster = resolver.cluster_spec()
        if cluster:
            self._join(cluster, resolver.task_type, resolver.task_id)

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: Any, task_id: Any) -> None:
        if cluster_spec:
            self._join(ClusterSpec(cluster_spec), task_type, task_id)
        if session_config is not None:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _join(self, cluster: Any, task_type: str | None, task_id: int | None) -> None:
        """Takes a place among the workers of a cluster."""
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        jobs = cluster.as_dict()
        self._cluster = cluster
        self._workers = [(job, i) for job in ("chief", "worker") for i in range(len(jobs.get(job, ())))]
        self._task = (task_type, task_id)
        here = f"/job:{task_type}/task:{task_id}"
        self._devices = tuple([canonical(here + name) for name in local_accelerators()])
        if len(self._workers) > 1:
            self._cross_device_ops = CollectiveAllReduce(self._num_replicas_in_sync, self._communication)
            if executing_eagerly():  # there is no session that would join the workers
                self._server_of_worker().join_collectives(eager_graph().resources)
                eager_graph().tasks.append(f"/job:{task_type}/replica:0/task:{task_id}")

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices) * max(1, len(self._workers))

    @property
    def _is_chief(self) -> bool:
        return not self._workers or self._task == self._workers[0]

    def _create_variable(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        if len(self._workers) > 1:
            arguments["initial_value"] = self._chiefs_value(arguments["initial_value"])
        return super()._create_variable(next_creator, **arguments)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        if len(self._workers) > 1 and isinstance(value, Tensor | IndexedSlices):
            return self._cross_device_ops.reduce(reduce_op, value, devices_of(destinations))
        return super()._reduce_to(reduce_op, value, destinations)

    def _chiefs_value(self, initial_value: Any) -> Callable[[], Tensor]:
        """A function that makes the initial value: on every worker the chief's."""

        def made() -> Tensor:
            own = convert_to_tensor(initial_value() if callable(initial_value) else initial_value)
            size, key = len(self._workers), next_key()
            with device(self._devices[0]):
                own = constants.identity(own)
                facts = (own.shape, own.dtype, size, _WORKERS, key)
                if self._is_chief:
                    return collectives.broadcast_send(own, *facts)
                return collectives.broadcast_recv(*facts)

        return made

    def _input_context(self) -> InputContext:
        if not self._workers:
            return super()._input_context()
        place = self._workers.index(self._task)
        return InputContext(len(self._workers), place, self._num_replicas_in_sync)

    def _session_target(self) -> str:
        return self._server_of_worker().target if len(self._workers) > 1 else ""

    def _server_of_worker(self) -> Server:
        if self._server is None:
            job, index = self._task
            self._server = Server(self._cluster, job_name=job, task_index=index)
        return self._server

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = super()._update_config_proto(config_proto)
        if self._workers:
            job, index = self._workers[0]
            updated.experimental.collective_group_leader = f"/job:{job}/replica:0/task:{index}"
            del updated.device_filters[:]
            updated.device_filters.append(f"/job:{self._task[0]}/task:{self._task[1]}")
        return updated

    @property
    def experimental_between_graph(self) -> bool:
        """Each worker builds a graph of its own."""
        return True

    @property
    def experimental_should_init(self) -> bool:
        """Every worker initializes its copies."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """The chief writes checkpoints."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """The chief writes summaries."""
        return self._is_chief


def next_key() -> int:
    """The key of the next thing that members do together: workers that build the same graph agree on it."""
    graph = graph_outside()
    if not hasattr(graph, _KEYS):
        setattr(graph, _KEYS, itertools.count(100))
    key: int = next(getattr(graph, _KEYS))
    return key


class CollectiveAllReduce(CrossDeviceOps):
    """Reduces values over the replicas of all workers."""

    def __init__(self, group_size: int, communication: CollectiveCommunication):
        self._size = group_size
        self._hint = communication.value.lower()

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        """Reduces over all workers; the result is on every device of this one."""
        values = values_of(per_replica_value)
        if isinstance(values[0], IndexedSlices):
            return self._reduced_slices(reduce_op, values, devices_of(destinations))
        key, final = next_key(), "Div" if reduce_op is ReduceOp.MEAN else "Id"
        devices = devices_of(per_replica_value) if len(values) > 1 else devices_of(destinations)[:1]
        results = []
        for place, value in zip(devices, values, strict=True):
            with device(place):
                here = constants.identity(convert_to_tensor(value))
                results.append(
                    collectives.all_reduce(
                        here, self._size, _REPLICAS, key, "Add", final, communication_hint=self._hint
                    )
                )
        wanted = devices_of(destinations)
        if len(results) == 1 or wanted != tuple(devices):
            return copied_to(results[0], wanted)
        return Mirrored(results, devices)

    def _reduced_slices(
        self, reduce_op: ReduceOp, values: Sequence[IndexedSlices], devices: Sequence[str]
    ) -> Any:
        """Rows of all workers, one after the other."""
        key_of_rows, key_of_indices = next_key(), next_key()
        results = []
        for value in values:
            with device(value.values.device):
                rows, indices = (
                    collectives.all_gather(
                        constants.identity(part), self._size, _REPLICAS, key, communication_hint=self._hint
                    )
                    for part, key in ((value.values, key_of_rows), (value.indices, key_of_indices))
                )
            results.append(IndexedSlices(rows, indices, value.dense_shape))
        here = results[0]
        if reduce_op is ReduceOp.MEAN:
            here = IndexedSlices(here.values / self._size, here.indices, here.dense_shape)
        return copied_to(here, devices)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        """Reduces one value after the other, in the same order on every worker."""
        return [self.reduce_implementation(reduce_op, *pair) for pair in value_destination_pairs]
