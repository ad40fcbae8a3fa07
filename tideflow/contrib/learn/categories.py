"""Categories as numbers: vocabularies, and tables of categories."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tideflow.export import export


@export("contrib.learn.preprocessing.CategoricalVocabulary")
class CategoricalVocabulary:
    """A vocabulary that numbers categories in the order in which they come; 0 is the unknown one.

    Args:
      unknown_token: The category of number 0.
      support_reverse: Whether numbers can be made into categories again.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._counts: dict[Any, int] = collections.defaultdict(int)
        self._frozen = False
        self._number([])

    def _number(self, categories: Sequence[Any]) -> None:
        self._categories = [self._unknown_token, *categories]
        self._mapping = {category: number for number, category in enumerate(self._categories)}

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Lets the vocabulary grow no more, or grow again.

        Args:
          freeze: Whether new categories are unknown; else they get numbers.
        """
        self._frozen = freeze

    def get(self, category: Any) -> int:
        """Looks up the number of a category; a new one gets a number unless the vocabulary is frozen.

        Args:
          category: The category.

        Returns:
          The number, 0 for an unknown category.
        """
        if category not in self._mapping:
            if self._frozen:
                return 0
            self._mapping[category] = len(self._mapping)
            self._categories.append(category)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category.

        Args:
          category: The category.
          count: How often it occurs.
        """
        if self.get(category) > 0:
            self._counts[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Forgets rare categories, and frequent ones, and numbers the rest by how often they occur.

        Args:
          min_frequency: Categories that occur so often or less are forgotten.
          max_frequency: Categories that occur so often or more are forgotten, if it is above 0.
        """
        ordered = sorted(self._counts.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        ordered.sort(key=lambda item: item[1], reverse=True)
        kept = [
            (category, count)
            for category, count in ordered
            if count > min_frequency and not 0 < max_frequency <= count
        ]
        self._number([category for category, _ in kept])
        self._counts = collections.defaultdict(int, kept)

    def reverse(self, class_id: int) -> Any:
        """Looks up the category of a number.

        Args:
          class_id: The number.

        Returns:
          The category.

        Raises:
          ValueError: If the vocabulary was made without `support_reverse`.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() function."
            )
        return self._categories[class_id]


def _rows(x: Any) -> Iterable[Any]:
    """The rows of a table, which may be a data frame of pandas."""
    return x.to_numpy() if hasattr(x, "iloc") else x


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


@export("contrib.learn.preprocessing.CategoricalProcessor")
class CategoricalProcessor:
    """Makes the categories in the columns of a table into numbers.

    Args:
      min_frequency: Categories that occur so often or less are unknown.
      share: Whether all columns have one vocabulary.
      vocabularies: The vocabulary of each column; by default they are made by `fit`.
    """

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: Sequence[CategoricalVocabulary] | None = None,
    ):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Lets the vocabularies grow no more, or grow again.

        Args:
          freeze: Whether new categories are unknown; else they get numbers.
        """
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Any], unused_y: Any = None) -> CategoricalProcessor:
        """Fills the vocabularies with the categories of a table.

        Args:
          x: The rows of the table, or a data frame of pandas.
          unused_y: Has no effect.

        Returns:
          The processor.
        """
        for row in _rows(x):
            if self.vocabularies_ is None:
                shared = CategoricalVocabulary()
                self.vocabularies_ = [shared if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row, strict=True):
                if not _is_nan(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Iterable[Any], unused_y: Any = None) -> Iterator[np.ndarray]:
        """Fills the vocabularies with the categories of a table, and numbers them.

        Args:
          x: The rows of the table, or a data frame of pandas.
          unused_y: Has no effect.

        Returns:
          The rows of numbers.
        """
        return self.fit(x).transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Makes the categories of a table into numbers.

        Args:
          x: The rows of the table, or a data frame of pandas.

        Returns:
          The rows of numbers; a missing value has the number 0.
        """
        self.freeze()
        for row in _rows(x):
            pairs = zip(self.vocabularies_ or (), row, strict=True)
            numbers = [0 if _is_nan(value) else vocabulary.get(value) for vocabulary, value in pairs]
            yield np.array(numbers, np.int64)
