"""Graphs with their collections and saver as MetaGraphDef messages, TensorFlow's `.meta` files, both ways."""

from __future__ import annotations

import logging
import operator
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import CollectionDef, MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.control_flow_proto import CondContextDef, WhileContextDef
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_proto, op_def_proto
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.op import definitions, role_of
from tideflow.graph.operation import Operation
from tideflow.graph.queue_runner_proto import QueueRunnerDef
from tideflow.graph.schema import REQUIRED
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.io.local_files import local_path, read_bytes, replace_bytes
from tideflow.io.saved_models import as_text_bytes, parse_text
from tideflow.platform.version import GIT_VERSION, VERSION
from tideflow.train.context_protos import context_from_proto, context_to_proto
from tideflow.train.queue_runner import QueueRunner
from tideflow.variables.base import Variable, prepend_name_scope, strip_name_scope
from tideflow.variables.partitioned import PartitionedVariable

_log = logging.getLogger("tensorflow")
_UNBOUND = "$unbound_inputs_"
_UNBOUND_KEY = "unbound_inputs"


class _Kind(NamedTuple):
    """How the items of a collection are messages."""

    message: type
    to_proto: Callable
    from_proto: Callable


def _saver_from_proto(message: SaverDef, import_scope: str | None = None) -> Any:
    from tideflow.train.saver import Saver  # which exports by way of this module

    return Saver.from_proto(message, import_scope)


def _own_proto(item: Any, export_scope: str | None = None) -> Any:
    return item.to_proto(export_scope=export_scope)


_VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.GLOBAL_STEP,
)
_MESSAGES = {
    **dict.fromkeys(_VARIABLES, _Kind(VariableDef, _own_proto, Variable.from_proto)),
    GraphKeys.QUEUE_RUNNERS: _Kind(QueueRunnerDef, _own_proto, QueueRunner.from_proto),
    GraphKeys.SAVERS: _Kind(SaverDef, _own_proto, _saver_from_proto),
    GraphKeys.COND_CONTEXT: _Kind(CondContextDef, context_to_proto, context_from_proto),
    GraphKeys.WHILE_CONTEXT: _Kind(WhileContextDef, context_to_proto, context_from_proto),
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
    left_out = _nodes_of_other_savers(nodes, saver_def) if clear_extraneous_savers else set()
    unbound = _fill_graph(message.graph_def, nodes, export_scope, left_out, clear_devices)
    _describe(message)
    if strip_default_attrs:
        _strip_defaults(message)
    if saver_def is not None:
        message.saver_def.CopyFrom(saver_def)
    unbound_key = kwargs.get("unbound_inputs_col_name", _UNBOUND_KEY)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        items = [item for item in graph.get_collection(key) if getattr(item, "name", None) not in left_out]
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            items = [] if saver_def is None else [_saver_from_proto(saver_def)]
        if key != unbound_key:
            _add_collection(message, key, items, export_scope)
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
        used = sorted(_used_ops(message.graph_def) & known.keys())
        info.stripped_op_list.SetInParent()
        info.stripped_op_list.op.extend(op_def_proto(known[name]) for name in used)
    info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION


def _used_ops(graph_def: GraphDef) -> set[str]:
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


def _strip_defaults(message: MetaGraphDef) -> None:
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


def _add_collection(message: MetaGraphDef, key: Any, items: list[Any], scope: str | None) -> None:
    if not isinstance(key, (str, bytes)):
        _log.warning("Only collections with string type keys will be serialized. This key has %s", type(key))
        return
    collection = CollectionDef()
    try:
        _fill_collection(collection, key, items, scope)
    except (AttributeError, TypeError, ValueError) as error:
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
    if key in _MESSAGES:
        messages = [_MESSAGES[key].to_proto(item, export_scope=scope) for item in items]
        collection.bytes_list.value.extend(m.SerializeToString() for m in messages if m is not None)
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
    replace_bytes(path, as_text_bytes(message) if as_text else message.SerializeToString())


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
    return import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[
        0
    ]


def import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Sequence[str] | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str = _UNBOUND_KEY,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> tuple[Any, Any]:
    """Adds a graph, its collections and its saver; returns the saver and the elements of these names."""
    message = _as_meta_graph(meta_graph_or_file)
    if unbound_inputs_col_name in message.collection_def:
        _check_bound(message.collection_def[unbound_inputs_col_name], input_map or {})
    graph = get_default_graph()
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    graph_def = _without_devices(message.graph_def) if clear_devices else message.graph_def
    elements = import_graph_def(
        graph_def,
        name=import_scope or scope,
        input_map=input_map,
        return_elements=return_elements,
        producer_op_list=message.meta_info_def.stripped_op_list,
    )
    variables: dict[bytes, Variable] = {}
    kept = {unbound_inputs_col_name}
    # What is trainable first: of files from before 1.9 only that collection says so.
    for key in sorted(message.collection_def, key=lambda key: (key != GraphKeys.TRAINABLE_VARIABLES, key)):
        if key not in kept and restore_collections_predicate(key):
            _restore_collection(graph, key, message, scope, variables)
    return _imported_saver(graph, message, import_scope, scope), elements


def _imported_saver(graph: Graph, message: MetaGraphDef, import_scope: str | None, scope: str) -> Any:
    from tideflow.train.saver import Saver  # which exports by way of this module

    if message.HasField("saver_def"):
        return Saver(saver_def=_copied(message.saver_def), name=scope.removesuffix("/") or None)
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
    if any(graph.get_collection(key, import_scope) for key in keys):
        return Saver()
    _log.info("Saver not created because there are no variables in the graph to restore")
    return None


def _check_bound(collection: CollectionDef, input_map: dict[str, Any]) -> None:
    """ValueError unless the inputs that came from outside the exported scope, and only they, are given."""
    names = [name.decode() for name in collection.bytes_list.value]
    if names and sorted(names) != sorted(input_map):
        missing = ",".join(name for name in names if name not in input_map)
        raise ValueError(
            f"Graph contains unbound inputs: {missing}. Must provide these inputs through input_map."
        )


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
        return parse_text(data, MetaGraphDef())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


def _copied(message: Any) -> Any:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _without_devices(graph_def: GraphDef) -> GraphDef:
    result = _copied(graph_def)
    for node in result.node:
        node.device = ""
    return result


def _restore_collection(
    graph: Graph, key: str, message: MetaGraphDef, scope: str, variables: dict[bytes, Variable]
) -> None:
    """Adds the items of a collection to the graph's; a variable of several collections is one object."""
    collection = message.collection_def[key]
    kind = collection.WhichOneof("kind")
    if kind is None:
        _log.error("Cannot identify data type for collection %s. Skipping.", key)
        return
    for value in getattr(collection, kind).value:
        if kind == "node_list":
            item = graph.as_graph_element(prepend_name_scope(value, scope))
        elif key in _VARIABLES and kind == "bytes_list":
            item = variables.get(value)
            if item is None:
                item = variables[value] = _item_from_message(key, value, scope, _trainable(key, message))
        elif key in _MESSAGES and kind == "bytes_list":
            item = _item_from_message(key, value, scope)
        elif kind == "bytes_list" and scope:  # taken for a name
            item = prepend_name_scope(value.decode(errors="replace"), scope)
        else:
            item = value
        graph.add_to_collection(key, item)


def _item_from_message(key: str, value: bytes, scope: str, trainable: bool | None = None) -> Any:
    kind = _MESSAGES[key]
    try:
        message = kind.message.FromString(value)
    except DecodeError as error:
        raise errors.data_loss(
            f"The collection {key!r} has an item that is no {kind.message.__name__}: {error}"
        ) from None
    if trainable is not None:
        message.trainable = trainable
    return kind.from_proto(message, import_scope=scope)


def _trainable(key: str, message: MetaGraphDef) -> bool | None:
    """Whether a variable is trainable, where its own message does not say it: before TensorFlow 1.9."""
    version = re.match(r"(\d+)\.(\d+)", message.meta_info_def.tensorflow_version)
    if version is None or tuple(map(int, version.groups())) >= (1, 9):
        return None
    return key == GraphKeys.TRAINABLE_VARIABLES
