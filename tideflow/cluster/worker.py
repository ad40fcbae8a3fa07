"""A task's own work: it keeps state, takes the parts of steps that masters register, and runs them.

Parts belong to a master's session. Variables and queues belong to the task and are shared by name, unless a
session asks to be isolated. What may happen to a step is decided in `steps.py`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tideflow.cluster.machine import Record
from tideflow.cluster.membership import Lease
from tideflow.cluster.messages import GivenCluster, PartDescription
from tideflow.cluster.part import CallSoon, OnEnd, RegisteredPart, SuspendableRun
from tideflow.cluster.protocol import Sender
from tideflow.cluster.rendezvous_table import RendezvousTable
from tideflow.cluster.steps import session_closed
from tideflow.graph import errors
from tideflow.graph.errors import CancelledError, OpError
from tideflow.runtime import collectives
from tideflow.runtime.collectives import Others
from tideflow.runtime.devices import Placement, PlacementMemory, renamed
from tideflow.runtime.rendezvous import Parcel, Rendezvous, Send, Wait
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext
from tideflow.runtime.wake_events import WakeEvent

if TYPE_CHECKING:
    from tideflow.cluster.tasks import RemoteTask

STOP_SECONDS = 5.0  # a step that was given up should have ended on a task within this time


@dataclass
class _Session:
    """What a master's session has on this task. `others` are the other tasks of its cluster, which is the
    server's, or the one that its configuration `gives`.
    """

    resources: ResourceManager
    placement: Placement
    others: Mapping[str, RemoteTask]
    gives: bool
    parts: dict[str, RegisteredPart] = field(default_factory=dict)
    lease: Lease = field(default_factory=Lease)


@dataclass
class RunRequest:
    """A run of a part that a master asks for, in a step and with its context. `send` sends values to other
    tasks, `wait` waits for those that they send.
    """

    session: str
    part: RegisteredPart
    step: str
    feeds: Sequence[Any]
    context: StepContext
    send: Send
    wait: Wait = WakeEvent.wait


class Worker:
    """Runs parts of steps on one task. `others` are the other tasks of its cluster; `reach` finds those of a
    cluster that a session brings. `members` are those of collectives on other tasks, if there are any;
    `record` notes what happens to each step.
    """

    def __init__(
        self,
        task: str,
        placement: Placement,
        others: Mapping[str, RemoteTask],
        reach: Callable[[GivenCluster], Mapping[str, RemoteTask]],
        members: Others | None = None,
        record: Record | None = None,
    ):
        self.task = task
        self.placement = placement
        self.resources = ResourceManager()
        self._others, self._reach, self._members = others, reach, members
        collectives.configure(self.resources, members)
        self._rendezvous_table = RendezvousTable(record)
        self._sessions: dict[str, _Session] = {}
        self._running: dict[str, tuple[StepContext, ResourceManager]] = {}  # by step
        self._lock = threading.Lock()
        self._numbers = itertools.count()

    # ------------------------------------------------------------------ parts

    def register(
        self,
        session: str,
        isolated: bool,
        description: PartDescription,
        graph_def: bytes,
        cluster: GivenCluster | None,
    ) -> str:
        """Keeps a part for a master's session, and returns the name under which `part` finds it. An
        `isolated` session shares no state with others; it may bring a cluster of its own.
        """
        with self._lock:
            if session not in self._sessions:
                self._sessions[session] = self._new_session(isolated, cluster)
            found = self._sessions[session]
        name = f"part {next(self._numbers)}"
        found.parts[name] = RegisteredPart(
            description, graph_def, found.resources, found.placement, found.others
        )
        found.lease.renew()
        return name

    def _new_session(self, isolated: bool, cluster: GivenCluster | None) -> _Session:
        resources = ResourceManager(None if isolated else self.resources)
        if isolated and cluster is None:  # its state is its own, but it meets the other tasks
            collectives.configure(resources, collectives.of(self.resources).others)
        if cluster is None:
            return _Session(resources, self.placement, self._others, gives=False)
        devices = renamed(self.placement.devices, cluster.task)
        placement = replace(self.placement, devices=devices, memory=PlacementMemory())
        return _Session(resources, placement, self._reach(cluster), gives=True)

    def part(self, session: str, name: str) -> RegisteredPart:
        """A registered part; AbortedError if this task does not know it, as after a restart."""
        found = self._sessions.get(session)
        if found is None or name not in found.parts:
            raise errors.aborted(
                f"{self.task} does not know '{name}' of session {session}: it was restarted since, or "
                "the session was closed. Make a new session.",
            )
        found.lease.renew()
        return found.parts[name]

    # ------------------------------------------------------------------ runs

    def run(self, request: RunRequest) -> tuple[Any, ...]:
        """Runs a part in this thread. The caller then flushes the rendezvous of the context, to send the last
        values for other tasks.
        """
        rendezvous, context = self._begin(request), request.context
        try:
            if context.trace is not None:
                return request.part.run_traced(request.feeds, context)
            return request.part.run(request.feeds, context).run_to_end()
        except CancelledError as error:
            raise rendezvous.reason(error) from error
        finally:
            self._finish(request.step)

    def start(self, request: RunRequest, call_soon: CallSoon, on_end: OnEnd) -> None:
        """Runs a part as far as it gets without blocking this thread. `call_soon` resumes it; `on_end` is
        called with its values or its error.
        """
        rendezvous, context = self._begin(request), request.context

        def end(values: tuple[Any, ...], error: Exception | None) -> None:
            self._finish(request.step)
            on_end(values, error and rendezvous.reason(error))

        SuspendableRun(request.part.run(request.feeds, context), context, call_soon, end).resume()

    def _begin(self, request: RunRequest) -> Rendezvous:
        session, context = self._sessions.get(request.session), request.context
        if session is None:
            raise session_closed()
        # Heartbeats tell which tasks of the server's own cluster are lost, by their names in it.
        watched = () if session.gives else request.part.tasks
        rendezvous = context.rendezvous = self._rendezvous_table.begin(
            request.step, request.session, watched, request.send, request.wait
        )
        self._running[request.step] = context, session.resources
        try:
            rendezvous.check()  # the step may have been aborted before it could be cancelled here
            if session.resources.closed:
                raise session_closed()
        except BaseException:
            self._finish(request.step)
            raise
        return rendezvous

    def _finish(self, step: str) -> None:
        del self._running[step]
        self._rendezvous_table.finish(step)

    def deliver(self, step: str, parcel: Parcel, sender: Sender) -> None:
        """Takes values that another task has sent to a step's part."""
        self._rendezvous_table.deliver(step, parcel, sender)

    def sender_left(self, sender: Sender) -> None:
        """The connection of another task is closed. It may come back on another one."""
        self._rendezvous_table.sender_left(sender)

    # ------------------------------------------------------------------ ends of steps and sessions

    def abort_step(self, step: str, error: OpError) -> None:
        """A step has failed on another task: its part here ends, or does not begin."""
        self._cancel(self._rendezvous_table.abort(step, error))

    def lose_task(self, task: str, error: OpError) -> None:
        """A task is lost: the steps that need it end."""
        self._cancel(self._rendezvous_table.lose_task(task, error))

    def wait_until_returned(self, step: str, seconds: float) -> None:
        """Waits until no part of a step runs here, so that it leaves queues whole; so long at most."""
        self._rendezvous_table.wait_until_returned(step, seconds)

    def close_session(self, session: str) -> None:
        """Forgets a session, and ends the steps that it has under way."""
        with self._lock:
            found = self._sessions.pop(session, None)
        if found is not None:
            found.resources.closed = True
            self._cancel(self._rendezvous_table.close_session(session, session_closed()))
            for task in found.others.values() if found.gives else ():
                task.peer.close()

    def _cancel(self, steps: Iterable[str]) -> None:
        """Cancels the parts of these steps, and wakes those of their kernels that wait at a queue."""
        for step in steps:
            running = self._running.get(step)
            if running is not None:
                context, resources = running
                context.whole.cancel()  # the step is over, and not this part of it alone
                resources.wake()

    def reset(self, containers: Sequence[str]) -> None:
        """Clears the state of these containers, or of the default one, and closes every session."""
        for session in list(self._sessions):
            self.close_session(session)
        self.resources.clear(containers or [""])
        collectives.configure(self.resources, self._members)

    def renew_lease(self, session: str) -> None:
        """The master of a session is alive."""
        found = self._sessions.get(session)
        if found is not None:
            found.lease.renew()

    def next_round(self) -> None:
        """A round of heartbeats has passed: closes the sessions of masters that were silent for too many, and
        drops values that nobody asks for.
        """
        self._rendezvous_table.next_round()
        for name, session in list(self._sessions.items()):
            if session.lease.ran_out():
                self.close_session(name)

    def close(self) -> None:
        """Ends everything that runs here."""
        for session in list(self._sessions):
            self.close_session(session)
        self.resources.closed = True
        self.resources.wake()
