"""Lookup tables as programs use them: `tf.lookup`, and the functions behind `tf.contrib.lookup`."""

from tideflow.lookup import collections, initializers, mutable, static, vocabulary  # noqa: F401
