"""`tf.config`: choices for the whole process: devices, threads, placement, rewrites.

They hold for the sessions made after them. What concerns eager execution alone is kept, and changes nothing.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tideflow.export import export
from tideflow.runtime.devices import Device, local_devices
from tideflow.runtime.gpu_math import set_tensor_float_32, tensor_float_32
from tideflow.runtime.kernel_threads import limit_threads
from tideflow.runtime.settings import settings
from tideflow.session.config import devices_for

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = namedtuple("LogicalDevice", ["name", "device_type"])
_MEGABYTE = 2**20

# --------------------------------------------------------------------------------------------------- devices


def _physical(device: Device) -> PhysicalDevice:
    return PhysicalDevice(f"/physical_device:{device.device_type}:{device.index}", device.device_type)


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the devices of the machine.

    Args:
      device_type: The type, such as `"CPU"` or `"GPU"`; all if None.

    Returns:
      A list of PhysicalDevice objects.
    """
    found = map(_physical, local_devices())
    return [device for device in found if device_type in (None, device.device_type)]


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the devices that sessions may use.

    Args:
      device_type: The type, such as `"CPU"` or `"GPU"`; all if None.

    Returns:
      A list of PhysicalDevice objects.
    """
    chosen = settings.visible_devices
    return [
        device
        for device in list_physical_devices(device_type)
        if device.device_type not in chosen or _index(device) in chosen[device.device_type]
    ]


@export("config.experimental.set_visible_devices")
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Sets the devices that later sessions may use. The CPU can always be used.

    Args:
      devices: The devices.
      device_type: If given, only devices of this type are affected.

    Raises:
      ValueError: If a device is unknown or of another type.
    """
    chosen = (
        devices
        if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice)
        else [devices]
    )
    for device in chosen:
        _check_known(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r} is not a {device_type}")
    types = {d.device_type for d in list_physical_devices()} if device_type is None else {device_type}
    for kind in types - {"CPU"}:
        settings.visible_devices[kind] = [_index(d) for d in chosen if d.device_type == kind]


def _index(device: PhysicalDevice) -> int:
    return int(device.name.rpartition(":")[2])


def _check_known(device: Any) -> PhysicalDevice:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Lists the devices as graphs name them.

    Args:
      device_type: The type, such as `"CPU"` or `"GPU"`; all if None.

    Returns:
      A list of LogicalDevice objects.
    """
    found = [LogicalDevice(device.name, device.device_type) for device in devices_for(None)]
    return [device for device in found if device_type in (None, device.device_type)]


@export("config.experimental_list_devices")
def experimental_list_devices() -> list[str]:
    """Lists the names of the devices.

    Returns:
      The names.
    """
    return [device.name for device in list_logical_devices()]


@export("config.experimental.VirtualDeviceConfiguration")
class VirtualDeviceConfiguration(namedtuple("VirtualDeviceConfiguration", ["memory_limit"])):
    """The configuration of a virtual device.

    Args:
      memory_limit: Its memory in megabytes; all of the device's if None.
    """

    __slots__ = ()

    def __new__(cls, memory_limit: int | None = None) -> VirtualDeviceConfiguration:
        return super().__new__(cls, memory_limit)


@export("config.experimental.get_virtual_device_configuration")
def get_virtual_device_configuration(device: PhysicalDevice) -> list[VirtualDeviceConfiguration] | None:
    """Gets the virtual devices of a device.

    Args:
      device: The device.

    Returns:
      A list of VirtualDeviceConfiguration objects, or None.

    Raises:
      ValueError: If the device is unknown.
    """
    _check_known(device)
    limits = settings.virtual_devices.get((device.device_type, _index(device)))
    if limits is None:
        return None
    return [VirtualDeviceConfiguration(limit and limit // _MEGABYTE) for limit in limits]


@export("config.experimental.set_virtual_device_configuration")
def set_virtual_device_configuration(
    device: PhysicalDevice, virtual_devices: list[VirtualDeviceConfiguration]
) -> None:
    """Divides a device into virtual devices, for later sessions.

    Args:
      device: The device.
      virtual_devices: The configurations of the virtual devices.

    Raises:
      ValueError: If the device is unknown, or a configuration is not valid.
    """
    _check_known(device)
    limits = [
        None if part.memory_limit is None else part.memory_limit * _MEGABYTE for part in virtual_devices
    ]
    if device.device_type == "CPU" and any(limit is not None for limit in limits):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if not limits:
        raise ValueError(f"{device.name} must stand for one device at least; no configuration was given.")
    settings.virtual_devices[device.device_type, _index(device)] = limits


def _memory_growth_device(device: PhysicalDevice) -> PhysicalDevice:
    if _check_known(device).device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    return device


@export("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether the memory of a GPU is allocated as it is needed: True.

    Args:
      device: The device.

    Returns:
      True.

    Raises:
      ValueError: If the device is unknown.
    """
    _memory_growth_device(device)
    return True


@export("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Does nothing: the memory of a GPU is always allocated as it is needed.

    Args:
      device: The device.
      enable: Ignored.

    Raises:
      ValueError: If the device is unknown.
    """
    _memory_growth_device(device)


_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


@export("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """The policy of eager execution for inputs on other devices, which has no effect on graphs."""
    return settings.device_policy


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Sets the policy of eager execution for inputs on other devices, which has no effect on graphs.

    Args:
      device_policy: `"silent"`, `"silent_for_int32"`, `"warn"`, `"explicit"`, or None for `"silent"`.

    Raises:
      ValueError: If the policy is unknown.
    """
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(
            f"Not a valid device policy: {device_policy!r}. The policies are {', '.join(_POLICIES)}."
        )
    settings.device_policy = policy


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Whether eager execution waits for each operation, which has no effect on graphs."""
    return settings.synchronous


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool) -> None:
    """Sets whether eager execution waits for each operation, which has no effect on graphs.

    Args:
      enable: Whether it waits.
    """
    settings.synchronous = bool(enable)


# ------------------------------------------------------------------------------------- placement and threads


@export("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether an operation may run on another device if it cannot run on the requested one."""
    return settings.soft_placement


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Sets whether an operation may run on another device if it cannot run on the requested one.

    Args:
      enabled: Whether it may, in later sessions.
    """
    settings.soft_placement = enabled


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether sessions log the device of each operation."""
    return settings.log_placement


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Sets whether sessions log the device of each operation.

    Args:
      enabled: Whether later sessions do.
    """
    settings.log_placement = enabled


@export("config.experimental.tensor_float_32_execution_enabled")
def tensor_float_32_execution_enabled() -> bool:
    """Whether GPUs may round the inputs of float32 matrix products and convolutions to TF32."""
    return tensor_float_32()


@export("config.experimental.enable_tensor_float_32_execution")
def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Sets whether GPUs round the inputs of float32 matrix products and convolutions to TF32.

    TF32 has the range of float32 and mantissas of 10 bits, and is many times faster. The default is True.

    Args:
      enabled: Whether they do.
    """
    set_tensor_float_32(enabled)


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """The number of threads of one operation; 0 means one for each core."""
    return settings.intra_op_threads


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads of one operation.

    Args:
      num_threads: The number; 0 does not change it.
    """
    settings.intra_op_threads = num_threads
    if num_threads > 0:
        limit_threads(num_threads)


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """The number of operations that may run at the same time, as it was set."""
    return settings.inter_op_threads


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of operations that may run at the same time.

    A compiled step runs them one after the other.

    Args:
      num_threads: The number.
    """
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
    "auto_mixed_precision_onednn_bfloat16",
    "auto_mixed_precision_mkl",
    "auto_mixed_precision_cpu",
    "disable_meta_optimizer",
    "min_graph_nodes",
)


@export("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Any]:
    """The options of the graph optimizer.

    Returns:
      The values by name.
    """
    return {"disable_model_pruning": False, "disable_meta_optimizer": False, **settings.optimizer_options}


@export("config.optimizer.set_experimental_options")
def set_experimental_options(options: dict[str, Any]) -> None:
    """Sets options of the graph optimizer.

    Args:
      options: The values by name. `disable_meta_optimizer` switches all rewrites off,
        `constant_folding=False` that one. `auto_mixed_precision` lets GPUs compute in float16 where that is
        safe, `auto_mixed_precision_onednn_bfloat16` GPUs and CPUs in bfloat16, and `auto_mixed_precision_cpu`
        CPUs in float16, which is slow, to try out what it does to a model. They hold for sessions that are
        made afterwards.
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
    """Whether just-in-time compilation was requested."""
    return settings.jit


@export("config.optimizer.set_jit")
def set_jit(enabled: bool) -> None:
    """Requests just-in-time compilation. It has no effect: every step is compiled.

    Args:
      enabled: Whether it is requested.
    """
    settings.jit = enabled
