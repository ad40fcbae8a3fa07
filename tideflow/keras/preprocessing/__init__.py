"""Sequences, text and images as arrays."""

from tideflow.keras.preprocessing import image, sequence, text  # noqa: F401
