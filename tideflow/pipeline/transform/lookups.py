"""Mappers that replace values by numbers: by a vocabulary, or by hashing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.pipeline.transform import analyzers
from tideflow.pipeline.transform.trace import range_of, set_range, values_of, with_values


def compute_and_apply_vocabulary(
    x: Any,
    *,
    default_value: Any = -1,
    top_k: int | None = None,
    frequency_threshold: float | None = None,
    num_oov_buckets: int = 0,
    vocab_filename: str | None = None,
    weights: tf.Tensor | None = None,
    labels: tf.Tensor | None = None,
    use_adjusted_mutual_info: bool = False,
    min_diff_from_avg: float = 0.0,
    coverage_top_k: int | None = None,
    coverage_frequency_threshold: float | None = None,
    key_fn: Callable[[Any], Any] | None = None,
    fingerprint_shuffle: bool = False,
    file_format: str = "text",
    store_frequency: bool | None = False,
    reserved_tokens: Any = None,
    name: str | None = None,
) -> Any:
    """Makes a vocabulary of a column, and replaces values by their numbers in it.

    Args:
      x: A tensor of strings or integers; it may be sparse or ragged.
      default_value: The number of values that are not in the vocabulary, if there are no buckets for them.
      top_k: How many values are kept at most.
      frequency_threshold: How often a value must occur to be kept; with labels, how informative it must be.
      num_oov_buckets: The number of buckets, behind the vocabulary, that other values are hashed into.
      vocab_filename: The name of the file; one made of the name scope if None.
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
      store_frequency: Whether lines begin with the frequency; spaces in values become `__SPACE__` then.
      reserved_tokens: Tokens that come first, whatever the data.
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `x`.
    """
    with tf.name_scope(name, "compute_and_apply_vocabulary"):
        if store_frequency and file_format == "text" and x.dtype == tf.string:
            x = with_values(x, tf.strings.regex_replace(values_of(x), " ", "__SPACE__"))
        path = analyzers.vocabulary(
            x,
            top_k=top_k,
            frequency_threshold=frequency_threshold,
            vocab_filename=vocab_filename,
            store_frequency=store_frequency,
            reserved_tokens=reserved_tokens,
            weights=weights,
            labels=labels,
            use_adjusted_mutual_info=use_adjusted_mutual_info,
            min_diff_from_avg=min_diff_from_avg,
            coverage_top_k=coverage_top_k,
            coverage_frequency_threshold=coverage_frequency_threshold,
            key_fn=key_fn,
            fingerprint_shuffle=fingerprint_shuffle,
            file_format=file_format,
        )
        return _looked_up(
            x, path, default_value, num_oov_buckets, None, file_format, bool(store_frequency), None
        )


def apply_vocabulary(
    x: Any,
    deferred_vocab_filename_tensor: Any,
    *,
    default_value: Any = -1,
    num_oov_buckets: int = 0,
    lookup_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
    file_format: str = "text",
    name: str | None = None,
) -> Any:
    """Replaces values by their numbers in a vocabulary.

    Args:
      x: A tensor of strings or integers; it may be sparse or ragged.
      deferred_vocab_filename_tensor: The path of the vocabulary's file, as `vocabulary` returns it.
      default_value: The number of values that are not in the vocabulary, if there are no buckets for them.
      num_oov_buckets: The number of buckets, behind the vocabulary, that other values are hashed into.
      lookup_fn: A function of `x` and the path that returns the numbers and the size of the table instead.
      file_format: "text" or "tfrecord_gzip".
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `x`.
    """
    path = deferred_vocab_filename_tensor
    return _looked_up(x, path, default_value, num_oov_buckets, lookup_fn, file_format, False, name)


def _looked_up(
    x: Any,
    path: Any,
    default_value: Any,
    num_oov_buckets: int,
    lookup_fn: Callable[[Any, Any], tuple[Any, Any]] | None,
    file_format: str,
    has_frequency: bool,
    name: str | None,
) -> Any:
    with tf.name_scope(name, "apply_vocab"):
        if x.dtype != tf.string and not x.dtype.is_integer:
            raise ValueError(f"expected tf.string or tf.int[8|16|32|64] but got {x.dtype!r}")
        if lookup_fn is not None:
            result, size = lookup_fn(x, path)
        else:
            if path is None or (isinstance(path, (str, bytes)) and not path):
                raise ValueError("`deferred_vocab_filename_tensor` must not be empty.")
            table = _table(x, path, default_value, num_oov_buckets, file_format, has_frequency)
            result, size = with_values(x, table.lookup(values_of(x))), table.size()
        least, largest = tf.constant(0, tf.int64), size - 1
        if num_oov_buckets <= 0:
            default = tf.cast(default_value, tf.int64)
            least, largest = tf.minimum(least, default), tf.maximum(largest, default)
        set_range(values_of(result), least, largest)
        return result


def _table(
    x: Any, path: Any, default_value: Any, num_oov_buckets: int, file_format: str, has_frequency: bool
) -> Any:
    """A table of the numbers of a vocabulary's entries."""
    if file_format == "text":
        column = 1 if has_frequency else tf.lookup.TextFileIndex.WHOLE_LINE
        initializer = tf.lookup.TextFileInitializer(
            path,
            x.dtype,
            column,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
            delimiter=" " if has_frequency else "\t",
        )
    elif file_format == "tfrecord_gzip":
        initializer = _records_initializer(x, path, has_frequency)
    else:
        raise ValueError(
            f'"{file_format}" is not an accepted file_format. It should be one of: {analyzers.FILE_FORMATS}'
        )
    if num_oov_buckets > 0:
        return tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets, lookup_key_dtype=x.dtype)
    return tf.lookup.StaticHashTable(initializer, default_value)


def _records_initializer(x: Any, path: Any, has_frequency: bool) -> Any:
    """Fills a table from the records of a gzip file: all of them are one batch of a dataset."""
    dataset = tf.data.TFRecordDataset(path, compression_type="GZIP").batch(np.iinfo(np.int32).max)
    keys = tf.data.experimental.get_single_element(dataset)
    if has_frequency:
        keys = tf.strings.regex_replace(keys, r"^[^ ]* ", "")
    if x.dtype != tf.string:
        keys = tf.strings.to_number(keys, x.dtype)
    numbers = tf.range(tf.size(keys, out_type=tf.int64), dtype=tf.int64)
    return tf.lookup.KeyValueTensorInitializer(keys, numbers)


def get_num_buckets_for_transformed_feature(transformed_feature: Any) -> tf.Tensor:
    """The number of values that an output of a vocabulary or of buckets can have.

    Args:
      transformed_feature: The output.

    Returns:
      A scalar int64 tensor.
    """
    return tf.cast(range_of(transformed_feature)[1] + 1, tf.int64)


def hash_strings(
    strings: Any, hash_buckets: int, key: Iterable[int] | None = None, name: str | None = None
) -> Any:
    """Hashes strings into buckets.

    Args:
      strings: A tensor of strings; it may be sparse or ragged.
      hash_buckets: The number of buckets.
      key: Two numbers, for a hash that others cannot foresee.
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `strings`.
    """
    if not isinstance(strings, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)) or strings.dtype != tf.string:
        raise TypeError(
            "Input to hash_strings must be a `Tensor`, `SparseTensor`, or `RaggedTensor` of dtype string; "
            f"got {strings.dtype}"
        )
    name = name or "hash_strings"
    values = values_of(strings)
    if key is None:
        return with_values(strings, tf.strings.to_hash_bucket_fast(values, hash_buckets, name=name))
    return with_values(strings, tf.strings.to_hash_bucket_strong(values, hash_buckets, list(key), name=name))
