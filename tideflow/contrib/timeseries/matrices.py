"""Matrices of state space models: blocks, powers, covariances that stay positive definite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf

if TYPE_CHECKING:
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor


def block_diagonal(
    matrices: Sequence[Any], dtype: DType = tf.float32, name: str = "block_diagonal"
) -> Tensor:
    """Matrices [..., rows, columns] along the diagonal of one; the batch axes are the same."""
    blocks = [tf.convert_to_tensor(matrix, dtype) for matrix in matrices]
    widths = [tf.shape(block)[-1] for block in blocks]
    total, before, rows = tf.add_n(widths), 0, []
    for block, width in zip(blocks, widths, strict=True):
        none = tf.zeros([tf.rank(block) - 1, 2], tf.int32)
        rows.append(tf.pad(block, tf.concat([none, [(before, total - before - width)]], axis=0)))
        before += width
    joined = tf.concat(rows, axis=-2, name=name)
    batch = tf.TensorShape(None)
    for block in blocks:
        batch = batch.merge_with(block.shape[:-2])
    height, width = (sum((block.shape[axis] for block in blocks), tf.Dimension(0)) for axis in (-2, -1))
    joined.set_shape(batch.concatenate([height, width]))
    return joined


def batch_matrix_pow(matrices: Any, powers: Any) -> Tensor:
    """Each matrix [batch, size, size] to a power of its own [batch], by repeated squaring."""
    bases = tf.convert_to_tensor(matrices)
    identities = tf.eye(tf.shape(bases)[1], batch_shape=tf.shape(bases)[:1], dtype=bases.dtype)

    def square(base: Tensor, left: Tensor, product: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        goes_on = left > 1
        is_odd = tf.logical_and(goes_on, tf.equal(left % 2, 1))
        product = tf.where(is_odd, tf.matmul(product, base), product)
        base = tf.where(goes_on, tf.matmul(base, base), base)
        return base, tf.where(goes_on, left // 2, left), product

    start = [bases, tf.cast(powers, tf.int32), identities]
    base, left, product = tf.while_loop(lambda _, left, __: tf.reduce_any(left > 1), square, start)
    return tf.where(tf.equal(left, 0), identities, tf.matmul(base, product))


def matrix_to_powers(matrix: Any, powers: Any) -> Tensor:
    """The matrix to each of the powers, [powers, size, size]."""
    matrix = tf.convert_to_tensor(matrix)
    return batch_matrix_pow(tf.tile(matrix[None], [tf.size(powers), 1, 1]), powers)


def power_sums_tensor(array_size: Any, power_matrix: Any, multiplier: Any) -> Tensor:
    """The sums over p < n of matrix^p * multiplier * (matrix^p)^T, for n from 0 to `array_size`."""
    matrix, multiplier = tf.convert_to_tensor(power_matrix), tf.convert_to_tensor(multiplier)
    size = tf.shape(matrix)[0]
    identity = tf.eye(size, dtype=matrix.dtype)
    identity.set_shape(matrix.shape)
    each = tf.range(tf.cast(array_size, tf.int32) - 1)
    powers = tf.scan(lambda power, _: tf.matmul(power, matrix), each, initializer=identity)
    scaled = tf.reshape(tf.matmul(tf.reshape(powers, [-1, size]), multiplier), tf.shape(powers))
    terms = tf.concat([multiplier[None], tf.matmul(scaled, powers, adjoint_b=True)], axis=0)
    return tf.concat([tf.zeros_like(multiplier)[None], tf.cumsum(terms)], axis=0)


def clip_covariance(
    covariance_matrix: Tensor, maximum_variance_ratio: float, minimum_variance: float
) -> Tensor:
    """A covariance whose variances are at least a part of the largest one, and at least a minimum."""
    variances = tf.matrix_diag_part(covariance_matrix)
    least = tf.reduce_max(variances, axis=-1, keepdims=True) / maximum_variance_ratio
    return tf.matrix_set_diag(covariance_matrix, tf.maximum(tf.maximum(variances, least), minimum_variance))


def sign_magnitude_positive_definite(
    raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0
) -> Tensor:
    """A covariance of any numbers: its root has exponentials as diagonal and signed ones above."""
    raw = tf.convert_to_tensor(raw)

    def spread(scale: Any, rank: Any) -> Tensor:
        scale = tf.convert_to_tensor(scale, raw.dtype.base_dtype)
        return tf.reshape(
            scale, tf.concat([tf.shape(scale), tf.ones([rank - tf.rank(scale)], tf.int32)], axis=0)
        )

    rank = tf.rank(raw)
    magnitude = tf.exp((raw + spread(off_diagonal_scale, rank) + spread(overall_scale, rank)) / 2.0)
    signed = magnitude * tf.nn.softsign(tf.matrix_transpose(raw))
    signed.set_shape(raw.shape)
    diagonal = tf.matrix_diag_part(raw)
    diagonal = tf.exp((diagonal + spread(overall_scale, tf.rank(diagonal))) / 2.0)
    root = tf.matrix_set_diag(tf.matrix_band_part(signed, 0, -1), diagonal)
    return tf.matmul(root, root, transpose_a=True)


def transform_to_covariance_matrices(input_vectors: Tensor, matrix_size: int) -> Tensor:
    """A covariance [matrix_size, matrix_size] of each vector, by a dense layer."""
    size = matrix_size
    raw = tf.contrib.layers.fully_connected(input_vectors, size**2 + 2, activation_fn=None)
    matrices = tf.reshape(raw[..., :-2], tf.concat([tf.shape(raw)[:-1], [size, size]], axis=0))
    return sign_magnitude_positive_definite(matrices, raw[..., -2], raw[..., -1])


def variable_covariance_matrix(
    size: int,
    name: str,
    dtype: DType,
    initial_diagonal_values: Tensor | None = None,
    initial_overall_scale_log: Any = 0.0,
) -> Tensor:
    """A covariance that is learned, as `sign_magnitude_positive_definite` of variables."""
    raw = tf.get_variable(f"{name}_pre_transform", [size, size], dtype, tf.zeros_initializer())
    if initial_diagonal_values is not None:
        raw += tf.matrix_diag(tf.log(initial_diagonal_values))
    off_diagonal = tf.get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=tf.constant(-5.0, dtype)
    )
    overall = tf.get_variable(f"{name}_overall_scale", [], dtype, tf.zeros_initializer())
    scale = tf.convert_to_tensor(initial_overall_scale_log, dtype) + overall
    return tf.identity(sign_magnitude_positive_definite(raw, off_diagonal, scale), name=name)


def log_noninformative_covariance_prior(covariance: Tensor) -> Tensor:
    """The logarithm of a prior density of covariances that says as little as it can."""
    size = tf.shape(covariance)[0]
    covariance += tf.diag(1e-8 * tf.ones([size], covariance.dtype))
    power = -(tf.cast(size + 1, covariance.dtype) / 2.0)
    return power * tf.log(tf.matrix_determinant(covariance))
