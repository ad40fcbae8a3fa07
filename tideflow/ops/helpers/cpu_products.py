"""Products of float32 matrices on CPUs that ATen's BLAS is not made for.

ATen multiplies matrices by MKL, which takes AVX-512 on Intel's processors alone. On AMD's since Zen 5,
oneDNN, which ATen has for convolutions, takes half the time for a product that is not small; a small one is
done before oneDNN has begun. Zen 4 computes the halves of 512 bits one after the other: MKL's AVX2 is as
quick there, and quicker where the left factor is transposed. With weights that are laid out for it, oneDNN is
quicker on both.

A product of few columns, as the logits of a classifier are, takes MKL up to five times longer there than its
transpose does: it is computed as that.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tideflow.graph import dtypes

SMALLEST = 1 << 20  # multiplications; about where MKL and oneDNN take equally long
_THIN = range(2, 16)  # columns: MKL has a way of its own for one, and computes 16 at once
_SMALLEST_THIN = 1 << 15  # multiplications; about where the copy of a transpose has paid
_FEWEST_THIN = 16  # rows, and columns of the left factor
_CPUS = Path("/proc/cpuinfo")
_ZEN_5 = 26  # AMD's number of the processor family


@functools.cache
def is_foreign_to_mkl() -> bool:
    """Whether the processor is not Intel's."""
    return torch.backends.mkl.is_available() and _CPUS.exists() and "GenuineIntel" not in _CPUS.read_text()


@functools.cache
def is_quicker_laid_out() -> bool:
    """Whether oneDNN multiplies by weights that are laid out for it in less time than MKL does."""
    if not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return False
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and is_foreign_to_mkl()


@functools.cache
def is_quicker_by_onednn() -> bool:
    """Whether oneDNN multiplies any two large matrices in less time than MKL does."""
    if not is_quicker_laid_out():
        return False
    family = re.search(r"^cpu family\s*: (\d+)$", _CPUS.read_text(), re.MULTILINE)
    return family is not None and int(family[1]) >= _ZEN_5


class Products(NamedTuple):
    """A way of multiplying matrices: functions of (a, b), and of (total, a, b) that add the product to a row
    or a matrix, each by whether the factors are transposed.
    """

    plain: dict[tuple[bool, bool], Callable[..., torch.Tensor]]
    added: dict[tuple[bool, bool], Callable[..., torch.Tensor]]


def products_for(node: Any) -> Products | None:
    """How a node that multiplies its last two inputs does so; by ATen's functions if it is None."""
    if not _is_of_known_floats(node):
        return None
    if is_by_onednn(node):
        return ONEDNN
    rows, inner, columns = _sizes(node)
    is_thin = columns in _THIN and min(rows, inner) >= _FEWEST_THIN
    if is_thin and rows * inner * columns >= _SMALLEST_THIN and is_foreign_to_mkl():
        return TRANSPOSED
    return None


def is_by_onednn(node: Any) -> bool:
    """Whether a node that multiplies its last two inputs is one for oneDNN."""
    return _is_large(node) and is_quicker_by_onednn()


def are_for_onednn(*sizes: int) -> bool:
    """Whether a product of float32 matrices of so many rows, inner and outer columns is one for oneDNN."""
    return math.prod(sizes) >= SMALLEST and is_quicker_by_onednn()


def laid_out_for_onednn(node: Any) -> bool:
    """Whether it is one for oneDNN once its last input is laid out."""
    return _is_large(node) and is_quicker_laid_out()


def _is_large(node: Any) -> bool:
    return _is_of_known_floats(node) and math.prod(_sizes(node)) >= SMALLEST


def _is_of_known_floats(node: Any) -> bool:
    """Whether the node multiplies float32 matrices of known shapes on a CPU."""
    a, b = node.inputs[-2:]
    if node.device.type != "cpu" or b.dtype is not dtypes.float32:
        return False
    return bool(a.shape.is_fully_defined() and b.shape.is_fully_defined())


def _sizes(node: Any) -> tuple[int, int, int]:
    """Rows of the product, columns of its left factor, columns of the product."""
    inner = node.inputs[-2].shape.tuple[0 if node.attrs["transpose_a"] else 1]
    rows, columns = node.outputs[0].shape.tuple
    return rows, inner, columns


def _by_onednn(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None, activation: str = "none"
) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise.default(a, b.t(), bias, activation, [], "")


def _is_for_onednn(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Not for fake tensors, since compilers know `mm` best, nor for matrices that do not lie densely."""
    return type(a) is torch.Tensor and all(x.is_contiguous() or x.t().is_contiguous() for x in (a, b))


def by_onednn(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None, activation: str = "none"
) -> torch.Tensor:
    """The product of two matrices, plus a row if one is given, and if `activation` is "relu" that of it."""
    if _is_for_onednn(a, b):
        return _by_onednn(a, b, bias, activation)
    result = torch.mm(a, b) if bias is None else torch.addmm(bias, a, b)
    return result.relu_() if activation == "relu" else result


def _add_matmul_by_onednn(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if not _is_for_onednn(a, b):
        return torch.addmm(total, a, b)
    if total.dim() == 1 and total.is_contiguous():
        return _by_onednn(a, b, total)
    return _by_onednn(a, b).add_(total)


def _matmul_transposed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(b.t(), a.t()).t().contiguous()


def _add_matmul_transposed(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    column = total.unsqueeze(1) if total.dim() == 1 else total.t()
    return torch.addmm(column, b.t(), a.t()).t().contiguous()


def _products(matmul: Callable[..., torch.Tensor], add_matmul: Callable[..., torch.Tensor]) -> Products:
    """The functions for factors that are transposed or not, of those for factors as they are."""

    def plain(turn_a: bool, turn_b: bool) -> Callable[..., torch.Tensor]:
        return lambda a, b: matmul(a.t() if turn_a else a, b.t() if turn_b else b)

    def added(turn_a: bool, turn_b: bool) -> Callable[..., torch.Tensor]:
        return lambda total, a, b: add_matmul(total, a.t() if turn_a else a, b.t() if turn_b else b)

    turns = list(itertools.product((False, True), repeat=2))
    return Products({each: plain(*each) for each in turns}, {each: added(*each) for each in turns})


ONEDNN = _products(by_onednn, _add_matmul_by_onednn)
TRANSPOSED = _products(_matmul_transposed, _add_matmul_transposed)


def product(transpose_a: bool, transpose_b: bool) -> Callable[..., torch.Tensor]:
    """How large float32 matrices are multiplied on this machine."""
    if is_quicker_by_onednn():
        return ONEDNN.plain[transpose_a, transpose_b]
    return lambda a, b: torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)
