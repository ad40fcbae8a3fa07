"""Conversions between dense and ragged tensors, as functions that take either."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.ragged.tensor import is_ragged


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = tf.int64,
    name: str | None = None,
) -> Any:
    """A ragged tensor of the rows of a dense one; a ragged one is given back as it is."""
    if is_ragged(tensor):
        return tensor
    return tf.RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    """A dense tensor whose short rows are filled up; a dense one is given back as it is."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def from_sparse(st_input: Any, name: str | None = None) -> Any:
    """A ragged tensor of the rows of a sparse matrix."""
    return tf.RaggedTensor.from_sparse(st_input, name)


def to_sparse(rt_input: Any, name: str | None = None) -> Any:
    """The sparse tensor of a ragged one."""
    return rt_input.to_sparse(name)
