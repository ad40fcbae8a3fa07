"""Sizes of batches, as far as they are known before the step."""

from __future__ import annotations

from typing import Any

from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import shapes


def size_of(tensor: Tensor, axis: int) -> Any:
    """The size of an axis: an int where it is known, else a tensor."""
    known = tensor.shape.tuple
    return known and known[axis] or shapes.shape(tensor)[axis]
