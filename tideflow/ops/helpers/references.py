"""Plain definitions against which kernels are tested, where several families need the same one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def slope(function: Callable, x: Any, step: float = 1e-6) -> np.ndarray:
    """The derivative of an element-wise function by a central difference, in float64."""
    x = np.asarray(x, np.float64)
    return (function(x + step) - function(x - step)) / (2 * step)


def pulled_back(
    function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, grad: np.ndarray, step: float = 1e-5
) -> np.ndarray:
    """The gradient by `x` of the sum of `grad * function(x)`, one central difference for each element of x.

    A linear function has no error of the second order: any step is exact for it, 1 most of all.
    """
    x, grad = np.array(x, np.float64), np.asarray(grad, np.float64)
    slopes = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        moved = []
        for offset in (step, -step):
            other = x.copy()
            other[place] += offset
            moved.append(np.sum(grad * np.asarray(function(other), np.float64)))
        slopes[place] = (moved[0] - moved[1]) / (2 * step)
    return slopes


def unchanged(x: Any) -> Any:
    """What an op gives that passes its input on."""
    return x


def follow(numbers: Any, cumulative: Callable) -> bool:
    """Whether numbers may be drawn from a continuous distribution, whose cumulative function is given.

    Their Kolmogorov-Smirnov distance must be one that chance exceeds less than once in a million times.
    """
    ordered = np.sort(np.ravel(numbers).astype(np.float64))
    if not ordered.size:
        return True
    expected = cumulative(ordered)
    found = np.arange(ordered.size + 1) / ordered.size
    distance = max((found[1:] - expected).max(), (expected - found[:-1]).max())
    return bool(distance * np.sqrt(ordered.size) < 2.7)


def average(numbers: Any, mean: Any, variance: Any) -> bool:
    """Whether the mean of numbers along the first axis is within five standard errors of what is expected."""
    numbers = np.asarray(numbers, np.float64)
    if not len(numbers):
        return True
    return bool(np.all(abs(numbers.mean(0) - mean) <= 5 * np.sqrt(np.asarray(variance) / len(numbers))))


def normal(x: Any) -> np.ndarray:
    """The cumulative function of the standard normal distribution."""
    return 0.5 * np.vectorize(math.erfc, otypes=[float])(-np.asarray(x, np.float64) / math.sqrt(2))


def truncated_normal(low: float, high: float) -> Callable:
    """The cumulative function of the standard normal distribution between two bounds."""
    return lambda x: (normal(x) - normal(low)) / (normal(high) - normal(low))
