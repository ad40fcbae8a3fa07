"""Analyzers: functions of a column that take a pass over all data. Results are constants of the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.transform import reductions, trace
from tideflow.pipeline.transform.quantiles import Boundaries, BoundariesPerKey
from tideflow.pipeline.transform.trace import analyzed, values_of
from tideflow.pipeline.transform.vocabularies import (
    Format,
    InformativeVocabulary,
    KeyedFile,
    Pruning,
    Vocabulary,
)

FILE_FORMATS = ("text", "tfrecord_gzip")

_SUMS = {tf.float16: tf.float32, tf.float32: tf.float32, tf.float64: tf.float64}
_SUMS |= dict.fromkeys((tf.int8, tf.int16, tf.int32, tf.int64), tf.int64)
_SUMS |= dict.fromkeys((tf.uint8, tf.uint16, tf.uint32, tf.uint64), tf.uint64)


def float_type(x: Any, output_dtype: Any = None) -> Any:
    """The type of means: that of floats, float32 for integers."""
    if output_dtype is not None:
        return tf.as_dtype(output_dtype)
    if x.dtype not in _SUMS:
        raise TypeError(f"Tensor type {x.dtype!r} is not supported")
    return x.dtype if x.dtype.is_floating else tf.float32


def _cast(x: Any, dtype: Any) -> Any:
    return trace.with_values(x, tf.cast(values_of(x), dtype))


def _positions(x: Any, reduce_instance_dims: bool, what: str, missing: Any) -> Any:
    """The tensor whose values are reduced: all elements, or rows in which every position is looked at."""
    if reduce_instance_dims:
        return values_of(x)
    if isinstance(x, tf.RaggedTensor):
        raise NotImplementedError(f"Elementwise {what} does not support RaggedTensors.")
    if not isinstance(x, tf.SparseTensor):
        return x
    dense = tf.sparse.to_dense(x, missing, validate_indices=False)
    dense.set_shape(x.get_shape())
    return dense


def _row_shape(x: Any, reduce_instance_dims: bool) -> Any:
    return [] if reduce_instance_dims else x.get_shape()[1:]


def _known(shape: Any) -> tuple[int, ...]:
    """The shape that a reduction begins with: sizes that only the data say begin at nothing."""
    return tuple(size or 0 for size in tf.TensorShape(shape).as_list())


def min(x: Any, reduce_instance_dims: bool = True, name: str | None = None) -> tf.Tensor:
    """The least value of a column.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      name: The name of the operation.

    Returns:
      A tensor of the type of `x`.
    """
    with tf.name_scope(name, "min"):
        return min_and_max(x, reduce_instance_dims)[0]


def max(x: Any, reduce_instance_dims: bool = True, name: str | None = None) -> tf.Tensor:
    """The largest value of a column.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      name: The name of the operation.

    Returns:
      A tensor of the type of `x`.
    """
    with tf.name_scope(name, "max"):
        return min_and_max(x, reduce_instance_dims)[1]


def min_and_max(x: Any, reduce_instance_dims: bool = True) -> tuple[Any, ...]:
    """Both extremes, by one reduction."""
    if x.dtype in (tf.uint32, tf.uint64):
        raise TypeError(f"Tensor type {x.dtype!r} is not supported")
    if not (x.dtype.is_integer or x.dtype.is_floating):
        raise TypeError(f"Cannot find maximum value of {x.dtype!r} with type {x.dtype!r}.")
    sparse = isinstance(x, tf.SparseTensor) and not reduce_instance_dims
    missing = np.nan if x.dtype.is_floating else 0
    values = _positions(x, reduce_instance_dims, "min_and_max", missing)
    reduction = reductions.Extremes(x.dtype.as_numpy_dtype, not reduce_instance_dims, sparse)
    return analyzed(reduction, [values], [x.dtype] * 2, [_row_shape(x, reduce_instance_dims)] * 2)


def sum(x: Any, reduce_instance_dims: bool = True, name: str | None = None) -> tf.Tensor:
    """The sum of a column.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      name: The name of the operation.

    Returns:
      A tensor: int64 or uint64 for integers, float32 for float16, else of the type of `x`.
    """
    with tf.name_scope(name, "sum"):
        if x.dtype not in _SUMS:
            raise TypeError(f"Tensor type {x.dtype!r} is not supported")
        dtype, shape = _SUMS[x.dtype], _row_shape(x, reduce_instance_dims)
        values = _positions(x, reduce_instance_dims, "sum", 0)
        reduction = reductions.Total(dtype.as_numpy_dtype, _known(shape), not reduce_instance_dims)
        return analyzed(reduction, [values], [dtype], [shape])[0]


def size(x: Any, reduce_instance_dims: bool = True, name: str | None = None) -> tf.Tensor:
    """The number of values of a column.

    Args:
      x: A tensor of any type; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one number for all positions of a row; else one for each.
      name: The name of the operation.

    Returns:
      An int64 tensor.
    """
    with tf.name_scope(name, "size"):
        ones = trace.with_values(x, tf.ones_like(values_of(x), tf.int64))
        return sum(ones, reduce_instance_dims)


def mean(
    x: Any, reduce_instance_dims: bool = True, name: str | None = None, output_dtype: Any = None
) -> tf.Tensor:
    """The mean of a column's finite values.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      name: The name of the operation.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.

    Returns:
      A tensor of floats.
    """
    with tf.name_scope(name, "mean"):
        return mean_and_var(x, reduce_instance_dims, output_dtype)[0]


def var(
    x: Any, reduce_instance_dims: bool = True, name: str | None = None, output_dtype: Any = None
) -> tf.Tensor:
    """The variance of a column's finite values.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      name: The name of the operation.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.

    Returns:
      A tensor of floats.
    """
    with tf.name_scope(name, "var"):
        return mean_and_var(x, reduce_instance_dims, output_dtype)[1]


def _moments(
    kind: Any, results: int, x: Any, reduce_instance_dims: bool, output_dtype: Any
) -> tuple[Any, ...]:
    dtype = float_type(x, output_dtype)
    shape = _row_shape(x, reduce_instance_dims)
    values = _positions(_cast(x, dtype), reduce_instance_dims, "moments", np.nan)
    reduction = kind(dtype.as_numpy_dtype, _known(shape), not reduce_instance_dims)
    return analyzed(reduction, [values], [dtype] * results, [shape] * results)


def mean_and_var(x: Any, reduce_instance_dims: bool = True, output_dtype: Any = None) -> tuple[Any, ...]:
    """Both moments, by one reduction."""
    return _moments(reductions.MeanAndVariance, 2, x, reduce_instance_dims, output_dtype)


def tukey_location(
    x: Any, reduce_instance_dims: bool | None = True, output_dtype: Any = None, name: str | None = None
) -> tf.Tensor:
    """The location of Tukey's HH distribution fitted to a column.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.
      name: The name of the operation.

    Returns:
      A tensor of floats.
    """
    with tf.name_scope(name, "tukey_location"):
        return tukey_parameters(x, bool(reduce_instance_dims), output_dtype)[0]


def tukey_scale(
    x: Any, reduce_instance_dims: bool | None = True, output_dtype: Any = None, name: str | None = None
) -> tf.Tensor:
    """The scale of Tukey's HH distribution fitted to a column.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      output_dtype: The type of the result; that of `x`, or float32 for integers, if None.
      name: The name of the operation.

    Returns:
      A tensor of floats.
    """
    with tf.name_scope(name, "tukey_scale"):
        return tukey_parameters(x, bool(reduce_instance_dims), output_dtype)[1]


def tukey_h_params(
    x: Any, reduce_instance_dims: bool = True, output_dtype: Any = None, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """How heavy the left and the right tail are, as the parameters of Tukey's HH distribution.

    Args:
      x: A tensor of numbers; it may be sparse or ragged.
      reduce_instance_dims: Whether it is one value for all positions of a row; else one for each.
      output_dtype: The type of the results; that of `x`, or float32 for integers, if None.
      name: The name of the operation.

    Returns:
      Two tensors of floats.
    """
    with tf.name_scope(name, "tukey_h_params"):
        _, _, left, right = tukey_parameters(x, reduce_instance_dims, output_dtype)
        return left, right


def tukey_parameters(x: Any, reduce_instance_dims: bool = True, output_dtype: Any = None) -> tuple[Any, ...]:
    """All four parameters, by one reduction."""
    return _moments(reductions.TukeyParameters, 4, x, reduce_instance_dims, output_dtype)


def covariance(x: tf.Tensor, dtype: Any, name: str | None = None) -> tf.Tensor:
    """The covariance matrix of the columns of a matrix.

    Args:
      x: A matrix of numbers, a row for each row of the data.
      dtype: The type of the result.
      name: The name of the operation.

    Returns:
      A square matrix.
    """
    with tf.name_scope(name, "covariance"):
        width = _width(x)
        reduction = reductions.Covariance(width, tf.as_dtype(dtype).as_numpy_dtype)
        return analyzed(reduction, [x], [dtype], [[width, width]])[0]


def pca(x: tf.Tensor, output_dim: int, dtype: Any, name: str | None = None) -> tf.Tensor:
    """The directions in which rows vary most: the first eigenvectors of their covariance.

    Args:
      x: A matrix of numbers, a row for each row of the data.
      output_dim: How many directions, at most as many as the matrix has columns.
      dtype: The type of the result.
      name: The name of the operation.

    Returns:
      A matrix with a column for each direction.
    """
    with tf.name_scope(name, "pca"):
        width = _width(x)
        count = output_dim if output_dim < width else width
        reduction = reductions.PrincipalComponents(width, tf.as_dtype(dtype).as_numpy_dtype, count)
        return analyzed(reduction, [x], [dtype], [[width, count]])[0]


def _width(x: Any) -> int:
    if not isinstance(x, tf.Tensor):
        raise TypeError(f"Expected a Tensor, but got {x!r}")
    x.shape.assert_has_rank(2)
    return int(x.shape[1])


def quantiles(
    x: tf.Tensor,
    num_buckets: int,
    epsilon: float,
    weights: tf.Tensor | None = None,
    reduce_instance_dims: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    """The boundaries that part a column's values into buckets of equal size. NaN is left out.

    Args:
      x: A tensor of numbers.
      num_buckets: The number of buckets.
      epsilon: The fraction of all values by which the rank of a boundary may be off. Boundaries of fewer than
        65,536 different values are exact.
      weights: How much each value counts.
      reduce_instance_dims: Whether there are the same boundaries for all positions of a row.
      name: The name of the operation.

    Returns:
      A float32 tensor: `[1, num_buckets - 1]`, or the shape of a row and `num_buckets - 1`.
    """
    with tf.name_scope(name, "quantiles"):
        if not epsilon > 0:
            raise ValueError(f"epsilon must be positive, but it is {epsilon}")
        inner: list[Any] = [] if reduce_instance_dims else x.get_shape().as_list()[1:]
        features = None if reduce_instance_dims else int(np.prod(inner, dtype=int))
        inputs = [x] if weights is None else [x, weights]
        (boundaries,) = analyzed(
            Boundaries(num_buckets, features), inputs, [tf.float32], [[features or 1, num_buckets - 1]]
        )
        return boundaries if len(inner) < 2 else tf.reshape(boundaries, [*inner, num_buckets - 1])


def quantiles_per_key(x: Any, key: Any, num_buckets: int, weights: Any = None) -> tuple[Any, ...]:
    """Keys, and a row of boundaries for each."""
    if key.dtype != tf.string:
        raise ValueError("key must have type tf.string")
    inputs = [key, x] if weights is None else [key, x, weights]
    shapes = [[None], [None, num_buckets - 1]]
    return analyzed(BoundariesPerKey(num_buckets), inputs, [tf.string, tf.float32], shapes)


# ------------------------------------------------------------------------------------------------- by key


def _as_strings(x: Any) -> Any:
    return x if x.dtype == tf.string else tf.strings.as_string(x)


def count_per_key(key: Any, key_vocabulary_filename: str | None = None, name: str | None = None) -> Any:
    """How often each key occurs.

    Args:
      key: A tensor of keys; it may be sparse or ragged.
      key_vocabulary_filename: Writes the counts into a file with this name; "" takes a name of its own.
      name: The name of the operation.

    Returns:
      The sorted keys and their counts, or the path of the file.
    """
    with tf.name_scope(name, "count_per_key"):
        keys = tf.reshape(_as_strings(values_of(key)), [-1])
        if key_vocabulary_filename is not None:
            return _keyed_file(reductions.KeyCounts(), [keys], key_vocabulary_filename)
        found, counts = analyzed(reductions.KeyCounts(), [keys], [tf.string, tf.int64], [[None]] * 2)
        return found if key.dtype == tf.string else tf.strings.to_number(found, key.dtype), counts


def _keyed_file(reduction: Accumulator, inputs: Sequence[Any], filename: str) -> Any:
    return analyzed(KeyedFile(reduction), inputs, [tf.string], [[]], filename or _filename(None, "vocab_"))[0]


def per_key(
    x: Any,
    key: Any,
    kind: Any,
    dtype: Any,
    reduce_instance_dims: bool,
    key_vocabulary_filename: str | None,
) -> Any:
    """Two results of a reduction for each key: keys and results, or the path of a file of them."""
    if not reduce_instance_dims and not isinstance(x, tf.Tensor):
        raise NotImplementedError("Per-key elementwise reduction of Composite Tensors not supported ")
    values, keys = values_and_keys(_cast(x, dtype), key)
    shape = _row_shape(x, reduce_instance_dims)
    reduction = reductions.PerKey(kind(dtype.as_numpy_dtype, not reduce_instance_dims), 2)
    if key_vocabulary_filename is not None:
        return _keyed_file(reduction, [keys, values], key_vocabulary_filename)
    shapes = [[None], *[[None, *tf.TensorShape(shape).as_list()]] * 2]
    return analyzed(reduction, [keys, values], [tf.string, dtype, dtype], shapes)


def extremes_of(dtype: Any, elementwise: bool) -> Accumulator:
    """The reduction of `per_key` for the least and the largest value."""
    return reductions.Extremes(dtype, elementwise)


def negated_extremes_of(dtype: Any, elementwise: bool) -> Accumulator:
    """The same with the least value negated, as files have it."""
    return _NegatedExtremes(dtype, elementwise)


class _NegatedExtremes(reductions.Extremes):
    def extract(self, state: Any) -> tuple[np.ndarray, ...]:
        least, largest = super().extract(state)
        return -least, largest


def moments_of(dtype: Any, elementwise: bool) -> Accumulator:
    """The reduction of `per_key` for mean and variance."""
    return reductions.MeanAndVariance(dtype, (), elementwise)


def values_and_keys(x: Any, key: Any) -> tuple[Any, Any]:
    """The elements of `x` with the key of each: keys have the form of `x`, or there is one for each row."""
    if isinstance(x, tf.Tensor):
        if not isinstance(key, tf.Tensor):
            raise ValueError("A dense key is required if x is dense")
        return x, key
    if isinstance(x, tf.SparseTensor):
        if isinstance(key, tf.SparseTensor):
            with tf.control_dependencies([tf.debugging.assert_equal(x.indices, key.indices)]):
                return tf.identity(x.values), tf.identity(key.values)
        if isinstance(key, tf.Tensor):
            return x.values, tf.gather(key, x.indices[:, 0])
        raise ValueError("A sparse or dense key is required if x is sparse")
    if isinstance(key, tf.RaggedTensor):
        return x.flat_values, key.flat_values
    if isinstance(key, tf.Tensor):
        return x.flat_values, tf.gather(key, rows_of(x))
    raise ValueError("A ragged or dense key is required if x is ragged")


def rows_of(x: Any) -> Any:
    """The row of each element of a ragged tensor."""
    outer, *inner = x.nested_value_rowids()
    for ids in inner:
        outer = tf.gather(outer, ids)
    return outer


def histogram(
    x: Any, boundaries: Any = None, categorical: bool | None = False, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """How many values are in each bucket, or how often each value occurs.

    Args:
      x: A tensor; it may be sparse or ragged.
      boundaries: The boundaries of buckets, their number between the least and the largest value, or None for
        ten buckets from 0 to 1.
      categorical: Whether values are counted as they are.
      name: The name of the operation.

    Returns:
      The counts, and the boundaries or the values.
    """
    with tf.name_scope(name, "histogram"):
        x = tf.reshape(values_of(x), [-1])
        if categorical:
            keys, counts = count_per_key(_as_strings(x))
            return counts, keys if x.dtype == tf.string else tf.strings.to_number(keys, tf.int64)
        if boundaries is None:
            boundaries = tf.range(11, dtype=tf.float32) / 10.0
        elif isinstance(boundaries, int) or (
            isinstance(boundaries, tf.Tensor) and boundaries.shape.ndims == 0
        ):
            least, largest = min_and_max(x)
            boundaries = tf.linspace(
                tf.cast(least, tf.float32), tf.cast(largest, tf.float32), tf.cast(boundaries, tf.int64)
            )
        # The last bucket has the largest value as well: boundaries are moved a little down.
        boundaries = tf.expand_dims(tf.cast(boundaries, tf.float32), 0) - 0.0001
        buckets = bucket_of(x, boundaries)
        width = tf.size(boundaries) - 1
        one_hot = tf.one_hot(buckets, width, dtype=tf.int64)
        reduction = reductions.Total(np.int64, (0,), True)
        (counts,) = analyzed(reduction, [one_hot], [tf.int64], [[None]])
        return tf.pad(counts, [[0, width - tf.size(counts)]]), boundaries


def bucket_of(x: Any, boundaries: Any) -> Any:
    """The bucket of a histogram that a value is in; what is outside belongs to the first or the last."""
    inner = tf.reshape(boundaries, [-1])[1:-1]
    return tf.reshape(tf.searchsorted(inner, tf.cast(x, tf.float32), out_type=tf.int64), tf.shape(x))


# ------------------------------------------------------------------------------------------- vocabularies


def _filename(vocab_filename: str | None, prefix: str) -> str:
    """A name that a file can have: the given one, or one made of the name scope."""
    if vocab_filename is None:
        vocab_filename = prefix + tf.get_default_graph().get_name_scope()
    return sanitized_vocab_filename(vocab_filename)


def sanitized_vocab_filename(filename: str) -> str:
    """The name of a file, with `_` and `-` for what is neither a letter nor a digit."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "_", filename).strip())


def _limits(top_k: Any, threshold: Any, suffix: str = "") -> tuple[int | None, float | None]:
    if top_k is not None and int(top_k) <= 0:
        raise ValueError(f"{suffix}top_k must be positive, but got: {top_k!r}")
    if threshold is not None and float(threshold) < 0:
        raise ValueError(f"{suffix}frequency_threshold must be non-negative, but got: {threshold!r}")
    return None if top_k is None else int(top_k), None if threshold is None else float(threshold)


def vocabulary(
    x: Any,
    *,
    top_k: int | None = None,
    frequency_threshold: float | None = None,
    vocab_filename: str | None = None,
    store_frequency: bool | None = False,
    reserved_tokens: Any = None,
    weights: tf.Tensor | None = None,
    labels: Any = None,
    use_adjusted_mutual_info: bool = False,
    min_diff_from_avg: float | None = None,
    coverage_top_k: int | None = None,
    coverage_frequency_threshold: float | None = None,
    key_fn: Callable[[Any], Any] | None = None,
    fingerprint_shuffle: bool | None = False,
    file_format: str = "text",
    name: str | None = None,
) -> tf.Tensor:
    """Writes the distinct values of a column into a file, the most frequent ones first.

    Empty strings and strings with line breaks are left out, except of TFRecord files.

    Args:
      x: A tensor of strings or integers; it may be sparse or ragged.
      top_k: How many values are kept at most.
      frequency_threshold: How often a value must occur to be kept; with labels, how informative it must be.
      vocab_filename: The name of the file; one made of the name scope if None.
      store_frequency: Whether lines begin with the frequency.
      reserved_tokens: Tokens that come first, whatever the data.
      weights: How much each value counts.
      labels: An integer label of each row; values are ordered by their mutual information with it.
      use_adjusted_mutual_info: Whether the information that chance would give is taken off.
      min_diff_from_avg: How much more or less than expected a value must occur with a label to tell anything
        about it.
      coverage_top_k: How many values of each key are kept besides.
      coverage_frequency_threshold: How often a value must occur to be kept for its key.
      key_fn: The key of a value, for the two arguments before.
      fingerprint_shuffle: Whether values are in the order of their hashes.
      file_format: "text" or "tfrecord_gzip".
      name: The name of the operation.

    Returns:
      The path of the file, a scalar string tensor.

    Raises:
      ValueError: If arguments do not fit together.
    """
    top_k, frequency_threshold = _limits(top_k, frequency_threshold)
    coverage_top_k, coverage_frequency_threshold = _limits(coverage_top_k, coverage_frequency_threshold)
    if (coverage_top_k or coverage_frequency_threshold) and not key_fn:
        raise ValueError(
            "You must specify `key_fn` if you specify `coverage_top_k or `coverage_frequency_threshold` in "
            "`vocabulary`."
        )
    if key_fn and not (coverage_top_k or coverage_frequency_threshold):
        raise ValueError(
            "You must specify `coverage_top_k`  or `coverage_frequency_threshold` if you specify `key_fn` in "
            "`vocabulary`."
        )
    if file_format not in FILE_FORMATS:
        raise ValueError(
            f'"{file_format}" is not an accepted file_format. It should be one of: {FILE_FORMATS}'
        )
    if x.dtype != tf.string and not x.dtype.is_integer:
        raise ValueError(f"expected tf.string or integer but got {x.dtype!r}")
    if labels is not None and not labels.dtype.is_integer:
        raise ValueError(f"expected integer labels but got {labels.dtype!r}")
    with tf.name_scope(name, "vocabulary"):
        filename = _filename(vocab_filename, "vocab_frequency_" if store_frequency else "vocab_")
        asset = f"{filename}.tfrecord.gz" if file_format == "tfrecord_gzip" else filename
        how = Format(x.dtype == tf.string, bool(store_frequency), bool(fingerprint_shuffle), file_format)
        reduction: Vocabulary
        if labels is None:
            coverage = (
                Pruning(coverage_top_k, frequency=coverage_frequency_threshold or 0.0) if key_fn else None
            )
            pruning = Pruning(top_k, frequency=frequency_threshold or 0.0)
            reduction = Vocabulary(pruning, how, coverage, key_fn)
            inputs = [values_of(x)] if weights is None else [values_of(x), weights]
        else:
            coverage = Pruning(coverage_top_k, _least(coverage_frequency_threshold)) if key_fn else None
            pruning = Pruning(top_k, _least(frequency_threshold))
            reduction = InformativeVocabulary(
                pruning, how, coverage, key_fn, use_adjusted_mutual_info, min_diff_from_avg
            )
            inputs = _with_labels(x, labels, weights)
        reserved = [] if reserved_tokens is None else [tf.convert_to_tensor(reserved_tokens, tf.string)]
        path, entries = analyzed(reduction, inputs, [tf.string, tf.int64], [[], []], asset, extras=reserved)
        traced = trace.active_trace()
        key = vocab_filename or filename
        traced.assets[key] = asset
        traced.vocabulary_sizes[key] = (
            entries + tf.cast(tf.size(reserved[0]), tf.int64) if reserved else entries
        )
        return path


def _least(threshold: float | None) -> float:
    return -np.inf if threshold is None else threshold


def _with_labels(x: Any, labels: Any, weights: Any) -> list[Any]:
    """Tokens, the labels and the weight of each, and the labels and the weights of all rows."""
    if isinstance(labels, tf.SparseTensor):
        labels = tf.sparse.to_dense(_cast(labels, tf.int64), -1, validate_indices=False)
    else:
        labels = tf.reshape(tf.cast(labels, tf.int64), [-1, 1])
    values = values_of(x)
    if isinstance(x, tf.SparseTensor):
        rows = x.indices[:, 0]
    elif isinstance(x, tf.RaggedTensor):
        rows = rows_of(x)
    else:
        width = tf.size(x) // tf.maximum(tf.shape(x)[0], 1)
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(tf.shape(x)[0]), 1), [1, width]), [-1])
    of_rows = tf.ones([tf.shape(labels)[0]], tf.float32) if weights is None else tf.reshape(weights, [-1])
    of_values = tf.ones([tf.size(values)], tf.float32) if weights is None else tf.reshape(weights, [-1])
    return [tf.reshape(values, [-1]), tf.gather(labels, rows), of_values, labels, of_rows]
