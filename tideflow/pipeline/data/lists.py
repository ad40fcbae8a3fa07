"""The lists that columns of blocks are made of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def is_list(kind: pa.DataType) -> bool:
    """Whether a column's type is a list."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def lengths_of(array: pa.Array) -> tuple[np.ndarray, np.ndarray | None]:
    """How long each list is (0 if it is missing), and which are there; None if all are."""
    if array.null_count:
        present = array.is_valid().to_numpy(zero_copy_only=False)
        return pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False), present
    return np.diff(array.offsets.to_numpy()), None


def lists_of(values: np.ndarray, lengths: np.ndarray) -> pa.Array:
    """Lists of values that stand one after the other, each so long.

    Args:
      values: Numbers, or byte strings as objects.
      lengths: The length of each list.
    """
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    kind = pa.binary() if values.dtype == object else None
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, kind))
