"""`tf.train.ClusterSpec`: the jobs of a cluster, and the addresses of their tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto import config_pb2  # noqa: F401 - registers the message that ServerDef holds
from tensorboard.compat.proto.cluster_pb2 import ClusterDef, JobDef

from tideflow.export import export, expose
from tideflow.graph.own_protos import make_messages
from tideflow.platform.compat import as_text

ServerDef = make_messages(
    "tensorflow_server",
    {
        "ServerDef": {
            "cluster": "tensorboard.ClusterDef",
            "job_name": "string",
            "task_index": "int32",
            "default_session_config": "tensorboard.ConfigProto",
            "protocol": "string",
        }
    },
)["ServerDef"]

expose(ClusterDef, "train.ClusterDef")
expose(JobDef, "train.JobDef")
expose(ServerDef, "train.ServerDef")


JobTasks = list[str] | dict[int, str]  # the addresses of a job's tasks, by index


@export("train.ClusterSpec")
class ClusterSpec:
    """A cluster: jobs by name, each a set of tasks with their addresses.

    Args:
      cluster: A dictionary from each job to the list of its tasks' addresses, or to a dictionary from task
        indices to addresses where not all tasks are known; a `tf.train.ClusterDef`; or another ClusterSpec.

    Raises:
      TypeError: If `cluster` is none of these.
    """

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow, it compares by value and has no hash

    def __init__(self, cluster: ClusterSpec | ClusterDef | dict[str, Any]):
        if isinstance(cluster, dict):
            self._cluster_spec = {job: _tasks_by_index(job, tasks) for job, tasks in cluster.items()}
            self._cluster_def = _cluster_def(self._cluster_spec)
        elif isinstance(cluster, (ClusterDef, ClusterSpec)):
            self._cluster_def = ClusterDef()
            self._cluster_def.CopyFrom(
                cluster.as_cluster_def() if isinstance(cluster, ClusterSpec) else cluster
            )
            self._cluster_spec = {job.name: dict(job.tasks) for job in self._cluster_def.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                f"addresses, or a `ClusterDef` protocol buffer, not {type(cluster).__name__}"
            )

    def __bool__(self) -> bool:
        return bool(self._cluster_spec)

    def __eq__(self, other: object) -> bool:
        """Equal to a cluster of the same tasks, and to its dictionary of dictionaries."""
        return bool(self._cluster_spec == other)

    def __str__(self) -> str:
        jobs = ", ".join(f"{job!r}: {tasks!r}" for job, tasks in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{jobs}}})"

    def as_dict(self) -> dict[str, JobTasks]:
        """Addresses by job: a list where the indices have no gaps, else a dictionary by index."""
        return {job: self._as_list_or_dict(job) for job in self.jobs}

    def _as_list_or_dict(self, job: str) -> JobTasks:
        indices = self.task_indices(job)
        addresses = [self.task_address(job, index) for index in indices]
        has_gaps = not indices or indices[-1] + 1 != len(indices)
        return dict(zip(indices, addresses)) if has_gaps else addresses

    def as_cluster_def(self) -> ClusterDef:
        """The cluster as a protocol buffer."""
        return self._cluster_def

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._cluster_spec)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks of a job are known.

        Args:
          job_name: The job.

        Returns:
          The number.

        Raises:
          ValueError: If there is no such job.
        """
        return len(self._tasks_of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's known tasks, in order.

        Args:
          job_name: The job.

        Returns:
          A list of indices.

        Raises:
          ValueError: If there is no such job.
        """
        return sorted(self._tasks_of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of one task.

        Args:
          job_name: The job.
          task_index: The index of the task.

        Returns:
          The address.

        Raises:
          ValueError: If there is no such task.
        """
        tasks = self._tasks_of(job_name)
        if task_index not in tasks:
            raise ValueError(
                f"No task with index {task_index!r} in job {job_name!r}: its tasks are {sorted(tasks)}"
            )
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by index, None for those that are not known.

        Args:
          job_name: The job.

        Returns:
          A list of addresses.

        Raises:
          ValueError: If there is no such job.
        """
        tasks = self._tasks_of(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _tasks_of(self, job_name: str) -> dict[int, str]:
        if job_name not in self._cluster_spec:
            known = ", ".join(map(repr, self.jobs))
            raise ValueError(f"No such job in cluster: {job_name!r}. Its jobs are: {known or 'none'}")
        return self._cluster_spec[job_name]


def _tasks_by_index(job: Any, tasks: Any) -> dict[int, Any]:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return dict(tasks)
    raise TypeError(
        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings, "
        f"not {type(tasks).__name__}."
    )


def _cluster_def(jobs: dict[Any, dict[int, Any]]) -> ClusterDef:
    """The cluster as a message, with jobs and tasks in order, so that equal clusters have equal bytes."""
    message = ClusterDef()
    for name, tasks in _sorted_items(jobs):
        job = message.job.add(name=_checked_text(name, "Job name"))
        for index, address in _sorted_items(tasks):
            job.tasks[index] = _checked_text(address, "Task address")
    return message


def _sorted_items(mapping: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return sorted(mapping.items(), key=lambda item: item[0])


def _checked_text(value: Any, what: str) -> str:
    try:
        return as_text(value)
    except TypeError:
        raise TypeError(f"{what} {value!r} must be bytes or unicode") from None
