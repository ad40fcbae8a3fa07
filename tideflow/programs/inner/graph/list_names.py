"""Functions of `tensorflow.python.ops.list_ops` whose arguments are not those of their op types."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def tensor_list_reserve(
    element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None
) -> Any:
    """A list of as many elements, none of which is set yet.

    Args:
      element_shape: The shape of the elements: a tensor, or what makes a TensorShape.
      num_elements: How many there are.
      element_dtype: Their type.
      name: A name for the operation.

    Returns:
      The list, a variant tensor.
    """
    return raw_ops.TensorListReserve(
        element_shape=_sizes(element_shape),
        num_elements=num_elements,
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Any:
    """The rows of a tensor as a list.

    Args:
      tensor: The tensor.
      element_shape: The shape of a row: a tensor, or what makes a TensorShape.
      name: A name for the operation.

    Returns:
      The list, a variant tensor.
    """
    return raw_ops.TensorListFromTensor(tensor=tensor, element_shape=_sizes(element_shape), name=name)


def tensor_list_get_item(
    input_handle: Any, index: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Any:
    """An element of a list.

    Args:
      input_handle: The list.
      index: The element's position.
      element_dtype: Its type.
      element_shape: Its shape; None where it is unknown.
      name: A name for the operation.

    Returns:
      The element.
    """
    return raw_ops.TensorListGetItem(
        input_handle=input_handle,
        index=index,
        element_shape=_sizes(element_shape),
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    """A list without its last element, and that element.

    Args:
      input_handle: The list.
      element_dtype: The type of its elements.
      name: A name for the operation.

    Returns:
      The list that is left, and the element.
    """
    return raw_ops.TensorListPopBack(
        input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name
    )


def tensor_list_gather(
    input_handle: Any, indices: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Any:
    """Some elements of a list as one tensor.

    Args:
      input_handle: The list.
      indices: The positions of the elements.
      element_dtype: Their type.
      element_shape: Their shape; None where it is unknown.
      name: A name for the operation.

    Returns:
      The tensor.
    """
    return raw_ops.TensorListGather(
        input_handle=input_handle,
        indices=indices,
        element_shape=_sizes(element_shape),
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_scatter(
    tensor: Any, indices: Any, element_shape: Any = None, input_handle: Any = None, name: str | None = None
) -> Any:
    """A list with the rows of a tensor at these positions.

    Args:
      tensor: The tensor.
      indices: The position of each row.
      element_shape: The shape of a row; None where it is unknown.
      input_handle: A list to set them in; None for a new one.
      name: A name for the operation.

    Returns:
      The list, a variant tensor.
    """
    if input_handle is not None:
        return raw_ops.TensorListScatterIntoExistingList(
            input_handle=input_handle, tensor=tensor, indices=indices, name=name
        )
    return raw_ops.TensorListScatterV2(
        tensor=tensor, indices=indices, element_shape=_sizes(element_shape), num_elements=-1, name=name
    )


def tensor_list_concat(
    input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Any:
    """The elements of a list joined along their first dimension.

    Args:
      input_handle: The list.
      element_dtype: The type of its elements.
      element_shape: Their shape, of which the first size may differ; None where it is unknown.
      name: A name for the operation.

    Returns:
      The tensor.
    """
    return raw_ops.TensorListConcatV2(
        input_handle=input_handle,
        element_dtype=element_dtype,
        element_shape=_sizes(element_shape),
        leading_dims=np.array([], np.int64),
        name=name,
    )[0]


def tensor_list_split(tensor: Any, element_shape: Any, lengths: Any, name: str | None = None) -> Any:
    """Consecutive parts of a tensor as a list.

    Args:
      tensor: The tensor.
      element_shape: The shape of the parts, of which the first size may differ; None where it is unknown.
      lengths: The first size of each part.
      name: A name for the operation.

    Returns:
      The list, a variant tensor.
    """
    return raw_ops.TensorListSplit(
        tensor=tensor,
        element_shape=_sizes(element_shape),
        lengths=np.asarray(lengths, np.int64) if isinstance(lengths, (list, tuple)) else lengths,
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
        if known.ndims is None:
            return -1
        return np.array([-1 if size is None else size for size in known.as_list()], np.int32)
    return shape
