"""The master of a session: it places a step on the tasks of the cluster, cuts it into parts, registers each
part with its task once, and then runs the step with one small message to each task.

A step needs only those tasks to answer on which it has a part.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster.cluster_step import ClusterStep, PlacedPart, StepSession
from tideflow.cluster.given_cluster import is_isolated
from tideflow.cluster.messages import GivenCluster, PartDescription
from tideflow.cluster.tasks import LocalTask, RemoteTask, Task
from tideflow.compile.blocking import waits_independently
from tideflow.compile.partition import TaskGraph, partition
from tideflow.compile.place import log_placement
from tideflow.compile.placer import asked_for, assign, pattern_of
from tideflow.compile.plan import Plan
from tideflow.compile.prune import needed
from tideflow.compile.request import StepRequest
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.runtime.devices import Device, PlacementMemory
from tideflow.runtime.waiting import StepContext
from tideflow.session.config import apply_config, half_by_device

_LOG_SECONDS = 10.0  # how often a master logs for which task it waits
_RETRY_SECONDS = 0.05
_log = logging.getLogger("tideflow")


class Master:
    """Runs the steps of one session on a cluster: the executor of a session on a server of this process.

    `own` is the name of this task. `given` is the cluster where the session's configuration gives one, whose
    `tasks` then belong to this master alone.
    """

    fills_traces = True

    def __init__(
        self,
        graph: Graph,
        config: ConfigProto | None,
        tasks: Mapping[str, Task],
        own: str,
        missing_tasks: Callable[[], Set[str]] = frozenset,
        given: GivenCluster | None = None,
    ):
        compress = config is not None and config.graph_options.enable_bfloat16_sendrecv
        self._session = StepSession(secrets.token_hex(8), graph, compress)
        self.missing_tasks = missing_tasks  # that were there, and have not done their work
        self.tasks = _visible(tasks, config, own)
        self._own, self._given = own, given
        self._soft = config is not None and config.allow_soft_placement
        self.default_timeout = 0.0 if config is None else config.operation_timeout_in_ms / 1000
        self._isolated = is_isolated(config)
        self._placement, self._disabled_rules = apply_config(config, None)
        self._half_by_device = half_by_device(config)
        self._devices: dict[str, Sequence[Device]] = {}
        self._incarnations: dict[str, int] = {}
        self._memory = PlacementMemory()
        self._used: set[str] = set()
        self._plans: dict[Any, Plan] = {}
        self._lock = threading.Lock()

    @property
    def handle(self) -> str:
        """Names the session on the tasks of the cluster."""
        return self._session.handle

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""
        return self._session.closed

    # ------------------------------------------------------------------ compiling

    def compile(
        self, request: StepRequest, context: StepContext, replace: Callable[[Plan], None] | None = None
    ) -> Plan:
        """The step as a plan that runs it on the cluster. The plan is for feeds of any shape: each task
        compiles its part for the shapes that it gets.
        """
        self._session.check()
        key = request.fetches, request.targets, request.feeds, request.done
        with self._lock:
            if key not in self._plans:
                self._plans[key] = self._plan(request, context)
            return self._plans[key]

    def _plan(self, request: StepRequest, context: StepContext) -> Plan:
        fetches, targets, feeds = request.fetches, request.targets, request.feeds
        ops = sorted(needed(fetches, targets, set(feeds), request.done), key=lambda op: op._id)
        placed = self._place(ops, context)
        cut = partition(
            set(ops),
            fetches,
            targets,
            feeds,
            {op: device.task for op, device in placed.items()},
            {op: device.name for op, device in placed.items()},
        )
        tokens = cut.needs_tokens or waits_independently(ops)
        tasks = list(cut.parts)
        parts = [self._register(task, part, tasks, tokens, context) for task, part in cut.parts.items()]
        fed = {tensor: i for i, tensor in enumerate(feeds)}
        given = [(i, fed[tensor]) for i, tensor in enumerate(fetches) if tensor in fed]
        graphs = [part.graph_def for part in cut.parts.values()]
        run = ClusterStep(self._session, parts, len(fetches), given, graphs)
        about = [
            f"{part.task.name}: {len(cut.parts[part.task.name].graph_def.node)} operations" for part in parts
        ]
        source = f"# a step on {len(parts)} tasks\n# " + "\n# ".join(about)
        return Plan(run, source, takes_context=True)

    def _register(
        self, name: str, part: TaskGraph, tasks: list[str], tokens: bool, context: StepContext
    ) -> PlacedPart:
        description = PartDescription(
            feeds=[feed for _, feed in part.feeds],
            fetches=[fetch for _, fetch in part.fetches],
            targets=part.targets,
            disabled_rules=[*self._disabled_rules, *(["structure"] if tokens else [])],
            half_by_device=list(self._half_by_device),
            tasks=tasks,
            compress=self._session.compress,
        )
        self._used.add(name)
        task, incarnation = self.tasks[name], self._incarnations[name]
        graph_def = part.graph_def.SerializeToString()
        cluster = self._given and GivenCluster(task=name, addresses=self._given.addresses)
        registered = task.register(
            self.handle, self._isolated, description, graph_def, incarnation, context, cluster
        )
        feeds, fetches = [i for i, _ in part.feeds], [i for i, _ in part.fetches]
        return PlacedPart(task, incarnation, registered, feeds, fetches)

    # ------------------------------------------------------------------ tasks and devices

    def _place(self, ops: Sequence[Operation], context: StepContext) -> dict[Operation, Device]:
        # State without a device constraint is on the same task for every session of the cluster: the first by
        # name.
        wanted = {self._own, min(self.tasks)} if any(op.definition.handle for op in ops) else {self._own}
        for pattern in asked_for(ops, soft=self._soft, memory=self._memory):
            if pattern.job is not None or pattern.task is not None:
                wanted.update(task for task in self.tasks if pattern.of_task().accepts(pattern_of(task)))
        tasks = [task for task in self.tasks if task in wanted]
        devices = [device for task in tasks for device in self._devices_of(task, context)]
        placed = assign(ops, devices, soft=self._soft, default=self._own, memory=self._memory)
        for op in placed if self._placement.log else ():
            log_placement(op.name, op.type, placed[op], self._memory)
        return placed

    def _devices_of(self, task: str, context: StepContext) -> Sequence[Device]:
        if task not in self._devices:
            self._devices[task] = self._ask_for_devices(task, context)
            # A session is for these incarnations: a restarted task has lost the session's state.
            self._incarnations[task] = self.tasks[task].incarnation
        return self._devices[task]

    def _ask_for_devices(self, task: str, context: StepContext) -> Sequence[Device]:
        """The devices of a task, as soon as it answers."""
        began = logged = time.monotonic()
        while True:
            try:
                return self.tasks[task].devices(context)
            except UnavailableError:
                context.time_left(lambda: self.closed, f"Waiting for {task}")
                time.sleep(_RETRY_SECONDS)
                if time.monotonic() - logged > _LOG_SECONDS:
                    logged = time.monotonic()
                    _log.info(
                        "CreateSession still waiting for response from worker: %s (%.0f s)",
                        task,
                        logged - began,
                    )

    def devices(self) -> list[Device]:
        """The devices of every task that answers."""
        found: list[Device] = []
        for task in self.tasks:
            try:
                found += self._devices.get(task) or self.tasks[task].devices()
            except UnavailableError:
                _log.info("%s does not answer.", task)
        return found

    def put_back(self) -> None:
        """After an interrupt in this thread, which runs the part of its own task: makes the variables whole
        that it was writing.
        """
        own = self.tasks[self._own]
        if isinstance(own, LocalTask):
            own.worker.resources.put_back()

    def cancel(self, context: StepContext) -> None:
        """Ends a step of this session that runs in another thread."""
        context.cancel()
        own = self.tasks[self._own]
        if isinstance(own, LocalTask):
            own.worker.resources.wake()

    def close(self) -> None:
        """Ends the session on every task that knows of it."""
        self._session.closed = True
        for name in self._used:
            try:
                self.tasks[name].close_session(self.handle)
            except OpError as error:  # the task has ended, and the session's parts there with it
                _log.debug("%s was not told that a session is closed: %s", name, error)
        for task in self._given_tasks():
            task.peer.close()

    def forget(self) -> None:
        """Ends the session because of a reset. One that has run nothing yet is not affected."""
        if self._used:
            self._session.forgotten = True
            self.close()

    def renew_leases(self, seconds: float) -> None:
        """Tells the tasks of a given cluster, to which the server sends no heartbeats, that this session
        lives; within so many seconds each.
        """
        for task in self._given_tasks():
            if task.name in self._used:
                try:
                    task.renew_lease(self.handle, seconds)
                except OpError as error:  # the next step that needs the task will say so
                    _log.debug("%s was not told that a session lives: %s", task.name, error)

    def _given_tasks(self) -> list[RemoteTask]:
        tasks = self.tasks.values() if self._given is not None else ()
        return [task for task in tasks if isinstance(task, RemoteTask)]


def _visible(tasks: Mapping[str, Task], config: ConfigProto | None, own: str) -> dict[str, Task]:
    """The tasks that a session may use: all, or those that its device filters name."""
    filters = [pattern_of(name).of_task() for name in (config.device_filters if config is not None else ())]
    if not filters:
        return dict(tasks)
    return {
        name: task
        for name, task in tasks.items()
        if name == own or any(wanted.accepts(pattern_of(name)) for wanted in filters)
    }
