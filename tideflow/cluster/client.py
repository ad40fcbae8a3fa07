"""A session whose master is in another process: the graph goes there once, later operations when needed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence, Set
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster import keys
from tideflow.cluster.server import HEARTBEAT_SECONDS, SCHEME, server_at
from tideflow.cluster.tasks import as_tensor, devices_of, fields_of, values_of
from tideflow.cluster.transport import Message, Peer
from tideflow.compile.emit import Plan
from tideflow.compile.ir import Program
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import graph_def_proto
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime import waiting
from tideflow.runtime.devices import Device
from tideflow.session.targets import Scheme, register_scheme

_PATIENCE_SECONDS = 60.0  # how long a client waits for a server that has not come yet
_SAY_SO_SECONDS = 10.0  # how often it says so
_TRY_AGAIN_SECONDS = 0.05
_log = logging.getLogger("tideflow")


class RemoteMaster:
    """Runs the steps of a session through the server at an address."""

    def __init__(self, address: str, graph: Graph, config: ConfigProto | None):
        self._graph = graph
        self._config = config
        self._peer = _peer(address)
        self._lock = threading.Lock()
        self._handle: str | None = None
        self._known = 0  # how much of the graph the master has
        self._mutations = graph._mutations
        self._closed = threading.Event()
        self._gone: frozenset[str] = frozenset()

    def compile(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        shapes: Sequence[tuple | None] = (),
        after_each: Callable | None = None,
        done: Set[Operation] = frozenset(),
    ) -> Plan:
        """The step as a plan that asks the master for it."""
        session = self._session()
        fields = {
            "session": session,
            "fetches": [tensor.name for tensor in fetches],
            "targets": [op.name for op in targets],
            "feeds": [tensor.name for tensor in feeds],
            "done": [op.name for op in done],
        }

        def run(*values: Any) -> list[Any]:
            limits = waiting.limits()
            message = Message("run_step", {**fields, **fields_of(limits)}, list(values))
            try:
                return values_of(self._peer.call(message), limits)
            except OpError as error:
                raise self._told_of(error) from None

        return Plan(run, f"# a step of {self._peer.name}\n", {}, Program([], [], []), {})

    def _session(self) -> str:
        """The session there, which knows all of the graph."""
        with self._lock:
            graph = self._graph
            if self._handle is None or self._mutations != graph._mutations:
                config = b"" if self._config is None else self._config.SerializeToString()
                whole = graph_def_proto(graph).SerializeToString()
                self._known, self._mutations = graph.version, graph._mutations
                answer = self._meet(Message("create_session", {}, [as_tensor(config), as_tensor(whole)]))
                if self._handle is None:
                    threading.Thread(target=self._stay, name="tideflow-client", daemon=True).start()
                self._handle = answer.fields["session"]
            elif graph.version > self._known:
                added = graph_def_proto(graph, self._known).SerializeToString()
                self._known = graph.version
                self._peer.call(Message("extend_session", {"session": self._handle}, [as_tensor(added)]))
            return self._handle

    def _meet(self, message: Message) -> Message:
        """The answer to a first message, as soon as the server is there: a client may start before it."""
        limits, began = waiting.limits(), time.monotonic()
        says = began + _SAY_SO_SECONDS
        while True:
            try:
                return self._peer.call(message)
            except UnavailableError:
                waiting.time_left(limits, self._closed.is_set, f"Waiting for {self._peer.name}")
                now = time.monotonic()
                if limits.deadline is None and now > began + _PATIENCE_SECONDS:
                    raise
                if now > says:
                    says = now + _SAY_SO_SECONDS
                    _log.info("Still waiting for the server at %s (%.0f s)", self._peer.address, now - began)
                time.sleep(_TRY_AGAIN_SECONDS)

    def _stay(self) -> None:
        """Has the master keep the session, for as long as this process lives."""
        while not self._closed.wait(HEARTBEAT_SECONDS):
            try:
                message = Message("client_alive", {"session": self._handle})
                answer = self._peer.call(message, timeout=5 * HEARTBEAT_SECONDS)
                self._gone = frozenset(answer.fields["gone"])
            except OpError:
                continue  # whoever runs a step will learn of it

    def _told_of(self, error: OpError) -> OpError:
        op = self._graph._by_name.get(error.node_def.name) if error.node_def is not None else None
        if op is not None:
            error._op, error._node_def = op, op.node_def
        return error

    def gone(self) -> frozenset[str]:
        """The tasks that were there and are no more, their work not done."""
        return self._gone

    def devices(self) -> list[Device]:
        """The devices of the cluster."""
        return devices_of(self._peer.call(Message("list_devices", {"session": self._session()})))

    def close(self) -> None:
        """Ends the session there."""
        self._closed.set()
        if self._handle is not None:
            try:
                self._peer.call(Message("end_session", {"session": self._handle}), timeout=5.0)
            except OpError:
                pass  # the master is gone, and the session with it
        self._peer.close()


def _peer(address: str) -> Peer:
    return Peer(address, key=keys.from_environment(), insecure=keys.network_is_trusted())


def _connect(address: str, graph: Graph, config: ConfigProto | None) -> Any:
    server = server_at(address)
    return RemoteMaster(address, graph, config) if server is None else server.connect(graph, config)


def _reset(address: str, containers: Sequence[str], config: ConfigProto | None) -> None:
    server = server_at(address)
    if server is not None:
        server.reset(containers)
        return
    peer = _peer(address)
    try:
        peer.call(Message("reset_all", {"containers": list(containers)}))
    finally:
        peer.close()


register_scheme(SCHEME, Scheme(_connect, _reset))
