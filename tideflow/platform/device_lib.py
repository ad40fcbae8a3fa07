"""`tensorflow.python.client.device_lib`: the devices of this machine, described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tideflow.session.config import devices_for


@dataclass(frozen=True)
class DeviceAttributes:
    """A device as TensorFlow's message of this name has it."""

    name: str
    device_type: str
    memory_limit: int
    incarnation: int
    physical_device_desc: str


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The devices that a session with this ConfigProto has."""
    return [
        DeviceAttributes(
            f"/device:{device.device_type}:{device.index}",
            device.device_type,
            device.memory_limit_bytes,
            device.incarnation,
            device.description,
        )
        for device in devices_for(session_config)
    ]
