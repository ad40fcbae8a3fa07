"""Text as numbers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tideflow.export import export

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


@export("keras.preprocessing.text.text_to_word_sequence")
def text_to_word_sequence(
    text: str, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """Cuts a text into words.

    Args:
      text: The text.
      filters: The characters that are left out.
      lower: Whether letters become small ones.
      split: What stands between words.

    Returns:
      A list of words.
    """
    text = text.lower() if lower else text
    text = text.translate(str.maketrans(dict.fromkeys(filters, split)))
    return [word for word in text.split(split) if word]


def _hash(function: Any) -> Callable[[str], int]:
    if function is None:
        return hash
    if function == "md5":
        return lambda word: int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)
    return function


@export("keras.preprocessing.text.hashing_trick")
def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Numbers the words of a text by their hashes.

    Args:
      text: The text.
      n: The number of different numbers, plus one.
      hash_function: `"md5"`, or a function of a word; Python's `hash` if None.
      filters: The characters that are left out.
      lower: Whether letters become small ones.
      split: What stands between words.

    Returns:
      A list of numbers from 1.
    """
    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    hashed = _hash(hash_function)
    return [hashed(word) % (n - 1) + 1 for word in words]


@export("keras.preprocessing.text.one_hot")
def one_hot(text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """Numbers the words of a text by Python's hashes of them.

    Args:
      text: The text.
      n: The number of different numbers, plus one.
      filters: The characters that are left out.
      lower: Whether letters become small ones.
      split: What stands between words.

    Returns:
      A list of numbers from 1.
    """
    return hashing_trick(text, n, hash_function=hash, filters=filters, lower=lower, split=split)


@export("keras.preprocessing.text.Tokenizer")
class Tokenizer:
    """Numbers words by how frequent they are.

    Args:
      num_words: The number of the most frequent words that are kept; all if None.
      filters: The characters that are left out.
      lower: Whether letters become small ones.
      split: What stands between words.
      char_level: Whether characters are numbered, not words.
      oov_token: What stands for words that are not kept; they are left out if None.
      document_count: The number of texts that were seen before.
      **kwargs: `nb_words`, an old name of `num_words`.
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: Any,
    ):
        num_words = kwargs.pop("nb_words", num_words)
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self.word_counts: dict[str, int] = Counter()
        self.word_docs: dict[str, int] = defaultdict(int)
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: dict[int, int] = defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Sequence[str]:
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [word.lower() for word in text] if isinstance(text, list) else text.lower()
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Counts the words of texts.

        Args:
          texts: The texts, or lists of words.
        """
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = sorted(self.word_counts.items(), key=lambda pair: pair[1], reverse=True)
        found = ([] if self.oov_token is None else [self.oov_token]) + [word for word, _ in ranked]
        self.word_index = {word: number for number, word in enumerate(found, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Iterable[Sequence[int]]) -> None:
        """Counts the numbers in sequences.

        Args:
          sequences: The sequences.
        """
        for sequence in sequences:
            self.document_count += 1
            for number in set(sequence):
                self.index_docs[number] += 1

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Converts texts to numbers.

        Args:
          texts: The texts, or lists of words.

        Returns:
          A list of lists of numbers.
        """
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """Converts texts to numbers, one by one.

        Args:
          texts: The texts, or lists of words.

        Yields:
          A list of numbers.
        """
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = []
            for word in self._words(text):
                number = self.word_index.get(word)
                if number is None or (self.num_words and number >= self.num_words):
                    number = unknown
                if number is not None:
                    numbers.append(number)
            yield numbers

    def sequences_to_texts(self, sequences: Iterable[Sequence[int]]) -> list[str]:
        """Converts numbers to texts.

        Args:
          sequences: The sequences of numbers.

        Returns:
          A list of texts.
        """
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Sequence[int]]) -> Iterator[str]:
        """Converts numbers to texts, one by one.

        Args:
          sequences: The sequences of numbers.

        Yields:
          A text.
        """
        unknown = self.index_word.get(self.word_index.get(self.oov_token))
        for sequence in sequences:
            words = []
            for number in sequence:
                word = self.index_word.get(number)
                if word is None or (self.num_words and number >= self.num_words):
                    word = unknown
                if word is not None:
                    words.append(word)
            yield " ".join(words)

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> np.ndarray:
        """Converts texts to rows with a column for each word.

        Args:
          texts: The texts, or lists of words.
          mode: `"binary"`, `"count"`, `"tfidf"` or `"freq"`.

        Returns:
          An array.
        """
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> np.ndarray:
        """Converts sequences of numbers to rows with a column for each number.

        Args:
          sequences: The sequences.
          mode: `"binary"`, `"count"`, `"tfidf"` or `"freq"`.

        Returns:
          An array.

        Raises:
          ValueError: If no words are known, or the mode is unknown.
        """
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode not in ("binary", "count", "tfidf", "freq"):
            raise ValueError("Unknown vectorization mode:", mode)
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        rows = np.zeros((len(sequences), width))
        for row, sequence in zip(rows, sequences, strict=True):
            for number, count in Counter(n for n in sequence if n < width).items():
                if mode == "count":
                    row[number] = count
                elif mode == "freq":
                    row[number] = count / len(sequence)
                elif mode == "binary":
                    row[number] = 1
                else:
                    idf = np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
                    row[number] = (1 + np.log(count)) * idf
        return rows

    def get_config(self) -> dict[str, Any]:
        """What the tokenizer knows, as JSON can hold it."""
        plain = ("num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")
        found = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: json.dumps(getattr(self, name)) for name in found},
        }

    def to_json(self, **kwargs: Any) -> str:
        """The class name and what the tokenizer knows, as JSON.

        Args:
          **kwargs: Arguments of `json.dumps`.

        Returns:
          A string.
        """
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


@export("keras.preprocessing.text.tokenizer_from_json")
def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Makes a tokenizer from the result of `to_json`.

    Args:
      json_string: The JSON.

    Returns:
      The tokenizer.
    """
    config = json.loads(json_string)["config"]
    known = {name: json.loads(config.pop(name)) for name in ("word_counts", "word_docs", "word_index")}
    by_number = {name: json.loads(config.pop(name)) for name in ("index_docs", "index_word")}
    tokenizer = Tokenizer(**config)
    for name, value in known.items():
        setattr(tokenizer, name, value)
    for name, value in by_number.items():
        setattr(tokenizer, name, {int(key): each for key, each in value.items()})
    return tokenizer
