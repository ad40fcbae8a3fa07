"""`tensorflow.python.framework.common_shapes`: what shapes an operation's results have, and broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape, broadcast_static_shape

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike

ShapeFunction = Callable[[Operation], list[TensorShape]]


class RegisterShape:
    """Decorator: the function as it is. Op types have brought their own shape functions since TensorFlow 1.0.

    Args:
      op_type: The op type.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Any) -> Any:
        return f


def rank(tensor: Any) -> int | None:
    """The number of a tensor's dimensions; None where it is not known, or for anything else."""
    return tensor.shape.ndims if isinstance(tensor, Tensor) else None


def scalar_shape(unused_op: Operation) -> list[TensorShape]:
    """One result, which is a scalar."""
    return [TensorShape([])]


def no_outputs(unused_op: Operation) -> list[TensorShape]:
    """No results."""
    return []


def unknown_shape(op: Operation) -> list[TensorShape]:
    """Results of which nothing is known."""
    return [TensorShape(None) for _ in op.outputs]


def unchanged_shape(op: Operation) -> list[TensorShape]:
    """One result, like the first input."""
    return [op.inputs[0].get_shape()]


def unchanged_shape_with_rank(rank: int) -> ShapeFunction:
    """A shape function: one result like the first input, of this rank."""
    return lambda op: [op.inputs[0].get_shape().with_rank(rank)]


def unchanged_shape_with_rank_at_least(rank: int) -> ShapeFunction:
    """A shape function: one result like the first input, of this rank or a higher one."""
    return lambda op: [op.inputs[0].get_shape().with_rank_at_least(rank)]


def unchanged_shape_with_rank_at_most(rank: int) -> ShapeFunction:
    """A shape function: one result like the first input, of this rank or a lower one."""
    return lambda op: [op.inputs[0].get_shape().with_rank_at_most(rank)]


def has_fully_defined_shape(tensor: Tensor) -> bool:
    """Whether all sizes of a tensor are known.

    Args:
      tensor: The tensor.

    Returns:
      Whether they are.
    """
    return tensor.shape.is_fully_defined()


def broadcast_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """The shape of the result of arithmetic on two tensors.

    Args:
      shape_x: The shape of one.
      shape_y: The shape of the other.

    Returns:
      A shape, of which sizes may be unknown.

    Raises:
      ValueError: If no such shape exists.
    """
    return broadcast_static_shape(TensorShape(shape_x), TensorShape(shape_y))


def is_broadcast_compatible(shape_x: ShapeLike, shape_y: ShapeLike) -> bool:
    """Whether arithmetic takes tensors of two shapes.

    Args:
      shape_x: The shape of one.
      shape_y: The shape of the other.

    Returns:
      Whether it does; False where one is unknown.
    """
    if TensorShape(shape_x).ndims is None or TensorShape(shape_y).ndims is None:
        return False
    try:
        broadcast_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True
