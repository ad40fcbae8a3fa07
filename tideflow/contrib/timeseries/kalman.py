"""The Kalman filter, on batches of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tideflow as tf
from tideflow.contrib.timeseries.densities import mvn_tril_log_prob

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor

_UNSTABLE = (
    "This may occur due to numerically unstable filtering when there is a large difference in posterior "
    "variances, or when inferences are near-deterministic. Considering tuning the "
    "'filtering_maximum_posterior_variance_ratio' or 'filtering_minimum_posterior_variance' parameters in "
    "your StateSpaceModelConfiguration, or tuning the transition matrix."
)


def advanced(mean: Tensor, covariance: Tensor, transitions: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """A state after transitions, and noise that they add."""
    moved = tf.squeeze(tf.matmul(transitions, mean[..., None]), axis=[-1])
    spread = tf.matmul(tf.matmul(transitions, covariance), transitions, adjoint_b=True)
    return moved, spread + noise


def observed(
    mean: Tensor, covariance: Tensor, observation_model: Tensor, noise: Tensor
) -> tuple[Tensor, Tensor]:
    """The mean and covariance of what is observed of a state."""
    seen = tf.squeeze(tf.matmul(mean[:, None, :], observation_model, adjoint_b=True), axis=[1])
    spread = tf.matmul(tf.matmul(observation_model, covariance), observation_model, adjoint_b=True)
    return seen, spread + noise


def log_likelihood(observation: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """How likely an observation was, [batch]."""
    symmetric = 0.5 * (covariance + tf.matrix_transpose(covariance))
    symmetric = tf.verify_tensor_all_finite(
        symmetric, f"Predicted observation covariance was not finite. {_UNSTABLE}"
    )
    least = tf.reduce_min(tf.matrix_diag_part(symmetric))
    message = f"The predicted observation covariance has a negative diagonal entry. {_UNSTABLE}"
    with tf.control_dependencies([tf.Assert(least >= 0.0, [message, least])]):
        root = tf.cholesky(symmetric)
    return mvn_tril_log_prob(loc=mean, scale_tril=root, x=observation)


def posterior(
    mean: Tensor,
    covariance: Tensor,
    observation: Tensor,
    observation_model: Tensor,
    predicted: tuple[Tensor, Tensor],
    noise: Tensor,
) -> tuple[Tensor, Tensor]:
    """A state after an observation, by Joseph's form of the update, which stays symmetric."""
    predicted_mean, predicted_covariance = predicted
    seen = tf.matmul(observation_model, covariance, adjoint_b=True)
    gain = tf.matrix_solve(predicted_covariance, seen, adjoint=True)  # transposed
    residual = (observation - predicted_mean)[..., None]
    moved = mean + tf.squeeze(tf.matmul(gain, residual, adjoint_a=True), axis=[-1])
    explained = tf.matmul(gain, observation_model, adjoint_a=True)
    rest = tf.eye(tf.shape(explained)[1], dtype=explained.dtype)[None] - explained
    spread = tf.matmul(rest, tf.matmul(rest, covariance), adjoint_b=True)
    by_noise = tf.einsum("boi,op,bpj->bij", gain, noise, gain)
    return moved, spread + by_noise
