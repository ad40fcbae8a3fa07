"""A step on several tasks, as its master runs it: all parts at once, that of the master's task in the calling
thread.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.cluster.messages import Message, RunPart, TensorsAhead, Values, expect
from tideflow.cluster.packing import (
    attribute_error,
    is_small,
    parcel_of,
    seconds_left,
    send_tensors,
    values_of,
)
from tideflow.cluster.protocol import Sender
from tideflow.cluster.steps import session_closed, session_not_found
from tideflow.cluster.tasks import LocalTask, RemoteTask, Task
from tideflow.cluster.transport import Pending, attend, gather
from tideflow.cluster.worker import STOP_SECONDS
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.graph.graph import Graph
from tideflow.interrupts import deferred, held
from tideflow.runtime.rendezvous import Parcel
from tideflow.runtime.waiting import StepContext
from tideflow.runtime.wake_events import WakeEvent

_MAX_BESIDE = 16  # messages to other tasks that a step sends beside its requests
_log = logging.getLogger("tideflow")


@dataclass(frozen=True)
class PlacedPart:
    """A part of a step that is registered with its task, under a name. `feeds` and `fetches` are the
    positions of the part's feeds and fetches among those of the step.
    """

    task: Task
    incarnation: int  # the task's incarnation when the part was registered
    name: str
    feeds: list[int]
    fetches: list[int]


@dataclass
class StepSession:
    """What the steps of a session share: its handle, the user's graph, whether floats are cut to 16 bits
    between tasks, whether it was closed, and whether a reset of its server has made it unknown.
    """

    handle: str
    graph: Graph
    compress: bool
    closed: bool = False
    forgotten: bool = False
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new_step(self) -> str:
        """The id of a new step, unique in the cluster."""
        self.check()
        return f"{self.handle}:{next(self._numbers)}"

    def check(self) -> None:
        """Raises where the session can run no more steps."""
        if self.forgotten:
            raise session_not_found(self.handle)
        if self.closed:
            raise session_closed()


class ClusterStep:
    """Runs a step. It gives as many values as `fetches`; `given` are pairs of positions, of a fetch and of
    the feed that it repeats. `graphs` are the graphs of the parts, for a trace.
    """

    def __init__(
        self,
        session: StepSession,
        parts: Sequence[PlacedPart],
        fetches: int,
        given: list[tuple[int, int]],
        graphs: list[GraphDef],
    ):
        self._session, self._fetches, self._given, self._graphs = session, fetches, given, graphs
        self._local: tuple[PlacedPart, LocalTask] | None = None
        self._remote: list[tuple[PlacedPart, RemoteTask]] = []
        for part in parts:
            if isinstance(part.task, LocalTask):
                self._local = part, part.task
            else:
                self._remote.append((part, part.task))

    @deferred  # a signal is handled where this thread waits, and the step is then ended on every task
    def __call__(self, context: StepContext, *feeds: Any) -> list[Any]:
        results: list[Any] = [None] * self._fetches
        for position, feed in self._given:
            results[position] = feeds[feed]
        step = self._session.new_step()
        if context.trace is not None:
            context.trace.partition_graphs.extend(self._graphs)
        traffic = _Traffic(self._session, step, self._local, self._remote, context)
        try:
            for part, task in self._remote:
                message = RunPart(
                    session=self._session.handle,
                    part=part.name,
                    step=step,
                    home=traffic.home,
                    seconds=seconds_left(context),
                    traced=context.trace is not None,
                    tensors=[feeds[i] for i in part.feeds],
                )
                traffic.pending[task.name] = task.start(
                    message, context, part.incarnation, traffic.on_message
                )
            if self._local is not None:
                self._run_local(*self._local, feeds, results, context, traffic)
            answers = gather(list(traffic.pending.values()), context=context)
            for (part, _), answer in zip(self._remote, answers):
                _put(results, part, values_of(expect(answer, Values), context))
            self._session.check()  # a step that ends after its session gives nothing
        except BaseException as error:
            self._stop(step, error, traffic.pending.values())
            if isinstance(error, OpError):
                attribute_error(error, self._session.graph)
            raise
        return results

    def _run_local(
        self,
        part: PlacedPart,
        task: LocalTask,
        feeds: Sequence[Any],
        results: list[Any],
        context: StepContext,
        traffic: _Traffic,
    ) -> None:
        values = [feeds[i] for i in part.feeds]
        session = self._session.handle
        found = task.run(session, part.name, traffic.step, values, context, traffic.send, traffic.wait)
        _put(results, part, found)

    @held
    def _stop(self, step: str, error: BaseException, pending: Iterable[Pending]) -> None:
        """Ends the step on the tasks on which it still runs, and waits for that."""
        reason = error if isinstance(error, OpError) else errors.aborted(f"The step failed: {error!r}")
        for one in pending:
            one.cancel()
        for _, task in self._remote:
            try:
                task.stop_step(step, reason).result(STOP_SECONDS, StepContext())
            except OpError as failure:
                _log.debug("%s was not told that a step is over: %s", task.name, failure)


class _Traffic:
    """What the parts of a step on this task and on others send each other. If the thread that runs the part
    here also waits for the other tasks, small values travel beside the requests: that thread polls the
    requests' connections itself, and no other thread has to wake it.
    """

    def __init__(
        self,
        session: StepSession,
        step: str,
        local: tuple[PlacedPart, LocalTask] | None,
        remote: Sequence[tuple[PlacedPart, RemoteTask]],
        context: StepContext,
    ):
        self._session, self.step, self._context = session, step, context
        self._remote = {task.name: task for _, task in remote}
        self.pending: dict[str, Pending] = {}  # requests, by task
        self.home = ""  # the task whose values come beside the requests
        self._deliver: Callable[[str, Parcel, Sender], None] | None = None
        self._answers = Sender()  # those who answer the requests of this step
        self._beside = 0
        if local is not None:
            part, task = local
            self._deliver = task.worker.deliver
            if task.is_suspendable(session.handle, part.name):
                self.home, self._beside = task.name, _MAX_BESIDE

    def on_message(self, message: Message) -> None:
        """Takes the values that another task sends here with its answer, or ahead of it."""
        if isinstance(message, (TensorsAhead, Values)) and message.keys and self._deliver is not None:
            self._deliver(self.step, parcel_of(message), self._answers)

    def send(self, task: str, parcel: Parcel) -> None:
        """Sends values to the step's part on another task."""
        compress = self._session.compress
        if self._beside and is_small(parcel):
            self._beside -= 1
            self.pending[task].add(send_tensors(self.step, parcel), compress)
        else:
            self._remote[task].send(self.step, parcel, compress, self._context)

    def wait(self, wake_event: WakeEvent, seconds: float) -> None:
        """Waits until another task sends something, or the wake event is set."""
        attend(list(self.pending.values()), wake_event, seconds)


def _put(results: list[Any], part: PlacedPart, values: Sequence[Any]) -> None:
    for position, value in zip(part.fetches, values, strict=True):
        results[position] = value
