"""Ragged tensors, `tf.ragged`: rows of different lengths."""

from tideflow.ragged import (  # noqa: F401
    arrays,
    creation,
    operators,
    partitions,
    reducing,
    selection,
    spec,
    strings,
    tensor,
    value,
)
