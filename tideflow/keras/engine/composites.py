"""Sparse and ragged data of models: samples of which batches are taken as they are of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest

RaggedTensorValue = tf.ragged.RaggedTensorValue


class SparseSamples:
    """The samples of a sparse value, which has them along its first axis.

    Args:
      value: The value.
    """

    def __init__(self, value: Any):
        self.value = tf.SparseTensorValue(*map(np.asarray, value))
        self.shape = tuple(map(int, self.value.dense_shape))
        self.ndim = len(self.shape)
        self.dtype = self.value.values.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return repr(self.value)

    def __getitem__(self, chosen: Any) -> SparseSamples:
        """The chosen samples: a slice, or numbers of which none is there twice."""
        numbers = np.arange(len(self))[chosen]
        place = np.full(len(self), -1)
        place[numbers] = np.arange(len(numbers))
        indices = self.value.indices
        indices = np.concatenate([place[indices[:, :1]], indices[:, 1:]], axis=1)
        kept = np.flatnonzero(indices[:, 0] >= 0)
        kept = kept[np.lexsort(indices[kept].T[::-1])]
        shape = np.array([len(numbers), *self.shape[1:]], np.int64)
        return SparseSamples((indices[kept], self.value.values[kept], shape))

    def as_tensor(self, dtype: Any) -> tf.SparseTensor:
        """The samples as a tensor."""
        indices, values, shape = self.value
        return tf.SparseTensor(tf.constant(indices, tf.int64), tf.constant(values, dtype), shape)

    @property
    def parts(self) -> list[np.ndarray]:
        """The arrays, as a placeholder of sparse tensors takes them."""
        return list(self.value)


class RaggedSamples:
    """The samples of a ragged value: its rows.

    Args:
      value: The value.
    """

    def __init__(self, value: Any):
        self.value = value
        self.shape = (int(value.shape[0]), *value.shape[1:])
        self.ndim = len(self.shape)
        self.dtype = np.asarray(value.flat_values).dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return repr(self.value)

    def __getitem__(self, chosen: Any) -> RaggedSamples:
        """The chosen samples: a slice, or numbers."""
        return RaggedSamples(_rows(self.value, chosen))

    def as_tensor(self, dtype: Any) -> tf.RaggedTensor:
        """The samples as a tensor."""
        flat, *splits = self.parts
        return tf.RaggedTensor.from_nested_row_splits(tf.constant(flat, dtype), splits, validate=False)

    @property
    def parts(self) -> list[np.ndarray]:
        """The arrays, as a placeholder of ragged tensors takes them."""
        return [np.asarray(self.value.flat_values), *self.value.nested_row_splits]


def _rows(value: Any, chosen: Any) -> Any:
    if not isinstance(value, RaggedTensorValue):
        return np.asarray(value)[chosen]
    splits = value.row_splits
    numbers = np.arange(len(splits) - 1)[chosen]
    lengths = splits[numbers + 1] - splits[numbers]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    inside = np.arange(ends[-1]) + np.repeat(splits[numbers] - ends[:-1], lengths)
    return RaggedTensorValue(_rows(value.values, inside), ends.astype(splits.dtype))


Samples = (SparseSamples, RaggedSamples)
_VALUES = (tf.SparseTensorValue, RaggedTensorValue)
_TENSORS = (tf.SparseTensor, tf.RaggedTensor)


def is_composite(value: Any) -> bool:
    """Whether this is sparse or ragged: a tensor, a value or samples of one, or a matrix of SciPy."""
    return isinstance(value, (*_VALUES, *_TENSORS, *Samples)) or hasattr(value, "tocoo")


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor, dense or not."""
    return isinstance(value, _TENSORS) or bool(tf.is_tensor(value))


def samples(data: Any) -> Any:
    """Data with samples in the place of sparse and ragged values; tensors of a graph stay what they are."""
    if isinstance(data, dict):
        return {key: samples(value) for key, value in data.items()}
    if isinstance(data, _VALUES):
        return SparseSamples(data) if isinstance(data, tf.SparseTensorValue) else RaggedSamples(data)
    if isinstance(data, _TENSORS) and tf.executing_eagerly():
        return samples(value_of(data))
    if type(data) in (list, tuple):
        return type(data)(map(samples, data))
    return data


def of_matrix(matrix: Any) -> SparseSamples:
    """The samples of a sparse matrix of SciPy."""
    found = matrix.tocoo()
    order = np.lexsort((found.col, found.row))
    indices = np.stack([found.row, found.col], axis=1).astype(np.int64)
    return SparseSamples((indices[order], found.data[order], np.array(found.shape, np.int64)))


def element(like: Any, parts: list[Any]) -> Any:
    """An element of a dataset: arrays, and samples of what is sparse or ragged in it."""
    return nest.pack_sequence_as(like, [samples(part) if is_composite(part) else part for part in parts])


def tensor_of(array: Any, dtype: Any) -> Any:
    """The tensor of an array or of samples."""
    return array.as_tensor(dtype) if isinstance(array, Samples) else tf.constant(array, dtype)


def value_of(tensor: Any) -> Any:
    """The value of an eager tensor: an array, or one that is sparse or ragged."""
    if isinstance(tensor, tf.SparseTensor):
        parts = (tensor.indices, tensor.values, tensor.dense_shape)
        return tf.SparseTensorValue(*(part.numpy() for part in parts))
    if isinstance(tensor, tf.RaggedTensor):
        return RaggedTensorValue(value_of(tensor.values), tensor.row_splits.numpy())
    return tensor.numpy()


def joined(parts: list[Any]) -> Any:
    """Results of batches one behind the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, tf.SparseTensor):
        return tf.sparse.concat(axis=0, sp_inputs=parts)
    if isinstance(first, tf.RaggedTensor):
        return tf.concat(parts, axis=0)
    if isinstance(first, tf.SparseTensorValue):
        return _joined_sparse(parts)
    if isinstance(first, RaggedTensorValue):
        return _joined_ragged(parts)
    return np.concatenate(parts, axis=0)


def _joined_sparse(parts: list[Any]) -> Any:
    for part in parts[1:]:
        _check_inner_sizes(parts[0], part)
    rows = np.cumsum([0, *(part.dense_shape[0] for part in parts)])
    offset = np.zeros_like(np.asarray(parts[0].indices)[:1])
    indices = []
    for part, row in zip(parts, rows, strict=False):
        offset[0, 0] = row
        indices.append(np.asarray(part.indices) + offset)
    sizes = np.max([np.asarray(part.dense_shape) for part in parts], axis=0)
    sizes[0] = rows[-1]
    values = np.concatenate([np.asarray(part.values) for part in parts])
    return tf.SparseTensorValue(np.concatenate(indices), values, sizes)


def _check_inner_sizes(first: Any, other: Any) -> None:
    """Refuses to join sparse values that differ in more than the number of rows."""
    sizes, others = (tuple(np.asarray(value.dense_shape).tolist()) for value in (first, other))
    what = f"Unable to concatenate {first} and {other}. The inner dense shapes do not"
    if len(sizes) != len(others):
        raise RuntimeError(f"{what} have the same number of dimensions ({sizes} vs {others})")
    if sizes[1:] != others[1:]:
        raise RuntimeError(f"{what} match inner dimensions ({sizes[1:]} vs {others[1:]})")


def _joined_ragged(parts: list[Any]) -> Any:
    if not isinstance(parts[0], RaggedTensorValue):
        return np.concatenate(parts, axis=0)
    for part in parts[1:]:
        if part.shape[1:] != parts[0].shape[1:]:
            raise RuntimeError(f"Unable to concatenate {parts[0]} and {part}")
    lengths = np.concatenate([np.diff(part.row_splits) for part in parts])
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(parts[0].row_splits.dtype)
    return RaggedTensorValue(_joined_ragged([part.values for part in parts]), splits)
