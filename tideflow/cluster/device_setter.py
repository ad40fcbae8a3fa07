"""`tf.train.replica_device_setter`: variables on the parameter servers, everything else on the worker."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.export import export
from tideflow.graph.device import DeviceSpec, merge_names
from tideflow.graph.op import definitions
from tideflow.graph.operation import Operation

if TYPE_CHECKING:
    from tensorboard.compat.proto.cluster_pb2 import ClusterDef


def standard_ps_ops() -> frozenset[str]:
    """The op types that hold the state of a model."""
    return frozenset(name for name, op in definitions().items() if op.is_model_state)


@export("train.replica_device_setter")
def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: ClusterSpec | ClusterDef | dict[str, Any] | None = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Any], str] | None:
    """Makes a device function for between-graph replication: the state goes to parameter servers.

    Args:
      ps_tasks: The number of parameter servers; with `cluster`, as many as its job of `ps_device` has.
      ps_device: The device of the parameter servers' job.
      worker_device: The device of all other operations.
      merge_devices: Whether a device that an operation has itself overrides the setter's only in the parts
        that it names; if not, it is used as it is.
      cluster: The cluster, as `tf.train.ClusterSpec` takes it.
      ps_ops: The types of the operations on parameter servers; those that hold a model's state if None.
      ps_strategy: A function from an operation to the task that it is placed on; one task after the other if
        None.

    Returns:
      The device function, or None without parameter servers.

    Raises:
      TypeError: If `ps_strategy` cannot be called.
    """
    if cluster is not None:
        job = DeviceSpec.from_string(ps_device or "").job
        spec = ClusterSpec(cluster)
        ps_tasks = spec.num_tasks(job) if job is not None and job in spec.jobs else 0
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        order = itertools.cycle(range(max(1, ps_tasks)))
        return _setter(ps_device, worker_device, merge_devices, ps_ops, lambda op: next(order))
    if not callable(ps_strategy):
        raise TypeError(
            f"ps_strategy must be callable, a function from an operation to a task: {ps_strategy!r}"
        )
    return _setter(ps_device, worker_device, merge_devices, ps_ops, ps_strategy)


def _setter(
    ps_device: str,
    worker_device: str,
    merge_devices: bool,
    ps_ops: Sequence[str] | None,
    strategy: Callable[[Operation], int],
) -> Callable[[Any], str]:
    servers = DeviceSpec.from_string(ps_device or "")
    kinds = standard_ps_ops() if ps_ops is None else frozenset(ps_ops)

    def device_of(op: Any) -> str:
        own = op.device or ""
        if own and not merge_devices:
            return own
        kind = op.type if isinstance(op, Operation) else op.op
        if not ps_device or kind not in kinds:
            return merge_names(worker_device or "", own)
        home = servers
        if servers.job and DeviceSpec.from_string(own).job in (None, servers.job):
            home = servers.replace(task=strategy(op))  # an op of another job has its own tasks
        return merge_names(home.to_string(), own)

    return device_of
