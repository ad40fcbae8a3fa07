"""Parts of a graph copied, with other inputs or by a function of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tideflow.contrib.graph_editor.reroute import add_control_inputs
from tideflow.contrib.graph_editor.select import get_walks_intersection_ops
from tideflow.contrib.graph_editor.subgraph import SubGraphView, make_view
from tideflow.contrib.graph_editor.util import (
    ControlOutputs,
    flatten_tree,
    get_unique_graph,
    make_placeholder_from_tensor,
    scope_finalize,
    transform_tree,
    unique,
)
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import add_node
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys
from tideflow.ops.control_flow.contexts import LoopContext
from tideflow.ops.control_flow.switches import enter_op, merge_op


class _Copying:
    """What a transformation knows while it runs; a name with an underscore at its end is of the copy."""

    def __init__(self, sgv: SubGraphView, dst_graph: Graph, dst_scope: str, src_scope: str):
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.graph = sgv.graph
        self.scope = src_scope
        self.graph_ = dst_graph
        self.scope_ = dst_scope
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {key: sgv.graph.get_collection(key) for key in sgv.graph.get_all_collection_keys()}
        self.collections_of: dict[int, list[Any]] = {}  # by the id of a member
        for key, members in self.collections.items():
            for member in members:
                self.collections_of.setdefault(id(member), []).append(key)
        # Edges back into a loop: the tensor, what stands in for it until it is copied, and its consumer.
        self.tmp_cyclic_ts: list[tuple[Tensor, Tensor, Operation]] = []

    def new_name(self, name: str) -> str:
        """The name of the copy of something, before it is made unique."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


@export(
    "contrib.graph_editor.replace_t_with_placeholder_handler",
    "contrib.graph_editor.transform.replace_t_with_placeholder_handler",
)
def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """Handler of a `Transformer`: a placeholder takes the place of an input.

    Args:
      info: What the transformation knows: `graph_` and `scope_` of the copy, and more.
      t: The input, a tensor.

    Returns:
      The placeholder.
    """
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


@export(
    "contrib.graph_editor.keep_t_if_possible_handler",
    "contrib.graph_editor.transform.keep_t_if_possible_handler",
)
def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """Handler of a `Transformer`: the copy takes the same input, if it is made in the same graph.

    Args:
      info: What the transformation knows: `graph` and `graph_`, and more.
      t: The input, a tensor.

    Returns:
      `t`; in another graph, a placeholder.
    """
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


@export(
    "contrib.graph_editor.assign_renamed_collections_handler",
    "contrib.graph_editor.transform.assign_renamed_collections_handler",
)
def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Handler of a `Transformer`: a copy goes into the collections of its original.

    A collection of `tf.GraphKeys` keeps its key; that of another one is renamed like an operation.

    Args:
      info: What the transformation knows: `graph_`, `collections_of`, `new_name`, and more.
      elem: The original, an operation or one of its outputs.
      elem_: The copy.
    """
    known = {value for key, value in vars(GraphKeys).items() if not key.startswith("__")}
    for name in info.collections_of.get(id(elem), ()):
        info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


@export(
    "contrib.graph_editor.transform_op_if_inside_handler",
    "contrib.graph_editor.transform.transform_op_if_inside_handler",
)
def transform_op_if_inside_handler(
    info: Any, op: Operation, keep_if_possible: bool = True
) -> Operation | None:
    """Handler of a `Transformer`: for an operation that is copied, the copy.

    Args:
      info: What the transformation knows: `ops`, `transformed_ops`, and more.
      op: The operation.
      keep_if_possible: Whether another operation of the same graph stands for itself.

    Returns:
      The operation, or None.
    """
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


@export("contrib.graph_editor.copy_op_handler", "contrib.graph_editor.transform.copy_op_handler")
def copy_op_handler(
    info: Any,
    op: Operation,
    new_inputs: Iterable[Tensor],
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Operation, list[Tensor]]:
    """Handler of a `Transformer`: copies an operation.

    Args:
      info: What the transformation knows: `graph_`, `new_name`, and more.
      op: The operation.
      new_inputs: What the copy takes, a list of tensors.
      copy_shape: Whether the outputs get the static shapes of the original, beside what is inferred.
      nodedef_fn: A function of the copy's NodeDef, which may change it and returns it.

    Returns:
      The copy and its outputs.

    Raises:
      TypeError: If `new_inputs` is a bool.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node = op.node_def
    node.name = info.graph_.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    copied = add_node(info.graph_, node, list(new_inputs))
    if copy_shape:
        for tensor, tensor_ in zip(op.outputs, copied.outputs):
            tensor_.set_shape(tensor.shape)
    copied._original_op = op._original_op
    return copied, copied.outputs


@export("contrib.graph_editor.TransformerInfo", "contrib.graph_editor.transform.TransformerInfo")
class TransformerInfo:
    """What came of a transformation: which copy belongs to which original.

    Args:
      info: What the transformation knew: graphs, scopes, `transformed_ops` and `transformed_ts`.
    """

    def __init__(self, info: Any):
        self._graph, self._graph_ = info.graph, info.graph_
        self._scope, self._scope_ = info.scope, info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _map_of(self, element: Any) -> dict[Any, Any]:
        if isinstance(element, Operation):
            return self._transformed_ops
        if isinstance(element, Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(element)}")

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Finds the copies of operations and tensors.

        Args:
          original: The originals, in a structure of lists, tuples and dictionaries.
          missing_fn: A function of an original that has no copy, which returns what stands for it; by
            default None does.

        Returns:
          The copies, in the same structure.

        Raises:
          TypeError: If there is something else in the structure.
        """

        def copy_of(element: Any) -> Any:
            found = self._map_of(element).get(element)
            return missing_fn(element) if found is None and missing_fn is not None else found

        return transform_tree(original, copy_of)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Finds the originals of operations and tensors.

        Args:
          transformed: The copies, in a structure of lists, tuples and dictionaries.
          missing_fn: A function of an element that is no copy, which returns what stands for it; by default
            None does.

        Returns:
          The originals, in the same structure.

        Raises:
          TypeError: If there is something else in the structure.
        """

        def original_of(element: Any) -> Any:
            for original, copied in self._map_of(element).items():
                if copied is element:
                    return original
            return None if missing_fn is None else missing_fn(element)

        return transform_tree(transformed, original_of)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append(f"  Within graph[{id(self._graph)}]{'' if self._scope_ else ' IN-PLACE'}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {copied.name}" for op, copied in self._transformed_ops.items()]
        return "\n".join([*lines, ""])


@export("contrib.graph_editor.Transformer", "contrib.graph_editor.transform.Transformer")
class Transformer:
    """Copies a part of a graph, by handlers that can be replaced.

    Attributes:
      transform_op_handler: Copies an operation: `(info, op, new_inputs) -> (op, outputs)`.
      assign_collections_handler: Puts a copy into collections: `(info, original, copy)`.
      transform_external_input_handler: What stands for an input of the part: `(info, tensor) -> tensor`.
      transform_external_hidden_input_handler: The same for an input that the view does not show.
      transform_control_input_handler: What stands for a control input, or None: `(info, op) -> op`.
      transform_original_op_handler: The same for the operation that an operation was made for.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Callable[..., Any] = keep_t_if_possible_handler
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Copies a part of a graph.

        Args:
          sgv: A view, or what `make_view` makes one of.
          dst_graph: The graph in which the copy is made.
          dst_scope: The name scope of the copy.
          src_scope: The name scope of the original, which the names of the copies leave out.
          reuse_dst_scope: Whether `dst_scope` may exist; if not, it is made unique.

        Returns:
          A view of the copy, and a `TransformerInfo`.

        Raises:
          TypeError: If `dst_graph` is no graph.
          ValueError: If a name does not begin with `src_scope`.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        scope = scope_finalize(dst_scope)
        if scope and not reuse_dst_scope:
            scope = scope_finalize(dst_graph.unique_name(scope[:-1]))
        info = _Copying(view, dst_graph, scope, scope_finalize(src_scope))
        for op in sorted(view.ops, key=lambda op: op._id):
            self._copy(info, op)
        for tensor, stand_in, consumer in info.tmp_cyclic_ts:
            copied = info.transformed_ops[consumer]
            copied._update_input(list(copied.inputs).index(stand_in), info.transformed_ts[tensor])
        for op in view.ops:
            self._connect_controls(info, op)
        return _view_of_copy(info), TransformerInfo(info)

    def _copy(self, info: _Copying, op: Operation) -> None:
        inputs = [self._copied_input(info, tensor, op) for tensor in op.inputs]
        copied, outputs = self.transform_op_handler(info, op, inputs)
        if copied is op:
            raise ValueError("In-place transformation not allowed.")
        info.transformed_ops[op] = copied
        self.assign_collections_handler(info, op, copied)
        for tensor, tensor_ in zip(op.outputs, outputs):
            info.transformed_ts[tensor] = tensor_
            self.assign_collections_handler(info, tensor, tensor_)

    def _copied_input(self, info: _Copying, tensor: Tensor, consumer: Operation) -> Tensor:
        if tensor in info.transformed_ts:
            return info.transformed_ts[tensor]
        if tensor in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, tensor)
        if tensor.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, tensor)
        if consumer.definition is merge_op:
            stand_in = self._copied_input(info, consumer.inputs[0], consumer)
        elif tensor.op.definition is enter_op:
            stand_in = self._copied_input(info, tensor.op.inputs[0], consumer)
        else:
            with info.graph_.as_default():
                stand_in = make_placeholder_from_tensor(tensor, info.scope_, prefix="geph_tmp")
        info.tmp_cyclic_ts.append((tensor, stand_in, consumer))
        return stand_in

    def _connect_controls(self, info: _Copying, op: Operation) -> None:
        copied = info.transformed_ops[op]
        if op._original_op is not None:
            made_for = self.transform_original_op_handler(info, op._original_op)
            if made_for is not None:
                copied._original_op = made_for
        controls = [self.transform_control_input_handler(info, control) for control in op.control_inputs]
        add_control_inputs(copied, [control for control in controls if control is not None])


def _view_of_copy(info: _Copying) -> SubGraphView:
    """A view of the copies, with inputs and outputs in the order of the original's view."""
    view = SubGraphView(list(info.transformed_ops.values()))

    def copies(originals: Iterable[Tensor], shown: Iterable[Tensor]) -> list[int | Tensor]:
        made = [info.transformed_ts[tensor] for tensor in originals if tensor in info.transformed_ts]
        return [tensor for tensor in made if tensor in shown]

    return view.remap(copies(info.sgv.inputs, view.inputs), copies(info.sgv.outputs, view.outputs))


@export("contrib.graph_editor.copy", "contrib.graph_editor.transform.copy")
def copy(
    sgv: Any,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a part of a graph. Placeholders take the place of its inputs.

    Args:
      sgv: A view, or what `make_view` makes one of.
      dst_graph: The graph in which the copy is made; that of the original if None.
      dst_scope: The name scope of the copy.
      src_scope: The name scope of the original, which the names of the copies leave out.
      reuse_dst_scope: Whether `dst_scope` may exist; if not, it is made unique.

    Returns:
      A view of the copy, and a `TransformerInfo`.

    Raises:
      TypeError: If `dst_graph` is no graph.
      ValueError: If a name does not begin with `src_scope`.
    """
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope)


@export(
    "contrib.graph_editor.copy_with_input_replacements",
    "contrib.graph_editor.transform.copy_with_input_replacements",
)
def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[Tensor, Tensor],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a part of a graph. The copy takes other inputs.

    Args:
      sgv: A view, or what `make_view` makes one of.
      replacement_ts: What the copy takes instead of an input, by input. It takes the other inputs as they
        are; in another graph, placeholders.
      dst_graph: The graph in which the copy is made; that of the original if None.
      dst_scope: The name scope of the copy.
      src_scope: The name scope of the original, which the names of the copies leave out.
      reuse_dst_scope: Whether `dst_scope` may exist; if not, it is made unique.

    Returns:
      A view of the copy, and a `TransformerInfo`.

    Raises:
      TypeError: If `dst_graph` is no graph.
      ValueError: If a name does not begin with `src_scope`.
    """
    view = make_view(sgv)
    copier = Transformer()

    def replaced(info: Any, t: Tensor) -> Tensor:
        return replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)

    copier.transform_external_input_handler = replaced
    graph = view.graph if dst_graph is None else dst_graph
    return copier(view, graph, dst_scope, src_scope, reuse_dst_scope)


def _whole_loops(ops: list[Operation], control_ios: ControlOutputs) -> list[Operation]:
    """The operations, and all others of the loops in which they stand: half a loop cannot be copied."""
    contexts = unique(op._control_flow_context for op in ops)
    loops = [context for context in contexts if isinstance(context, LoopContext)]
    insides = [
        get_walks_intersection_ops(
            [t.op for t in loop.enters], [t.op for t in loop.exits], control_ios=control_ios
        )
        for loop in loops
    ]
    return unique(ops, *insides)


@export("contrib.graph_editor.graph_replace", "contrib.graph_editor.transform.graph_replace")
def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[Tensor, Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Computes tensors from other values than the graph does, by copies of what is in between.

    Args:
      target_ts: What to compute, in a structure of lists, tuples and dictionaries.
      replacement_ts: What to use instead of a value that the targets depend on, by that value.
      dst_scope: The name scope of the copies.
      src_scope: The name scope of the originals, which the names of the copies leave out.
      reuse_dst_scope: Whether `dst_scope` may exist; if not, it is made unique.

    Returns:
      The new targets, in the same structure. One that depends on no replaced value is as it was.

    Raises:
      ValueError: If no target depends on a replaced value.
    """
    targets = flatten_tree(target_ts)
    control_ios = ControlOutputs(get_unique_graph(targets, Tensor))
    ops = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        _whole_loops(ops, control_ios), replacement_ts, None, dst_scope, src_scope, reuse_dst_scope
    )
    return info.transformed(target_ts, lambda original: original)
