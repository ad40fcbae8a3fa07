"""The values of a step: in memory, and in files as TensorFlow's debugger has them.

A file holds one value, as a serialized Event. Its path names the device, the operation, the output and the
time: `<root>/_tfdbg_device_…/<operation>_<output>_DebugIdentity_<microseconds>`.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.graph import nest
from tideflow.graph.tensor_proto import make_ndarray, make_tensor_proto

_DEBUG_OP = "DebugIdentity"
_DEVICE_FOLDER = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
_GRAPH_FILE = "_tfdbg_graph_hash0_0"
_METADATA_FILES = "_tfdbg_core_metadata_"
_FETCHES_FILE = "_tfdbg_run_fetches_info"
_FEEDS_FILE = "_tfdbg_run_feed_keys_info"
_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_FILE = re.compile(rf"(?P<node>.+)_(?P<slot>\d+)_(?P<op>{_DEBUG_OP})_(?P<time>\d+)$")


class CoreMetadata(NamedTuple):
    """What a step was: its numbers, and the names of what it was fed, fetched and run for."""

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """The error of asking for a tensor that is not among the values of a step."""


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

    @property
    def device_name(self) -> str:
        """The device that gave the value."""
        return _DEVICE

    @property
    def extended_timestamp(self) -> str:
        """The time, which tells two values of a tensor apart."""
        return str(self.timestamp)

    def __repr__(self) -> str:
        """Says which value it is."""
        what = f"{self.tensor_name} @ {self.debug_op} @ {self.timestamp}"
        return f"{{DebugTensorDatum ({self.device_name}) {what}}}"


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

    @property
    def dump_size_bytes(self) -> int:
        """The size of the file."""
        return os.path.getsize(self.file_path)

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
        self._graph_def = GraphDef() if graph_def is None else graph_def
        self._python_graph: Any = None
        self._nodes = {node.name: node for node in graph_def.node} if graph_def is not None else {}

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.dumped_tensor_data)

    @property
    def t0(self) -> int | None:
        """The time of the first value, in microseconds."""
        return self.dumped_tensor_data[0].timestamp if self.dumped_tensor_data else None

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of the operations of the graph."""
        return list(self._nodes)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether the graph has an operation of this name."""
        return node_name in self._nodes

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The type of an operation."""
        return self._node(node_name).op

    def node_attributes(self, node_name: str, device_name: str | None = None) -> dict[str, Any]:
        """The attributes of an operation, messages by name."""
        return dict(self._node(node_name).attr)

    def node_inputs(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """The names of the operations that an operation takes values of, or waits for."""
        return [
            name.lstrip("^").partition(":")[0]
            for name in self._node(node_name).input
            if name.startswith("^") == is_control
        ]

    def transitive_inputs(
        self, node_name: str, include_control: bool = True, device_name: str | None = None
    ) -> list[str]:
        """The names of all operations that an operation depends on, also through others."""
        return list(self._behind(node_name, include_control, {node_name}))

    def _behind(self, node_name: str, include_control: bool, seen: set[str]) -> Iterator[str]:
        controls = self.node_inputs(node_name, is_control=True) if include_control else []
        for name in (*self.node_inputs(node_name), *controls):
            if name not in seen and name in self._nodes:
                seen.add(name)
                yield name
                yield from self._behind(name, include_control, seen)

    def find_some_path(
        self, src_node_name: str, dst_node_name: str, include_control: bool = True
    ) -> list[str] | None:
        """The names along a way from one operation to another that depends on it; None if there is none.

        Args:
          src_node_name: Where the way begins.
          dst_node_name: Where it ends.
          include_control: Whether it may go where an operation only waits for another.

        Returns:
          The names, or None.
        """
        self._node(src_node_name)
        before = {dst_node_name: ""}
        found = [dst_node_name]
        for name in found:
            controls = self.node_inputs(name, is_control=True) if include_control else []
            for source in (*self.node_inputs(name), *controls):
                if source not in before:
                    before[source] = name
                    found.append(source)
        if src_node_name not in before:
            return None
        way = [src_node_name]
        while way[-1] != dst_node_name:
            way.append(before[way[-1]])
        return way

    def node_recipients(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """The names of the operations that take values of an operation, or wait for it."""
        self._node(node_name)
        return [name for name in self._nodes if node_name in self.node_inputs(name, is_control)]

    def _node(self, name: str) -> Any:
        if name not in self._nodes:
            raise ValueError(f"Node '{name}' does not exist in partition graphs.")
        return self._nodes[name]

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The keys of the values that an operation gave."""
        found = [datum.watch_key for datum in self.dumped_tensor_data if datum.node_name == node_name]
        return list(dict.fromkeys(found))

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> list[Datum]:
        """The values of a tensor, by its name and `:DebugIdentity`."""
        return [datum for datum in self.dumped_tensor_data if datum.watch_key == debug_watch_key]

    def get_tensors(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = _DEBUG_OP,
        device_name: str | None = None,
    ) -> list[Any]:
        """The values of an output of an operation: several, where it ran in a loop."""
        return [datum.get_tensor() for datum in self._of(node_name, output_slot, debug_op)]

    def get_rel_timestamps(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = _DEBUG_OP,
        device_name: str | None = None,
    ) -> list[int]:
        """How many microseconds after the first value of the step the values of an output came."""
        first = self.t0 or 0
        return [datum.timestamp - first for datum in self._of(node_name, output_slot, debug_op)]

    def get_dump_sizes_bytes(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = _DEBUG_OP,
        device_name: str | None = None,
    ) -> list[int]:
        """The sizes of the values of an output, as they are kept."""
        return [datum.dump_size_bytes for datum in self._of(node_name, output_slot, debug_op)]

    def _of(self, node_name: str, output_slot: int, debug_op: str) -> list[Any]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        found = self.watch_key_to_data(key)
        if not found:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {_DEVICE}'
            )
        return found

    def find(
        self,
        predicate: Callable[[Datum, Any], bool],
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
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

    @property
    def core_metadata(self) -> Any:
        """What the step was, a `CoreMetadata`; a list where the folder has not exactly one."""
        paths = sorted(glob.glob(os.path.join(self.dump_root, f"{_METADATA_FILES}*")))
        found = [CoreMetadata(**json.loads(_message(path))) for path in paths]
        return found[0] if len(found) == 1 else found

    @property
    def run_fetches_info(self) -> str | None:
        """What the step fetched, as text; None if nobody has written it."""
        return self._said(_FETCHES_FILE)

    @property
    def run_feed_keys_info(self) -> str | None:
        """What the step was fed, as text; None if nobody has written it."""
        return self._said(_FEEDS_FILE)

    def _said(self, name: str) -> str | None:
        path = os.path.join(self.dump_root, name)
        return _message(path) if os.path.isfile(path) else None

    def devices(self) -> list[str]:
        """The devices that have given values."""
        return [_DEVICE]

    def node_device(self, node_name: str) -> str:
        """The device of an operation."""
        self._node(node_name)
        return _DEVICE

    def get_tensor_file_paths(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = _DEBUG_OP,
        device_name: str | None = None,
    ) -> list[str]:
        """The files of the values of an output."""
        return [datum.file_path for datum in self._of(node_name, output_slot, debug_op)]

    def loaded_partition_graphs(self) -> bool:
        """Whether the graph is known."""
        return bool(self._nodes)

    def partition_graphs(self) -> list[GraphDef]:
        """The graph of the step, in a list."""
        if not self._nodes:
            raise LookupError("No partition graphs have been loaded.")
        return [self._graph_def]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, GraphDef]:
        """The graph of the step by its device: nothing has been added to it."""
        return dict(zip(self.devices(), self.partition_graphs(), strict=True))

    def set_python_graph(self, python_graph: Any) -> None:
        """Gives the graph in which operations know their lines.

        Args:
          python_graph: The graph.
        """
        self._python_graph = python_graph

    @property
    def python_graph(self) -> Any:
        """The graph that `set_python_graph` was given."""
        return self._python_graph

    def node_traceback(self, element_name: str) -> list[Any]:
        """Where in the program an operation was made.

        Args:
          element_name: The name of the operation, or of a tensor of it.

        Returns:
          The frames.

        Raises:
          LookupError: If there is no graph.
          KeyError: If the graph has no such operation.
        """
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = element_name.partition(":")[0]
        try:
            return self._python_graph.get_operation_by_name(name).traceback
        except KeyError:
            raise KeyError(f'Cannot find node "{name}" in Python graph') from None


def write(
    dump_root: str, data: Iterable[Datum], graph_def: GraphDef, step: Any = None, number: int = 0
) -> None:
    """Writes the values of a step to files, and what it fetched and was fed.

    Args:
      dump_root: The folder of the step.
      data: The values.
      graph_def: The graph.
      step: The fetches and the feeds; None where nobody knows them.
      number: How many steps the session has run before.
    """
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
    if step is not None:
        fetches, feeds = step
        keys = list(feeds or ())
        _say(os.path.join(dump_root, _FETCHES_FILE), repr(fetches))
        _say(os.path.join(dump_root, _FEEDS_FILE), repr(dict.fromkeys(keys).keys()))
        names = [_name(each) for each in nest.flatten(fetches)]
        tensors = [name for name in names if ":" in name]
        targets = [name for name in names if ":" not in name]
        facts = CoreMetadata(-1, number, 0, [_name(key) for key in keys], tensors, targets)
        path = os.path.join(dump_root, f"{_METADATA_FILES}sessionrun{number:014}")
        _say(path, json.dumps(facts._asdict()))


def _name(element: Any) -> str:
    return element if isinstance(element, str) else getattr(element, "name", repr(element))


def _say(path: str, text: str) -> None:
    event = Event()
    event.log_message.message = text
    with open(path, "wb") as file:
        file.write(event.SerializeToString())


def _message(path: str) -> str:
    with open(path, "rb") as file:
        return Event.FromString(file.read()).log_message.message
