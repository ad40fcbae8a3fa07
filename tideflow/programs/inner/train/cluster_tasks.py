"""Which task of a cluster does what: the functions of TensorFlow's multi_worker_util."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.train.worker_context import get_current_worker_context


def normalize_cluster_spec(cluster_spec: Any) -> tf.train.ClusterSpec:
    """A cluster, given as a dictionary, a message or what it is already."""
    if isinstance(cluster_spec, (dict, tf.train.ClusterDef)):
        return tf.train.ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, tf.train.ClusterSpec):
        raise ValueError(
            "`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a `tf.train.ClusterDef` object"
        )
    return cluster_spec


def _jobs(cluster_spec: Any, task_type: str | None, task_id: int | None) -> dict[str, Any]:
    """The tasks of each job, once the cluster is found to have this one."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` should be `None`.")
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in ("chief", "worker", "evaluator", "ps"):
        raise ValueError(
            f'Unrecognized task_type: {task_type!r}, valid task types are: "chief", "worker", "evaluator" '
            'and "ps".'
        )
    if task_type not in jobs:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    for job in ("chief", "evaluator"):
        if len(jobs.get(job, ())) > 1:
            raise ValueError(f"There must be at most one '{job}' job.")
    if task_id >= len(jobs[task_type]):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return jobs


def is_chief(cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None) -> bool:
    """Whether a task does what one task does for all."""
    if has_worker_context():
        return get_current_worker_context().is_chief
    jobs = _jobs(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return True
    return "chief" not in jobs and task_type == "worker" and task_id == 0


def collective_leader(cluster_spec: Any, task_type: str | None, task_id: int | None) -> str:
    """The task that arranges the collective operations; "" where there is none."""
    cluster_spec = normalize_cluster_spec(cluster_spec)
    if not cluster_spec.as_dict():
        return ""
    jobs = _jobs(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return f"/job:{'chief' if 'chief' in jobs else 'worker'}/replica:0/task:0"


def worker_count(cluster_spec: Any, task_type: str | None) -> int:
    """How many tasks train, or evaluate, along with this one."""
    jobs = _jobs(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    if task_type == "evaluator":
        return len(jobs["evaluator"])
    return len(jobs.get("chief", ())) + len(jobs.get("worker", ()))


def id_in_cluster(cluster_spec: Any, task_type: str | None, task_id: int | None) -> int | None:
    """The number of a task among all that train, the chief being the first."""
    jobs = _jobs(cluster_spec, task_type, task_id)
    if task_type == "worker":
        return (task_id or 0) + len(jobs.get("chief", ()))
    if task_type in ("chief", "evaluator"):
        return 0 if task_type == "chief" else task_id
    raise ValueError(f"There is no id for task_type {task_type!r}")


def should_save_checkpoint() -> bool:
    """Whether the task that this thread is writes checkpoints."""
    return get_current_worker_context().should_checkpoint


def should_load_checkpoint() -> bool:
    """Whether the task that this thread is initializes the model."""
    return get_current_worker_context().experimental_should_init


def wait_for_other_workers() -> None:
    """Returns when all workers have come here."""
    return get_current_worker_context().wait_for_other_workers()


def has_worker_context() -> bool:
    """Whether this thread runs a worker function."""
    return get_current_worker_context() is not None
