"""Names of devices, as strategies have them."""

from __future__ import annotations

from tideflow.graph.device import DeviceSpec
from tideflow.graph.scopes import graph_outside
from tideflow.platform.config import list_physical_devices


def canonical(name: str) -> str:
    """The whole name of a device of this task."""
    spec = DeviceSpec.from_string(name)
    return DeviceSpec(
        job=spec.job or ("localhost" if graph_outside().is_eager else None),
        replica=spec.replica or 0,
        task=spec.task or 0,
        device_type=spec.device_type or "CPU",
        device_index=spec.device_index or 0,
    ).to_string()


def local_accelerators() -> list[str]:
    """The GPUs of this process; its CPU where it has none."""
    count = len(list_physical_devices("GPU"))
    return [f"/device:GPU:{i}" for i in range(count)] or ["/device:CPU:0"]
