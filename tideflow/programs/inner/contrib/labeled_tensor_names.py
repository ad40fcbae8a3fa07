"""`tensorflow.contrib.labeled_tensor.python.ops.core`: functions whose public names are Python's own."""

from __future__ import annotations

import tideflow as tf
from tideflow.contrib.labeled_tensor import axes

concat_axes = axes.concat_axes
abs_function = tf.contrib.labeled_tensor.abs
round_function = tf.contrib.labeled_tensor.round
pow_function = tf.contrib.labeled_tensor.pow
slice_function = tf.contrib.labeled_tensor.slice
