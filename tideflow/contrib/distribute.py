"""`tf.contrib.distribute`: the strategies under the names and with the arguments that they first had."""

from __future__ import annotations

from collections.abc import Sequence

from tideflow.cluster.multi_worker_strategy import CollectiveCommunication, MultiWorkerExtended
from tideflow.cluster.parameter_server_strategy import ServersExtended
from tideflow.contrib import distribute_steps  # noqa: F401 - it exports names
from tideflow.distribute import context
from tideflow.distribute.mirrored import MirroredExtended
from tideflow.distribute.reductions import CrossDeviceOps
from tideflow.distribute.strategy import Strategy
from tideflow.export import export, expose

expose(context.get_strategy, "contrib.distribute.get_distribution_strategy")


def _devices(devices: Sequence[str] | None, *counts: int | None) -> list[str] | None:
    """The devices that are named, or so many GPUs."""
    given = [count for count in counts if count]
    if devices is not None:
        return list(devices)
    return [f"/device:GPU:{i}" for i in range(given[0])] if given else None


@export("contrib.distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Runs replicas on several devices of this process, each with a copy of every variable.

    Args:
      devices: The names of the devices.
      num_gpus: The number of GPUs, in the place of names.
      num_gpus_per_worker: A newer name of `num_gpus`.
      cross_device_ops: How values are reduced across devices.
      auto_shard_dataset: Accepted for TensorFlow's sake.
      cross_tower_ops: An older name of `cross_device_ops`.

    Raises:
      ValueError: If both numbers of GPUs, or both kinds of `cross_device_ops`, are given.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ):
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError("You cannot specify both `cross_device_ops` and `cross_tower_ops`.")
        chosen = _devices(devices, num_gpus, num_gpus_per_worker)
        super().__init__(MirroredExtended(self, chosen, cross_device_ops or cross_tower_ops))


@export("contrib.distribute.CollectiveAllReduceStrategy")
class CollectiveAllReduceStrategy(Strategy):
    """Runs replicas on the devices of all workers of a cluster, each with a copy of every variable.

    Args:
      num_gpus_per_worker: Accepted for TensorFlow's sake: a worker uses the GPUs that it has.
      communication: How workers exchange values.
    """

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
    ):
        super().__init__(MultiWorkerExtended(self, communication))


@export("contrib.distribute.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """Runs a replica on each device of this worker, with the variables on parameter servers.

    Args:
      num_gpus_per_worker: Accepted for TensorFlow's sake: a worker uses the GPUs that it has.
    """

    def __init__(self, num_gpus_per_worker: int = 0):
        super().__init__(ServersExtended(self))
