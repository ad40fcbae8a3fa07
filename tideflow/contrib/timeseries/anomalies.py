"""Observations that are taken for anomalies move the state less."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries.densities import cauchy_log_prob

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor


class AnomalyDetector:
    """Mixes the states with and without an observation, by how probably it is no anomaly.

    An anomaly is of a Cauchy distribution with the entropy of the normal one that was predicted.

    Args:
      anomaly_prior_probability: How probable an anomaly is.
    """

    output_names = ("anomaly_score",)

    def __init__(self, anomaly_prior_probability: float):
        self._prior = anomaly_prior_probability

    def process_filtering_step(
        self, current_values: Tensor, predicted_state: Any, filtered_state: Any, outputs: dict[str, Tensor]
    ) -> tuple[Any, dict[str, Tensor]]:
        """The mixed state, and outputs with the loss of the mixture and the score of an anomaly."""
        prior = tf.convert_to_tensor(self._prior, current_values.dtype)
        scale = tf.sqrt(math.e / (8.0 * math.pi) * tf.matrix_diag_part(outputs["covariance"]))
        likelihood = tf.reduce_sum(cauchy_log_prob(outputs["mean"], scale, current_values), axis=1)
        anomaly = likelihood + tf.log(prior)
        usual = outputs["log_likelihood"] + tf.log(1.0 - prior)
        weight = tf.sigmoid(usual - anomaly)

        def mixed(filtered: Tensor, predicted: Tensor) -> Tensor:
            if not filtered.dtype.is_floating:  # the times, which are the same
                return filtered
            ones = tf.ones([tf.rank(filtered) - 1], tf.int32)
            padded = tf.reshape(weight, tf.concat([tf.shape(weight), ones], axis=0))
            result = padded * filtered + (1.0 - padded) * predicted
            result.set_shape(filtered.shape)
            return result

        state = tf.nest.map_structure(mixed, filtered_state, predicted_state)
        loss = -(weight * usual + (1.0 - weight) * anomaly)
        return state, {**outputs, "loss": loss, "anomaly_score": anomaly - usual}
