"""`tf.train.Server`: one task of a cluster, at its address.

It runs parts of steps for the masters of other tasks (`part_service.py`), is the master of the sessions that
clients make here (`client_sessions.py`), and knows which other tasks are there (`heartbeats.py`). A listener
receives the messages for all three, and `dispatch.py` says which handler takes which.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster import keys
from tideflow.cluster.client_sessions import ClientSessions
from tideflow.cluster.cluster_spec import ClusterSpec, ServerDef
from tideflow.cluster.collectives import RemoteStore, StoreKeeper, TaskGroups
from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.given_cluster import addresses_of, given_cluster
from tideflow.cluster.heartbeats import Heartbeats
from tideflow.cluster.machine import Record, story
from tideflow.cluster.master import Master
from tideflow.cluster.membership import Membership
from tideflow.cluster.messages import Done, GivenCluster, Message, ResetCluster
from tideflow.cluster.part_service import PartService
from tideflow.cluster.server_def import SCHEME, make_server_def
from tideflow.cluster.tasks import LocalTask, RemoteTask, Task, task_name
from tideflow.cluster.transport import Identity, Listener, Peer
from tideflow.cluster.worker import Worker
from tideflow.cluster.worker_threads import WorkerThreads
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import UnavailableError
from tideflow.graph.graph import Graph
from tideflow.interrupts import deferred
from tideflow.runtime import collectives
from tideflow.runtime.conditions import Event
from tideflow.runtime.devices import Device, Placement
from tideflow.runtime.resources import ResourceManager
from tideflow.session.config import apply_config

if TYPE_CHECKING:
    from tensorboard.compat.proto.cluster_pb2 import ClusterDef

    from tideflow.cluster.tensorflow_clients.service import TensorFlowClients

MAX_THREADS = 1024  # steps and requests that one task works on at a time
_JOIN_SECONDS = 0.1  # how often `join` checks whether the job is over

_servers: dict[str, Server] = {}  # the servers of this process, by address
_of_parent: list[Server] = []  # in a forked child: they are kept, since closing their sockets is not for it


def server_at(address: str) -> Server | None:
    """The server of this process at an address, if there is one."""
    return _servers.get(address)


@export("train.Server", "distribute.Server")
class Server:
    """One task of a cluster, which listens at its address from when it is made. Tasks and clients
    authenticate with the cluster key that TIDEFLOW_CLUSTER_KEY names; without one, those on the loopback do
    so with a key of their user, and others are refused. `insecure`, or TIDEFLOW_INSECURE=1, says that
    everybody who can reach the address is trusted, and needs no key.

    Args:
      server_or_cluster_def: A `tf.train.ServerDef`, or a cluster as `tf.train.ClusterSpec` takes it.
      job_name: The job of this task; needed unless the cluster has one job only.
      task_index: The index of this task; needed unless the job has one task only.
      protocol: The protocol; `"grpc"` if None.
      config: The configuration of sessions that bring none.
      start: Whether its heartbeats begin at once; if not, `start()` begins them.
      insecure: Whether nobody needs a key, because everybody who can reach the address is trusted.
      tensorflow_clients: The address, `"host:port"`, at which programs of an installed TensorFlow reach this
        server too, by its own session protocol; port 0 takes a free one, see `tensorflow_target`. Such
        programs cannot authenticate: off the loopback, `tls` or `insecure` is needed.
      tls: The files of a certificate chain and of its private key, with which connections of TensorFlow's
        protocol are encrypted.

    Raises:
      ValueError: If the task is not one of the cluster.
    """

    @deferred
    def __init__(
        self,
        server_or_cluster_def: ServerDef | ClusterSpec | ClusterDef | dict[str, Any],
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: ConfigProto | None = None,
        start: bool = True,
        *,
        insecure: bool = False,
        tensorflow_clients: str | None = None,
        tls: tuple[str, str] | None = None,
    ):
        self._server_def = make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        self._insecure = insecure or keys.network_is_trusted()
        self._key = keys.from_environment()
        self._task = task_name(self._server_def.job_name, self._server_def.task_index)
        addresses = addresses_of(ClusterSpec(self._server_def.cluster))
        identity = Identity(self._task, addresses)
        host = addresses[self._task].rpartition(":")[0] or "localhost"
        self._steps_record, self._tasks_record = Record(), Record()
        self._membership = Membership(self._task, list(addresses), self._tasks_record)
        self._store = StoreKeeper()
        self._remote = self._remote_tasks(identity)
        self._groups = self._task_groups(list(addresses), host)
        self._worker = Worker(
            self._task, self._placement(), self._remote, self._reach, self._groups, self._steps_record
        )
        self._tasks: dict[str, Task] = {  # in the order of the cluster
            name: self._remote.get(name) or LocalTask(self._worker, name) for name in addresses
        }
        self._threads = WorkerThreads(MAX_THREADS, "tideflow-step")
        self._sessions = ClientSessions(self._new_master)
        self._heartbeats = Heartbeats(
            self._task, self._membership, self._remote, self._worker, self._sessions
        )
        self._started, self._stopped = False, Event()
        self._listener = Listener(
            addresses[self._task],
            self._dispatch(),
            identity=identity,
            key=self._key,
            insecure=self._insecure,
            on_left=self._worker.sender_left,
        )
        self._address = f"{host}:{self._listener.port}"
        self._tensorflow_clients = self._answer_tensorflow(tensorflow_clients, tls)
        _servers[self._address] = self
        if start:
            self.start()

    def _placement(self) -> Placement:
        placement, _ = apply_config(self._server_def.default_session_config, None, self._task)
        return replace(placement, log=False)  # the master of a session logs where operations are placed

    def _remote_tasks(self, identity: Identity) -> dict[str, RemoteTask]:
        return {
            name: RemoteTask(name, self._peer(address, task=name, me=identity))
            for name, address in identity.cluster.items()
            if name != self._task
        }

    def _reach(self, cluster: GivenCluster) -> dict[str, RemoteTask]:
        """The other tasks of a cluster that a session gives; their servers know them by other names."""
        return {
            name: RemoteTask(name, self._peer(address))
            for name, address in cluster.addresses.items()
            if name != cluster.task
        }

    def _peer(self, address: str, **greeting: Any) -> Peer:
        return Peer(address, key=self._key, insecure=self._insecure, **greeting)

    def _dispatch(self) -> Dispatch:
        dispatch = Dispatch(self._threads)
        PartService(self._worker, self._threads).serve(dispatch)
        for component in (self._sessions, self._heartbeats, self._store):
            component.serve(dispatch)
        dispatch.on_slow_request(ResetCluster, self._reset_cluster)
        return dispatch

    def _answer_tensorflow(
        self, address: str | None, tls: tuple[str, str] | None
    ) -> TensorFlowClients | None:
        if address is None:
            return None
        from tideflow.cluster.http2.tls import server_context  # loaded when asked for
        from tideflow.cluster.tensorflow_clients.service import TensorFlowClients  # loaded when asked for

        try:
            clients = TensorFlowClients(
                address,
                self.connect,
                task=self._task,
                devices=self._all_devices,
                reset=self.reset,
                threads=MAX_THREADS,
                tls=None if tls is None else server_context(*tls),
                insecure=self._insecure,
            )
        except BaseException:
            self._listener.close()
            raise
        self._sessions.collect_too(clients.next_round)
        return clients

    def _all_devices(self) -> list[Device]:
        return self._new_master(Graph(), None, self._address).devices()

    # ------------------------------------------------------------------ what users call

    @property
    def server_def(self) -> ServerDef:
        """Which task of which cluster this server is."""
        return self._server_def

    @property
    def target(self) -> str:
        """What to give to `tf.Session` to run steps here."""
        return f"{SCHEME}://{self._address}"

    @property
    def tensorflow_target(self) -> str:
        """What to give to the `tf.Session` of an installed TensorFlow to run steps here; "" if this server
        does not answer its clients.
        """
        return "" if self._tensorflow_clients is None else f"grpc://{self._tensorflow_clients.address}"

    @deferred
    def start(self) -> None:
        """Starts the heartbeats of a server, which listens from when it is made."""
        if not self._started:
            self._started = True
            atexit.register(self._leave)
            threading.Thread(
                target=self._heartbeats.run, args=[self._stopped], name="tideflow-heartbeats", daemon=True
            ).start()

    def join(self) -> None:
        """Blocks until the job has ended: the chief has finished, and no other worker is at work."""
        while not self._stopped.wait(_JOIN_SECONDS):
            if self._membership.is_over():
                self.stop()

    @deferred
    def stop(self) -> None:
        """Ends the steps and sessions here, and stops listening."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        for master in self._sessions.masters():
            master.close()
        if self._tensorflow_clients is not None:
            self._tensorflow_clients.close()
        self._worker.close()
        if self._groups is not None:
            self._groups.close()
        self._listener.close()
        for task in self._remote.values():
            task.peer.close()
        self._threads.shutdown()
        _servers.pop(self._address, None)

    @staticmethod
    def create_local_server(config: ConfigProto | None = None, start: bool = True) -> Server:
        """A server of a cluster of one task, on any free port of the loopback.

        Args:
          config: The configuration of sessions that bring none.
          start: Whether its heartbeats begin at once.

        Returns:
          The server.
        """
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    def story(self, subject: str = "") -> str:
        """What happened on this task lately, a line for each event.

        Args:
          subject: The id of a step, the name of another task, or None for all.

        Returns:
          The text.
        """
        return story([*self._steps_record.moves(subject), *self._tasks_record.moves(subject)])

    # ------------------------------------------------------------------ sessions

    def connect(self, graph: Graph, config: ConfigProto | None) -> Master:
        """The master of a new session of this process.

        Args:
          graph: The graph of the session.
          config: The configuration of the session.

        Returns:
          The master.
        """
        return self._sessions.connect(graph, config, self._address)

    def _new_master(self, graph: Graph, config: ConfigProto | None, address: str) -> Master:
        if self._stopped.is_set():
            raise errors.unavailable(f"The server at {self._address} was stopped.")
        default = self._server_def.default_session_config
        config = config if config is not None else default
        given = given_cluster(config, address)
        if given is None:
            return Master(graph, config, self._tasks, self._task, self._membership.missing_anywhere)
        reached = self._reach(given)
        tasks = {name: reached.get(name) or LocalTask(self._worker, name) for name in given.addresses}
        return Master(graph, config, tasks, given.task, given=given)

    def reset(self, containers: Sequence[str]) -> None:
        """Clears these containers on every task that answers, and closes the sessions there.

        Args:
          containers: The names of the containers.
        """
        self._sessions.forget()
        for task in self._tasks.values():
            try:
                task.reset(containers)
            except UnavailableError:
                continue  # a task that does not answer has no state

    def _reset_cluster(self, message: ResetCluster) -> Message:
        self.reset(message.containers)
        return Done()

    def join_collectives(self, resources: ResourceManager) -> None:
        """Joins operations that run outside of sessions with those of other tasks, as this task's."""
        collectives.configure(resources, collectives.of(self._worker.resources).others)

    # ------------------------------------------------------------------ other tasks

    def _task_groups(self, tasks: list[str], host: str) -> TaskGroups | None:
        """What joins the members of collectives on several tasks; the chief has rank 0."""
        chief = self._membership.chief
        if len(tasks) == 1 or chief is None:
            return None
        ranks = sorted(tasks, key=lambda task: (task != chief, task))
        store = self._store if chief == self._task else RemoteStore(self._remote[chief].peer)
        return TaskGroups(ranks.index(self._task), store, host, self._insecure)

    def _leave(self) -> None:
        """Tells the other tasks that this one ends, and stops, at the end of the process."""
        self._heartbeats.say_goodbye()
        self.stop()


def _after_fork() -> None:
    """The threads of a server are the parent's: a child talks to it as any other process does."""
    for server in _servers.values():
        atexit.unregister(server._leave)
        server._stopped = Event()
        server._stopped.set()
    _of_parent.extend(_servers.values())
    _servers.clear()


os.register_at_fork(after_in_child=_after_fork)
