"""A cluster on this machine: every task a process, each with its share of the cores."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tideflow.cluster import keys
from tideflow.cluster.ports import reserved
from tideflow.launch.plan import Plan, arguments_of, cluster_of, environment_of, threads_of
from tideflow.launch.processes import TaskProcess, is_free
from tideflow.launch.shell import Shell
from tideflow.launch.supervision import Supervision, Task
from tideflow.launch.view import view_of

HOST = "127.0.0.1"
NEW_KEY = "new"  # a key for this job alone
_WAITING_LINES = 10_000  # that nobody has shown yet; then tasks wait with what they write


def launch(plan: Plan, *, port: int | None = None, key: str | None = None, plain: bool = False) -> int:
    """Runs the job to its end; its exit code, which is the chief's."""
    supervision = Supervision(plan.tasks, plan.chief, plan.restarts, plan.grace)
    with (
        addresses_of(plan.tasks, port) as addresses,
        key_file(key) as secret,
        view_of(supervision, plain) as view,
    ):
        cluster = cluster_of(addresses)
        shared = share_of(plan)
        told = {
            task: {**environment_of(task, cluster), **shared[task], **secret} for task in supervision.tasks
        }
        arguments = {task: arguments_of(plan, task, cluster) for task in supervision.tasks}
        with ThisMachine(arguments, told) as machine:
            return Shell(supervision, machine, view).run()


@contextlib.contextmanager
def addresses_of(tasks: Sequence[Task], port: int | None) -> Iterator[dict[Task, str]]:
    """An address for each task: from a port on, or any that are free, which are then kept for the block."""
    ports = reserved(len(tasks), HOST) if port is None else contextlib.nullcontext(_from(port, len(tasks)))
    with ports as found:
        yield {task: f"{HOST}:{number}" for task, number in zip(tasks, found)}


def _from(port: int, count: int) -> Sequence[int]:
    ports = range(port, port + count)
    for number in ports:
        if number > 65535 or not is_free(number, HOST):
            raise ValueError(
                f"port {number} is taken or not to be had: tasks need {count} ports from {port} on "
                "(without --port, free ones are found)"
            )
    return ports


# ------------------------------------------------------------------------------------------- shares and keys


def share_of(plan: Plan) -> dict[Task, dict[str, str]]:
    """The part of this machine that each task gets, as environment: threads, and GPUs where they were asked
    for.

    Those that compute divide the cores among themselves; parameter servers work while the others wait.
    """
    tasks, cores = plan.tasks, len(os.sched_getaffinity(0))
    computing = sum(not task.serves for task in tasks)
    gpus, said = _gpus_of(plan), os.environ.get("OMP_NUM_THREADS")
    shares = {}
    for task in tasks:
        share = max(1, cores // (len(tasks) if task.serves else computing))
        asked = plan.resources_of(task).cpus
        shares[task] = {"OMP_NUM_THREADS": (said or str(share)) if asked is None else threads_of(asked)}
        if task in gpus:
            shares[task]["CUDA_VISIBLE_DEVICES"] = gpus[task]
    return shares


def _gpus_of(plan: Plan) -> dict[Task, str]:
    """The GPUs that each task sees, where any were asked for: nobody sees another's."""
    asked = {task: plan.resources_of(task).gpus for task in plan.tasks}
    if all(count is None for count in asked.values()):
        return {}
    wanted, there = {task: int(count or 0) for task, count in asked.items()}, _visible_gpus()
    if sum(wanted.values()) > len(there) or any(count != int(count) for count in asked.values() if count):
        total = sum(count or 0 for count in asked.values())
        raise ValueError(f"the tasks want {total:g} GPUs; this machine has {len(there)}, to be had whole")
    left = iter(there)
    return {task: ",".join(next(left) for _ in range(count)) for task, count in wanted.items()}


def _visible_gpus() -> list[str]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name for name in visible.split(",") if name]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


@contextlib.contextmanager
def key_file(key: str | None) -> Iterator[dict[str, str]]:
    """The variable that names the cluster key, if the tasks are to have one; a new key goes with the job."""
    if key is None:
        yield {}
    elif key != NEW_KEY:
        keys.read(key)
        yield {keys.VARIABLE: str(Path(key).absolute())}
    else:
        with tempfile.TemporaryDirectory(prefix="tideflow-") as folder:
            path = Path(folder, "cluster.key")
            keys.write(keys.generate(), path)
            yield {keys.VARIABLE: str(path)}


# ----------------------------------------------------------------------------------------------- the machine


class ThisMachine:
    """Processes of this machine. None outlives it."""

    def __init__(self, arguments: Mapping[Task, Sequence[str]], told: Mapping[Task, Mapping[str, str]]):
        self._arguments, self._told = arguments, told
        self._events: queue.Queue[tuple] = queue.Queue(_WAITING_LINES)
        self._early: list[tuple] = []
        self._processes: dict[Task, TaskProcess] = {}

    def __enter__(self) -> ThisMachine:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.send(signal.SIGKILL)

    def start(self, task: Task) -> None:
        """Starts the task's process."""
        process = TaskProcess(
            self._arguments[task],
            self._told[task],
            lambda line: self._events.put(("said", task, line)),
            lambda code: self._events.put(("ended", task, code)),
        )
        self._processes[task] = process
        self._early.append(("started", task, f"pid {process.pid}"))

    def send(self, task: Task, number: int) -> None:
        """Sends a signal to the task and its children."""
        if task in self._processes:
            self._processes[task].send(number)

    def wait(self, seconds: float) -> list[tuple]:
        """What has happened, in order."""
        events, self._early = self._early, []
        deadline = time.monotonic() + (0.0 if events else seconds)
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=max(0.0, deadline - time.monotonic())))
            while len(events) < 100:
                events.append(self._events.get_nowait())
        return events
