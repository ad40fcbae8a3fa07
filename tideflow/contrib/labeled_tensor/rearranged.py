"""Labeled tensors joined, taken apart, reshaped, repeated and padded."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import AXIS_VALUE, NAME_OR_AXIS, Axis, as_axis, concat_axes
from tideflow.contrib.labeled_tensor.layout import AxisOrderError
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.labeled_tensor.concat")
@checks.accepts(checks.collection(LABELED), checks.STRING, checks.NAME)
def concat(labeled_tensors: Collection, axis_name: str, name: str | None = None) -> LabeledTensor:
    """Joins labeled tensors along an axis.

    Args:
      labeled_tensors: The labeled tensors, whose other axes are equal.
      axis_name: The name of the axis.
      name: A name for the operation.

    Returns:
      The joined labeled tensor. The axis has labels if all have.

    Raises:
      ValueError: If there are none, if the axis is missing, or if other axes differ.
    """
    with tf.name_scope(name, "lt_concat", labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        if not given:
            raise ValueError(f"concat expects at least 1 tensor, but received {given}")
        names = list(given[0].axes)
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        shared = given[0].axes.remove(axis_name)
        for each in given[1:]:
            others = each.axes.remove(axis_name)
            if others != shared:
                raise ValueError(
                    f"Mismatched shared axes: the first tensor had axes {shared!r} but this tensor has axes "
                    f"{others!r}."
                )
        axes = list(given[0].axes.values())
        position = names.index(axis_name)
        axes[position] = concat_axes([each.axes[axis_name] for each in given])
        return LabeledTensor(tf.concat([each.tensor for each in given], position, name=scope), axes)


@export("contrib.labeled_tensor.pack")
@checks.accepts(checks.collection(LABELED), NAME_OR_AXIS, checks.INTEGER, checks.NAME)
def pack(
    labeled_tensors: Collection, new_axis: Any, axis_position: int = 0, name: str | None = None
) -> LabeledTensor:
    """Joins labeled tensors along a new axis.

    Args:
      labeled_tensors: The labeled tensors, whose axes are equal.
      new_axis: The name of the axis, or the axis.
      axis_position: Where it stands.
      name: A name for the operation.

    Returns:
      The joined labeled tensor.

    Raises:
      ValueError: If there are none, or if their axes differ.
    """
    with tf.name_scope(name, "lt_pack", labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        if not given:
            raise ValueError(f"pack expects at least 1 tensors, but received {given}")
        axes = given[0].axes
        for each in given:
            if each.axes != axes:
                raise ValueError(f"Non-identical axes. Expected {axes} but got {each.axes}")
        packed = tf.stack([each.tensor for each in given], axis=axis_position, name=scope)
        widened: list[Any] = list(axes.values())
        widened.insert(axis_position, new_axis)
        return LabeledTensor(packed, widened)


@export("contrib.labeled_tensor.unpack")
@checks.accepts(LABELED, checks.NAME, checks.NAME)
def unpack(
    labeled_tensor: LabeledTensor | TensorLike, axis_name: str | None = None, name: str | None = None
) -> list[LabeledTensor]:
    """Takes a labeled tensor apart along an axis.

    Args:
      labeled_tensor: The labeled tensor.
      axis_name: The name of the axis; the first one if None.
      name: A name for the operation.

    Returns:
      A labeled tensor for each position.

    Raises:
      ValueError: If there is no such axis.
    """
    with tf.name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        axis_name = names[0] if axis_name is None else axis_name
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        parts = tf.unstack(labeled_tensor.tensor, axis=names.index(axis_name), name=scope)
        axes = labeled_tensor.axes.remove(axis_name)
        return [LabeledTensor(part, axes) for part in parts]


def _size(axis: Axis) -> int:
    return -1 if axis.size is None else axis.size


@export("contrib.labeled_tensor.reshape")
@checks.accepts(LABELED, checks.collection(checks.STRING), checks.collection(NAME_OR_AXIS), checks.NAME)
def reshape(
    labeled_tensor: LabeledTensor | TensorLike,
    existing_axes: Collection[str],
    new_axes: Collection,
    name: str | None = None,
) -> LabeledTensor:
    """Puts other axes in the place of neighbouring ones.

    Args:
      labeled_tensor: The labeled tensor.
      existing_axes: The names of the axes, in their order.
      new_axes: The axes that replace them; one may be a name, whose size follows from the others.
      name: A name for the operation.

    Returns:
      The reshaped labeled tensor.

    Raises:
      ValueError: If an axis is missing, or if several sizes are open.
      AxisOrderError: If the axes are no neighbours.
    """
    with tf.name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names, existing = list(labeled_tensor.axes), list(existing_axes)
        if not set(existing) <= set(names):
            raise ValueError(
                f"existing_axes {existing!r} are not contained in the set of axis names {names!r} on the "
                "input labeled tensor"
            )
        start, stop = names.index(existing[0]), names.index(existing[-1]) + 1
        if existing != names[start:stop]:
            raise AxisOrderError(
                f"existing_axes {existing!r} are not a slice of axis names {names!r} on the input labeled "
                "tensor. Use `transpose` or `impose_axis_order` to reorder axes on the input explicitly."
            )
        if sum(isinstance(axis, str) for axis in new_axes) > 1:
            raise ValueError(
                "at most one axis in new_axes can have unknown size. All other axes must have an indicated "
                f"integer size or labels: {new_axes!r}"
            )
        kept = list(labeled_tensor.axes.values())
        axes = [*kept[:start], *new_axes, *kept[stop:]]
        shape = [-1 if isinstance(axis, str) else _size(as_axis(axis)) for axis in axes]
        return LabeledTensor(tf.reshape(labeled_tensor.tensor, shape, name=scope), axes)


@export("contrib.labeled_tensor.rename_axis")
@checks.accepts(LABELED, checks.STRING, checks.STRING, checks.NAME)
def rename_axis(
    labeled_tensor: LabeledTensor | TensorLike, existing_name: str, new_name: str, name: str | None = None
) -> LabeledTensor:
    """Gives an axis another name.

    Args:
      labeled_tensor: The labeled tensor.
      existing_name: The name it has.
      new_name: The name it gets.
      name: A name for the operation.

    Returns:
      The labeled tensor with the renamed axis.

    Raises:
      ValueError: If there is no such axis.
    """
    with tf.name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        if existing_name not in labeled_tensor.axes:
            raise ValueError(
                f"existing_name {existing_name!r} are not contained in the set of axis names "
                f"{list(labeled_tensor.axes)!r} on the input labeled tensor"
            )
        renamed = Axis(new_name, labeled_tensor.axes[existing_name].value)
        return reshape(labeled_tensor, [existing_name], [renamed], name=scope)


@export("contrib.labeled_tensor.squeeze")
@checks.accepts(LABELED, checks.optional(checks.collection(checks.STRING)), checks.NAME)
def squeeze(
    labeled_tensor: LabeledTensor | TensorLike,
    axis_names: Collection[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Takes axes of size 1 away.

    Args:
      labeled_tensor: The labeled tensor.
      axis_names: Their names; all of size 1 if None.
      name: A name for the operation.

    Returns:
      The labeled tensor without them.

    Raises:
      ValueError: If there is no such axis, or it is larger.
    """
    with tf.name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        if axis_names is None:
            axis_names = [axis.name for axis in axes.values() if len(axis) == 1]
        for each in axis_names:
            if each not in axes:
                raise ValueError(f"axis {each} is not in tensor axes {axes}")
            if len(axes[each]) != 1:
                raise ValueError(f"cannot squeeze axis with size greater than 1: ({each}, {axes[each]})")
        positions = [i for i, each in enumerate(axes) if each in axis_names]
        if positions:
            squeezed = tf.squeeze(labeled_tensor.tensor, positions, name=scope)
        else:
            squeezed = tf.identity(labeled_tensor.tensor, name=scope)
        return LabeledTensor(squeezed, [axis for axis in axes.values() if axis.name not in axis_names])


@export("contrib.labeled_tensor.tile")
@checks.accepts(
    LABELED,
    checks.mapping(checks.STRING, checks.instance("Union(int, tensorflow.Tensor)", int, Tensor)),
    checks.NAME,
)
def tile(
    labeled_tensor: LabeledTensor | TensorLike, multiples: Mapping[str, Any], name: str | None = None
) -> LabeledTensor:
    """Repeats a labeled tensor along axes.

    Args:
      labeled_tensor: The labeled tensor.
      multiples: How often, by the names of axes.
      name: A name for the operation.

    Returns:
      The repeated labeled tensor.

    Raises:
      ValueError: If there is no such axis, or if it has labels.
    """
    with tf.name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        _check_names("tile", multiples, labeled_tensor)
        labeled = [each for each in multiples if axes[each].labels is not None]
        if labeled:
            raise ValueError(f"cannot tile axes with tick labels: {labeled!r}")
        tiled = tf.tile(labeled_tensor.tensor, [multiples.get(each, 1) for each in axes], name=scope)
        return LabeledTensor(tiled, [axis.name if axis.labels is None else axis for axis in axes.values()])


@export("contrib.labeled_tensor.pad")
@checks.accepts(
    LABELED, checks.mapping(checks.STRING, checks.pair(AXIS_VALUE, AXIS_VALUE)), checks.STRING, checks.NAME
)
def pad(
    labeled_tensor: LabeledTensor | TensorLike,
    paddings: Mapping[str, tuple],
    mode: str = "CONSTANT",
    name: str | None = None,
) -> LabeledTensor:
    """Pads a labeled tensor.

    Args:
      labeled_tensor: The labeled tensor.
      paddings: By the names of axes, what comes before and after: a number of positions, or their labels.
      mode: "CONSTANT", "REFLECT" or "SYMMETRIC".
      name: A name for the operation.

    Returns:
      The padded labeled tensor.

    Raises:
      ValueError: If there is no such axis.
    """
    with tf.name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        _check_names("pad", paddings, labeled_tensor)
        axes, widths = [], []
        for axis in labeled_tensor.axes.values():
            before, after = (Axis(axis.name, value) for value in paddings.get(axis.name, (0, 0)))
            axes.append(concat_axes([before, axis, after]) if axis.name in paddings else axis)
            widths.append((len(before), len(after)))
        return LabeledTensor(tf.pad(labeled_tensor.tensor, widths, mode, name=scope), axes)


def _check_names(what: str, given: Mapping[str, Any], labeled_tensor: LabeledTensor) -> None:
    if not set(given) <= set(labeled_tensor.axes):
        raise ValueError(
            f"{what} axes {list(given)!r} are not contained in the set of axis names "
            f"{labeled_tensor.axes!r} on the input labeled tensor"
        )
