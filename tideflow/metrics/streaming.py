"""The parts of metrics: variables that accumulate, and the value and the update that follow from them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collections, executing_eagerly
from tideflow.ops.arrays import creation
from tideflow.ops.math import binary, confusion
from tideflow.ops.nn.weights import matched_rank
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization

Metric = tuple[Tensor, Tensor]

_ARGUMENTS = {
    "labels": "The labels: what is true.",
    "predictions": "The predictions. They are of the same shape, unless the metric says otherwise.",
    "predictions_idx": "The predicted classes, of shape [..., k].",
    "thresholds": "The thresholds, in [0, 1]: a prediction above one counts as true.",
    "k": "The number of classes to consider.",
    "class_id": "If given, only this class is considered.",
    "weights": "The weights of the examples, which are broadcast to the shape of the labels; 1 if None.",
    "metrics_collections": "Collections to add the value to.",
    "updates_collections": "Collections to add the update operation to.",
    "name": "The name of the variable scope.",
}


def metric_doc(summary: str, metric: Callable[..., Metric]) -> str:
    """The docstring of a metric that a family maker makes: its summary, and its parameters' meanings."""
    arguments = "\n".join(f"  {name}: {_ARGUMENTS[name]}" for name in inspect.signature(metric).parameters)
    return f"{summary}\n\nArgs:\n{arguments}\n\nReturns:\n  The value, and the operation that updates it."


def metric_variable(
    shape: Any, dtype: dtypes.DType, name: str | None = None, validate_shape: bool = True
) -> Variable:
    """A local variable of zeros, which initializing the metrics sets back."""
    if executing_eagerly():
        raise RuntimeError(f"tf.metrics.{_metric_name()} is not supported when eager execution is enabled.")
    return Variable(
        lambda: creation.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        validate_shape=validate_shape,
        name=name,
    )


def _metric_name() -> str:
    """The metric that the program has called."""
    frame, name = sys._getframe(1), ""
    while frame is not None and frame.f_globals["__name__"].startswith("tideflow.metrics"):
        frame, name = frame.f_back, frame.f_code.co_name
    return name


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
