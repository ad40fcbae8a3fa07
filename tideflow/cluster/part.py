"""A part of a step as a task keeps it: its graph, the plans compiled from it, and its runs.

A part is compiled when it is first run, for the shapes of its feeds. A run advances to where the plan needs a
value that is not there: one that another task sends, or an element of a queue. There a thread either blocks
until the value arrives (`PartRun.run_to_end`), or leaves the run, which resumes when the value arrives
(`SuspendableRun`).
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.cluster.messages import PartDescription
from tideflow.compile.compiler import compile_step
from tideflow.compile.failures import explained
from tideflow.compile.ir import walk
from tideflow.compile.plan import LocalPlan
from tideflow.compile.request import FeedShapes, Hook, StepRequest
from tideflow.compile.variants import Variants
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import extend_graph
from tideflow.runtime.denormals import flushing
from tideflow.runtime.devices import Placement
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import ABSENT, PendingValue, StepContext
from tideflow.session.partitions import Devices
from tideflow.session.trace import Trace

if TYPE_CHECKING:
    from tideflow.cluster.tasks import RemoteTask

_QUICK_SECONDS = 500e-6  # a part that computes no longer is run on the listener's thread

CallSoon = Callable[[Callable[[], None]], None]
OnEnd = Callable[[tuple[Any, ...], Exception | None], None]  # takes the values of a run, or its error


class RegisteredPart:
    """A part that a master has registered; its state is in `resources`, its devices are in `placement`, and
    `others` are the tasks to which it may send values.
    """

    def __init__(
        self,
        description: PartDescription,
        graph_def: bytes,
        resources: ResourceManager,
        placement: Placement,
        others: Mapping[str, RemoteTask],
    ):
        graph = Graph()
        graph._takes_internal_ops = True
        extend_graph(graph, GraphDef.FromString(graph_def))
        self.tasks, self.compress = description.tasks, description.compress
        self._placement, self._resources, self.others = placement, resources, others
        self._request = StepRequest(
            tuple([graph.get_tensor_by_name(name) for name in description.fetches]),
            tuple([graph.get_operation_by_name(name) for name in description.targets]),
            tuple([graph.get_tensor_by_name(name) for name in description.feeds]),
            disabled_rules=frozenset(description.disabled_rules),
            half_by_device=tuple(description.half_by_device),
            suspendable=True,
        )
        self._variants = Variants(partial(self._compile, None))
        self._traced: tuple[Trace, Variants[LocalPlan]] | None = None
        self._tracing = threading.Lock()
        self.is_suspendable = False  # not known before the part is compiled
        self._may_block = True
        self._last_durations = (math.inf, math.inf)  # seconds that the last two runs computed

    def _compile(
        self,
        hook: Hook | None,
        shapes: FeedShapes,
        context: StepContext,
        replace: Callable[[LocalPlan], None],
    ) -> LocalPlan:
        request = dataclasses.replace(self._request, feed_shapes=shapes, hook=hook)
        plan = compile_step(request, self._resources, self._placement, replace, context)
        kinds = [node.definition for node in walk(plan.program)]
        uncertain = [kind for kind in kinds if kind.blocking or kind.touches == "python"]
        self._may_block = not all(plan.suspendable and kind.suspendable for kind in uncertain)
        self.is_suspendable = plan.suspendable
        return plan

    def is_quick(self, feeds: Sequence[Any]) -> bool:
        """Whether a run may use the listener's thread: it is short, and suspends instead of blocking."""
        if self._may_block or min(self._last_durations) > _QUICK_SECONDS:
            return False
        return tuple([value.shape for value in feeds]) in self._variants.plans

    def note_duration(self, seconds: float) -> None:
        """Notes how long a run computed. A single long run may have been interrupted by another process; two
        in a row count.
        """
        self._last_durations = self._last_durations[1], seconds

    def run(self, feeds: Sequence[Any], context: StepContext) -> PartRun:
        """A run that has not begun yet."""
        shapes = tuple([value.shape for value in feeds])
        plan = self._variants.plans.get(shapes) or self._variants.plan_for(feeds, context)
        return PartRun(self, plan, feeds, context)

    def run_traced(self, feeds: Sequence[Any], context: StepContext) -> tuple[Any, ...]:
        """Runs the part; when its operations ran, and where, is added to the trace of the context."""
        with self._tracing:
            if self._traced is None:
                trace = Trace(Devices(self._request, self._placement))
                self._traced = trace, Variants(partial(self._compile, trace.hook))
            trace, variants = self._traced
            plan = variants.plan_for(feeds, context)
            trace.begin()
            try:
                return PartRun(self, plan, feeds, context).run_to_end()
            finally:
                assert context.trace is not None, "only a traced step comes here"
                trace.fill(context.trace)


class PartRun:
    """One run of a part, from one pending value to the next."""

    def __init__(self, part: RegisteredPart, plan: LocalPlan, feeds: Sequence[Any], context: StepContext):
        self._part, self._plan, self._feeds, self._context = part, plan, feeds, context
        self._send: Callable[[Any], PendingValue] | None = None  # sends a value into the plan's generator
        self._seconds = 0.0
        self.values: tuple[Any, ...] = ()  # the values of the fetches, once the run has ended

    def advance(self, value: Any = None) -> PendingValue | None:
        """Runs up to the next pending value and returns it; None at the end. `value` is that of the pending
        value before.
        """
        began = time.perf_counter()
        pending, threads = None, self._plan.threads
        if threads is not None:
            torch.set_num_threads(threads.count)
        try:
            if self._plan.suspendable:
                pending = self._advance_generator(value)
            else:
                self.values = self._plan.run(self._context, self._feeds)
        except Exception as error:
            raise explained(error, self._plan) from error
        finally:
            now = time.perf_counter()
            self._seconds += now - began
            if threads is not None:
                torch.set_num_threads(threads.most)
            if pending is None:
                self._part.note_duration(self._seconds)
                if threads is not None:
                    threads.note(self._seconds, now)
        return pending

    def _advance_generator(self, value: Any) -> PendingValue | None:
        if self._send is None:
            self._send = flushing(self._plan.run(self._context, self._feeds).send)
        try:
            return self._send(value)
        except StopIteration as end:
            self.values = end.value
            return None

    def run_to_end(self) -> tuple[Any, ...]:
        """Runs all of the part in this thread, which blocks while a value is pending."""
        pending = self.advance()
        while pending is not None:
            pending = self.advance(self._context.wait_for(pending))
        return self.values


class SuspendableRun:
    """A run that never blocks its thread: it suspends at a pending value, and `call_soon` resumes it when the
    value may have arrived. `on_end` is called with the values or the error at its end.
    """

    def __init__(self, run: PartRun, context: StepContext, call_soon: CallSoon, on_end: OnEnd):
        self._run, self._context, self._call_soon, self._on_end = run, context, call_soon, on_end
        self._pending: PendingValue | None = None
        self._ended = False

    def resume(self) -> None:
        """Runs as far as possible now. An unnecessary call does no harm."""
        if self._ended:
            return
        error = None
        try:
            while (value := self._next_value()) is not ABSENT:
                self._pending = self._run.advance(value)
                if self._pending is None:
                    break
            else:
                return
        except Exception as failure:
            error = failure
        self._ended = True
        self._on_end(self._run.values, error)

    def _next_value(self) -> Any:
        """What the run advances with: None at its beginning, ABSENT while the value is pending."""
        if self._pending is None:
            return None
        return self._context.poll(self._pending, self._resume_soon)

    def _resume_soon(self) -> None:
        self._call_soon(self.resume)
