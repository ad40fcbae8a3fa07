"""uint16, uint32 and uint64 in reductions: ATen only stores them, and their signed twins do the work.

Bits are bits: sums, products and their wrapping are the same on the signed type of that size, and flipping
the top bit of both makes signed order of unsigned order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def modular(kernel: Callable) -> Callable:
    """Makes a kernel of additions and multiplications serve unsigned types too."""

    @functools.wraps(kernel)
    def either(first: Any, *others: Any, **attrs: Any) -> Any:
        unsigned = (first[0] if isinstance(first, list) else first).dtype
        if unsigned not in _SIGNED:
            return kernel(first, *others, **attrs)
        twins = (_twin(value, unsigned) for value in (first, *others))
        return kernel(*twins, **attrs).view(unsigned)

    return either


def ordered(kernel: Callable) -> Callable:
    """Makes a kernel that compares elements and returns some of them serve unsigned types too."""

    @functools.wraps(kernel)
    def either(x: Any, *others: Any, **attrs: Any) -> Any:
        unsigned = x.dtype
        if unsigned not in _SIGNED:
            return kernel(x, *others, **attrs)
        return _flipped(kernel(comparable(x), *others, **attrs)).view(unsigned)

    return either


def comparable(x: torch.Tensor) -> torch.Tensor:
    """The tensor, or where ATen cannot compare its elements, signed integers in the same order."""
    return _flipped(bits(x)) if x.dtype in _SIGNED else x


def bits(x: torch.Tensor) -> torch.Tensor:
    """The tensor, or where ATen can hardly move or compare its elements, signed integers of the same bits."""
    return x.view(_SIGNED[x.dtype]) if x.dtype in _SIGNED else x


def _flipped(x: torch.Tensor) -> torch.Tensor:
    return x ^ torch.iinfo(x.dtype).min


def _twin(value: Any, unsigned: torch.dtype) -> Any:
    if isinstance(value, list):
        return [_twin(item, unsigned) for item in value]
    return (
        value.view(_SIGNED[unsigned])
        if isinstance(value, torch.Tensor) and value.dtype == unsigned
        else value
    )
