"""What all metrics are made of: variables that add up, and two tensors made of them in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collections
from tideflow.ops.arrays import creation
from tideflow.ops.math import binary, confusion
from tideflow.ops.nn.weights import matched_rank
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization

Metric = tuple[Tensor, Tensor]


def metric_variable(shape: Any, dtype: dtypes.DType, name: str | None = None) -> Variable:
    """A local variable of zeros, which initializing the metrics sets back."""
    return Variable(
        lambda: creation.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def collected(value: Tensor, update: Any, metrics_collections: Any, updates_collections: Any) -> Metric:
    """The pair, each put into its collections."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def streamed(
    compute: Callable[..., Tensor],
    values: Sequence[Any],
    updates: Sequence[Any],
    metrics_collections: Any,
    updates_collections: Any,
) -> Metric:
    """`compute(*variables, name)` of the variables as they are, and of what this step's updates make them."""
    value = compute(*values, "value")
    return collected(value, compute(*updates, "update_op"), metrics_collections, updates_collections)


def safe_ratio(numerator: Any, denominator: Any, name: str | None = None) -> Tensor:
    """The quotient; 0 where the denominator is not positive."""
    return binary.div_no_nan(numerator, binary.maximum(denominator, 0), name=name)


def squeezed(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Predictions, labels and weights, with last axes of size 1 removed or added so that the shapes agree."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = confusion.remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is not None:
        weights = matched_rank(convert_to_tensor(weights), predictions)
    return predictions, labels, weights
