"""Sizes and zeros of batches, as far as they are known before the step."""

from __future__ import annotations

from typing import Any

from tideflow.graph import nest
from tideflow.graph.operation import Tensor
from tideflow.nn.rnn_cells import joined_sizes, known_sizes
from tideflow.ops import creation, shapes


def size_of(tensor: Tensor, axis: int) -> Any:
    """The size of an axis: an int where it is known, else a tensor."""
    known = tensor.shape.tuple
    return known and known[axis] or shapes.shape(tensor)[axis]


def batch_of_zeros(sizes: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a batch of each of the sizes, in their structure."""

    def zeros(size: Any) -> Tensor:
        result = creation.zeros(joined_sizes(batch_size, size), dtype=dtype)
        result.set_shape(known_sizes(batch_size, size))
        return result

    return nest.map_structure(zeros, sizes)
