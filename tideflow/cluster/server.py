"""`tf.train.Server`: a task of a cluster. It answers at its address: it runs parts of steps for the masters
of others (`worker.py`), and is a master for whoever makes a session here (`master.py`), in this process or in
another.
"""

from __future__ import annotations

import atexit
import functools
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.cluster import keys
from tideflow.cluster.cluster_spec import ClusterSpec, ServerDef
from tideflow.cluster.collectives import TaskGroups
from tideflow.cluster.job import Job, exit_was_clean
from tideflow.cluster.master import Master
from tideflow.cluster.part import Done, Part, Spec
from tideflow.cluster.ports import number_of, reserve
from tideflow.cluster.protocol import AHEAD
from tideflow.cluster.tasks import (
    LocalTask,
    RemoteTask,
    Task,
    as_bytes,
    devices_message,
    is_little,
    limits_of,
    task_name,
    tensors_message,
    unpack,
    values_message,
)
from tideflow.cluster.transport import Identity, Listener, Message, Peer, Reply
from tideflow.cluster.wire import error_message, error_of
from tideflow.cluster.worker import LEASE_ROUNDS, STOP_SECONDS, RunRequest, Worker
from tideflow.cluster.worker_threads import WorkerThreads
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import (
    DeadlineExceededError,
    OpError,
    UnavailableError,
)
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.runtime import waiting
from tideflow.runtime.rendezvous import Parcel
from tideflow.runtime.waiting import Limits
from tideflow.session.config import apply_config

SCHEME = "grpc"  # what TensorFlow's programs write; what is spoken is ours
HEARTBEAT_SECONDS = 1.0
MOST_AT_ONCE = 1024  # steps and requests that may wait on one task
_MOST_AHEAD = 16  # messages that a part sends to its master before its answer

_here: dict[str, Server] = {}  # the servers of this process, by address


def server_at(address: str) -> Server | None:
    """The server of this process at an address, if it is one of this process."""
    return _here.get(address)


@dataclass
class _ClientSession:
    """A session that a client in another process has here."""

    graph: Graph
    master: Master
    silent: int = 0  # rounds of heartbeats since the client was last heard of


class _ReplyRouter:
    """Where what one run of a part makes goes. What is for the task of the master that asked goes with the
    answer, or ahead of it: a thread waits for that there, and for other tasks' messages another one does.
    """

    def __init__(self, server: Server, part: Part, step: str, home: str, reply: Reply):
        self._server, self._part, self._step, self._home, self._reply = server, part, step, home, reply
        self._ahead = _MOST_AHEAD
        self.may_block = True  # the thread that runs the part

    def send(self, task: str, parcel: Parcel) -> None:
        if task == self._home and self._ahead and is_little(parcel):
            self._ahead -= 1
            self._reply.ahead(tensors_message(self._step, parcel, AHEAD), compress=self._part.compress)
        elif self.may_block:
            self._server._send(self._step, self._part, task, parcel)
        elif not self._server._tasks[task].send_at_once(self._step, parcel, self._part.compress):
            self._server._threads.submit(self._server._send_or_fail, self._step, self._part, task, parcel)

    def end(self, limits: Limits, values: tuple, error: Exception | None) -> None:
        """Answers, with the values or the error."""
        try:
            if error is not None:
                raise error
            # Values that are fetched are not compressed: what is to be goes ahead of them.
            limits.rendezvous.flush(but="" if self._part.compress else self._home)
            answer = values_message(values, limits, limits.rendezvous.parcel_for(self._home))
        except Exception as failure:
            self._server._tell_the_others(self._part.tasks, self._step, failure)
            answer = error_message(failure)
        self._reply(answer)


@export("train.Server", "distribute.Server")
class Server:
    """One task of a cluster, at its address from when it is started. Off the loopback, tasks authenticate
    with the cluster key that TIDEFLOW_CLUSTER_KEY names; `insecure` says that the network is trusted.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: ConfigProto | None = None,
        start: bool = True,
        *,
        insecure: bool = False,
    ):
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        self._cluster = ClusterSpec(self._server_def.cluster)
        self._insecure = insecure or keys.network_is_trusted()
        self._key = keys.from_environment()
        self._task = task_name(self._server_def.job_name, self._server_def.task_index)
        addresses = self._addresses()
        identity = Identity(self._task, addresses)
        host = addresses[self._task].rpartition(":")[0] or "localhost"
        self._job = Job(self._task, list(addresses))
        self._groups = self._task_groups(list(addresses), host)
        self._worker = Worker(self._task, self._placement(), self._groups)
        self._tasks = self._task_table(identity)
        self._sessions: dict[str, _ClientSession] = {}  # of clients in other processes
        self._masters: list[Master] = []  # of sessions in this process
        self._threads = WorkerThreads(MOST_AT_ONCE, "tideflow-step")
        self._stopped = threading.Event()
        self._listener = Listener(
            addresses[self._task], self._handle, identity=identity, key=self._key, insecure=self._insecure
        )
        self._address = f"{host}:{self._listener.port}"
        _here[self._address] = self
        if start:
            self.start()

    def _placement(self) -> Any:
        placement, _ = apply_config(self._server_def.default_session_config, None, self._task)
        return replace(placement, log=False)  # a master tells where it has placed what

    def _addresses(self) -> dict[str, str]:
        """Where the tasks are."""
        return {
            task_name(job, index): self._cluster.task_address(job, index)
            for job in self._cluster.jobs
            for index in self._cluster.task_indices(job)
        }

    def _task_groups(self, tasks: list[str], host: str) -> TaskGroups | None:
        """What joins the members of collectives on several tasks; the chief has rank 0."""
        if len(tasks) == 1 or self._job.chief is None:
            return None
        ranks = sorted(tasks, key=lambda task: (task != self._job.chief, task))
        return TaskGroups(ranks.index(self._task), len(ranks), host, self._find_store, self._insecure)

    @functools.cached_property
    def _store_port(self) -> socket.socket:
        """Keeps the port at which the chief's store of collectives listens once it is needed."""
        return reserve(self._address.rpartition(":")[0])

    def _find_store(self) -> str:
        """Where the chief keeps the store of collectives."""
        chief = self._tasks[self._job.chief]
        if chief.is_local:
            return f"{self._address.rpartition(':')[0]}:{number_of(self._store_port)}"
        port = chief.peer.call(Message("store")).fields["port"]
        return f"{chief.peer.address.rpartition(':')[0]}:{port}"

    def _take_store(self, message: Message, reply: Reply) -> None:
        reply(Message("store", {"port": number_of(self._store_port)}))

    def _task_table(self, identity: Identity) -> dict[str, Task]:
        table: dict[str, Task] = {}
        for name, address in identity.cluster.items():
            if name == self._task:
                table[name] = LocalTask(self._worker)
            else:
                peer = Peer(address, task=name, me=identity, key=self._key, insecure=self._insecure)
                table[name] = RemoteTask(name, peer)
        return table

    # ------------------------------------------------------------------ what users call

    @property
    def server_def(self) -> ServerDef:
        """What this server was told to be."""
        return self._server_def

    @property
    def target(self) -> str:
        """What to give to `tf.Session` to run steps here."""
        return f"{SCHEME}://{self._address}"

    def start(self) -> None:
        """Starts the server, which listens from when it is made: now it also looks after its peers."""
        if not self._job.started:
            self._job.started = True
            atexit.register(self._leave)
            threading.Thread(target=self._look_after_peers, name="tideflow-heartbeats", daemon=True).start()

    def join(self) -> None:
        """Blocks until the job has ended: the chief has finished, and nobody else works on."""
        while not self._stopped.wait(0.1):
            if self._job.is_over():
                self.stop()

    def stop(self) -> None:
        """Ends what runs here, and stops listening."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        for master in self._all_masters():
            master.close()
        self._worker.close()
        if self._groups is not None:
            self._groups.close()
        if "_store_port" in self.__dict__:
            self._store_port.close()
        self._listener.close()
        for task in self._tasks.values():
            if not task.is_local:
                task.peer.close()
        self._threads.shutdown()
        _here.pop(self._address, None)

    @staticmethod
    def create_local_server(config: ConfigProto | None = None, start: bool = True) -> Server:
        """A server of a cluster of one, on any free port of the loopback."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    # ------------------------------------------------------------------ sessions

    def connect(self, graph: Graph, config: ConfigProto | None) -> Master:
        """The master of a new session in this process."""
        master = self._new_master(graph, config)
        self._masters.append(master)
        return master

    def _new_master(self, graph: Graph, config: ConfigProto | None) -> Master:
        if self._stopped.is_set():
            raise errors.unavailable(f"The server at {self._address} was stopped.")
        default = self._server_def.default_session_config
        config = config if config is not None else default
        return Master(graph, config, self._tasks, self._task, self._job.gone_for_anybody)

    def reset(self, containers: Sequence[str]) -> None:
        """Clears the state of these containers on every task that answers, and closes the sessions on it."""
        for task in self._tasks.values():
            try:
                task.reset(containers)
            except UnavailableError:
                continue  # a task that is not there has no state
        self._sessions.clear()

    # ------------------------------------------------------------------ messages

    def _handle(self, message: Message, reply: Reply | None) -> None:
        """A message that has come, on the listener's thread: what takes time is for others."""
        quick = _QUICK.get(message.kind)
        if quick is not None:
            quick(self, message, reply)
            return
        slow = _SLOW.get(message.kind)
        if slow is None or reply is None:
            raise errors.invalid_argument(f"'{message.kind:.50}' is nothing that a task is asked for.")
        self._threads.submit(self._answer, slow, message, reply)

    def _answer(self, answer: Callable, message: Message, reply: Reply) -> None:
        try:
            made = answer(self, message)
        except Exception as error:
            made = error_message(error)
        reply(made)

    def _take_tensors(self, message: Message, reply: Reply | None) -> None:
        for key, value in unpack(message):
            self._worker.deliver(message.fields["step"], key, value)

    def _take_abort(self, message: Message, reply: Reply | None) -> None:
        self._worker.end_step(message.fields["step"], error_of(Message("error", message.fields["error"])))

    def _stop_step(self, message: Message) -> Message:
        self._take_abort(message, None)
        self._worker.wait_for_end(message.fields["step"], STOP_SECONDS)
        return Message("done")

    def _take_run(self, message: Message, reply: Reply | None) -> None:
        fields, feeds = message.fields, message.tensors
        session, step = fields["session"], fields["step"]
        part, limits = self._worker.part(session, fields["part"]), limits_of(message)
        router = _ReplyRouter(self, part, step, fields["home"], reply)
        request, end = (
            RunRequest(session, part, step, feeds, limits, router.send),
            partial(router.end, limits),
        )
        if limits.trace is None and part.is_quick(feeds):
            router.may_block = False
            self._worker.start(request, self._listener.call_soon, end)
        else:
            self._threads.submit(self._run_part, request, end)

    def _run_part(self, request: RunRequest, end: Done) -> None:
        try:
            values = self._worker.run(request)
        except Exception as error:
            end((), error)
        else:
            end(values, None)

    def _send(self, step: str, part: Part, task: str, parcel: Parcel) -> None:
        self._tasks[task].send(step, parcel, part.compress)

    def _send_or_fail(self, step: str, part: Part, task: str, parcel: Parcel) -> None:
        """The same where nobody is left to raise an error to: the step ends with it."""
        try:
            self._send(step, part, task, parcel)
        except OpError as error:
            self._worker.end_step(step, error)
            self._tell_the_others(part.tasks, step, error)

    def _tell_the_others(self, tasks: Sequence[str], step: str, error: Exception) -> None:
        """A part has failed: whoever waits for what it would have sent learns why."""
        if not isinstance(error, OpError):
            error = errors.aborted(f"{self._task} failed: {error!r}")
        for name in tasks:
            if name != self._task and name in self._tasks:
                try:
                    self._tasks[name].end_step(step, error)
                except OpError:
                    continue  # it is not there: nobody waits

    def _take_devices(self, message: Message, reply: Reply) -> None:
        reply(devices_message(self._worker.placement.devices))

    def _register(self, message: Message) -> Message:
        fields = dict(message.fields)
        session, isolated = fields.pop("session"), fields.pop("isolated")
        spec = Spec(as_bytes(message.tensors[0]), **fields)
        return Message("registered", {"part": self._worker.register(session, isolated, spec)})

    def _take_close_session(self, message: Message, reply: Reply | None) -> None:
        self._worker.close_session(message.fields["session"])

    def _reset(self, message: Message) -> Message:
        self._worker.reset(message.fields["containers"])
        return Message("done")

    # ---- clients in other processes

    def _create_session(self, message: Message) -> Message:
        config, graph_def = (as_bytes(tensor) for tensor in message.tensors)
        graph = Graph()
        _extend(graph, graph_def)
        master = self._new_master(graph, ConfigProto.FromString(config) if config else None)
        self._sessions[master.handle] = _ClientSession(graph, master)
        return Message("session", {"session": master.handle})

    def _client_session(self, message: Message) -> _ClientSession:
        session = self._sessions.get(message.fields["session"])
        if session is None:
            raise errors.aborted(f"Session {message.fields['session']} is not found.")
        session.silent = 0
        return session

    def _take_client_alive(self, message: Message, reply: Reply) -> None:
        session = self._client_session(message)
        reply(Message("alive", {"gone": list(session.master.gone())}))

    def _extend_session(self, message: Message) -> Message:
        _extend(self._client_session(message).graph, as_bytes(message.tensors[0]))
        return Message("done")

    def _run_step(self, message: Message) -> Message:
        session = self._client_session(message)
        graph, master, fields = session.graph, session.master, message.fields
        fetches = [graph.get_tensor_by_name(name) for name in fields["fetches"]]
        targets = [graph.get_operation_by_name(name) for name in fields["targets"]]
        feeds = [graph.get_tensor_by_name(name) for name in fields["feeds"]]
        done = frozenset(graph.get_operation_by_name(name) for name in fields["done"])
        with waiting.under(limits_of(message)) as limits:
            plan = master.compile(fetches, targets, feeds, done=done)
            return values_message(plan.function(*message.tensors), limits)

    def _list_devices(self, message: Message) -> Message:
        return devices_message(self._client_session(message).master.devices())

    def _end_session(self, message: Message) -> Message:
        session = self._sessions.pop(message.fields["session"], None)
        if session is not None:
            session.master.close()
        return Message("done")

    def _reset_all(self, message: Message) -> Message:
        self.reset(message.fields["containers"])
        return Message("done")

    # ------------------------------------------------------------------ who is there

    def _take_alive(self, message: Message, reply: Reply) -> None:
        """A peer lives, and so do the sessions of which it is the master."""
        for session in message.fields["sessions"]:
            self._worker.hear(session)
        self._job.heard(message.fields["task"])
        reply(Message("alive", {"gone": self._job.gone()}))

    def _take_leave(self, message: Message, reply: Reply) -> None:
        self._job.left(message.fields["task"], message.fields["finished"])
        reply(Message("done"))

    def _look_after_peers(self) -> None:
        """Says to every peer that this task lives, and notices which do not."""
        remote = [task for task in self._tasks.values() if not task.is_local]
        while not self._stopped.wait(HEARTBEAT_SECONDS):
            handles = [master.handle for master in self._all_masters()]
            for handle in handles:  # of their sessions on this task: nobody else says that they live
                self._worker.hear(handle)
            for task in remote:
                if task.peer.incarnation or self._job.is_known(task.name):
                    self._greet(task, Message("alive", {"task": self._task, "sessions": handles}))
            self._worker.forget_the_lost()
            self._forget_lost_clients()

    def _greet(self, task: RemoteTask, greeting: Message) -> None:
        call = partial(task.peer.call, greeting, timeout=5 * HEARTBEAT_SECONDS)
        try:
            try:
                answer = call()
            except DeadlineExceededError:  # maybe it was this process that was stopped meanwhile
                answer = call()
            self._job.heard(task.name)
            self._job.told(task.name, answer.fields["gone"])
        except OpError as error:
            self._lose(task.name, error)

    def _forget_lost_clients(self) -> None:
        for handle, session in list(self._sessions.items()):
            session.silent += 1
            if session.silent > LEASE_ROUNDS:
                self._sessions.pop(handle, None)
                session.master.close()

    def _all_masters(self) -> list[Master]:
        self._masters = [master for master in self._masters if not master.closed]
        return [*self._masters, *(session.master for session in list(self._sessions.values()))]

    def _lose(self, task: str, error: OpError) -> None:
        """A peer does not answer: the steps that need it end."""
        self._job.lost(task)
        self._worker.end_steps_with(task, errors.unavailable(f"{task} is lost: {error.message}"))

    def _waits_for_us(self, task: RemoteTask) -> bool:
        """Whether the peer should know that this task ends: they have met, be it since the last heartbeat."""
        if self._job.has_left(task.name):
            return False
        met = task.peer.incarnation or self._job.is_known(task.name)
        return bool(met) or self._job.is_awaited_by(task.name)

    def _leave(self) -> None:
        """Says to the peers that this task ends, at the end of the process."""
        finished = exit_was_clean()
        for task in self._tasks.values():
            if not task.is_local and self._waits_for_us(task):
                try:
                    task.peer.call(Message("leave", {"task": self._task, "finished": finished}), timeout=1.0)
                except OpError:
                    continue  # it has left already
        self.stop()


_QUICK = {
    "run": Server._take_run,
    "tensors": Server._take_tensors,
    "abort": Server._take_abort,
    "devices": Server._take_devices,
    "close_session": Server._take_close_session,
    "alive": Server._take_alive,
    "client_alive": Server._take_client_alive,
    "leave": Server._take_leave,
    "store": Server._take_store,
}
_SLOW = {
    "register": Server._register,
    "reset": Server._reset,
    "stop_step": Server._stop_step,
    "create_session": Server._create_session,
    "extend_session": Server._extend_session,
    "run_step": Server._run_step,
    "list_devices": Server._list_devices,
    "end_session": Server._end_session,
    "reset_all": Server._reset_all,
}


def _extend(graph: Graph, data: bytes) -> None:
    """Adds nodes to a client's graph, which may take what it has already."""
    graph_def = GraphDef.FromString(data)
    added = {node.name for node in graph_def.node}
    inputs = {text for node in graph_def.node for text in node.input}
    outside = {text for text in inputs if text.lstrip("^").partition(":")[0] not in added}
    with graph.as_default():
        import_graph_def(graph_def, {text: _element(graph, text) for text in outside}, name="")


def _element(graph: Graph, text: str) -> Any:
    """What the input of a node names: a tensor, or an operation that is waited for."""
    if text.startswith("^"):
        return graph.get_operation_by_name(text[1:])
    return graph.get_tensor_by_name(text if ":" in text else f"{text}:0")


def _server_def(
    server_or_cluster_def: Any,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: ConfigProto | None,
) -> ServerDef:
    made = ServerDef()
    if isinstance(server_or_cluster_def, ServerDef):
        made.CopyFrom(server_or_cluster_def)
    else:
        cluster = _cluster_spec(server_or_cluster_def)
        if job_name is None:
            job_name = _the_only_one(cluster.jobs, "job_name")
        if task_index is None:
            task_index = _the_only_one(cluster.task_indices(job_name), "task_index")
        made.cluster.CopyFrom(cluster.as_cluster_def())
    for name, value in (("job_name", job_name), ("task_index", task_index), ("protocol", protocol)):
        if value is not None:
            setattr(made, name, value)
    made.protocol = made.protocol or SCHEME
    if config is not None:
        made.default_session_config.MergeFrom(config)
    _check(made)
    return made


def _cluster_spec(cluster: Any) -> ClusterSpec:
    try:
        return ClusterSpec(cluster)
    except TypeError:
        raise TypeError(
            "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
        ) from None


def _the_only_one(choices: Sequence[Any], what: str) -> Any:
    if len(choices) != 1:
        raise ValueError(f"Must specify an explicit `{what}`.")
    return choices[0]


def _check(made: ServerDef) -> None:
    """An error unless the cluster has the task, and it can speak so."""
    jobs = {job.name: job.tasks for job in made.cluster.job}
    if made.job_name not in jobs:
        known = ", ".join(jobs) or "none"
        raise errors.internal(f'Job "{made.job_name}" was not defined in cluster (its jobs: {known})')
    if made.task_index not in jobs[made.job_name]:
        raise errors.invalid_argument(f'Task {made.task_index} was not defined in job "{made.job_name}"')
    if made.protocol != SCHEME:
        raise errors.not_found(
            f'No server speaks the protocol "{made.protocol}": the one there is, is "{SCHEME}".'
        )
