"""Products of matrices in loops, done for many iterations at once or with weights that are prepared once.

One large product takes far less than as many small ones. What a sum is rounded to depends on how it is
shared, as everywhere where products are split.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

ROWS = 512  # rows of a large product; more are not quicker, and take more memory
_PAYS = 24  # products with the same weights, after which laying them out has paid

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class ProductSum:
    """A sum to which the iterations of a loop add the products of two matrices, some iterations at once."""

    def __init__(self, initial: torch.Tensor, product: Product):
        self._total, self._product = initial.clone(), product
        self._factors: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
        self._rows = 0

    def add(self, a: torch.Tensor, b: torch.Tensor) -> ProductSum:
        """Adds the product of `a`, transposed, and `b`."""
        self._factors[0].append(a)
        self._factors[1].append(b)
        self._rows += a.shape[0]
        if self._rows >= ROWS:
            self._multiply()
        return self

    def total(self) -> torch.Tensor:
        """The sum of all that was added."""
        if self._rows:
            self._multiply()
        return self._total

    def _multiply(self) -> None:
        a, b = (torch.cat(factors) for factors in self._factors)
        self._total += self._product(a, b)
        self._factors, self._rows = ([], []), 0


class UseCount:
    """How often a loop used its weights in the last step, which says whether to prepare them in this one."""

    def __init__(self) -> None:
        self.last = self.now = 0

    def begin_step(self) -> None:
        self.last, self.now = self.now, 0


class LoopWeights:
    """The right factor of a loop's products, laid out as oneDNN wants it where the loop is long enough."""

    def __init__(self, weights: torch.Tensor, rows: int, count: UseCount):
        self._count = count
        count.begin_step()
        dense = weights if weights.is_contiguous() or weights.t().is_contiguous() else weights.contiguous()
        self._weights = dense.t()
        if count.last >= _PAYS:
            self._weights = torch.ops.mkldnn._reorder_linear_weight(self._weights, rows)

    def times(self, a: torch.Tensor, addend: torch.Tensor | None) -> torch.Tensor:
        """The product with `a` on the left, and a row or a matrix added to it."""
        self._count.now += 1
        linear: Any = torch.ops.mkldnn._linear_pointwise.default
        row, matrix = (addend, None) if addend is None or addend.dim() == 1 else (None, addend)
        product: torch.Tensor = linear(a.contiguous(), self._weights, row, "none", [], "")
        return product if matrix is None else product.add_(matrix)
