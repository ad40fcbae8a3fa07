"""`tensorflow.python.distribute.device_util`: names of devices, made complete."""

from __future__ import annotations

from types import SimpleNamespace

import tideflow as tf
from tideflow.programs.inner.graph.graph_names import executing_eagerly_outside_functions


def canonicalize(d: str, default: str | None = None) -> str:
    """The full name of a device; what it does not say is the default's, or the first CPU's.

    Args:
      d: The name, which may say only a part.
      default: The name of another device.

    Returns:
      The name.
    """
    spec = tf.DeviceSpec.from_string(d)
    full = tf.DeviceSpec(replica=0, task=0, device_type="CPU", device_index=0)
    if executing_eagerly_outside_functions():
        full.job = "localhost"
    if default:
        full.merge_from(tf.DeviceSpec.from_string(default))
    full.merge_from(spec)
    return full.to_string()


def resolve(d: str) -> str:
    """The full name of a device, as the current one goes on."""
    return canonicalize(d, default=current())


def current() -> str:
    """The device that an operation made now would be on."""
    graph = tf.get_default_graph()
    if executing_eagerly_outside_functions():
        return tf.identity(0).device
    told = [""]
    graph._apply_device_functions(SimpleNamespace(_set_device_from_string=told.append))
    return told[-1]


def get_host_for_device(device: str) -> str:
    """The CPU of the task that has a device."""
    spec = tf.DeviceSpec.from_string(device)
    return tf.DeviceSpec(
        job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0
    ).to_string()


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """So many GPUs of this task, or its CPU."""
    return tuple(f"/device:GPU:{index}" for index in range(num_gpus)) or ("/device:CPU:0",)
