"""Mappers of tokens: sequences, counts and weights of them, and sparse matrices."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.pipeline.transform import analyzers
from tideflow.pipeline.transform.trace import with_values


def word_count(tokens: Any, name: str | None = None) -> tf.Tensor:
    """The number of tokens of each row.

    Args:
      tokens: A sparse or ragged tensor.
      name: The name of the operation.

    Returns:
      An int64 vector.
    """
    with tf.name_scope(name, "word_count"):
        if isinstance(tokens, tf.RaggedTensor):
            return tokens.row_lengths()
        if not isinstance(tokens, tf.SparseTensor):
            raise ValueError("Invalid token tensor")
        ones = with_values(tokens, tf.ones_like(tokens.values, tf.int64))
        counts = tf.sparse.reduce_sum(ones, axis=list(range(1, tokens.get_shape().rank or 2)))
        counts.set_shape([tokens.get_shape()[0]])
        return counts


def segment_indices(segment_ids: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """The position of each element in its segment.

    Args:
      segment_ids: A sorted vector of the segments of elements.
      name: The name of the operation.

    Returns:
      A vector of the same type.
    """
    rank = segment_ids.get_shape().ndims
    if rank not in (1, None):
        raise ValueError(
            f"segment_indices requires a 1-dimensional input. segment_indices has {rank} dimensions."
        )
    with tf.name_scope(name, "segment_indices"):
        lengths = tf.math.segment_sum(tf.ones_like(segment_ids), segment_ids)
        starts = tf.gather(tf.cumsum(lengths, exclusive=True), segment_ids)
        return tf.range(tf.size(segment_ids, out_type=segment_ids.dtype)) - starts


def ngrams(
    tokens: tf.SparseTensor, ngram_range: tuple[int, int], separator: str, name: str | None = None
) -> Any:
    """The sequences of tokens that follow each other in a row.

    Args:
      tokens: A sparse matrix of strings.
      ngram_range: The least and the largest number of tokens in a sequence.
      separator: What stands between joined tokens.
      name: The name of the operation.

    Returns:
      A sparse matrix of strings. Those that begin with the same token come together, the shorter ones first.
    """
    if tokens.get_shape().ndims != 2:
        raise ValueError("ngrams requires `tokens` to be 2-dimensional")
    shortest, longest = ngram_range
    if shortest < 1 or longest < shortest:
        raise ValueError(f"Invalid ngram_range: {ngram_range!r}")
    with tf.name_scope(name, "ngrams"):
        rows = tokens.indices[:, 0]
        count = tf.shape(rows)
        padded_rows = tf.pad(rows, [[0, longest]], constant_values=-1)
        padded = tf.concat([tokens.values, tf.fill([longest], "")], 0)
        following = [tf.slice(padded, [i], count) for i in range(longest)]
        # A sequence is one of a row if its last token stands in the row of its first.
        inside = [tf.equal(tf.slice(padded_rows, [k - 1], count), rows) for k in range(shortest, longest + 1)]
        joined = [tf.strings.join(following[:k], separator=separator) for k in range(shortest, longest + 1)]
        valid = tf.stack(inside, 1)
        found = tf.boolean_mask(tf.stack(joined, 1), valid)
        own_rows = tf.boolean_mask(tf.tile(tf.expand_dims(rows, 1), [1, longest - shortest + 1]), valid)
        return _left_aligned(own_rows, found, tokens.dense_shape[0])


def _left_aligned(rows: Any, values: Any, height: Any) -> Any:
    """A sparse matrix of values that stand one after the other in sorted rows."""
    columns = segment_indices(rows)
    width = tf.maximum(tf.reduce_max(columns), -1) + 1
    return tf.SparseTensor(tf.stack([rows, columns], 1), values, tf.stack([height, width]))


def bag_of_words(
    tokens: tf.SparseTensor, ngram_range: tuple[int, int], separator: str, name: str | None = None
) -> Any:
    """The distinct sequences of tokens of each row.

    Args:
      tokens: A sparse matrix of strings.
      ngram_range: The least and the largest number of tokens in a sequence.
      separator: What stands between joined tokens.
      name: The name of the operation.

    Returns:
      A sparse matrix of strings.
    """
    if tokens.get_shape().ndims != 2:
        raise ValueError("bag_of_words requires `tokens` to be 2-dimensional")
    with tf.name_scope(name, "bag_of_words"):
        return deduplicate_tensor_per_row(ngrams(tokens, ngram_range, separator))


def deduplicate_tensor_per_row(input_tensor: Any, name: str | None = None) -> Any:
    """Leaves each value of a row once, where it occurs first.

    Args:
      input_tensor: A vector or matrix, or a sparse one.
      name: The name of the operation.

    Returns:
      A sparse matrix.
    """
    with tf.name_scope(name, "deduplicate_per_row"):
        sparse = isinstance(input_tensor, tf.SparseTensor)
        rank = input_tensor.get_shape().ndims
        if rank is not None and rank > 2:
            raise ValueError(f"Deduplication assumes a rank 2 tensor, got {rank}.")
        if sparse and rank == 1:
            return input_tensor
        if sparse:
            rows, values, height = (
                input_tensor.indices[:, 0],
                input_tensor.values,
                input_tensor.dense_shape[0],
            )
        else:
            height = tf.shape(input_tensor, out_type=tf.int64)[0]
            width = tf.size(input_tensor, out_type=tf.int64) // tf.maximum(height, 1)
            values = tf.reshape(input_tensor, [-1])
            rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(height), 1), [1, width]), [-1])
        # A value of a row is one number: the row and the value's number among all of them.
        distinct, numbers = tf.unique(values, out_idx=tf.int64)
        pairs = rows * tf.size(distinct, out_type=tf.int64) + numbers
        kept, places = tf.unique(pairs, out_idx=tf.int64)
        first = tf.math.unsorted_segment_min(
            tf.range(tf.size(pairs, out_type=tf.int64)), places, tf.size(kept, out_type=tf.int64)
        )
        return _left_aligned(tf.gather(rows, first), tf.gather(values, first), height)


def tfidf(
    x: tf.SparseTensor, vocab_size: int, smooth: bool = True, name: str | None = None
) -> tuple[tf.SparseTensor, tf.SparseTensor]:
    """How typical each token is for its row: its frequency there, times the logarithm of its rarity.

    Args:
      x: A sparse matrix of the numbers of tokens.
      vocab_size: The number of tokens. Larger numbers are taken modulo it.
      smooth: Whether one is added to the numbers of rows.
      name: The name of the operation.

    Returns:
      The distinct tokens of each row, and their weights: two sparse matrices.
    """
    if x.get_shape().ndims != 2:
        raise ValueError(
            f"tft.tfidf requires a 2D SparseTensor input. Input had {x.get_shape().ndims} dimensions."
        )
    with tf.name_scope(name, "tfidf"):
        rows, tokens, counts, lengths = _terms(x, vocab_size)
        idf = tf.gather(_idf_of(rows, tokens, x.dense_shape[0], vocab_size, smooth, True), tokens)
        frequency = tf.cast(counts, tf.float64) / tf.cast(tf.gather(lengths, rows), tf.float64)
        weights = tf.cast(frequency, tf.float32) * idf
        ids = _left_aligned(rows, tokens, x.dense_shape[0])
        return ids, with_values(ids, weights)


def _terms(x: Any, vocab_size: Any) -> tuple[Any, Any, Any, Any]:
    """The rows and numbers of distinct tokens of rows, how often each occurs there, and the rows' lengths."""
    size = tf.cast(vocab_size, tf.int64)
    rows = x.indices[:, 0]
    tokens = tf.math.floormod(tf.cast(x.values, tf.int64), size)
    pairs, _, counts = tf.unique_with_counts(tf.sort(rows * size + tokens))
    lengths = tf.math.unsorted_segment_sum(tf.ones_like(rows), rows, x.dense_shape[0])
    return pairs // size, tf.math.floormod(pairs, size), counts, lengths


def _idf_of(rows: Any, tokens: Any, height: Any, vocab_size: Any, smooth: bool, add_baseline: bool) -> Any:
    """The logarithm of the rarity of every token of the vocabulary."""
    with_token = tf.math.unsorted_segment_sum(tf.ones_like(rows), tokens, tf.cast(vocab_size, tf.int64))
    # A row for each block, so that blocks are added up.
    having = tf.cast(analyzers.sum(tf.expand_dims(with_token, 0), reduce_instance_dims=False), tf.float32)
    total = tf.cast(analyzers.sum(height), tf.float32)
    rarity = (total + 1.0) / (having + 1.0) if smooth else total / having
    return tf.math.log(rarity) + (1.0 if add_baseline else 0.0)


def idf(
    x: tf.SparseTensor,
    vocab_size: int,
    smooth: bool = True,
    add_baseline: bool = True,
    name: str | None = None,
) -> tf.SparseTensor:
    """The logarithm of the rarity of each token: of the number of rows by that of rows that have it.

    Args:
      x: A sparse matrix of the numbers of tokens.
      vocab_size: The number of tokens. Larger numbers are taken modulo it.
      smooth: Whether one is added to the numbers of rows.
      add_baseline: Whether one is added to the result.
      name: The name of the operation.

    Returns:
      A sparse matrix of float32.
    """
    if x.get_shape().ndims != 2:
        raise ValueError(
            f"tft.idf requires a 2D SparseTensor input. Input had {x.get_shape().ndims} dimensions."
        )
    with tf.name_scope(name, "idf"):
        rows, tokens, _, _ = _terms(x, vocab_size)
        values = _idf_of(rows, tokens, x.dense_shape[0], vocab_size, smooth, add_baseline)
        own = tf.math.floormod(tf.cast(x.values, tf.int64), tf.cast(vocab_size, tf.int64))
        return with_values(x, tf.gather(values, own))


def document_frequency(x: tf.SparseTensor, vocab_size: int, name: str | None = None) -> tf.SparseTensor:
    """The number of rows that have each token.

    Args:
      x: A sparse matrix of the numbers of tokens.
      vocab_size: The number of tokens. Larger numbers are taken modulo it.
      name: The name of the operation.

    Returns:
      A sparse matrix of int64.
    """
    if x.get_shape().ndims != 2:
        raise ValueError(
            "tft.document_frequency requires a 2D SparseTensor input. Input had "
            f"{x.get_shape().ndims} dimensions."
        )
    with tf.name_scope(name, "document_frequency"):
        rows, tokens, _, _ = _terms(x, vocab_size)
        size = tf.cast(vocab_size, tf.int64)
        with_token = tf.math.unsorted_segment_sum(tf.ones_like(rows), tokens, size)
        total = analyzers.sum(tf.expand_dims(with_token, 0), reduce_instance_dims=False)
        return with_values(x, tf.gather(total, tf.math.floormod(tf.cast(x.values, tf.int64), size)))


def sparse_tensor_to_dense_with_shape(x: tf.SparseTensor, shape: Any, default_value: Any = 0) -> tf.Tensor:
    """A sparse tensor as a dense one of a given shape.

    Args:
      x: The sparse tensor.
      shape: The shape; a size of None is taken from `x`.
      default_value: What stands where `x` has nothing.

    Returns:
      The dense tensor.
    """
    if not isinstance(x, tf.SparseTensor):
        raise ValueError("input must be a SparseTensor")
    sizes = list(shape)
    known = [x.dense_shape[i] if size is None else tf.cast(size, tf.int64) for i, size in enumerate(sizes)]
    dense = tf.sparse_to_dense(x.indices, tf.stack(known), x.values, default_value, validate_indices=True)
    dense.set_shape(sizes)
    return dense


def sparse_tensor_left_align(sparse_tensor: tf.SparseTensor) -> tf.SparseTensor:
    """Moves the values of each row together, to the left.

    Args:
      sparse_tensor: A sparse matrix.

    Returns:
      A sparse matrix of the same shape.
    """
    if sparse_tensor.get_shape().ndims != 2:
        raise ValueError("sparse_tensor_left_align requires a 2D input")
    ordered = tf.sparse.reorder(sparse_tensor)
    rows = ordered.indices[:, 0]
    return tf.SparseTensor(tf.stack([rows, segment_indices(rows)], 1), ordered.values, ordered.dense_shape)
