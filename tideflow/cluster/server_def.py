"""`tf.train.ServerDef`: which task of which cluster a server is, made from what users give to
`tf.train.Server`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster.cluster_spec import ClusterSpec, ServerDef
from tideflow.graph import errors

SCHEME = "grpc"  # as TensorFlow's programs write it; the protocol is the one of `wire.py`


def make_server_def(
    server_or_cluster_def: Any,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: ConfigProto | None,
) -> ServerDef:
    """The definition of a server: a ServerDef, changed by what else is given; or a task of a cluster, where
    the only job, and the only task of a job, need not be named.
    """
    made = ServerDef()
    if isinstance(server_or_cluster_def, ServerDef):
        made.CopyFrom(server_or_cluster_def)
    else:
        cluster = _cluster_spec(server_or_cluster_def)
        if job_name is None:
            job_name = _the_only_one(cluster.jobs, "job_name")
        if task_index is None:
            task_index = _the_only_one(cluster.task_indices(job_name), "task_index")
        made.cluster.CopyFrom(cluster.as_cluster_def())
    for name, value in (("job_name", job_name), ("task_index", task_index), ("protocol", protocol)):
        if value is not None:
            setattr(made, name, value)
    made.protocol = made.protocol or SCHEME
    if config is not None:
        made.default_session_config.MergeFrom(config)
    _check(made)
    return made


def _cluster_spec(cluster: Any) -> ClusterSpec:
    try:
        return ClusterSpec(cluster)
    except TypeError:
        raise TypeError(
            "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
        ) from None


def _the_only_one(choices: Sequence[Any], what: str) -> Any:
    if len(choices) != 1:
        raise ValueError(f"Must specify an explicit `{what}`.")
    return choices[0]


def _check(made: ServerDef) -> None:
    """Raises an error unless the cluster has the task, and there is such a protocol."""
    jobs = {job.name: job.tasks for job in made.cluster.job}
    if made.job_name not in jobs:
        known = ", ".join(jobs) or "none"
        raise errors.internal(f'Job "{made.job_name}" was not defined in cluster (its jobs: {known})')
    if made.task_index not in jobs[made.job_name]:
        raise errors.invalid_argument(f'Task {made.task_index} was not defined in job "{made.job_name}"')
    if made.protocol != SCHEME:
        raise errors.not_found(
            f'No server speaks the protocol "{made.protocol}": the one there is, is "{SCHEME}".'
        )
