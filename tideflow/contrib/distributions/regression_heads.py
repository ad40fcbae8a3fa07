"""Heads of tf.contrib.learn that predict by any distribution of the labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.contrib.distributions.tools import concat_vectors
from tideflow.contrib.learn.head import RegressionHead
from tideflow.contrib.learn.head_base import Head
from tideflow.contrib.learn.head_metrics import weighted_loss
from tideflow.export import export


class DistributionRegressionHead(RegressionHead):
    """Predicts the mean of a distribution that logits say. The loss is the labels' -log probability."""

    def __init__(self, make_distribution_fn: Callable[[Any], Any], *args: Any):
        if not callable(make_distribution_fn):
            raise TypeError("`make_distribution_fn` must be a callable function.")
        self._make_distribution_fn = make_distribution_fn
        self._distributions: dict[Any, Any] = {}
        label_dimension, logits_dimension, *names = args
        size = label_dimension if logits_dimension is None else logits_dimension
        super().__init__(size, self._loss_of, lambda logits: self.distribution(logits).mean(), *names)

    @property
    def distributions(self) -> dict[Any, Any]:
        """The distributions that were made, by their logits."""
        return self._distributions

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """The distribution that logits say.

        Args:
          logits: The logits.
          name: The name of the operations.

        Returns:
          The distribution, the same one for the same tensor.
        """
        with tf.name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]

    def _loss_of(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        found = self.distribution(logits)
        batch = labels.shape.with_rank_at_least(1)[:-1]
        batch = batch.as_list() if batch.is_fully_defined() else tf.shape(labels)[:-1]
        labels = tf.reshape(labels, concat_vectors(batch, found.event_shape_tensor()))
        return weighted_loss(-found.log_prob(labels), weights)


@export("contrib.distributions.estimator_head_distribution_regression")
def estimator_head_distribution_regression(
    make_distribution_fn: Callable[[Any], Any],
    label_dimension: int = 1,
    logits_dimension: int | None = None,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """Makes a head that predicts numbers of any distribution.

    Args:
      make_distribution_fn: A function from logits to a distribution of the labels.
      label_dimension: The number of labels of an example.
      logits_dimension: The number of logits of an example; that of labels if None.
      label_name: The key of the labels; None where there is only one tensor.
      weight_column_name: The key of the weights among the features.
      enable_centered_bias: Whether a bias is learned that all examples share.
      head_name: The name of the head, which its metrics have too.

    Returns:
      The head.

    Raises:
      TypeError: If `make_distribution_fn` cannot be called.
    """
    return DistributionRegressionHead(
        make_distribution_fn,
        label_dimension,
        logits_dimension,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
    )
