"""Names that tests take from `tensorflow.python.client.session`, beside the public ones."""

from __future__ import annotations

import torch

from tideflow.graph.device import canonical_name
from tideflow.runtime.devices import Device


def _DeviceAttributes(name: str, device_type: str, memory_limit_bytes: int, incarnation: int) -> Device:
    """A device by the name that it has in full, however it is written."""
    return Device(canonical_name(name), device_type, 0, torch.device("cpu"), memory_limit_bytes, incarnation)
