"""Op types that came after TensorFlow 1.15, in graphs of newer clients: as those of 1.15 that do the same.

They are those that everyday input pipelines of TensorFlow 2 are made of. Others are refused when the graph is
added to, as every op type that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.types_pb2 import DT_BOOL, DT_INT32, DT_INT64


class _Nodes(Protocol):
    """The repeated field of a graph or of a function that has its nodes."""

    def add(self) -> NodeDef:
        """A new node at the end."""


def rewrite_newer_ops(graph_def: GraphDef) -> None:
    """Writes the nodes of newer op types as older ones, in a graph and in its functions."""
    _rewrite(graph_def.node, graph_def.node, "{}")
    for function in graph_def.library.function:
        _rewrite(function.node_def, function.node_def, "{}:{}:0")


def _rewrite(nodes: Iterable[NodeDef], added: _Nodes, output: str) -> None:
    """`output` is how an input names an output of a node, by the node's name and that of the output."""
    for node in list(nodes):
        rule = _RULES.get(node.op)
        if rule is not None:
            rule(node, partial(_beside, node, added), output)


def _beside(node: NodeDef, added: _Nodes, suffix: str) -> NodeDef:
    """A new node for what the rewritten one takes."""
    made = added.add()
    made.name, made.device = f"{node.name}/{suffix}", node.device
    return made


_Make = Callable[[str], NodeDef]
_Rule = Callable[[NodeDef, _Make, str], None]


def _inputs(node: NodeDef) -> tuple[list[str], list[str]]:
    """The inputs of a node with values, and those without."""
    texts = list(node.input)
    return [text for text in texts if text[:1] != "^"], [text for text in texts if text[:1] == "^"]


def _become(node: NodeDef, op: str, inputs: Iterable[str], dropped: Iterable[str]) -> None:
    _, controls = _inputs(node)
    node.op = op
    del node.input[:]
    node.input.extend([*inputs, *controls])
    for name in dropped:
        node.attr.pop(name, None)


def _is_sloppy(node: NodeDef) -> bool:
    return bool(node.attr["deterministic"].s == b"false")


def _passes_on(node: NodeDef, make: _Make, output: str) -> None:
    """What only says how to run a dataset: the dataset itself."""
    (dataset, *_), _ = _inputs(node)
    _become(node, "ModelDataset", [dataset], ["serialized_options", "metadata"])


def _parallel_map(node: NodeDef, make: _Make, output: str) -> None:
    (*given, calls), _ = _inputs(node)
    cast = make("num_parallel_calls")
    cast.op = "Cast"
    cast.input.append(calls)
    cast.attr["SrcT"].type, cast.attr["DstT"].type = DT_INT64, DT_INT32
    node.attr["sloppy"].b = _is_sloppy(node)
    _become(
        node,
        "ParallelMapDataset",
        [*given, output.format(cast.name, "y")],
        ["deterministic", "use_unbounded_threadpool", "metadata"],
    )


def _interleave(node: NodeDef, make: _Make, output: str) -> None:
    given, _ = _inputs(node)
    if node.op.endswith("V4"):
        del given[-3:-1]  # how much is buffered
    node.attr["sloppy"].b = _is_sloppy(node)
    _become(node, "ParallelInterleaveDatasetV2", given, ["deterministic", "metadata"])


def _older_interleave(node: NodeDef, make: _Make, output: str) -> None:
    given, _ = _inputs(node)
    sloppy = make("sloppy")
    sloppy.op = "Const"
    sloppy.attr["dtype"].type = DT_BOOL
    value = AttrValue()
    value.tensor.dtype = DT_BOOL
    value.tensor.tensor_shape.SetInParent()
    value.tensor.bool_val.append(_is_sloppy(node))
    sloppy.attr["value"].CopyFrom(value)
    given.insert(-2, output.format(sloppy.name, "output"))
    _become(node, "ParallelInterleaveDataset", given, ["deterministic", "metadata"])


_RULES: dict[str, _Rule] = {
    "LegacyParallelInterleaveDatasetV2": _older_interleave,
    "OptionsDataset": _passes_on,
    "ParallelInterleaveDatasetV3": _interleave,
    "ParallelInterleaveDatasetV4": _interleave,
    "ParallelMapDatasetV2": _parallel_map,
    "RewriteDataset": _passes_on,
}
