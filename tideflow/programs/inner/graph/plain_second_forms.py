"""Functions that TensorFlow 1.15's modules have in TensorFlow 2's form under their plain names."""

from __future__ import annotations

from tideflow.compat_v2.functions import constant, decode_raw
from tideflow.ops.arrays.constants import constant as constant_v1

__all__ = ["constant", "constant_v1", "decode_raw"]
