"""`tf.contrib.quantize`: graphs that train, or run, as if their numbers had eight bits."""

from tideflow.contrib.quantize import rewriting  # noqa: F401
