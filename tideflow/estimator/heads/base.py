"""Head: from the logits of a model to its loss, its predictions, its metrics and its EstimatorSpec."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.estimator.export.outputs import ClassificationOutput, ExportOutput
from tideflow.estimator.heads.keys import MetricKeys
from tideflow.estimator.heads.metrics import HeadMetric
from tideflow.estimator.heads.metrics import mean as mean_metric
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.train.optimizer import Optimizer
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

SUM, SUM_OVER_BATCH_SIZE = "sum", "sum_over_batch_size"
CLASSIFY, REGRESS, PREDICT = "classification", "regression", "predict"


class Losses(NamedTuple):
    """The loss of a batch, and of what it is made."""

    reduced: Tensor
    unreduced: Tensor
    weights: Any


@export("estimator.Head")
class Head(abc.ABC):
    """The base of heads: objects that know what the logits of a model mean."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name, which the names of metrics end with."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The number of logits for each example."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of a batch become one."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """Computes the loss of a batch.

        Args:
          labels: The labels.
          logits: The logits.
          features: The features by name, among them the weights.
          mode: One of `tf.estimator.ModeKeys`.
          regularization_losses: Losses to add.

        Returns:
          A scalar.
        """

    @abc.abstractmethod
    def predictions(self, logits: TensorLike, keys: Sequence[str] | None = None) -> dict[str, Tensor]:
        """Computes predictions.

        Args:
          logits: The logits.
          keys: The names of the predictions; all if None.

        Returns:
          The predictions by name.
        """

    @abc.abstractmethod
    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, HeadMetric]:
        """Makes the metrics of an evaluation.

        Args:
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: dict[str, HeadMetric],
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> dict[str, HeadMetric]:
        """Adds a batch to the metrics of an evaluation.

        Args:
          eval_metrics: The metrics that `metrics` made.
          features: The features by name, among them the weights.
          logits: The logits.
          labels: The labels.
          mode: One of `tf.estimator.ModeKeys`.
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: TensorLike,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Operation | Tensor] | None = None,
        update_ops: Sequence[Operation] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """Makes what a model function returns.

        Args:
          features: The features by name, among them the weights.
          mode: One of `tf.estimator.ModeKeys`.
          logits: The logits.
          labels: The labels.
          optimizer: An optimizer; or else `train_op_fn`.
          trainable_variables: The variables to train; all trainable ones if None.
          train_op_fn: A function from the loss to the operation of a training step.
          update_ops: Operations to run in each training step.
          regularization_losses: Losses to add to the loss.

        Returns:
          The EstimatorSpec.
        """

    def _key(self, key: str) -> str:
        """The name of a metric or a summary of this head."""
        return f"{key}/{self.name}" if self.name else key


class SimpleHead(Head):
    """What the heads of one kind of label share: a loss for each example, reduced by weights."""

    _name: str | None
    _loss_reduction: str

    @property
    def name(self) -> str | None:
        """The name, which the names of metrics end with."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one."""
        return self._loss_reduction

    @abc.abstractmethod
    def _checked_logits(self, logits: Any) -> Tensor: ...

    @abc.abstractmethod
    def _processed_labels(self, logits: Tensor, labels: Any) -> Tensor: ...

    @abc.abstractmethod
    def _unreduced(self, logits: Tensor, labels: Tensor, features: Any) -> tuple[Tensor, Any]:
        """The loss of each example, and its weight."""

    @abc.abstractmethod
    def _export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]: ...

    def _check_reduction(self, reduction: str) -> str:
        if reduction not in ("auto", SUM, SUM_OVER_BATCH_SIZE):
            raise ValueError(
                f"Invalid loss_reduction: {reduction}. See `tf.losses.Reduction` for valid options."
            )
        return reduction

    def _reduced(self, unreduced: Tensor, weights: Any) -> Tensor:
        weighted = unreduced * weights
        total = tf.reduce_sum(weighted)
        return total if self._loss_reduction == SUM else total / tf.cast(tf.size(weighted), tf.float32)

    def _losses(self, labels: Any, logits: Any, features: Any) -> Losses:
        logits = self._checked_logits(logits)
        unreduced, weights = self._unreduced(logits, self._processed_labels(logits, labels), features)
        return Losses(self._reduced(unreduced, weights), unreduced, weights)

    def loss(
        self,
        labels: Any,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        with tf.name_scope("losses"):
            losses = self._losses(labels, logits, features)
            return with_regularization(losses.reduced, regularization_losses)

    def _evaluated(
        self, eval_metrics: dict[str, HeadMetric], features: Any, logits: Any, labels: Any, losses: Any
    ) -> tuple[Tensor, Tensor, Any]:
        """The logits, labels and weights of a batch, whose losses are added to the metrics."""
        logits = self._checked_logits(logits)
        labels = self._processed_labels(logits, labels)
        unreduced, weights = self._unreduced(logits, labels, features)
        eval_metrics[self._key(MetricKeys.LOSS_MEAN)].update_state(unreduced, sample_weight=weights)
        if losses is not None:
            eval_metrics[self._key(MetricKeys.LOSS_REGULARIZATION)].update_state(tf.add_n(losses))
        return logits, labels, weights

    def _loss_metrics(self, regularization_losses: Any) -> dict[str, HeadMetric]:
        keys = [MetricKeys.LOSS_MEAN]
        if regularization_losses is not None:
            keys.append(MetricKeys.LOSS_REGULARIZATION)
        return {self._key(key): mean_metric(key) for key in keys}

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: TensorLike,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Operation | Tensor] | None = None,
        update_ops: Sequence[Operation] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        with tf.name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._export_outputs(predictions)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            with tf.name_scope("losses"):
                losses = self._losses(labels, logits, features)
                loss = with_regularization(losses.reduced, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses=regularization_losses),
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
            with self._train_scope():
                train_op = train_operation(
                    loss,
                    optimizer,
                    trainable_variables,
                    train_op_fn,
                    self._updates(update_ops),
                    self._loss_reduction,
                )
        self._summarize(loss, losses, regularization_losses)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _train_scope(self) -> contextlib.AbstractContextManager[Any]:
        """Where the operations of a training step stand, and with them the names of optimizers' slots."""
        return outermost_scope("training")

    def _updates(self, update_ops: Sequence[Operation] | None) -> Sequence[Operation] | None:
        return update_ops

    def _summarize(self, loss: Tensor, losses: Losses, regularization_losses: Any) -> None:
        summarize_loss(self._key, loss, regularization_losses)


@contextlib.contextmanager
def outermost_scope(name: str) -> Iterator[None]:
    """A scope of this name that stands in no other one."""
    with tf.name_scope(None), tf.name_scope(name):
        yield


def scaled_for_replicas(loss: Tensor, loss_reduction: str | None) -> Tensor:
    """A mean loss divided by the number of replicas, whose gradients optimizers of Keras add."""
    count = tf.distribute.get_strategy().num_replicas_in_sync
    return loss / count if loss_reduction == SUM_OVER_BATCH_SIZE and count > 1 else loss


def with_regularization(loss: Tensor, regularization_losses: Sequence[Tensor] | None) -> Tensor:
    return loss if regularization_losses is None else loss + tf.add_n(regularization_losses)


def summarize_loss(key: Callable[[str], str], loss: Tensor, regularization_losses: Any) -> None:
    with tf.name_scope(""):
        tf.summary.scalar(key(MetricKeys.LOSS), loss)
        if regularization_losses is not None:
            tf.summary.scalar(key(MetricKeys.LOSS_REGULARIZATION), tf.add_n(regularization_losses))


def train_operation(
    loss: Tensor,
    optimizer: Any,
    trainable_variables: Any,
    train_op_fn: Callable | None,
    update_ops: Any,
    loss_reduction: str | None = None,
) -> Operation | Tensor:
    """The operation of a training step, by an optimizer or a function."""
    if update_ops is not None and not isinstance(update_ops, (list, tuple)):
        raise ValueError(f"update_ops should be a list or a tuple. Given type: {type(update_ops)}.")
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    with tf.control_dependencies(list(update_ops or ())):
        if train_op_fn:
            train_op = train_op_fn(loss)
        else:
            train_op = _minimized(loss, optimizer, trainable_variables, loss_reduction)
    return tf.group(train_op, *update_ops) if update_ops else train_op


def _minimized(
    loss: Tensor, optimizer: Any, trainable_variables: Any, loss_reduction: str | None
) -> Operation | Tensor:
    if isinstance(optimizer, Optimizer):
        chosen = {} if trainable_variables is None else {"var_list": trainable_variables}
        return optimizer.minimize(loss, global_step=get_global_step(), **chosen)
    if not hasattr(optimizer, "get_updates"):  # as optimizers of Keras have it
        raise ValueError(f"The given optimizer is not an Optimizer instance. Given: {optimizer}")
    if not isinstance(trainable_variables, (list, tuple)):
        raise ValueError(f"trainable_variables should be a list or a tuple. Given {trainable_variables}")
    return optimizer.get_updates(scaled_for_replicas(loss, loss_reduction), trainable_variables)[0]


def chosen_keys(keys: Sequence[str] | None, valid: Sequence[str]) -> Sequence[str]:
    for key in keys or ():
        if key not in valid:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys include "
                f"{valid}."
            )
    return keys or valid


def for_each_example(values: Any, logits: Tensor) -> Tensor:
    """A list, repeated for each example."""
    return tf.tile(tf.expand_dims(values, 0), [tf.shape(logits)[0], 1])


def class_names(n_classes: int, label_vocabulary: Sequence[str] | None) -> Any:
    return label_vocabulary or tf.as_string(tf.range(n_classes))


def classification(
    scores: Tensor, n_classes: int, label_vocabulary: Sequence[str] | None
) -> ClassificationOutput:
    return ClassificationOutput(scores, for_each_example(class_names(n_classes, label_vocabulary), scores))
