"""RaggedTensorValue: what a step gives for a RaggedTensor, as arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tideflow.export import export


@export("ragged.RaggedTensorValue")
class RaggedTensorValue:
    """The value of a RaggedTensor: row i is `values[row_splits[i]:row_splits[i + 1]]`.

    Args:
      values: The values of all rows, concatenated: an array or a RaggedTensorValue.
      row_splits: The start of each row in `values`, and the end of the last one.
    """

    def __init__(self, values: np.ndarray | RaggedTensorValue, row_splits: np.ndarray):
        if not isinstance(row_splits, np.ndarray) or row_splits.dtype not in (np.int64, np.int32):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values = values
        self._row_splits = row_splits

    @property
    def row_splits(self) -> np.ndarray:
        """The start of each row in `values`, and the end of the last one."""
        return self._row_splits

    @property
    def values(self) -> Any:
        """The values of all rows, concatenated."""
        return self._values

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self._values.dtype

    @property
    def flat_values(self) -> np.ndarray:
        """The values of the innermost ragged dimension."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return self._row_splits, *inner

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, in which ragged dimensions are None."""
        return len(self._row_splits) - 1, None, *self._values.shape[1:]

    def to_list(self) -> list:
        """The rows as nested lists."""
        values = self._values
        items = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        splits = self._row_splits.tolist()
        return [items[start:end] for start, end in pairwise(splits)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def value_of(ragged: Any) -> RaggedTensorValue:
    """The value of a RaggedTensor of eager mode."""
    values = ragged.values
    inner = value_of(values) if hasattr(values, "row_splits") else values.numpy()
    return RaggedTensorValue(inner, ragged.row_splits.numpy())
