"""The sessions of which this task is the master: of clients in this process, and of clients in others.

A client in another process sends its graph once, adds operations to it, and asks for steps. Its session lives
for as long as it sends heartbeats.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.listener import Reply
from tideflow.cluster.master import Master
from tideflow.cluster.membership import Lease
from tideflow.cluster.messages import (
    Alive,
    CancelRun,
    ClientHeartbeat,
    CreateSession,
    Done,
    EndSession,
    ExtendSession,
    ListDevices,
    Message,
    RunStep,
    SessionCreated,
)
from tideflow.cluster.packing import as_bytes, context_of, devices_message, values_message
from tideflow.cluster.steps import session_not_found
from tideflow.cluster.worker import STOP_SECONDS
from tideflow.compile.request import StepRequest
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import extend_graph
from tideflow.runtime.waiting import StepContext


@dataclass
class _Run:
    """A step that a client has asked for."""

    context: StepContext
    ended: threading.Event = field(default_factory=threading.Event)


@dataclass
class _RemoteSession:
    """A session whose client is in another process."""

    graph: Graph
    master: Master
    lease: Lease = field(default_factory=Lease)
    runs: dict[str, _Run] = field(default_factory=dict)  # by the client's name for them
    given_up: deque[str] = field(default_factory=lambda: deque(maxlen=100))  # names of runs


class ClientSessions:
    """Makes, runs and closes sessions; `new_master(graph, config, address)` makes the master of one, whose
    client reaches this task at that address.
    """

    def __init__(self, new_master: Callable[[Graph, ConfigProto | None, str], Master]):
        self._new_master = new_master
        self._local: list[Master] = []
        self._remote: dict[str, _RemoteSession] = {}
        self._collectors: list[Callable[[], None]] = []

    def serve(self, dispatch: Dispatch) -> None:
        """Registers the handlers of the messages that clients send."""
        dispatch.on_request(ClientHeartbeat, self._heartbeat)
        dispatch.on_slow_request(CreateSession, self._create)
        dispatch.on_slow_request(ExtendSession, self._extend)
        dispatch.on_slow_request(RunStep, self._run_step)
        dispatch.on_slow_request(CancelRun, self._cancel_run)
        dispatch.on_slow_request(ListDevices, self._list_devices)
        dispatch.on_slow_request(EndSession, self._end)

    def connect(self, graph: Graph, config: ConfigProto | None, address: str) -> Master:
        """The master of a new session of this process."""
        master = self._new_master(graph, config, address)
        self._local.append(master)
        return master

    def masters(self) -> list[Master]:
        """The masters of all open sessions."""
        self._local = [master for master in self._local if not master.closed]
        return [*self._local, *(session.master for session in list(self._remote.values()))]

    def forget(self) -> None:
        """Ends the sessions because of a reset, and does not know them any more."""
        for master in self.masters():
            master.forget()
        self._remote.clear()

    def next_round(self) -> None:
        """A round of heartbeats has passed: closes the sessions of clients that were silent for too many."""
        for handle, session in list(self._remote.items()):
            if session.lease.ran_out():
                self._close(handle)
        for collect in self._collectors:
            collect()

    def collect_too(self, collect: Callable[[], None]) -> None:
        """Has `collect` called in every round of heartbeats, which closes sessions of clients of its own."""
        self._collectors.append(collect)

    def _close(self, handle: str) -> None:
        session = self._remote.pop(handle, None)
        if session is not None:
            session.master.close()

    # ------------------------------------------------------------------ messages of clients

    def _create(self, message: CreateSession) -> Message:
        config, graph_def = map(as_bytes, message.tensors)
        graph = Graph()
        _extend(graph, graph_def)
        options = ConfigProto.FromString(config) if config else None
        master = self._new_master(graph, options, message.address)
        self._remote[master.handle] = _RemoteSession(graph, master)
        return SessionCreated(session=master.handle)

    def _session(self, handle: str) -> _RemoteSession:
        session = self._remote.get(handle)
        if session is None:
            raise session_not_found(handle)
        session.lease.renew()
        return session

    def _heartbeat(self, message: ClientHeartbeat, reply: Reply) -> None:
        reply(Alive(missing=list(self._session(message.session).master.missing_tasks())))

    def _extend(self, message: ExtendSession) -> Message:
        (graph_def,) = message.tensors
        _extend(self._session(message.session).graph, as_bytes(graph_def))
        return Done()

    def _run_step(self, message: RunStep) -> Message:
        session = self._session(message.session)
        graph, master = session.graph, session.master
        request = StepRequest(
            tuple([graph.get_tensor_by_name(name) for name in message.fetches]),
            tuple([graph.get_operation_by_name(name) for name in message.targets]),
            tuple([graph.get_tensor_by_name(name) for name in message.feeds]),
            done=frozenset([graph.get_operation_by_name(name) for name in message.done]),
        )
        context = context_of(message.seconds, message.traced)
        run = session.runs[message.run] = _Run(context)
        try:
            if message.run in session.given_up:  # that message was quicker
                raise errors.cancelled("The client has given this step up.")
            plan = master.compile(request, context)
            return values_message(plan.run(context, message.tensors), context)
        finally:
            del session.runs[message.run]
            run.ended.set()

    def _cancel_run(self, message: CancelRun) -> Message:
        session = self._session(message.session)
        session.given_up.append(message.run)  # first: the request to run it may be on its way
        run = session.runs.get(message.run)
        if run is not None:
            session.master.cancel(run.context)
            run.ended.wait(STOP_SECONDS)
        return Done()

    def _list_devices(self, message: ListDevices) -> Message:
        return devices_message(self._session(message.session).master.devices())

    def _end(self, message: EndSession) -> Message:
        self._close(message.session)
        return Done()


def _extend(graph: Graph, data: bytes) -> None:
    """Adds nodes to a client's graph; their inputs may be operations that the graph has already."""
    graph_def = GraphDef.FromString(data)
    # A client that was interrupted while it sent nodes sends them again.
    known = [node for node in graph_def.node if node.name in graph._by_name]
    for node in known:
        graph_def.node.remove(node)
    extend_graph(graph, graph_def)
