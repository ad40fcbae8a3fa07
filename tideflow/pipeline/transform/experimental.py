"""Names of `tft.experimental`."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.pipeline.transform.analyzers import vocabulary
from tideflow.pipeline.transform.lookups import compute_and_apply_vocabulary
from tideflow.pipeline.transform.text import document_frequency, idf  # noqa: F401
from tideflow.pipeline.transform.trace import active_trace


def approximate_vocabulary(
    x: Any,
    top_k: int,
    *,
    vocab_filename: str | None = None,
    store_frequency: bool = False,
    reserved_tokens: Any = None,
    weights: tf.Tensor | None = None,
    file_format: str = "text",
    name: str | None = None,
) -> tf.Tensor:
    """Writes the most frequent values of a column into a file. The counts are exact here.

    Args:
      x: A tensor of strings or integers; it may be sparse or ragged.
      top_k: How many values are kept.
      vocab_filename: The name of the file; one made of the name scope if None.
      store_frequency: Whether lines begin with the frequency.
      reserved_tokens: Tokens that come first, whatever the data.
      weights: How much each value counts.
      file_format: "text" or "tfrecord_gzip".
      name: The name of the operation.

    Returns:
      The path of the file, a scalar string tensor.
    """
    with tf.name_scope(name, "approximate_vocabulary"):
        return vocabulary(
            x,
            top_k=top_k,
            vocab_filename=vocab_filename,
            store_frequency=store_frequency,
            reserved_tokens=reserved_tokens,
            weights=weights,
            file_format=file_format,
        )


def compute_and_apply_approximate_vocabulary(
    x: Any,
    *,
    default_value: Any = -1,
    top_k: int | None = None,
    num_oov_buckets: int = 0,
    vocab_filename: str | None = None,
    weights: tf.Tensor | None = None,
    file_format: str = "text",
    store_frequency: bool | None = False,
    reserved_tokens: Any = None,
    name: str | None = None,
) -> Any:
    """Makes a vocabulary of a column, and replaces values by their numbers in it. The counts are exact here.

    Args:
      x: A tensor of strings or integers; it may be sparse or ragged.
      default_value: The number of values that are not in the vocabulary, if there are no buckets for them.
      top_k: How many values are kept at most.
      num_oov_buckets: The number of buckets, behind the vocabulary, that other values are hashed into.
      vocab_filename: The name of the file; one made of the name scope if None.
      weights: How much each value counts.
      file_format: "text" or "tfrecord_gzip".
      store_frequency: Whether lines begin with the frequency; spaces in values become `__SPACE__` then.
      reserved_tokens: Tokens that come first, whatever the data.
      name: The name of the operation.

    Returns:
      An int64 tensor in the form of `x`.
    """
    with tf.name_scope(name, "compute_and_apply_approximate_vocabulary"):
        return compute_and_apply_vocabulary(
            x,
            default_value=default_value,
            top_k=top_k,
            num_oov_buckets=num_oov_buckets,
            vocab_filename=vocab_filename,
            weights=weights,
            file_format=file_format,
            store_frequency=store_frequency,
            reserved_tokens=reserved_tokens,
        )


def get_vocabulary_size_by_name(vocab_filename: str) -> tf.Tensor:
    """The number of entries of a vocabulary that the same preprocessing function makes.

    Args:
      vocab_filename: The name that `vocabulary` was given.

    Returns:
      A scalar int64 tensor.

    Raises:
      ValueError: If there is none of this name.
    """
    sizes = active_trace().vocabulary_sizes
    if vocab_filename not in sizes:
        raise ValueError(f"Vocabulary size not found for {vocab_filename}")
    return sizes[vocab_filename]
