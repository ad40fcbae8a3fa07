"""The devices of this process, by TensorFlow's names."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

CPU = torch.device("cpu")

# float32 means float32, as TensorFlow 1 had it: no 10-bit mantissas in convolutions.
torch.backends.cudnn.allow_tf32 = False


@dataclass(frozen=True)
class Device:
    """A device a step can run on: its full name and where torch puts its tensors."""

    name: str
    device_type: str
    index: int
    torch_device: torch.device
    memory_limit_bytes: int

    @property
    def incarnation(self) -> int:
        return 1


@dataclass(frozen=True)
class Placement:
    """What placement may choose from, and whether a constraint that cannot be met is waived."""

    devices: tuple[Device, ...]
    soft: bool = False
    log: bool = False

    @property
    def has_gpu(self) -> bool:
        return any(device.device_type == "GPU" for device in self.devices)


def local_devices(
    cpu_count: int = 1, gpu_count: int | None = None, task: str = "/job:localhost/replica:0/task:0"
) -> tuple[Device, ...]:
    """The CPU devices (several on request, for testing) and the GPUs that torch sees."""
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    gpus = found if gpu_count is None else min(found, gpu_count)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cpus = [Device(f"{task}/device:CPU:{i}", "CPU", i, CPU, memory) for i in range(cpu_count)]
    return (
        *cpus,
        *(
            Device(
                f"{task}/device:GPU:{i}",
                "GPU",
                i,
                torch.device("cuda", i),
                torch.cuda.get_device_properties(i).total_memory,
            )
            for i in range(gpus)
        ),
    )
