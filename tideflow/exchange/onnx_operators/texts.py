"""Operators on strings."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, operator


@operator("StringConcat")
def _concat(given: Given) -> Any:
    return tf.add(*given.inputs)


@operator("RegexFullMatch")
def _full_match(given: Given) -> Any:
    return tf.strings.regex_full_match(given.inputs[0], given.attribute("pattern"))


@operator("StringSplit")
def _split(given: Given) -> Any:
    """Parts, with empty strings after the last one of each, and how many there are."""
    x, delimiter, most = given.inputs[0], given.attribute("delimiter", ""), given.attribute("maxsplit", -1)
    parts = tf.strings.split(tf.reshape(x, [-1]), delimiter or None, maxsplit=most)
    parts = parts if isinstance(parts, tf.RaggedTensor) else tf.RaggedTensor.from_sparse(parts)
    counts = parts.row_lengths()
    # Nothing has no parts; and of what stands between spaces, an empty part is only what was cut off.
    nothing = tf.equal(tf.reshape(x, [-1]), "")
    counts = tf.where(nothing, tf.zeros_like(counts), counts)
    if not delimiter:
        counts -= tf.cast(
            tf.reduce_sum(parts.with_values(tf.cast(tf.equal(parts.values, ""), tf.int64)), 1), counts.dtype
        )
    table = parts.to_tensor(default_value="")[:, : tf.reduce_max(tf.concat([counts, [0]], 0))]
    shape = tf.shape(x)
    made = tf.reshape(table, tf.concat([shape, [tf.shape(table)[1]]], 0))
    return made, tf.reshape(tf.cast(counts, tf.int64), shape)


@operator("StringNormalizer")
def _normalize(given: Given) -> Any:
    x, case = given.inputs[0], given.attribute("case_change_action", "NONE").upper()
    stopwords, exactly = given.texts("stopwords"), given.flag("is_case_sensitive")
    if stopwords:
        compared = x if exactly else tf.strings.lower(x, encoding="utf-8")
        words = stopwords if exactly else [word.lower() for word in stopwords]
        rows = tf.reshape(x, [-1])
        kept = tf.reduce_all(tf.not_equal(tf.reshape(compared, [-1])[:, None], words), 1)
        x = _at_least_one(tf.boolean_mask(rows, kept))
        x = x[None] if given.rank() == 2 else x
    if case == "LOWER":
        return tf.strings.lower(x, encoding="utf-8")
    return tf.strings.upper(x, encoding="utf-8") if case == "UPPER" else x


def _at_least_one(rows: Any) -> Any:
    """An empty string where nothing is left."""
    missing = tf.cast(tf.equal(tf.size(rows), 0), tf.int32)
    return tf.concat([rows, tf.fill([missing], "")], 0)


@operator("TfIdfVectorizer")
def _count_grams(given: Given) -> Any:
    """How often each of the known sequences of words is in a row; some words may be left out between two."""
    x = given.inputs[0]
    pool = given.texts("pool_strings") or list(given.attribute("pool_int64s", ()))
    starts = [*given.attribute("ngram_counts"), len(pool)]
    places = list(given.attribute("ngram_indexes"))
    weights = list(given.attribute("weights", ()))
    rows = x[None] if given.rank() == 1 else x
    columns: dict[int, Any] = {}
    at = 0
    for size in range(1, len(starts)):
        words = pool[starts[size - 1] : starts[size]]
        grams = [words[i : i + size] for i in range(0, len(words), size)]
        mine = range(at, at + len(grams))
        at += len(grams)
        if grams and given.attribute("min_gram_length") <= size <= given.attribute("max_gram_length"):
            skips = range(given.attribute("max_skip_count") + 1 if size > 1 else 1)
            found = tf.add_n([_occurrences(rows, grams, skip + 1) for skip in skips])
            for i, column in zip(mine, tf.unstack(found, len(grams), 1), strict=True):
                columns[places[i]] = _weight(given.attribute("mode"), column, weights[i] if weights else 1.0)
    nothing = tf.zeros(tf.shape(rows)[:1])
    made = tf.stack([columns.get(i, nothing) for i in range(max(places) + 1)], 1)
    return made[0] if given.rank() == 1 else made


def _occurrences(rows: Any, grams: list[Any], step: int) -> Any:
    """How often each sequence is in each row, with its words `step` apart."""
    size = len(grams[0])
    count = tf.maximum(0, tf.shape(rows)[1] - (size - 1) * step)
    same = [
        tf.equal(rows[:, i * step : i * step + count, None], [gram[i] for gram in grams]) for i in range(size)
    ]
    return tf.reduce_sum(tf.cast(tf.reduce_all(tf.stack(same), 0), tf.float32), 1)


def _weight(mode: str, counts: Any, weight: float) -> Any:
    if mode == "TF":
        return counts
    return counts * weight if mode == "TFIDF" else tf.cast(counts > 0, tf.float32) * weight
