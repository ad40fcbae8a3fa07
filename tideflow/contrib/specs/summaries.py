"""What graphs of specs look like: their structure, their nodes, their numbers of parameters."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.specs.evaluation import create_net
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike

_SHORT_NAMES = {
    "BiasAdd": "biasadd",
    "Const": "_",
    "Conv2D": "conv",
    "MatMul": "dot",
    "Placeholder": "_",
    "Sigmoid": "sig",
    "Variable": "var",
}
_VARIABLES = ("Variable", "VariableV2")


def _op_and_shape(x: Tensor | Operation, unknown: Any) -> tuple[Operation, Any]:
    return (x.op, x.shape.as_list()) if isinstance(x, Tensor) else (x, unknown)


def _inputs(op: Operation) -> Any:
    """What is looked at behind an operation: nothing behind the LSTMs of lines."""
    return () if "/HorizontalLstm/" in op.name else op.inputs


@export("contrib.specs.tf_structure")
def tf_structure(x: Tensor | Operation, include_shapes: bool = False, finished: set | None = None) -> str:
    """Writes a graph as a line of operations, inputs first.

    Args:
      x: A tensor or an operation.
      include_shapes: Whether shapes are written too.
      finished: Operations that were written already; they are added to.

    Returns:
      The line.
    """
    finished = set() if finished is None else finished
    op, shape = _op_and_shape(x, [])
    if op in finished:
        return " <>"
    finished.add(op)
    result = "".join(tf_structure(each, include_shapes, finished) for each in _inputs(op))
    if include_shapes:
        result += f" {shape}"
    return result if op.type == "Identity" else f"{result} {_SHORT_NAMES.get(op.type, op.type.lower())}"


@export("contrib.specs.tf_print")
def tf_print(
    x: Tensor | Operation,
    depth: int = 0,
    finished: set | None = None,
    printer: Callable[[str], Any] = print,
) -> None:
    """Prints a graph as a tree, an operation a line.

    Args:
      x: A tensor or an operation.
      depth: How far the first line is indented.
      finished: Operations that were printed already; they are added to.
      printer: Prints a line.
    """
    finished = set() if finished is None else finished
    op, shape = _op_and_shape(x, "")
    if op.type == "Identity":
        op = op.inputs[0].op
    indent = "  " * depth
    if op in finished:
        printer(f"{indent}<{op.name}> {op.type} {shape}")
        return
    finished.add(op)
    printer(f"{indent}{op.name} {op.type} {shape}")
    for each in _inputs(op):
        tf_print(each, depth + 1, finished, printer=printer)


@export("contrib.specs.tf_num_params")
def tf_num_params(x: Tensor | Operation) -> int:
    """Counts the parameters that a tensor depends on, once for each way.

    Args:
      x: A tensor or an operation.

    Returns:
      The number of elements of variables.
    """
    op = x.op if isinstance(x, Tensor) else x
    if op.type in _VARIABLES:
        return op.outputs[0].shape.num_elements()
    return sum(tf_num_params(each) for each in op.inputs)


@export("contrib.specs.tf_left_split")
def tf_left_split(op: Operation) -> tuple[Tensor | None, Any]:
    """Takes the inputs of an operation apart: the one that a chain of layers comes by, and the others.

    Args:
      op: The operation.

    Returns:
      The one, None if there are no inputs; and the others.
    """
    if len(op.inputs) < 1:
        return None, []
    first = 1 if op.type == "Concat" else 0
    return op.inputs[first], op.inputs[first + 1 :]


@export("contrib.specs.tf_parameter_iter")
def tf_parameter_iter(x: Tensor | Operation) -> Iterator[tuple[str, int, Any]]:
    """Goes back along a chain of layers.

    Args:
      x: A tensor or an operation.

    Yields:
      The name of each operation, the number of its own parameters, and its shape.
    """
    left: Any = x
    while left is not None:
        op, shape = _op_and_shape(left, "")
        left, right = tf_left_split(op)
        yield op.name, sum(tf_num_params(each) for each in right), shape


@export("contrib.specs.tf_parameter_summary")
def tf_parameter_summary(
    x: Tensor | Operation, printer: Callable[[str], Any] = print, combine: bool = True
) -> None:
    """Prints the layers of a network, with their numbers of parameters.

    Args:
      x: A tensor or an operation.
      printer: Prints a line.
      combine: Whether operations of one outer scope are one line.
    """
    rows = list(tf_parameter_iter(x))
    if combine:
        layers = itertools.groupby(rows, key=lambda row: re.sub("/.*", "", row[0]))
        groups = [(name, list(group)) for name, group in layers]
        rows = [(name, sum(row[1] for row in group), group[0][2]) for name, group in groups]
    for name, total, shape in reversed(rows):
        printer(f"{total:10d} {name:<20} {shape}")


def _net(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Any:
    return create_net(spec, tf.placeholder(input_type, input_shape) if inputs is None else inputs)


@export("contrib.specs.tf_spec_structure")
def tf_spec_structure(
    spec: str,
    inputs: Tensor | None = None,
    input_shape: ShapeLike | None = None,
    input_type: DTypeLike = tf.float32,
) -> str:
    """Writes the graph of a spec as a line of operations.

    Args:
      spec: The spec.
      inputs: A tensor to call it with; a placeholder if None.
      input_shape: The placeholder's shape.
      input_type: Its type.

    Returns:
      The line.
    """
    return tf_structure(_net(spec, inputs, input_shape, input_type)).strip()


@export("contrib.specs.tf_spec_summary")
def tf_spec_summary(
    spec: str,
    inputs: Tensor | None = None,
    input_shape: ShapeLike | None = None,
    input_type: DTypeLike = tf.float32,
) -> None:
    """Prints the layers of a spec, with their numbers of parameters.

    Args:
      spec: The spec.
      inputs: A tensor to call it with; a placeholder if None.
      input_shape: The placeholder's shape.
      input_type: Its type.
    """
    tf_parameter_summary(_net(spec, inputs, input_shape, input_type))


@export("contrib.specs.tf_spec_print")
def tf_spec_print(
    spec: str,
    inputs: Tensor | None = None,
    input_shape: ShapeLike | None = None,
    input_type: DTypeLike = tf.float32,
) -> None:
    """Prints the graph of a spec as a tree.

    Args:
      spec: The spec.
      inputs: A tensor to call it with; a placeholder if None.
      input_shape: The placeholder's shape.
      input_type: Its type.
    """
    tf_print(_net(spec, inputs, input_shape, input_type))
