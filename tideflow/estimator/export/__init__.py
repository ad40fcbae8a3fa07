"""`tf.estimator.export`: what a SavedModel of an estimator takes and gives."""

from tideflow.estimator.export import outputs, receivers, signatures, writing  # noqa: F401
