"""uint16, uint32 and uint64, which ATen stores but hardly computes with: signed types do the work.

Bits are bits: sums, products and their wrapping are the same on the signed type of that size, and flipping
the top bit makes signed order of unsigned order. Other element-wise arithmetic needs the value itself: the
two smaller types fit a wider signed one, and for uint64 there are functions of its bits read as int64.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op

_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
_WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64}
_TOP_BIT = torch.iinfo(torch.int64).min


# ------------------------------------------------------------------------- on signed types of the same size


def modular(kernel: Callable) -> Callable:
    """Makes a kernel of additions and multiplications serve unsigned types too."""

    @functools.wraps(kernel, assigned=())
    def _either(first: Any, *others: Any, **attrs: Any) -> Any:
        unsigned = (first[0] if isinstance(first, list) else first).dtype
        if unsigned not in _SIGNED:
            return kernel(first, *others, **attrs)
        twins = (_twin(value, unsigned) for value in (first, *others))
        return kernel(*twins, **attrs).view(unsigned)

    return _either


def ordered(kernel: Callable) -> Callable:
    """Makes a kernel that compares elements and returns some of them serve unsigned types too."""

    @functools.wraps(kernel, assigned=())
    def _either(x: Any, *others: Any, **attrs: Any) -> Any:
        unsigned = x.dtype
        if unsigned not in _SIGNED:
            return kernel(x, *others, **attrs)
        return _flipped(kernel(comparable(x), *others, **attrs)).view(unsigned)

    return _either


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
    return bits(value) if isinstance(value, torch.Tensor) and value.dtype == unsigned else value


# -------------------------------------------------------------------------------------- on wider signed types


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
    return dtype.torch in _SIGNED


def widened(function: Callable, uint64: Callable | None = None) -> Callable:
    """A kernel that is `function`, for unsigned types too."""
    on_bits = uint64 or function

    def _kernel(*tensors: torch.Tensor) -> torch.Tensor:
        dtype = tensors[0].dtype
        if dtype is torch.uint64:
            result = on_bits(*map(bits, tensors))
            return result.view(torch.uint64) if result.dtype is torch.int64 else result
        wide = _WIDER.get(dtype)
        if wide is None:
            return function(*tensors)
        result = function(*[tensor.to(wide) for tensor in tensors])
        return result.to(dtype) if result.dtype is wide else result

    return _kernel


# ------------------------------------------------------------------------------------------ on uint64's bits


def by_order(function: Callable) -> Callable:
    """`function` (a comparison, a maximum) in unsigned order."""

    def _kernel(*tensors: torch.Tensor) -> torch.Tensor:
        result = function(*map(_flipped, tensors))
        return _flipped(result) if result.dtype is torch.int64 else result

    return _kernel


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
