"""Derivatives by differences, in NumPy: what the tests hold gradient ops against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


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
