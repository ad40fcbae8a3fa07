"""The devices of this process, by TensorFlow's names.

A device has a name, a memory limit and a torch device: torch runs the kernels, allocates and copies. The
types CPU, GPU (CUDA), XPU and MPS are registered here; `register_device_type` adds others. No other module
depends on which types there are.
"""

from __future__ import annotations

import functools
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from tideflow.graph.memory import physical_memory

_log = logging.getLogger("tideflow")

CPU = torch.device("cpu")
LOCAL_TASK = "/job:localhost/replica:0/task:0"


@dataclass(frozen=True)
class Device:
    """A device that a step can run on: its full name and its torch device."""

    name: str
    device_type: str
    index: int
    torch_device: torch.device
    memory_limit_bytes: int
    incarnation: int = 0  # a random number of the task's process: it differs after a restart
    description: str = ""  # describes the hardware

    @property
    def task(self) -> str:
        """The process it belongs to: "/job:worker/replica:0/task:1"."""
        return self.name.rpartition("/")[0]

    def __repr__(self) -> str:
        limits = f"{self.memory_limit_bytes}, {self.incarnation}"
        return f"_DeviceAttributes({self.name}, {self.device_type}, {limits})"


def renamed(devices: Iterable[Device], task: str) -> tuple[Device, ...]:
    """The devices of a task, under another name for the task."""
    return tuple(replace(device, name=f"{task}{device.name[len(device.task) :]}") for device in devices)


@dataclass
class PlacementMemory:
    """What placement keeps from one step of a session to the next."""

    kept: dict[str, Device] = field(default_factory=dict)  # the devices of state, by the name of its op
    logged: set[str] = field(default_factory=set)  # the operations whose device was logged
    placed: Any = None  # the graph as it was last placed


@dataclass(frozen=True)
class Placement:
    """The devices for placement, and whether it ignores constraints that cannot be met (`soft`)."""

    devices: tuple[Device, ...]
    soft: bool = False
    log: bool = False
    memory: PlacementMemory = field(default_factory=PlacementMemory, compare=False, repr=False)

    @property
    def has_accelerator(self) -> bool:
        """Whether there is anything but CPUs."""
        return any(device.device_type != "CPU" for device in self.devices)


# ----------------------------------------------------------------------------------------------- device types


def _no_description(index: int) -> str:
    return ""


@dataclass(frozen=True)
class DeviceType:
    """A type of device: its name in graphs, torch's name for it, the number of devices and their memory."""

    name: str
    torch_type: str
    count: Callable[[], int]
    memory: Callable[[int], int]  # bytes, by index
    limit: Callable[[int, int], None] | None  # limits this process to so many bytes, by index
    describe: Callable[[int], str]
    priority: int  # an op that could run on several devices runs on that of the highest priority


_types: dict[str, DeviceType] = {}


def register_device_type(
    name: str,
    torch_type: str,
    *,
    count: Callable[[], int],
    memory: Callable[[int], int],
    limit: Callable[[int, int], None] | None = None,
    describe: Callable[[int], str] = _no_description,
    priority: int = 50,
) -> DeviceType:
    """Registers a type of device.

    Args:
      name: The name in graphs: `/device:NAME:0`.
      torch_type: torch's name: `torch_type:0`.
      count: Returns the number of devices.
      memory: Returns the memory of a device in bytes, by index.
      limit: Limits this process to so many bytes of the device with an index; None if torch cannot do that.
      describe: Returns a description of the hardware, by index.
      priority: An op that could run on several devices runs on that of the highest priority. CPUs have 0: a
        type below that is used only if the program requests it.

    Returns:
      The type.

    Raises:
      ValueError: If the name is taken or not an identifier, or if torch does not know the type.
    """
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot be a device type: letters, digits and underscores make a name.")
    if name in _types:
        known = _types[name].torch_type
        raise ValueError(f"The device type {name!r} is registered already, as torch's {known!r}.")
    try:
        torch.device(torch_type)
    except RuntimeError as error:
        raise ValueError(f"torch has no device type {torch_type!r}: {error}") from None
    _types[name] = DeviceType(name, torch_type, count, memory, limit, describe, priority)
    return _types[name]


def unregister_device_type(name: str) -> None:
    """Removes a type of device."""
    del _types[name]


def device_type(name: str) -> DeviceType | None:
    """The type of this name; None if only other tasks have such devices."""
    return _types.get(name)


_is_forked = False  # whether this process is a forked child


def _after_fork() -> None:
    global _is_forked
    _is_forked = True
    _can_begin.cache_clear()


os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def _can_begin(module: Any) -> bool:
    """Whether a forked child can use devices: not those that its parent has begun to use."""
    try:
        getattr(module, "init", bool)()
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        _log.warning("This forked process computes without GPUs, which its parent has used: %s", reason)
        return False
    return True


def register_torch_module(name: str, torch_type: str, priority: int = 100) -> DeviceType:
    """Registers a type of device with a torch module of the usual form: `torch.cuda`, `torch.xpu`."""
    module = torch.get_device_module(torch_type)

    def total(index: int) -> int:
        return int(module.get_device_properties(index).total_memory)

    def limit(index: int, size: int) -> None:
        module.set_per_process_memory_fraction(min(1.0, size / total(index)), index)

    def describe(index: int) -> str:
        known = module.get_device_properties(index)
        text = f"device: {index}, name: {known.name}"
        capability = getattr(known, "major", None)
        return text if capability is None else f"{text}, compute capability: {capability}.{known.minor}"

    def count() -> int:
        if not module.is_available() or _is_forked and not _can_begin(module):
            return 0
        return int(module.device_count())

    return register_device_type(
        name, torch_type, count=count, memory=total, limit=limit, describe=describe, priority=priority
    )


register_device_type("CPU", "cpu", count=lambda: 1, memory=lambda index: physical_memory(), priority=0)
register_torch_module("GPU", "cuda", priority=200)
register_torch_module("XPU", "xpu")
register_device_type(
    "MPS",
    "mps",
    count=lambda: int(torch.backends.mps.is_available()),
    memory=lambda index: torch.mps.recommended_max_memory(),
    limit=lambda index, size: torch.mps.set_per_process_memory_fraction(
        min(2.0, size / torch.mps.recommended_max_memory())
    ),
    priority=100,
)

# ------------------------------------------------------------------------------------ this process's devices


@dataclass(frozen=True)
class Choice:
    """Which devices of its machine a process uses.

    `counts` is the number of CPU devices, and the largest number of each other type. `visible` has the
    indices of the devices of a type, in the order of their new numbers. `parts` divides a device, by type and
    index, into several: each entry is the memory of one in bytes, or None for all of it. `fraction` is the
    part of an accelerator's memory that the process may use; 0 means all of it.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    visible: Mapping[str, Sequence[int]] = field(default_factory=dict)
    parts: Mapping[tuple[str, int], Sequence[int | None]] = field(default_factory=dict)
    fraction: float = 0.0
    accelerators: bool = True


EVERYTHING = Choice()
ONE_CPU = Choice(accelerators=False)
_incarnations: dict[str, int] = {}


def local_devices(choice: Choice = EVERYTHING, task: str = LOCAL_TASK) -> tuple[Device, ...]:
    """The devices of this process: CPUs (several on request) and the accelerators that torch sees."""
    return tuple(device for kind in _types.values() for device in _devices_of(kind, choice, task))


def _devices_of(kind: DeviceType, choice: Choice, task: str) -> Iterator[Device]:
    for index, (physical, limit) in enumerate(_parts_of(kind, choice)):
        name = f"{task}/device:{kind.name}:{index}"
        incarnation = _incarnations.setdefault(name, secrets.randbits(64) or 1)
        where = CPU if kind.torch_type == "cpu" else torch.device(kind.torch_type, physical)
        yield Device(name, kind.name, index, where, limit, incarnation, kind.describe(physical))


def _parts_of(kind: DeviceType, choice: Choice) -> Iterator[tuple[int, int]]:
    """For each device of a type, in order: the index of the machine's device and the memory in bytes."""
    if kind.name == "CPU":
        parts = choice.parts.get(("CPU", 0)) or [None] * max(1, choice.counts.get("CPU", 1))
        yield from ((0, limit or kind.memory(0)) for limit in parts)
        return
    if not choice.accelerators or choice.counts.get(kind.name) == 0:
        return
    used = choice.visible.get(kind.name, range(kind.count()))
    for physical in list(used)[: choice.counts.get(kind.name)]:
        for limit in choice.parts.get((kind.name, physical)) or [None]:
            yield physical, limit or int(kind.memory(physical) * (choice.fraction or 1.0))


def keep_to_limits(devices: Sequence[Device]) -> None:
    """Makes torch refuse to allocate more memory of an accelerator than the limits of its devices allow."""
    allowed: dict[tuple[str, int], int] = {}
    for device in devices:
        key = device.device_type, device.torch_device.index or 0
        allowed[key] = allowed.get(key, 0) + device.memory_limit_bytes
    for (name, index), size in allowed.items():
        kind = _types[name]
        if kind.limit is not None and size < kind.memory(index):
            kind.limit(index, size)
