"""Names of `tensorflow.python.ops.cond_v2`, `while_v2` and `control_flow_util_v2`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tideflow.functions.func_graph import FuncGraph
from tideflow.graph import functions
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import get_default_graph
from tideflow.ops.control_flow import calls, conditionals, while_loops

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# Whether operations give out all that a gradient may want. Here the gradient asks for it when it is made.
_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE: bool | None = None


def cond_v2(pred: TensorLike, true_fn: Callable, false_fn: Callable, name: str | None = "cond") -> Any:
    """`tf.cond` as an `If`, in every graph.

    Args:
      pred: A bool tensor of one element.
      true_fn: Called without arguments; returns a tensor, or a structure of tensors.
      false_fn: The same for a false `pred`.
      name: A name for the operation.

    Returns:
      What the functions return, with tensors that have the value of the chosen one.
    """
    with _functional():
        return conditionals.cond(pred, true_fn, false_fn, strict=True, name=name or "cond")


def while_loop(
    cond: Callable,
    body: Callable,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """`tf.while_loop` as a `While`, in every graph.

    Args:
      cond: Takes the loop variables, returns a bool tensor of one element.
      body: Takes the loop variables, returns as many tensors of the same structure and types.
      loop_vars: The variables' first values.
      shape_invariants: What holds of the variables' shapes in every iteration.
      parallel_iterations: How many iterations the graph allows to run at the same time.
      maximum_iterations: A scalar integer after which many iterations the loop ends in any case.
      name: A name for the operation.
      return_same_structure: Whether a list of one variable stays that, instead of becoming a tensor.
      back_prop: Whether the loop is to be differentiable.

    Returns:
      The variables' last values, in the structure of `loop_vars`.
    """
    with _functional():
        return while_loops.while_loop(
            cond,
            body,
            loop_vars,
            shape_invariants,
            parallel_iterations,
            back_prop,
            name=name or "while",
            maximum_iterations=maximum_iterations,
            return_same_structure=return_same_structure,
        )


@contextlib.contextmanager
def _functional() -> Iterator[None]:
    """The default graph as one whose conditionals and loops are calls of functions."""
    graph = get_default_graph()
    if graph.functional_control_flow:
        yield
        return
    graph.functional_control_flow = True
    try:
        yield
    finally:
        del graph.functional_control_flow


def get_func_graphs(op: Operation) -> tuple[Any, ...]:
    """The graphs of the branches of an `If` or a `Case`.

    Args:
      op: The operation.

    Returns:
      A graph for each branch, with its `inputs` and `outputs`.
    """
    if "branches" in op.attrs:
        return tuple(_graph_of(op, branch) for branch in op.attrs["branches"])
    return _get_graph(op, "then_branch"), _get_graph(op, "else_branch")


def _get_graph(while_op: Operation, func_attr_name: str) -> Any:
    """The graph of a function that an operation calls, by the name of the attribute that names it."""
    return _graph_of(while_op, while_op.attrs[func_attr_name])


def _graph_of(op: Operation, function: Any) -> Any:
    body = functions.body_of(op.graph, *calls.named(function))
    graph: Any = body.graph
    graph.inputs, graph.outputs = body.inputs, body.outputs
    return graph


def in_defun() -> bool:
    """Whether the default graph is, or stands in, a function that is being traced."""
    graph: Any = get_default_graph()
    while graph is not None and not isinstance(graph, FuncGraph):
        graph = getattr(graph, "outer", None)
    return graph is not None
