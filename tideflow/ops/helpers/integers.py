"""Arithmetic of integers that ATen leaves to the processor."""

from __future__ import annotations

import torch


def truncated_quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y rounded toward zero. The one quotient that does not fit its type, that of the smallest number by
    -1, wraps around: the processor's own division would end the process.
    """
    is_negation = y == -1
    divided = torch.div(x, y.masked_fill(is_negation, 1), rounding_mode="trunc")
    return torch.where(is_negation, -x, divided)
