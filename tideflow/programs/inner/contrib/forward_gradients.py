"""`tensorflow.contrib.nn.python.ops.fwd_gradients`: directional derivatives by going back twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf


def fwd_gradients(
    ys: Sequence[tf.Tensor],
    xs: Sequence[tf.Tensor],
    grad_xs: Sequence[tf.Tensor] | None = None,
    assert_unused: bool = False,
) -> list[Any]:
    """The derivatives of `ys` where `xs` move in the direction `grad_xs`, or all by one.

    The gradients of `ys` are linear in what they are multiplied by, so their own gradient by these factors is
    what is looked for. The factors themselves take no part: they are not numbers.
    """
    factors = [tf.zeros_like(y) + float("nan") for y in ys]
    slopes = [
        tf.convert_to_tensor(slope) if isinstance(slope, tf.IndexedSlices) else slope
        for slope in tf.gradients(ys, xs, grad_ys=factors)
    ]
    if assert_unused:
        with tf.control_dependencies(slopes):
            never = tf.Assert(False, [1], name="fwd_gradients")
        with tf.control_dependencies([never]):
            slopes = tf.identity_n(slopes)
    slopes = [tf.zeros_like(x) if slope is None else slope for x, slope in zip(xs, slopes, strict=True)]
    for x, slope in zip(xs, slopes, strict=True):
        slope.set_shape(x.shape)
    return tf.gradients(slopes, factors, grad_ys=grad_xs)
