"""Graphs and models as people see them: inputs, outputs, variables, op types, signatures, collections."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from google.protobuf import text_format

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.inspect.checkpoints import checkpoint_report
from tideflow.inspect.report import Report, Table, byte_count, plural, shape_text
from tideflow.io.checkpoint_state import checkpoint_exists
from tideflow.io.saved_models import variables_prefix

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_COMMON = 15  # op types that are listed


def graph_report(graph: Any, headline: str, node: str | None = None) -> Report:
    """A GraphDef's nodes, or one of them."""
    if node:
        return _node_report(graph, node)
    return Report(headline, _graph_facts(graph), _graph_tables(graph))


def _graph_facts(graph: Any) -> dict[str, str]:
    devices = Counter(node.device for node in graph.node if node.device)
    constants = sum(node.attr["value"].tensor.ByteSize() for node in graph.node if node.op == "Const")
    facts = {"nodes": plural(len(graph.node), "node"), "size": byte_count(graph.ByteSize())}
    if constants:
        facts["constants"] = byte_count(constants)
    if graph.library.function:
        facts["functions"] = ", ".join(f.signature.name for f in graph.library.function)
    if graph.versions.producer:
        facts["producer"] = graph.versions.producer
    if devices:
        facts["devices"] = ", ".join(f"{name} ({count})" for name, count in devices.most_common())
    return facts


def _graph_tables(graph: Any) -> list[Table]:
    types = Counter(node.op for node in graph.node).most_common()
    note = f"and {plural(len(types) - _COMMON, 'other type')}" if len(types) > _COMMON else ""
    tables = [
        _nodes_table("Placeholders", (n for n in graph.node if n.op.startswith("Placeholder"))),
        _nodes_table("Variables", (n for n in graph.node if n.op in _VARIABLES)),
        _ends_table(graph),
        Table.of("Op types", ["op", "count"], types[:_COMMON], numbers=("count",), note=note),
    ]
    return [table for table in tables if table.rows]


def _nodes_table(title: str, nodes: Iterable[Any]) -> Table:
    rows = [[node.name, node.op, _dtype_of(node), _shape_of(node), node.device] for node in nodes]
    return Table.of(title, ["name", "op", "dtype", "shape", "device"], rows)


def _dtype_of(node: Any) -> str:
    return next((_dtype_name(node.attr[key].type) for key in ("dtype", "T") if key in node.attr), "")


def _dtype_name(number: int) -> str:
    if not number:  # of what is no tensor, such as an operation
        return ""
    try:
        return DType(number).name
    except TypeError:
        return f"type {number}"


def _shape_of(node: Any) -> str:
    return _proto_shape(node.attr["shape"].shape) if "shape" in node.attr else ""


def _proto_shape(shape: Any) -> str:
    return shape_text(None if shape.unknown_rank else [dim.size for dim in shape.dim])


def _ends_table(graph: Any) -> Table:
    """What nothing else uses: outputs, most likely. The newest are shown; constants are not."""
    used = {name.lstrip("^").partition(":")[0] for node in graph.node for name in node.input}
    ends = [[n.name, n.op] for n in graph.node if n.name not in used and n.op not in _VARIABLES + ("Const",)]
    note = f"the last {_COMMON} of {len(ends)}" if len(ends) > _COMMON else ""
    return Table.of("Not used by others", ["name", "op"], ends[-_COMMON:], note=note)


def _node_report(graph: Any, name: str) -> Report:
    name = name.partition(":")[0]
    for node in graph.node:
        if node.name == name:
            return Report(f"Node {name}", text=text_format.MessageToString(node).rstrip())
    raise errors.not_found(f"There is no node {name!r} among {plural(len(graph.node), 'node')}")


# ---------------------------------------------------------------------------------------------------- models


def _writer(info: Any) -> str:
    """Who wrote a MetaGraphDef: Tideflow says so in the version of the source (`platform/version.py`)."""
    ours = info.tensorflow_git_version.partition("-tideflow-")[2]
    return (
        f"Tideflow {ours}, as TensorFlow {info.tensorflow_version}"
        if ours
        else f"TensorFlow {info.tensorflow_version}"
    )


def meta_graph_report(meta: Any, headline: str, node: str | None = None) -> Report:
    """A MetaGraphDef: its graph, signatures and collections."""
    if node:
        return _node_report(meta.graph_def, node)
    facts = {"tags": ", ".join(meta.meta_info_def.tags)} if meta.meta_info_def.tags else {}
    if meta.meta_info_def.tensorflow_version:
        facts["written by"] = _writer(meta.meta_info_def)
    facts |= _graph_facts(meta.graph_def)
    if meta.saver_def.restore_op_name:
        facts["saver"] = f"restores by {meta.saver_def.restore_op_name}"
    tables = [_signatures(meta), *_graph_tables(meta.graph_def), _collections(meta)]
    return Report(headline, facts, [table for table in tables if table.rows])


def _signatures(meta: Any) -> Table:
    rows = []
    for name, signature in sorted(meta.signature_def.items()):
        label = f"{name} ({signature.method_name})" if signature.method_name else name
        for direction, infos in (("input", signature.inputs), ("output", signature.outputs)):
            for key, info in sorted(infos.items()):
                shape = _proto_shape(info.tensor_shape)
                rows.append([label, direction, key, _dtype_name(info.dtype), shape, _tensor_name(info)])
                label = ""
    return Table.of("Signatures", ["signature", "", "name", "dtype", "shape", "tensor"], rows)


def _tensor_name(info: Any) -> str:
    return f"{info.coo_sparse.values_tensor_name} (sparse)" if info.HasField("coo_sparse") else info.name


def _collections(meta: Any) -> Table:
    rows = []
    for name, collection in sorted(meta.collection_def.items()):
        kind = collection.WhichOneof("kind") or ""
        rows.append([name, len(getattr(collection, kind).value) if kind else 0, kind.removesuffix("_list")])
    return Table.of("Collections", ["name", "items", "of"], rows, numbers=("items",))


def saved_model_report(
    model: Any, directory: str, tensor: str | None = None, statistics: bool = True
) -> Report:
    """A SavedModel: each of its graphs, its variables, and its assets."""
    variables = variables_prefix(directory)
    has_variables = checkpoint_exists(variables)
    if tensor and has_variables:
        return checkpoint_report(variables, tensor)
    headline = f"SavedModel {directory}"
    facts = {
        "schema": model.saved_model_schema_version,
        "graphs": plural(len(model.meta_graphs), "graph"),
        "assets": ", ".join(_assets(directory)) or "none",
    }
    parts = [
        meta_graph_report(meta, f"Graph {number} of {len(model.meta_graphs)}", tensor)
        for number, meta in enumerate(model.meta_graphs, 1)
    ]
    if has_variables:
        parts.append(checkpoint_report(variables, statistics=statistics))
    return Report(headline, facts, parts=parts)


def _assets(directory: str) -> list[str]:
    folder = os.path.join(directory, "assets")
    if not os.path.isdir(folder):
        return []
    names = sorted(os.listdir(folder))
    return [f"{name} ({byte_count(os.path.getsize(os.path.join(folder, name)))})" for name in names]
