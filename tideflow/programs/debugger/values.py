"""Values of a step in files, as TensorFlow's debugger has them.

A file holds one value, as a serialized Event. Its path names the device, the operation, the output, what was
done with the value, and the time: `<root>/_tfdbg_device_…/<operation>_<output>_DebugIdentity_<microseconds>`.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.graph import dtypes
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.platform import gfile

METADATA_FILE_PREFIX = "_tfdbg_"
CORE_METADATA_TAG = "core_metadata_"
GRAPH_FILE_TAG = "graph_"
DEVICE_TAG = "device_"
HASH_TAG = "hash"
FETCHES_INFO_FILE_TAG = "fetches_info_"
FEED_KEYS_INFO_FILE_TAG = "feed_keys_info_"
_DEVICE_FOLDER = METADATA_FILE_PREFIX + DEVICE_TAG


class InconvertibleTensorProto:
    """A value that is no array: a handle, or that of a variable before it is initialized.

    Args:
      tensor_proto: The message that stands for it.
      initialized: Whether there is a value.
    """

    def __init__(self, tensor_proto: TensorProto, initialized: bool = True):
        self._tensor_proto, self._initialized = tensor_proto, initialized

    def __str__(self) -> str:
        return ("" if self._initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)

    @property
    def initialized(self) -> bool:
        """Whether there is a value."""
        return self._initialized


class Uninitialized(NamedTuple):
    """A variable has no value yet."""

    shape: tuple[int, ...]


def tensor_message(value: Any, dtype: dtypes.DType) -> TensorProto:
    """A value as a message that has all its bytes, or none where there is no value.

    Args:
      value: An array; bytes that describe a handle; or `Uninitialized`.
      dtype: The type of the tensor.

    Returns:
      The message.
    """
    message = TensorProto(dtype=dtype.base_dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    if isinstance(value, bytes):
        message.tensor_content = value
        return message
    for size in value.shape:
        message.tensor_shape.dim.add(size=size)
    if isinstance(value, Uninitialized):
        return message
    if value.dtype == object:
        message.string_val.extend(value.reshape(-1).tolist())
    else:
        message.tensor_content = value.tobytes()
    return message


def load_tensor_from_event(event: Event) -> Any:
    """The value in an Event that the debugger has written.

    Args:
      event: The Event.

    Returns:
      An array, or an `InconvertibleTensorProto`.
    """
    message = event.summary.value[0].tensor
    has_elements = all(dim.size for dim in message.tensor_shape.dim)
    if has_elements and not message.tensor_content and not message.string_val:
        return InconvertibleTensorProto(message, False)
    try:
        return make_ndarray(message)
    except TypeError:  # a handle
        return InconvertibleTensorProto(message)


def read_event(path: str) -> Event:
    """The Event in a file."""
    with gfile.GFile(path, "rb") as file:
        return Event.FromString(file.read())


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The value in a file that the debugger has written.

    Args:
      event_file_path: The path of the file.

    Returns:
      An array, or an `InconvertibleTensorProto`.
    """
    return load_tensor_from_event(read_event(event_file_path))


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a value has a NaN or an infinity: a filter of values.

    Args:
      datum: What is known about the value.
      tensor: The value.

    Returns:
      A boolean.
    """
    if not isinstance(tensor, (np.ndarray, np.generic)) or tensor.dtype.kind not in "fcV":
        return False
    return not np.isfinite(tensor).all()


def device_name_to_device_path(device_name: str) -> str:
    """The folder of a device's values: slashes are commas there, and colons underscores."""
    return _DEVICE_FOLDER + device_name.replace(":", "_").replace("/", ",")


def device_path_to_device_name(device_dir: str) -> str:
    """The device whose values a folder has.

    Args:
      device_dir: The path of the folder.

    Returns:
      The name of the device.
    """
    parts = os.path.basename(device_dir)[len(_DEVICE_FOLDER) :].split(",")
    return "/".join(part.replace("device_", "device:").replace("_", ":", 1) for part in parts)


class DebugTensorDatum:
    """One value in a file.

    Args:
      dump_root: The folder of the step.
      debug_dump_rel_path: The path of the file in it.
    """

    def __init__(self, dump_root: str, debug_dump_rel_path: str):
        device, *scopes, base = os.path.normpath(debug_dump_rel_path).split(os.sep)
        parts = base.rsplit("_", 3)
        if len(parts) < 4:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {base}")
        node, slot, debug_op, time = parts
        self._device_name = device_path_to_device_name(device)
        self._node_name = "/".join([*scopes, node])
        self._output_slot, self._debug_op = int(slot), debug_op
        self._extended_timestamp, self._timestamp = time, int(time.partition("-")[0])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        there = gfile.exists(self._file_path)
        self._dump_size_bytes = gfile.stat(self._file_path).length if there else None

    def __repr__(self) -> str:
        what = f"{self.tensor_name} @ {self.debug_op} @ {self.timestamp}"
        return f"{{DebugTensorDatum ({self.device_name}) {what}}}"

    def get_tensor(self) -> Any:
        """The value: an array, or an `InconvertibleTensorProto`."""
        return load_tensor_from_event_file(self._file_path)

    @property
    def timestamp(self) -> int:
        """When the value was there, in microseconds."""
        return self._timestamp

    @property
    def extended_timestamp(self) -> str:
        """The time, and a number where values have the same."""
        return self._extended_timestamp

    @property
    def debug_op(self) -> str:
        """What was done with the value: `DebugIdentity` has it as it is."""
        return self._debug_op

    @property
    def device_name(self) -> str:
        """The device that gave the value."""
        return self._device_name

    @property
    def node_name(self) -> str:
        """The operation that gave the value."""
        return self._node_name

    @property
    def output_slot(self) -> int:
        """Which of its outputs."""
        return self._output_slot

    @property
    def tensor_name(self) -> str:
        """The name of the tensor."""
        return f"{self._node_name}:{self._output_slot}"

    @property
    def watch_key(self) -> str:
        """The name of the tensor and of what was done with it."""
        return f"{self.tensor_name}:{self._debug_op}"

    @property
    def file_path(self) -> str:
        """The path of the file."""
        return self._file_path

    @property
    def dump_size_bytes(self) -> int | None:
        """The size of the file; None where it is gone."""
        return self._dump_size_bytes
