"""`tensorflow.python.data.util.sparse`: elements of datasets with sparse tensors as variants, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.programs.inner.data import data_names as nest


def _each(like: Any, function: Callable[..., Any], *structures: Any) -> Any:
    """The results of a function of each leaf, arranged like the first structure."""
    flat = [nest.flatten(structure) for structure in structures]
    return nest.pack_sequence_as(like, [function(*leaves) for leaves in zip(*flat, strict=True)])


def any_sparse(classes: Any) -> bool:
    """Whether a class is that of sparse tensors."""
    return any(each is tf.SparseTensor for each in nest.flatten(classes))


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """The shapes of the tensors that elements are made of."""
    return _each(shapes, lambda s, c: tf.TensorShape(None) if c is tf.SparseTensor else s, shapes, classes)


def as_dense_types(types: Any, classes: Any) -> Any:
    """The types of the tensors that elements are made of."""
    return _each(types, lambda t, c: tf.variant if c is tf.SparseTensor else t, types, classes)


def get_classes(tensors: Any) -> Any:
    """The class of each tensor."""
    return _each(tensors, lambda t: tf.SparseTensor if isinstance(t, tf.SparseTensor) else tf.Tensor, tensors)


def deserialize_sparse_tensors(tensors: Any, types: Any, shapes: Any, classes: Any) -> Any:
    """The sparse tensors of variants."""

    def whole(tensor: Any, dtype: Any, shape: Any, kind: Any) -> Any:
        return _one(tensor, dtype, shape) if kind is tf.SparseTensor else tensor

    return _each(types, whole, tensors, types, shapes, classes)


def _one(tensor: Any, dtype: Any, shape: Any) -> tf.SparseTensor:
    parts = tf.raw_ops.DeserializeSparse(serialized_sparse=tensor, dtype=dtype)
    indices, values, dense_shape = parts
    indices.set_shape([None, shape.ndims])
    dense_shape.set_shape([shape.ndims])
    return tf.SparseTensor(indices, values, dense_shape)


def serialize_sparse_tensors(tensors: Any) -> Any:
    """Sparse tensors as variants."""
    return _each(tensors, lambda t: _serialized(t, tf.io.serialize_sparse), tensors)


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """Sparse tensors as variants, one for each row."""
    return _each(tensors, lambda t: _serialized(t, tf.io.serialize_many_sparse), tensors)


def _serialized(tensor: Any, function: Callable[..., Any]) -> Any:
    return function(tensor, out_type=tf.variant) if isinstance(tensor, tf.SparseTensor) else tensor
