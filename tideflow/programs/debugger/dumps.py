"""The values of a step: in memory, and in files as TensorFlow's debugger has them.

A file holds one value, as a serialized Event. Its path names the device, the operation, the output and the
time: `<root>/_tfdbg_device_…/<operation>_<output>_DebugIdentity_<microseconds>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.graph.tensor_proto import make_ndarray, make_tensor_proto

_DEBUG_OP = "DebugIdentity"
_DEVICE_FOLDER = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
_GRAPH_FILE = "_tfdbg_graph_hash0_0"
_FILE = re.compile(rf"(?P<node>.+)_(?P<slot>\d+)_(?P<op>{_DEBUG_OP})_(?P<time>\d+)$")


def load_tensor_from_event(event: Event) -> Any:
    """The value in an Event that the debugger has written; None for a tensor without a value.

    Args:
      event: The Event.

    Returns:
      An array.
    """
    if not event.summary.value or not event.summary.value[0].HasField("tensor"):
        return None
    return make_ndarray(event.summary.value[0].tensor)


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The value in a file that the debugger has written.

    Args:
      event_file_path: The path of the file.

    Returns:
      An array.
    """
    with open(event_file_path, "rb") as file:
        return load_tensor_from_event(Event.FromString(file.read()))


class Datum:
    """One value that an operation gave, and when, in microseconds."""

    def __init__(self, node_name: str, output_slot: int, timestamp: int, value: Any = None):
        self.node_name, self.output_slot, self.timestamp = node_name, output_slot, timestamp
        self.debug_op = _DEBUG_OP
        self._value = value

    @property
    def tensor_name(self) -> str:
        """The name of the tensor."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        """The name of the tensor and of what was done with it."""
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int:
        """The size of the value."""
        return int(getattr(self.get_tensor(), "nbytes", 0))

    def get_tensor(self) -> Any:
        """The value, an array."""
        return self._value

    def __repr__(self) -> str:
        return f"{{DebugTensorDatum ({self.tensor_name}) at {self.timestamp}}}"


class DebugTensorDatum(Datum):
    """One value in a file.

    Args:
      dump_root: The folder of the step.
      debug_dump_rel_path: The path of the file in it.
    """

    def __init__(self, dump_root: str, debug_dump_rel_path: str):
        inner = os.path.join(*debug_dump_rel_path.split(os.sep)[1:])
        found = _FILE.match(inner)
        if found is None:
            raise ValueError(f"'{debug_dump_rel_path}' is not the name of a file of the debugger")
        super().__init__(found["node"], int(found["slot"]), int(found["time"]))
        self.file_path = os.path.join(dump_root, debug_dump_rel_path)

    def get_tensor(self) -> Any:
        """The value, an array."""
        return load_tensor_from_event_file(self.file_path)


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a value has a NaN or an infinity: a filter of values.

    Args:
      datum: What is known about the value.
      tensor: The value.

    Returns:
      A boolean.
    """
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "fcV":
        return False
    return not np.isfinite(tensor).all()


class Dump:
    """The values of one step, in the order in which operations gave them."""

    def __init__(self, data: Iterable[Datum], graph_def: GraphDef | None = None):
        self.dumped_tensor_data = sorted(data, key=lambda datum: datum.timestamp)
        self._nodes = {node.name: node for node in graph_def.node} if graph_def is not None else {}

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.dumped_tensor_data)

    @property
    def t0(self) -> int | None:
        """The time of the first value, in microseconds."""
        return self.dumped_tensor_data[0].timestamp if self.dumped_tensor_data else None

    def nodes(self) -> list[str]:
        """The names of the operations of the graph."""
        return list(self._nodes)

    def node_exists(self, node_name: str) -> bool:
        """Whether the graph has an operation of this name."""
        return node_name in self._nodes

    def node_op_type(self, node_name: str) -> str:
        """The type of an operation."""
        return self._node(node_name).op

    def node_inputs(self, node_name: str, is_control: bool = False) -> list[str]:
        """The names of the operations that an operation takes values of, or waits for."""
        return [
            name.lstrip("^").partition(":")[0]
            for name in self._node(node_name).input
            if name.startswith("^") == is_control
        ]

    def node_recipients(self, node_name: str, is_control: bool = False) -> list[str]:
        """The names of the operations that take values of an operation, or wait for it."""
        self._node(node_name)
        return [name for name in self._nodes if node_name in self.node_inputs(name, is_control)]

    def _node(self, name: str) -> Any:
        if name not in self._nodes:
            raise ValueError(f"Node '{name}' does not exist in partition graphs.")
        return self._nodes[name]

    def watch_key_to_data(self, debug_watch_key: str) -> list[Datum]:
        """The values of a tensor, by its name and `:DebugIdentity`."""
        return [datum for datum in self.dumped_tensor_data if datum.watch_key == debug_watch_key]

    def get_tensors(self, node_name: str, output_slot: int, debug_op: str = _DEBUG_OP) -> list[Any]:
        """The values of an output of an operation: several, where it ran in a loop."""
        found = self.watch_key_to_data(f"{node_name}:{output_slot}:{debug_op}")
        if not found:
            raise KeyError(
                f"Watch key '{node_name}:{output_slot}:{debug_op}' does not exist in the debug dump"
            )
        return [datum.get_tensor() for datum in found]

    def find(
        self, predicate: Callable[[Datum, Any], bool], first_n: int = 0, exclude_node_names: str | None = None
    ) -> list[Datum]:
        """The values of which a filter is true; only the first ones, where `first_n` is above 0."""
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found = []
        for datum in self.dumped_tensor_data:
            if excluded is not None and excluded.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if len(found) == first_n:
                    break
        return found


class DebugDumpDir(Dump):
    """The values of a step, read from files.

    Args:
      dump_root: The folder of the step.
      partition_graphs: GraphDefs; those in the folder if None.
      validate: Accepted for TensorFlow's sake: the order of files is that of their times.
    """

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True):
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self.dump_root = dump_root
        data, graph_def = [], GraphDef()
        for folder, _, files in os.walk(dump_root):
            for file in files:
                path = os.path.relpath(os.path.join(folder, file), dump_root)
                if file == _GRAPH_FILE:
                    with open(os.path.join(folder, file), "rb") as stored:
                        graph_def = GraphDef.FromString(Event.FromString(stored.read()).graph_def)
                elif path.startswith("_tfdbg_device_"):
                    data.append(DebugTensorDatum(dump_root, path))
        for partition in partition_graphs or ():
            graph_def.MergeFrom(partition)
        super().__init__(data, graph_def)


def write(dump_root: str, data: Iterable[Datum], graph_def: GraphDef) -> None:
    """Writes the values of a step to files."""
    folder = os.path.join(dump_root, _DEVICE_FOLDER)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, _GRAPH_FILE), "wb") as file:
        file.write(Event(graph_def=graph_def.SerializeToString()).SerializeToString())
    for datum in data:
        event = Event(wall_time=datum.timestamp / 1e6)
        event.summary.value.add(node_name=datum.watch_key).tensor.CopyFrom(
            make_tensor_proto(datum.get_tensor())
        )
        name = f"{datum.node_name}_{datum.output_slot}_{_DEBUG_OP}_{datum.timestamp}"
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(event.SerializeToString())
