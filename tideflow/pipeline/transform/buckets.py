"""Mappers that put the values of a column into buckets."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.pipeline.transform import analyzers
from tideflow.pipeline.transform.keys import of_rank, row_of_key
from tideflow.pipeline.transform.trace import set_range, values_of, with_values

_where = tf.where_v2


def _check_buckets(num_buckets: Any, epsilon: float | None) -> float:
    if not isinstance(num_buckets, int):
        raise TypeError(f"num_buckets must be an int, got {type(num_buckets)}")
    if num_buckets < 1:
        raise ValueError(f"Invalid num_buckets {num_buckets}")
    return min(1.0 / num_buckets, 0.01) if epsilon is None else epsilon


def bucketize(
    x: Any,
    num_buckets: int,
    epsilon: float | None = None,
    weights: tf.Tensor | None = None,
    elementwise: bool = False,
    name: str | None = None,
) -> Any:
    """The number of the bucket that a value is in, where buckets part the column evenly.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      num_buckets: The number of buckets.
      epsilon: The fraction of all values by which a boundary may be off; 0.01 at most if None.
      weights: How much each value counts.
      elementwise: Whether each position of a row has boundaries of its own.
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `x`.
    """
    with tf.name_scope(name, "bucketize"):
        epsilon = _check_buckets(num_buckets, epsilon)
        if elementwise and not isinstance(x, tf.Tensor):
            raise ValueError("bucketize requires `x` to be dense if `elementwise=True`")
        boundaries = analyzers.quantiles(values_of(x), num_buckets, epsilon, weights, not elementwise)
        if not elementwise:
            return apply_buckets(x, boundaries)
        rows = tf.reshape(boundaries, [-1, num_buckets - 1])
        columns = tf.reshape(x, [-1, rows.shape[0]])
        parts = [apply_buckets(columns[:, i], tf.expand_dims(rows[i], 0)) for i in range(int(rows.shape[0]))]
        return tf.reshape(tf.stack(parts, axis=1), [-1, *x.get_shape().as_list()[1:]])


def bucketize_per_key(
    x: Any,
    key: Any,
    num_buckets: int,
    epsilon: float | None = None,
    weights: Any = None,
    name: str | None = None,
) -> Any:
    """The number of the bucket that a value is in, where buckets part the values of its key evenly.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      key: The keys, strings, in the form of `x`.
      num_buckets: The number of buckets.
      epsilon: The fraction of all values by which a boundary may be off; 0.01 at most if None.
      weights: How much each value counts, in the form of `x`.
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `x`; -1 for keys that the data did not have.
    """
    with tf.name_scope(name, "bucketize_per_key"):
        epsilon = _check_buckets(num_buckets, epsilon)
        values, wanted = tf.cast(values_of(x), tf.float32), values_of(key)
        weights = None if weights is None else values_of(weights)
        keys, boundaries = analyzers.quantiles_per_key(values, wanted, num_buckets, weights)
        rows = row_of_key(wanted, keys)
        padded = tf.pad(boundaries, [[0, 1], [0, 0]])  # the last row is for keys that are not there
        own = tf.gather(
            padded, _where(rows >= 0, rows, tf.fill(tf.shape(rows), tf.size(keys, out_type=tf.int64)))
        )
        buckets = tf.reduce_sum(tf.cast(tf.expand_dims(values, -1) >= own, tf.int64), -1)
        buckets = _where(rows >= 0, buckets, rows)
        set_range(buckets, tf.constant(0, tf.int64), tf.constant(num_buckets - 1, tf.int64))
        return with_values(x, buckets)


def apply_buckets(x: Any, bucket_boundaries: Any, name: str | None = None) -> Any:
    """The number of the bucket that a value is in. A value that equals a boundary is above it.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      bucket_boundaries: A matrix with one row of boundaries, sorted.
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `x`.
    """
    with tf.name_scope(name, "apply_buckets"):
        boundaries = tf.convert_to_tensor(bucket_boundaries)
        boundaries.shape.assert_has_rank(2)
        buckets = _above(values_of(x), boundaries)
        set_range(buckets, tf.constant(0, tf.int64), tf.cast(tf.shape(boundaries)[1], tf.int64))
        return with_values(x, buckets)


def _above(values: Any, boundaries: Any) -> Any:
    """How many boundaries a value is not below, compared in the type that holds more."""
    flat, limits = tf.reshape(values, [-1]), tf.reshape(boundaries, [-1])
    if flat.dtype.max > limits.dtype.max:
        limits = tf.cast(limits, flat.dtype)
    else:
        flat = tf.cast(flat, limits.dtype)
    return tf.reshape(tf.searchsorted(limits, flat, side="right", out_type=tf.int64), tf.shape(values))


def apply_buckets_with_interpolation(x: Any, bucket_boundaries: Any, name: str | None = None) -> Any:
    """A number from 0 to 1 that says between which boundaries a value is, and where between them.

    Args:
      x: A tensor of numbers; it may be sparse or ragged. NaN becomes 0.5.
      bucket_boundaries: A matrix with one row of boundaries, sorted; infinite ones are left out.
      name: The name of the operation.

    Returns:
      A float32 tensor, or float64 if `x` is, in the form of `x`.
    """
    with tf.name_scope(name, "buckets_with_interpolation"):
        boundaries = tf.convert_to_tensor(bucket_boundaries)
        boundaries.shape.assert_has_rank(2)
        values = values_of(x)
        if not (values.dtype.is_floating or values.dtype.is_integer):
            raise ValueError(f"Input tensor to be normalized must be numeric, got {values.dtype}.")
        if boundaries.dtype.is_floating:
            boundaries = tf.expand_dims(tf.boolean_mask(boundaries, tf.math.is_finite(boundaries)), 0)
        dtype = tf.float64 if x.dtype == tf.float64 else tf.float32
        count = tf.size(boundaries, out_type=tf.int64)
        with tf.control_dependencies([tf.debugging.assert_greater(count, tf.constant(0, tf.int64))]):
            bucket = _above(values, boundaries)
        limits = tf.cast(boundaries[0], dtype)
        lower, upper = (
            tf.gather(limits, tf.maximum(bucket - 1, 0)),
            tf.gather(limits, tf.minimum(bucket, count - 1)),
        )
        inside = tf.logical_and(bucket > 0, bucket < count)
        half = tf.fill(tf.shape(values), tf.constant(0.5, dtype))
        width = upper - lower
        share = _where(width > 0, (tf.cast(values, dtype) - lower) / width, half)
        share = _where(inside, share, tf.zeros_like(share))
        place = tf.cast(tf.maximum(bucket - 1, 0), dtype) + share
        result = place / tf.cast(tf.maximum(count - 1, 1), dtype)
        if values.dtype.is_floating:
            result = _where(tf.math.is_nan(values), half, result)
        # A single boundary has nothing between: values below it are 0, others 1.
        result = _where(tf.equal(count, 1), tf.cast(bucket > 0, dtype), result)
        return with_values(x, result)


def estimated_probability_density(
    x: tf.Tensor, boundaries: Any = None, categorical: bool = False, name: str | None = None
) -> tf.Tensor:
    """How probable a value is, as the column's histogram says.

    Args:
      x: A tensor with one value a row.
      boundaries: The boundaries of the histogram's buckets, or how many there are.
      categorical: Whether values are counted as they are.
      name: The name of the operation.

    Returns:
      A float32 tensor of densities; of probabilities for categories.
    """
    with tf.name_scope(name, "estimated_probability_density"):
        if not isinstance(x, tf.Tensor):
            raise NotImplementedError("estimated probability density does not support Composite Tensors")
        rank = x.get_shape().rank or 1
        if rank > 1 and x.shape[-1] > 1:
            raise NotImplementedError("estimated probability density does not support multiple dimensions")
        counts, limits = analyzers.histogram(x, boundaries=boundaries, categorical=categorical)
        counts = tf.cast(counts, tf.float32)
        density = counts / tf.reduce_sum(counts)
        values = tf.reshape(x, [-1])
        if categorical:
            bucket = row_of_key(values, limits)
        else:
            width = (limits[0, -1] - limits[0, 0]) / tf.cast(tf.size(density), tf.float32)
            density = density / width
            bucket = analyzers.bucket_of(values, limits)
        bucket = of_rank(bucket, rank)
        found = tf.gather(density, tf.maximum(bucket, 0))
        return _where(bucket >= 0, found, tf.zeros_like(found))
