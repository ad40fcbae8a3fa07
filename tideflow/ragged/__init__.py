"""Ragged tensors, `tf.ragged`: rows of different lengths."""

from tideflow.ragged import (  # noqa: F401
    arrays,
    creation,
    dispatch,
    partitions,
    reducing,
    spec,
    strings,
    tensor,
    value,
)
