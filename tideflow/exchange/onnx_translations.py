"""Operations of PyTorch that its ONNX exporter does not know, in ONNX's operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from onnxscript import opset18 as op

aten = torch.ops.aten


def _sorted(self: Any, *, stable: bool = True, dim: int = -1, descending: bool = False) -> Any:
    """Of equal elements TopK takes the first first, so it is stable."""
    del stable
    count = op.Gather(op.Shape(self), op.Constant(value_ints=[dim]))
    return op.TopK(self, count, axis=dim, largest=int(descending), sorted=1)


def _at_most(size: Any, other: Any) -> Any:
    """Of a size: PyTorch notes limits that are larger than any number of ONNX."""
    return op.LessOrEqual(_int64(size), _int64(other))


def _int64(number: Any) -> Any:
    return op.Constant(value_int=min(number, 2**63 - 1)) if isinstance(number, int) else number


TRANSLATIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    aten.sort.stable: _sorted,
    operator.le: _at_most,
}
