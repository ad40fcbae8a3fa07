"""Graphs with their collections and saver as MetaGraphDef messages, TensorFlow's `.meta` files, both ways."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import CollectionDef, MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_proto, op_def_proto
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.op import definitions
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.queue_runner_proto import QueueRunnerDef
from tideflow.graph.schema import REQUIRED
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.io.local_files import local_path, read_bytes, replace_bytes
from tideflow.platform.version import GIT_VERSION, VERSION
from tideflow.train.queue_runner import QueueRunner
from tideflow.variables.base import Variable, prepend_name_scope, strip_name_scope

_log = logging.getLogger("tideflow")
_UNBOUND = "$unbound_inputs_"

# Collections whose items are messages: what they are, and how an item is made of one.
_MESSAGES = {
    **dict.fromkeys(
        (
            GraphKeys.GLOBAL_VARIABLES,
            GraphKeys.LOCAL_VARIABLES,
            GraphKeys.METRIC_VARIABLES,
            GraphKeys.MODEL_VARIABLES,
            GraphKeys.MOVING_AVERAGE_VARIABLES,
            GraphKeys.TRAINABLE_VARIABLES,
            GraphKeys.GLOBAL_STEP,
        ),
        (VariableDef, Variable.from_proto),
    ),
    GraphKeys.QUEUE_RUNNERS: (QueueRunnerDef, QueueRunner.from_proto),
}


# -------------------------------------------------------------------------------------------------- exporting


@export("train.export_meta_graph")
def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> MetaGraphDef:
    """The graph (or a scope of it) with its collections, as a message; also into a file."""
    graph = graph or get_default_graph()
    message = MetaGraphDef()
    if meta_info_def is not None:
        message.meta_info_def.CopyFrom(meta_info_def)
    nodes = graph_def or graph.as_graph_def(add_shapes=True)
    unbound = _fill_graph(message.graph_def, nodes, export_scope, clear_devices)
    if clear_extraneous_savers:
        _drop_other_savers(message.graph_def, saver_def, export_scope)
    if strip_default_attrs:
        _strip_defaults(message.graph_def)
    _describe(message, strip_default_attrs)
    if saver_def is not None:
        message.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        if not (clear_extraneous_savers and key == GraphKeys.SAVERS):
            _add_collection(message, key, graph.get_collection(key), export_scope)
    unbound_key = kwargs.get("unbound_inputs_col_name", "unbound_inputs")
    if export_scope and unbound_key and unbound:
        message.collection_def[unbound_key].bytes_list.value.extend(name.encode() for name in unbound)
    if filename:
        _write(message, filename, as_text)
    return message


def _fill_graph(target: GraphDef, source: GraphDef, scope: str | None, clear_devices: bool) -> list[str]:
    """Copies the nodes of a scope, named as seen from inside; returns which inputs come from outside."""
    unbound: list[str] = []
    if not scope:
        target.CopyFrom(source)
    else:
        target.versions.CopyFrom(source.versions)
        target.library.CopyFrom(source.library)
        prefix = scope.removesuffix("/") + "/"
        for node in source.node:
            if node.name.startswith(prefix):
                copy = target.node.add()
                copy.CopyFrom(node)
                _move_inside(copy, prefix, unbound)
    if clear_devices:
        for node in target.node:
            node.device = ""
    return unbound


def _move_inside(node: Any, prefix: str, unbound: list[str]) -> None:
    node.name = node.name.removeprefix(prefix)
    for i, text in enumerate(node.input):
        control, name = text[: text.startswith("^")], text.removeprefix("^")
        if name.startswith(prefix):
            node.input[i] = control + name.removeprefix(prefix)
        else:
            node.input[i] = f"{control}{_UNBOUND}{name}"
            if node.input[i] not in unbound:
                unbound.append(node.input[i])
    groups = node.attr["_class"].list.s if "_class" in node.attr else []
    kept = [group.replace(f"loc:@{prefix}".encode(), b"loc:@") for group in groups]
    kept = [new for new, old in zip(kept, groups) if new != old]
    if kept:
        node.attr["_class"].list.s[:] = kept
    elif "_class" in node.attr:
        del node.attr["_class"]


def _drop_other_savers(graph_def: GraphDef, saver_def: SaverDef | None, scope: str | None) -> None:
    """Takes out nodes of savers other than the one exported."""
    kept = set()
    if saver_def is not None:
        name = strip_name_scope(saver_def.filename_tensor_name, scope)
        kept.add(name.rpartition("/")[0])
    roots = {
        node.name.rpartition("/")[0]
        for node in graph_def.node
        if node.op in ("SaveV2", "RestoreV2", "SaveSlices", "MergeV2Checkpoints")
    } - kept
    nodes = [node for node in graph_def.node if not any(node.name.startswith(f"{r}/") for r in roots if r)]
    del graph_def.node[:]
    graph_def.node.extend(nodes)


def _strip_defaults(graph_def: GraphDef) -> None:
    """Takes out attributes that say what they would say unsaid: older readers then know fewer names."""
    functions = (node for function in graph_def.library.function for node in function.node_def)
    for node in (*graph_def.node, *functions):
        op = definitions().get(node.op)
        for key, spec in op.attrs.items() if op else ():
            if spec.default is REQUIRED or key not in node.attr:
                continue
            if node.attr[key] == attr_proto(spec.default, spec.kind):
                del node.attr[key]


def _describe(message: MetaGraphDef, stripped: bool) -> None:
    info = message.meta_info_def
    functions = (node for function in message.graph_def.library.function for node in function.node_def)
    used = {node.op for node in (*message.graph_def.node, *functions)}
    if not info.HasField("stripped_op_list"):
        known = definitions()
        info.stripped_op_list.op.extend(op_def_proto(known[name]) for name in sorted(used & known.keys()))
    info.stripped_default_attrs = stripped
    info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION


def _add_collection(message: MetaGraphDef, key: Any, items: list[Any], scope: str | None) -> None:
    if not isinstance(key, str):
        return
    collection = CollectionDef()
    try:
        _fill_collection(collection, key, items, scope)
    except (AttributeError, TypeError, ValueError) as error:
        _log.warning("The collection %r is not exported: %s", key, error)
        return
    message.collection_def[key].CopyFrom(collection)


def _fill_collection(collection: CollectionDef, key: str, items: list[Any], scope: str | None) -> None:
    if key in _MESSAGES or key == GraphKeys.SAVERS:
        messages = [item.to_proto(export_scope=scope) for item in items]
        collection.bytes_list.value.extend(m.SerializeToString() for m in messages if m is not None)
        collection.bytes_list.SetInParent()
        return
    for item in items:
        if isinstance(item, (str, bytes)):
            collection.bytes_list.value.append(item.encode() if isinstance(item, str) else item)
        elif isinstance(item, bool):
            raise TypeError("items of type bool")
        elif isinstance(item, int):
            collection.int64_list.value.append(item)
        elif isinstance(item, float):
            collection.float_list.value.append(item)
        elif isinstance(item, (Tensor, Operation, Variable)):
            if not scope or item.name.startswith(scope):
                collection.node_list.value.append(strip_name_scope(item.name, scope))
        else:
            raise TypeError(f"items of type {type(item).__name__}")


def _write(message: Any, path: str, as_text: bool) -> None:
    data = text_format.MessageToString(message).encode() if as_text else message.SerializeToString()
    replace_bytes(path, data)


@export("train.write_graph", "io.write_graph")
def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a graph into a file, readable or binary; returns its path."""
    given = graph_or_graph_def
    graph_def = given.as_graph_def() if isinstance(given, Graph) else given
    path = os.path.join(logdir, name)
    _write(graph_def, path, as_text)
    return path


# -------------------------------------------------------------------------------------------------- importing


@export("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> Any:
    """Adds a graph, its collections and its saver to the default graph; returns the saver, or None."""
    from tideflow.train.saver import Saver  # which exports by way of this module

    message = _as_meta_graph(meta_graph_or_file)
    graph = get_default_graph()
    if import_scope:  # the scope may be in use
        import_scope = graph.unique_name(import_scope.removesuffix("/"), mark_as_used=False)
    elements = _import_nodes(message, clear_devices, import_scope, kwargs)
    for key, collection in sorted(message.collection_def.items()):
        if key != kwargs.get("unbound_inputs_col_name", "unbound_inputs"):
            _restore_collection(graph, key, collection, import_scope)
    saver = None
    if message.HasField("saver_def"):
        saver = Saver(saver_def=_copied(message.saver_def), name=import_scope)
    elif graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        saver = Saver()
    else:
        _log.info("Saver not created because there are no variables in the graph to restore")
    return (saver, elements) if "return_elements" in kwargs else saver


def _as_meta_graph(given: Any) -> MetaGraphDef:
    if isinstance(given, MetaGraphDef):
        return given
    if hasattr(given, "SerializeToString"):
        return MetaGraphDef.FromString(given.SerializeToString())
    return read_meta_graph_file(given)


def read_meta_graph_file(filename: str) -> MetaGraphDef:
    """The message in a file, binary or text."""
    path = local_path(filename)
    if not os.path.isfile(path):
        raise OSError(f"File {filename} does not exist.")
    data = read_bytes(path)
    try:
        return MetaGraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return text_format.Parse(data.decode(), MetaGraphDef())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


def _copied(message: Any) -> Any:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _import_nodes(
    message: MetaGraphDef, clear_devices: bool, scope: str | None, options: dict[str, Any]
) -> Any:
    graph_def = message.graph_def
    if clear_devices:
        graph_def = _copied(graph_def)
        for node in graph_def.node:
            node.device = ""
    input_map = options.get("input_map")
    if input_map:
        known = {text for node in graph_def.node for text in node.input}
        input_map = {
            f"{_UNBOUND}{name}" if f"{_UNBOUND}{name}" in known else name: value
            for name, value in input_map.items()
        }
    return import_graph_def(
        graph_def,
        name=scope or "",
        input_map=input_map,
        return_elements=options.get("return_elements"),
    )


def _restore_collection(graph: Graph, key: str, collection: CollectionDef, scope: str | None) -> None:
    kind = collection.WhichOneof("kind")
    if kind is None:
        return
    values = getattr(collection, kind).value
    if kind == "node_list":
        for name in values:
            graph.add_to_collection(key, graph.as_graph_element(prepend_name_scope(name, scope)))
    elif key in _MESSAGES and kind == "bytes_list":
        _restore_messages(graph, key, values, scope)
    elif key != GraphKeys.SAVERS:
        for value in values:
            if isinstance(value, bytes) and scope:  # taken for a name
                value = prepend_name_scope(value.decode(), scope)
            graph.add_to_collection(key, value)


def _restore_messages(graph: Graph, key: str, values: Sequence[bytes], scope: str | None) -> None:
    """Makes the collection's items; a variable that another collection has is the same object here."""
    message_type, from_proto = _MESSAGES[key]
    known = {
        item.name: item
        for other, (kind, _) in _MESSAGES.items()
        if kind is VariableDef
        for item in graph.get_collection(other)
        if isinstance(item, Variable)
    }
    for value in values:
        message = message_type.FromString(value)
        name = prepend_name_scope(message.variable_name, scope) if message_type is VariableDef else None
        item = known.get(name)
        graph.add_to_collection(key, from_proto(message, import_scope=scope) if item is None else item)
