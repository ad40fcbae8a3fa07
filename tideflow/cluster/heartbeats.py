"""Heartbeats between the tasks of a cluster: a thread that sends them, and performs what `Membership`
decides.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial

from tideflow.cluster.client_sessions import ClientSessions
from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.listener import Reply
from tideflow.cluster.membership import EndSteps, Membership
from tideflow.cluster.messages import Alive, Done, Heartbeat, LeaveJob
from tideflow.cluster.tasks import RemoteTask
from tideflow.cluster.worker import Worker
from tideflow.graph import errors
from tideflow.graph.errors import DeadlineExceededError, OpError
from tideflow.runtime.conditions import Event

HEARTBEAT_SECONDS = 1.0


class Heartbeats:
    """Tells the tasks that know this one, `me`, every second that it runs, and notices which do not answer.

    `others` are the other tasks of the cluster. The steps of the `worker` end when a task that they need is
    lost. Heartbeats name the `sessions` of which this task is the master, and which live for as long as it
    does.
    """

    def __init__(
        self,
        me: str,
        membership: Membership,
        others: Mapping[str, RemoteTask],
        worker: Worker,
        sessions: ClientSessions,
    ):
        self._me, self._membership, self._others = me, membership, others
        self._worker, self._sessions = worker, sessions
        self._lock = threading.Lock()  # while the membership changes

    def serve(self, dispatch: Dispatch) -> None:
        """Registers the handlers of the heartbeats and goodbyes of other tasks."""
        dispatch.on_request(Heartbeat, self._take_heartbeat)
        dispatch.on_request(LeaveJob, self._take_goodbye)

    def run(self, stopped: Event) -> None:
        """Sends heartbeats until the event is set."""
        while not stopped.wait(HEARTBEAT_SECONDS):
            self.next_round()

    def next_round(self) -> None:
        """Sends one heartbeat to each task that knows this one; closes the sessions whose leases have run
        out.
        """
        masters = self._sessions.masters()
        handles = [master.handle for master in masters]
        for handle in handles:  # no other task renews the leases that these sessions have on this one
            self._worker.renew_lease(handle)
        for master in masters:
            master.renew_leases(HEARTBEAT_SECONDS)
        for instruction in self._membership.next_round(self._connected()):
            self._send_heartbeat(instruction.task, Heartbeat(task=self._me, sessions=handles))
        self._worker.next_round()
        self._sessions.next_round()

    def _send_heartbeat(self, name: str, heartbeat: Heartbeat) -> None:
        try:
            answer = self._asked_twice(self._others[name], heartbeat)
        except OpError as error:
            self._change(partial(self._membership.silent, name, error.message))
        else:
            self._change(partial(self._membership.answered, name, answer.missing))

    def _asked_twice(self, task: RemoteTask, heartbeat: Heartbeat) -> Alive:
        seconds = 5 * HEARTBEAT_SECONDS
        try:
            return task.peer.call(heartbeat, Alive, seconds)
        except DeadlineExceededError:  # this process may have been stopped while the heartbeat was under way
            return task.peer.call(heartbeat, Alive, seconds)

    def _change(self, event: Callable[[], list[EndSteps]]) -> None:
        with self._lock:
            instructions = event()
        for instruction in instructions:
            self._worker.lose_task(instruction.task, errors.unavailable(instruction.reason))

    def _connected(self) -> set[str]:
        """The tasks to which there was a connection."""
        return {name for name, task in self._others.items() if task.incarnation}

    def say_goodbye(self) -> None:
        """Tells the other tasks that this one ends, at the end of the process."""
        message = LeaveJob(task=self._me, finished=exit_was_clean())
        for instruction in self._membership.ending(self._connected()):
            try:
                self._others[instruction.task].peer.call(message, Done, 1.0)
            except OpError:
                continue  # that task has ended, too

    # ------------------------------------------------------------------ messages of other tasks

    def _take_heartbeat(self, message: Heartbeat, reply: Reply) -> None:
        for session in message.sessions:
            self._worker.renew_lease(session)
        self._change(partial(self._membership.answered, message.task))
        reply(Alive(missing=self._membership.missing()))

    def _take_goodbye(self, message: LeaveJob, reply: Reply) -> None:
        self._change(partial(self._membership.left, message.task, message.finished))
        reply(Done())


def exit_was_clean() -> bool:
    """Whether the process that is about to end has done its work: no exception has ended it."""
    return getattr(sys, "last_value", None) is None
