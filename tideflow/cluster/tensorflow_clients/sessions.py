"""The sessions of TensorFlow's clients: what each request of theirs does. gRPC is not known here.

Such a client names a session by a handle, sends its graph once and further nodes later, each time with the
version of the graph that it knows, and names tensors and operations in every request. It sends no heartbeats:
its session lives for as long as its connection stands, and a while longer.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from tensorboard.compat.proto.config_pb2 import CallableOptions, ConfigProto, RunMetadata, RunOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.cluster.master import Master
from tideflow.cluster.membership import Lease
from tideflow.cluster.steps import session_not_found
from tideflow.cluster.tensorflow_clients.newer_ops import rewrite_newer_ops
from tideflow.compile.request import StepRequest
from tideflow.graph import errors
from tideflow.graph.errors import NotFoundError
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import extend_graph, import_graph_def
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime.waiting import StepContext
from tideflow.session.executor import compiled
from tideflow.session.feeds import feeder
from tideflow.session.fetches import Fetches
from tideflow.session.partial_run import PartialRun
from tideflow.session.traced_step import TraceRequest

ABANDONED_ROUNDS = 3600  # a session whose connection is closed lives for so many heartbeats without a request

Names: TypeAlias = "tuple[str, ...]"


class Caller(Protocol):
    """The client that waits for a step."""

    def on_cancel(self, cancel: Callable[[], None] | None) -> None:
        """Has a function called when the client gives the step up; raises if it has done so already."""


@dataclass(frozen=True)
class _Callable:
    """A step that a client has prepared."""

    request: StepRequest
    options: RunOptions


@dataclass
class ClientSession:
    """A session of a TensorFlow client, at the end of the connection `peer`."""

    graph: Graph
    master: Master
    config: ConfigProto | None
    peer: str
    version: int = 0  # the graph's version, as the client counts its extensions
    lease: Lease = field(default_factory=lambda: Lease(ABANDONED_ROUNDS))
    lock: threading.Lock = field(default_factory=threading.Lock)
    requests: dict[tuple[Names, Names, Names], StepRequest] = field(default_factory=dict)
    partial_runs: dict[str, PartialRun] = field(default_factory=dict)
    callables: dict[int, _Callable] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    runs: Iterator[int] = field(default_factory=itertools.count)

    # ------------------------------------------------------------------ the graph

    def extend(self, graph_def: GraphDef, known_version: int) -> int:
        """Adds nodes to the graph, if the client knows all that it has; returns the graph's new version."""
        with self.lock:
            if known_version != self.version:
                raise errors.aborted(
                    f"Current version is {self.version} but caller expected {known_version}."
                )
            _extend(self.graph, graph_def)
            self.version += 1
            return self.version

    def request(self, feeds: Names, fetches: Names, targets: Names, handle: str = "") -> StepRequest:
        """The step that has these names; `handle` is that of the partial run whose piece it is, if any."""
        key = feeds, fetches, targets
        found = self.requests.get(key)
        if found is None:
            try:
                found = self.requests[key] = self._resolve(feeds, fetches, targets)
            except NotFoundError as error:
                if handle:
                    self.partial_run(handle)
                    what = f"{error.message}: it was not specified in partial_run_setup."
                    raise errors.invalid_argument(what) from None
                raise
        return found

    def _resolve(self, feeds: Names, fetches: Names, targets: Names) -> StepRequest:
        fed: dict[Tensor, None] = {}
        for name in feeds:
            tensor = self._tensor(name, f"FeedInputs: unable to find feed output {name}")
            if tensor in fed:
                raise errors.invalid_argument(f'Endpoint "{name}" fed more than once.')
            fed[tensor] = None
        fetched = [self._tensor(name, f"FetchOutputs node {name}: not found") for name in fetches]
        for tensor in fetched:
            if tensor in fed:
                raise errors.invalid_argument(f"{tensor.name} is both fed and fetched.")
        return StepRequest(tuple(fetched), tuple(map(self._operation, targets)), tuple(fed))

    def _tensor(self, name: str, not_found: str) -> Tensor:
        """The tensor of a name; without a number, the first output of an operation."""
        node, _, number = name.partition(":")
        op = self.graph._by_name.get(node)
        if op is None or (number and not number.isdecimal()):
            raise errors.not_found(not_found)
        if int(number or 0) >= len(op.outputs):
            raise errors.invalid_argument(
                f"FetchOutputs {name}: output index too large, must be < {len(op.outputs)}"
            )
        return op.outputs[int(number or 0)]

    def _operation(self, name: str) -> Operation:
        op = self.graph._by_name.get(name.partition(":")[0])
        if op is None:
            raise errors.not_found(f"PruneForTargets: Some target nodes not found: {name}")
        return op

    # ------------------------------------------------------------------ steps

    def run(
        self, request: StepRequest, feeds: Sequence[Any], options: RunOptions, caller: Caller
    ) -> tuple[Sequence[Any], RunMetadata | None]:
        """The values of a step's fetches, and what the options ask to know of it."""
        if not request.fetches and not request.targets:
            raise errors.invalid_argument("Must specify at least one target to fetch or execute.")
        asked = TraceRequest.of(options, self.config, next(self.runs))
        context = self._context(options, asked)
        caller.on_cancel(lambda: self.master.cancel(context))
        try:
            plan = compiled(self.master, request, context)
            values = plan.run(context, feeds)
        finally:
            caller.on_cancel(None)
        if asked is not None and context.trace is not None:
            asked.select(context.trace)
        return values, context.trace

    def _context(self, options: RunOptions, asked: TraceRequest | None = None) -> StepContext:
        if options.HasField("debug_options") and options.debug_options.debug_tensor_watch_opts:
            raise errors.unimplemented("A TensorFlow client cannot watch tensors (RunOptions.debug_options).")
        limit = 0 if self.config is None else self.config.operation_timeout_in_ms
        milliseconds = options.timeout_in_ms or limit
        return StepContext(
            milliseconds / 1000 if milliseconds > 0 else None, None if asked is None else RunMetadata()
        )

    def begin_partial_run(self, feeds: Names, fetches: Names, targets: Names) -> str:
        """Announces a step that is run piece by piece; returns its handle."""
        run = PartialRun(self.master, self.request(feeds, fetches, targets), None)
        self.partial_runs[run.handle] = run
        return run.handle

    def partial_run(self, handle: str) -> PartialRun:
        """The step of a handle."""
        if handle not in self.partial_runs:
            raise errors.invalid_argument(
                f"Must run PartialRunSetup before performing partial runs: there is none '{handle}'."
            )
        return self.partial_runs[handle]

    def run_piece(
        self, handle: str, request: StepRequest, feeds: Sequence[Any], options: RunOptions,
        caller: Caller,
    ) -> Sequence[Any]:  # fmt: skip
        """The values of the fetches of a piece."""
        run, context = self.partial_run(handle), self._context(options)
        fetches = Fetches(self.graph, [*request.fetches, *request.targets])
        with self.lock:
            caller.on_cancel(lambda: self.master.cancel(context))
            try:
                values = run(fetches, dict(zip(request.feeds, feeds, strict=True)), context)
            finally:
                caller.on_cancel(None)
        if run.finished:
            del self.partial_runs[handle]
        return [feeder(tensor)(value) for tensor, value in zip(request.fetches, values)]

    # ------------------------------------------------------------------ callables

    def make_callable(self, options: CallableOptions) -> int:
        """Prepares a step; returns its number."""
        if options.feed_devices or options.fetch_devices:
            raise errors.unimplemented(
                "Feeds and fetches of a callable on a server are in its memory: CallableOptions.feed_devices "
                "and fetch_devices name devices of one process."
            )
        number = next(self.numbers)
        fetches, targets = tuple(options.fetch), tuple(options.target)
        if options.tensor_connection:
            fetches, targets = self._connected(options, f".callable_{number}")
        request = self.request(tuple(options.feed), fetches, targets)
        self.callables[number] = _Callable(request, options.run_options)
        return number

    def _connected(self, options: CallableOptions, scope: str) -> tuple[Names, Names]:
        """The names of a callable's fetches and targets, in copies of what depends on tensors that others
        replace (`tensor_connection`).
        """
        taken: dict[Tensor, Tensor] = {}
        for connection in options.tensor_connection:
            name = connection.to_tensor
            sink = self._tensor(name, f"FeedInputs: unable to find feed output {name}")
            if connection.from_tensor.partition(":")[0] not in self.graph._by_name:
                what = f'Requested tensor connection from unknown node: "{name}".'
                raise errors.invalid_argument(what)
            if sink in taken or sink.name in options.feed:
                raise errors.invalid_argument(f'Endpoint "{name}" fed more than once.')
            if sink.name in options.fetch:
                raise errors.invalid_argument(f"{sink.name} is both fed and fetched.")
            taken[sink] = self._tensor(connection.from_tensor, "")
        with self.lock:
            copies = copied_behind(self.graph, taken, scope)
        fetches, targets = [
            tuple([f"{scope}/{name}" if name.partition(":")[0] in copies else name for name in names])
            for names in (options.fetch, options.target)
        ]
        return fetches, targets

    def callable(self, number: int) -> _Callable:
        """The prepared step of a number."""
        found = self.callables.get(number)
        if found is None:
            raise errors.invalid_argument(f"No such callable handle: {number}")
        return found

    def release_callable(self, number: int) -> None:
        """Forgets a prepared step."""
        self.callable(number)
        del self.callables[number]


class TensorFlowSessions:
    """The sessions of all TensorFlow clients of a task; `connect(graph, config)` makes the master of one."""

    def __init__(self, connect: Callable[[Graph, ConfigProto | None], Master]):
        self._connect = connect
        self._sessions: dict[str, ClientSession] = {}

    def create(self, graph_def: GraphDef, config: ConfigProto | None, peer: str) -> ClientSession:
        """A new session, for the client at a connection."""
        graph = Graph()
        _extend(graph, graph_def)
        master = self._connect(graph, config)
        session = self._sessions[master.handle] = ClientSession(graph, master, config, peer)
        return session

    def get(self, handle: str, peer: str) -> ClientSession:
        """The session of a handle, for which a request has come on a connection."""
        session = self._sessions.get(handle)
        if session is None:
            raise session_not_found(handle)
        session.peer = peer
        session.lease.renew()
        return session

    def close(self, handle: str) -> None:
        """Ends a session and its steps."""
        session = self._sessions.pop(handle, None)
        if session is None:
            raise session_not_found(handle)
        session.master.close()

    def forget(self) -> None:
        """After a reset: no handle is known any more."""
        self._sessions.clear()

    def next_round(self, connected: Collection[str]) -> None:
        """A round of heartbeats has passed: closes the sessions of clients that have left for good."""
        for handle, session in list(self._sessions.items()):
            if session.peer in connected:
                session.lease.renew()
            elif session.lease.ran_out():
                self.close(handle)

    def __len__(self) -> int:
        return len(self._sessions)


def _extend(graph: Graph, graph_def: GraphDef) -> None:
    """Adds the nodes and functions that a client sends to its graph: all, or none if one is invalid."""
    rewrite_newer_ops(graph_def)
    known = {*graph._by_name, *(node.name for node in graph_def.node)}
    for node in graph_def.node:
        if node.name in graph._by_name:
            raise errors.invalid_argument(
                f"GraphDef argument to Extend includes node '{node.name}', which was created by a previous "
                "call to Create or Extend in this session."
            )
        for text in node.input:
            if text.lstrip("^").partition(":")[0] not in known:
                raise errors.invalid_argument(f"Node '{node.name}': Unknown input node '{text}'")
    extend_graph(graph, graph_def)


def copied_behind(graph: Graph, taken: Mapping[Tensor, Tensor], scope: str) -> set[str]:
    """Copies the operations that depend on some tensors into a scope, where they take others instead.

    Returns:
      The names of the operations that have a copy.
    """
    behind: dict[Operation, None] = {}
    waiting = [op for sink in taken for op in sink.consumers()]
    while waiting:
        op = waiting.pop()
        if op not in behind:
            behind[op] = None
            waiting += [consumer for tensor in op.outputs for consumer in tensor.consumers()]
    for sink, source in taken.items():
        if source.op in behind:
            raise errors.invalid_argument(
                f'Requested Tensor connection between nodes "{sink.op.name}" and "{source.op.name}" would '
                "create a cycle."
            )
    inputs: dict[str, Any] = {}
    for op in behind:
        for text, tensor in zip(op.node_def.input, op.inputs, strict=False):
            if tensor in taken or tensor.op not in behind:
                inputs[text] = taken.get(tensor, tensor)
        inputs |= {f"^{control.name}": control for control in op.control_inputs if control not in behind}
    message = GraphDef(node=[op.node_def for op in graph.get_operations() if op in behind])
    message.versions.CopyFrom(graph.graph_def_versions)
    with graph.as_default():
        import_graph_def(message, inputs, name=scope)
    return {op.name for op in behind}
