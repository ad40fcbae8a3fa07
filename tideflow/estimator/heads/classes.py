"""Heads of classification into one of several classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.estimator.export.outputs import ExportOutput, PredictOutput, RegressionOutput
from tideflow.estimator.heads import checks, metrics
from tideflow.estimator.heads.base import (
    CLASSIFY,
    PREDICT,
    REGRESS,
    SUM_OVER_BATCH_SIZE,
    SimpleHead,
    chosen_keys,
    class_names,
    classification,
    for_each_example,
)
from tideflow.estimator.heads.keys import MetricKeys, PredictionKeys
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.lookup.vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _ClassHead(SimpleHead):
    """What the two heads share: labels that are one class of a vocabulary or a number."""

    _n_classes: int
    _label_vocabulary: Sequence[str] | None
    _weight_column: Any

    def _checked_logits(self, logits: Any) -> Tensor:
        return checks.checked_logits(logits, self.logits_dimension)

    def _class_ids(self, words: Tensor) -> Tensor:
        vocabulary = tuple(self._label_vocabulary or ())
        return index_table_from_tensor(vocabulary, name="class_id_lookup").lookup(words)

    def _class_words(self, ids: Tensor) -> Tensor:
        if not self._label_vocabulary:
            return tf.as_string(ids, name="str_classes")
        vocabulary = list(self._label_vocabulary)
        return index_to_string_table_from_tensor(vocabulary, name="class_string_lookup").lookup(ids)

    def _predicted(self, class_logits: Tensor, keys: Sequence[str]) -> dict[str, Tensor]:
        """The predictions that need the logits of all classes."""
        wanted = {}
        if PredictionKeys.PROBABILITIES in keys:
            name = PredictionKeys.PROBABILITIES
            wanted[name] = tf.nn.softmax(class_logits, name=name)
        if PredictionKeys.CLASS_IDS in keys or PredictionKeys.CLASSES in keys:
            ids = tf.argmax(class_logits, axis=-1, name=PredictionKeys.CLASS_IDS)
            ids = tf.expand_dims(ids, axis=-1)
            if PredictionKeys.CLASS_IDS in keys:
                wanted[PredictionKeys.CLASS_IDS] = ids
            if PredictionKeys.CLASSES in keys:
                wanted[PredictionKeys.CLASSES] = self._class_words(ids)
        if PredictionKeys.ALL_CLASS_IDS in keys:
            wanted[PredictionKeys.ALL_CLASS_IDS] = for_each_example(tf.range(self._n_classes), class_logits)
        if PredictionKeys.ALL_CLASSES in keys:
            names = class_names(self._n_classes, self._label_vocabulary)
            wanted[PredictionKeys.ALL_CLASSES] = for_each_example(names, class_logits)
        return wanted

    def _export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        scores = predictions[PredictionKeys.PROBABILITIES]
        classes = classification(scores, self._n_classes, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY: classes,
            PREDICT: PredictOutput(predictions),
        }


@export("estimator.BinaryClassHead")
class BinaryClassHead(_ClassHead):
    """A head for two classes: the logit of the second one, and the sigmoid cross entropy as the loss.

    Args:
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      thresholds: Thresholds in (0, 1) for which accuracy, precision and recall are computed.
      label_vocabulary: The labels, if they are strings; numbers 0 and 1 if None.
      loss_reduction: How the losses of a batch become one: `"sum"` or `"sum_over_batch_size"`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each example.
      name: The name, which the names of metrics end with.

    Raises:
      ValueError: If an argument is out of its range.
    """

    _n_classes = 2
    _precision_recall_sum = "careful_interpolation"

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable | None = None,
        name: str | None = None,
    ):
        checks.check_vocabulary(label_vocabulary)
        self._thresholds = checks.checked_thresholds(thresholds)
        checks.check_loss_fn(loss_fn)
        self._loss_reduction = self._check_reduction(loss_reduction)
        self._weight_column, self._label_vocabulary = weight_column, label_vocabulary
        self._loss_fn, self._name = loss_fn, name

    @property
    def logits_dimension(self) -> int:
        """The number of logits for each example: 1."""
        return 1

    def _processed_labels(self, logits: Tensor, labels: Any) -> Tensor:
        labels = checks.checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = self._class_ids(labels)
        return checks.checked_range(tf.cast(labels, tf.float32), 2)

    def _unreduced(self, logits: Tensor, labels: Tensor, features: Any) -> tuple[Tensor, Any]:
        if self._loss_fn:
            loss = checks.loss_of(self._loss_fn, labels, logits, features, 1)
        else:
            loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return loss, checks.checked_weights(features, self._weight_column, logits)

    def predictions(self, logits: TensorLike, keys: Sequence[str] | None = None) -> dict[str, Tensor]:
        """Computes predictions.

        Args:
          logits: The logits.
          keys: The names of the predictions; all if None.

        Returns:
          The predictions by name: `logits`, `logistic`, `probabilities`, `class_ids`, `classes` and so on.
        """
        names = PredictionKeys
        keys = chosen_keys(
            keys,
            [
                names.LOGITS,
                names.LOGISTIC,
                names.PROBABILITIES,
                names.CLASS_IDS,
                names.CLASSES,
                names.ALL_CLASS_IDS,
                names.ALL_CLASSES,
            ],
        )
        logits = self._checked_logits(logits)
        with tf.name_scope("predictions"):
            wanted = {names.LOGITS: logits} if names.LOGITS in keys else {}
            if names.LOGISTIC in keys:
                wanted[names.LOGISTIC] = tf.sigmoid(logits, name=names.LOGISTIC)
            both = tf.concat([tf.zeros_like(logits), logits], axis=-1, name="two_class_logits")
            return {**wanted, **self._predicted(both, keys)}

    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, Any]:
        """Makes the metrics of an evaluation.

        Args:
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        keys = MetricKeys
        with tf.name_scope("metrics"):
            made = self._loss_metrics(regularization_losses)
            for key, kind in (
                (keys.ACCURACY, metrics.accuracy),
                (keys.PRECISION, metrics.precision),
                (keys.RECALL, metrics.recall),
                (keys.PREDICTION_MEAN, metrics.mean),
                (keys.LABEL_MEAN, metrics.mean),
                (keys.ACCURACY_BASELINE, metrics.baseline),
                (keys.AUC, metrics.auc),
            ):
                made[self._key(key)] = kind(key)
            made[self._key(keys.AUC_PR)] = metrics.auc(keys.AUC_PR, "PR", self._precision_recall_sum)
            made.update(threshold_metrics(self._key, self._thresholds))
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
        keys = MetricKeys
        predicted = self.predictions(logits, [PredictionKeys.CLASS_IDS, PredictionKeys.LOGISTIC])
        ids, logistic = predicted[PredictionKeys.CLASS_IDS], predicted[PredictionKeys.LOGISTIC]
        _, labels, weights = self._evaluated(eval_metrics, features, logits, labels, regularization_losses)
        for key in (keys.ACCURACY, keys.PRECISION, keys.RECALL):
            eval_metrics[self._key(key)].update_state(labels, ids, sample_weight=weights)
        for key, values in ((keys.PREDICTION_MEAN, logistic), (keys.LABEL_MEAN, labels)):
            eval_metrics[self._key(key)].update_state(values, sample_weight=weights)
        label_mean = eval_metrics[self._key(keys.LABEL_MEAN)]
        eval_metrics[self._key(keys.ACCURACY_BASELINE)].update_state(label_mean)
        for key in (*map(self._key, (keys.AUC, keys.AUC_PR)), *threshold_keys(self._key, self._thresholds)):
            eval_metrics[key].update_state(labels, logistic, sample_weight=weights)
        return eval_metrics

    def _export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        outputs = super()._export_outputs(predictions)
        outputs[REGRESS] = RegressionOutput(predictions[PredictionKeys.LOGISTIC])
        return outputs


def threshold_metrics(key: Callable[[str], str], thresholds: Sequence[float]) -> dict[str, Any]:
    """Accuracy, precision and recall at each threshold, by name."""
    made = {}
    for threshold in thresholds:
        for name, kind in (
            (MetricKeys.ACCURACY_AT_THRESHOLD, metrics.accuracy_at),
            (MetricKeys.PRECISION_AT_THRESHOLD, metrics.precision_at),
            (MetricKeys.RECALL_AT_THRESHOLD, metrics.recall_at),
        ):
            made[key(name % threshold)] = kind(threshold, name % threshold)
    return made


def threshold_keys(key: Callable[[str], str], thresholds: Sequence[float]) -> list[str]:
    """The names of these metrics."""
    names = (
        MetricKeys.ACCURACY_AT_THRESHOLD,
        MetricKeys.PRECISION_AT_THRESHOLD,
        MetricKeys.RECALL_AT_THRESHOLD,
    )
    return [key(name % threshold) for threshold in thresholds for name in names]


@export("estimator.MultiClassHead")
class MultiClassHead(_ClassHead):
    """A head for more than two classes: a logit for each, and the softmax cross entropy as the loss.

    Args:
      n_classes: The number of classes, above 2.
      weight_column: The feature with the weights of the examples: its name, or a numeric column.
      label_vocabulary: The labels, if they are strings; numbers below `n_classes` if None.
      loss_reduction: How the losses of a batch become one: `"sum"` or `"sum_over_batch_size"`.
      loss_fn: A function of `labels`, `logits` and perhaps `features` that gives the loss of each example.
      name: The name, which the names of metrics end with.

    Raises:
      ValueError: If an argument is out of its range.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable | None = None,
        name: str | None = None,
    ):
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        checks.check_vocabulary(label_vocabulary)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items. '
                f"len(label_vocabulary)={len(label_vocabulary)}, n_classes={n_classes}, "
                f"label_vocabulary={label_vocabulary}"
            )
        checks.check_loss_fn(loss_fn)
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._loss_reduction = self._check_reduction(loss_reduction)
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary
        self._weight_column, self._loss_fn, self._name = weight_column, loss_fn, name

    @property
    def logits_dimension(self) -> int:
        """The number of logits for each example: one for each class."""
        return self._n_classes

    def _processed_labels(self, logits: Tensor, labels: Any) -> Tensor:
        labels = checks.checked_labels(labels, logits, 1)
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        else:
            if labels.dtype != tf.string:
                raise ValueError(
                    f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}"
                )
            labels = self._class_ids(labels)
        return checks.checked_range(labels, self._n_classes)

    def _unreduced(self, logits: Tensor, labels: Tensor, features: Any) -> tuple[Tensor, Any]:
        if self._loss_fn:
            loss = checks.loss_of(self._loss_fn, labels, logits, features, 1)
        else:
            loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, reduction=tf.losses.Reduction.NONE)
            loss = tf.expand_dims(loss, -1)
        return loss, checks.checked_weights(features, self._weight_column, logits)

    def predictions(self, logits: TensorLike, keys: Sequence[str] | None = None) -> dict[str, Tensor]:
        """Computes predictions.

        Args:
          logits: The logits.
          keys: The names of the predictions; all if None.

        Returns:
          The predictions by name: `logits`, `probabilities`, `class_ids`, `classes` and so on.
        """
        names = PredictionKeys
        keys = chosen_keys(
            keys,
            [
                names.LOGITS,
                names.PROBABILITIES,
                names.CLASS_IDS,
                names.CLASSES,
                names.ALL_CLASS_IDS,
                names.ALL_CLASSES,
            ],
        )
        logits = self._checked_logits(logits)
        with tf.name_scope("predictions"):
            wanted = {names.LOGITS: logits} if names.LOGITS in keys else {}
            return {**wanted, **self._predicted(logits, keys)}

    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, Any]:
        """Makes the metrics of an evaluation.

        Args:
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        with tf.name_scope("metrics"):
            made = self._loss_metrics(regularization_losses)
            made[self._key(MetricKeys.ACCURACY)] = metrics.accuracy(MetricKeys.ACCURACY)
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
        ids = self.predictions(logits, [PredictionKeys.CLASS_IDS])[PredictionKeys.CLASS_IDS]
        _, labels, weights = self._evaluated(eval_metrics, features, logits, labels, regularization_losses)
        eval_metrics[self._key(MetricKeys.ACCURACY)].update_state(labels, ids, sample_weight=weights)
        return eval_metrics
