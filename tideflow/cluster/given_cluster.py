"""The cluster that a session's configuration gives (`ConfigProto.cluster_def`): the session then runs on that
one, and the tasks on it need not know of each other.
"""

from __future__ import annotations

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.messages import GivenCluster
from tideflow.cluster.server_def import SCHEME
from tideflow.cluster.tasks import task_name
from tideflow.graph import errors


def addresses_of(cluster: ClusterSpec) -> dict[str, str]:
    """The addresses of a cluster's tasks, by their names."""
    return {
        task_name(job, index): cluster.task_address(job, index)
        for job in cluster.jobs
        for index in cluster.task_indices(job)
    }


def given_cluster(config: ConfigProto | None, address: str) -> GivenCluster | None:
    """The cluster that a configuration gives, in which the master is the task at this address; None where it
    gives none.

    Raises:
      InvalidArgumentError: If no task, or more than one, is at the address.
    """
    if config is None or not config.HasField("cluster_def"):
        return None
    addresses = addresses_of(ClusterSpec(config.cluster_def))
    own = [task for task, other in addresses.items() if other == address]
    if not own:
        raise errors.invalid_argument(
            "The master (current machine) is not included in the provided cluster_def. The session's target "
            f"is {SCHEME}://{address}; the cluster_def has {addresses}."
        )
    if len(own) > 1:
        raise errors.invalid_argument(
            "Found multiple matching tasks that correspond to the master. Master target: "
            f"'{SCHEME}://{address}'; it is the address of {' and '.join(own)}."
        )
    return GivenCluster(task=own[0], addresses=addresses)


def is_isolated(config: ConfigProto | None) -> bool:
    """Whether a session shares no state with others. One that gives a cluster does so only on request."""
    if config is None:
        return False
    if config.HasField("cluster_def"):
        return not config.experimental.share_session_state_in_clusterspec_propagation
    return bool(config.isolate_session_state)
