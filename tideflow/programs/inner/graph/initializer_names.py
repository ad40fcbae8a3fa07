"""What TensorFlow's modules of initializers have beside the public ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.variables.initializers import fans

_v2: Any = tf.compat.v2.initializers

zeros_initializer = _v2.zeros
ones_initializer = _v2.ones
constant_initializer = _v2.constant
random_uniform_initializer = _v2.RandomUniform
random_normal_initializer = _v2.RandomNormal
truncated_normal_initializer = _v2.TruncatedNormal
variance_scaling_initializer = _v2.VarianceScaling
glorot_uniform_initializer = _v2.GlorotUniform
glorot_normal_initializer = _v2.GlorotNormal
orthogonal_initializer = _v2.Orthogonal
identity_initializer = _v2.Identity


def _assert_float_dtype(dtype: Any) -> tf.DType:
    """A type, which must be one of floating-point numbers."""
    dtype = tf.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!r}.")
    return dtype


def _compute_fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs a weight connects."""
    fan_in, fan_out = fans(shape)
    return int(fan_in), int(fan_out)
