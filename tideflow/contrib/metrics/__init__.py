"""`tf.contrib.metrics`: metrics under their old names, and those that are nowhere else."""

from tideflow.contrib.metrics import at_thresholds, curves, renamed, statistics  # noqa: F401
