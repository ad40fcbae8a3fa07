"""`tensorflow.python.client.device_lib`: the devices of this machine, described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from tideflow.runtime.devices import Device, local_devices


@dataclass(frozen=True)
class DeviceAttributes:
    """A device as TensorFlow's message of this name has it."""

    name: str
    device_type: str
    memory_limit: int
    incarnation: int
    physical_device_desc: str


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The CPU and the GPUs."""
    return [
        DeviceAttributes(
            f"/device:{device.device_type}:{device.index}",
            device.device_type,
            device.memory_limit_bytes,
            device.incarnation,
            _description(device),
        )
        for device in local_devices()
    ]


def _description(device: Device) -> str:
    if device.device_type != "GPU":
        return ""
    known = torch.cuda.get_device_properties(device.index)
    return f"device: {device.index}, name: {known.name}, compute capability: {known.major}.{known.minor}"
