"""Denormal numbers count as zero inside a step, as in TensorFlow's kernels.

In a network that has converged, the optimizers' moments become denormal, and a CPU needs many times longer
for each such number. Outside of steps the mode of the user's thread is unchanged, so that NumPy computes as
usual.
"""

from __future__ import annotations

import functools
import os
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


@functools.cache
def start_kernel_threads() -> None:
    """Starts the threads that share a kernel's work, in the mode that steps run in, since a thread inherits
    the mode of the thread that starts it. The first step does this, and not the import: a process that only
    goes on to fork must have no such threads yet.
    """
    _flush(True)
    torch.ones(1 << 20).add_(1)
    _flush(False)


def _compute_in_one_thread() -> None:
    """OpenMP's threads do not survive a fork: a kernel of the child would wait for them without end."""
    if start_kernel_threads.cache_info().currsize:
        torch.set_num_threads(1)


os.register_at_fork(after_in_child=_compute_in_one_thread)
