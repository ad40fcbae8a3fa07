"""Matrices of state space models: blocks, powers, covariances that stay positive definite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf

if TYPE_CHECKING:
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor


def block_diagonal(matrices: Sequence[Any], dtype: DType, name: str) -> Tensor:
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


def matrix_powers(matrix: Tensor, powers: Tensor) -> Tensor:
    """The matrix to each of the powers, [powers, size, size], by repeated squaring."""
    count, size = tf.size(powers), tf.shape(matrix)[0]
    identities = tf.eye(size, batch_shape=[count], dtype=matrix.dtype)

    def square(base: Tensor, left: Tensor, product: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        goes_on = left > 1
        is_odd = tf.logical_and(goes_on, tf.equal(left % 2, 1))
        product = tf.where(is_odd, tf.matmul(product, base), product)
        base = tf.where(goes_on, tf.matmul(base, base), base)
        return base, tf.where(goes_on, left // 2, left), product

    start = [tf.tile(matrix[None], [count, 1, 1]), tf.cast(powers, tf.int32), identities]
    base, left, product = tf.while_loop(lambda _, left, __: tf.reduce_any(left > 1), square, start)
    return tf.where(tf.equal(left, 0), identities, tf.matmul(base, product))


def power_sums(count: Tensor, matrix: Tensor, multiplier: Tensor) -> Tensor:
    """The sums over p < n of matrix^p * multiplier * (matrix^p)^T, for n from 0 to count."""
    size = tf.shape(matrix)[0]
    identity = tf.eye(size, dtype=matrix.dtype)
    identity.set_shape(matrix.shape)
    each = tf.range(tf.cast(count, tf.int32) - 1)
    powers = tf.scan(lambda power, _: tf.matmul(power, matrix), each, initializer=identity)
    scaled = tf.reshape(tf.matmul(tf.reshape(powers, [-1, size]), multiplier), tf.shape(powers))
    terms = tf.concat([multiplier[None], tf.matmul(scaled, powers, adjoint_b=True)], axis=0)
    return tf.concat([tf.zeros_like(multiplier)[None], tf.cumsum(terms)], axis=0)


def clip_covariance(covariance: Tensor, maximum_ratio: float, minimum: float) -> Tensor:
    """A covariance whose variances are at least a part of the largest one, and at least `minimum`."""
    variances = tf.matrix_diag_part(covariance)
    least = tf.reduce_max(variances, axis=-1, keepdims=True) / maximum_ratio
    return tf.matrix_set_diag(covariance, tf.maximum(tf.maximum(variances, least), minimum))


def positive_definite(raw: Tensor, off_diagonal_scale: Any, overall_scale: Any) -> Tensor:
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


def covariances_of(vectors: Tensor, size: int) -> Tensor:
    """A covariance [size, size] of each vector, by a dense layer."""
    raw = tf.contrib.layers.fully_connected(vectors, size**2 + 2, activation_fn=None)
    matrices = tf.reshape(raw[..., :-2], tf.concat([tf.shape(raw)[:-1], [size, size]], axis=0))
    return positive_definite(matrices, raw[..., -2], raw[..., -1])


def covariance_variable(
    size: int,
    name: str,
    dtype: DType,
    initial_diagonal: Tensor | None = None,
    initial_log_scale: Any = 0.0,
) -> Tensor:
    """A covariance that is learned, as `positive_definite` of variables."""
    raw = tf.get_variable(f"{name}_pre_transform", [size, size], dtype, tf.zeros_initializer())
    if initial_diagonal is not None:
        raw += tf.matrix_diag(tf.log(initial_diagonal))
    off_diagonal = tf.get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=tf.constant(-5.0, dtype)
    )
    overall = tf.get_variable(f"{name}_overall_scale", [], dtype, tf.zeros_initializer())
    scale = tf.convert_to_tensor(initial_log_scale, dtype) + overall
    return tf.identity(positive_definite(raw, off_diagonal, scale), name=name)


def log_covariance_prior(covariance: Tensor) -> Tensor:
    """The logarithm of a prior density of covariances that says as little as it can."""
    size = tf.shape(covariance)[0]
    covariance += tf.diag(1e-8 * tf.ones([size], covariance.dtype))
    power = -(tf.cast(size + 1, covariance.dtype) / 2.0)
    return power * tf.log(tf.matrix_determinant(covariance))
