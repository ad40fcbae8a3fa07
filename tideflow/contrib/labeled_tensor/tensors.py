"""Labeled tensors: a tensor and its axes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import NAME_OR_AXIS, Axes, Axis, written
from tideflow.export import export
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_AXES = checks.either(checks.instance("labeled_tensor.Axes", Axes), checks.collection(NAME_OR_AXIS))


@export("contrib.labeled_tensor.LabeledTensor")
class LabeledTensor:
    """A tensor with axes.

    Args:
      tensor: The tensor.
      axes: Its axes in order; one that is given by its name alone has the tensor's size and no labels.
    """

    @checks.accepts(checks.ANYTHING, checks.instance("tensorflow.Tensor", Tensor), _AXES)
    def __init__(self, tensor: Tensor, axes: Axes | Collection):
        shape = tensor.get_shape()
        if not isinstance(axes, Axes):
            named = [(axis, shape[i]) if isinstance(axis, str) else axis for i, axis in enumerate(axes)]
            axes = Axes(named)
        if len(shape) != len(axes):
            raise ValueError(f"Tensor rank was not equal to the number of axes: {shape!r}, {axes!r}")
        for size, axis in zip(shape, axes.values(), strict=True):
            if size != axis.size:
                raise ValueError(
                    f"Provided axis size {axis.size} does not match tensor dimension size {size} "
                    f"in tensor {tensor!r}"
                )
        self._tensor = tensor
        self._axes = axes

    @property
    def tensor(self) -> Tensor:
        """The tensor."""
        return self._tensor

    @property
    def axes(self) -> Axes:
        """The axes."""
        return self._axes

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self._tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor."""
        return self._tensor.shape

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self._tensor.name

    def get_shape(self) -> TensorShape:
        """Returns the shape of the tensor."""
        return self._tensor.get_shape()

    def _as_graph_element(self) -> Tensor:
        return self._tensor

    def __getitem__(self, key: Any) -> LabeledTensor:
        key = key if isinstance(key, tuple) else (key,)
        if len(key) != len(self.axes):
            raise ValueError(
                f"indexer {key!r} must have the same length as the Tensor rank ({len(self.axes)!r})"
            )
        return slice_function(self, dict(zip(self.axes, key, strict=True)))

    def __pos__(self) -> LabeledTensor:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabeledTensor) and self.tensor is other.tensor and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((id(self.tensor), self.axes))

    def __repr__(self) -> str:
        axes = ",\n       ".join(map(written, self.axes.values()))
        about = f"{type(self).__name__} '{self.name}' shape={self.shape} dtype={self.dtype.name}"
        return f"<{about}\n axes=[{axes}]>"


register_tensor_conversion_function(
    LabeledTensor,
    lambda value, dtype=None, name=None, as_ref=False: tf.convert_to_tensor(value.tensor, dtype, name),
)

LABELED = checks.either(
    checks.instance("labeled_tensor.LabeledTensor", LabeledTensor),
    checks.instance("tensorflow.Tensor", Tensor),
    checks.instance("numpy.ndarray", np.ndarray),
    checks.SCALAR,
)


@export("contrib.labeled_tensor.convert_to_labeled_tensor")
@checks.accepts(LABELED, checks.ANYTHING, checks.NAME)
def convert_to_labeled_tensor(
    value: LabeledTensor | TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> LabeledTensor:
    """Makes a labeled tensor of a number.

    Args:
      value: A labeled tensor, which keeps its axes, or something without axes: a scalar.
      dtype: The type of its elements; that of the value if None.
      name: A name for the operation.

    Returns:
      The labeled tensor.

    Raises:
      ValueError: If the value has axes and no names for them.
    """
    axes: list[Axis] = []
    if isinstance(value, LabeledTensor):
        axes = list(value.axes.values())
        value = value.tensor
    tensor = tf.convert_to_tensor(value, dtype=dtype, name=name)
    if len(tensor.get_shape()) != len(axes):
        raise ValueError(
            "cannot automatically convert unlabeled arrays or tensors with rank>0 into LabeledTensors: "
            f"{value!r}. Give its axes: LabeledTensor(tensor, axes)"
        )
    return LabeledTensor(tensor, axes)


@export("contrib.labeled_tensor.identity")
@checks.accepts(LABELED, checks.NAME)
def identity(labeled_tensor: LabeledTensor | TensorLike, name: str | None = None) -> LabeledTensor:
    """Passes a labeled tensor on.

    Args:
      labeled_tensor: The labeled tensor.
      name: A name for the operation.

    Returns:
      One of the same values and axes.
    """
    with tf.name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.identity(labeled_tensor.tensor, name=scope), labeled_tensor.axes)


@export("contrib.labeled_tensor.slice")
@checks.accepts(
    LABELED, checks.mapping(checks.STRING, checks.instance("Union(int, slice)", int, slice)), checks.NAME
)
def slice_function(
    labeled_tensor: LabeledTensor | TensorLike, selection: dict, name: str | None = None
) -> LabeledTensor:
    """Takes positions of some axes.

    Args:
      labeled_tensor: The labeled tensor.
      selection: By the name of an axis, a slice or a position, which takes the axis away.
      name: A name for the operation.

    Returns:
      What was taken.
    """
    with tf.name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        slices = [selection.get(name, slice(None)) for name in labeled_tensor.axes]
        axes: list[Any] = []
        for axis, taken in zip(labeled_tensor.axes.values(), slices, strict=True):
            if isinstance(taken, slice):
                axes.append(axis.name if axis.labels is None else (axis.name, axis.labels[taken]))
        return LabeledTensor(tf.identity(labeled_tensor.tensor[tuple(slices)], name=scope), axes)


@export("contrib.labeled_tensor.transpose")
@checks.accepts(LABELED, checks.optional(checks.collection(checks.STRING)), checks.NAME)
def transpose(
    labeled_tensor: LabeledTensor | TensorLike,
    axis_order: Sequence[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Puts the axes in another order.

    Args:
      labeled_tensor: The labeled tensor.
      axis_order: The names of its axes in the new order; the reversed one if None.
      name: A name for the operation.

    Returns:
      The transposed labeled tensor.

    Raises:
      ValueError: If the names are not those of the axes.
    """
    with tf.name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        names = list(axes)
        if axis_order is None:
            axis_order = names[::-1]
        elif sorted(axis_order) != sorted(names):
            raise ValueError(
                "The new axis order must have the same names as the original axes, but the new order is "
                f"{axis_order!r} while the original order is {names!r}"
            )
        permutation = [names.index(each) for each in axis_order]
        transposed = tf.transpose(labeled_tensor.tensor, permutation, name=scope)
        return LabeledTensor(transposed, [axes[each] for each in axis_order])
