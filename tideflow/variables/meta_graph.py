"""Graphs with their collections as MetaGraphDef messages, TensorFlow's `.meta` files.

`train/meta_graph.py` reads them.
"""

from __future__ import annotations

import logging
import operator
import os
from collections.abc import Sequence
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import CollectionDef, MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from tideflow.export import export
from tideflow.graph.collection_protos import proto_functions, register_proto_function
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_proto, op_def_proto
from tideflow.graph.op import definitions, role_of
from tideflow.graph.operation import Operation
from tideflow.graph.schema import REQUIRED
from tideflow.graph.scopes import GraphKeys, get_default_graph, refuse_eagerly
from tideflow.io.local_files import replace_bytes
from tideflow.io.saved_models import as_text_bytes
from tideflow.platform.version import GIT_VERSION, VERSION
from tideflow.variables.base import Variable
from tideflow.variables.exported_names import prepend_name_scope, strip_name_scope
from tideflow.variables.partitioned import PartitionedVariable

_log = logging.getLogger("tensorflow")
_UNBOUND = "$unbound_inputs_"
UNBOUND_KEY = "unbound_inputs"


VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.GLOBAL_STEP,
)
for _collection in VARIABLES:
    register_proto_function(_collection, VariableDef, Variable.from_proto)


META_GRAPHS_ARE_OF_GRAPHS = (
    "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when "
    "eager execution is enabled."
)


@export("train.export_meta_graph")
def export_meta_graph(
    filename: str | None = None,
    meta_info_def: MetaGraphDef.MetaInfoDef | None = None,
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
    """Exports a graph with its collections as a MetaGraphDef.

    Args:
      filename: A file to write the message into; none if None.
      meta_info_def: A MetaInfoDef message to include.
      graph_def: The GraphDef to include; that of `graph` if None.
      saver_def: A SaverDef to include.
      collection_list: The names of the collections to include; all if None.
      as_text: Whether the file has the text form of the message.
      graph: The graph; the default graph if None.
      export_scope: A name scope. If given, only its nodes are exported, and the scope is removed from their
        names.
      clear_devices: Whether the devices of the nodes are removed.
      clear_extraneous_savers: Whether savers other than `saver_def` and their nodes are removed.
      strip_default_attrs: Whether attributes with their default values are removed, so that older programs
        can read the graph.
      save_debug_info: Whether the tracebacks of the operations are written into a second file.
      **kwargs: `unbound_inputs_col_name`, the name of the collection of inputs from outside `export_scope`.

    Returns:
      The MetaGraphDef.

    Raises:
      TypeError: If a keyword is not one of these.
      ValueError: If the arguments contradict each other.
    """
    if graph is None:
        refuse_eagerly(META_GRAPHS_ARE_OF_GRAPHS)
    graph = graph or get_default_graph()
    message = MetaGraphDef()
    if meta_info_def is not None:
        message.meta_info_def.CopyFrom(meta_info_def)
    nodes = graph_def or graph.as_graph_def(add_shapes=True)
    left_out = _nodes_of_other_savers(nodes, saver_def) if clear_extraneous_savers else set()
    unbound = _fill_graph(message.graph_def, nodes, export_scope, left_out, clear_devices)
    _describe(message)
    if strip_default_attrs:
        strip_defaults(message)
    if saver_def is not None:
        message.saver_def.CopyFrom(saver_def)
    unbound_key = kwargs.pop("unbound_inputs_col_name", UNBOUND_KEY)
    if kwargs:
        raise TypeError(f"export_meta_graph() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        items = [item for item in graph.get_collection(key) if getattr(item, "name", None) not in left_out]
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            items = [] if saver_def is None else [proto_functions[key].from_proto(saver_def)]
        if key != unbound_key:
            add_collection(message, key, items, export_scope)
    if unbound_key and unbound:
        message.collection_def[unbound_key].bytes_list.value.extend(name.encode() for name in unbound)
    if filename:
        _write(message, filename, as_text)
        if save_debug_info:
            path = f"{os.path.splitext(filename)[0]}.debug"
            _write(_debug_info(graph, message.graph_def, export_scope), path, as_text)
    return message


def _fill_graph(
    target: GraphDef, source: GraphDef, scope: str | None, left_out: set[str], clear_devices: bool
) -> list[str]:
    """Copies the nodes of a scope, named as seen from inside; returns which inputs come from outside."""
    unbound: list[str] = []
    if not (scope or left_out or clear_devices):
        target.CopyFrom(source)
        return unbound
    target.versions.CopyFrom(source.versions)
    target.library.CopyFrom(source.library)
    prefix = f"{scope.removesuffix('/')}/" if scope else ""
    for node in source.node:
        if node.name in left_out or not node.name.startswith(prefix):
            continue
        copy = target.node.add()
        copy.CopyFrom(node)
        if prefix:
            _move_inside(copy, prefix, unbound)
        if clear_devices:
            copy.device = ""
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
    if "_class" in node.attr:
        groups, inside = node.attr["_class"].list.s, f"loc:@{prefix}".encode()
        kept = [b"loc:@" + group.removeprefix(inside) for group in groups if group.startswith(inside)]
        node.attr["_class"].list.SetInParent()
        groups[:] = kept
    if node.op in ("Enter", "RefEnter"):
        node.attr["frame_name"].s = node.attr["frame_name"].s.removeprefix(prefix.encode())


def _nodes_of_other_savers(graph_def: GraphDef, saver_def: SaverDef | None) -> set[str]:
    """The names of all that stands in the scopes of savers other than the one exported."""
    savers = {node.name for node in graph_def.node if role_of(node.op) in ("save", "restore")}
    scopes = {name.rpartition("/")[0] for name in savers} - savers
    if saver_def is not None:
        for name in (saver_def.save_tensor_name, saver_def.restore_op_name):
            scopes.discard(name.rpartition("/")[0])
    prefixes = tuple(f"{scope}/" for scope in scopes)
    return {node.name for node in graph_def.node if node.name.startswith(prefixes)} if prefixes else set()


def _describe(message: MetaGraphDef) -> None:
    """Which ops the graph uses, and who wrote it."""
    info = message.meta_info_def
    if not info.stripped_op_list.op:
        known = definitions()
        used = sorted(used_ops(message.graph_def) & known.keys())
        info.stripped_op_list.SetInParent()
        info.stripped_op_list.op.extend(op_def_proto(known[name]) for name in used)
    info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION


def used_ops(graph_def: GraphDef) -> set[str]:
    """The types of the nodes, and of those in functions that nodes are calls of."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    waiting = [node.op for node in graph_def.node]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += [node.op for node in functions[name].node_def] if name in functions else []
    return used - functions.keys()


def strip_defaults(message: MetaGraphDef) -> None:
    """Takes out attributes that say what they would say unsaid: older readers then know fewer names."""
    graph_def = message.graph_def
    functions = (node for function in graph_def.library.function for node in function.node_def)
    for node in (*graph_def.node, *functions):
        op = definitions().get(node.op)
        for key, spec in op.attrs.items() if op else ():
            if spec.default is REQUIRED or key not in node.attr:
                continue
            if node.attr[key] == attr_proto(spec.default, spec.kind):
                del node.attr[key]
    message.meta_info_def.stripped_default_attrs = True


def _debug_info(graph: Graph, graph_def: GraphDef, scope: str | None) -> GraphDebugInfo:
    """The lines of the user's program that made the exported nodes, outermost first."""
    info = GraphDebugInfo()
    files: dict[str, int] = {}
    for node in graph_def.node:
        op: Operation = graph.get_operation_by_name(prepend_name_scope(node.name, scope))
        trace = info.traces[op.name]
        for file, line, *_ in op.traceback:
            trace.file_line_cols.add(file_index=files.setdefault(file, len(files)), line=line)
    info.files.extend(files)
    return info


def add_collection(message: MetaGraphDef, key: Any, items: list[Any], scope: str | None) -> None:
    if not isinstance(key, (str, bytes)):
        _log.warning("Only collections with string type keys will be serialized. This key has %s", type(key))
        return
    collection = CollectionDef()
    try:
        _fill_collection(collection, key, items, scope)
    except Exception as error:  # items are of any class, whose `to_proto` may refuse in its own way
        _log.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the items don't "
            "match field type in CollectionDef. Note this is a warning and probably safe to ignore.\n%s",
            key,
            error,
        )
        return
    if collection.WhichOneof("kind") is not None:
        message.collection_def[key].CopyFrom(collection)


def _fill_collection(collection: CollectionDef, key: str, items: list[Any], scope: str | None) -> None:
    """The items as what the first of them is: text, numbers, messages, or else things with a name."""
    if not items:
        return
    first = items[0]
    if key in proto_functions:
        messages = [proto_functions[key].to_proto(item, export_scope=scope) for item in items]
        collection.bytes_list.value.extend(
            m.SerializeToString(deterministic=True) for m in messages if m is not None
        )
    elif isinstance(first, (str, bytes)):
        texts = [item.encode() if isinstance(item, str) else item for item in items]
        collection.bytes_list.value.extend(texts)
    elif isinstance(first, int):
        collection.int64_list.value.extend(map(operator.index, items))
    elif isinstance(first, float):
        collection.float_list.value.extend(items)
    elif isinstance(first, AnyMessage):
        collection.any_list.value.extend(items)
    else:
        if any(isinstance(item, PartitionedVariable) for item in items):
            raise TypeError("a variable in parts has no node of its own")
        names = [item.name for item in items]
        collection.node_list.value.extend(
            strip_name_scope(name, scope) for name in names if not scope or name.startswith(scope)
        )


def _write(message: Any, path: str, as_text: bool) -> None:
    replace_bytes(path, as_text_bytes(message) if as_text else message.SerializeToString(deterministic=True))


@export("train.write_graph", "io.write_graph")
def write_graph(graph_or_graph_def: Graph | GraphDef, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a graph into a file.

    Args:
      graph_or_graph_def: A Graph or a GraphDef.
      logdir: The directory, which is made if it does not exist.
      name: The name of the file.
      as_text: Whether the file has the text form of the message.

    Returns:
      The path of the file.
    """
    given = graph_or_graph_def
    graph_def = given.as_graph_def() if isinstance(given, Graph) else given
    path = os.path.join(logdir, name)
    _write(graph_def, path, as_text)
    return path
