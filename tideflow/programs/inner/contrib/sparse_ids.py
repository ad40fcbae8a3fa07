"""`tensorflow.contrib.layers.python.ops.sparse_ops`: sparse tensors of dense ones, and their rows' ends."""

from __future__ import annotations

import numbers
from typing import Any

import tideflow as tf


def dense_to_sparse_tensor(dense_tensor: Any, ignore_value: Any = None) -> tf.SparseTensor:
    """A sparse tensor of the elements that are not `ignore_value`, which is zero or "" unless it is given."""
    with tf.name_scope("DenseToSparseTensor"):
        dense = tf.convert_to_tensor(dense_tensor)
        ignored = _ignored(dense.dtype, ignore_value)
        indices = tf.where(tf.not_equal(dense, ignored), name="indices")
        values = tf.gather_nd(dense, indices, name="values")
        return tf.SparseTensor(indices, values, tf.shape(dense, out_type=tf.int64, name="dense_shape"))


def _ignored(dtype: tf.DType, value: Any) -> tf.Tensor:
    if value is None:
        value = "" if dtype == tf.string else dtype.as_numpy_dtype()
    return tf.cast(value, dtype, name="ignore_value")


def indicators_to_sparse_ids(
    indicators: Any, ignore_value: Any = None, dtype: tf.DType = tf.int64
) -> tf.SparseTensor:
    """The positions along the last axis of what is not ignored, moved to the start of each row."""
    if not dtype.is_integer:
        raise ValueError(f"Invalid dtype {dtype} not integer.")
    with tf.name_scope(None, "indicators_to_sparse_ids", (indicators, ignore_value)):
        indicators = tf.convert_to_tensor(indicators, name="indicators")
        absent = tf.equal(indicators, _ignored(indicators.dtype, ignore_value), name="missing")
        zeros = tf.zeros_like(indicators, dtype=tf.int64, name="zeros")
        ones = tf.ones_like(indicators, dtype=tf.int64, name="ones")
        counted = tf.cumsum(tf.where(absent, zeros, ones, name="binary_indicators"), axis=-1)
        places = tf.where(absent, zeros, counted, name="row_index_indicators")  # from 1; 0 is ignored
        longest = tf.reshape(tf.reduce_max(places), shape=(1,), name="result_last_dim")
        found = dense_to_sparse_tensor(places, ignore_value=0)
        kept, moved = found.indices[:, :-1], tf.reshape(found.values - 1, (-1, 1))
        return tf.SparseTensor(
            tf.concat((kept, moved), axis=1, name="indices"),
            tf.cast(found.indices[:, -1], dtype=dtype, name="values"),
            tf.concat((found.dense_shape[0:-1], longest), axis=0, name="dense_shape"),
        )


def sparse_row_envelope(
    sparse_input: tf.SparseTensor, row_axis: int = 0, col_axis: int = 1, name: str | None = None
) -> tf.Tensor:
    """One more than the last column that each row has an element in; 0 for a row without any."""
    if not (isinstance(row_axis, numbers.Integral) and isinstance(col_axis, numbers.Integral)):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with tf.name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows = sparse_input.indices[:, row_axis]
        columns = sparse_input.indices[:, col_axis]
        count = tf.cast(sparse_input.dense_shape[row_axis], tf.int32)
        envelope = tf.unsorted_segment_max(columns + 1, rows, count, name=name)
        zeros = tf.zeros_like(envelope)
        return tf.where(envelope > zeros, envelope, zeros)
