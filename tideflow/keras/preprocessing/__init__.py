"""Sequences, text and images as arrays."""

from tideflow.keras.preprocessing import sequence, text  # noqa: F401
