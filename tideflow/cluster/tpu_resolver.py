"""`TPUClusterResolver`, which programs for TPUs make wherever they run: from addresses, or from a TPU's name.

Without a TPU such programs name none (""), and the resolver says so: no cluster, and an empty target.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.resolvers import ClusterResolver, google_service, target
from tideflow.export import export
from tideflow.graph.scopes import executing_eagerly

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

_GRPC = "grpc://"


@export("distribute.cluster_resolver.TPUClusterResolver", "contrib.cluster_resolver.TPUClusterResolver")
class TPUClusterResolver(ClusterResolver):
    """The workers of a TPU, as one job, and a coordinator beside them.

    Args:
      tpu: An address `grpc://host:port`, or several; "" or `"local"` for none, or the name
        of a TPU, for which Google's service is asked; by default what KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS or
        TPU_NAME says.
      zone: The zone of a TPU that is named.
      project: The project of a TPU that is named.
      job_name: The job that the workers are.
      coordinator_name: The job of the coordinator.
      coordinator_address: The address of the coordinator.
      credentials: The credentials for the service; `"default"` takes those of the environment.
      service: The service to ask; a new one for the credentials if None.
      discovery_url: Where the service describes itself.

    Raises:
      ValueError: If neither `tpu` nor the environment says which TPU, or where a TPU that is named stands.
      ImportError: If a name is given, but no service, and Google's packages are not installed.
    """

    def __init__(
        self,
        tpu: str | bytes | list[str] | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ):
        tpu = _given(tpu)
        self.task_type, self.task_id = job_name, 0
        self._is_local = tpu in ("", "local") or tpu.startswith(("localhost:", "/bns", "uptc://"))
        self._is_named = not self._is_local and not tpu.startswith(_GRPC)
        self.rpc_layer = None if self._is_local else "grpc"
        self._tpu = tpu.removeprefix(_GRPC)
        self._coordinator = {coordinator_name: [coordinator_address]} if coordinator_address else {}
        self._service = service
        if self._is_named:
            url = os.environ.get("TPU_API_DISCOVERY_URL") or discovery_url
            self._service = service or google_service("tpu", "TPU", credentials, url)
            if not (project and zone):
                raise ValueError(f"The TPU '{tpu}' is looked up by its name: give its project and zone, too.")
        self._full_name = f"projects/{project}/locations/{zone}/nodes/{tpu}"

    def cluster_spec(self) -> ClusterSpec | None:  # type: ignore[override]  # as TensorFlow's own
        """The workers, and the coordinator if there is one; None where there is no TPU."""
        if self._is_local and not executing_eagerly():
            return None
        workers = self._workers() if self._is_named else self._addresses()
        return ClusterSpec({self.task_type: workers, **self._coordinator})

    def _addresses(self) -> list[str]:
        return [address.removeprefix(_GRPC) for address in self._tpu.split(",")]

    def _workers(self) -> list[str]:
        """What Google's service says."""
        try:
            nodes = self._service.projects().locations().nodes()
            found: Mapping[str, Any] = nodes.get(name=self._full_name).execute()
        except Exception as error:
            raise ValueError(
                f"Could not lookup TPU metadata from name '{self._tpu}'. Please doublecheck the tpu argument "
                f"in the TPUClusterResolver constructor. Exception: {error}"
            ) from error
        if found.get("state", "READY") != "READY":
            raise RuntimeError(f'TPU "{self._tpu}" is not yet ready; state: "{found["state"]}"')
        return [f"{each['ipAddress']}:{each['port']}" for each in found.get("networkEndpoints", [found])]

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        if self._is_named:
            return self._task_target(task_type, task_id, rpc_layer)
        return target(self._addresses()[0], rpc_layer or self.rpc_layer)

    def get_master(self) -> str:
        """The target of a session on the first worker."""
        return self.master()

    def get_job_name(self) -> str | None:
        """The job of the workers; None where nobody was asked for them."""
        return self.task_type if self._is_named or executing_eagerly() else None

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: ConfigProto | None = None,
    ) -> dict[str, int]:
        """How many TPU cores a worker has.

        Args:
          task_type: The job of the task.
          task_id: The index of the task.
          config_proto: The configuration of the session that asks.

        Returns:
          The number, by the name "TPU".
        """
        return {"TPU": super().num_accelerators(task_type, task_id, config_proto).get("TPU", 0)}

    @property
    def environment(self) -> str:
        """Where this runs: "google" where there is no TPU, as TensorFlow calls it, else ""."""
        return "google" if self._is_local else ""

    def __deepcopy__(self, memo: Any) -> TPUClusterResolver:
        return self  # configurations of estimators are copied, services cannot be


def _given(tpu: str | bytes | list[str] | None) -> str:
    """Which TPU the program, or its environment, names."""
    if isinstance(tpu, list):
        if not tpu:
            raise ValueError("At least one TPU must be specified.")
        tpu = ",".join(tpu)
    if tpu is None:
        tpu = os.environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", os.environ.get("TPU_NAME"))
    if tpu is None:
        raise ValueError(
            "Please provide a TPU Name to connect to. Tideflow itself computes on CPUs and GPUs, not on "
            "TPUs: tf.distribute.MirroredStrategy uses the GPUs of this machine."
        )
    return tpu.decode() if isinstance(tpu, bytes) else tpu
