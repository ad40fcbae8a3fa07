"""Gradients by the tensors that they are of: marks in a graph, which `tf.gradients` passes and tells of."""

from __future__ import annotations

import re
import uuid
from typing import Any

from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.ops.state.references import debug_identity_op, debug_ref_identity_op, gradient_listeners
from tideflow.programs.debugger.dumps import WatchKeyDoesNotExistInDebugDumpDirError
from tideflow.programs.debugger.graphs import parse_node_or_tensor_name
from tideflow.variables.base import Variable

_TAG = "gradient_debug_"
_debuggers: dict[str, GradientsDebugger] = {}


def _tensor_to_grad_debug_op_name(tensor: Any, grad_debugger_uuid: str) -> str:
    name, slot = parse_node_or_tensor_name(tensor.name)
    return f"{name}_{slot}/{_TAG}{grad_debugger_uuid}"


def _parse_grad_debug_op_name(op_name: str) -> tuple[str, str]:
    """The debugger that has put a mark, and the tensor that it is of."""
    marked, _, mark = op_name.rpartition("/")
    name, _, slot = marked.rpartition("_")
    return mark[len(_TAG) :].partition("_")[0], f"{name}:{slot}"


class GradientsDebugger:
    """Knows the gradients of the tensors that it has marked.

    Args:
      y_tensor: A tensor of the graph that it is for; that of the first gradient if None.
    """

    def __init__(self, y_tensor: Tensor | None = None):
        self._uuid = uuid.uuid4().hex
        self._gradient_tensors: dict[str, Any] = {}
        self._y_tensor = y_tensor
        self._graph = y_tensor.graph if y_tensor is not None else None
        self._is_active_context = False
        _debuggers[self._uuid] = self

    @property
    def y_tensor(self) -> Tensor | None:
        """The tensor that it was made with."""
        return self._y_tensor

    @property
    def graph(self) -> Graph | None:
        """The graph that it is for."""
        return self._graph

    def __enter__(self) -> GradientsDebugger:
        self._is_active_context = True
        return self

    def __exit__(self, *exc: Any) -> None:
        self._is_active_context = False

    def identify_gradient(self, input_tensor: Tensor) -> Tensor:
        """Marks a tensor: the gradient of what is returned is known from then on.

        Args:
          input_tensor: The tensor.

        Returns:
          The same tensor, with the mark, for the operations behind it.
        """
        name = _tensor_to_grad_debug_op_name(input_tensor, self._uuid)
        mark = debug_ref_identity_op if input_tensor.dtype._is_ref_dtype else debug_identity_op
        marked = mark(input_tensor, name=name)
        if marked.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return marked

    def watch_gradients_by_tensors(self, graph: Graph, tensors: Any) -> GradientsDebugger:
        """Marks tensors of a graph, before gradients are added to it.

        Args:
          graph: The graph.
          tensors: A tensor, or a list of tensors.

        Returns:
          This object, for `with`.
        """
        names = [tensor.name for tensor in (tensors if isinstance(tensors, list) else [tensors])]
        pattern = "|".join(f"{re.escape(name)}$" for name in names)
        return self.watch_gradients_by_tensor_names(graph, f"({pattern})")

    def watch_gradients_by_tensor_names(self, graph: Graph, tensor_name_regex: str) -> GradientsDebugger:
        """Marks tensors of a graph, before gradients are added to it.

        Args:
          graph: The graph.
          tensor_name_regex: An expression that names of the tensors match.

        Returns:
          This object, for `with`.
        """
        pattern = re.compile(tensor_name_regex)
        with graph.as_default():
            for op in graph.get_operations():
                for output in filter(lambda tensor: pattern.match(tensor.name), op.outputs):
                    consumers = list(output.consumers())
                    marked = self.identify_gradient(output)
                    for consumer in consumers:
                        for number, given in enumerate(consumer.inputs):
                            if given is output:
                                consumer._update_input(number, marked)
        return self

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Tensor) -> None:
        """Keeps the gradient of a tensor, if this debugger is the only one or its `with` block is open.

        Args:
          x_tensor_name: The name of the tensor.
          gradient_tensor: The gradient.
        """
        if len(_debuggers) > 1 and not self._is_active_context:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        elif self._graph is not gradient_tensor.graph:
            raise ValueError(
                f"The graph of the value ({gradient_tensor.graph}) is not the same as the graph {self._graph}"
            )
        self._gradient_tensors[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Tensor:
        """The gradient of a tensor.

        Args:
          x_tensor: The tensor, a variable, or a name.

        Returns:
          The gradient.
        """
        if not isinstance(x_tensor, (Tensor, Variable, str)):
            raise TypeError(
                f"x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type {type(x_tensor)}"
            )
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name
        if name not in self._gradient_tensors:
            raise LookupError(
                f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}"
            )
        return self._gradient_tensors[name]

    def gradient_tensors(self) -> dict[str, Tensor]:
        """All gradients, by the names of the tensors that they are of."""
        return self._gradient_tensors


def clear_gradient_debuggers() -> None:
    """Forgets all debuggers of gradients."""
    _debuggers.clear()


def _listen(op: Any, gradient: Any) -> None:
    """Tells the debugger that has put a mark of the gradient there."""
    debugger_id, name = _parse_grad_debug_op_name(op.name)
    if debugger_id in _debuggers:
        _debuggers[debugger_id].register_gradient_tensor(name, gradient)


gradient_listeners.append(_listen)


def gradient_values_from_dump(grad_debugger: GradientsDebugger, x_tensor: Any, dump: Any) -> list[Any]:
    """The values that the gradient of a tensor had in a step.

    Args:
      grad_debugger: What knows the gradients.
      x_tensor: The tensor, a variable, or a name.
      dump: The step.

    Returns:
      The values; none if the step has not computed it.
    """
    graphs = (dump.python_graph, grad_debugger.graph)
    if all(graphs) and graphs[0] is not graphs[1]:
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({graphs[1]}) that differs from the graph of the "
            f"DebugDumpDir object ({graphs[0]})."
        )
    name, slot = parse_node_or_tensor_name(grad_debugger.gradient_tensor(x_tensor).name)
    try:
        return dump.get_tensors(name, slot, "DebugIdentity")
    except WatchKeyDoesNotExistInDebugDumpDirError:
        return []
