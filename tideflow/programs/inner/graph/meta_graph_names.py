"""Functions of `tensorflow.python.framework.meta_graph`: parts of graphs, exported and imported by scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.op_def_pb2 import OpList

from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import definitions
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.train.meta_graph import import_without_saver
from tideflow.train.meta_graph import read_meta_graph_file as read_meta_graph_file  # looked up by programs
from tideflow.variables.meta_graph import (
    UNBOUND_KEY,
    add_collection,
    export_meta_graph,
    strip_defaults,
    used_ops,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import PathLike


def ops_used_by_graph_def(graph_def: GraphDef) -> list[str]:
    """The op types of a graph, those in its functions included.

    Args:
      graph_def: The graph.

    Returns:
      Their names.
    """
    return list(used_ops(graph_def))


def stripped_op_list_for_graph(graph_def: GraphDef) -> OpList:
    """The definitions of the op types of a graph.

    Args:
      graph_def: The graph.

    Returns:
      An OpList.
    """
    known = definitions()
    found = OpList()
    found.op.extend(op_def_proto(known[name]) for name in sorted(used_ops(graph_def)) if name in known)
    return found


def strip_graph_default_valued_attrs(meta_graph_def: MetaGraphDef) -> None:
    """Takes out attributes that have their default values.

    Args:
      meta_graph_def: The message, which is changed.
    """
    strip_defaults(meta_graph_def)


def add_collection_def(
    meta_graph_def: MetaGraphDef, key: str, graph: Graph | None = None, export_scope: str | None = None
) -> None:
    """Adds a collection of a graph to a message.

    Args:
      meta_graph_def: The message, which is changed.
      key: The name of the collection.
      graph: The graph; None for the default one.
      export_scope: The scope that is removed from names.
    """
    items = (graph or get_default_graph()).get_collection(key)
    add_collection(meta_graph_def, key, items, export_scope)


def create_meta_graph_def(
    meta_info_def: MetaGraphDef.MetaInfoDef | None = None,
    graph_def: GraphDef | None = None,
    saver_def: Any = None,
    collection_list: Sequence[str] | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    **options: Any,
) -> MetaGraphDef:
    """A graph with its collections as a message.

    Args:
      meta_info_def: A MetaInfoDef to include.
      graph_def: The GraphDef to include; None for that of `graph`.
      saver_def: A SaverDef to include.
      collection_list: The names of the collections; None for all.
      graph: The graph; None for the default one.
      export_scope: The scope that is exported.
      **options: Options of `tf.train.export_meta_graph`.

    Returns:
      The message.

    Raises:
      TypeError: If `graph` is no graph, or `graph_def` no GraphDef.
    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    if graph_def is not None and not isinstance(graph_def, GraphDef):
        raise TypeError(f"graph_def must be of type GraphDef, not {type(graph_def)}")
    return export_meta_graph(
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        graph=graph,
        export_scope=export_scope,
        **options,
    )


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: GraphDef | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str = UNBOUND_KEY,
    clear_devices: bool = False,
    **options: Any,
) -> tuple[MetaGraphDef, dict[str, Any]]:
    """Exports a graph, or what is in one of its scopes.

    Args:
      filename: A file to write the message into; None for none.
      graph_def: The GraphDef; None for that of `graph`.
      graph: The graph; None for the default one.
      export_scope: The scope, which is removed from names.
      as_text: Whether the file has the text form of the message.
      unbound_inputs_col_name: The collection that names inputs from outside of the scope.
      clear_devices: Whether devices are left out.
      **options: Options of `tf.train.export_meta_graph`.

    Returns:
      The message, and the variables of the scope by their names there.
    """
    graph = graph or get_default_graph()
    message = export_meta_graph(
        filename=filename,
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        as_text=as_text,
        unbound_inputs_col_name=unbound_inputs_col_name,
        clear_devices=clear_devices,
        **options,
    )
    return message, _variables(graph, export_scope)


def import_scoped_meta_graph(
    meta_graph_or_file: MetaGraphDef | PathLike,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str = UNBOUND_KEY,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Adds a graph and its collections to the default graph, or to `graph`.

    Args:
      meta_graph_or_file: The message, or the path of a file that has it.
      clear_devices: Whether devices are left out.
      graph: The graph; None for the default one.
      import_scope: A scope to add it in.
      input_map: What to put in the place of tensors of the message.
      unbound_inputs_col_name: The collection that names inputs which `input_map` has to give.
      restore_collections_predicate: Which collections are added.

    Returns:
      The variables by their names in the message.
    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: MetaGraphDef | PathLike,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str = UNBOUND_KEY,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Sequence[str] | None = None,
) -> tuple[dict[str, Any], Any]:
    """The same with elements of the graph that are asked for.

    Args:
      meta_graph_or_file: The message, or the path of a file that has it.
      clear_devices: Whether devices are left out.
      graph: The graph; None for the default one.
      import_scope: A scope to add it in.
      input_map: What to put in the place of tensors of the message.
      unbound_inputs_col_name: The collection that names inputs which `input_map` has to give.
      restore_collections_predicate: Which collections are added.
      return_elements: The names of operations and tensors of the message.

    Returns:
      The variables by their names in the message, and the elements.
    """
    graph = graph or get_default_graph()
    scope, elements = import_without_saver(
        meta_graph_or_file,
        clear_devices,
        import_scope,
        return_elements,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
        graph,
    )
    return _variables(graph, scope), elements


def copy_scoped_meta_graph(
    from_scope: str, to_scope: str, from_graph: Graph | None = None, to_graph: Graph | None = None
) -> dict[str, Any]:
    """Copies what is in a scope into another one.

    Args:
      from_scope: The scope.
      to_scope: The other scope.
      from_graph: The graph of the first; None for the default one.
      to_graph: The graph of the second; None for the default one.

    Returns:
      The new variables by their names in the scope.

    Raises:
      ValueError: If both are the same.
    """
    from_graph, to_graph = from_graph or get_default_graph(), to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            f"'from_scope' and 'to_scope' need to be different when performing copy in the same graph. "
            f"Both are {from_scope!r}."
        )
    message, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(message, graph=to_graph, import_scope=to_scope)


def _variables(graph: Graph, scope: str | None) -> dict[str, Any]:
    prefix = f"{scope}/" if scope and not scope.endswith("/") else scope or ""
    found = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=prefix)
    return {variable.name.removeprefix(prefix): variable for variable in found}
