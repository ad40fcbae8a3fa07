"""Tukey's HH distribution: a normal variable whose two tails are stretched, `x = u exp(h u^2 / 2)`.

`h` is one number left of the centre and another one right of it. The L-moments as functions of the two are
those of Headrick and Pant (2012), brought to their shortest form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf

_NORMAL_KURTOSIS = (
    0.1226017  # the L-kurtosis of a normal variable: tails that are lighter are left as they are
)
_MOST_KURTOSIS = 1 - 1e-5
_MOST_H = 1 - 1e-7
_STEPS = 50  # of each bisection: 2^-50 is near a double's precision
_NEWTON_STEPS = 8


def _ratios(left: Any, right: Any) -> tuple[Any, Any]:
    """L-skewness and L-kurtosis."""
    a, b = np.sqrt(2 - left), np.sqrt(2 - right)
    p, q = (1 - left) * a, (1 - right) * b
    skewness = ((left - right) * a * b / 2 + 6 / np.pi * (p * np.arctan(1 / b) - q * np.arctan(1 / a))) / (
        p + q
    )
    tails = q * np.arctan(a / np.sqrt(4 - left)) + p * np.arctan(b / np.sqrt(4 - right))
    return skewness, 6 - 30 / np.pi * tails / (p + q)


def _mean_and_scale(left: Any, right: Any) -> tuple[Any, Any]:
    """The first two L-moments."""
    mean = (1 / (1 - right) - 1 / (1 - left)) / np.sqrt(2 * np.pi)
    scale = 1 / ((1 - right) * np.sqrt(2 - right)) + 1 / ((1 - left) * np.sqrt(2 - left))
    return mean, scale / np.sqrt(2 * np.pi)


def _tails(skewness: np.ndarray, kurtosis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The left and the right `h` that have this L-skewness and L-kurtosis, by bisection in bisection."""
    mirrored, skewness = skewness < 0, np.abs(skewness)
    heavy = kurtosis >= _NORMAL_KURTOSIS
    kurtosis = np.minimum(kurtosis, _MOST_KURTOSIS)
    low, high = np.zeros_like(kurtosis), np.full_like(kurtosis, _MOST_H)
    for _ in range(_STEPS):
        h = (low + high) / 2
        too_heavy = _ratios(_lighter(h, skewness), h)[1] > kurtosis
        low, high = np.where(too_heavy, low, h), np.where(too_heavy, h, high)
    h = (low + high) / 2
    lighter = np.where(heavy, _lighter(h, skewness), 0)
    heavier = np.where(heavy, h, 0)
    return np.where(mirrored, heavier, lighter), np.where(mirrored, lighter, heavier)


def _lighter(h: np.ndarray, skewness: np.ndarray) -> np.ndarray:
    """The `h` of the lighter tail that comes nearest to the skewness: the lighter, the more skewed."""
    low, high = np.zeros_like(h), h
    for _ in range(_STEPS):
        middle = (low + high) / 2
        too_skewed = _ratios(middle, h)[0] > skewness
        low, high = np.where(too_skewed, middle, low), np.where(too_skewed, high, middle)
    return (low + high) / 2


def tukey_parameters(counts: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, ...]:
    """Location, scale, left and right `h` of samples with these first four L-moments.

    Args:
      counts: How many samples, pairs, triplets and quadruplets the moments are means over: `[4, ...]`.
      moments: The L-moments: `[4, ...]`.
    """
    spread = moments[1] > 0
    known = spread & (counts[3] > 0)
    ratios = [np.divide(moments[i], moments[1], where=known, out=np.zeros_like(moments[i])) for i in (2, 3)]
    left, right = _tails(*ratios)
    mean, unit = _mean_and_scale(left, right)
    scale = np.divide(moments[1], unit, where=spread, out=np.ones_like(moments[1]))
    return moments[0] - scale * mean, scale, left, right


def inverse_tukey(x: tf.Tensor, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """What becomes of values when their tails are made those of a normal variable."""
    return tf.where_v2(x < 0.0, -_one_side(-x, left), _one_side(x, right))


def _one_side(x: tf.Tensor, h: tf.Tensor) -> tf.Tensor:
    y = h * tf.square(x)
    # u exp(h u^2 / 2) = x means w exp(w) = h x^2 for w = h u^2, which Newton's method solves from above.
    w = tf.math.log1p(y)
    for _ in range(_NEWTON_STEPS):
        w = w - (w - y * tf.exp(-w)) / (w + 1.0)
    return tf.where_v2(y < 1e-7, x, tf.sqrt(w / h))
