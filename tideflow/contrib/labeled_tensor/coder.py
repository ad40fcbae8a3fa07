"""Reshaping that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import NAME_OR_AXIS, Axis, as_axis
from tideflow.contrib.labeled_tensor.rearranged import reshape
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.labeled_tensor.ReshapeCoder")
class ReshapeCoder:
    """Replaces axes by others, and those by the first ones again.

    Args:
      existing_axis_names: The names of the axes that `encode` replaces.
      new_axes: What it replaces them by.
      name: A name for the operations.
    """

    @checks.accepts(
        checks.ANYTHING, checks.collection(checks.STRING), checks.collection(NAME_OR_AXIS), checks.NAME
    )
    def __init__(self, existing_axis_names: Sequence[str], new_axes: Sequence, name: str | None = None):
        self._name = name
        self._existing_axis_names = existing_axis_names
        self._new_axes = new_axes
        self._existing_axes: list[Axis] | None = None

    @checks.accepts(checks.ANYTHING, LABELED)
    def encode(self, labeled_tensor: LabeledTensor | TensorLike) -> LabeledTensor:
        """Replaces the axes, and remembers them.

        Args:
          labeled_tensor: The labeled tensor.

        Returns:
          The reshaped labeled tensor.

        Raises:
          ValueError: If the axes are not those of the last call.
        """
        with tf.name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            encoded = reshape(labeled_tensor, self._existing_axis_names, self._new_axes, name=scope)
            axes = [labeled_tensor.axes[each] for each in self._existing_axis_names]
            if self._existing_axes is not None and self._existing_axes != axes:
                raise ValueError(
                    f"input axes {axes!r} do not match axes from previous method call {self._existing_axes!r}"
                )
            self._existing_axes = axes
            return encoded

    @checks.accepts(checks.ANYTHING, LABELED)
    def decode(self, labeled_tensor: LabeledTensor | TensorLike) -> LabeledTensor:
        """Replaces the new axes by those that `encode` has met.

        Args:
          labeled_tensor: A labeled tensor with the new axes.

        Returns:
          The reshaped labeled tensor.

        Raises:
          ValueError: If `encode` was not called.
        """
        if self._existing_axes is None:
            raise ValueError("decode called before encode")
        with tf.name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            names = [axis if isinstance(axis, str) else as_axis(axis).name for axis in self._new_axes]
            return reshape(labeled_tensor, names, self._existing_axes, name=scope)
