"""Columns of `tf.contrib.layers`, older than those of `tf.feature_column`, and models of them."""

from tideflow.contrib.layers.columns import (  # noqa: F401
    categories,
    inputs,
    numbers,
    parsing,
    targets,
    vectors,
)
