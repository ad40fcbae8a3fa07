"""The graph of a step: names of its elements, what each operation takes, and who takes what it gives.

A step that TensorFlow watched has copies (`__copy_`) of the values and operations that look at these
(`__dbg_`) in its graph; they are left out here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.graph.op import definitions
from tideflow.platform import logging

_COPY, _DEBUG = "__copy_", "__dbg_"


def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """Separates the number of an output from a name.

    Args:
      name: The name of an operation or of a tensor.

    Returns:
      The name of the operation, and the number or None.
    """
    node, colon, slot = name.rpartition(":")
    return (node, int(slot)) if colon and slot else (name, None)


def get_node_name(element_name: str) -> str:
    """The name of the operation that a tensor is of."""
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name: str) -> int:
    """Which output of its operation a tensor is; 0 for the name of an operation."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name: str) -> bool:
    """Whether an operation copies a value for the debugger."""
    return node_name.startswith(_COPY)


def is_debug_node(node_name: str) -> bool:
    """Whether an operation looks at a value for the debugger."""
    return node_name.startswith(_DEBUG)


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """What the name of an operation of the debugger says: `__dbg_<tensor>_<number>_<debug op>`.

    Args:
      node_name: The name.

    Returns:
      The name of the operation that is watched, its output, the number and the debug op.
    """
    if not is_debug_node(node_name):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    parts = node_name[len(_DEBUG) :].rsplit("_", 2)
    if len(parts) < 3:
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    tensor, number, debug_op = parts
    if tensor.count(":") != 1:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    node, _, slot = tensor.partition(":")
    return node, int(slot), int(number), debug_op


class GraphTracingReachedDestination(Exception):
    """The way that is looked for has been found."""


class DFSGraphTracer:
    """Goes from an operation to all that it depends on, depth first.

    Args:
      input_lists: Dictionaries of the inputs of operations, by name.
      skip_node_names: Operations that are not gone to.
      destination_node_name: Where the way ends.
    """

    def __init__(
        self,
        input_lists: Sequence[Mapping[str, Sequence[str]]],
        skip_node_names: Container[str] = (),
        destination_node_name: str | None = None,
    ):
        self._input_lists, self._skipped = input_lists, skip_node_names or ()
        self._destination = destination_node_name
        self._inputs: list[str] = []
        self._depths: list[int] = []
        self._visited: set[str] = set()

    def trace(self, graph_element_name: str) -> None:
        """Goes from an operation.

        Args:
          graph_element_name: Its name, or that of a tensor of it.

        Raises:
          GraphTracingReachedDestination: When the end of the way is reached.
        """
        pending = [(graph_element_name, 0)]
        while pending:
            element, depth = pending.pop()
            node = get_node_name(element)
            if depth and node in self._visited:
                continue
            if depth:
                self._inputs.append(element)
                self._depths.append(depth)
            if node == self._destination:
                raise GraphTracingReachedDestination
            if node in self._skipped or node in self._visited:
                continue
            self._visited.add(node)
            inputs = [name for list_ in self._input_lists for name in list_.get(node, ())]
            pending += [(name, depth + 1) for name in reversed(inputs)]

    def inputs(self) -> list[str]:
        """What was met, in that order."""
        return self._inputs

    def depth_list(self) -> list[int]:
        """How far from the beginning each of them is."""
        return self._depths


class DebugGraph:
    """The graph of one device.

    Args:
      debug_graph_def: The graph.
      device_name: The device; that of its first operation that has one if None.
    """

    def __init__(self, debug_graph_def: GraphDef, device_name: str | None = None):
        self._debug_graph_def = debug_graph_def
        self._device_name = device_name or _device_of(debug_graph_def)
        self._nodes = self._without_debug_nodes()
        copied = {name: node.input[0] for name, node in self._nodes.items() if is_copy_node(name)}
        kept = {name: node for name, node in self._nodes.items() if name not in copied}
        self._inputs = {
            name: [copied.get(get_node_name(given), given) for given in node.input if given[:1] != "^"]
            for name, node in kept.items()
        }
        self._ctrl_inputs = {
            name: [given[1:] for given in node.input if given[:1] == "^" and not is_debug_node(given[1:])]
            for name, node in kept.items()
        }
        sends = {
            name
            for name, node in kept.items()
            if node.op in ("_Send", "_Retval") and any(map(is_copy_node, node.input))
        }
        self._recipients = _turned_around(self._inputs)
        self._ctrl_recipients = _turned_around(self._ctrl_inputs, without=sends)

    def _without_debug_nodes(self) -> dict[str, NodeDef]:
        nodes: dict[str, NodeDef] = {}
        for node in self._debug_graph_def.node:
            if is_debug_node(node.name):
                continue
            if node.name in nodes:
                raise ValueError(f"Duplicate node name on device {self._device_name}: '{node.name}'")
            nodes[node.name] = node
        return nodes

    @property
    def device_name(self) -> str | None:
        """The device."""
        return self._device_name

    @property
    def debug_graph_def(self) -> GraphDef:
        """The graph as it was given."""
        return self._debug_graph_def

    @property
    def non_debug_graph_def(self) -> GraphDef:
        """The graph without what the debugger has added."""
        graph_def = GraphDef()
        for name, inputs in self._inputs.items():
            node = graph_def.node.add()
            node.CopyFrom(self._nodes[name])
            node.ClearField("input")
            node.input.extend([*inputs, *(f"^{control}" for control in self._ctrl_inputs[name])])
        return graph_def

    @property
    def node_devices(self) -> dict[str, set[str]]:
        """The devices of each operation."""
        return {name: {node.device or self._device_name} for name, node in self._nodes.items()}

    @property
    def node_op_types(self) -> dict[str, str]:
        """The type of each operation."""
        return {name: node.op for name, node in self._nodes.items()}

    @property
    def node_attributes(self) -> dict[str, Mapping]:
        """The attributes of each operation."""
        return {name: node.attr for name, node in self._nodes.items()}

    @property
    def node_inputs(self) -> dict[str, list[str]]:
        """The names of the values that each operation takes."""
        return self._inputs

    @property
    def node_ctrl_inputs(self) -> dict[str, list[str]]:
        """The names of the operations that each waits for."""
        return self._ctrl_inputs

    @property
    def node_reversed_ref_inputs(self) -> dict[str, list[str]]:
        """Who takes a reference that an operation gives, and can change what it refers to."""
        return {
            name: takers
            for name, takers in self._recipients.items()
            if name in self._nodes and _gives_reference(self._nodes[name].op)
        }

    @property
    def node_recipients(self) -> dict[str, list[str]]:
        """The names of the operations that take values of each."""
        return self._recipients

    @property
    def node_ctrl_recipients(self) -> dict[str, list[str]]:
        """The names of the operations that wait for each."""
        return self._ctrl_recipients


def _device_of(graph_def: GraphDef) -> str | None:
    for node in graph_def.node:
        if node.device:
            return node.device
    logging.warn(
        "Failed to infer device name from partition GraphDef: none of the nodes of the GraphDef has a "
        "non-empty device name."
    )
    return None


def _gives_reference(op_type: str) -> bool:
    definition = definitions().get(op_type)
    return definition is not None and bool(definition.outputs) and definition.outputs[0].is_ref


def _turned_around(inputs: Mapping[str, Sequence[str]], without: Container[str] = ()) -> dict[str, list[str]]:
    takers: dict[str, list[str]] = defaultdict(list, {name: [] for name in inputs})
    for name, given in inputs.items():
        for element in given:
            if element not in without:
                takers[get_node_name(element)].append(name)
    return dict(takers)


def reconstruct_non_debug_graph_def(debug_graph_def: GraphDef) -> GraphDef:
    """A graph without what the debugger has added.

    Args:
      debug_graph_def: The graph.

    Returns:
      The graph without it.
    """
    return DebugGraph(debug_graph_def).non_debug_graph_def
