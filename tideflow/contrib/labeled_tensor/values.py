"""Labeled tensors of values: constants, placeholders, and the like of another."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import NAME_OR_AXIS, Axes, as_axis
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export
from tideflow.graph.dtypes import DType

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_DTYPE = checks.optional(checks.instance("tensorflow.DType", DType))
_AXES = checks.either(checks.instance("labeled_tensor.Axes", Axes), checks.collection(NAME_OR_AXIS))


@export("contrib.labeled_tensor.constant")
@checks.accepts(
    checks.either(
        checks.instance("Union(numpy.ndarray, list, tuple)", np.ndarray, list, tuple), checks.SCALAR
    ),
    _DTYPE,
    checks.optional(_AXES),
    checks.NAME,
)
def constant(value: Any, dtype: Any = None, axes: Any = None, name: str | None = None) -> LabeledTensor:
    """Makes a constant with axes.

    Args:
      value: The value.
      dtype: The type of its elements; that of the value if None.
      axes: Its axes. Where all have sizes or labels, a value with fewer elements is repeated to fill them.
      name: A name for the operation.

    Returns:
      The labeled tensor.
    """
    with tf.name_scope(name, "lt_constant", [value]) as scope:
        axes = list(axes.values()) if isinstance(axes, Axes) else list(axes or [])
        shape = None
        if not any(isinstance(axis, str) for axis in axes):
            axes = [as_axis(axis) for axis in axes]
            shape = [axis.size for axis in axes]
        return LabeledTensor(tf.constant(value, dtype=dtype, shape=shape, name=scope), axes)


@export("contrib.labeled_tensor.placeholder")
@checks.accepts(checks.instance("tensorflow.DType", DType), checks.collection(NAME_OR_AXIS), checks.NAME)
def placeholder(dtype: Any, axes: Collection, name: str | None = None) -> LabeledTensor:
    """Makes a placeholder with axes.

    Args:
      dtype: The type of its elements.
      axes: Its axes; the size of one that is given by its name alone is unknown.
      name: A name for the operation.

    Returns:
      The labeled tensor.
    """
    with tf.name_scope(name, "lt_placeholder", []) as scope:
        known = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
        return LabeledTensor(tf.placeholder(dtype, [axis.size for axis in known.values()], name=scope), known)


@export("contrib.labeled_tensor.zeros_like")
@checks.accepts(LABELED, _DTYPE, checks.NAME)
def zeros_like(
    labeled_tensor: LabeledTensor | TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> LabeledTensor:
    """Makes zeros with the axes of a labeled tensor.

    Args:
      labeled_tensor: The labeled tensor.
      dtype: The type of the zeros; that of the tensor if None.
      name: A name for the operation.

    Returns:
      The zeros.
    """
    with tf.name_scope(name, "lt_zeros_like", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        zeros = tf.zeros_like(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(zeros, labeled_tensor.axes)


@export("contrib.labeled_tensor.ones_like")
@checks.accepts(LABELED, _DTYPE, checks.NAME)
def ones_like(
    labeled_tensor: LabeledTensor | TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> LabeledTensor:
    """Makes ones with the axes of a labeled tensor.

    Args:
      labeled_tensor: The labeled tensor.
      dtype: The type of the ones; that of the tensor if None.
      name: A name for the operation.

    Returns:
      The ones.
    """
    with tf.name_scope(name, "lt_ones_like", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        ones = tf.ones_like(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(ones, labeled_tensor.axes)


@export("contrib.labeled_tensor.cast")
@checks.accepts(LABELED, _DTYPE, checks.NAME)
def cast(
    labeled_tensor: LabeledTensor | TensorLike, dtype: Any = None, name: str | None = None
) -> LabeledTensor:
    """Converts the elements of a labeled tensor to another type.

    Args:
      labeled_tensor: The labeled tensor.
      dtype: The type.
      name: A name for the operation.

    Returns:
      The labeled tensor of that type.
    """
    with tf.name_scope(name, "lt_cast", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.cast(labeled_tensor.tensor, dtype, name=scope), labeled_tensor.axes)


@export("contrib.labeled_tensor.verify_tensor_all_finite")
@checks.accepts(LABELED, checks.STRING, checks.NAME)
def verify_tensor_all_finite(
    labeled_tensor: LabeledTensor | TensorLike, message: str, name: str | None = None
) -> LabeledTensor:
    """Fails where an element is infinite or not a number.

    Args:
      labeled_tensor: The labeled tensor.
      message: What the error says.
      name: A name for the operations.

    Returns:
      The same values.
    """
    with tf.name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        verified = tf.verify_tensor_all_finite(labeled_tensor.tensor, msg=message, name=scope)
        return LabeledTensor(verified, labeled_tensor.axes)
