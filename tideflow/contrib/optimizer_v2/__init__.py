"""`tf.contrib.optimizer_v2`: optimizers that keep what belongs to a graph in an object of its own."""

from tideflow.contrib.optimizer_v2 import base, optimizers  # noqa: F401
