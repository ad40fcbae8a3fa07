"""The head of classification into any number of several classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.estimator.export.outputs import ExportOutput, PredictOutput
from tideflow.estimator.heads import checks, metrics
from tideflow.estimator.heads.base import (
    CLASSIFY,
    PREDICT,
    SUM_OVER_BATCH_SIZE,
    SimpleHead,
    chosen_keys,
    classification,
)
from tideflow.estimator.heads.classes import threshold_keys, threshold_metrics
from tideflow.estimator.heads.keys import MetricKeys, PredictionKeys
from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.lookup.vocabulary import index_table_from_tensor
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("estimator.MultiLabelHead")
class MultiLabelHead(SimpleHead):
    """A head for several classes, of which an example has any number: a logit and a sigmoid for each.

    Args:
      n_classes: The number of classes, above 1.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      thresholds: Thresholds in (0, 1) for which accuracy, precision and recall are computed.
      label_vocabulary: The labels, if they are strings; numbers below `n_classes` if None.
      loss_reduction: How the losses of a batch become one: `"sum"` or `"sum_over_batch_size"`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each example.
      classes_for_class_based_metrics: Classes that have metrics of their own: numbers, or words of the
        vocabulary.
      name: The name, which the names of metrics end with.

    Raises:
      ValueError: If an argument is out of its range.
    """

    _precision_recall_sum = "careful_interpolation"

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable | None = None,
        classes_for_class_based_metrics: Sequence[int | str] | None = None,
        name: str | None = None,
    ):
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        for threshold in thresholds or ():
            if not 0.0 < threshold < 1.0:
                raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
        if label_vocabulary is not None:
            if not isinstance(label_vocabulary, (list, tuple)):
                raise ValueError(
                    f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}"
                )
            if len(label_vocabulary) != n_classes:
                raise ValueError(
                    f"Length of label_vocabulary must be n_classes ({n_classes}). Given: "
                    f"{len(label_vocabulary)}"
                )
        checks.check_loss_fn(loss_fn)
        self._loss_reduction = self._check_reduction(loss_reduction)
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary
        self._thresholds, self._weight_column = tuple(thresholds or ()), weight_column
        self._loss_fn, self._name = loss_fn, name
        self._classes = self._checked_classes(classes_for_class_based_metrics)

    def _checked_classes(self, classes: Sequence[int | str] | None) -> list[int]:
        """The numbers of the classes that have metrics of their own."""
        numbers = []
        for each in classes or ():
            if isinstance(each, str):
                if not self._label_vocabulary:
                    raise ValueError(
                        "label_vocabulary must be provided when classes_for_class_based_metrics are sting."
                    )
                each = self._label_vocabulary.index(each)
            if not 0 <= each < self._n_classes:
                raise ValueError(
                    "All classes_for_class_based_metrics must be in range "
                    f"[0, {self._n_classes - 1}]. Given: {each}"
                )
            numbers.append(each)
        return numbers

    @property
    def logits_dimension(self) -> int:
        """The number of logits for each example: one for each class."""
        return self._n_classes

    def _checked_logits(self, logits: Any) -> Tensor:
        return checks.checked_logits(logits, self._n_classes)

    def _processed_labels(self, logits: Tensor, labels: Any) -> Tensor:
        """Zeros and ones, one for each class."""
        if labels is None:
            raise ValueError(checks.NO_LABELS)
        if isinstance(labels, SparseTensor):
            labels = self._indicators(labels)
        else:
            message = "labels must be an integer indicator Tensor with values in [0, 1]"
            labels = checks.checked_range(labels, 2, message)
        return checks.checked_labels(labels, logits, self._n_classes)

    def _indicators(self, labels: SparseTensor) -> Tensor:
        if labels.dtype == tf.string:
            table = index_table_from_tensor(tuple(self._label_vocabulary or ()), name="class_id_lookup")
            values = table.lookup(labels.values)
        else:
            if not labels.dtype.is_integer:
                raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
            message = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
            values = checks.checked_range(labels.values, self._n_classes, message)
        numbers = tf.SparseTensor(labels.indices, tf.cast(values, tf.int64), labels.dense_shape)
        return tf.cast(tf.sparse.to_indicator(numbers, self._n_classes), tf.int64)

    def _unreduced(self, logits: Tensor, labels: Tensor, features: Any) -> tuple[Tensor, Any]:
        if self._loss_fn:
            loss = checks.loss_of(self._loss_fn, labels, logits, features, 1)
        else:
            losses = tf.losses.sigmoid_cross_entropy(labels, logits, reduction=tf.losses.Reduction.NONE)
            loss = tf.reduce_mean(losses, axis=-1, keepdims=True)
        return loss, checks.checked_weights(features, self._weight_column, logits)

    def predictions(self, logits: TensorLike, keys: Sequence[str] | None = None) -> dict[str, Tensor]:
        """Computes predictions.

        Args:
          logits: The logits.
          keys: The names of the predictions; all if None.

        Returns:
          The predictions by name: `logits` and `probabilities`.
        """
        names = PredictionKeys
        keys = chosen_keys(keys, [names.LOGITS, names.PROBABILITIES])
        logits = self._checked_logits(logits)
        with tf.name_scope("predictions"):
            wanted = {names.LOGITS: logits} if names.LOGITS in keys else {}
            if names.PROBABILITIES in keys:
                wanted[names.PROBABILITIES] = tf.sigmoid(logits, name=names.PROBABILITIES)
            return wanted

    def _class_keys(self, number: int) -> list[str]:
        """The names of the mean probability and the areas under the curves of a class."""
        if self._label_vocabulary is None:
            names = (
                MetricKeys.PROBABILITY_MEAN_AT_CLASS,
                MetricKeys.AUC_AT_CLASS,
                MetricKeys.AUC_PR_AT_CLASS,
            )
            return [self._key(name % number) for name in names]
        names = (MetricKeys.PROBABILITY_MEAN_AT_NAME, MetricKeys.AUC_AT_NAME, MetricKeys.AUC_PR_AT_NAME)
        return [self._key(name % self._label_vocabulary[number]) for name in names]

    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, Any]:
        """Makes the metrics of an evaluation.

        Args:
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        with tf.name_scope("metrics"):
            made = self._loss_metrics(regularization_losses)
            made[self._key(MetricKeys.AUC)] = metrics.auc(MetricKeys.AUC)
            made[self._key(MetricKeys.AUC_PR)] = metrics.auc(
                MetricKeys.AUC_PR, "PR", self._precision_recall_sum
            )
            made.update(threshold_metrics(self._key, self._thresholds))
            for number in self._classes:
                mean, roc, precision_recall = self._class_keys(number)
                made[mean], made[roc] = metrics.mean(mean), metrics.auc(roc)
                made[precision_recall] = metrics.auc(precision_recall, "PR", self._precision_recall_sum)
        return made

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Any,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics of an evaluation.

        Args:
          eval_metrics: The metrics that `metrics` made.
          features: The features by name, among them the weights.
          logits: The logits.
          labels: The labels.
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        key = PredictionKeys.PROBABILITIES
        probabilities = self.predictions(logits, [key])[key]
        _, labels, weights = self._evaluated(eval_metrics, features, logits, labels, regularization_losses)
        curves = map(self._key, (MetricKeys.AUC, MetricKeys.AUC_PR))
        for key in (*curves, *threshold_keys(self._key, self._thresholds)):
            eval_metrics[key].update_state(labels, probabilities, sample_weight=weights)
        for number in self._classes:
            mean, *areas = self._class_keys(number)
            of_class = probabilities[..., number : number + 1]
            eval_metrics[mean].update_state(of_class, sample_weight=weights)
            for key in areas:
                eval_metrics[key].update_state(
                    labels[..., number : number + 1], of_class, sample_weight=weights
                )
        return eval_metrics

    def _export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        classes = classification(
            predictions[PredictionKeys.PROBABILITIES], self._n_classes, self._label_vocabulary
        )
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY: classes,
            PREDICT: PredictOutput(predictions),
        }
