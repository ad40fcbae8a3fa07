"""Softmax of short rows on CPUs.

ATen computes a row that is shorter than a vector of the processor number by number, in up to ten times the
time of a longer one. The probabilities of few classes are such rows. Transposed, they are computed side by
side.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_WIDTHS = {"AVX512": 16, "AVX2": 8}  # numbers in a vector
_SMALLEST = 512  # numbers in all; about where both take equally long


@functools.cache
def _width() -> int:
    return _WIDTHS.get(torch.backends.cpu.get_cpu_capability(), 4)


def has_short_rows(logits: torch.Tensor) -> bool:
    """Whether to compute the rows as columns. Compilers, which give fake tensors, do it in their own way."""
    return (
        logits.numel() >= _SMALLEST
        and logits.shape[-1] < _width()
        and type(logits) is torch.Tensor
        and logits.dtype is torch.float32
        and logits.device.type == "cpu"
    )


def never_has_short_rows(node: Any) -> bool:
    """Whether the shape of a node's input, or its device, says that there is none such."""
    shape = node.inputs[0].shape
    if node.device.type != "cpu" or shape.is_fully_defined() and shape.num_elements() < _SMALLEST:
        return True
    length = shape.as_list()[-1] if shape.ndims else None
    return length is not None and length >= _width()


def _along_rows(function: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable[..., torch.Tensor]:
    def kernel(logits: torch.Tensor) -> torch.Tensor:
        if not has_short_rows(logits):
            return function(logits, -1)
        columns = logits.reshape(-1, logits.shape[-1]).t().contiguous()
        return function(columns, 0).t().reshape(logits.shape)

    kernel.__name__ = function.__name__
    return kernel


softmax = _along_rows(torch.softmax)
log_softmax = _along_rows(torch.log_softmax)
