"""`tf.contrib.training`: hyperparameters, and training operations from a loss and an optimizer."""

from tideflow.contrib.training import hyperparameters, train_ops  # noqa: F401
