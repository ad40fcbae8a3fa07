"""Functions of `tensorflow.python.ops.list_ops` whose arguments are not those of their op types."""

from __future__ import annotations

from typing import Any

from tideflow import raw_ops
from tideflow.graph.shapes import TensorShape


def empty_tensor_list(
    element_shape: Any, element_dtype: Any, max_num_elements: Any = None, name: str | None = None
) -> Any:
    """A list of tensors that has none yet.

    Args:
      element_shape: The shape of the elements: a tensor, or what makes a TensorShape.
      element_dtype: Their type.
      max_num_elements: How many there may be; None for any number.
      name: A name for the operation.

    Returns:
      The list, a variant tensor.
    """
    return raw_ops.EmptyTensorList(
        element_shape=_sizes(element_shape),
        max_num_elements=-1 if max_num_elements is None else max_num_elements,
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_stack(
    input_handle: Any,
    element_dtype: Any,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Any:
    """The elements of a list as one tensor.

    Args:
      input_handle: The list.
      element_dtype: The type of the elements.
      num_elements: How many there must be; -1 for any number.
      element_shape: Their shape; None where it is unknown.
      name: A name for the operation.

    Returns:
      The tensor.
    """
    return raw_ops.TensorListStack(
        input_handle=input_handle,
        element_shape=_sizes(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )


def _sizes(shape: Any) -> Any:
    """A shape as op types of lists take it, with -1 for what is unknown."""
    if shape is None:
        return -1
    if isinstance(shape, (TensorShape, list, tuple)):
        known = TensorShape(shape)
        return -1 if known.ndims is None else [-1 if size is None else size for size in known.as_list()]
    return shape
