"""Sequences as arrays: padded to one length, in pairs of neighbours, in windows over time."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.utils.data_utils import Sequence as BatchSequence


@export("keras.preprocessing.sequence.pad_sequences")
def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: str = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Makes sequences equally long.

    Args:
      sequences: The sequences, a list of lists.
      maxlen: The length; that of the longest if None.
      dtype: The type of the result.
      padding: `"pre"` or `"post"`: where values are added.
      truncating: `"pre"` or `"post"`: where values are cut off.
      value: The value that is added.

    Returns:
      An array of shape [sequences, maxlen].

    Raises:
      ValueError: If a sequence has another shape, or an argument is unknown.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")
    longest = max((len(each) for each in sequences), default=0)
    maxlen = longest if maxlen is None else maxlen
    sample = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    if isinstance(value, str) and np.dtype(dtype) != np.dtype(object) and not np.issubdtype(dtype, np.str_):
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set "
            "`dtype=object` for variable length strings."
        )
    made = np.full((len(sequences), maxlen, *sample), value, dtype=dtype)
    for number, each in enumerate(sequences):
        if not len(each):
            continue
        if truncating not in ("pre", "post"):
            raise ValueError(f'Truncating type "{truncating}" not understood')
        kept = np.asarray(each[-maxlen:] if truncating == "pre" else each[:maxlen], dtype=dtype)
        if kept.shape[1:] != sample:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {number} is different from "
                f"expected shape {sample}"
            )
        if padding == "post":
            made[number, : len(kept)] = kept
        elif padding == "pre":
            made[number, len(made[number]) - len(kept) :] = kept
        else:
            raise ValueError(f'Padding type "{padding}" not understood')
    return made


@export("keras.preprocessing.sequence.make_sampling_table")
def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> np.ndarray:
    """Computes how probably words are kept, by their rank, if frequent ones are dropped (word2vec).

    Args:
      size: The number of words.
      sampling_factor: How many are kept.

    Returns:
      An array of probabilities.
    """
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * inverse
    return np.minimum(1.0, f / np.sqrt(f))


@export("keras.preprocessing.sequence.skipgrams")
def skipgrams(
    sequence: Sequence[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Makes pairs of a word and one near it, and pairs with random words.

    Args:
      sequence: The words, as numbers; 0 is no word.
      vocabulary_size: The largest number plus one.
      window_size: How far words may be from each other.
      negative_samples: How many random pairs there are for each real one.
      shuffle: Whether the pairs are shuffled.
      categorical: Whether labels are pairs, not numbers.
      sampling_table: How probably words are kept, by number; all if None.
      seed: The seed of the random numbers.

    Returns:
      The pairs, and their labels: 1 for real ones.
    """
    couples, labels = [], []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        start, end = max(0, i - window_size), min(len(sequence), i + window_size + 1)
        for j in range(start, end):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        number = int(len(labels) * negative_samples)
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(number)]
        labels += [[1, 0] if categorical else 0] * number
    if shuffle:
        seed = random.randint(0, int(10e6)) if seed is None else seed
        random.seed(seed)
        random.shuffle(couples)
        random.seed(seed)
        random.shuffle(labels)
    return couples, labels


@export("keras.preprocessing.sequence.TimeseriesGenerator")
class TimeseriesGenerator(BatchSequence):
    """Batches of windows over time.

    Args:
      data: The values, by time.
      targets: The true values, by time.
      length: The length of a window.
      sampling_rate: The distance of the time steps in a window.
      stride: The distance of windows.
      start_index: The first time step that is used.
      end_index: The last time step that is used; that of the data if None.
      shuffle: Whether windows are taken at random.
      reverse: Whether the time of each window is reversed.
      batch_size: The number of windows in a batch.
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ):
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. Data length is "
                f"{len(data)} while target length is {len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as no "
                "part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        span = self.end_index - self.start_index + self.batch_size * self.stride
        return span // (self.batch_size * self.stride)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(
                first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride
            )
        samples = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...] if self.reverse else samples), targets

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name, as JSON can hold them."""
        names = ("length", "sampling_rate", "stride", "shuffle", "reverse", "batch_size")
        return {
            "data": json.dumps(np.asarray(self.data).tolist()),
            "targets": json.dumps(np.asarray(self.targets).tolist()),
            **{name: getattr(self, name) for name in names},
            "start_index": self.start_index,
            "end_index": self.end_index,
        }

    def to_json(self, **kwargs: Any) -> str:
        """The class name and the arguments as JSON.

        Args:
          **kwargs: Arguments of `json.dumps`.

        Returns:
          A string.
        """
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
