"""The tasks of a cluster as a master sees them: the one of this process, and those at other addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata

from tideflow.cluster.messages import (
    AbortStep,
    CloseSession,
    Devices,
    Done,
    GetDevices,
    GivenCluster,
    Message,
    PartDescription,
    PartRegistered,
    RegisterPart,
    RenewLease,
    Reset,
    RunPart,
    StopStep,
)
from tideflow.cluster.packing import as_tensor, devices_of, is_small, send_tensors
from tideflow.cluster.transport import Peer, Pending
from tideflow.cluster.wire import failure_of
from tideflow.cluster.worker import RunRequest, Worker
from tideflow.graph.errors import OpError
from tideflow.runtime.devices import Device, renamed
from tideflow.runtime.rendezvous import Parcel, Send, Wait
from tideflow.runtime.waiting import StepContext


def task_name(job: str, index: int) -> str:
    """The name of a task, as device names begin."""
    return f"/job:{job}/replica:0/task:{index}"


class LocalTask:
    """The task of this process, under the name that it has in a cluster."""

    incarnation = 0

    def __init__(self, worker: Worker, name: str):
        self.name = name
        self.worker = worker

    def devices(self, context: StepContext | None = None) -> Sequence[Device]:
        """The devices of this process."""
        return renamed(self.worker.placement.devices, self.name)

    def register(
        self,
        session: str,
        isolated: bool,
        description: PartDescription,
        graph_def: bytes,
        incarnation: int,
        context: StepContext,
        cluster: GivenCluster | None,
    ) -> str:
        """Keeps a part for a session, and returns its name."""
        return self.worker.register(session, isolated, description, graph_def, cluster)

    def is_suspendable(self, session: str, part: str) -> bool:
        """Whether the thread that runs a part is the one that waits for the values of other tasks."""
        return self.worker.part(session, part).is_suspendable

    def run(
        self,
        session: str,
        part: str,
        step: str,
        feeds: Sequence[Any],
        context: StepContext,
        send: Send,
        wait: Wait,
    ) -> Sequence[Any]:
        """The values of a part. `send` sends values to other tasks, `wait` waits for those that they send."""
        own = context.inner()
        own.trace = RunMetadata() if context.trace is not None else None
        try:
            found = self.worker.part(session, part)
            values = self.worker.run(RunRequest(session, found, step, feeds, own, send, wait))
            assert own.rendezvous is not None
            own.rendezvous.flush()
            return values
        finally:
            if own.trace is not None and context.trace is not None:
                context.trace.step_stats.MergeFrom(own.trace.step_stats)

    def close_session(self, session: str) -> None:
        """Forgets the parts of a session, and ends its steps."""
        self.worker.close_session(session)

    def reset(self, containers: Sequence[str]) -> None:
        """Clears containers, and closes all sessions."""
        self.worker.reset(containers)


class RemoteTask:
    """A task in another process."""

    def __init__(self, name: str, peer: Peer):
        self.name = name
        self.peer = peer

    def devices(self, context: StepContext | None = None) -> Sequence[Device]:
        """The devices of the task, which has to answer."""
        return renamed(devices_of(self.peer.call(GetDevices(), Devices, context=context)), self.name)

    @property
    def incarnation(self) -> int:
        """The incarnation with which the task last answered a greeting: a restarted task has another one."""
        return self.peer.incarnation

    def register(
        self,
        session: str,
        isolated: bool,
        description: PartDescription,
        graph_def: bytes,
        incarnation: int,
        context: StepContext,
        cluster: GivenCluster | None,
    ) -> str:
        """Gives a part of a session to that incarnation of the task; returns the name that it has there."""
        message = RegisterPart(
            session=session,
            isolated=isolated,
            part=description,
            cluster=cluster,
            tensors=[as_tensor(graph_def)],
        )
        return self.peer.call(message, PartRegistered, context=context, incarnation=incarnation).part

    def start(
        self, message: RunPart, context: StepContext, incarnation: int, on_message: Callable[[Message], None]
    ) -> Pending:
        """Begins to run a part; `result` of the pending request has the values. `on_message` takes what the
        part sends to the task that asks, ahead of the answer or with it.
        """
        return self.peer.start(message, context, incarnation=incarnation, on_message=on_message)

    def send(self, step: str, parcel: Parcel, compress: bool, context: StepContext) -> None:
        """Sends values to the step's part there."""
        self.peer.post(send_tensors(step, parcel), context, compress=compress)

    def try_send(self, step: str, parcel: Parcel, compress: bool) -> bool:
        """Sends values if that is possible without waiting; whether they were sent."""
        return is_small(parcel) and self.peer.try_post(send_tensors(step, parcel), compress=compress)

    def abort_step(self, step: str, error: OpError) -> None:
        """Tells the task that a step has failed here."""
        self.peer.post(AbortStep(step=step, error=failure_of(error)))

    def stop_step(self, step: str, error: OpError) -> Pending:
        """Ends a step of a master there; answered when no part of it runs there any more."""
        return self.peer.start(StopStep(step=step, error=failure_of(error)), StepContext())

    def close_session(self, session: str) -> None:
        """Tells the task that a session is closed."""
        self.peer.post(CloseSession(session=session))

    def renew_lease(self, session: str, seconds: float) -> None:
        """Tells the task that the master of a session is alive, within so many seconds."""
        self.peer.post(RenewLease(session=session), StepContext(seconds))

    def reset(self, containers: Sequence[str]) -> None:
        """Clears containers, and closes all sessions there."""
        self.peer.call(Reset(containers=list(containers)), Done)


Task = LocalTask | RemoteTask
