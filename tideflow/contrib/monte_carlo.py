"""tf.contrib.bayesflow.monte_carlo: expectations as means over samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _get_samples(distribution: Any, z: Any, n: Any, seed: int | None) -> Tensor:
    with tf.name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
        if n is not None:
            return distribution.sample(n, seed=seed)
        return tf.convert_to_tensor(z, name="z")


def _log_of_mean(logs: Tensor) -> Tensor:
    """The logarithm of the mean of the exponentials, over the samples."""
    center = tf.stop_gradient(tf.reduce_max(logs, axis=[0]))
    return tf.log(tf.reduce_mean(tf.exp(logs - center), axis=[0])) + center


@export("contrib.bayesflow.monte_carlo.expectation_importance_sampler")
def expectation_importance_sampler(
    f: Callable[[Tensor], Tensor],
    log_p: Callable[[Tensor], Tensor],
    sampling_dist_q: Any,
    z: TensorLike | None = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Tensor:
    """Estimates the mean of f under a density p by samples of another distribution.

    Args:
      f: The function.
      log_p: The logarithm of the density.
      sampling_dist_q: The distribution of the samples.
      z: The samples; drawn if None.
      n: How many are drawn, if `z` is None.
      seed: The seed.
      name: A name for the operations.

    Returns:
      The estimate.

    Raises:
      ValueError: If not exactly one of `z` and `n` is given.
    """
    with tf.name_scope(name, values=[z, n]):
        z = _get_samples(sampling_dist_q, z, n, seed)
        log_weights = log_p(z) - sampling_dist_q.log_prob(z)
        values = f(z)
        above, below = (
            _log_of_mean(tf.log(tf.nn.relu(part) + 1.0) + log_weights) for part in (values, -1.0 * values)
        )
        return tf.exp(above) - tf.exp(below)


@export("contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace")
def expectation_importance_sampler_logspace(
    log_f: Callable[[Tensor], Tensor],
    log_p: Callable[[Tensor], Tensor],
    sampling_dist_q: Any,
    z: TensorLike | None = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Tensor:
    """Estimates the logarithm of the mean of a positive f under a density p, by samples of another.

    Args:
      log_f: The logarithm of the function.
      log_p: The logarithm of the density.
      sampling_dist_q: The distribution of the samples.
      z: The samples; drawn if None.
      n: How many are drawn, if `z` is None.
      seed: The seed.
      name: A name for the operations.

    Returns:
      The estimate.

    Raises:
      ValueError: If not exactly one of `z` and `n` is given.
    """
    with tf.name_scope(name, values=[z, n]):
        z = _get_samples(sampling_dist_q, z, n, seed)
        return _log_of_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


@export("contrib.bayesflow.monte_carlo.expectation")
@deprecated(
    "2018-10-01",
    "The tf.contrib.bayesflow library has moved to TensorFlow Probability "
    "(https://github.com/tensorflow/probability). Use `tfp.monte_carlo.expectation` instead.",
)
def expectation(
    f: Callable[[Tensor], Tensor],
    samples: Tensor,
    log_prob: Callable[[Tensor], Tensor] | None = None,
    use_reparametrization: bool = True,
    axis: int | Sequence[int] = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes the mean of a function over samples, with the right gradient.

    Args:
      f: The function.
      samples: The samples.
      log_prob: The logarithm of the samples' density; needed without reparametrization.
      use_reparametrization: Whether the gradient goes through the samples. If not, it is that of the score
        function.
      axis: The axes of the samples.
      keep_dims: Whether these axes stay, with size 1.
      name: A name for the operations.

    Returns:
      The mean.

    Raises:
      ValueError: If a function is none.
    """
    with tf.name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = tf.stop_gradient(samples)
        log_density, values = log_prob(fixed), f(fixed)
        values += tf.stop_gradient(values) * (log_density - tf.stop_gradient(log_density))
        return tf.reduce_mean(values, axis=axis, keepdims=keep_dims)
