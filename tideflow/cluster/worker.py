"""A task's own work: it keeps state, takes the parts of steps that masters register, and runs them.

Parts belong to a master's session; variables and queues belong to the task and are shared by name, unless a
session asks to be isolated. A part is compiled when it is first run, for the shapes it is fed with, and kept.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.compile.compiler import compile_step
from tideflow.compile.emit import Plan
from tideflow.compile.failures import explained
from tideflow.compile.ir import walk
from tideflow.compile.variants import Variants
from tideflow.graph.errors import AbortedError, CancelledError, OpError
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.ops.sending import SEND
from tideflow.runtime import collectives, waiting
from tideflow.runtime.collectives import Others
from tideflow.runtime.devices import Placement
from tideflow.runtime.rendezvous import Meetings
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import Limits
from tideflow.session.partitions import Devices
from tideflow.session.trace import Trace

LEASE_ROUNDS = 20  # of heartbeats: a master that was silent for so long has lost its sessions here
STOP_SECONDS = 5.0  # within which a step that was given up should have ended
_QUICK_SECONDS = 500e-6  # a part that takes no longer is run where it arrives

Send = Callable[[str, str, list[tuple[str, Any]], bool], None]  # (step, task, values by key, compressed)


@dataclass
class Spec:
    """A part as a master describes it: names of its own tensors and operations."""

    graph_def: bytes
    feeds: list[str]
    fetches: list[str]
    targets: list[str]
    rules_off: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)  # all that the step runs on
    compress: bool = False  # floats are cut to 16 bits on their way to other tasks


class Part:
    """A registered part: its graph, and its plans."""

    def __init__(self, spec: Spec, resources: ResourceManager, placement: Placement):
        graph = Graph()
        with graph.as_default():
            import_graph_def(GraphDef.FromString(spec.graph_def), name="")
        self.tasks, self.compress = spec.tasks, spec.compress
        self._placement, self._resources = placement, resources
        self._rules_off = frozenset(spec.rules_off)
        self._feeds = [graph.get_tensor_by_name(name) for name in spec.feeds]
        self._fetches = [graph.get_tensor_by_name(name) for name in spec.fetches]
        self._targets = [graph.get_operation_by_name(name) for name in spec.targets]
        self._variants = Variants(self._compile)
        self._traced: tuple[Trace, Variants] | None = None
        self._tracing = threading.Lock()
        self._may_wait = True
        self._seconds = float("inf")

    def _compile(self, shapes: list[tuple | None], after_each: Callable | None = None) -> Plan:
        plan = compile_step(
            self._fetches,
            self._targets,
            self._feeds,
            shapes,
            self._resources,
            self._placement,
            self._rules_off,
            after_each,
        )
        self._may_wait = any(node.definition.blocking or node.type == SEND for node in walk(plan.program))
        return plan

    @property
    def is_quick(self) -> bool:
        """Whether running it keeps nobody waiting."""
        return not self._may_wait and self._seconds < _QUICK_SECONDS

    def run(self, feeds: Sequence[Any]) -> tuple:
        """The values of its fetches. Where values come from and go to is known to the limits it
        runs under.
        """
        shapes = tuple([value.shape for value in feeds])
        plan = self._variants.plans.get(shapes) or self._variants.plan_for(feeds)
        began = time.perf_counter()
        try:
            return plan.function(*feeds)
        except Exception as error:
            raise explained(error, plan) from error
        finally:
            self._seconds = time.perf_counter() - began

    def run_traced(self, feeds: Sequence[Any], trace: RunMetadata) -> tuple:
        """The same, and what its operations did when."""
        with self._tracing:
            if self._traced is None:
                devices = Devices(self._fetches, self._targets, self._feeds, self._placement)
                hook = Trace(devices)
                self._traced = hook, Variants(lambda shapes: self._compile(shapes, hook))
            hook, variants = self._traced
            plan = variants.plan_for(feeds)
            hook.begin()
            try:
                return plan.function(*feeds)
            except Exception as error:
                raise explained(error, plan) from error
            finally:
                hook.fill(trace)


@dataclass
class _Session:
    """What a master has here."""

    resources: ResourceManager
    parts: dict[str, Part] = field(default_factory=dict)
    steps: dict[str, tuple[Limits, Part]] = field(default_factory=dict)
    silent: int = 0  # rounds of heartbeats since the master was last heard of


class Worker:
    """Runs parts of steps, on one task."""

    def __init__(self, task: str, placement: Placement, send: Send, others: Others | None = None):
        self.task = task
        self.placement = placement
        self.resources = ResourceManager()
        self._others = others  # the members of collectives on other tasks
        collectives.configure(self.resources, others)
        self._send = send
        self._meetings = Meetings()
        self._sessions: dict[str, _Session] = {}
        self._lock = threading.Lock()
        self._ended = threading.Condition()
        self._numbers = itertools.count()

    # ------------------------------------------------------------------ what masters ask for

    def register(self, session: str, isolated: bool, spec: Spec) -> str:
        """Takes a part; what to call it in `run`."""
        with self._lock:
            if session not in self._sessions:
                shared = None if isolated else self.resources
                self._sessions[session] = _Session(ResourceManager(shared))
            found = self._sessions[session]
        name = f"part {next(self._numbers)}"
        found.parts[name] = Part(spec, found.resources, self.placement)
        found.silent = 0
        return name

    def part(self, session: str, name: str) -> Part:
        """A registered part; AbortedError where this task does not know it, as after a restart."""
        found = self._sessions.get(session)
        if found is None or name not in found.parts:
            raise AbortedError(
                None,
                None,
                f"{self.task} does not know '{name}' of session {session}: it was restarted since, or "
                "the session was closed. Make a new session.",
            )
        found.silent = 0
        return found.parts[name]

    def run(self, session: str, part: Part, step: str, feeds: Sequence[Any], limits: Limits) -> tuple:
        """Runs a part in a step, within the limits."""
        found = self._sessions.get(session)
        if found is None:
            raise CancelledError(None, None, f"The session was closed on {self.task}.")
        send = lambda task, values: self._send(step, task, values, part.compress)
        limits.rendezvous = self._meetings.begin(step, send)
        found.steps[step] = limits, part
        try:
            limits.rendezvous.check()  # it may have failed elsewhere before it was known here
            if found.resources.closed:
                raise CancelledError(None, None, f"The session was closed on {self.task}.")
            with waiting.under(limits):
                traced = limits.trace is not None
                values = part.run_traced(feeds, limits.trace) if traced else part.run(feeds)
                limits.rendezvous.flush()
                return values
        finally:
            self._meetings.finish(step)
            with self._ended:
                found.steps.pop(step, None)
                self._ended.notify_all()

    def deliver(self, step: str, key: str, value: Any) -> None:
        """Takes what another task has sent."""
        self._meetings.deliver(step, key, value)

    def end_step(self, step: str, error: OpError) -> None:
        """Whoever waits here on behalf of a step waits in vain; what comes for it is dropped."""
        self._meetings.end(step, error)  # first: whoever waits there should learn the reason
        for session in list(self._sessions.values()):
            if step in session.steps:
                self._cancel(session, step)

    def wait_for_end(self, step: str, seconds: float) -> None:
        """Waits until nothing of a step runs here, so that it leaves queues whole."""
        with self._ended:
            self._ended.wait_for(
                lambda: not any(step in session.steps for session in self._sessions.values()), seconds
            )

    def _cancel(self, session: _Session, step: str) -> None:
        running = session.steps.get(step)
        if running is not None:
            running[0].cancelled = True
            session.resources.wake()

    def end_steps_with(self, task: str, error: OpError) -> None:
        """A task is lost: so are the steps that need it."""
        for session in list(self._sessions.values()):
            for step, (_, part) in list(session.steps.items()):
                if task in part.tasks:
                    self._meetings.end(step, error)
                    self._cancel(session, step)

    def close_session(self, session: str) -> None:
        """Forgets a session, and ends the steps that it has under way."""
        with self._lock:
            found = self._sessions.pop(session, None)
        if found is not None:
            found.resources.closed = True
            for step in list(found.steps):
                self._meetings.end(step, CancelledError(None, None, "The session was closed."))
                self._cancel(found, step)

    def reset(self, containers: Sequence[str]) -> None:
        """Forgets the state of these containers, or of the default one, and every session with it."""
        for session in list(self._sessions):
            self.close_session(session)
        self.resources.clear(containers or [""])
        collectives.configure(self.resources, self._others)

    def hear(self, session: str) -> None:
        """The master of a session is alive."""
        found = self._sessions.get(session)
        if found is not None:
            found.silent = 0

    def forget_the_lost(self) -> None:
        """Closes the sessions of masters that have not been heard of. Rounds are counted, not seconds: a
        process that was stopped for a while has not been silent.
        """
        for name, session in list(self._sessions.items()):
            session.silent += 1
            if session.silent > LEASE_ROUNDS:
                self.close_session(name)

    def close(self) -> None:
        """Ends everything that runs here."""
        for session in list(self._sessions):
            self.close_session(session)
        self.resources.closed = True
        self.resources.wake()
