"""The values of a step and the graph that made them, read from a folder."""

from __future__ import annotations

import functools
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.platform import gfile, logging
from tideflow.programs.debugger.graphs import (
    DebugGraph,
    DFSGraphTracer,
    GraphTracingReachedDestination,
    get_node_name,
    get_output_slot,
)
from tideflow.programs.debugger.values import (
    CORE_METADATA_TAG,
    DEVICE_TAG,
    FEED_KEYS_INFO_FILE_TAG,
    FETCHES_INFO_FILE_TAG,
    GRAPH_FILE_TAG,
    METADATA_FILE_PREFIX,
    DebugTensorDatum,
    device_path_to_device_name,
    read_event,
)


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


def extract_core_metadata_from_event_proto(event: Event) -> CoreMetadata:
    """What a step was, from the Event that says it.

    Args:
      event: The Event.

    Returns:
      A `CoreMetadata`.
    """
    said = json.loads(event.log_message.message)
    return CoreMetadata(**{field: said[field] for field in CoreMetadata._fields})


class DebugDumpDir:
    """The values of a step, read from files.

    Args:
      dump_root: The folder of the step.
      partition_graphs: Graphs for devices whose folders have none.
      validate: Whether the values are checked against the graph: their names, and the order of their times.
    """

    def __init__(
        self, dump_root: str, partition_graphs: Sequence[GraphDef] | None = None, validate: bool = True
    ):
        if not gfile.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._dump_root = dump_root
        self._core_metadata = list(
            map(extract_core_metadata_from_event_proto, self._events(CORE_METADATA_TAG))
        )
        self._fetches = [event.log_message.message for event in self._events(FETCHES_INFO_FILE_TAG)]
        self._feeds = [event.log_message.message for event in self._events(FEED_KEYS_INFO_FILE_TAG)]
        self._data: dict[str, list[DebugTensorDatum]] = {}
        self._graphs: dict[str | None, DebugGraph] = {}
        self._python_graph: Any = None
        for folder in self._paths(DEVICE_TAG):
            self._load_device(folder, partition_graphs)
        if validate:
            for device, graph in self._graphs.items():
                _check_order(graph, self._data.get(str(device), []))

    def _paths(self, tag: str) -> list[str]:
        return sorted(gfile.glob(os.path.join(self._dump_root, f"{METADATA_FILE_PREFIX}{tag}*")))

    def _events(self, tag: str) -> list[Event]:
        return [read_event(path) for path in self._paths(tag)]

    def _load_device(self, folder: str, given: Sequence[GraphDef] | None) -> None:
        device = device_path_to_device_name(folder)
        data, graph_def = [], None
        for where, _, files in gfile.walk(folder):
            for name in files:
                path = os.path.join(where, name)
                if name.startswith(METADATA_FILE_PREFIX + GRAPH_FILE_TAG):
                    graph_def = GraphDef.FromString(read_event(path).graph_def)
                else:
                    data.append(DebugTensorDatum(self._dump_root, os.path.relpath(path, self._dump_root)))
        self._data[device] = sorted(data, key=lambda datum: datum.extended_timestamp)
        if graph_def is None:
            logging.warn(
                f"Failed to load partition graphs for device {device} from disk. As a fallback, the client "
                "graphs will be used. This may cause mismatches in device names."
            )
            on_device = (g for g in given or () if any(node.device == device for node in g.node))
            graph_def = next(on_device, None)
        if graph_def is not None:
            self._graphs[device] = DebugGraph(graph_def, device)

    # ------------------------------------------------------------------ what the step was

    @property
    def core_metadata(self) -> Any:
        """What the step was, a `CoreMetadata`; a list where the folder has not exactly one."""
        return _only(self._core_metadata)

    @property
    def run_fetches_info(self) -> Any:
        """What the step fetched, as text; a list where the folder has not exactly one."""
        return _only(self._fetches)

    @property
    def run_feed_keys_info(self) -> Any:
        """What the step was fed, as text; a list where the folder has not exactly one."""
        return _only(self._feeds)

    # ------------------------------------------------------------------ its values

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """The values, in the order of their times."""
        data = [datum for of_device in self._data.values() for datum in of_device]
        return data if len(self._data) == 1 else sorted(data, key=lambda datum: datum.extended_timestamp)

    @property
    def t0(self) -> int | None:
        """The time of the first value, in microseconds."""
        return min((data[0].timestamp for data in self._data.values() if data), default=None)

    @property
    def size(self) -> int:
        """The number of values."""
        return sum(map(len, self._data.values()))

    def devices(self) -> list[str]:
        """The devices that have given values."""
        return list(self._data)

    @functools.cached_property
    def _by_key(self) -> dict[str, dict[str, list[DebugTensorDatum]]]:
        """The values, by their keys and by devices."""
        found: dict[str, dict[str, list[DebugTensorDatum]]] = defaultdict(lambda: defaultdict(list))
        for device, data in self._data.items():
            for datum in data:
                found[datum.watch_key][device].append(datum)
        return found

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The keys of the values that an operation gave.

        Args:
          node_name: The name of the operation.
          device_name: The device; the only one that has the operation if None.

        Returns:
          The keys; none for an operation that is not there.
        """
        try:
            device = self._device_of(node_name, device_name)
        except ValueError:
            return []
        data = self._data.get(device, ())
        return list(dict.fromkeys(datum.watch_key for datum in data if datum.node_name == node_name))

    def watch_key_to_data(
        self, debug_watch_key: str, device_name: str | None = None
    ) -> list[DebugTensorDatum]:
        """The values of a key.

        Args:
          debug_watch_key: The key: the name of a tensor, and `:DebugIdentity`.
          device_name: The device; the only one that has values of this key if None.

        Returns:
          The values, in the order of their times.
        """
        by_device = self._by_key.get(debug_watch_key, {})
        if device_name is None and len(by_device) > 1:
            raise ValueError(
                f"There are multiple ({len(by_device)}) devices with the watch key '{debug_watch_key}', but "
                "device_name is not specified."
            )
        if device_name is None:
            return next(iter(by_device.values()), [])
        return by_device.get(device_name, [])

    def _values_of(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None
    ) -> list[DebugTensorDatum]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        try:
            device = self._device_of(node_name, device_name)
        except ValueError:
            device = str(device_name)
        found = self._by_key.get(key, {}).get(device)
        if not found:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device}'
            )
        return found

    def get_tensor_file_paths(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = "DebugIdentity",
        device_name: str | None = None,
    ) -> list[str]:
        """The files of the values of an output of an operation."""
        return [datum.file_path for datum in self._values_of(node_name, output_slot, debug_op, device_name)]

    def get_tensors(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = "DebugIdentity",
        device_name: str | None = None,
    ) -> list[Any]:
        """The values of an output of an operation: several, where it ran in a loop."""
        return [
            datum.get_tensor() for datum in self._values_of(node_name, output_slot, debug_op, device_name)
        ]

    def get_rel_timestamps(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = "DebugIdentity",
        device_name: str | None = None,
    ) -> list[int]:
        """How many microseconds after the first value of the step the values of an output came."""
        found = self._values_of(node_name, output_slot, debug_op, device_name)
        return [datum.timestamp - (self.t0 or 0) for datum in found]

    def get_dump_sizes_bytes(
        self,
        node_name: str,
        output_slot: int,
        debug_op: str = "DebugIdentity",
        device_name: str | None = None,
    ) -> list[int | None]:
        """The sizes of the files of the values of an output."""
        found = self._values_of(node_name, output_slot, debug_op, device_name)
        return [datum.dump_size_bytes for datum in found]

    def find(
        self,
        predicate: Callable[[DebugTensorDatum, Any], bool],
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The values of which a filter is true; only the first ones, where `first_n` is above 0.

        Args:
          predicate: A function of what is known about a value and of the value, to a boolean.
          first_n: How many are looked for.
          device_name: The device; all if None.
          exclude_node_names: An expression that names of operations must not match.

        Returns:
          What is known about the values.
        """
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found: list[DebugTensorDatum] = []
        for datum in self.dumped_tensor_data:
            if device_name is not None and datum.device_name != device_name:
                continue
            if excluded is not None and excluded.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if len(found) == first_n:
                    break
        return found

    # ------------------------------------------------------------------ its graph

    def loaded_partition_graphs(self) -> bool:
        """Whether the graph is known."""
        return bool(self._graphs)

    def _check_loaded(self, what: str = "No partition graphs have been loaded.") -> None:
        if not self._graphs:
            raise LookupError(what)

    def partition_graphs(self) -> list[GraphDef]:
        """The graphs of the devices."""
        self._check_loaded()
        return [graph.debug_graph_def for graph in self._graphs.values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str | None, GraphDef]:
        """The graphs by device, without what the debugger has added."""
        return {device: graph.non_debug_graph_def for device, graph in self._graphs.items()}

    @functools.cached_property
    def _node_devices(self) -> dict[str, list[Any]]:
        devices: dict[str, dict[Any, None]] = defaultdict(dict)
        for graph in self._graphs.values():
            for name, found in graph.node_devices.items():
                devices[name].update(dict.fromkeys(found))
        return {name: list(found) for name, found in devices.items()}

    def _device_of(self, node_name: str, device_name: str | None) -> str:
        """A device that is given, or the only one that has an operation."""
        if device_name is not None:
            return device_name
        found = self._node_devices.get(node_name, [])
        if not found:
            raise ValueError(f"None of the {len(self._data)} device(s) has a node named '{node_name}'.")
        if len(found) > 1:
            raise ValueError(
                f"There are multiple ({len(found)}) devices with nodes named '{node_name}' but device_name "
                "is not specified."
            )
        return str(found[0])

    def _graph_of(self, node_name: str, device_name: str | None, what: str) -> DebugGraph:
        self._check_loaded(f"{what} not loaded from partition graphs yet.")
        return self._graphs[self._device_of(node_name, device_name)]

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of the operations.

        Args:
          device_name: The device; all if None.

        Returns:
          The names.
        """
        self._check_loaded()
        if device_name is not None and device_name not in self._graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        graphs = self._graphs.values() if device_name is None else [self._graphs[device_name]]
        return [name for graph in graphs for name in graph.node_inputs]

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether there is an operation of this name."""
        self._check_loaded("Nodes have not been loaded from partition graphs yet.")
        if device_name is not None and device_name not in self._graphs:
            raise ValueError(f"The specified device_name '{device_name}' cannot be found.")
        return any(node_name in graph.node_inputs for graph in self._graphs.values())

    def node_device(self, node_name: str) -> Any:
        """The device of an operation; a list where several have it."""
        self._check_loaded("Node devices are not loaded from partition graphs yet.")
        if node_name not in self._node_devices:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return _only(self._node_devices[node_name])

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The type of an operation."""
        return self._graph_of(node_name, device_name, "Node op types are").node_op_types[node_name]

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Mapping[str, Any]:
        """The attributes of an operation, messages by name."""
        self._check_loaded()
        return self._graphs[self._device_of(node_name, device_name)].node_attributes[node_name]

    def node_inputs(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """The names of the values that an operation takes, or of the operations that it waits for."""
        graph = self._graph_of(node_name, device_name, "Node inputs are")
        return (graph.node_ctrl_inputs if is_control else graph.node_inputs)[node_name]

    def node_recipients(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """The names of the operations that take values of an operation, or wait for it."""
        graph = self._graph_of(node_name, device_name, "Node recipients are")
        return (graph.node_ctrl_recipients if is_control else graph.node_recipients)[node_name]

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """The names of all that an operation depends on, also through others.

        Args:
          node_name: The name of the operation.
          include_control: Whether what it only waits for counts.
          include_reversed_ref: Whether what changes a variable counts as an input of the variable.
          device_name: The device; the only one that has the operation if None.

        Returns:
          The names.
        """
        graph = self._graph_of(node_name, device_name, "Node inputs are")
        tracer = _tracer(graph, include_control, include_reversed_ref)
        tracer.trace(node_name)
        return tracer.inputs()

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """The names along a way from one operation to another that depends on it; None if there is none.

        Args:
          src_node_name: Where the way begins.
          dst_node_name: Where it ends.
          include_control: Whether it may go where an operation only waits for another.
          include_reversed_ref: Whether it may go from what changes a variable to the variable.
          device_name: The device; the only one that has the operations if None.

        Returns:
          The names, or None.
        """
        begin, end = (self._device_of(name, device_name) for name in (src_node_name, dst_node_name))
        if begin != end:
            raise ValueError(
                f"Source ({src_node_name}) and destination ({dst_node_name}) are not on the same device: "
                f"{begin} vs. {end}"
            )
        tracer = _tracer(self._graphs[end], include_control, include_reversed_ref, src_node_name)
        try:
            tracer.trace(dst_node_name)
        except GraphTracingReachedDestination:
            met = zip([dst_node_name, *tracer.inputs()], [0, *tracer.depth_list()], strict=True)
            way: dict[int, str] = {}
            for name, depth in reversed(list(met)):
                if not way or depth == min(way) - 1:
                    way[depth] = name
            return list(way.values())
        return None

    # ------------------------------------------------------------------ where it comes from

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

    def node_traceback(self, element_name: str) -> tuple[Any, ...]:
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
        name = get_node_name(element_name)
        try:
            frames = self._python_graph.get_operation_by_name(name).traceback
        except KeyError:
            raise KeyError(f'Cannot find node "{name}" in Python graph') from None
        return tuple(tuple(frame) for frame in frames)


def _only(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else found


def _tracer(graph: DebugGraph, controls: bool, references: bool, end: str | None = None) -> DFSGraphTracer:
    inputs: list[Mapping[str, Sequence[str]]] = [graph.node_inputs]
    if controls:
        inputs.append(graph.node_ctrl_inputs)
    if references:
        inputs.append(graph.node_reversed_ref_inputs)
    merges = {name for name, kind in graph.node_op_types.items() if kind == "Merge"}  # loops come back there
    return DFSGraphTracer(inputs, merges, end)


def _check_order(graph: DebugGraph, data: Sequence[DebugTensorDatum]) -> None:
    """ValueError for a value of an operation that the graph has not, or that came before its inputs did."""
    watched = {(datum.node_name, datum.output_slot) for datum in data}
    for datum in data:
        if datum.node_name not in graph.node_inputs:
            raise ValueError(
                f"Node name '{datum.node_name}' is not found in partition graphs of device "
                f"{graph.device_name}."
            )
    pending = {
        name: {(get_node_name(given), get_output_slot(given)) for given in inputs} & watched
        for name, inputs in graph.node_inputs.items()
    }
    kinds = graph.node_op_types
    for number, datum in enumerate(data):
        missing = pending[datum.node_name]
        for other in data[number + 1 :] if missing else ():
            if other.timestamp != datum.timestamp:
                break
            missing.discard((other.node_name, other.output_slot))
        if missing:
            raise ValueError(
                "Causality violated in timing relations of debug dumps: "
                f"{datum.node_name} ({datum.timestamp}): these input(s) are not satisfied: {sorted(missing)}"
            )
        for taker in graph.node_recipients[datum.node_name]:
            if kinds[taker] == "Merge":  # it takes whichever of its inputs comes
                pending[taker].clear()
            pending[taker].discard((datum.node_name, datum.output_slot))
