"""Op types that came after TensorFlow 1.15, in graphs of newer clients: as those of 1.15 that do the same.

They are those that everyday input pipelines, feature columns and embeddings of TensorFlow 2 are made of.
Others are refused when the graph is added to, as every op type that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.types_pb2 import DT_BOOL, DT_INT32, DT_INT64, DT_STRING

from tideflow.graph.tensor_proto import make_ndarray


class _Nodes(Protocol):
    """The repeated field of a graph or of a function that has its nodes."""

    def __iter__(self) -> Iterator[NodeDef]: ...

    def add(self) -> NodeDef:
        """A new node at the end."""


def rewrite_newer_ops(graph_def: GraphDef) -> None:
    """Writes the nodes of newer op types as older ones, in a graph and in its functions."""
    _rewrite(graph_def.node, is_function=False)
    for function in graph_def.library.function:
        _rewrite(function.node_def, is_function=True)


def _rewrite(nodes: _Nodes, is_function: bool) -> None:
    known = {node.name: node for node in nodes}
    for node in list(known.values()):
        rule = _RULES.get(node.op)
        if rule is not None:
            rule(node, _Neighbours(node, nodes, known, is_function))


@dataclass(frozen=True)
class _Neighbours:
    """The nodes around one that is rewritten."""

    node: NodeDef
    nodes: _Nodes
    known: dict[str, NodeDef]
    is_function: bool  # where inputs name outputs, not count them

    def add(self, suffix: str, op: str, inputs: Iterable[str] = (), **types: int) -> NodeDef:
        """A new node for what the rewritten one takes."""
        made = self.nodes.add()
        made.name, made.op, made.device = f"{self.node.name}/{suffix}", op, self.node.device
        made.input.extend(inputs)
        for key, number in types.items():
            made.attr[key].type = number
        return made

    def output_of(self, node: NodeDef, name: str) -> str:
        """What an input says that takes a node's only, or first, output."""
        return f"{node.name}:{name}:0" if self.is_function else node.name

    def constant(self, text: str) -> np.ndarray | None:
        """The value of an input, if it is a constant."""
        found = self.known.get(text.partition(":")[0])
        if found is None or found.op != "Const":
            return None
        return make_ndarray(found.attr["value"].tensor)


_Rule = Callable[[NodeDef, _Neighbours], None]


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


def _passes_on(node: NodeDef, around: _Neighbours) -> None:
    """What only says how to run a dataset: the dataset itself."""
    (dataset, *_), _ = _inputs(node)
    _become(node, "ModelDataset", [dataset], ["serialized_options", "metadata"])


def _parallel_map(node: NodeDef, around: _Neighbours) -> None:
    (*given, calls), _ = _inputs(node)
    cast = around.add("num_parallel_calls", "Cast", [calls], SrcT=DT_INT64, DstT=DT_INT32)
    node.attr["sloppy"].b = _is_sloppy(node)
    _become(
        node,
        "ParallelMapDataset",
        [*given, around.output_of(cast, "y")],
        ["deterministic", "use_unbounded_threadpool", "metadata"],
    )


def _interleave(node: NodeDef, around: _Neighbours) -> None:
    given, _ = _inputs(node)
    if node.op.endswith("V4"):
        del given[-3:-1]  # how much is buffered
    node.attr["sloppy"].b = _is_sloppy(node)
    _become(node, "ParallelInterleaveDatasetV2", given, ["deterministic", "metadata"])


def _older_interleave(node: NodeDef, around: _Neighbours) -> None:
    given, _ = _inputs(node)
    sloppy = around.add("sloppy", "Const", dtype=DT_BOOL)
    value = AttrValue()
    value.tensor.dtype = DT_BOOL
    value.tensor.tensor_shape.SetInParent()
    value.tensor.bool_val.append(_is_sloppy(node))
    sloppy.attr["value"].CopyFrom(value)
    given.insert(-2, around.output_of(sloppy, "output"))
    _become(node, "ParallelInterleaveDataset", given, ["deterministic", "metadata"])


def _csv(node: NodeDef, around: _Neighbours) -> None:
    (*given, excluded), _ = _inputs(node)
    columns = around.constant(excluded)
    if columns is not None and not columns.size:
        _become(node, "CSVDataset", given, ["metadata"])


def _parse_examples(node: NodeDef, around: _Neighbours) -> None:
    if node.attr["ragged_keys"].list.s:
        return
    given, _ = _inputs(node)
    node.attr["sloppy"].b = _is_sloppy(node)
    ragged = ["ragged_keys", "ragged_value_types", "ragged_split_types"]
    _become(node, "ParseExampleDataset", given, ["deterministic", *ragged])


def _cross(node: NodeDef, around: _Neighbours) -> None:
    (*given, separator), _ = _inputs(node)
    if around.constant(separator) != _SEPARATOR:
        return
    node.attr["hashed_output"].b = False
    node.attr["num_buckets"].i = node.attr["hash_key"].i = 0
    node.attr["out_type"].type = node.attr["internal_type"].type = DT_STRING
    _become(node, "SparseCross", given, [])


def _segment_gradient(node: NodeDef, around: _Neighbours) -> None:
    """The rows that a segment sum took, each once, and the gradients of those rows."""
    if around.is_function:
        return
    (grad, indices, segments, _), _ = _inputs(node)
    segment_type = node.attr["Tsegmentids"].type
    if segment_type != DT_INT32:
        segments = around.add("segments", "Cast", [segments], SrcT=segment_type, DstT=DT_INT32).name
    index_type, value_type = node.attr["Tidx"].type, node.attr["T"].type
    unique = around.add("unique", "Unique", [indices], T=index_type, out_idx=DT_INT32)
    rows, places = around.output_of(unique, "y"), f"{unique.name}:1"
    count = around.output_of(around.add("count", "Size", [rows], T=index_type, out_type=DT_INT32), "output")
    if node.op == "SparseSegmentSumGradV2":
        gathered = around.add("gathered", "Gather", [grad, segments], Tparams=value_type, Tindices=DT_INT32)
        taken, types = [gathered.name, places, count], {"Tindices": DT_INT32, "Tnumsegments": DT_INT32}
        gradient = around.add("gradient", "UnsortedSegmentSum", taken, T=value_type, **types)
    else:
        taken, op = [grad, places, segments, count], node.op.removesuffix("V2")
        gradient = around.add("gradient", op, taken, T=value_type, Tidx=DT_INT32)
    node.attr["T"].list.type.extend([value_type, index_type])
    _become(node, "IdentityN", [gradient.name, rows], ["Tidx", "Tsegmentids"])


_SEPARATOR = b"_X_"  # the only one that SparseCross puts between crossed strings

_RULES: dict[str, _Rule] = {
    "CSVDatasetV2": _csv,
    "LegacyParallelInterleaveDatasetV2": _older_interleave,
    "OptionsDataset": _passes_on,
    "ParallelInterleaveDatasetV3": _interleave,
    "ParallelInterleaveDatasetV4": _interleave,
    "ParallelMapDatasetV2": _parallel_map,
    "ParseExampleDatasetV2": _parse_examples,
    "RewriteDataset": _passes_on,
    "SparseSegmentMeanGradV2": _segment_gradient,
    "SparseSegmentSqrtNGradV2": _segment_gradient,
    "SparseSegmentSumGradV2": _segment_gradient,
    "SparseCrossV2": _cross,
}
