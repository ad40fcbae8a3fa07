"""A part of a step as a task keeps it: its graph, the plans made of it, and its runs.

A part is compiled when it is first run, for the shapes it is fed with. Its run goes in stretches, each to
where it would have to wait: for a value from another task, or at a queue. Somebody may wait there in a thread
of his own, or leave, and let whoever grants the pending value go on.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.compile.compiler import compile_step
from tideflow.compile.emit import Plan, suspends
from tideflow.compile.failures import explained
from tideflow.compile.ir import walk
from tideflow.compile.variants import Variants
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.runtime import waiting
from tideflow.runtime.denormals import flushing
from tideflow.runtime.devices import Placement
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import ABSENT, Limits, PendingValue
from tideflow.session.partitions import Devices
from tideflow.session.trace import Trace

_QUICK_SECONDS = 500e-6  # a part that computes no longer is run where it arrives

CallSoon = Callable[[Callable[[], None]], None]
Done = Callable[[tuple, Exception | None], None]  # takes the values of a run, or why there are none


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
    """A registered part."""

    def __init__(self, spec: Spec, resources: ResourceManager, placement: Placement):
        graph = Graph()
        graph._takes_internal_ops = True
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
        self.is_suspendable = False  # as far as is known: it was not compiled yet
        self._may_block = True
        self._seconds = (math.inf, math.inf)  # that its last runs computed

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
            suspendable=True,
        )
        uncertain = [n for n in walk(plan.program) if n.definition.blocking or n.definition.takes_any_time]
        self._may_block = not all(plan.suspendable and suspends(node) for node in uncertain)
        self.is_suspendable = plan.suspendable
        return plan

    def is_quick(self, feeds: Sequence[Any]) -> bool:
        """Whether a run keeps nobody waiting: it does not compute for long, and is left where it waits."""
        if self._may_block or min(self._seconds) > _QUICK_SECONDS:
            return False
        return tuple([value.shape for value in feeds]) in self._variants.plans

    def took(self, seconds: float) -> None:
        """Notes how long a run computed. One long run may have been interrupted; two in a row were not."""
        self._seconds = self._seconds[1], seconds

    def run(self, feeds: Sequence[Any], limits: Limits) -> Run:
        """A run that is about to begin."""
        shapes = tuple([value.shape for value in feeds])
        return Run(self, self._variants.plans.get(shapes) or self._variants.plan_for(feeds), feeds, limits)

    def run_traced(self, feeds: Sequence[Any], limits: Limits) -> tuple:
        """The values of its fetches; what its operations did when goes to the limits' trace."""
        with self._tracing:
            if self._traced is None:
                devices = Devices(self._fetches, self._targets, self._feeds, self._placement)
                hook = Trace(devices)
                self._traced = hook, Variants(lambda shapes: self._compile(shapes, hook))
            hook, variants = self._traced
            plan = variants.plan_for(feeds)
            hook.begin()
            try:
                return Run(self, plan, feeds, limits).to_its_end()
            finally:
                hook.fill(limits.trace)


class Run:
    """One run of a part, which stops where it would have to wait."""

    def __init__(self, part: Part, plan: Plan, feeds: Sequence[Any], limits: Limits):
        self._part, self._plan, self._feeds, self._limits = part, plan, feeds, limits
        self._resume: Callable[[Any], PendingValue] | None = None
        self._seconds = 0.0
        self.values: tuple = ()  # of the fetches, when it has ended

    def go_on(self, value: Any = None) -> PendingValue | None:
        """Runs until there is a pending value, whose value the next call brings; None is the end."""
        began = time.perf_counter()
        pending = None
        try:
            with waiting.under(self._limits):
                if self._plan.suspendable:
                    pending = self._stretch(value)
                else:
                    self.values = self._plan.function(*self._feeds)
        except Exception as error:
            raise explained(error, self._plan) from error
        finally:
            self._seconds += time.perf_counter() - began
            if pending is None:
                self._part.took(self._seconds)
        return pending

    def _stretch(self, value: Any) -> PendingValue | None:
        if self._resume is None:
            self._resume = flushing(self._plan.function(*self._feeds).send)
        try:
            return self._resume(value)
        except StopIteration as end:
            self.values = end.value
            return None

    def to_its_end(self) -> tuple:
        """Runs all of it in this thread, which waits where it must."""
        pending = self.go_on()
        while pending is not None:
            with waiting.under(self._limits):
                value = waiting.wait_for(pending)
            pending = self.go_on(value)
        return self.values


class Visit:
    """A run that never waits: it is left at a pending value, and taken up by `call_soon` when that may be granted. `done`
    is told how it ended.
    """

    def __init__(self, run: Run, limits: Limits, call_soon: CallSoon, done: Done):
        self._run, self._limits, self._soon, self._done = run, limits, call_soon, done
        self._pending: PendingValue | None = None
        self._over = False

    def go_on(self) -> None:
        """Runs as far as it gets now. May be called without need."""
        if self._over:
            return
        error = None
        try:
            while (value := self._granted()) is not ABSENT:
                self._pending = self._run.go_on(value)
                if self._pending is None:
                    break
            else:
                return
        except Exception as failure:
            error = failure
        self._over = True
        self._done(self._run.values, error)

    def _granted(self) -> Any:
        """What the run goes on with: None at its beginning."""
        return None if self._pending is None else waiting.poll(self._pending, self._limits, self._come_back)

    def _come_back(self) -> None:
        self._soon(self.go_on)
