"""tf.keras.mixed_precision: policies of types, and optimizers that scale the loss."""

from tideflow.keras.mixed_precision import policies  # noqa: F401
