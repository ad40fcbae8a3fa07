"""Mappers that scale a column: by its extremes, by its moments, or to a normal distribution."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.pipeline.transform import analyzers, tukey
from tideflow.pipeline.transform.keys import of_rank, row_of_key
from tideflow.pipeline.transform.trace import values_of, with_values

_where = tf.where_v2


def _at_elements(x: Any, statistic: Any, elementwise: bool, what: str) -> Any:
    """A statistic of each position, where the elements of a sparse tensor are."""
    if not elementwise or isinstance(x, tf.Tensor):
        return statistic
    if isinstance(x, tf.RaggedTensor):
        raise NotImplementedError(f"Elementwise {what} does not support RaggedTensors.")
    return tf.gather_nd(statistic, x.indices[:, 1:])


def scale_by_min_max(
    x: Any,
    output_min: float = 0.0,
    output_max: float = 1.0,
    elementwise: bool = False,
    name: str | None = None,
) -> Any:
    """Scales a column so that its values lie between two numbers. A constant column becomes its sigmoid.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      output_min: What the least value becomes.
      output_max: What the largest value becomes.
      elementwise: Whether each position of a row is scaled for itself.
      name: The name of the operation.

    Returns:
      A float32 tensor in the form of `x`.
    """
    with tf.name_scope(name, "scale_by_min_max"):
        return _scaled_by_min_max(x, None, output_min, output_max, elementwise, None)


def scale_by_min_max_per_key(
    x: Any,
    key: Any,
    output_min: float = 0.0,
    output_max: float = 1.0,
    elementwise: bool = False,
    key_vocabulary_filename: str | None = None,
    name: str | None = None,
) -> Any:
    """Scales the values of each key so that they lie between two numbers.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      key: The keys, strings: in the form of `x`, or one for each row.
      output_min: What the least value becomes.
      output_max: What the largest value becomes.
      elementwise: Whether each position of a row is scaled for itself.
      key_vocabulary_filename: Keeps the values of keys in a file with this name, for many keys; "" takes a
        name of its own.
      name: The name of the operation.

    Returns:
      A float32 tensor in the form of `x`.
    """
    with tf.name_scope(name, "scale_by_min_max_per_key"):
        if key is None:
            raise ValueError("key is None, call `tft.scale_by_min_max` instead")
        return _scaled_by_min_max(x, key, output_min, output_max, elementwise, key_vocabulary_filename)


def scale_to_0_1(x: Any, elementwise: bool = False, name: str | None = None) -> Any:
    """Scales a column so that its values lie between 0 and 1.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      elementwise: Whether each position of a row is scaled for itself.
      name: The name of the operation.

    Returns:
      A float32 tensor in the form of `x`.
    """
    with tf.name_scope(name, "scale_to_0_1"):
        return _scaled_by_min_max(x, None, 0.0, 1.0, elementwise, None)


def scale_to_0_1_per_key(
    x: Any,
    key: Any,
    elementwise: bool = False,
    key_vocabulary_filename: str | None = None,
    name: str | None = None,
) -> Any:
    """Scales the values of each key so that they lie between 0 and 1.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      key: The keys, strings: in the form of `x`, or one for each row.
      elementwise: Whether each position of a row is scaled for itself.
      key_vocabulary_filename: Keeps the values of keys in a file with this name, for many keys; "" takes a
        name of its own.
      name: The name of the operation.

    Returns:
      A float32 tensor in the form of `x`.
    """
    with tf.name_scope(name, "scale_to_0_1_per_key"):
        if key is None:
            raise ValueError("key is None, call `tft.scale_to_0_1` instead")
        return _scaled_by_min_max(x, key, 0.0, 1.0, elementwise, key_vocabulary_filename)


def _scaled_by_min_max(
    x: Any, key: Any, output_min: float, output_max: float, elementwise: bool, filename: str | None
) -> Any:
    if output_min >= output_max:
        raise ValueError("output_min must be less than output_max")
    x = with_values(x, tf.cast(values_of(x), tf.float32))
    if key is None:
        least, largest = analyzers.min_and_max(x, not elementwise)
        least, largest = (_at_elements(x, each, elementwise, "min_and_max") for each in (least, largest))
    elif filename is None:
        found = analyzers.per_key(x, key, analyzers.extremes_of, tf.float32, not elementwise, None)
        least, largest = _of_keys(found, x, key)
    else:
        _refuse_elementwise(elementwise)
        kind = analyzers.negated_extremes_of
        with tf.name_scope("min_and_max_per_key"):
            path = analyzers.per_key(x, key, kind, tf.float32, True, filename)
        minus_least, largest = _from_file(path, x, key)
        least = -minus_least
    values = values_of(x)
    offset = values - least
    varies = tf.logical_and(least < largest, tf.ones_like(offset, tf.bool))
    scaled = _where(varies, offset / (largest - least), tf.sigmoid(values))
    return with_values(x, scaled * (output_max - output_min) + output_min)


def scale_to_z_score(
    x: Any, elementwise: bool = False, name: str | None = None, output_dtype: Any = None
) -> Any:
    """Scales a column to mean 0 and variance 1.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      elementwise: Whether each position of a row is scaled for itself.
      name: The name of the operation.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.

    Returns:
      A tensor of floats in the form of `x`.
    """
    with tf.name_scope(name, "scale_to_z_score"):
        mean, variance = analyzers.mean_and_var(x, not elementwise, output_dtype)
        mean, variance = (_at_elements(x, each, elementwise, "scale_to_z_score") for each in (mean, variance))
        return with_values(x, _standardized(values_of(x), mean, tf.sqrt(variance)))


def scale_to_z_score_per_key(
    x: Any,
    key: Any,
    elementwise: bool = False,
    key_vocabulary_filename: str | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Any:
    """Scales the values of each key to mean 0 and variance 1.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      key: The keys, strings: in the form of `x`, or one for each row.
      elementwise: Whether each position of a row is scaled for itself.
      key_vocabulary_filename: Keeps the values of keys in a file with this name, for many keys; "" takes a
        name of its own.
      name: The name of the operation.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.

    Returns:
      A tensor of floats in the form of `x`.
    """
    with tf.name_scope(name, "scale_to_z_score_per_key"):
        if key is None:
            raise ValueError("key is None, call `tft.scale_to_z_score` instead")
        dtype = analyzers.float_type(x, output_dtype)
        kind = analyzers.moments_of
        if key_vocabulary_filename is None:
            found = analyzers.per_key(x, key, kind, dtype, not elementwise, None)
            mean, variance = _of_keys(found, x, key)
        else:
            _refuse_elementwise(elementwise)
            with tf.name_scope("mean_and_var_per_key"):
                path = analyzers.per_key(x, key, kind, dtype, True, key_vocabulary_filename)
            mean, variance = (tf.cast(each, dtype) for each in _from_file(path, x, key))
        return with_values(x, _standardized(values_of(x), mean, tf.sqrt(variance)))


def scale_to_gaussian(
    x: Any, elementwise: bool = False, name: str | None = None, output_dtype: Any = None
) -> Any:
    """Brings a column with heavy tails near to a normal distribution with mean 0 and variance 1.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      elementwise: Whether each position of a row is scaled for itself.
      name: The name of the operation.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.

    Returns:
      A tensor of floats in the form of `x`.
    """
    with tf.name_scope(name, "scale_to_gaussian"):
        parameters = analyzers.tukey_parameters(x, not elementwise, output_dtype)
        variance = analyzers.var(x, not elementwise, output_dtype=output_dtype)
        location, scale, left, right, variance = (
            _at_elements(x, each, elementwise, "scale_to_gaussian") for each in (*parameters, variance)
        )
        heavy = tf.logical_or(left > 0.0, right > 0.0)
        scaled = _standardized(values_of(x), location, _where(heavy, scale, tf.sqrt(variance)))
        return with_values(x, tukey.inverse_tukey(scaled, left, right))


def _standardized(values: Any, centre: Any, spread: Any) -> Any:
    offset = tf.cast(values, centre.dtype) - centre
    varies = tf.logical_and(tf.not_equal(spread, 0), tf.ones_like(offset, tf.bool))
    return _where(varies, offset / spread, offset)


def _refuse_elementwise(elementwise: bool) -> None:
    if elementwise:
        raise NotImplementedError("Elementwise scaling does not support key_vocabulary_filename")


def _of_keys(found: tuple[Any, ...], x: Any, key: Any) -> list[Any]:
    """The results of each element's key; zeros for a key that the data did not have."""
    keys, *columns = found
    _, wanted = analyzers.values_and_keys(x, key)
    rows = row_of_key(wanted, keys)
    rows = _where(rows >= 0, rows, tf.fill(tf.shape(rows), tf.size(keys, out_type=tf.int64)))
    rank = values_of(x).get_shape().ndims
    results = []
    for column in columns:
        padded = tf.pad(column, [[0, 1]] + [[0, 0]] * (column.shape.ndims - 1))
        results.append(of_rank(tf.gather(padded, rows), rank))
    return results


def _from_file(path: Any, x: Any, key: Any) -> list[Any]:
    """The two numbers that a file has for each element's key; zeros for a key that it does not have."""
    _, wanted = analyzers.values_and_keys(x, key)
    initializer = tf.lookup.TextFileInitializer(path, tf.string, 1, tf.string, 0, delimiter=" ")
    texts = tf.lookup.StaticHashTable(initializer, "0,0").lookup(wanted)
    parts = tf.string_split(tf.reshape(texts, [-1]), ",")
    pairs = tf.strings.to_number(tf.reshape(parts.values, [-1, 2]))
    rank = values_of(x).get_shape().ndims
    return [of_rank(tf.reshape(pairs[:, i], tf.shape(wanted)), rank) for i in range(2)]
