"""`tensorflow.contrib.factorization.python.ops.factorization_ops_test_utils`: matrices to factorize."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

import tideflow as tf

INPUT_MATRIX = np.array(
    [
        [0.1, 0.0, 0.2, 0.0, 0.4, 0.5, 0.0],
        [0.0, 1.1, 0.0, 1.3, 1.4, 0.0, 1.6],
        [2.0, 0.0, 0.0, 2.3, 0.0, 2.5, 0.0],
        [3.0, 0.0, 3.2, 3.3, 0.0, 3.5, 0.0],
        [0.0, 4.1, 0.0, 0.0, 4.4, 0.0, 4.6],
    ],
    np.float32,
)


def remove_empty_rows_columns(np_matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix without rows and columns of sum 0, and the places of those that are left."""
    rows, cols = (np.where(np_matrix.sum(axis) != 0)[0] for axis in (1, 0))
    return np_matrix[np.ix_(rows, cols)], rows, cols


def np_matrix_to_tf_sparse(
    np_matrix: np.ndarray,
    row_slices: Sequence[int] | None = None,
    col_slices: Sequence[int] | None = None,
    transpose: bool = False,
    shuffle: bool = False,
) -> tf.SparseTensor:
    """The elements of a matrix that are not 0, those of some rows or of some columns.

    Args:
      np_matrix: The matrix.
      row_slices: The rows to take, in this order; None for all.
      col_slices: The columns to take; None for all.
      transpose: Whether the matrix is turned.
      shuffle: Whether the elements stand in a random order.

    Returns:
      The elements, in a matrix as large as the last of them needs.
    """
    assert row_slices is None or col_slices is None
    places = np.stack(np.nonzero(np_matrix), 1).astype(np.int64)
    for axis, wanted in enumerate((row_slices, col_slices)):
        if wanted is not None:
            places = np.concatenate([places[places[:, axis] == each] for each in wanted], 0)
    if shuffle:
        order = list(range(len(places)))
        random.shuffle(order)
        places = places[order]
    values = np_matrix[tuple(places.T)].astype(np.float32)
    places = places[:, ::-1] if transpose else places
    return tf.SparseTensor(places, values, places.max(0) + 1)


def calculate_loss(
    input_mat: tf.SparseTensor,
    row_factors: Any,
    col_factors: Any,
    regularization: Any = None,
    w0: float = 1.0,
    row_weights: Any = None,
    col_weights: Any = None,
) -> Any:
    """The loss that weighted alternating least squares makes smaller, in the default session.

    Args:
      input_mat: The known elements.
      row_factors: The factors of the rows.
      col_factors: The factors of the columns.
      regularization: The factor of the factors' squares.
      w0: What an element counts that is not known.
      row_weights: What rows count.
      col_weights: What columns count.

    Returns:
      The loss.
    """
    rows, cols = tf.unstack(input_mat.indices, axis=1)
    known = tf.reduce_sum(tf.gather(row_factors, rows) * tf.gather(col_factors, cols), 1)
    weights = tf.ones_like(known) if row_weights is None else tf.gather(row_weights, rows)
    weights = weights if col_weights is None else weights * tf.gather(col_weights, cols)
    errors = tf.square(input_mat.values - known)
    everywhere = tf.reduce_sum(tf.square(tf.matmul(row_factors, col_factors, transpose_b=True)))
    loss = w0 * (tf.reduce_sum(errors - tf.square(known)) + everywhere) + tf.reduce_sum(weights * errors)
    if regularization is not None:
        squares = tf.reduce_sum(tf.square(row_factors)) + tf.reduce_sum(tf.square(col_factors))
        loss += regularization * squares
    return loss.eval()
