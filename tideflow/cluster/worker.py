"""A task's own work: it keeps state, takes the parts of steps that masters register, and runs them.

Parts belong to a master's session; variables and queues belong to the task and are shared by name, unless a
session asks to be isolated.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tideflow.cluster.part import CallSoon, Done, Part, Spec, Visit
from tideflow.graph import errors
from tideflow.graph.errors import CancelledError, OpError
from tideflow.runtime import collectives
from tideflow.runtime.collectives import Others
from tideflow.runtime.devices import Placement
from tideflow.runtime.rendezvous import RendezvousTable, Send, Wait
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import Limits
from tideflow.runtime.wake_events import WakeEvent

LEASE_ROUNDS = 20  # of heartbeats: a master that was silent for so long has lost its sessions here
STOP_SECONDS = 5.0  # within which a step that was given up should have ended


@dataclass
class _Session:
    """What a master has here."""

    resources: ResourceManager
    parts: dict[str, Part] = field(default_factory=dict)
    steps: dict[str, tuple[Limits, Part]] = field(default_factory=dict)
    silent: int = 0  # rounds of heartbeats since the master was last heard of


@dataclass
class RunRequest:
    """A run of a part that is asked for, in a step, within the limits. `send` takes what leaves for other
    tasks, `wait` waits for what they send.
    """

    session: str
    part: Part
    step: str
    feeds: Sequence[Any]
    limits: Limits
    send: Send
    wait: Wait = WakeEvent.wait


class Worker:
    """Runs parts of steps, on one task."""

    def __init__(self, task: str, placement: Placement, others: Others | None = None):
        self.task = task
        self.placement = placement
        self.resources = ResourceManager()
        self._others = others  # the members of collectives on other tasks
        collectives.configure(self.resources, others)
        self._rendezvous_table = RendezvousTable()
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
            raise errors.aborted(
                f"{self.task} does not know '{name}' of session {session}: it was restarted since, or "
                "the session was closed. Make a new session.",
            )
        found.silent = 0
        return found.parts[name]

    def run(self, request: RunRequest) -> tuple:
        """Runs a part in this thread. The last of what leaves for other tasks is left to the caller, with the
        limits' rendezvous.
        """
        found, limits = self._begin(request), request.limits
        try:
            if limits.trace is not None:
                return request.part.run_traced(request.feeds, limits)
            return request.part.run(request.feeds, limits).to_its_end()
        except CancelledError as error:
            raise limits.rendezvous.reason(error) from error
        finally:
            self._end(found, request.step)

    def start(self, request: RunRequest, call_soon: CallSoon, done: Done) -> None:
        """The same without waiting: the part is left where it would have to, and taken up by `call_soon`."""
        found, limits = self._begin(request), request.limits

        def end(values: tuple, error: Exception | None) -> None:
            self._end(found, request.step)
            done(values, error and limits.rendezvous.reason(error))

        Visit(request.part.run(request.feeds, limits), limits, call_soon, end).go_on()

    def _begin(self, request: RunRequest) -> _Session:
        found, limits = self._sessions.get(request.session), request.limits
        if found is None:
            raise errors.cancelled(f"The session was closed on {self.task}.")
        limits.rendezvous = self._rendezvous_table.begin(request.step, request.send, request.wait)
        found.steps[request.step] = limits, request.part
        try:
            limits.rendezvous.check()  # it may have failed elsewhere before it was known here
            if found.resources.closed:
                raise errors.cancelled(f"The session was closed on {self.task}.")
        except BaseException:
            self._end(found, request.step)
            raise
        return found

    def _end(self, session: _Session, step: str) -> None:
        self._rendezvous_table.finish(step)
        with self._ended:
            session.steps.pop(step, None)
            self._ended.notify_all()

    def deliver(self, step: str, key: str, value: Any) -> None:
        """Takes what another task has sent."""
        self._rendezvous_table.deliver(step, key, value)

    def end_step(self, step: str, error: OpError) -> None:
        """Whoever waits here on behalf of a step waits in vain; what comes for it is dropped."""
        self._rendezvous_table.end(step, error)  # first: whoever waits there should learn the reason
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
                    self._rendezvous_table.end(step, error)
                    self._cancel(session, step)

    def close_session(self, session: str) -> None:
        """Forgets a session, and ends the steps that it has under way."""
        with self._lock:
            found = self._sessions.pop(session, None)
        if found is not None:
            found.resources.closed = True
            for step in list(found.steps):
                self._rendezvous_table.end(step, errors.cancelled("The session was closed."))
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
