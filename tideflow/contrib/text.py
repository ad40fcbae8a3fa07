"""tf.contrib.text: pairs of neighbouring words, of which embeddings are learned."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.lookup.initializers import TextFileInitializer
from tideflow.lookup.static import HashTable, InitializableLookupTableBase
from tideflow.ops.arrays import indexing, shapes
from tideflow.ops.math import binary, casting, unary
from tideflow.ops.random import distributions
from tideflow.ops.random.skip_grams import skip_gram_generate_candidates_op
from tideflow.ops.random.sources import seed_attrs
from tideflow.platform.gfile import GFile
from tideflow.train.input import batch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("contrib.text.skip_gram_sample")
def skip_gram_sample(
    input_tensor: TensorLike,
    min_skips: TensorLike = 1,
    max_skips: TensorLike = 5,
    start: TensorLike = 0,
    limit: TensorLike = -1,
    emit_self_as_target: TensorLike = False,
    vocab_freq_table: InitializableLookupTableBase | None = None,
    vocab_min_count: float | None = None,
    vocab_subsampling: float | None = None,
    corpus_size: float | None = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor] | list[Tensor]:
    """Pairs each word with the words around it.

    For every word a number of [min_skips, max_skips] is drawn; its labels are so many words on both sides.

    Args:
      input_tensor: A vector of words, of any type.
      min_skips: The least number of words on each side.
      max_skips: The greatest.
      start: The place of the first word that is looked at.
      limit: How many words are looked at; a negative number means all that follow.
      emit_self_as_target: Whether a word is paired with itself, too.
      vocab_freq_table: A table of the words' frequencies. Words that it does not have are left out first.
      vocab_min_count: Words of lower frequencies are left out, too.
      vocab_subsampling: Frequent words are left out at random, the more the smaller this threshold is: a
        share of the corpus, in [0, 1]. None or 0 leaves out none.
      corpus_size: The sum of all frequencies; given with `vocab_subsampling`.
      batch_size: The pairs come in batches of this size, through a queue; None means those of one run.
      batch_capacity: The size of that queue; None means 100 batches.
      seed: A seed for the drawn numbers.
      name: A name for the operations.

    Returns:
      The words and their labels, two vectors of the type of the input.

    Raises:
      ValueError: Where the arguments about frequencies are not given together, or out of range.
    """
    of_table = (vocab_min_count, vocab_subsampling, corpus_size)
    if vocab_freq_table is None and any(value is not None for value in of_table):
        raise ValueError(
            f"vocab_freq_table is not provided, but vocab_min_count={vocab_min_count}, "
            f"vocab_subsampling={vocab_subsampling}, or corpus_size={corpus_size} is not None. These "
            "settings are useless without a vocab_freq_table."
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size} - both must be "
            "provided in order for subsampling to work."
        )
    with name_scope(name, "skip_gram_sample", [input_tensor, min_skips, max_skips, start, limit]):
        if vocab_freq_table is not None:
            input_tensor = _frequent(input_tensor, vocab_freq_table, *of_table, seed)
        pairs = skip_gram_generate_candidates_op(
            input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, **seed_attrs(seed)
        )
        if not batch_size or batch_size < 0:
            return tuple(pairs)
        capacity = batch_capacity if batch_capacity and batch_capacity > 0 else 100 * batch_size
        return batch(list(pairs), batch_size, capacity=capacity, enqueue_many=True)


def _frequent(
    words: TensorLike,
    table: InitializableLookupTableBase,
    least: float | None,
    threshold: float | None,
    corpus_size: float | None,
    seed: int | None,
) -> Tensor:
    """The words that the table has, often enough; of very frequent ones a part."""
    if not isinstance(table, InitializableLookupTableBase):
        raise ValueError(
            "vocab_freq_table must be a subclass of InitializableLookupTableBase (such as HashTable) "
            f"instead of type {type(table)}."
        )
    with name_scope("filter_vocab", values=[words]):
        counts = table.lookup(words)
        chosen = binary.not_equal(counts, table.default_value)
        if least is not None:
            chosen = binary.logical_and(
                chosen, binary.greater_equal(counts, casting.cast(least, counts.dtype))
            )
        words = indexing.boolean_mask(words, chosen)
        counts = indexing.boolean_mask(counts, chosen)
    if not threshold:
        return words
    if not 0 <= threshold <= 1:
        raise ValueError(f"Invalid vocab_subsampling={threshold} - it should be within range [0, 1].")
    with name_scope("subsample_vocab", values=[words, counts]):
        total = casting.cast(corpus_size, dtypes.float64)
        counts = casting.cast(counts, dtypes.float64)
        rare = casting.cast(threshold, dtypes.float64)
        kept = (unary.sqrt(counts / (rare * total)) + 1.0) * (rare * total / counts)
        drawn = distributions.random_uniform(shapes.shape(counts), 0, 1, dtype=dtypes.float64, seed=seed)
        return indexing.boolean_mask(words, binary.less_equal(drawn, kept))


@export("contrib.text.skip_gram_sample_with_text_vocab")
def skip_gram_sample_with_text_vocab(
    input_tensor: TensorLike,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: DTypeLike = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: DTypeLike = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: float | None = 0,
    vocab_subsampling: float | None = None,
    corpus_size: float | None = None,
    min_skips: TensorLike = 1,
    max_skips: TensorLike = 5,
    start: TensorLike = 0,
    limit: TensorLike = -1,
    emit_self_as_target: TensorLike = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor] | list[Tensor]:
    """Pairs each word with the words around it, with frequencies from a file; see `skip_gram_sample`.

    Args:
      input_tensor: A vector of words.
      vocab_freq_file: A text file with a line for each word.
      vocab_token_index: The column of the word in a line.
      vocab_token_dtype: The type of the words.
      vocab_freq_index: The column of the frequency.
      vocab_freq_dtype: The type of the frequencies.
      vocab_delimiter: What stands between the columns.
      vocab_min_count: Words of lower frequencies are left out.
      vocab_subsampling: See `skip_gram_sample`.
      corpus_size: The sum of all frequencies; None, or 0, means that of the file.
      min_skips: The least number of words on each side.
      max_skips: The greatest.
      start: The place of the first word that is looked at.
      limit: How many words are looked at; a negative number means all that follow.
      emit_self_as_target: Whether a word is paired with itself, too.
      batch_size: The pairs come in batches of this size, through a queue; None means those of one run.
      batch_capacity: The size of that queue; None means 100 batches.
      seed: A seed for the drawn numbers.
      name: A name for the operations.

    Returns:
      The words and their labels, two vectors of the type of the input.

    Raises:
      ValueError: Where the file lacks a column or has a negative frequency, or more words than `corpus_size`.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(
            f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must both be "
            ">= 0."
        )
    if vocab_token_index == vocab_freq_index:
        raise ValueError(
            f"vocab_token_index and vocab_freq_index should be different, but are both {vocab_token_index}."
        )
    number = dtypes.as_dtype(vocab_freq_dtype).as_numpy_dtype
    with GFile(vocab_freq_file, mode="r") as file:
        rows = list(csv.reader(file, delimiter=vocab_delimiter))
    counts = [_count(row, vocab_token_index, vocab_freq_index, number) for row in rows]
    if corpus_size and sum(counts) - corpus_size > 1e-6:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the frequency "
            f"counts ({sum(counts)}) of `vocab_freq_file` ({vocab_freq_file})."
        )
    table = HashTable(
        TextFileInitializer(
            vocab_freq_file,
            vocab_token_dtype,
            vocab_token_index,
            vocab_freq_dtype,
            vocab_freq_index,
            vocab_size=len(rows),
            delimiter=vocab_delimiter,
        ),
        default_value=-1,
    )
    return skip_gram_sample(
        input_tensor,
        min_skips=min_skips,
        max_skips=max_skips,
        start=start,
        limit=limit,
        emit_self_as_target=emit_self_as_target,
        vocab_freq_table=table,
        vocab_min_count=vocab_min_count,
        vocab_subsampling=vocab_subsampling,
        corpus_size=None if vocab_subsampling is None else corpus_size or sum(counts, 0.0),
        batch_size=batch_size,
        batch_capacity=batch_capacity,
        seed=seed,
        name=name,
    )


def _count(row: list[str], token_index: int, freq_index: int, number: Any) -> Any:
    """The frequency that a row of the file has."""
    if max(token_index, freq_index) >= len(row):
        raise ValueError(
            f"Row in vocab file only has {len(row)} columns, so vocab_token_index={token_index} or "
            f"vocab_freq_index={freq_index} is out of bounds. Row content: {row}"
        )
    count = number(row[freq_index])
    if count < 0:
        raise ValueError(f"Row in vocab file has negative frequency of {count}. Row content: {row}")
    return count
