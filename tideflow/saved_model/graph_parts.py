"""Parts of a model's graph: nodes that compute some tensors of others, and tensors of composite values."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo

from tideflow.graph import dtypes
from tideflow.graph.functions import op_definition
from tideflow.graph.graph import Graph
from tideflow.graph.graph_util import source_name
from tideflow.graph.operation import Tensor
from tideflow.saved_model.tensor_info import get_tensor_from_tensor_info

# --------------------------------------------------------------------------------------------- nodes


class Part:
    """Some nodes of a graph."""

    def __init__(self, of: GraphDef):
        self.graph_def = GraphDef(versions=of.versions, library=of.library)
        self.names: set[str] = set()
        self.inputs: set[str] = set()

    def add(self, node: Any) -> None:
        self.names.add(node.name)
        self.inputs.update(node.input)
        self.graph_def.node.append(node)

    def drop_foreign_groups(self) -> None:
        """Nodes are placed beside others of this part only."""
        for node in self.graph_def.node:
            if "_class" in node.attr:
                groups = node.attr["_class"].list.s
                kept = [group for group in groups if group.decode().removeprefix("loc:@") in self.names]
                if kept:
                    groups[:] = kept
                else:
                    del node.attr["_class"]


def needed_for(
    graph: Graph, graph_def: GraphDef, wanted: Sequence[str], given: Container[str]
) -> tuple[Part, list[str]]:
    """The nodes that compute what is wanted of what is given, and the inputs of them that stay what they are:
    handles of state. `graph` knows the functions of the model.
    """
    nodes = {node.name: node for node in graph_def.node}
    part = Part(graph_def)
    shared: list[str] = []
    names = [source_name(text) for text in wanted if text not in given]
    while names:
        name = names.pop()
        if name in part.names:
            continue
        part.add(nodes[name])
        for text in nodes[name].input:
            source = nodes[source_name(text)]
            if whole(text) in given:
                continue
            if not text.startswith("^") and holds_state(graph, source):
                shared.append(text)
            else:
                names.append(source.name)
    part.drop_foreign_groups()
    return part, shared


def holds_state(graph: Graph, node: Any) -> bool:
    """Whether a node makes a handle or a reference out of nothing."""
    if node.input:
        return False
    outputs = op_definition(graph, node.op).outputs
    return any(arg.is_ref or arg.dtype is dtypes.resource for arg in outputs)


def whole(text: str) -> str:
    """A tensor's name, with the number that is left out where it is 0."""
    return text if ":" in text else f"{text}:0"


# --------------------------------------------------------------------------------------------- values


def is_composite(info: TensorInfo) -> bool:
    return info.WhichOneof("encoding") != "name"


def part_names(info: TensorInfo) -> list[str]:
    """The names of the tensors that a value is made of."""
    if info.WhichOneof("encoding") == "coo_sparse":
        sparse = info.coo_sparse
        return [sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name]
    if is_composite(info):
        return [part.name for part in info.composite_tensor.components]
    return [info.name]


def put_together(info: TensorInfo, tensors: Mapping[str, Tensor]) -> Any:
    """The value that is made of these tensors."""
    if not is_composite(info):
        return tensors[info.name]
    renamed = TensorInfo()
    renamed.CopyFrom(info)
    if info.WhichOneof("encoding") == "coo_sparse":
        for field, _ in info.coo_sparse.ListFields():
            setattr(renamed.coo_sparse, field.name, tensors[getattr(info.coo_sparse, field.name)].name)
    else:
        for part in renamed.composite_tensor.components:
            part.name = tensors[part.name].name
    return get_tensor_from_tensor_info(renamed)
