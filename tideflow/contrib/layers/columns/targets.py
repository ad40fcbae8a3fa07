"""Targets: what a model is trained for, as a loss, predictions and metrics of its logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tideflow.contrib.losses import hinge_loss
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.metrics import means
from tideflow.metrics import thresholds as at_thresholds
from tideflow.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.math import binary, casting, positions, reductions, unary
from tideflow.ops.nn import softmax


class Target:
    """What a model is trained for.

    Args:
      loss_fn: A function of logits and labels to the loss of each example.
      num_label_columns: How many logits an example has.
      label_name: The name of the labels, where they come in a dictionary.
      weight_column_name: The name of the feature with the examples' weights.
    """

    def __init__(
        self,
        loss_fn: Callable,
        num_label_columns: int,
        label_name: str | None,
        weight_column_name: str | None,
    ):
        self._loss_fn = loss_fn
        self.num_label_columns = num_label_columns
        self.label_name = label_name
        self.weight_column_name = weight_column_name

    def get_weight_tensor(self, features: Mapping[str, Any]) -> Tensor | None:
        """The weight of each example, if they have any."""
        if not self.weight_column_name:
            return None
        return shapes.reshape(casting.cast(features[self.weight_column_name], dtypes.float32), (-1,))

    def _losses(self, logits: Tensor, target: Any, features: Any) -> tuple[Tensor, Tensor | None]:
        labels = target[self.label_name] if isinstance(target, dict) else target
        losses, weights = self._loss_fn(logits, labels), self.get_weight_tensor(features)
        return losses if weights is None else shapes.reshape(losses, (-1,)) * weights, weights

    def training_loss(
        self, logits: Tensor, target: Any, features: Mapping[str, Any], name: str = "training_loss"
    ) -> Tensor:
        """The mean of the examples' losses, each times its weight."""
        return reductions.reduce_mean(self._losses(logits, target, features)[0], name=name)

    def loss(self, logits: Tensor, target: Any, features: Mapping[str, Any]) -> Tensor:
        """The weighted mean of the examples' losses."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return reductions.reduce_mean(losses, name="loss")
        return binary.div(reductions.reduce_sum(losses), reductions.reduce_sum(weights), name="loss")

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Tensor:
        """What the model predicts; probabilities, where they are asked for and there are any."""
        raise NotImplementedError

    def _measured(self, logits: Tensor, labels: Any, features: Any, metrics: Any, proba: bool) -> dict:
        if not metrics:
            return {}
        predictions = self.logits_to_predictions(logits, proba)
        labels, weights = casting.cast(labels, predictions.dtype), self.get_weight_tensor(features)
        weighted = {} if weights is None else {"weights": weights}
        return {name: metric(predictions, labels, **weighted) for name, metric in metrics.items()}


class RegressionTarget(Target):
    """Numbers, by mean squared error."""

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Tensor:
        """The logits; without their axis, where an example has one."""
        return shapes.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(self, features: Any, logits: Tensor, labels: Any, metrics: Any = None) -> dict:
        """The loss and the metrics, as they are measured over many steps."""
        loss = means.mean(self.loss(logits, labels, features))
        return {"loss": loss, **self._measured(logits, labels, features, metrics, False)}


class MultiClassTarget(Target):
    """Classes, by cross entropy."""

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Tensor:
        """The likeliest class, or the probability of each."""
        if self.num_label_columns == 1:
            logits = joining.concat([creation.zeros_like(logits), logits], 1)
        return softmax.softmax(logits) if proba else positions.argmax(logits, 1)

    def get_eval_ops(self, features: Any, logits: Tensor, labels: Any, metrics: Any = None) -> dict:
        """The loss and the metrics, as they are measured over many steps.

        A metric is of classes, unless its name is a pair with "probabilities".
        """
        result = {"loss": means.mean(self.loss(logits, labels, features))}
        if self.num_label_columns == 1:
            predictions, numbers = unary.sigmoid(logits), casting.cast(labels, dtypes.float32)
            measured = get_default_binary_metrics_for_eval([0.5])
            result.update({name: metric(predictions, numbers) for name, metric in measured.items()})
        if metrics is None:
            metrics = {("accuracy", "classes"): _accuracy}
        by_kind: dict[str, dict] = {"classes": {}, "probabilities": {}}
        for name, metric in metrics.items():
            word, kind = _name_and_kind(name)
            by_kind[kind][word] = metric
        result.update(self._measured(logits, labels, features, by_kind["classes"], False))
        result.update(self._measured(logits, labels, features, by_kind["probabilities"], True))
        return result


def _accuracy(predictions: Tensor, labels: Tensor, weights: Tensor | None = None) -> Any:
    return means.accuracy(labels, predictions, weights)


def _name_and_kind(name: Any) -> tuple[str, str]:
    if isinstance(name, str):
        return name, "classes"
    if not isinstance(name, tuple):
        raise ValueError(f"Ignoring metric {name}. Its name is not in the correct form.")
    if len(name) != 2:
        raise ValueError(f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2.")
    if name[1] not in ("classes", "probabilities"):
        raise ValueError(
            f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' or "
            "'probabilities'."
        )
    return name


@export("contrib.slim.get_default_binary_metrics_for_eval")
def get_default_binary_metrics_for_eval(thresholds: Sequence[float]) -> dict[str, Callable]:
    """What is measured of two classes in any case.

    Args:
      thresholds: The probabilities from which on the second class is chosen.

    Returns:
      Functions of probabilities and labels, by the names of the metrics.
    """
    metrics: dict[str, Callable] = {
        "labels/prediction_mean": lambda predictions, labels: means.mean(predictions),
        "labels/actual_target_mean": lambda predictions, labels: means.mean(labels),
        "accuracy/baseline_target_mean": lambda predictions, labels: means.mean(labels),
        "auc": lambda predictions, labels: at_thresholds.auc(labels, predictions),
    }
    for threshold in thresholds:
        metrics.update(_metrics_at(threshold))
    return metrics


def _metrics_at(threshold: float) -> dict[str, Callable]:
    def at_threshold(metric: Callable) -> Callable:
        def measured(predictions: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
            values, update = metric(labels, predictions, [threshold])
            return shapes.squeeze(values), update

        return measured

    def accuracy(predictions: Tensor, labels: Tensor) -> Any:
        chosen = casting.cast(binary.greater_equal(predictions, threshold), dtypes.float32)
        return means.accuracy(labels, chosen)

    return {
        f"accuracy/threshold_{threshold:f}_mean": accuracy,
        f"precision/positive_threshold_{threshold:f}_mean": at_threshold(
            at_thresholds.precision_at_thresholds
        ),
        f"recall/positive_threshold_{threshold:f}_mean": at_threshold(at_thresholds.recall_at_thresholds),
    }


def _as_column(labels: Tensor) -> Tensor:
    return casting.cast(shapes.expand_dims(labels, 1) if labels.shape.ndims == 1 else labels, dtypes.float32)


def _squared(logits: Tensor, labels: Tensor) -> Tensor:
    labels = _as_column(labels)
    logits.shape.assert_is_compatible_with(labels.shape)
    return binary.squared_difference(logits, labels)


def _of_two_classes(logits: Tensor, labels: Tensor) -> Tensor:
    return sigmoid_cross_entropy_with_logits(labels=_as_column(labels), logits=logits)


class BinarySvmTarget(MultiClassTarget):
    """The target of a classification with two classes by the hinge loss."""

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Tensor:
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def _hinge(logits: Tensor, labels: Tensor) -> Tensor:
    return hinge_loss(logits, _as_column(labels))


def _of_classes(logits: Tensor, labels: Tensor) -> Tensor:
    if not labels.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {labels.dtype}.")
    if labels.shape.ndims == 2:
        labels = shapes.squeeze(labels, axis=[1])
    return softmax.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


@export("contrib.layers.regression_target")
def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> RegressionTarget:
    """Makes the target of a regression.

    Args:
      label_name: The name of the labels, where they come in a dictionary.
      weight_column_name: The name of the feature with the examples' weights; all weigh 1 if None.
      label_dimension: How many numbers an example has as its label.

    Returns:
      An object with `loss`, `training_loss`, `logits_to_predictions` and `get_eval_ops`.
    """
    return RegressionTarget(_squared, label_dimension, label_name, weight_column_name)


@export("contrib.layers.multi_class_target")
def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> MultiClassTarget:
    """Makes the target of a classification.

    Args:
      n_classes: The number of classes, above 1.
      label_name: The name of the labels, where they come in a dictionary.
      weight_column_name: The name of the feature with the examples' weights; all weigh 1 if None.

    Returns:
      An object with `loss`, `training_loss`, `logits_to_predictions` and `get_eval_ops`.

    Raises:
      ValueError: If there are fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss, columns = (_of_two_classes, 1) if n_classes == 2 else (_of_classes, n_classes)
    return MultiClassTarget(loss, columns, label_name, weight_column_name)


@export("contrib.slim.binary_svm_target")
def binary_svm_target(
    label_name: str | None = None, weight_column_name: str | None = None
) -> BinarySvmTarget:
    """Makes the target of a classification with two classes by a support vector machine.

    Args:
      label_name: The name of the labels, where they come in a dictionary.
      weight_column_name: The name of the feature with the examples' weights; all weigh 1 if None.

    Returns:
      An object with `loss`, `training_loss`, `logits_to_predictions` and `get_eval_ops`.
    """
    return BinarySvmTarget(_hinge, 1, label_name, weight_column_name)
