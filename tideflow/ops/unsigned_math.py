"""Arithmetic of uint16, uint32 and uint64, which ATen stores but hardly computes with: done in a signed type.

The two smaller ones fit a wider signed type. uint64 has none: most operations are the same on its bits read
as int64, order and division are not.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op

_WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64}
_TOP_BIT = torch.iinfo(torch.int64).min


def add_kernel(op: Op, function: Callable, uint64: Callable | None = None) -> None:
    """Registers `function` as the op's kernel, called directly unless the op is given unsigned tensors.

    `uint64` is given int64 tensors that hold uint64's bits; without it `function` is.
    """
    types = op.attrs["T"].allowed if "T" in op.attrs else ()
    if not any(_is_only_stored(dtype) for dtype in types or ()):
        op.kernel(function)
        return
    op.kernel(widened(function, uint64))
    op.specialize(lambda node: None if _is_only_stored(node.inputs[0].dtype) else (function, node.inputs))


def _is_only_stored(dtype: DType) -> bool:
    return dtype.torch in (torch.uint16, torch.uint32, torch.uint64)


def widened(function: Callable, uint64: Callable | None = None) -> Callable:
    """A kernel that is `function`, for unsigned types too."""
    on_bits = uint64 or function

    def kernel(*tensors: torch.Tensor) -> torch.Tensor:
        dtype = tensors[0].dtype
        if dtype is torch.uint64:
            result = on_bits(*[tensor.view(torch.int64) for tensor in tensors])
            return result.view(torch.uint64) if result.dtype is torch.int64 else result
        wide = _WIDER.get(dtype)
        if wide is None:
            return function(*tensors)
        result = function(*[tensor.to(wide) for tensor in tensors])
        return result.to(dtype) if result.dtype is wide else result

    return kernel


# -------------------------------------------------------------------------------- on uint64's bits


def by_order(function: Callable) -> Callable:
    """`function` (a comparison, a maximum): with the top bit flipped, signed order is unsigned order."""

    def kernel(*tensors: torch.Tensor) -> torch.Tensor:
        result = function(*[tensor ^ _TOP_BIT for tensor in tensors])
        return result ^ _TOP_BIT if result.dtype is torch.int64 else result

    return kernel


def quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y rounded down: half of x is divided, its remainder settles the rest."""
    nearly = (shifted_right(x, torch.ones_like(x)) // y) << 1
    at_least = by_order(torch.ge)
    return torch.where(y < 0, at_least(x, y).long(), nearly + at_least(x - nearly * y, y).long())


def remainder(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What `quotient` leaves."""
    return x - quotient(x, y) * y


def shifted_right(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x >> y with zeros coming in."""
    return torch.where(y == 0, x, (x >> y) & ~(_TOP_BIT >> (y - 1).clamp(min=0)))
