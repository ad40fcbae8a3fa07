"""`tf.distribute.cluster_resolver`: a ClusterSpec from the system that manages the machines.

A resolver asks that system each time, because machines come and go. A task uses its `cluster_spec()`,
`task_type` and `task_id`; `master()` is the target of a session.
"""

from __future__ import annotations

import abc
import collections
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.session.session import Session

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

_PUBLIC = "distribute.cluster_resolver"


def target(address: str, rpc_layer: str | None) -> str:
    return f"{rpc_layer}://{address}" if rpc_layer else address


@export(f"{_PUBLIC}.ClusterResolver")
class ClusterResolver(abc.ABC):
    """What resolvers share. Each has `task_type`, `task_id` and `rpc_layer` too."""

    task_type: str | None
    task_id: int | None
    rpc_layer: str | None

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster as it is now."""

    @abc.abstractmethod
    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The target of a session on a task: by default on this one.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          rpc_layer: The protocol that the target begins with; the resolver's if None.

        Returns:
          The target.
        """

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: ConfigProto | None = None,
    ) -> dict[str, int]:
        """How many devices of each type a task has, as a session there says.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          config_proto: The configuration of the session that asks.

        Returns:
          The numbers by type of device.
        """
        with Graph().as_default(), Session(self.master(task_type, task_id), config=config_proto) as session:
            devices = session.list_devices()
        counts: collections.defaultdict[str, int] = collections.defaultdict(int)
        for device in devices:
            if task_type is None or task_id is None or _is_of(device.name, task_type, task_id):
                counts[device.device_type] += 1
        return counts

    @property
    def environment(self) -> str | None:
        """Where this runs: "" for anywhere."""
        return ""

    def _task_target(self, task_type: str | None, task_id: int | None, rpc_layer: str | None) -> str:
        """The target of the task given, or else of this one; "" where neither is known."""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if job is None or index is None:
            return ""
        return target(self.cluster_spec().task_address(job, index), rpc_layer or self.rpc_layer)


def _is_of(device: str, task_type: str, task_id: int) -> bool:
    parts = device.split("/")
    return f"job:{task_type}" in parts and f"task:{task_id}" in parts


@export(f"{_PUBLIC}.SimpleClusterResolver")
class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given, not asked for.

    Args:
      cluster_spec: The cluster.
      master: The address of the master.
      task_type: The job of this task.
      task_id: The index of this task in its job.
      environment: The name of the platform.
      num_accelerators: The number of accelerators of a task, by kind.
      rpc_layer: The protocol that a target begins with; none if None.

    Raises:
      TypeError: If `cluster_spec` is not a ClusterSpec, or `master` not a string.
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(f"cluster_spec must be a ClusterSpec, not {type(cluster_spec).__name__}.")
        if not isinstance(master, str):
            raise TypeError(f"master must be a string, not {type(master).__name__}.")
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._cluster_spec, self._master = cluster_spec, master
        self._environment, self._num_accelerators = environment, num_accelerators

    @property
    def environment(self) -> str | None:
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The master that was given; with a task, that task.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          rpc_layer: The protocol that the target begins with; the resolver's if None.

        Returns:
          The target.
        """
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return target(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: ConfigProto | None = None,
    ) -> dict[str, int]:
        """The numbers that the resolver was made with: no task is asked.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          config_proto: The configuration of the session that asks.

        Returns:
          The numbers by type of device.
        """
        return {} if self._num_accelerators is None else self._num_accelerators


@export(f"{_PUBLIC}.TFConfigClusterResolver")
class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment's TF_CONFIG describes.

    Args:
      task_type: The job of this task; that of TF_CONFIG if None.
      task_id: The index of this task in its job; that of TF_CONFIG if None.
      rpc_layer: The protocol that a target begins with; that of TF_CONFIG if None.
      environment: The name of the platform; that of TF_CONFIG if None.
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ):
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._environment = environment

    @property
    def environment(self) -> str | None:
        return self._environment

    @property
    def task_type(self) -> str | None:
        found = _tf_config("task", {}).get("type") if self._task_type is None else self._task_type
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        found = _tf_config("task", {}).get("index") if self._task_id is None else self._task_id
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        return _tf_config("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(_tf_config("cluster", {}))

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """`session_master` where TF_CONFIG has one; "" where there is but one task.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          rpc_layer: The protocol that the target begins with; the resolver's if None.

        Returns:
          The target.
        """
        configured = _tf_config("session_master")
        if configured is not None:
            return str(configured)
        cluster = self.cluster_spec()
        if sum(map(cluster.num_tasks, cluster.jobs)) <= 1:
            return ""
        job: Any = self.task_type if task_type is None else task_type
        index: Any = self.task_id if task_id is None else task_id
        return target(cluster.task_address(job, index), rpc_layer or self.rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: ConfigProto | None = None,
    ) -> dict[str, int]:
        """How many devices of each type a task has: by default this one.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          config_proto: The configuration of the session that asks.

        Returns:
          The numbers by type of device.
        """
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        return super().num_accelerators(job, index, config_proto)


def _tf_config(key: str, default: Any = None) -> Any:
    """The value of a key in TF_CONFIG."""
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        return json.loads(text).get(key, default)
    except (ValueError, AttributeError) as error:
        raise ValueError(f"TF_CONFIG is not a JSON object: {text!r} ({error})") from None


@export(f"{_PUBLIC}.UnionResolver")
class UnionClusterResolver(ClusterResolver):
    """The clusters of several resolvers as one. The first of them gives the other properties, except for
    `task_type`, `task_id` and `rpc_layer` where these are given.

    Args:
      args: The resolvers, at least one.
      kwargs: `task_type`, `task_id` and `rpc_layer`, which override those of the first resolver.

    Raises:
      TypeError: If an argument is not a ClusterResolver.
      ValueError: If no resolver is given, or a keyword is not known.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any):
        given = {key: kwargs.pop(key, None) for key in ("rpc_layer", "task_type", "task_id")}
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(
                    f"All arguments must be a sub-class of `ClusterResolver.`, not {type(resolver).__name__}"
                )
        self._cluster_resolvers, self._given = args, given

    def cluster_spec(self) -> ClusterSpec:
        """The union of the clusters. Lists of one job's tasks are concatenated. If one of them has gaps,
        tasks keep their indices, and two with the same index are a KeyError.
        """
        parts: dict[str, list[Any]] = {}
        for resolver in self._cluster_resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                parts.setdefault(job, []).append(tasks)
        return ClusterSpec({job: _merged(job, tasks) for job, tasks in parts.items()})

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The first resolver's; with a task, that task.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          rpc_layer: The protocol that the target begins with; the resolver's if None.

        Returns:
          The target.
        """
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return target(address, rpc_layer or self._given["rpc_layer"])
        return self._cluster_resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: ConfigProto | None = None,
    ) -> dict[str, int]:
        return self._cluster_resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> str | None:
        return self._cluster_resolvers[0].environment

    @property
    def task_type(self) -> str | None:
        return self._given["task_type"] or self._cluster_resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._given["task_type"] = task_type

    @property
    def task_id(self) -> int | None:
        given = self._given["task_id"]
        return self._cluster_resolvers[0].task_id if given is None else given

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._given["task_id"] = task_id

    @property
    def rpc_layer(self) -> str | None:
        return self._given["rpc_layer"] or self._cluster_resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._given["rpc_layer"] = rpc_layer


def _merged(job: str, parts: list[Any]) -> Any:
    if all(isinstance(tasks, list) for tasks in parts):
        return [address for tasks in parts for address in tasks]
    merged: dict[int, str] = {}
    for tasks in parts:
        by_index = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
        twice = sorted(merged.keys() & by_index.keys())
        if twice:
            raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {job} {twice}")
        merged.update(by_index)
    return merged


@export(f"{_PUBLIC}.SlurmClusterResolver")
class SlurmClusterResolver(ClusterResolver):
    """The nodes of a Slurm allocation: `jobs` says how many tasks each job has; nodes are filled in order.

    With `auto_set_gpu`, CUDA_VISIBLE_DEVICES becomes the GPUs of this task.

    Args:
      jobs: The number of tasks by job, together as many as the allocation has.
      port_base: The port of the first task of a node; the next task has the next port.
      gpus_per_node: The number of GPUs of a node.
      gpus_per_task: The number of GPUs of a task.
      tasks_per_node: The number of tasks on a node; SLURM_NTASKS_PER_NODE if None.
      auto_set_gpu: Whether CUDA_VISIBLE_DEVICES is set.
      rpc_layer: The protocol that a target begins with; none if None.

    Raises:
      RuntimeError: If the tasks need more GPUs than a node has, or are not as many as the allocation's.
    """

    def __init__(
        self,
        jobs: dict[str, int],
        port_base: int = 8888,
        gpus_per_node: int = 1,
        gpus_per_task: int = 1,
        tasks_per_node: int | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str | None = "grpc",
    ):
        rank, count = (
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
            if "OMPI_COMM_WORLD_RANK" in os.environ
            else ("SLURM_PROCID", "SLURM_NTASKS")
        )
        self._rank = int(os.environ[rank])
        self._jobs = dict(sorted(jobs.items()))
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError(
                f"Requested more GPUs per node then available: {tasks_per_node} tasks of {gpus_per_task} on "
                f"nodes of {gpus_per_node}."
            )
        if sum(jobs.values()) != int(os.environ[count]):
            raise RuntimeError(
                f"Requested more tasks then assigned tasks: {jobs}, and {count} is {os.environ[count]}."
            )
        self._port_base, self._tasks_per_node = port_base, tasks_per_node
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        self.task_type, self.task_id, self.rpc_layer = None, None, rpc_layer

    def _resolve_hostnames(self) -> list[str]:
        """The nodes of the allocation, by Slurm's own command."""
        return subprocess.check_output(["scontrol", "show", "hostname"]).decode().split()

    def cluster_spec(self) -> ClusterSpec:
        """Asks Slurm for the nodes; this also sets `task_type` and `task_id`."""
        places = range(self._tasks_per_node)
        hosts = self._resolve_hostnames()
        addresses = [f"{host}:{self._port_base + place}" for host in hosts for place in places]
        cluster, begin = {}, 0
        for job, count in self._jobs.items():
            cluster[job] = addresses[begin : begin + count]
            if begin <= self._rank < begin + count:
                self.task_type, self.task_id = job, self._rank - begin
            begin += count
        if self._auto_set_gpu:
            first = self._rank % self._tasks_per_node * self._gpus_per_task
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(
                str(gpu) for gpu in range(first, first + self._gpus_per_task)
            )
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The job and index of this task, known once `cluster_spec` was called."""
        return self.task_type, self.task_id

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        return self._task_target(task_type, task_id, rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: ConfigProto | None = None,
    ) -> dict[str, int]:
        """The number that the resolver was made with.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          config_proto: The configuration of the session that asks.

        Returns:
          The numbers by type of device.
        """
        return {"GPU": self._gpus_per_node}


@export(f"{_PUBLIC}.KubernetesClusterResolver")
class KubernetesClusterResolver(ClusterResolver):
    """The running pods of Kubernetes that have a job's labels, by name.

    Args:
      job_to_label_mapping: The label selectors of each job's pods; `job-name=tensorflow` for the job "worker"
        if None.
      tf_server_port: The port of the servers.
      rpc_layer: The protocol that a target begins with; none if None.
      override_client: The Kubernetes client to ask; one of the local configuration if None.

    Raises:
      ImportError: If there is no client and Kubernetes' package is not installed.
    """

    def __init__(
        self,
        job_to_label_mapping: dict[str, list[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
    ):
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self._override_client = override_client
        self.task_type, self.task_id, self.rpc_layer = None, None, rpc_layer
        if override_client is None:
            self._client()

    def _client(self) -> Any:
        if self._override_client is not None:
            return self._override_client
        try:
            from kubernetes import client, config  # loaded when asked for
        except ImportError:
            raise ImportError(
                "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver "
                "(`pip install kubernetes`), or a client given as `override_client`."
            ) from None
        config.load_kube_config()
        return client.CoreV1Api()

    def cluster_spec(self) -> ClusterSpec:
        client = self._client()
        return ClusterSpec(
            {
                job: [address for label in labels for address in self._addresses(client, label)]
                for job, labels in self._labels.items()
            }
        )

    def _addresses(self, client: Any, label: str) -> list[str]:
        pods = client.list_pod_for_all_namespaces(label_selector=label).items
        for pod in pods:
            if pod.status.phase != "Running":
                raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
        return [f"{p.status.host_ip}:{self._port}" for p in sorted(pods, key=lambda p: p.metadata.name)]

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        return self._task_target(task_type, task_id, rpc_layer)


@export(f"{_PUBLIC}.GCEClusterResolver")
class GCEClusterResolver(ClusterResolver):
    """The running instances of an instance group of Google Compute Engine, as one job.

    Args:
      project: The project.
      zone: The zone of the instance group.
      instance_group: The name of the instance group.
      port: The port of the servers.
      task_type: The job that the instances are.
      task_id: The index of this task in its job.
      rpc_layer: The protocol that a target begins with; none if None.
      credentials: The credentials; `"default"` takes those of the environment.
      service: The Compute Engine service to ask; a new one for the credentials if None.

    Raises:
      ImportError: If there is no service and Google's packages are not installed.
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int | None = 0,
        rpc_layer: str | None = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ):
        self._project, self._zone, self._group, self._port = project, zone, instance_group, port
        self._task_type = task_type
        self.task_id, self.rpc_layer = task_id, rpc_layer
        self._service = google_service("compute", "GCE", credentials) if service is None else service

    @property
    def task_type(self) -> str:
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError(
            "You cannot reset the task_type of the GCEClusterResolver after it has been created."
        )

    def cluster_spec(self) -> ClusterSpec:
        groups, addresses = self._service.instanceGroups(), []
        request = groups.listInstances(
            project=self._project,
            zone=self._zone,
            instanceGroups=self._group,
            body={"instanceState": "RUNNING"},
            orderBy="name",
        )
        while request is not None:
            response = request.execute()
            addresses += [self._address(item["instance"].split("/")[-1]) for item in response["items"]]
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type: sorted(addresses)})

    def _address(self, instance: str) -> str:
        asked = self._service.instances().get(project=self._project, zone=self._zone, instance=instance)
        return f"{asked.execute()['networkInterfaces'][0]['networkIP']}:{self._port}"

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        return self._task_target(task_type, task_id, rpc_layer)


def google_service(name: str, title: str, credentials: Any, url: str | None = None) -> Any:
    """The service of Google's cloud that describes itself under a name."""
    try:
        from googleapiclient import discovery  # loaded when asked for
    except ImportError:
        raise ImportError(
            f"googleapiclient must be installed before using the {title} cluster resolver"
        ) from None
    if credentials == "default":
        from oauth2client.client import GoogleCredentials  # loaded when asked for

        credentials = GoogleCredentials.get_application_default()
    described = {"discoveryServiceUrl": url} if url else {}
    return discovery.build(name, "v1", credentials=credentials, **described)
