"""The order of axes: required, imposed, and made common to two labeled tensors."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import Axes
from tideflow.contrib.labeled_tensor.tensors import (
    LABELED,
    LabeledTensor,
    convert_to_labeled_tensor,
    transpose,
)
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_AXIS_ORDER = ("__axis_order",)  # the collection of a graph that holds the order in force
_ORDER = checks.optional(checks.collection(checks.STRING, list))


@export("contrib.labeled_tensor.AxisOrderError")
class AxisOrderError(ValueError):
    """Axes stand in an order that is not allowed."""


def get_axis_order() -> list[str] | None:
    """The order of the `axis_order_scope` around; None where there is none."""
    kept = tf.get_collection(_AXIS_ORDER)
    return kept[0] if kept else None


def _set_axis_order(axis_order: list[str] | None) -> None:
    tf.get_collection_ref(_AXIS_ORDER)[:] = [axis_order]


@export("contrib.labeled_tensor.axis_order_scope")
@checks.accepts(_ORDER)
@contextmanager
def axis_order_scope(axis_order: list[str] | None = None) -> Iterator[list[str] | None]:
    """Context manager: the axes of the results of operations stand in an order.

    Args:
      axis_order: The names of axes in the order; None for no order.

    Yields:
      The order.
    """
    outer = get_axis_order()
    _set_axis_order(axis_order)
    try:
        yield axis_order
    finally:
        _set_axis_order(outer)


def _required(axis_order: list[str] | None) -> list[str]:
    found = get_axis_order() if axis_order is None else axis_order
    if found is None:
        raise AxisOrderError(
            "an explicit axis order must be provided with the axis_order argument or by using an "
            "axis_order_scope"
        )
    return found


@export("contrib.labeled_tensor.check_axis_order")
@checks.accepts(LABELED, checks.optional(checks.collection(checks.STRING)))
def check_axis_order(labeled_tensor: LabeledTensor | TensorLike, axis_order: list[str] | None = None) -> None:
    """Checks that the axes of a labeled tensor stand in an order.

    Args:
      labeled_tensor: The labeled tensor.
      axis_order: The names of its axes, and maybe of others, in order; that of the `axis_order_scope`
        around if None.

    Raises:
      AxisOrderError: If they do not, or if one is not in the order, or if there is no order.
    """
    labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
    order = _required(axis_order)
    relevant = [name for name in order if name in labeled_tensor.axes]
    if len(relevant) < len(labeled_tensor.axes):
        raise AxisOrderError(
            f"not all axis names appear in the required axis order {order!r}: {labeled_tensor!r}"
        )
    if relevant != list(labeled_tensor.axes):
        raise AxisOrderError(
            "axes on a labeled tensor do not appear in the same order as the required axis order "
            f"{order!r}: {labeled_tensor!r}"
        )


@export("contrib.labeled_tensor.impose_axis_order")
@checks.accepts(LABELED, checks.optional(checks.collection(checks.STRING)), checks.NAME)
def impose_axis_order(
    labeled_tensor: LabeledTensor | TensorLike, axis_order: list[str] | None = None, name: str | None = None
) -> LabeledTensor:
    """Transposes a labeled tensor so that its axes stand in an order.

    Args:
      labeled_tensor: The labeled tensor.
      axis_order: The names of its axes, and maybe of others, in order; that of the `axis_order_scope`
        around if None.
      name: A name for the operation.

    Returns:
      The transposed labeled tensor.
    """
    with tf.name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        relevant = [each for each in _required(axis_order) if each in labeled_tensor.axes]
        return transpose(labeled_tensor, relevant, name=scope)


@export("contrib.labeled_tensor.expand_dims")
@checks.accepts(
    LABELED,
    checks.collection(
        checks.either(checks.STRING, checks.pair(checks.STRING, checks.instance("Hashable", Hashable)))
    ),
    checks.NAME,
)
def expand_dims(
    labeled_tensor: LabeledTensor | TensorLike, axes: Collection, name: str | None = None
) -> LabeledTensor:
    """Adds axes of size 1.

    Args:
      labeled_tensor: The labeled tensor.
      axes: The names of all axes of the result, those that are there in the order they have; a new one may
        be a tuple of a name and the label of its only position.
      name: A name for the operation.

    Returns:
      The labeled tensor with the further axes.

    Raises:
      AxisOrderError: If an axis is left out, or stands elsewhere.
    """
    with tf.name_scope(name, "lt_expand_dims", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        check_axis_order(labeled_tensor, [each if isinstance(each, str) else each[0] for each in axes])
        result: list[Any] = []
        shape = []
        for each in axes:
            if each in labeled_tensor.axes:
                axis = labeled_tensor.axes[each]
                result.append(axis)
                shape.append(-1 if axis.size is None else axis.size)
            else:
                result.append((each, 1) if isinstance(each, str) else (each[0], (each[1],)))
                shape.append(1)
        return LabeledTensor(tf.reshape(labeled_tensor.tensor, shape, name=scope), result)


def _merged(first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    """An order that both have, the first one's names as early as they can be; None where there is none."""
    rest, other = list(first), list(second)
    merged = []
    while rest and other:
        if rest[0] not in second:
            merged.append(rest.pop(0))
        elif other[0] not in first:
            merged.append(other.pop(0))
        elif rest[0] == other[0]:
            merged.append(rest.pop(0))
            other.pop(0)
        else:
            return None
    return merged + rest + other


@export("contrib.labeled_tensor.align")
@checks.accepts(LABELED, LABELED, checks.NAME)
def align(
    labeled_tensor_0: LabeledTensor | TensorLike,
    labeled_tensor_1: LabeledTensor | TensorLike,
    name: str | None = None,
) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """Gives two labeled tensors the same axes in the same order, so that they can be broadcast.

    Args:
      labeled_tensor_0: One.
      labeled_tensor_1: The other.
      name: A name for the operations.

    Returns:
      Both, each with an axis of size 1 for what only the other has, and the axes of what is made of both.

    Raises:
      ValueError: If an axis of both is not the same.
      AxisOrderError: If there is no common order of the axes.
    """
    with tf.name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        first = convert_to_labeled_tensor(labeled_tensor_0)
        second = convert_to_labeled_tensor(labeled_tensor_1)
        for each in first.axes:
            if each in second.axes and first.axes[each] != second.axes[each]:
                raise ValueError(
                    f"Mismatched {each!r} axis on input tensors: {first.axes[each]!r} and "
                    f"{second.axes[each]!r}"
                )
        names = _common_order(first, second)
        merged = Axes([first.axes[each] if each in first.axes else second.axes[each] for each in names])
        return (
            expand_dims(first, names, name=f"{scope}0"),
            expand_dims(second, names, name=f"{scope}1"),
            merged,
        )


def _common_order(first: LabeledTensor, second: LabeledTensor) -> list[str]:
    order = get_axis_order()
    if order is not None:
        check_axis_order(first, order)
        check_axis_order(second, order)
        return [name for name in order if name in first.axes or name in second.axes]
    merged = _merged(list(first.axes), list(second.axes))
    if merged is None:
        raise AxisOrderError(
            f"No consistent axis order allows for aligning tensors with axis orders {list(first.axes)!r} and "
            f"{list(second.axes)!r} without copying data. Use transpose or impose_axis_order to reorder axes "
            "on one of more of the inputs."
        )
    return merged
