"""The master of a session: it places a step on the tasks of the cluster, cuts it into parts, registers each
with its task once, and then runs the step with one small message to each.

Only the tasks that a step needs must be there.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.cluster.part import Spec
from tideflow.cluster.tasks import Task, is_little, tensors_message, unpack, values_of
from tideflow.cluster.transport import Message, Pending, attend, gather
from tideflow.cluster.worker import STOP_SECONDS
from tideflow.compile.blocking import waits_independently
from tideflow.compile.emit import Plan
from tideflow.compile.ir import Program
from tideflow.compile.partition import Part, partition
from tideflow.compile.place import tell
from tideflow.compile.placer import asked_for, assign, spec_of
from tideflow.compile.prune import needed
from tideflow.graph import errors
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime import waiting
from tideflow.runtime.devices import Device, PlacementMemory
from tideflow.runtime.rendezvous import Parcel
from tideflow.runtime.waiting import Limits
from tideflow.runtime.wake_events import WakeEvent
from tideflow.session.config import apply_config

_SAY_SO_SECONDS = 10.0  # how often a master that waits for a task says which
_TRY_AGAIN_SECONDS = 0.05
_MOST_BESIDE = 16  # messages to other tasks that a step sends beside its requests
_log = logging.getLogger("tideflow")


@dataclass
class _Placed:
    """A part of a step, registered with its task."""

    task: Task
    life: int  # of the task, at the time
    name: str
    feeds: list[int]
    fetches: list[int]


class Master:
    """Runs the steps of one session on a cluster."""

    def __init__(
        self,
        graph: Graph,
        config: ConfigProto | None,
        tasks: Mapping[str, Task],
        own: str,
        gone: Callable[[], Set[str]] = frozenset,
    ):
        self.handle = secrets.token_hex(8)
        self.gone = gone  # the tasks that were there and are no more, their work not done
        self._graph = graph
        self.tasks = _visible(tasks, config, own)
        self._own = own
        self._soft = config is not None and config.allow_soft_placement
        self.compress = config is not None and config.graph_options.enable_bfloat16_sendrecv
        self._isolated = config is not None and config.isolate_session_state
        self._placement, self._rules_off = apply_config(config, None)
        self._devices: dict[str, Sequence[Device]] = {}
        self._lives: dict[str, int] = {}
        self._memory = PlacementMemory()
        self._used: set[str] = set()
        self._plans: dict[Any, Plan] = {}
        self._lock = threading.Lock()
        self._steps = itertools.count()
        self.closed = False

    # ------------------------------------------------------------------ compiling

    def compile(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        shapes: Sequence[tuple | None] = (),
        after_each: Callable | None = None,
        done: Set[Operation] = frozenset(),
    ) -> Plan:
        """The step as a plan that runs it on the cluster, whatever the shapes of its feeds: the
        tasks see to them.
        """
        key = (tuple(fetches), tuple(targets), tuple(feeds), frozenset(done))
        with self._lock:
            if key not in self._plans:
                self._plans[key] = self._plan(fetches, targets, feeds, done)
            return self._plans[key]

    def _plan(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        done: Set[Operation],
    ) -> Plan:
        ops = sorted(needed(fetches, targets, set(feeds), done), key=lambda op: op._id)
        placed = self._place(ops)
        cut = partition(
            set(ops),
            fetches,
            targets,
            feeds,
            {op: device.task for op, device in placed.items()},
            {op: device.name for op, device in placed.items()},
        )
        tokens = cut.needs_tokens or waits_independently(ops)
        parts = [self._register(task, part, list(cut.parts), tokens) for task, part in cut.parts.items()]
        fed = {tensor: i for i, tensor in enumerate(feeds)}
        given = [(i, fed[tensor]) for i, tensor in enumerate(fetches) if tensor in fed]
        graphs = [part.graph_def for part in cut.parts.values()]
        run = _Step(self, parts, len(fetches), given, graphs)
        about = [
            f"{part.task.name}: {len(cut.parts[part.task.name].graph_def.node)} operations" for part in parts
        ]
        return Plan(
            run, f"# a step on {len(parts)} tasks\n# " + "\n# ".join(about), {}, Program([], [], []), {}
        )

    def _register(self, task: str, part: Part, tasks: list[str], tokens: bool) -> _Placed:
        rules_off = [*self._rules_off, *(["structure"] if tokens else [])]
        spec = Spec(
            part.graph_def.SerializeToString(),
            [name for _, name in part.feeds],
            [name for _, name in part.fetches],
            part.targets,
            rules_off,
            tasks,
            self.compress,
        )
        self._used.add(task)
        life = self._lives[task]
        name = self.tasks[task].register(self.handle, self._isolated, spec, life)
        return _Placed(self.tasks[task], life, name, [i for i, _ in part.feeds], [i for i, _ in part.fetches])

    # ------------------------------------------------------------------ tasks and devices

    def _place(self, ops: Sequence[Operation]) -> dict[Operation, Device]:
        # State that says no place is at the same one for every session of the cluster: with the first by
        # name.
        wanted = {self._own, min(self.tasks)} if any(op.definition.handle for op in ops) else {self._own}
        for spec in asked_for(ops, soft=self._soft, memory=self._memory):
            if spec.job is not None or spec.task is not None:
                wanted.update(task for task in self.tasks if spec.anywhere_there().accepts(spec_of(task)))
        devices = [device for task in self.tasks if task in wanted for device in self._devices_of(task)]
        placed = assign(ops, devices, soft=self._soft, default=self._own, memory=self._memory)
        for op in placed if self._placement.log else ():
            tell(op.name, op.type, placed[op], self._memory)
        return placed

    def _devices_of(self, task: str) -> Sequence[Device]:
        if task not in self._devices:
            self._devices[task] = self._ask_for_devices(task)
            self._lives[task] = self.tasks[task].life  # a session is not for those who come after
        return self._devices[task]

    def _ask_for_devices(self, task: str) -> Sequence[Device]:
        """The devices of a task, as soon as it is there."""
        began = said = time.monotonic()
        while True:
            try:
                return self.tasks[task].devices()
            except UnavailableError:
                waiting.time_left(waiting.limits(), lambda: self.closed, f"Waiting for {task}")
                time.sleep(_TRY_AGAIN_SECONDS)
                if time.monotonic() - said > _SAY_SO_SECONDS:
                    said = time.monotonic()
                    _log.info(
                        "CreateSession still waiting for response from worker: %s (%.0f s)",
                        task,
                        said - began,
                    )

    def devices(self) -> list[Device]:
        """The devices of every task that answers."""
        found = []
        for task in self.tasks:
            try:
                found += self._devices.get(task) or self.tasks[task].devices()
            except UnavailableError:
                _log.info("%s does not answer.", task)
        return found

    # ------------------------------------------------------------------ running

    def new_step(self) -> str:
        if self.closed:
            raise errors.cancelled("The session was closed.")
        return f"{self.handle}:{next(self._steps)}"

    def told_of(self, error: OpError) -> OpError:
        """An error of a part, about the operation of the graph that the user made."""
        node = error.node_def
        op = self._graph._by_name.get(node.name) if node is not None else None
        if op is not None and error.op is not op:
            error._op, error._node_def = op, op.node_def
        return error

    def close(self) -> None:
        """Ends the session on every task that knows of it."""
        self.closed = True
        for name in self._used:
            try:
                self.tasks[name].close_session(self.handle)
            except OpError as error:  # it is gone, and the session with it
                _log.debug("%s was not told that a session is closed: %s", name, error)


class _Step:
    """Runs a step: all of its parts at once, the one of this task in this thread."""

    def __init__(
        self,
        master: Master,
        parts: list[_Placed],
        fetches: int,
        given: list[tuple[int, int]],
        graphs: list[GraphDef],
    ):
        self._master = master
        self._graphs = graphs
        self._local = next((part for part in parts if part.task.is_local), None)
        self._remote = [part for part in parts if not part.task.is_local]
        self._fetches = fetches
        self._given = given

    def __call__(self, *feeds: Any) -> list[Any]:
        results = [None] * self._fetches
        for position, feed in self._given:
            results[position] = feeds[feed]
        handle, step = self._master.handle, self._master.new_step()
        limits = waiting.limits()
        if limits.trace is not None:
            limits.trace.partition_graphs.extend(self._graphs)
        traffic = _Traffic(self._master, step, self._local)
        try:
            for part in self._remote:
                values = [feeds[i] for i in part.feeds]
                traffic.pending[part.task.name] = part.task.start(
                    handle, part.name, step, values, limits, part.life, traffic.home, traffic.on_message
                )
            if self._local is not None:
                _put(results, self._local, self._run_local(feeds, step, limits, traffic))
            for part, answer in zip(self._remote, gather(list(traffic.pending.values()))):
                _put(results, part, values_of(answer, limits))
        except BaseException as error:
            self._give_up(step, error, traffic.pending.values())
            if isinstance(error, OpError):
                self._master.told_of(error)
            raise
        return results

    def _run_local(self, feeds: Sequence[Any], step: str, limits: Limits, traffic: _Traffic) -> Sequence[Any]:
        part = self._local
        values = [feeds[i] for i in part.feeds]
        handle = self._master.handle
        return part.task.run(handle, part.name, step, values, limits, traffic.send, traffic.wait)

    def _give_up(self, step: str, error: BaseException, pending: Iterable[Pending]) -> None:
        """Ends the step on the tasks on which it still runs, and waits for that."""
        known = isinstance(error, OpError)
        reason = error if known else errors.aborted(f"The step failed: {error!r}")
        for one in pending:
            one.cancel()
        for part in self._remote:
            try:
                part.task.stop_step(step, reason).result(STOP_SECONDS, Limits())
            except OpError as lost:
                _log.debug("%s was not told that a step is over: %s", part.task.name, lost)


class _Traffic:
    """What the part of a step on this task and the others tell each other. Where it is the thread that runs
    the part here which waits for them, little things go beside the requests: that thread waits on their
    connections itself, and no other has to wake it.
    """

    def __init__(self, master: Master, step: str, local: _Placed | None):
        self._master, self._step, self._local = master, step, local
        waits = local is not None and local.task.is_suspendable(master.handle, local.name)
        self.home = local.task.name if waits else ""  # the task for which things come beside the requests
        self._beside = _MOST_BESIDE if waits else 0
        self.pending: dict[str, Pending] = {}

    def on_message(self, message: Message) -> None:
        for key, value in unpack(message):
            self._local.task.worker.deliver(self._step, key, value)

    def send(self, task: str, parcel: Parcel) -> None:
        compress = self._master.compress
        if self._beside and is_little(parcel):
            self._beside -= 1
            self.pending[task].add(tensors_message(self._step, parcel), compress)
        else:
            self._master.tasks[task].send(self._step, parcel, compress)

    def wait(self, wake_event: WakeEvent, seconds: float) -> None:
        attend(list(self.pending.values()), wake_event, seconds)


def _put(results: list[Any], part: _Placed, values: Sequence[Any]) -> None:
    for position, value in zip(part.fetches, values, strict=True):
        results[position] = value


def _visible(tasks: Mapping[str, Task], config: ConfigProto | None, own: str) -> dict[str, Task]:
    """The tasks that a session may use: all, or those that its device filters name."""
    filters = [
        spec_of(name).anywhere_there() for name in (config.device_filters if config is not None else ())
    ]
    if not filters:
        return dict(tasks)
    return {
        name: task
        for name, task in tasks.items()
        if name == own or any(wanted.accepts(spec_of(name)) for wanted in filters)
    }
