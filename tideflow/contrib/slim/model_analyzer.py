"""How large a model is, in numbers and bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.graph import Graph

if TYPE_CHECKING:
    from tideflow.graph.typing import VariableLike


@export("contrib.slim.model_analyzer.tensor_description")
def tensor_description(var: VariableLike) -> str:
    """Says type and shape in words.

    Args:
      var: The variable, or a tensor.

    Returns:
      The text, such as `(float32_ref 3x4) [12, bytes: 48]`.
    """
    return (
        f"({var.dtype.name} {'x'.join(map(str, var.shape.as_list()))}) [{_size(var)}, bytes: {_bytes(var)}]"
    )


@export("contrib.slim.model_analyzer.analyze_vars")
def analyze_vars(variables: Sequence[Any], print_info: bool = False) -> tuple[int, int]:
    """Counts the elements and bytes of variables.

    Args:
      variables: The variables.
      print_info: Whether each variable is printed.

    Returns:
      The number of elements and of bytes.
    """
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
        for variable in variables:
            print(variable.name, tensor_description(variable))
    total, size = sum(map(_size, variables)), sum(map(_bytes, variables))
    if print_info:
        print(f"Total size of variables: {total}\nTotal bytes of variables: {size}")
    return total, size


@export("contrib.slim.model_analyzer.analyze_ops")
def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """Counts the elements that the operations of a graph make, as far as shapes are known.

    Args:
      graph: The graph.
      print_info: Whether each operation is printed.

    Returns:
      The number of elements.
    """
    if print_info:
        print("---------\nOperations: name -> (type shapes) [size]\n---------")
    total = 0
    for op in graph.get_operations():
        known = [t for t in op.outputs if t.shape.is_fully_defined()]
        size = sum(map(_size, known))
        total += size
        if print_info:
            shapes = ", ".join(f"({t.dtype.name} {'x'.join(map(str, t.shape.as_list()))})" for t in known)
            print(f"{op.name}\t-> [{shapes}] [{size}]")
    if print_info:
        print(f"Total size: {total}")
    return total


def _size(value: Any) -> int:
    return math.prod(value.shape.as_list())


def _bytes(value: Any) -> int:
    return _size(value) * value.dtype.base_dtype.size
