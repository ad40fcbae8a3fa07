"""The heads of canned estimators, which reduce losses as `tf.losses` does."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import tideflow as tf
from tideflow.estimator.heads.base import Losses, SimpleHead
from tideflow.estimator.heads.classes import BinaryClassHead, MultiClassHead
from tideflow.estimator.heads.keys import MetricKeys
from tideflow.estimator.heads.labels import MultiLabelHead
from tideflow.estimator.heads.regression import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.losses.functions import compute_weighted_loss
from tideflow.losses.reduction import Reduction


class LossSpec(NamedTuple):
    """The loss of a batch, that of each example with its weight, and the labels as the loss takes them."""

    training_loss: Tensor
    unreduced_loss: Tensor
    weights: Any
    processed_labels: Tensor


class _OfLosses(SimpleHead):
    """A head that reduces as `tf.losses` does."""

    _precision_recall_sum = "trapezoidal"

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The loss of a batch, and what it is made of.

        Args:
          features: The features.
          mode: What the model is run for.
          logits: The logits.
          labels: The labels.

        Returns:
          The LossSpec.
        """
        checked = self._checked_logits(logits)
        processed = self._processed_labels(checked, labels)
        unreduced, weights = self._unreduced(checked, processed, features)
        return LossSpec(self._reduced(unreduced, weights), unreduced, weights, processed)

    def _check_reduction(self, reduction: str) -> str:
        if reduction not in Reduction.all() or reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {reduction}")
        return reduction

    def _reduced(self, unreduced: Tensor, weights: Any) -> Tensor:
        return compute_weighted_loss(unreduced, weights, reduction=self._loss_reduction)

    def _train_scope(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def _updates(self, update_ops: Sequence[Operation] | None) -> Sequence[Operation] | None:
        return [*(update_ops or ()), *get_collection(GraphKeys.UPDATE_OPS)]

    def _summarize(self, loss: Tensor, losses: Losses, regularization_losses: Any) -> None:
        super()._summarize(loss, losses, regularization_losses)
        if self._loss_reduction == Reduction.SUM:
            total_weight = tf.reduce_sum(losses.weights * tf.ones_like(losses.unreduced))
            with tf.name_scope(""):
                tf.summary.scalar(self._key(MetricKeys.LOSS_MEAN), losses.reduced / total_weight)


class CannedBinaryClassHead(_OfLosses, BinaryClassHead):
    """Two classes."""


class CannedMultiClassHead(_OfLosses, MultiClassHead):
    """More than two classes."""


class CannedMultiLabelHead(_OfLosses, MultiLabelHead):
    """Any number of several classes."""


class CannedRegressionHead(_OfLosses, RegressionHead):
    """Real numbers."""


class CannedPoissonRegressionHead(_OfLosses, PoissonRegressionHead):
    """Counts."""


class CannedLogisticRegressionHead(_OfLosses, LogisticRegressionHead):
    """Numbers in [0, 1]."""


def class_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> SimpleHead:
    """The head of a canned classifier."""
    if n_classes == 2:
        return CannedBinaryClassHead(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    return CannedMultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
