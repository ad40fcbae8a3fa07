"""`tf.config`: choices for the whole process: devices, threads, placement, rewrites.

They hold for the sessions made after them. What concerns eager execution only is not here.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import torch

from tideflow.export import export
from tideflow.runtime.devices import Device, local_devices
from tideflow.runtime.settings import settings

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = namedtuple("LogicalDevice", ["name", "device_type"])

# --------------------------------------------------------------------------------------------------- devices


def _physical(device: Device) -> PhysicalDevice:
    return PhysicalDevice(f"/physical_device:{device.device_type}:{device.index}", device.device_type)


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine that can be used, of one type or of all."""
    found = map(_physical, local_devices())
    return [device for device in found if device_type in (None, device.device_type)]


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that sessions may use."""
    return [
        device
        for device in list_physical_devices(device_type)
        if device.device_type != "GPU"
        or settings.visible_gpus is None
        or _index(device) in settings.visible_gpus
    ]


@export("config.experimental.set_visible_devices")
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Only these devices may be used; with a type, only these of that type. The CPU can always be used."""
    chosen = (
        devices
        if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice)
        else [devices]
    )
    known = list_physical_devices()
    for device in chosen:
        if device not in known:
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r} is not a {device_type}")
    if device_type in (None, "GPU"):
        settings.visible_gpus = frozenset(_index(d) for d in chosen if d.device_type == "GPU")


def _index(device: PhysicalDevice) -> int:
    return int(device.name.rpartition(":")[2])


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices as graphs name them."""
    visible = get_visible_devices(device_type)
    return [LogicalDevice(d.name, d.device_type) for d in local_devices() if _physical(d) in visible]


@export("config.experimental_list_devices")
def experimental_list_devices() -> list[str]:
    """The names of the devices that can be used."""
    return [device.name for device in list_logical_devices()]


def _memory_growth_device(device: PhysicalDevice) -> PhysicalDevice:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    return device


@export("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool:
    """True: memory of a GPU is taken when it is needed."""
    _memory_growth_device(device)
    return True


@export("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Nothing changes: memory of a GPU is taken when it is needed, never all of it in advance."""
    _memory_growth_device(device)


# ------------------------------------------------------------------------------------- placement and threads


@export("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether an op that cannot run where it was asked to may run elsewhere."""
    return settings.soft_placement


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Lets an op that cannot run where it was asked to run elsewhere, in all sessions to come."""
    settings.soft_placement = enabled


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether sessions say where they put each op."""
    return settings.log_placement


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Makes all sessions to come say where they put each op."""
    settings.log_placement = enabled


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """How many threads one op may use; 0 is as many as there are cores."""
    return settings.intra_op_threads


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """How many threads one op may use, from now on; 0 leaves it as it is."""
    settings.intra_op_threads = num_threads
    if num_threads > 0:
        torch.set_num_threads(num_threads)


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """How many ops of a step may run at once, as it was asked for."""
    return settings.inter_op_threads


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """How many ops of a step may run at once at most. A compiled step runs them one after the other."""
    settings.inter_op_threads = num_threads


# ---------------------------------------------------------------------------------------------- optimization

# TensorFlow's options and the rewrites that they switch.
_REWRITES = {"constant_folding": ("fold",)}
_OPTIONS = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "disable_model_pruning",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
    "disable_meta_optimizer",
    "min_graph_nodes",
)


@export("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Any]:
    """The options that were set, and the two that always stand."""
    return {"disable_model_pruning": False, "disable_meta_optimizer": False, **settings.optimizer_options}


@export("config.optimizer.set_experimental_options")
def set_experimental_options(options: dict[str, Any]) -> None:
    """Sets options by name. `disable_meta_optimizer` turns all rewrites off, `constant_folding=False` that
    one.
    """
    settings.optimizer_options.update({key: value for key, value in options.items() if key in _OPTIONS})
    off = [
        rule
        for key, rules in _REWRITES.items()
        if settings.optimizer_options.get(key) is False
        for rule in rules
    ]
    settings.rewrites_off = frozenset(
        ["*"] if settings.optimizer_options.get("disable_meta_optimizer") else off
    )


@export("config.optimizer.get_jit")
def get_jit() -> bool:
    """Whether compilation was asked for."""
    return settings.jit


@export("config.optimizer.set_jit")
def set_jit(enabled: bool) -> None:
    """A hint, kept and not needed: every step is compiled as a whole."""
    settings.jit = enabled
