"""Numbers too small for a normalised float count as zero inside a step, as in TensorFlow's kernels.

Where a network has converged, optimizers' moments fade into such numbers, and a CPU takes many times longer
over each. Outside of steps the process keeps its ways: NumPy's arithmetic in the user's thread is not
touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_flush = torch.set_flush_denormal  # for the calling thread


def flushing(function: Callable) -> Callable:
    """The function, with denormal numbers flushed to zero while it runs."""

    def run(*args: Any) -> Any:
        _flush(True)
        try:
            return function(*args)
        finally:
            _flush(False)

    return run


# Threads inherit the mode of the one that starts them: the workers that share a kernel's work start here.
flushing(lambda: torch.ones(1 << 20).add_(1))()
