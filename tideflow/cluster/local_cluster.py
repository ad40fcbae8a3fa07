"""`tf.test.create_local_cluster`: a cluster whose servers are all in this process, for tests."""

from __future__ import annotations

from typing import Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.ports import reserved
from tideflow.cluster.server import Server
from tideflow.export import export


@export("test.create_local_cluster")
def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Server], list[Server]]:
    """Starts servers of the jobs "worker" and "ps" on free ports of the loopback; returns both lists."""

    def servers(job: str, count: int, config: Any) -> list[Server]:
        return [Server(cluster, job, index, protocol, config) for index in range(count)]

    with reserved(num_workers + num_ps) as ports:
        addresses = [f"localhost:{port}" for port in ports]
        cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
        return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)
