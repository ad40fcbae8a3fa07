"""Lists of operations and tensors, control outputs, and placeholders for what is cut off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays.constants import placeholder

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike


class ListView(Sequence[Any]):
    """A list that can be read but not changed."""

    def __init__(self, items: list[Any]):
        self._items = items

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self._items, *other]

    def __repr__(self) -> str:
        return f"ListView({self._items!r})"


def is_iterable(obj: Any) -> bool:
    """Whether a value is several things: a tensor, though it has `__iter__`, is one."""
    return isinstance(obj, Iterable) and not isinstance(obj, Tensor)


def unique(*lists: Iterable[Any]) -> list[Any]:
    """The items of all lists, each at its first place."""
    return list(dict.fromkeys(item for items in lists for item in items))


def flatten_tree(tree: Any) -> list[Any]:
    """The leaves of a structure made of dictionaries and iterables of any kind."""
    if not is_iterable(tree):
        return [tree]
    children = tree.values() if isinstance(tree, Mapping) else tree
    return [leaf for child in children for leaf in flatten_tree(child)]


def transform_tree(tree: Any, function: Any) -> Any:
    """The same structure with `function(leaf)` in the place of each leaf; views and sets become tuples."""
    if not is_iterable(tree):
        return function(tree)
    if isinstance(tree, Mapping):
        return type(tree)((key, transform_tree(child, function)) for key, child in tree.items())
    children = [transform_tree(child, function) for child in tree]
    if hasattr(tree, "_fields"):
        return type(tree)(*children)
    return type(tree)(children) if isinstance(tree, (list, tuple)) else tuple(children)


def check_graphs(*views: Any) -> None:
    """Raises ValueError unless all views that are not empty are of one graph."""
    graphs = [view.graph for view in views]
    first = next((graph for graph in graphs if graph is not None), None)
    for i, graph in enumerate(graphs):
        if graph is not None and graph is not first:
            raise ValueError(f"Argument[{i}]: Wrong graph!")


def get_unique_graph(elements: Any, types: Any = (Operation, Tensor)) -> Graph:
    """The graph of operations or tensors, which all must be of one."""
    if isinstance(elements, Graph):
        return elements
    if not is_iterable(elements):
        raise TypeError(f"{type(elements)} is not iterable")
    found = None
    for element in elements:
        if not isinstance(element, types):
            expected = ", ".join(map(str, types if isinstance(types, tuple) else (types,)))
            raise TypeError(f"Expected a type in ({expected}), got: {type(element)}")
        found = found or element.graph
        if element.graph is not found:
            raise ValueError(f"Operation {element} does not belong to given graph")
    if found is None:
        raise ValueError("Can't find the unique graph of an empty list")
    return found


def _members(given: Any, kind: type, check_graph: bool, ignore_others: bool) -> list[Any]:
    items = given if is_iterable(given) else [given]
    if not isinstance(items, Sequence):
        items = list(items)
    if items and check_graph:
        get_unique_graph(items, (Operation, Tensor) if ignore_others else kind)
    return [item for item in items if isinstance(item, kind)]


@export("contrib.graph_editor.make_list_of_op", "contrib.graph_editor.util.make_list_of_op")
def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """Makes a list of operations.

    Args:
      ops: One operation, several, or a graph, for all of its operations.
      check_graph: Whether to check that all are operations of one graph.
      allow_graph: Whether `ops` may be a graph.
      ignore_ts: Whether tensors among `ops` are left out; if not, they are an error.

    Returns:
      The operations.

    Raises:
      TypeError: If `ops` has something else in it.
      ValueError: If they are of several graphs.
    """
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return ops.get_operations()
    return _members(ops, Operation, check_graph, ignore_ts)


@export("contrib.graph_editor.get_tensors", "contrib.graph_editor.util.get_tensors")
def get_tensors(graph: Graph) -> list[Tensor]:
    """Lists all tensors of a graph.

    Args:
      graph: The graph.

    Returns:
      The outputs of its operations, in the order in which they were made.

    Raises:
      TypeError: If `graph` is no graph.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


@export("contrib.graph_editor.make_list_of_t", "contrib.graph_editor.util.make_list_of_t")
def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Tensor]:
    """Makes a list of tensors.

    Args:
      ts: One `tf.Tensor`, several, or a graph, for all that it has.
      check_graph: Whether to check that all are from one graph.
      allow_graph: Whether `ts` may be a graph.
      ignore_ops: Whether operations among `ts` are left out; if not, they are an error.

    Returns:
      The tensors.

    Raises:
      TypeError: If `ts` has something else in it.
      ValueError: If they are of several graphs.
    """
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    return _members(ts, Tensor, check_graph, ignore_ops)


@export("contrib.graph_editor.get_generating_ops", "contrib.graph_editor.util.get_generating_ops")
def get_generating_ops(ts: Any) -> list[Operation]:
    """Finds the operations that compute some tensors.

    Args:
      ts: One `tf.Tensor`, or several.

    Returns:
      The operation of each.

    Raises:
      TypeError: If `ts` has something else in it.
    """
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


@export("contrib.graph_editor.get_consuming_ops", "contrib.graph_editor.util.get_consuming_ops")
def get_consuming_ops(ts: Any) -> list[Operation]:
    """Finds the operations that take some tensors.

    Args:
      ts: One `tf.Tensor`, or several.

    Returns:
      The operations, each once.

    Raises:
      TypeError: If `ts` has something else in it.
    """
    return unique(*(tensor.consumers() for tensor in make_list_of_t(ts, allow_graph=False)))


@export("contrib.graph_editor.ControlOutputs", "contrib.graph_editor.util.ControlOutputs")
class ControlOutputs:
    """For each operation of a graph, those that wait for it by a control edge.

    Args:
      graph: The graph.

    Raises:
      TypeError: If `graph` is no graph.
    """

    def __init__(self, graph: Graph):
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._found: dict[Operation, list[Operation]] = {}
        self._state: tuple[int, int] | None = None
        self.update()

    def update(self) -> ControlOutputs:
        """Looks again, if the graph has changed since the last time.

        Returns:
          This object.
        """
        state = (self._graph.version, self._graph._mutations)
        if state != self._state:
            self._found.clear()
            for op in self._graph.get_operations():
                for control in unique(op.control_inputs):
                    self._found.setdefault(control, []).append(op)
            self._state = state
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """All control outputs by the operation that they wait for."""
        return self._found

    def get(self, op: Operation) -> Sequence[Operation]:
        """The operations that wait for one.

        Args:
          op: The operation.

        Returns:
          Its control outputs.
        """
        return self._found.get(op, ())

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


def scope_finalize(scope: str) -> str:
    """A scope with a slash at its end, unless it is empty."""
    return f"{scope}/" if scope and not scope.endswith("/") else scope


@export("contrib.graph_editor.placeholder_name", "contrib.graph_editor.util.placeholder_name")
def placeholder_name(t: Tensor | None = None, scope: str | None = None, prefix: str = "geph") -> str:
    """Makes the name of a placeholder that stands in for a tensor.

    Args:
      t: The tensor; None for a placeholder that stands in for none.
      scope: The name scope of the placeholder; that of the operation of `t` if None.
      prefix: What its name begins with.

    Returns:
      `scope/prefix__op_index`, or `scope/prefix` without a tensor.

    Raises:
      TypeError: If `t` is not a `tf.Tensor`.
    """
    if t is None:
        return scope_finalize(scope or "") + prefix
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    folder, slash, base = t.op.name.rpartition("/")
    own = base if base.startswith(f"{prefix}__") else f"{prefix}__{base}_{t.value_index}"
    return (folder + slash if scope is None else scope_finalize(scope)) + own


@export(
    "contrib.graph_editor.make_placeholder_from_tensor",
    "contrib.graph_editor.util.make_placeholder_from_tensor",
)
def make_placeholder_from_tensor(t: Tensor, scope: str | None = None, prefix: str = "geph") -> Tensor:
    """Makes a placeholder of the type and shape of a tensor, in the default graph.

    Args:
      t: The tensor.
      scope: The name scope of the placeholder; that of the operation of `t` if None.
      prefix: What its name begins with.

    Returns:
      The placeholder.
    """
    return placeholder(t.dtype, t.shape, name=placeholder_name(t, scope, prefix))


@export(
    "contrib.graph_editor.make_placeholder_from_dtype_and_shape",
    "contrib.graph_editor.util.make_placeholder_from_dtype_and_shape",
    "contrib.graph_editor.ph",
)
def make_placeholder_from_dtype_and_shape(
    dtype: DTypeLike, shape: ShapeLike | None = None, scope: str | None = None, prefix: str = "geph"
) -> Tensor:
    """Makes a placeholder of a type and a shape, in the default graph.

    Args:
      dtype: The type of the elements.
      shape: What is known of the shape.
      scope: The name scope of the placeholder.
      prefix: What its name begins with.

    Returns:
      The placeholder.
    """
    return placeholder(dtype, shape, name=placeholder_name(scope=scope, prefix=prefix))
