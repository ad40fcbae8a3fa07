"""Names that tests and libraries take from `tensorflow.python.framework.function` and its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.functions import defun
from tideflow.graph.functions import function_message
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor

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
