"""`tf.estimator.inputs`: input functions from what is in memory."""

from tideflow.estimator.inputs import arrays, feeding, frames  # noqa: F401
