"""Example messages parsed to labeled tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import AXIS, Axis, as_axis
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.labeled_tensor.FixedLenFeature")
class FixedLenFeature:
    """How a feature of known size is parsed.

    Args:
      axes: The axes of one example's value, all of known size.
      dtype: The type of its elements.
      default_value: What examples without the feature have; None where they are refused.
    """

    @checks.accepts(checks.ANYTHING, checks.collection(AXIS), checks.ANYTHING, checks.ANYTHING)
    def __init__(self, axes: Sequence, dtype: Any, default_value: Any = None):
        self._axes = [as_axis(axis) for axis in axes]
        self._dtype = dtype
        self._default_value = default_value

    @property
    def axes(self) -> list[Axis]:
        """The axes of one example's value."""
        return self._axes

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self._dtype

    @property
    def default_value(self) -> Any:
        """What examples without the feature have."""
        return self._default_value


_FEATURES = checks.mapping(checks.STRING, checks.instance("FixedLenFeature", FixedLenFeature))


def _without_labels(features: Mapping[str, FixedLenFeature]) -> dict[str, tf.FixedLenFeature]:
    found = {}
    for name, feature in features.items():
        shape = [axis.size for axis in feature.axes]
        if None in shape:
            raise ValueError("axes with unknown size are not supported")
        found[name] = tf.FixedLenFeature(shape, feature.dtype, feature.default_value)
    return found


@export("contrib.labeled_tensor.parse_example")
@checks.accepts(LABELED, _FEATURES, checks.ANYTHING, checks.ANYTHING)
def parse_example(
    serialized: LabeledTensor | TensorLike,
    features: Mapping[str, FixedLenFeature],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, LabeledTensor]:
    """Parses a batch of examples.

    Args:
      serialized: The serialized examples, a labeled tensor of one axis.
      features: How the features are parsed, by name.
      name: A name for the operations.
      example_names: Names of the examples, for errors.

    Returns:
      The features by name, with the axis of the batch first.

    Raises:
      ValueError: If an axis of a feature has no known size.
    """
    serialized = convert_to_labeled_tensor(serialized)
    parsed = tf.parse_example(serialized.tensor, _without_labels(features), name, example_names)
    return {
        key: LabeledTensor(value, [*serialized.axes.values(), *features[key].axes])
        for key, value in parsed.items()
    }


@export("contrib.labeled_tensor.parse_single_example")
@checks.accepts(LABELED, _FEATURES, checks.ANYTHING, checks.ANYTHING)
def parse_single_example(
    serialized: LabeledTensor | TensorLike,
    features: Mapping[str, FixedLenFeature],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, LabeledTensor]:
    """Parses one example.

    Args:
      serialized: The serialized example, a scalar.
      features: How the features are parsed, by name.
      name: A name for the operations.
      example_names: A name of the example, for errors.

    Returns:
      The features by name.

    Raises:
      ValueError: If an axis of a feature has no known size.
    """
    serialized = convert_to_labeled_tensor(serialized)
    parsed = tf.parse_single_example(serialized.tensor, _without_labels(features), name, example_names)
    return {key: LabeledTensor(value, features[key].axes) for key, value in parsed.items()}
