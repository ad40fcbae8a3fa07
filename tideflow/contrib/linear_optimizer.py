"""`tf.contrib.linear_optimizer`: linear models by stochastic dual coordinate ascent."""

from tideflow.estimator.canned import sdca  # noqa: F401
