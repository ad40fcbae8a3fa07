"""`tf.test.create_local_cluster`: a cluster whose servers are all in this process, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.ports import reserved
from tideflow.cluster.server import Server
from tideflow.export import export

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import ConfigProto


@export("test.create_local_cluster")
def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: ConfigProto | None = None,
    ps_config: ConfigProto | None = None,
) -> tuple[list[Server], list[Server]]:
    """Starts servers of the jobs "worker" and "ps" on free ports of the loopback.

    Args:
      num_workers: The number of tasks of the job "worker".
      num_ps: The number of tasks of the job "ps".
      protocol: The protocol of the servers.
      worker_config: The configuration of the workers' sessions.
      ps_config: The configuration of the parameter servers' sessions.

    Returns:
      The list of workers and that of parameter servers.
    """

    def servers(job: str, count: int, config: Any) -> list[Server]:
        return [Server(cluster, job, index, protocol, config) for index in range(count)]

    with reserved(num_workers + num_ps) as ports:
        addresses = [f"localhost:{port}" for port in ports]
        cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
        return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)
