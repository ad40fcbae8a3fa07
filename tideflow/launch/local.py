"""A cluster on this machine: each task is a process with a share of the cores."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tideflow.cluster import keys
from tideflow.cluster.ports import reserved
from tideflow.launch.plan import Plan, arguments_of, cluster_of, environment_of, threads_of
from tideflow.launch.processes import TaskProcess, file_in_memory, is_free, path_of
from tideflow.launch.shell import Ended, Event, Output, Shell, Started, signals_noted
from tideflow.launch.supervision import Supervision, Task
from tideflow.launch.view import view_of

HOST = "127.0.0.1"
NEW_KEY = "new"  # a key for this job alone
_QUEUED_LINES = 10_000  # lines that are not shown yet; a task that writes more is blocked


def launch(
    plan: Plan,
    *,
    port: int | None = None,
    key: str | None = None,
    insecure: bool = False,
    plain: bool = False,
) -> int:
    """Runs the job to its end; returns its exit code, which is the chief's."""
    supervision = Supervision(plan.tasks, plan.chief, plan.restarts, plan.grace)
    with (
        signals_noted() as signals,
        addresses_of(plan.tasks, port) as addresses,
        key_file(key, insecure) as secret,
        view_of(supervision, plain) as view,
    ):
        cluster = cluster_of(addresses)
        shares = share_of(plan)
        environments = {
            task: {**environment_of(task, cluster), **shares[task], **secret} for task in supervision.tasks
        }
        arguments = {task: arguments_of(plan, task, cluster) for task in supervision.tasks}
        with ThisMachine(arguments, environments) as machine:
            return Shell(supervision, machine, view, signals).run()


@contextlib.contextmanager
def addresses_of(tasks: Sequence[Task], port: int | None) -> Iterator[dict[Task, str]]:
    """An address for each task, from `port` upwards; without it free ports, reserved for the `with` block."""
    ports: contextlib.AbstractContextManager[Sequence[int]]
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
    """Each task's share of this machine, as environment variables: threads, and GPUs if the plan has any.

    The workers divide the cores among themselves; parameter servers are busy only while workers wait for
    them.
    """
    tasks, cores = plan.tasks, len(os.sched_getaffinity(0))
    computing = sum(not task.serves for task in tasks)
    gpus, inherited = _gpus_of(plan), os.environ.get("OMP_NUM_THREADS")
    shares = {}
    for task in tasks:
        share = max(1, cores // (len(tasks) if task.serves else computing))
        cpus = plan.resources_of(task).cpus
        shares[task] = {"OMP_NUM_THREADS": (inherited or str(share)) if cpus is None else threads_of(cpus)}
        if task in gpus:
            shares[task]["CUDA_VISIBLE_DEVICES"] = gpus[task]
    return shares


def _gpus_of(plan: Plan) -> dict[Task, str]:
    """The GPUs of each task, if the plan requests any. No GPU belongs to two tasks."""
    requested = {task: plan.resources_of(task).gpus for task in plan.tasks}
    if all(count is None for count in requested.values()):
        return {}
    counts, visible = {task: int(count or 0) for task, count in requested.items()}, _visible_gpus()
    if sum(counts.values()) > len(visible) or any(c != int(c) for c in requested.values() if c):
        total = sum(count or 0 for count in requested.values())
        raise ValueError(f"the tasks want {total:g} GPUs; this machine has {len(visible)}, to be had whole")
    remaining = iter(visible)
    return {task: ",".join(next(remaining) for _ in range(count)) for task, count in counts.items()}


def _visible_gpus() -> list[str]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name for name in visible.split(",") if name]
    import torch  # loaded when asked for

    return [str(number) for number in range(torch.cuda.device_count())]


@contextlib.contextmanager
def key_file(key: str | None, insecure: bool = False) -> Iterator[dict[str, str]]:
    """The environment variables that tell tasks which key they have: the file `key`, one that is made for the
    `with` block and held in memory (NEW_KEY), none at all (`insecure`); or what they find by themselves,
    which on this machine is the key of the user.
    """
    if insecure:
        yield {keys.INSECURE: "1", keys.VARIABLE: ""}
    elif key is None:
        yield {}
    elif key != NEW_KEY:
        keys.read(key)
        yield {keys.VARIABLE: str(Path(key).absolute())}
    else:
        descriptor = file_in_memory("cluster.key", keys.text_of(keys.generate()))
        try:
            yield {keys.VARIABLE: path_of(descriptor)}
        finally:
            os.close(descriptor)


# ----------------------------------------------------------------------------------------------- the machine


class ThisMachine:
    """Runs tasks as processes of this machine. Leaving its `with` block kills those that are left."""

    def __init__(
        self, arguments: Mapping[Task, Sequence[str]], environments: Mapping[Task, Mapping[str, str]]
    ) -> None:
        self._arguments, self._environments = arguments, environments
        self._events: queue.Queue[Event] = queue.Queue(_QUEUED_LINES)
        self._started: list[Event] = []
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
            self._environments[task],
            lambda line: self._events.put(Output(task, line)),
            lambda code: self._events.put(Ended(task, code)),
        )
        self._processes[task] = process
        self._started.append(Started(task, f"pid {process.pid}"))

    def send(self, task: Task, number: int) -> None:
        """Sends a signal to the task and its children."""
        if task in self._processes:
            self._processes[task].send(number)

    def wait(self, seconds: float) -> list[Event]:
        """The events since the last call, in their order."""
        events, self._started = self._started, []
        deadline = time.monotonic() + (0.0 if events else seconds)
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=max(0.0, deadline - time.monotonic())))
            while len(events) < 100:
                events.append(self._events.get_nowait())
        return events
