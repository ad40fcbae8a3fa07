"""A head of several heads, for models that predict several things."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.estimator.export.outputs import ExportOutput, PredictOutput
from tideflow.estimator.heads import metrics
from tideflow.estimator.heads.base import (
    PREDICT,
    Head,
    outermost_scope,
    summarize_loss,
    train_operation,
    with_regularization,
)
from tideflow.estimator.heads.keys import MetricKeys
from tideflow.estimator.spec import EstimatorSpec, ModeKeys
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("estimator.MultiHead")
class MultiHead(Head):
    """Several heads: the loss is the sum of theirs, labels come by their names.

    Args:
      heads: The heads, which must have names.
      head_weights: The weights of their losses; all 1 if None.

    Raises:
      ValueError: If a head has no name, or the weights are not as many as the heads.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None):
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                f"len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads, self._head_weights = tuple(heads), tuple(head_weights or ())

    @property
    def name(self) -> str:
        """The names of the heads."""
        return "_".join(head.name or "" for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The number of logits of all heads."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one, which must be the same for all heads."""
        reductions = [head.loss_reduction for head in self._heads]
        if len(set(reductions)) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {reductions}")
        return reductions[0]

    def _by_head(self, logits: Any, labels: Any = None) -> dict[str, Any]:
        """The logits by the names of the heads."""
        names = [head.name for head in self._heads]
        if isinstance(logits, dict):
            missing = sorted(set(names) - set(logits))
            if missing:
                raise ValueError(f"logits has missing values for head(s): {missing}")
        else:
            logits = self._split(logits)
        if labels is not None:
            if not isinstance(labels, dict):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            missing = sorted(set(names) - set(labels))
            if missing:
                raise ValueError(f"labels has missing values for head(s): {missing}")
        return logits

    def _split(self, logits: Any) -> dict[str, Tensor]:
        logits = tf.convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in self._heads]
        last = logits.shape.as_list()[-1]
        if last is not None and last != sum(sizes):
            raise ValueError(
                f"Could not split logits of shape {logits.shape.as_list()} among the heads with individual "
                f"logits dimensions: {sizes}. The last dimension of the logits tensor should equal "
                f"{sum(sizes)} but is {last}."
            )
        with tf.name_scope("split_logits"):
            parts = tf.split(logits, sizes, axis=-1)
        return {head.name or "": part for head, part in zip(self._heads, parts, strict=True)}

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """Computes the weighted sum of the heads' losses.

        Args:
          labels: The labels by the names of the heads.
          logits: The logits of all heads, in one tensor or by their names.
          features: The features by name, among them the weights.
          mode: One of `tf.estimator.ModeKeys`.
          regularization_losses: Losses to add.

        Returns:
          A scalar.
        """
        logits = self._by_head(logits, labels)
        losses = [
            head.loss(labels[head.name], logits[head.name], features=features, mode=mode)
            for head in self._heads
        ]
        with tf.name_scope("merge_losses"):
            if self._head_weights:
                losses = [loss * weight for loss, weight in zip(losses, self._head_weights, strict=True)]
            return with_regularization(tf.add_n(losses), regularization_losses)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Tensor]:
        """Computes the predictions of all heads.

        Args:
          logits: The logits of all heads, in one tensor or by their names.
          keys: Not used.

        Returns:
          The predictions, by pairs of a head's name and the name of a prediction.
        """
        by_head = self._by_head(logits)
        with tf.name_scope("merge_pred"):
            return {
                (head.name, key): value
                for head in self._heads
                for key, value in head.predictions(by_head[head.name]).items()
            }

    def metrics(self, regularization_losses: Sequence[Tensor] | None = None) -> dict[str, Any]:
        """Makes the metrics of the losses; those of the heads are made when they are updated.

        Args:
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name.
        """
        made = {}
        if regularization_losses is not None:
            key = self._key(MetricKeys.LOSS_REGULARIZATION)
            made[key] = metrics.mean(MetricKeys.LOSS_REGULARIZATION)
        for head in self._heads:
            made[head._key(MetricKeys.LOSS)] = metrics.mean(head._key(MetricKeys.LOSS))
        return made

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any],
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics of an evaluation.

        Args:
          eval_metrics: The metrics that `metrics` made.
          features: The features by name, among them the weights.
          logits: The logits of all heads, in one tensor or by their names.
          labels: The labels by the names of the heads.
          regularization_losses: Losses that are added to the loss.

        Returns:
          The metrics by name, those of the heads among them.
        """
        by_head = self._by_head(logits, labels)
        if regularization_losses is not None:
            total = tf.add_n(regularization_losses)
            eval_metrics[self._key(MetricKeys.LOSS_REGULARIZATION)].update_state(total)
        for head in self._heads:
            of_head = by_head[head.name], labels[head.name]
            loss = head.loss(of_head[1], of_head[0], features=features)
            eval_metrics[head._key(MetricKeys.LOSS)].update_state(loss)
            eval_metrics.update(head.update_metrics(head.metrics(), features, *of_head) or {})
        return eval_metrics

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
          logits: The logits of all heads, in one tensor or by their names.
          labels: The labels by the names of the heads.
          optimizer: An optimizer; or else `train_op_fn`.
          trainable_variables: The variables to train; all trainable ones if None.
          train_op_fn: A function from the loss to the operation of a training step.
          update_ops: Operations to run in each training step.
          regularization_losses: Losses to add to the loss.

        Returns:
          The EstimatorSpec.
        """
        with tf.name_scope(self.name, "multi_head"):
            by_head = self._by_head(logits, labels)
            predictions = self.predictions(by_head)
            if mode == ModeKeys.PREDICT:
                specs = [
                    head.create_estimator_spec(features, mode, by_head[head.name]) for head in self._heads
                ]
                outputs = self._merged_outputs(specs)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, by_head, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                updated = self.update_metrics(
                    self.metrics(regularization_losses),
                    features,
                    by_head,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=updated)
            with outermost_scope("training"):
                train_op = train_operation(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        summarize_loss(lambda key: key, loss, regularization_losses)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _merged_outputs(self, specs: Sequence[EstimatorSpec]) -> dict[str, ExportOutput]:
        """The outputs of all heads under their names, and the predictions of all in one."""
        default = DEFAULT_SERVING_SIGNATURE_DEF_KEY
        merged: dict[str, ExportOutput] = {}
        predictions = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in (spec.export_outputs or {}).items():
                if key == default:
                    merged.setdefault(default, output)
                merged[head.name if key == default else f"{head.name}/{key}"] = output
                if key == PREDICT and isinstance(output, PredictOutput):
                    predictions.update({f"{head.name}/{k}": value for k, value in output.outputs.items()})
        merged[PREDICT] = PredictOutput(predictions)
        return merged
