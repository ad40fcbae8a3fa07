"""Labels, logits and weights as heads take them: their shapes, ranges and types, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tideflow as tf
from tideflow.feature_column.base import Inputs
from tideflow.feature_column.numeric import NumericColumn
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import dimension_value
from tideflow.platform.function_arguments import fn_args, those_taken

NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data "
    "contains your label feature. Check that your input_fn properly parses and returns labels."
)


def checked_labels(labels: Any, logits: Tensor, dimension: int) -> Tensor:
    """Labels of shape [..., dimension], in front of which they are like the logits."""
    if labels is None:
        raise ValueError(NO_LABELS)
    shape_message = (
        f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your n_classes argument "
        "to the head and/or the shape of your label."
    )
    with tf.name_scope("labels") as scope:
        if isinstance(labels, SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. Labels must be a Tensor of shape [D0, D1, ..., DN, "
                f"{dimension}], e.g. [batch_size, {dimension}]. Suggested Fix (1): Check the label feature "
                f"in your data. Each example must contain {dimension} value(s). If not, your choice of label "
                "was probably incorrect. Suggested Fix (2): In your input_fn, use "
                "tf.sparse_tensor_to_dense() to turn labels into a Tensor."
            )
        labels = tf.convert_to_tensor(labels)
        if _has_one_axis_less(labels, logits):
            labels = tf.expand_dims(labels, -1)
        has_rank = tf.assert_rank_at_least(labels, 2, message=shape_message)
        with tf.control_dependencies([has_rank]):
            if labels.shape.ndims is not None and dimension_value(labels.shape[-1]) not in (None, dimension):
                raise ValueError(
                    f"Mismatched label shape. Expected labels dimension={dimension}.  Received "
                    f"{labels.shape[-1]}. Suggested Fix: If your classifier expects one-hot encoding label, "
                    "check your n_classes argument to the estimator and/or the shape of your label. "
                    "Otherwise, check the shape of your label."
                )
            expected = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0)
            found = tf.shape(labels)
            data = ["expected_labels_shape: ", expected, "labels_shape: ", found]
            has_shape = tf.assert_equal(expected, found, message=shape_message, data=data)
            with tf.control_dependencies([has_shape]):
                return tf.identity(labels, name=scope)


def _has_one_axis_less(tensor: Tensor, logits: Tensor) -> bool:
    ranks = tensor.shape.ndims, logits.shape.ndims
    return None not in ranks and ranks[0] == ranks[1] - 1


def checked_range(labels: Tensor, n_classes: int, message: str | None = None) -> Tensor:
    """Labels that are numbers of classes."""
    with tf.name_scope("check_label_range"):
        largest = tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        below = tf.assert_less_equal(labels, largest, message=message or "Labels must be <= n_classes - 1")
        above = tf.assert_non_negative(labels, message=message or "Labels must be >= 0")
        with tf.control_dependencies([below, above]):
            return tf.identity(labels)


def checked_logits(logits: Any, dimension: int) -> Tensor:
    """Logits of shape [..., dimension]."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with tf.name_scope("logits") as scope:
        logits = tf.cast(logits, tf.float32)
        shape = tf.shape(logits)
        has_rank = tf.assert_rank_at_least(logits, 2, data=[shape], message=message)
        with tf.control_dependencies([has_rank]):
            if logits.shape.ndims is not None and dimension_value(logits.shape[-1]) is not None:
                if dimension_value(logits.shape[-1]) != dimension:
                    raise ValueError(f"{message}, got {logits.shape}.")
                return logits
            has_dimension = tf.assert_equal(dimension, shape[-1], data=[shape], message=message)
            with tf.control_dependencies([has_dimension]):
                return tf.identity(logits, name=scope)


def checked_weights(
    features: Mapping[str, Any] | None, weight_column: Any, logits: Tensor, per_logit: bool = False
) -> Any:
    """The weights of the examples, or of each logit; 1 where there is no column of weights."""
    shapes = "[D0, D1, ... DN], [D0, D1, ... DN, 1]" if per_logit else "[D0, D1, ... DN]"
    last = "[D0, D1, ... DN, logits_dimension]" if per_logit else "[D0, D1, ... DN, 1]"
    message = f"weights shape must be {shapes} or {last}"
    with tf.name_scope("weights") as scope:
        if weight_column is None:
            return 1.0
        weights = tf.cast(_weight_values(features or {}, weight_column), tf.float32, name="weights")
        weights_shape = tf.shape(weights, name="weights_shape")
        logits_shape = tf.shape(logits, name="logits_shape")
        data = ["logits_shape: ", logits_shape, "weights_shape: ", weights_shape]
        if _has_one_axis_less(weights, logits):
            fits = tf.assert_equal(logits_shape[:-1], weights_shape, message=message, data=data)
            with tf.control_dependencies([fits]):
                return tf.expand_dims(weights, -1, name=scope)
        of_examples = tf.concat([logits_shape[:-1], [1]], axis=0)
        if per_logit:
            either = [tf.reduce_all(tf.equal(s, weights_shape)) for s in (logits_shape, of_examples)]
            fits = tf.Assert(tf.reduce_any(either), [message, *data])
        else:
            fits = tf.assert_equal(of_examples, weights_shape, message=message, data=data)
        with tf.control_dependencies([fits]):
            return tf.identity(weights, name=scope)


def _weight_values(features: Mapping[str, Any], weight_column: Any) -> Tensor:
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column, shape=(1,))
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            f"Weight column must be either a string or NumericColumn. Given type: {type(weight_column)}."
        )
    values = weight_column.get_dense_tensor(Inputs(features), None)
    if not (values.dtype.is_floating or values.dtype.is_integer):
        raise ValueError(f"Weight column should be castable to float. Given dtype: {values.dtype}")
    return values


def check_loss_fn(loss_fn: Callable | None) -> None:
    if loss_fn is None:
        return
    names = fn_args(loss_fn)
    for required in ("labels", "logits"):
        if required not in names:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
    unknown = sorted(set(names) - {"labels", "logits", "features", "loss_reduction"})
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {unknown}")


def loss_of(loss_fn: Callable, labels: Tensor, logits: Tensor, features: Any, dimension: int) -> Tensor:
    """What the user's loss function says of each example, of shape [..., dimension]."""
    with tf.name_scope("call_loss_fn"):
        loss = loss_fn(labels=labels, logits=logits, **those_taken(loss_fn, features=features))
        logits_shape = tf.shape(logits, name="logits_shape")
        expected = tf.concat([logits_shape[:-1], [dimension]], axis=0, name="expected_loss_shape")
        found = tf.shape(loss, name="loss_shape")
        fits = tf.Assert(
            tf.reduce_all(tf.equal(found, expected)),
            [
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. ",
                "logits_shape: ",
                logits_shape,
                "loss_shape: ",
                found,
            ],
            name="check_loss_shape",
        )
        with tf.control_dependencies([fits]):
            return tf.identity(loss)


def check_vocabulary(label_vocabulary: Any) -> None:
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError(
            f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}"
        )


def checked_thresholds(thresholds: Any) -> tuple[float, ...]:
    thresholds = tuple(thresholds or ())
    for threshold in thresholds:
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds not in (0, 1): {(thresholds,)}.")
    return thresholds
