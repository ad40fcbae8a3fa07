"""Texts as rows of numbers, of words or of bytes."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tideflow.contrib.learn.categories import CategoricalVocabulary
from tideflow.export import export
from tideflow.platform.gfile import GFile

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


@export("contrib.learn.preprocessing.tokenizer")
def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Divides texts into words.

    Args:
      iterator: The texts.

    Returns:
      The words of each text.
    """
    for text in iterator:
        yield _WORD.findall(text)


@export("contrib.learn.preprocessing.ByteProcessor")
class ByteProcessor:
    """Makes texts into rows of their bytes.

    Args:
      max_document_length: The size of a row: longer texts are cut, shorter ones filled with zeros.
    """

    def __init__(self, max_document_length: int):
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[str | bytes]) -> None:
        """Does nothing: bytes need no vocabulary.

        Args:
          x: The texts.
        """

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """Makes texts into rows of bytes.

        Args:
          x: The texts.

        Returns:
          The rows.
        """
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """Makes texts into rows of bytes.

        Args:
          x: The texts.

        Returns:
          The rows.
        """
        for text in x:
            raw = text.encode() if isinstance(text, str) else bytes(text)
            row = np.zeros(self.max_document_length, np.uint8)
            found = np.frombuffer(raw[: self.max_document_length], np.uint8)
            row[: len(found)] = found
            yield row

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """Makes rows of bytes into texts.

        Args:
          x: The rows.

        Returns:
          The texts; "" for a row that is none.
        """
        for row in x:
            try:
                yield np.trim_zeros(row.astype(np.uint8), trim="b").tobytes().decode()
            except UnicodeDecodeError:
                yield ""


@export("contrib.learn.preprocessing.VocabularyProcessor")
class VocabularyProcessor:
    """Makes texts into rows of the numbers of their words.

    Args:
      max_document_length: The size of a row: longer texts are cut, shorter ones filled with zeros.
      min_frequency: Words that occur so often or less are unknown.
      vocabulary: The vocabulary; by default `fit` makes one.
      tokenizer_fn: The function of texts that gives the words of each; `tokenizer` by default.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[Iterable[str]]] | None = None,
    ):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: object = None) -> VocabularyProcessor:
        """Fills the vocabulary with the words of texts.

        Args:
          raw_documents: The texts.
          unused_y: Has no effect.

        Returns:
          The processor.
        """
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: object = None) -> Iterator[np.ndarray]:
        """Fills the vocabulary with the words of texts, and numbers them.

        Args:
          raw_documents: The texts.
          unused_y: Has no effect.

        Returns:
          The rows of numbers.
        """
        return self.fit(raw_documents).transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """Makes texts into rows of the numbers of their words.

        Args:
          raw_documents: The texts.

        Returns:
          The rows of numbers.
        """
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, word in enumerate(words):
                if place >= self.max_document_length:
                    break
                row[place] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """Makes rows of numbers into texts.

        Args:
          documents: The rows.

        Returns:
          The words of each row, with spaces between them.
        """
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Writes the processor to a file.

        Args:
          filename: The file.
        """
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Reads a processor that `save` wrote. The file is a pickle: read only what you trust.

        Args:
          filename: The file.

        Returns:
          The processor.
        """
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())
