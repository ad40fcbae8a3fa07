"""Arithmetic of integers that ATen leaves to the processor."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tideflow.graph.op import ShapeError

_INT32 = torch.iinfo(torch.int32)


def check_int32(name: str, values: int | Sequence[int | None]) -> None:
    """Refuses an attribute that TensorFlow's kernels, and ATen's, take as 32 bits."""
    for value in [values] if isinstance(values, int) else values:
        if value is not None and not _INT32.min <= value <= _INT32.max:
            raise ShapeError(f"Attr {name} has value {value} out of range for an int32")


def truncated_quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y rounded toward zero. The one quotient that does not fit its type, that of the smallest number by
    -1, wraps around: the processor's own division would end the process.
    """
    is_negation = y == -1
    divided = torch.div(x, y.masked_fill(is_negation, 1), rounding_mode="trunc")
    return torch.where(is_negation, -x, divided)
