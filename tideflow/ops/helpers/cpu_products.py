"""Products of float32 matrices on CPUs whose AVX-512 ATen's BLAS does not use.

ATen multiplies matrices by MKL, which takes AVX-512 on Intel's processors alone. On AMD's since Zen 5,
oneDNN, which ATen has for convolutions, takes half the time for a product that is not small; a small one is
done before oneDNN has begun. Zen 4 computes the halves of 512 bits one after the other: MKL's AVX2 is as
quick there, and quicker where the left factor is transposed. With weights that are laid out for it, oneDNN is
quicker on both.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tideflow.graph import dtypes

SMALLEST = 1 << 20  # multiplications; about where the two take equally long
_CPUS = Path("/proc/cpuinfo")
_ZEN_5 = 26  # AMD's number of the processor family


@functools.cache
def is_quicker_laid_out() -> bool:
    """Whether oneDNN multiplies by weights that are laid out for it in less time than MKL does."""
    if not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return False
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not _CPUS.exists():
        return False
    return "GenuineIntel" not in _CPUS.read_text()


@functools.cache
def is_quicker_by_onednn() -> bool:
    """Whether oneDNN multiplies any two large matrices in less time than MKL does."""
    if not is_quicker_laid_out():
        return False
    family = re.search(r"^cpu family\s*: (\d+)$", _CPUS.read_text(), re.MULTILINE)
    return family is not None and int(family[1]) >= _ZEN_5


def by_onednn(node: Any) -> bool:
    """Whether a node that multiplies its last two inputs is one for oneDNN."""
    return _is_large(node) and is_quicker_by_onednn()


def laid_out_for_onednn(node: Any) -> bool:
    """Whether it is one for oneDNN once its last input is laid out."""
    return _is_large(node) and is_quicker_laid_out()


def _is_large(node: Any) -> bool:
    a, b = (value.shape for value in node.inputs[-2:])
    if node.device.type != "cpu" or node.inputs[-1].dtype is not dtypes.float32:
        return False
    if not (a.is_fully_defined() and b.is_fully_defined()):
        return False
    inner = a.tuple[0 if node.attrs["transpose_a"] else 1]
    return bool(node.outputs[0].shape.num_elements() * inner >= SMALLEST)


def _multiplied(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise.default(a, b.t(), bias, "none", [], "")


def _is_for_onednn(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Not for fake tensors, since compilers know `mm` best, nor for matrices that do not lie densely."""
    return type(a) is torch.Tensor and all(x.is_contiguous() or x.t().is_contiguous() for x in (a, b))


def _product(transpose_a: bool, transpose_b: bool) -> Callable[..., torch.Tensor]:
    def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = a.t() if transpose_a else a, b.t() if transpose_b else b
        return _multiplied(a, b) if _is_for_onednn(a, b) else torch.mm(a, b)

    return matmul


def _product_added(transpose_a: bool, transpose_b: bool) -> Callable[..., torch.Tensor]:
    def add_matmul(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = a.t() if transpose_a else a, b.t() if transpose_b else b
        if not _is_for_onednn(a, b):
            return torch.addmm(total, a, b)
        if total.dim() == 1 and total.is_contiguous():
            return _multiplied(a, b, total)
        return _multiplied(a, b).add_(total)

    return add_matmul


_TURNS = [(turn_a, turn_b) for turn_a in (False, True) for turn_b in (False, True)]
PRODUCT = {turns: _product(*turns) for turns in _TURNS}  # by whether each factor is transposed
PRODUCT_ADDED = {turns: _product_added(*turns) for turns in _TURNS}


def product(transpose_a: bool, transpose_b: bool) -> Callable[..., torch.Tensor]:
    """How large float32 matrices are multiplied on this machine."""
    if is_quicker_by_onednn():
        return PRODUCT[transpose_a, transpose_b]
    return lambda a, b: torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)
