"""The object graph in a checkpoint of `tf.train.Checkpoint`: children of objects and the keys of values.

Keys are paths from the root object, so that they do not depend on the names of variables.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.dtypes import string
from tideflow.graph.errors import DataLossError
from tideflow.graph.own_protos import make_messages
from tideflow.io.bundle import BundleReader

TrackableObjectGraph = make_messages(
    "trackable_object_graph",
    {
        "TrackableObjectGraph": {"nodes": "repeated TrackableObject"},
        "TrackableObject": {
            "children": "repeated ObjectReference",
            "attributes": "repeated SerializedTensor",
            "slot_variables": "repeated SlotVariableReference",
        },
        "ObjectReference": {"node_id": "int32", "local_name": "string"},
        "SerializedTensor": {
            "name": "string",
            "full_name": "string",
            "checkpoint_key": "string",
            "optional_restore": "bool",
        },
        "SlotVariableReference": {
            "original_variable_node_id": "int32",
            "slot_name": "string",
            "slot_variable_node_id": "int32",
        },
    },
)["TrackableObjectGraph"]

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_ESCAPE = "."


def escaped(name: str) -> str:
    """A child's name as a part of a path."""
    return name.replace(_ESCAPE, _ESCAPE * 2).replace("/", f"{_ESCAPE}S")


def attribute_key(path: str, attribute: str) -> str:
    """The key of a value of the object at a path."""
    return f"{path}/{_ESCAPE}ATTRIBUTES/{escaped(attribute)}"


def slot_path(variable_path: str, optimizer_path: str, slot_name: str) -> str:
    """The path of an optimizer's slot for a variable."""
    return f"{variable_path}/{_ESCAPE}OPTIMIZER_SLOT/{optimizer_path}/{escaped(slot_name)}"


def read_object_graph(reader: BundleReader) -> Any | None:
    """The object graph of a checkpoint; None for a checkpoint by variable names."""
    if GRAPH_KEY not in reader:
        return None
    entry = reader.entry(GRAPH_KEY)
    if entry.dtype is not string or entry.shape != ():
        raise _damaged(reader, f"is {entry.dtype.name}{list(entry.shape)}, not a string")
    try:
        graph = TrackableObjectGraph.FromString(reader.read(GRAPH_KEY)[()])
    except DecodeError:
        raise _damaged(reader, "is not a graph of objects") from None
    _check_numbers(graph, reader)
    return graph


def _check_numbers(graph: Any, reader: BundleReader) -> None:
    """Raises DataLossError if an object refers to one that does not exist."""
    count = len(graph.nodes)
    for number, node in enumerate(graph.nodes):
        named = [child.node_id for child in node.children]
        for slot in node.slot_variables:
            named += [slot.original_variable_node_id, slot.slot_variable_node_id]
        wrong = next((other for other in named if not 0 <= other < count), None)
        if wrong is not None:
            raise _damaged(reader, f"has object {number} point to object {wrong} of {count}")
    if not count:
        raise _damaged(reader, "has no objects")


def _damaged(reader: BundleReader, what: str) -> DataLossError:
    return errors.data_loss(f"{reader.prefix}: key {GRAPH_KEY!r} {what}")


def keys_by_variable_name(graph: Any) -> dict[str, str]:
    """The keys of values, by the names of their variables in the graph from which they were saved."""
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
        if attribute.full_name
    }


def readable_paths(graph: Any) -> dict[int, str]:
    """The path of each object as text, such as `(root).model.kernel`."""
    paths = {0: "(root)"}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        for child in graph.nodes[number].children:
            if child.node_id not in paths:
                paths[child.node_id] = f"{paths[number]}.{child.local_name}"
                queue.append(child.node_id)
    for number, node in enumerate(graph.nodes):
        for slot in node.slot_variables:
            owner, variable = (paths.get(n, f"object {n}") for n in (number, slot.original_variable_node_id))
            paths[slot.slot_variable_node_id] = f"{owner}'s state '{slot.slot_name}' for {variable}"
    return paths
