"""Where the chips of a TPU system stand: what programs that lay out a mesh of devices compute with."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.graph.own_protos import make_messages

TopologyProto = make_messages(
    "tpu_topology",
    {
        "TopologyProto": {
            "mesh_shape": "repeated int32",
            "num_tasks": "int32",
            "num_tpu_devices_per_task": "int32",
            "device_coordinates": "repeated int32",
        }
    },
)["TopologyProto"]


class Topology:
    """A mesh of devices, and which device of which task stands at which of its coordinates.

    Args:
      serialized: A TopologyProto, as bytes; instead of the other arguments.
      mesh_shape: The sizes of the mesh.
      device_coordinates: Integers `[tasks, devices of a task, rank of the mesh]`.

    Raises:
      ValueError: If shapes and coordinates do not fit each other.
    """

    def __init__(
        self, serialized: bytes | None = None, mesh_shape: Any = None, device_coordinates: Any = None
    ):
        if serialized:
            message = TopologyProto()
            message.ParseFromString(serialized)
            mesh_shape = message.mesh_shape
            sizes = (message.num_tasks, message.num_tpu_devices_per_task, len(mesh_shape))
            device_coordinates = np.reshape(np.array(message.device_coordinates, np.int32), sizes)
        self._mesh_shape = np.asarray(mesh_shape, dtype=np.int32)
        if len(self._mesh_shape) < 1 or any(self._mesh_shape < 1):
            raise ValueError(f"`mesh_shape` must be a sequence of positive entries; got {mesh_shape}.")
        self._device_coordinates = np.asarray(device_coordinates, dtype=np.int32)
        shape = self._device_coordinates.shape
        if len(shape) != 3 or shape[2] != len(self._mesh_shape):
            raise ValueError(
                "`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the mesh "
                f"shape rank; got the shape {shape} for a mesh of rank {len(self._mesh_shape)}."
            )
        self._tasks = np.full(self._mesh_shape, -1, np.int32)
        self._devices = np.full(self._mesh_shape, -1, np.int32)
        for task, devices in enumerate(self._device_coordinates):
            for device, place in enumerate(devices):
                self._tasks[tuple(place)], self._devices[tuple(place)] = task, device

    @property
    def mesh_shape(self) -> np.ndarray:
        """The sizes of the mesh."""
        return self._mesh_shape

    @property
    def mesh_rank(self) -> int:
        """How many dimensions the mesh has."""
        return len(self._mesh_shape)

    @property
    def device_coordinates(self) -> np.ndarray:
        """Where each device of each task stands."""
        return self._device_coordinates

    @property
    def num_tasks(self) -> int:
        """How many tasks there are."""
        return self._device_coordinates.shape[0]

    @property
    def num_tpus_per_task(self) -> int:
        """How many devices a task has."""
        return self._device_coordinates.shape[1]

    def task_ordinal_at_coordinates(self, device_coordinates: Any) -> int:
        """The task whose device stands there.

        Args:
          device_coordinates: Coordinates in the mesh.

        Returns:
          The number of the task.
        """
        return self._tasks[tuple(device_coordinates)]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates: Any) -> int:
        """Which of its task's devices stands there.

        Args:
          device_coordinates: Coordinates in the mesh.

        Returns:
          The number of the device in its task.
        """
        return self._devices[tuple(device_coordinates)]

    def cpu_device_name_at_coordinates(self, device_coordinates: Any, job: str | None = None) -> str:
        """The name of the host of the device that stands there.

        Args:
          device_coordinates: Coordinates in the mesh.
          job: The job of the tasks.

        Returns:
          The name of the host's CPU.
        """
        return f"{_task(self.task_ordinal_at_coordinates(device_coordinates), job)}/device:CPU:0"

    def tpu_device_name_at_coordinates(self, device_coordinates: Any, job: str | None = None) -> str:
        """The name of the device that stands there.

        Args:
          device_coordinates: Coordinates in the mesh.
          job: The job of the tasks.

        Returns:
          The name of the device.
        """
        device = self.tpu_device_ordinal_at_coordinates(device_coordinates)
        return f"{_task(self.task_ordinal_at_coordinates(device_coordinates), job)}/device:TPU:{device}"

    def serialized(self) -> bytes:
        """The TopologyProto, as bytes."""
        message = TopologyProto(num_tasks=self.num_tasks, num_tpu_devices_per_task=self.num_tpus_per_task)
        message.mesh_shape.extend(self._mesh_shape.tolist())
        message.device_coordinates.extend(self._device_coordinates.flatten().tolist())
        return message.SerializeToString()


def _task(task: int, job: str | None) -> str:
    return f"/task:{task}" if job is None else f"/job:{job}/task:{task}"
