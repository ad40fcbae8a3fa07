"""`tensorflow.contrib.layers.python.layers.layers`: the last axes of a tensor made one."""

from __future__ import annotations

from typing import Any

import tideflow as tf


@tf.contrib.framework.add_arg_scope
def _inner_flatten(
    inputs: Any, new_rank: Any, output_collections: Any = None, scope: str | None = None
) -> tf.Tensor | tf.SparseTensor:
    """A tensor, sparse or not, of a lower rank: its last axes are one.

    Args:
      inputs: The tensor.
      new_rank: The rank of the result.
      output_collections: Collections to add the result to.
      scope: The name scope of the operations.

    Returns:
      The flattened tensor.

    Raises:
      ValueError: If the tensor has fewer axes.
    """
    with tf.name_scope(scope, "InnerFlatten", [inputs, new_rank]) as name:
        if isinstance(inputs, tf.SparseTensor):
            flat: Any = _sparse_inner_flatten(inputs, new_rank)
        else:
            flat = _dense_inner_flatten(tf.convert_to_tensor(inputs), new_rank)
    return tf.contrib.layers.utils.collect_named_outputs(output_collections, name, flat)


def _sparse_inner_flatten(inputs: tf.SparseTensor, new_rank: int) -> tf.SparseTensor:
    rank = inputs.dense_shape.shape.as_list()[0]
    if rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. "
            f"Received rank {rank}, shape {inputs.get_shape()}"
        )
    outer, inner = inputs.dense_shape[: new_rank - 1], inputs.dense_shape[new_rank - 1 :]
    return tf.sparse_reshape(inputs, tf.concat([outer, [tf.reduce_prod(inner)]], 0))


def _dense_inner_flatten(inputs: tf.Tensor, new_rank: Any) -> tf.Tensor:
    has_rank = tf.assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")
    with tf.control_dependencies([has_rank]):
        outer = tf.strided_slice(tf.shape(inputs), [0], [new_rank - 1])
        flat = tf.reshape(inputs, tf.concat([outer, [-1]], 0))
    if isinstance(new_rank, int) and inputs.shape.ndims is not None:
        known = inputs.shape.as_list()
        flat.set_shape([*known[: new_rank - 1], tf.TensorShape(known[new_rank - 1 :]).num_elements()])
    return flat
