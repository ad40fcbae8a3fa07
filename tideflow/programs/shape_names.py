"""Functions of `tensorflow.python.framework.common_shapes` about static shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape, broadcast_static_shape

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike


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
