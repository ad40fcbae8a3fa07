"""The plan of a job: its program, the tasks of its cluster, and each task's command line and environment."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tideflow.launch.supervision import Task

FLAGS = ("job_name", "task_index", "ps_hosts", "worker_hosts")  # flags of most distributed programs

Cluster = Mapping[str, Sequence[str]]  # the addresses of each job's tasks


@dataclass(frozen=True)
class Resources:
    """The CPUs and GPUs of one task; None where the user requested none."""

    cpus: float | None = None
    gpus: float | None = None


@dataclass(frozen=True)
class Plan:
    """A program and the size of its cluster."""

    script: str
    arguments: Sequence[str] = ()
    ps: int = 1
    workers: int = 1
    has_chief: bool = False  # whether the chief is a job of its own, beside the workers
    flags: Sequence[str] = ()  # the FLAGS that the program takes
    restarts: int = 0
    grace: float = 30.0
    resources: Mapping[str, Resources] = field(default_factory=dict)  # by job
    has_evaluator: bool = False  # whether a task evaluates the checkpoints that the others write

    @property
    def tasks(self) -> list[Task]:
        """The tasks: parameter servers first, then the chief, the workers and the evaluator."""
        return tasks_of(self.ps, self.workers, self.has_chief, self.has_evaluator)

    @property
    def chief(self) -> Task:
        """The chief: a task of its own, or the first worker."""
        return Task("chief" if self.has_chief else "worker", 0)

    def resources_of(self, task: Task) -> Resources:
        """The resources of a task. A chief has those of a worker."""
        return self.resources.get("ps" if task.serves else "worker", Resources())


def tasks_of(ps: int, workers: int, has_chief: bool, has_evaluator: bool = False) -> list[Task]:
    """The tasks of a cluster of this size."""
    sizes = {"ps": ps, "chief": int(has_chief), "worker": workers, "evaluator": int(has_evaluator)}
    return [Task(job, index) for job, size in sizes.items() for index in range(size)]


def cluster_of(addresses: Mapping[Task, str]) -> dict[str, list[str]]:
    """Addresses by job, in the order of the tasks."""
    cluster: dict[str, list[str]] = {}
    for task in sorted(addresses, key=lambda task: (task.job, task.index)):
        cluster.setdefault(task.job, []).append(addresses[task])
    return cluster


def environment_of(task: Task, cluster: Cluster) -> dict[str, str]:
    """The environment of a task: TF_CONFIG names its cluster, its job and its index."""
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": task.job, "index": task.index}})}


def arguments_of(plan: Plan, task: Task, cluster: Cluster) -> list[str]:
    """The command line of a task: the program, its own arguments, and the flags for its job and index."""
    values = {
        "job_name": task.job,
        "task_index": str(task.index),
        "ps_hosts": ",".join(cluster.get("ps", ())),
        "worker_hosts": ",".join(cluster.get("worker", ())),
    }
    return [plan.script, *plan.arguments, *(f"--{name}={values[name]}" for name in plan.flags)]


def threads_of(cpus: float) -> str:
    """The number of kernel threads of a task with so many CPUs, as text."""
    return str(max(1, int(cpus)))


def flags_of(script: Path) -> tuple[str, ...]:
    """The usual flags that a program defines, as far as its source shows."""
    try:
        tree = ast.parse(script.read_bytes())
    except SyntaxError:  # Python reports it when the program starts
        return ()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _defines_a_flag(node)]
    words = [word.value for call in calls for word in call.args if isinstance(word, ast.Constant)]
    defined = {word.lstrip("-") for word in words if isinstance(word, str)}
    return tuple(name for name in FLAGS if name in defined)


def _defines_a_flag(call: ast.Call) -> bool:
    """Whether a call is one like `flags.DEFINE_string(…)`, `parser.add_argument(…)` or `click.option(…)`."""
    name: str = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name.startswith("DEFINE_") or name in ("add_argument", "option")
