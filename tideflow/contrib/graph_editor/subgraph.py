"""A part of a graph, seen as one operation: with inputs and outputs in an order of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tideflow.contrib.graph_editor.select import (
    compute_boundary_ts,
    get_name_scope_ops,
    get_walks_union_ops,
    select_ops_and_ts,
)
from tideflow.contrib.graph_editor.util import (
    ListView,
    get_unique_graph,
    make_list_of_op,
    make_list_of_t,
    unique,
)
from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor


def _positions(wanted: Iterable[int | Tensor], tensors: list[Tensor], repeated: bool) -> list[int]:
    found = [item if isinstance(item, int) else tensors.index(item) for item in wanted]
    for i in found:
        if not 0 <= i < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {i}")
    if not repeated and len(set(found)) != len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return found


@export("contrib.graph_editor.SubGraphView", "contrib.graph_editor.subgraph.SubGraphView")
class SubGraphView:
    """A view of a part of a graph: its operations, the tensors that enter it and those that leave it.

    A view changes nothing in the graph. Its inputs and outputs can be remapped: put into another order, left
    out, or, for outputs, repeated. A passthrough is a tensor that is both an input and an output and belongs
    to none of the operations.

    Args:
      inside_ops: The operations.
      passthrough_ts: Tensors that pass through: one `tf.Tensor`, or several.

    Raises:
      ValueError: If they are of several graphs.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()):
        ops, passing = make_list_of_op(inside_ops), make_list_of_t(passthrough_ts)
        self._graph: Graph | None = get_unique_graph([*ops, *passing]) if ops or passing else None
        self._ops = ops
        inputs, outputs, inside = compute_boundary_ts(ops)
        own = {*inputs, *outputs, *inside}
        self._passthrough_ts = [tensor for tensor in passing if tensor not in own]
        self._input_ts: list[Tensor] = [*inputs, *self._passthrough_ts]
        self._output_ts: list[Tensor] = [*outputs, *self._passthrough_ts]

    def __copy__(self) -> SubGraphView:
        result = type(self).__new__(type(self))
        result._assign_from(self)
        return result

    def _assign_from(self, other: SubGraphView) -> None:
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        self._graph = other._graph
        self._ops = list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts = list(other._input_ts)
        self._output_ts = list(other._output_ts)

    def copy(self) -> SubGraphView:
        """Makes a view of its own of the same part of the graph; nothing in the graph is copied."""
        return self.__copy__()

    # ------------------------------------------------------------------ remapping

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """Makes a view with the inputs and outputs that it had before it was remapped.

        Args:
          remove_input_map: Whether to do so with the inputs.
          remove_output_map: Whether to do so with the outputs.

        Returns:
          The new view.
        """
        result = self.copy()
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        if remove_input_map:
            result._input_ts = [*inputs, *self._passthrough_ts]
        if remove_output_map:
            result._output_ts = [*outputs, *self._passthrough_ts]
        return result

    def remap_inputs(self, new_input_indices: Sequence[int | Tensor]) -> SubGraphView:
        """Makes a view with some of the inputs, in another order.

        Args:
          new_input_indices: The positions of the inputs to take, or the inputs themselves. None of them may
            be taken twice.

        Returns:
          The new view.

        Raises:
          ValueError: If a position is out of range or repeated.
        """
        return self.remap(new_input_indices=new_input_indices)

    def remap_outputs(self, new_output_indices: Sequence[int | Tensor]) -> SubGraphView:
        """Makes a view with some of the outputs, in another order.

        Args:
          new_output_indices: The positions of the outputs to take, or the outputs themselves.

        Returns:
          The new view.

        Raises:
          ValueError: If a position is out of range.
        """
        return self.remap(new_output_indices=new_output_indices)

    def remap(
        self,
        new_input_indices: Sequence[int | Tensor] | None = None,
        new_output_indices: Sequence[int | Tensor] | None = None,
    ) -> SubGraphView:
        """Makes a view with some of the inputs and some of the outputs.

        Args:
          new_input_indices: As in `remap_inputs`; None to keep the inputs.
          new_output_indices: As in `remap_outputs`; None to keep the outputs.

        Returns:
          The new view.

        Raises:
          ValueError: If a position is out of range, or that of an input is repeated.
        """
        result = self.copy()
        if new_input_indices is not None:
            chosen = _positions(new_input_indices, self._input_ts, repeated=False)
            result._input_ts = [self._input_ts[i] for i in chosen]
        if new_output_indices is not None:
            chosen = _positions(new_output_indices, self._output_ts, repeated=True)
            result._output_ts = [self._output_ts[i] for i in chosen]
        return result

    def remap_outputs_make_unique(self) -> SubGraphView:
        """Makes a view in which each output stands once."""
        result = self.copy()
        result._output_ts = unique(self._output_ts)
        return result

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """Makes a view in which each output stands as often as there are operations that take it."""
        result = self.copy()
        result._output_ts = [t for t in unique(self._output_ts) for _ in t.consumers()]
        return result

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """Makes a view without the operations that no input leads to and no output depends on.

        Args:
          control_inputs: Whether an output also depends on control inputs.

        Returns:
          The new view.
        """
        used = set(
            get_walks_union_ops(
                self.connected_inputs,
                self.connected_outputs,
                within_ops=self._ops,
                control_inputs=control_inputs,
            )
        )
        result = self.copy()
        result._ops = [op for op in self._ops if op in used]
        return result

    # ------------------------------------------------------------------ what is in it

    @property
    def graph(self) -> Graph | None:
        """The graph, None for an empty view."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> ListView:
        """The tensors that enter."""
        return ListView(self._input_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that are no passthroughs."""
        return [tensor for tensor in self._input_ts if tensor not in self._passthrough_ts]

    @property
    def outputs(self) -> ListView:
        """The tensors that leave."""
        return ListView(self._output_ts)

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that are no passthroughs."""
        return [tensor for tensor in self._output_ts if tensor not in self._passthrough_ts]

    @property
    def passthroughs(self) -> ListView:
        """The tensors that pass through."""
        return ListView(self._passthrough_ts)

    def __bool__(self) -> bool:
        return self._graph is not None

    def op(self, op_id: int) -> Operation:
        """Gets an operation.

        Args:
          op_id: Its position among `ops`.

        Returns:
          The operation.
        """
        return self._ops[op_id]

    def find_op_by_name(self, op_name: str) -> Operation:
        """Finds an operation of the view.

        Args:
          op_name: Its name.

        Returns:
          The operation.

        Raises:
          ValueError: If there is none.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor passes through.

        Args:
          t: The tensor.

        Returns:
          True or False.
        """
        return t in self._passthrough_ts

    def input_index(self, t: Tensor) -> int:
        """Finds an input.

        Args:
          t: The tensor.

        Returns:
          Its position among `inputs`.

        Raises:
          ValueError: If it is none of them.
        """
        if t not in self._input_ts:
            raise ValueError(f"Can't find {t.name} in inputs of the subgraph.")
        return self._input_ts.index(t)

    def output_index(self, t: Tensor) -> int:
        """Finds an output.

        Args:
          t: The tensor.

        Returns:
          Its first position among `outputs`.

        Raises:
          ValueError: If it is none of them.
        """
        if t not in self._output_ts:
            raise ValueError(f"Can't find {t.name} in outputs of the subgraph.")
        return self._output_ts.index(t)

    def consumers(self) -> list[Operation]:
        """The operations outside that take an output."""
        inside = set(self._ops)
        return [op for op in unique(*(t.consumers() for t in self._output_ts)) if op not in inside]

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"

        def tensors(listed: list[Tensor]) -> list[str]:
            return [f"{t.name} *" if self.is_passthrough(t) else t.name for t in listed]

        lines = [f"SubGraphView (graphid={id(self._graph)}):"]
        parts = {
            "ops": [op.name for op in self._ops],
            "inputs": tensors(self._input_ts),
            "outputs": tensors(self._output_ts),
        }
        for title, names in parts.items():
            lines.append(f"** {title}[{len(names)}]:" if names else f"** {title}: empty")
            lines += [f"  {name}" for name in names]
        return "\n".join([*lines, ""])


def _checked(view: SubGraphView, graph: Any) -> SubGraphView:
    if graph is not None and view:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        if view.graph is not graph:
            raise ValueError("Graph mismatch.")
    return view


@export(
    "contrib.graph_editor.make_view", "contrib.graph_editor.subgraph.make_view", "contrib.graph_editor.sgv"
)
def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """Makes a view of the operations and the passing tensors that are selected.

    Args:
      *args: What `select_ops_and_ts` takes; or one view, which is returned.
      **kwargs: `graph`, in which regular expressions search; `positive_filter`, a function that accepts an
        element or not.

    Returns:
      The view.

    Raises:
      TypeError: If an argument cannot be used.
      ValueError: If the view is not of `graph`.
    """
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _checked(args[0], graph)
    return _checked(SubGraphView(*select_ops_and_ts(*args, **kwargs)), graph)


@export(
    "contrib.graph_editor.make_view_from_scope",
    "contrib.graph_editor.subgraph.make_view_from_scope",
    "contrib.graph_editor.sgv_scope",
)
def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """Makes a view of the operations of a name scope.

    Args:
      scope: The name of the scope.
      graph: The graph.

    Returns:
      The view.
    """
    return SubGraphView(get_name_scope_ops(graph, scope))
