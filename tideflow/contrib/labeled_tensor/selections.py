"""Elements of labeled tensors, chosen by labels, by a mask, by a condition or at random."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import Axes, Axis
from tideflow.contrib.labeled_tensor.tensors import (
    LABELED,
    LabeledTensor,
    convert_to_labeled_tensor,
    slice_function,
    transpose,
)
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.labeled_tensor.select")
@checks.accepts(
    LABELED,
    checks.mapping(checks.STRING, checks.instance("Union(slice, Hashable, list)", slice, Hashable, list)),
    checks.NAME,
)
def select(
    labeled_tensor: LabeledTensor | TensorLike, selection: Mapping[str, Any], name: str | None = None
) -> LabeledTensor:
    """Takes positions of axes by their labels.

    Args:
      labeled_tensor: The labeled tensor.
      selection: By the name of an axis: a label, which takes the axis away; a slice from one label to
        another, which is taken too; or a list of labels.
      name: A name for the operations.

    Returns:
      What was taken.

    Raises:
      ValueError: If there is no such axis, or it has no labels.
      NotImplementedError: For more than one list, for a list beside something else, and for slices with a
        step.
    """
    with tf.name_scope(name, "lt_select", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        taken: dict[str, Any] = {}
        listed: dict[str, Any] = {}
        for axis_name, value in selection.items():
            axis = _with_labels(labeled_tensor, axis_name)
            if not isinstance(value, list):
                taken[axis_name] = _positions(axis, value) if isinstance(value, slice) else axis.index(value)
                continue
            if listed:
                raise NotImplementedError(
                    "select does not yet support more than one list selection at the same time"
                )
            listed[axis_name] = tf.convert_to_tensor([axis.index(each) for each in value], tf.int64)
        if not listed:
            return slice_function(labeled_tensor, taken, name=scope)
        if taken:
            raise NotImplementedError("select does not yet support combined scalar and list selection")
        ((axis_name, indices),) = listed.items()
        return _gathered(labeled_tensor, indices, Axis(axis_name, selection[axis_name]), name=scope)


def _with_labels(labeled_tensor: LabeledTensor, axis_name: str) -> Axis:
    axes = labeled_tensor.axes
    if axis_name not in axes:
        raise ValueError(f"The tensor does not have an axis named {axis_name}. Its axes are: {list(axes)!r}")
    if axes[axis_name].labels is None:
        raise ValueError(f"The axis named {axis_name} does not have labels. The axis is: {axes[axis_name]!r}")
    return axes[axis_name]


def _positions(axis: Axis, labels: slice) -> slice:
    if labels.step is not None:
        raise NotImplementedError("slicing with a step is not yet supported")
    return slice(
        None if labels.start is None else axis.index(labels.start),
        None if labels.stop is None else axis.index(labels.stop) + 1,
    )


def _gathered(labeled_tensor: LabeledTensor, indices: Any, axis: Axis, name: str) -> LabeledTensor:
    """Positions of one axis, in their order, under the labels of `axis`."""
    with tf.name_scope(name, "lt_take", [labeled_tensor]) as scope:
        axes = Axes([axis, *labeled_tensor.axes.remove(axis.name).values()])
        first = transpose(labeled_tensor, list(axes))
        gathered = LabeledTensor(tf.gather(first.tensor, indices), axes)
        return transpose(gathered, list(labeled_tensor.axes), name=scope)


@export("contrib.labeled_tensor.boolean_mask")
@checks.accepts(LABELED, LABELED, checks.NAME)
def boolean_mask(
    labeled_tensor: LabeledTensor | TensorLike, mask: Any, name: str | None = None
) -> LabeledTensor:
    """Takes the positions of the first axis where a mask is true.

    Args:
      labeled_tensor: The labeled tensor.
      mask: Booleans along the first axis.
      name: A name for the operations.

    Returns:
      What was taken; its first axis has no labels.

    Raises:
      NotImplementedError: If the mask has more than one axis.
      ValueError: If that is not the first one of the tensor.
    """
    with tf.name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        mask = convert_to_labeled_tensor(mask)
        if len(mask.axes) > 1:
            raise NotImplementedError("LabeledTensor's boolean_mask currently only supports 1D masks")
        first, *others = labeled_tensor.axes.values()
        (masked,) = mask.axes.values()
        if masked != first:
            raise ValueError(
                f"the first axis of the labeled tensor and the mask are not equal:\n{first!r}\n{masked!r}"
            )
        taken = tf.boolean_mask(labeled_tensor.tensor, mask.tensor, name=scope)
        return LabeledTensor(taken, [first.name, *others])


@export("contrib.labeled_tensor.where")
@checks.accepts(LABELED, LABELED, LABELED, checks.NAME)
def where(condition: Any, x: Any, y: Any, name: str | None = None) -> LabeledTensor:
    """Takes each element of one labeled tensor or of another.

    Args:
      condition: Where it is true, elements are of `x`.
      x: One, with the axes of the condition.
      y: The other, with these axes too.
      name: A name for the operation.

    Returns:
      The elements.

    Raises:
      ValueError: If the axes are not equal.
    """
    with tf.name_scope(name, "lt_where", [condition, x, y]) as scope:
        condition, x, y = map(convert_to_labeled_tensor, (condition, x, y))
        if not condition.axes == x.axes == y.axes:
            raise ValueError("all inputs to `where` must have equal axes")
        return LabeledTensor(tf.where(condition.tensor, x.tensor, y.tensor, name=scope), x.axes)


@export("contrib.labeled_tensor.random_crop")
@checks.accepts(
    LABELED, checks.mapping(checks.STRING, checks.INTEGER), checks.optional(checks.INTEGER), checks.NAME
)
def random_crop(
    labeled_tensor: LabeledTensor | TensorLike,
    shape_map: Mapping[str, int],
    seed: int | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Takes a part of given sizes at a random place.

    Args:
      labeled_tensor: The labeled tensor.
      shape_map: The sizes by the names of axes; those axes lose their labels.
      seed: The seed.
      name: A name for the operations.

    Returns:
      The part.

    Raises:
      ValueError: If there is no such axis.
    """
    with tf.name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        for axis_name in shape_map:
            if axis_name not in labeled_tensor.axes:
                raise ValueError(f"Selection axis {axis_name} not in axes {labeled_tensor.axes}")
        axes = [
            Axis(axis.name, shape_map[axis.name]) if axis.name in shape_map else axis
            for axis in labeled_tensor.axes.values()
        ]
        cropped = tf.random_crop(labeled_tensor.tensor, [len(axis) for axis in axes], seed=seed, name=scope)
        return LabeledTensor(cropped, axes)
