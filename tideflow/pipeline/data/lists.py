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
