"""Blocks of rows as the feeds of a graph, and the outputs of a graph as blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import tideflow as tf
from tideflow.graph import errors
from tideflow.pipeline.data.lists import lists_of
from tideflow.pipeline.transform.feature_specs import sparse_index_key, sparse_value_key

_NUMBERS = {tf.int64: np.int64, tf.float32: np.float32}


def placeholders(feature_spec: Mapping[str, Any]) -> dict[str, Any]:
    """Adds a placeholder for each feature to the default graph."""
    inputs: dict[str, Any] = {}
    with tf.name_scope("inputs"):
        for name, spec in feature_spec.items():
            label = "".join(c if c.isalnum() else "_" for c in name).lstrip("_") or "feature"
            if isinstance(spec, tf.io.FixedLenFeature):
                inputs[name] = tf.placeholder(spec.dtype, [None, *spec.shape], name=label)
            elif isinstance(spec, tf.io.VarLenFeature):
                inputs[name] = tf.sparse_placeholder(spec.dtype, [None, None], name=label)
            else:
                sizes = spec.size if isinstance(spec.size, (list, tuple)) else [spec.size]
                shape = [None, *(None if size == -1 else size for size in sizes)]
                inputs[name] = tf.sparse_placeholder(spec.dtype, shape, name=label)
    return inputs


def feeds_of(block: pa.RecordBatch, feature_spec: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a block's features: arrays, and SparseTensorValues for features of varying length."""
    feeds: dict[str, Any] = {}
    for name, spec in feature_spec.items():
        if isinstance(spec, tf.io.FixedLenFeature):
            feeds[name] = _dense(block, name, spec)
        elif isinstance(spec, tf.io.VarLenFeature):
            values, lengths = _ragged(block, name, spec.dtype)
            feeds[name] = _left_aligned(values, lengths)
        else:
            feeds[name] = _sparse(block, spec)
    return feeds


def _column(block: pa.RecordBatch, name: str) -> pa.Array | None:
    place = block.schema.get_field_index(name)
    return None if place < 0 else block.column(place)


def _ragged(block: pa.RecordBatch, name: str, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values of a column one after the other, and how many each row has; none where it is missing."""
    column = _column(block, name)
    if column is None or pa.types.is_null(column.type):
        return _as_array(pa.array([], pa.null()), name, dtype), np.zeros(block.num_rows, np.int64)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = column.flatten()
    if pa.types.is_list(flat.type) or pa.types.is_large_list(flat.type):
        raise errors.invalid_argument(f"Feature {name} is a list of lists, which a feature spec cannot read")
    return _as_array(flat, name, dtype), lengths


def _as_array(values: pa.Array, name: str, dtype: Any) -> np.ndarray:
    if pa.types.is_null(values.type):
        return np.zeros(len(values), object if dtype == tf.string else _NUMBERS[dtype])
    is_text = pa.types.is_binary(values.type) or pa.types.is_string(values.type)
    is_text = is_text or pa.types.is_large_binary(values.type) or pa.types.is_large_string(values.type)
    if is_text != (dtype == tf.string):
        raise errors.invalid_argument(
            f"Feature: {name}. Data types don't match. Expected type: {dtype.name}, found {values.type}"
        )
    if is_text:
        array = values.cast(pa.large_binary()).to_numpy(zero_copy_only=False)
        return array
    if dtype == tf.int64 and pa.types.is_floating(values.type):
        raise errors.invalid_argument(
            f"Feature: {name}. Data types don't match. Expected type: int64, found {values.type}"
        )
    return values.to_numpy(zero_copy_only=False).astype(_NUMBERS[dtype], copy=False)


def _dense(block: pa.RecordBatch, name: str, spec: Any) -> np.ndarray:
    values, lengths = _ragged(block, name, spec.dtype)
    size = int(np.prod(spec.shape, dtype=int))
    wrong = np.flatnonzero(lengths != size)
    if len(wrong) and spec.default_value is not None and not lengths[wrong].any():
        default = np.broadcast_to(np.asarray(spec.default_value, values.dtype), [size])
        filled = np.empty((block.num_rows, size), values.dtype)
        filled[:] = default
        filled[lengths == size] = values.reshape(-1, size)
        return filled.reshape(block.num_rows, *spec.shape)
    if len(wrong):
        row = int(wrong[0])
        if lengths[row] == 0:
            raise errors.invalid_argument(
                f"Feature: {name} (data type: {spec.dtype.name}) is required but could "
                f"not be found in row {row} of a block."
            )
        raise errors.invalid_argument(
            f"Key: {name}, Index: {row}. Number of {spec.dtype.name} values != expected. values size: "
            f"{lengths[row]} but output shape: {list(spec.shape)}"
        )
    return values.reshape(block.num_rows, *spec.shape)


def _left_aligned(values: np.ndarray, lengths: np.ndarray) -> Any:
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = np.array([len(lengths), lengths.max(initial=0)], np.int64)
    return tf.SparseTensorValue(np.stack([rows, columns], axis=1).astype(np.int64), values, shape)


def _sparse(block: pa.RecordBatch, spec: Any) -> Any:
    several = not isinstance(spec.index_key, str)
    keys = list(spec.index_key) if several else [spec.index_key]
    sizes = list(spec.size) if several else [spec.size]
    values, lengths = _ragged(block, spec.value_key, spec.dtype)
    indices = [_ragged(block, key, tf.int64)[0] for key in keys]
    if any(len(index) != len(values) for index in indices):
        raise errors.invalid_argument(f"The numbers of indices {keys} and of values {spec.value_key} differ")
    where = np.stack([np.repeat(np.arange(len(lengths)), lengths), *indices], axis=1).astype(np.int64)
    if not spec.already_sorted:
        order = np.lexsort(where.T[::-1])
        where, values = where[order], values[order]
    known = [
        int(index.max(initial=-1)) + 1 if size == -1 else size
        for index, size in zip(indices, sizes, strict=True)
    ]
    return tf.SparseTensorValue(where, values, np.array([block.num_rows, *known], np.int64))


def block_of(outputs: Mapping[str, Any]) -> pa.RecordBatch:
    """A block of the values of outputs."""
    columns: dict[str, pa.Array] = {}
    for name, value in outputs.items():
        if not isinstance(value, tf.SparseTensorValue):
            rows = len(value)
            size = value[0].size if rows else 0
            columns[name] = lists_of(value.reshape(-1), np.full(rows, size))
            continue
        rows = int(value.dense_shape[0])
        lengths = np.bincount(value.indices[:, 0], minlength=rows)
        if len(value.dense_shape) == 2:
            columns[name] = lists_of(value.values, lengths)
        else:
            columns[sparse_value_key(name)] = lists_of(value.values, lengths)
            for axis in range(len(value.dense_shape) - 1):
                columns[sparse_index_key(name, axis)] = lists_of(value.indices[:, axis + 1], lengths)
    names = sorted(columns)
    return pa.RecordBatch.from_arrays([columns[name] for name in names], names)
