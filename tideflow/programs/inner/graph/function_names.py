"""Names that tests and libraries take from `tensorflow.python.framework.function` and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.functions import defun
from tideflow.functions.func_graph import FuncGraph
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import fill_body, function_message
from tideflow.graph.graph import Graph
from tideflow.graph.nest import flatten, map_structure
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike

_DefinedFunction = defun.DefinedFunction
_OverloadedFunction = defun.OverloadedFunction


def graph_to_function_def(
    graph: Graph,
    operations: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> FunctionDef:
    """Makes a function of a part of a graph.

    Args:
      graph: The graph.
      operations: The operations of the part.
      inputs: The tensors that become the function's arguments.
      outputs: The tensors that become its results.
      out_names: The names of the results.

    Returns:
      A FunctionDef without a name.
    """
    arguments = {tensor: f"{tensor.op.name}_{tensor.value_index}" for tensor in inputs}
    names = out_names or [f"{tensor.op.name}_{tensor.value_index}" for tensor in outputs]
    return function_message("", arguments, operations, dict(zip(names, outputs, strict=True)), {})


def function_def_to_graph(fdef: FunctionDef, input_shapes: Sequence[ShapeLike] | None = None) -> FuncGraph:
    """Makes the graph of a FunctionDef. The functions that it calls are those of the default graph.

    Args:
      fdef: The FunctionDef.
      input_shapes: The shapes of its arguments; None where they are unknown.

    Returns:
      The graph, with its `inputs` and `outputs`.
    """
    outer = get_default_graph()
    graph = FuncGraph(fdef.signature.name, outer)
    graph._functions.update(outer._functions)
    shapes = input_shapes or [None] * len(fdef.signature.input_arg)
    if len(shapes) != len(fdef.signature.input_arg):
        raise ValueError(
            f"Length of input_shapes must match the number of input_args. len(input_shapes): {len(shapes)} "
            f"len(input_arg): {len(fdef.signature.input_arg)}"
        )
    pairs = zip(fdef.signature.input_arg, shapes, strict=True)
    inputs = [graph.add_input(dtypes.as_dtype(arg.type), shape, arg.name) for arg, shape in pairs]
    graph.outputs = fill_body(graph, fdef, inputs).outputs
    return graph


def is_function(fname: str) -> bool:
    """Whether the default graph has a function of this name.

    Args:
      fname: The name.

    Returns:
      Whether it is in the library.
    """
    return fname in get_default_graph()._functions


def func_graph_from_py_func(
    name: str,
    python_func: Callable,
    args: Sequence[Any] | None,
    kwargs: dict[str, Any] | None,
    signature: Any = None,
    func_graph: FuncGraph | None = None,
    **options: Any,
) -> FuncGraph:
    """Calls a Python function in a graph of its own.

    Args:
      name: The name of the graph.
      python_func: The function.
      args: Its arguments; tensors and TensorSpecs become inputs of the graph.
      kwargs: Its arguments by name, likewise.
      signature: TensorSpecs in place of `args`.
      func_graph: A graph to do it in; None for a new one.
      **options: What TensorFlow takes besides; nothing here depends on it.

    Returns:
      The graph, with its `inputs`, `outputs` and `structured_outputs`.
    """
    graph = func_graph or FuncGraph(name, get_default_graph())

    def as_input(value: Any) -> Any:
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            return value
        return graph.add_input(value.dtype, value.shape, getattr(value, "_name", None) or "arg")

    with graph.as_default():
        given = map_structure(as_input, list(signature if signature is not None else args or ()))
        named = map_structure(as_input, dict(kwargs or {}))
        results = python_func(*given, **named)
        graph.structured_outputs = map_structure(
            lambda result: None if result is None else graph.capture(convert_to_tensor(result)), results
        )
    graph.outputs = [tensor for tensor in flatten(graph.structured_outputs) if tensor is not None]
    return graph
