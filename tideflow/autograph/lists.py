"""Lists that may be tensor lists, tensor arrays, or Python's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike

_UNKNOWN_SHAPE = -1
_UNSPECIFIED: Any = object()


def new_list(elements: Iterable[Any]) -> Any:
    """`[...]`: an empty list is a tensor list, which may be changed in loops of the graph."""
    elements = list(elements)
    return elements or _empty(tf.variant, _UNKNOWN_SHAPE)


def _empty(dtype: Any, shape: Any) -> tf.Tensor:
    return tf.raw_ops.EmptyTensorList(
        element_shape=tf.convert_to_tensor(shape, tf.int32), max_num_elements=-1, element_dtype=dtype
    )


def list_append(target: Any, element: Any) -> Any:
    """The list after `target.append(element)`."""
    if isinstance(target, tf.TensorArray):
        return target.write(target.size(), element)
    if not tf.is_tensor(target):
        target.append(element)
        return target
    _check_is_list(target)
    element = tf.convert_to_tensor(element)
    # The first element says of what type the list is.
    target = tf.cond(
        tf.raw_ops.TensorListLength(input_handle=target) > 0,
        lambda: target,
        lambda: _empty(element.dtype, tf.shape(element)),
    )
    return tf.raw_ops.TensorListPushBack(input_handle=target, tensor=element)


def list_pop(target: Any, index: Any, dtype: Any, shape: Any) -> tuple[Any, Any]:
    """The list after `target.pop(index)`, and the element."""
    if isinstance(target, tf.TensorArray):
        raise ValueError("TensorArray does not support item removal")
    if not tf.is_tensor(target):
        element = target.pop() if index is None else target.pop(index)
        return target, element
    _check_is_list(target)
    if index is not None:
        raise NotImplementedError("tensor lists only support removing from the end")
    for what, given in (("type", dtype), ("shape", shape)):
        if given is None:
            raise ValueError(
                f"cannot pop from a list without knowing its element {what}; use set_element_type to "
                "annotate it"
            )
    target, element = tf.raw_ops.TensorListPopBack(
        input_handle=target, element_shape=_UNKNOWN_SHAPE, element_dtype=dtype
    )
    element.set_shape(shape)
    return target, element


def list_stack(target: Any, dtype: Any, otherwise: Callable[[Any], Any]) -> Any:
    """The elements of a list as one tensor; what `otherwise` makes of something that is not a list."""
    if isinstance(target, tf.TensorArray):
        return target.stack()
    if not tf.is_tensor(target):
        return otherwise(target)
    if target.dtype != tf.variant:
        return target
    if dtype is None:
        raise ValueError(
            "cannot stack a list without knowing its element type; use set_element_type to annotate it"
        )
    return tf.raw_ops.TensorListStack(
        input_handle=target, element_shape=_UNKNOWN_SHAPE, element_dtype=dtype, num_elements=-1
    )


def get_item(target: Any, index: Any, dtype: Any) -> Any:
    """`target[index]`."""
    if isinstance(target, tf.TensorArray):
        return target.read(index)
    if not tf.is_tensor(target):
        return target[index]
    if target.dtype == tf.variant:
        if dtype is None:
            raise ValueError(
                "cannot retrieve from a list without knowing its element type; use set_element_type to "
                "annotate it"
            )
        return tf.raw_ops.TensorListGetItem(
            input_handle=target, index=index, element_shape=_UNKNOWN_SHAPE, element_dtype=dtype
        )
    if target.dtype == tf.string and target.shape.ndims == 0:
        return tf.strings.substr(target, index, 1)
    return target[index]


def set_item(target: Any, index: Any, element: Any) -> Any:
    """The list, or the tensor, after `target[index] = element`."""
    if isinstance(target, tf.TensorArray):
        return target.write(index, element)
    if not tf.is_tensor(target):
        target[index] = element
        return target
    if target.dtype == tf.variant:
        return tf.raw_ops.TensorListSetItem(input_handle=target, index=index, item=element)
    return tf.tensor_scatter_update(target, [[index]], [element])


def _check_is_list(target: tf.Tensor) -> None:
    if target.dtype != tf.variant:
        raise ValueError(
            f"tensor lists are expected to be Tensors with dtype=tf.variant, instead found {target}"
        )


@export("contrib.autograph.stack")
def stack(list_or_tensor: TensorLike, element_dtype: DTypeLike | None = None, strict: bool = True) -> Any:
    """The elements of a tensor list or a TensorArray as one tensor; a tensor as it is.

    Args:
      list_or_tensor: A tensor list, a TensorArray, or a tensor.
      element_dtype: The type of a tensor list's elements.
      strict: Whether anything else is refused, and not returned as it is.

    Returns:
      A tensor.

    Raises:
      ValueError: If `strict` and this cannot be stacked, or a list's element type is not given.
    """

    def otherwise(x: Any) -> Any:
        if strict:
            raise ValueError(f"{x} must be stackable when strict=True")
        return x

    return list_stack(list_or_tensor, element_dtype, otherwise)


@export("contrib.autograph.set_element_type")
def set_element_type(entity: Any, dtype: DTypeLike, shape: ShapeLike = _UNSPECIFIED) -> None:
    """Says of what type and shape the elements of a list are, in a function that AutoGraph converts.

    Args:
      entity: The variable that holds the list.
      dtype: The type of its elements.
      shape: Their shape.
    """


@export("autograph.experimental.set_loop_options", "contrib.autograph.set_loop_options")
def set_loop_options(
    parallel_iterations: int = _UNSPECIFIED,
    back_prop: bool = _UNSPECIFIED,
    swap_memory: bool = _UNSPECIFIED,
    maximum_iterations: Any = _UNSPECIFIED,
) -> None:
    """Names arguments for the `tf.while_loop` that AutoGraph makes of the loop whose body calls this.

    They have no effect: TensorFlow 1 takes them, and makes the loop without them.

    Args:
      parallel_iterations: How many iterations may run at the same time.
      back_prop: Whether the loop is to be differentiable.
      swap_memory: Whether tensors for gradients may leave the accelerator's memory.
      maximum_iterations: How many iterations there are at most.
    """
