"""What TensorFlow's module of ragged strings calls otherwise than the public functions."""

from __future__ import annotations

import tideflow as tf

string_bytes_split = tf.strings.bytes_split
strings_split_v1 = tf.strings.split
string_split_v2 = tf.compat.v2.strings.split
