"""Matrices in blocks, and assignments to variables that lie in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph.operation import Operation, Tensor


def kronecker_product(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Each element of the first matrix, times the whole second one in its place."""
    (rows1, columns1), (rows2, columns2) = mat1.shape.as_list(), mat2.shape.as_list()
    blocks = tf.reshape(mat1, [rows1, 1, columns1, 1]) * tf.reshape(mat2, [1, rows2, 1, columns2])
    return tf.reshape(blocks, [rows1 * rows2, columns1 * columns2])


def expand_tensor(tensor: Tensor, block_dims: Sequence[int]) -> Tensor:
    """Each element of a matrix repeated over a block."""
    if tensor.shape.ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    rows, columns = tensor.shape.as_list()
    height, width = block_dims
    tiled = tf.tile(tf.reshape(tensor, [rows, 1, columns, 1]), [1, height, 1, width])
    return tf.reshape(tiled, [rows * height, columns * width])


def factorized_pool(
    input_tensor: Tensor,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """A matrix pooled over windows: along the columns first, then along the rows."""
    if input_tensor.shape.ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.shape.as_list()
    with tf.name_scope(name, "factorized_pool"):
        pooled = tf.reshape(input_tensor, [1, 1, height, width], name=f"{input_tensor.op.name}_aligned")
        for size, stride in zip(window_shape, strides, strict=True):
            pooled = tf.nn.pool(pooled, [1, size], pooling_type, padding, strides=[1, stride])
            pooled = tf.transpose(pooled, [0, 1, 3, 2])
    return tf.squeeze(pooled, axis=[0, 1])


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """The axis along which a variable lies in parts."""
    whole = partitioned_variable.get_shape().as_list()
    found = 0
    for part in partitioned_variable:
        smaller = np.less(part.get_shape().as_list(), whole)
        if np.count_nonzero(smaller) != 1:
            raise ValueError(f"Number of partitioned axes {np.count_nonzero(smaller)} not equal to 1")
        found = int(np.argmax(smaller))
    return found


def variable_assign(var: Any, new_value: Any) -> Any:
    """Makes the assignment of a value to a variable."""
    return tf.assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: Tensor) -> Operation:
    """Makes the assignments of a value to the parts of a variable."""
    parts = list(partitioned_var)
    axis = 0 if len(parts) == 1 else determine_partitioned_axis(partitioned_var)
    values = tf.split(new_value, [part.get_shape().as_list()[axis] for part in parts], axis=axis)
    updates = [variable_assign(part, value) for part, value in zip(parts, values, strict=True)]
    return tf.group(*updates, name=f"{partitioned_var.name}_group_assign")
