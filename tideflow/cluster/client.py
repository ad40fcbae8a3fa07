"""A session whose master is in another process: its graph is sent once, later operations when needed."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster import keys
from tideflow.cluster.heartbeats import HEARTBEAT_SECONDS
from tideflow.cluster.messages import (
    Alive,
    CancelRun,
    ClientHeartbeat,
    CreateSession,
    Devices,
    Done,
    EndSession,
    ExtendSession,
    ListDevices,
    ResetCluster,
    RunStep,
    SessionCreated,
    Values,
)
from tideflow.cluster.packing import as_tensor, attribute_error, devices_of, seconds_left, values_of
from tideflow.cluster.server import server_at
from tideflow.cluster.server_def import SCHEME
from tideflow.cluster.transport import Peer
from tideflow.cluster.worker import STOP_SECONDS
from tideflow.compile.plan import Plan
from tideflow.compile.request import StepRequest
from tideflow.graph.errors import CancelledError, DeadlineExceededError, OpError, UnavailableError
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import graph_def_proto
from tideflow.interrupts import deferred, held
from tideflow.runtime.conditions import Event
from tideflow.runtime.devices import Device
from tideflow.runtime.waiting import StepContext
from tideflow.session.executor import Executor
from tideflow.session.targets import Scheme, register_scheme

_PATIENCE_SECONDS = 60.0  # how long a client waits for a server that does not answer yet
_LOG_SECONDS = 10.0  # how often it logs that it waits
_RETRY_SECONDS = 0.05
_GIVING_UP = (CancelledError, DeadlineExceededError)  # errors with which a client waits no longer
_log = logging.getLogger("tideflow")


class RemoteMaster:
    """Runs the steps of a session through the server at an address."""

    default_timeout = 0.0  # a server of another process does not tell its own
    fills_traces = True

    def __init__(self, address: str, graph: Graph, config: ConfigProto | None):
        self._graph = graph
        self._config = config
        self._peer = _peer(address)
        self._lock = threading.Lock()
        self._handle: str | None = None
        self._known = 0  # the version of the graph that the master has
        self._mutations = graph._mutations
        self._closed = Event()
        self._runs = itertools.count()
        self._missing: frozenset[str] = frozenset()

    def compile(
        self, request: StepRequest, context: StepContext, replace: Callable[[Plan], None] | None = None
    ) -> Plan:
        """The step as a plan that asks the master to run it."""
        session = self._session(context)
        fetch_names = [tensor.name for tensor in request.fetches]
        target_names = [op.name for op in request.targets]
        feed_names = [tensor.name for tensor in request.feeds]
        done_names = [op.name for op in request.done]

        @deferred  # a signal is handled where this thread waits, and the step is then ended there
        def run(context: StepContext, *values: Any) -> list[Any]:
            name = str(next(self._runs))
            message = RunStep(
                session=session,
                run=name,
                fetches=fetch_names,
                targets=target_names,
                feeds=feed_names,
                done=done_names,
                seconds=seconds_left(context),
                traced=context.trace is not None,
                tensors=list(values),
            )
            try:
                return values_of(self._peer.call(message, Values, context=context), context)
            except BaseException as error:
                is_answer = isinstance(error, OpError) and not isinstance(error, _GIVING_UP)
                if not is_answer:
                    self._give_up(CancelRun(session=session, run=name))
                if isinstance(error, OpError):
                    raise attribute_error(error, self._graph) from None
                raise

        return Plan(run, f"# a step of {self._peer.name}\n", takes_context=True)

    @held
    def _give_up(self, message: CancelRun) -> None:
        """Has the server end a step, so that it leaves queues whole and waits there for nothing."""
        try:
            self._peer.call(message, Done, STOP_SECONDS)
        except OpError as error:
            _log.debug("%s was not told that a step was given up: %s", self._peer.name, error)

    @deferred
    def _session(self, context: StepContext) -> str:
        """The handle of the session there, after the server has been sent what it lacks of the graph."""
        with self._lock:
            graph = self._graph
            if self._handle is None or self._mutations != graph._mutations:
                config = b"" if self._config is None else self._config.SerializeToString()
                whole = graph_def_proto(graph).SerializeToString()
                version, mutations = graph.version, graph._mutations
                creation = CreateSession(
                    address=self._peer.address, tensors=[as_tensor(config), as_tensor(whole)]
                )
                is_first, self._handle = self._handle is None, self._create(creation, context)
                self._known, self._mutations = version, mutations
                if is_first:
                    threading.Thread(
                        target=self._send_heartbeats, name="tideflow-client", daemon=True
                    ).start()
            elif graph.version > self._known:
                version, added = graph.version, graph_def_proto(graph, self._known).SerializeToString()
                extension = ExtendSession(session=self._handle, tensors=[as_tensor(added)])
                self._peer.call(extension, Done, context=context)
                self._known = version  # last: where this fails, they are sent again
            return self._handle

    def _create(self, message: CreateSession, context: StepContext) -> str:
        """The handle of a new session, as soon as the server answers: a client may start before it."""
        began = time.monotonic()
        next_log = began + _LOG_SECONDS
        while True:
            try:
                return self._peer.call(message, SessionCreated, context=context).session
            except UnavailableError:
                context.time_left(self._closed.is_set, f"Waiting for {self._peer.name}")
                now = time.monotonic()
                if context.deadline is None and now > began + _PATIENCE_SECONDS:
                    raise
                if now > next_log:
                    next_log = now + _LOG_SECONDS
                    _log.info("Still waiting for the server at %s (%.0f s)", self._peer.address, now - began)
                time.sleep(_RETRY_SECONDS)

    def _send_heartbeats(self) -> None:
        """Has the server keep the session, for as long as this process lives."""
        while not self._closed.wait(HEARTBEAT_SECONDS):
            try:
                message = ClientHeartbeat(session=self._handle or "")
                answer = self._peer.call(message, Alive, 5 * HEARTBEAT_SECONDS)
                self._missing = frozenset(answer.missing)
            except OpError:
                continue  # the next step will fail, and say why

    def missing_tasks(self) -> frozenset[str]:
        """The tasks that were there and are missing, their work not done."""
        return self._missing

    def devices(self) -> list[Device]:
        """The devices of the cluster."""
        return devices_of(self._peer.call(ListDevices(session=self._session(StepContext())), Devices))

    def put_back(self) -> None:
        """Nothing to do: other processes write the variables."""

    @deferred
    def close(self) -> None:
        """Ends the session there."""
        self._closed.set()
        if self._handle is not None:
            try:
                self._peer.call(EndSession(session=self._handle), Done, 5.0)
            except OpError:
                pass  # the server has ended, and the session with it
        self._peer.close()


def _peer(address: str) -> Peer:
    return Peer(address, key=keys.from_environment(), insecure=keys.network_is_trusted())


def _connect(address: str, graph: Graph, config: ConfigProto | None) -> Executor:
    server = server_at(address)
    return RemoteMaster(address, graph, config) if server is None else server.connect(graph, config)


def _reset(address: str, containers: Sequence[str], config: ConfigProto | None) -> None:
    server = server_at(address)
    if server is not None:
        server.reset(containers)
        return
    peer = _peer(address)
    try:
        peer.call(ResetCluster(containers=list(containers)), Done)
    finally:
        peer.close()


register_scheme(SCHEME, Scheme(_connect, _reset))
