"""What TensorFlow's module of sparse operations has beside the public ones."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.sparse.serialization import add_many_sparse_to_tensors_map_op, add_sparse_to_tensors_map_op

sparse_expand_dims = tf.sparse.expand_dims
sparse_eye = tf.sparse.eye

_ADDING = (add_sparse_to_tensors_map_op, add_many_sparse_to_tensors_map_op)


def _add_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Puts a sparse tensor where other steps find it; returns its handle."""
    return _added(tf.raw_ops.AddSparseToTensorsMap, sp_input, container, shared_name, name)


def _add_many_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """Puts each row of a batch of sparse tensors where other steps find it; returns the handles."""
    return _added(tf.raw_ops.AddManySparseToTensorsMap, sp_input, container, shared_name, name)


def _added(
    op: Any, sp_input: Any, container: str | None, shared_name: str | None, name: str | None
) -> Tensor:
    sparse = tf.SparseTensor.from_value(sp_input)
    return op(
        sparse_indices=sparse.indices,
        sparse_values=sparse.values,
        sparse_shape=sparse.dense_shape,
        container=container or "",
        shared_name=shared_name or "",
        name=name,
    )


def _take_many_sparse_from_tensors_map(
    sparse_map_op: Operation, sparse_handles: Any, rank: int | None = None, name: str | None = None
) -> Any:
    """The sparse tensors behind handles, as one with a further axis in front; each is taken once."""
    if not isinstance(sparse_map_op, tf.Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.definition not in _ADDING:
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddManySparseToTensorsMap. Instead, found "
            f"`{sparse_map_op.type}`."
        )
    with tf.colocate_with(sparse_map_op):
        indices, values, shape = tf.raw_ops.TakeManySparseFromTensorsMap(
            sparse_handles=sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=sparse_map_op.get_attr("shared_name") or sparse_map_op.name,
            name=name,
        )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return tf.SparseTensor(indices, values, shape)
