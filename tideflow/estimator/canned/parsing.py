"""How to parse the examples of canned estimators: features, labels and weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.feature_column.numeric import NumericColumn
from tideflow.graph import dtypes

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


@export("estimator.classifier_parse_example_spec")
def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: DTypeLike = dtypes.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Makes the argument of `tf.io.parse_example` for the examples of a classifier.

    Args:
      feature_columns: The feature columns.
      label_key: The name of the label.
      label_dtype: The type of the label.
      label_default: The label of an example without one; such an example is an error if None.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.

    Returns:
      The features to parse, by name.

    Raises:
      ValueError: If the label or the weight is a feature too.
    """
    return _spec(feature_columns, label_key, (1,), label_dtype, label_default, weight_column)


@export("estimator.regressor_parse_example_spec")
def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: DTypeLike = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Makes the argument of `tf.io.parse_example` for the examples of a regressor.

    Args:
      feature_columns: The feature columns.
      label_key: The name of the label.
      label_dtype: The type of the label.
      label_default: The label of an example without one; such an example is an error if None.
      label_dimension: The number of values for each example.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.

    Returns:
      The features to parse, by name.

    Raises:
      ValueError: If the label or the weight is a feature too.
    """
    return _spec(feature_columns, label_key, (label_dimension,), label_dtype, label_default, weight_column)


def _spec(
    columns: Iterable[Any], label_key: str, shape: tuple, dtype: Any, default: Any, weight_column: Any
) -> dict[str, Any]:
    spec = tf.feature_column.make_parse_example_spec(columns)
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}"
        )
    spec[label_key] = tf.io.FixedLenFeature(shape, dtype, default)
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: "
            f"{spec.keys()}"
        )
    return {**spec, **weight_column.parse_example_spec}
