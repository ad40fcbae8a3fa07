"""Axes: a name with a size, or with a label for each position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tideflow.contrib.labeled_tensor import checks
from tideflow.export import export
from tideflow.graph.shapes import Dimension

_SIZE = checks.optional(checks.instance("Union(tensorflow.Dimension, int)", Dimension, int))
AXIS_VALUE = checks.either(
    checks.instance("Union(numpy.ndarray, range, list, tuple)", np.ndarray, range, list, tuple), _SIZE
)


@export("contrib.labeled_tensor.Axis")
class Axis:
    """An axis: its name, its size and, maybe, a label for each of its positions.

    Args:
      name: The name.
      value: The size, None where it is unknown, or the labels, which all differ.
    """

    @checks.accepts(checks.ANYTHING, checks.STRING, AXIS_VALUE)
    def __init__(self, name: str, value: Any):
        labels = None
        if value is None or isinstance(value, (int, Dimension)):
            self._dimension = Dimension(value)
        else:
            labels = tuple(value)
            self._dimension = Dimension(len(labels))
        if self._dimension.value == 0:
            labels = ()  # no position lacks a label
        if labels is not None and len(set(labels)) != len(labels):
            raise ValueError(f"Tick labels must be unique, but got {labels}")
        self._name = name
        self._labels = labels
        self._index = None if labels is None else {label: i for i, label in enumerate(labels)}

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dimension(self) -> Dimension:
        """The size as a Dimension, which may be unknown."""
        return self._dimension

    @property
    def size(self) -> int | None:
        """The size; None where it is unknown."""
        return self._dimension.value

    @property
    def labels(self) -> tuple | None:
        """The labels of the positions; None where there are none."""
        return self._labels

    @property
    def value(self) -> Any:
        """The labels or, where there are none, the size as a Dimension."""
        return self._dimension if self._labels is None else self._labels

    def index(self, value: Any) -> int:
        """Finds the position of a label.

        Args:
          value: The label.

        Returns:
          The position.

        Raises:
          ValueError: If the axis has no labels.
          KeyError: If it has others.
        """
        if self._index is None:
            raise ValueError("Axis does not have tick labels")
        return self._index[value]

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple:
        return self.name, self.size, self.labels

    def __repr__(self) -> str:
        return f"{type(self).__name__}{written(self)}"


AXIS = checks.either(checks.instance("labeled_tensor.Axis", Axis), checks.pair(checks.STRING, AXIS_VALUE))
NAME_OR_AXIS = checks.either(checks.STRING, AXIS)


def written(axis: Axis) -> str:
    """An axis as the tuple that makes it."""
    return f"('{axis.name}', {axis.value!r})"


@export("contrib.labeled_tensor.as_axis")
@checks.accepts(AXIS)
def as_axis(axis_data: Any) -> Axis:
    """Makes an axis of its name and its value.

    Args:
      axis_data: A tuple of both, or an axis, which stays as it is.

    Returns:
      The axis.
    """
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


@export("contrib.labeled_tensor.Axes")
class Axes(Mapping):
    """The axes of a tensor by name, in order.

    Args:
      axes: A list of axes, or of tuples of a name and a value; all names differ.
    """

    @checks.accepts(checks.ANYTHING, checks.collection(AXIS, list))
    def __init__(self, axes: list):
        self._axes: dict[str, Axis] = {}
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Duplicate axis name: {axis.name}")
            self._axes[axis.name] = axis

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    @checks.accepts(checks.ANYTHING, checks.STRING)
    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._axes

    def __len__(self) -> int:
        return len(self._axes)

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        opening = f"{type(self).__name__}(["
        return opening + f",\n{' ' * len(opening)}".join(map(written, self.values())) + "])"

    @checks.accepts(checks.ANYTHING, checks.STRING)
    def remove(self, axis_name: str) -> Axes:
        """Leaves an axis out.

        Args:
          axis_name: Its name.

        Returns:
          The other axes.

        Raises:
          KeyError: If there is no such axis.
        """
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for axis in self.values() if axis.name != axis_name])


@checks.accepts(checks.collection(checks.instance("Axis", Axis)))
def concat_axes(axes: Sequence[Axis]) -> Axis:
    """One axis of several with the same name, one behind the other."""
    if not axes:
        raise ValueError("axes must not be empty")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    value: Any
    if all(axis.labels is not None for axis in axes):
        value = [label for axis in axes for label in axis.value]
    elif any(axis.size is None for axis in axes):
        value = None
    else:
        value = sum(map(len, axes))
    return Axis(axes[0].name, value)
