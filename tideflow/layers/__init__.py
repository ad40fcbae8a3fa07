"""Layers: functions of tensors with variables of their own."""

from tideflow.layers import convolutional, core, normalization, pooling  # noqa: F401
