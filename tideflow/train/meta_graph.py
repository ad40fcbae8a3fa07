"""MetaGraphDef messages as graphs with collections and a saver; `variables/meta_graph.py` writes them."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import CollectionDef, MetaGraphDef

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.collection_protos import proto_functions
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.scopes import GraphKeys, get_default_graph, refuse_eagerly
from tideflow.io.local_files import local_path, read_bytes
from tideflow.io.saved_models import parse_text
from tideflow.train.saver import Saver
from tideflow.variables.base import Variable
from tideflow.variables.exported_names import prepend_name_scope
from tideflow.variables.meta_graph import META_GRAPHS_ARE_OF_GRAPHS, UNBOUND_KEY, VARIABLES

if TYPE_CHECKING:
    from tideflow.graph.typing import PathLike

_log = logging.getLogger("tensorflow")


@export("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: MetaGraphDef | PathLike,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Any:
    """Adds a graph and its collections to the default graph.

    Args:
      meta_graph_or_file: A MetaGraphDef, or the file that contains one.
      clear_devices: Whether the devices of the nodes are ignored.
      import_scope: The name scope of the new operations.
      **kwargs: `graph`, another graph to add to; `input_map` and `return_elements` of `tf.import_graph_def`;
        `restore_collections_predicate`, which says of a collection's key whether it is restored.

    Returns:
      The Saver of the graph, or None if it has no variables.
    """
    return import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[
        0
    ]


def import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Sequence[str] | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str = UNBOUND_KEY,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    graph: Graph | None = None,
) -> tuple[Any, Any]:
    """Adds a graph and its collections to the default graph, or to `graph`, and makes their saver; returns
    the saver and the elements of these names.
    """
    refuse_eagerly(META_GRAPHS_ARE_OF_GRAPHS)
    message = _as_meta_graph(meta_graph_or_file)
    scope, elements = import_without_saver(
        message,
        clear_devices,
        import_scope,
        return_elements,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
        graph,
    )
    return _imported_saver(get_default_graph(), message, import_scope, scope), elements


def import_without_saver(
    meta_graph_or_file: Any,
    clear_devices: bool,
    import_scope: str | None,
    return_elements: Sequence[str] | None,
    input_map: dict[str, Any] | None,
    unbound_inputs_col_name: str,
    restore_collections_predicate: Callable[[str], bool],
    graph: Graph | None,
) -> tuple[str, Any]:
    """The same without a saver; returns the scope that the graph is in, and the elements."""
    message = _as_meta_graph(meta_graph_or_file)
    if unbound_inputs_col_name and unbound_inputs_col_name in message.collection_def:
        _check_bound(message.collection_def[unbound_inputs_col_name], input_map or {})
    graph = graph or get_default_graph()
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    graph_def = _without_devices(message.graph_def) if clear_devices else message.graph_def
    variables: dict[bytes, Variable] = {}
    kept = {unbound_inputs_col_name}
    with graph.as_default():
        elements = import_graph_def(
            graph_def,
            name=import_scope or scope,
            input_map=input_map,
            return_elements=return_elements,
            producer_op_list=message.meta_info_def.stripped_op_list,
        )
        # What is trainable first: of files from before 1.9 only that collection says so.
        for key in sorted(message.collection_def, key=lambda k: (k != GraphKeys.TRAINABLE_VARIABLES, k)):
            if key not in kept and restore_collections_predicate(key):
                _restore_collection(graph, key, message, scope, variables)
    return scope, elements


def _imported_saver(graph: Graph, message: MetaGraphDef, import_scope: str | None, scope: str) -> Any:
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
        elif key in VARIABLES and kind == "bytes_list":
            item = variables.get(value)
            if item is None:
                item = variables[value] = _item_from_message(key, value, scope, _trainable(key, message))
        elif key in proto_functions and kind == "bytes_list":
            item = _item_from_message(key, value, scope)
        elif kind == "bytes_list" and scope:  # taken for a name
            item = prepend_name_scope(value.decode(errors="replace"), scope)
        else:
            item = value
        graph.add_to_collection(key, item)


def _item_from_message(key: str, value: bytes, scope: str, trainable: bool | None = None) -> Any:
    kind = proto_functions[key]
    try:
        message = kind.proto_type.FromString(value)
    except DecodeError as error:
        raise errors.data_loss(
            f"The collection {key!r} has an item that is no {kind.proto_type.__name__}: {error}"
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
