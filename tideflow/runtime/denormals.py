"""Denormal numbers count as zero inside a step, as in TensorFlow's kernels.

In a network that has converged, the optimizers' moments become denormal, and a CPU needs many times longer
for each such number. Outside of steps the mode of the user's thread is unchanged, so that NumPy computes as
usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_flush = torch.set_flush_denormal  # sets the mode of the calling thread


def flushing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with denormal numbers flushed to zero while it runs."""

    def run(*args: Any) -> Any:
        try:  # first: an interrupt may come between any two calls
            _flush(True)
            return function(*args)
        finally:
            _flush(False)

    return run
