"""`tf.test.create_local_cluster`: a cluster whose servers are all in this process, for tests."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from tideflow.cluster.cluster_spec import ClusterSpec
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
    addresses = [f"localhost:{port}" for port in _free_ports(num_workers + num_ps)]
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})

    def servers(job: str, count: int, config: Any) -> list[Server]:
        return [Server(cluster, job, index, protocol, config) for index in range(count)]

    return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on: all of them are held until the last is found."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
