"""Sums of segments and the like as the module of ragged mathematics has them: with the number of segments."""

from __future__ import annotations

import tideflow as tf

segment_sum = tf.math.unsorted_segment_sum
segment_prod = tf.math.unsorted_segment_prod
segment_min = tf.math.unsorted_segment_min
segment_max = tf.math.unsorted_segment_max
segment_mean = tf.math.unsorted_segment_mean
segment_sqrt_n = tf.math.unsorted_segment_sqrt_n
