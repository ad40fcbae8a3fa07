"""Datasets of texts whose words are numbers by frequency: IMDB's reviews, Reuters' newswires."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.datasets.files import arrays, stored
from tideflow.keras.datasets.images import Split
from tideflow.platform import logging


def _renamed(num_words: int | None, kwargs: dict[str, Any]) -> int | None:
    if "nb_words" in kwargs:
        logging.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    return num_words


def _shuffled(*values: np.ndarray) -> list[np.ndarray]:
    order = np.arange(len(values[0]))
    np.random.shuffle(order)
    return [value[order] for value in values]


def _marked(texts: Any, start: int | None, first: int) -> list[list[int]]:
    """The texts with a mark at their begin, their words moved to make room for it."""
    if start is not None:
        return [[start, *(word + first for word in text)] for text in texts]
    return [[word + first for word in text] for text in texts] if first else list(texts)


def _short(texts: list[list[int]], labels: Any, maxlen: int) -> tuple[list[list[int]], list[Any]]:
    kept = [(text, label) for text, label in zip(texts, labels, strict=True) if len(text) < maxlen]
    return [text for text, _ in kept], [label for _, label in kept]


def _limited(texts: list[list[int]], skip: int, words: int | None, other: int | None) -> list[list[int]]:
    """The texts without their rarest and most frequent words, or with a mark in their place."""
    words = words or max(max(text) for text in texts)
    if other is None:
        return [[word for word in text if skip <= word < words] for text in texts]
    return [[word if skip <= word < words else other for word in text] for text in texts]


def _as_array(texts: list[list[int]]) -> np.ndarray:
    """An array of lists, or of numbers where all texts have one length."""
    if len({len(text) for text in texts}) < 2:
        return np.array(texts)
    made = np.empty(len(texts), dtype=object)
    made[:] = texts
    return made


def _split(texts: list[list[int]], labels: Any, first: int) -> Split:
    return (
        (_as_array(texts[:first]), np.array(labels[:first])),
        (_as_array(texts[first:]), np.array(labels[first:])),
    )


@export("keras.datasets.imdb.load_data")
def _imdb(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> Split:
    """Reads IMDB's 50,000 film reviews. Nothing is downloaded.

    Args:
      path: The file in `~/.keras/datasets`, or its absolute path.
      num_words: Words from this number on are left out; none if None.
      skip_top: Words below this number are left out.
      maxlen: Reviews of this length or longer are left out.
      seed: The seed of the order.
      start_char: The number that marks the begin of a review; no mark if None.
      oov_char: The number in the place of words that are left out; nothing if None.
      index_from: What is added to the number of each word.
      **kwargs: `nb_words`, the old name of `num_words`.

    Returns:
      The reviews and labels for training, and those for testing.

    Raises:
      OSError: If the file is not there.
      ValueError: If no review is shorter than `maxlen`.
    """
    num_words = _renamed(num_words, kwargs)
    found = arrays(stored(path, "imdb.npz"))
    np.random.seed(seed)
    parts = [_shuffled(found[f"x_{part}"], found[f"y_{part}"]) for part in ("train", "test")]
    first = len(parts[0][0])
    labels = np.concatenate([part[1] for part in parts])
    texts = _marked([text for part in parts for text in part[0]], start_char, index_from)
    if maxlen:
        texts, labels = _short(texts, labels, maxlen)
        if not texts:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
                "Increase maxlen."
            )
    return _split(_limited(texts, skip_top, num_words, oov_char), labels, first)


@export("keras.datasets.reuters.load_data")
def _reuters(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> Split:
    """Reads Reuters' 11,228 newswires of 46 topics. Nothing is downloaded.

    Args:
      path: The file in `~/.keras/datasets`, or its absolute path.
      num_words: Words from this number on are left out; none if None.
      skip_top: Words below this number are left out.
      maxlen: Newswires of this length or longer are left out.
      test_split: The fraction of the newswires that is for testing.
      seed: The seed of the order.
      start_char: The number that marks the begin of a newswire; no mark if None.
      oov_char: The number in the place of words that are left out; nothing if None.
      index_from: What is added to the number of each word.
      **kwargs: `nb_words`, the old name of `num_words`.

    Returns:
      The newswires and topics for training, and those for testing.

    Raises:
      OSError: If the file is not there.
    """
    num_words = _renamed(num_words, kwargs)
    found = arrays(stored(path, "reuters.npz"))
    np.random.seed(seed)
    words, labels = _shuffled(found["x"], found["y"])
    texts = _marked(words, start_char, index_from)
    if maxlen:
        texts, labels = _short(texts, labels, maxlen)
    texts = _limited(texts, skip_top, num_words, oov_char)
    return _split(texts, labels, int(len(texts) * (1 - test_split)))


def _word_index(path: str, origin: str) -> dict[str, int]:
    with open(stored(path, origin), encoding="utf8") as file:
        return json.load(file)


@export("keras.datasets.imdb.get_word_index")
def _imdb_words(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Reads the numbers of the words of IMDB's reviews. Nothing is downloaded.

    Args:
      path: The file in `~/.keras/datasets`, or its absolute path.

    Returns:
      A dictionary from words to numbers.

    Raises:
      OSError: If the file is not there.
    """
    return _word_index(path, "imdb_word_index.json")


@export("keras.datasets.reuters.get_word_index")
def _reuters_words(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Reads the numbers of the words of Reuters' newswires. Nothing is downloaded.

    Args:
      path: The file in `~/.keras/datasets`, or its absolute path.

    Returns:
      A dictionary from words to numbers.

    Raises:
      OSError: If the file is not there.
    """
    return _word_index(path, "reuters_word_index.json")
