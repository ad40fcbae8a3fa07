"""Examples as random forests take them: dense numbers, sparse ones, labels with weights, random numbers."""

from __future__ import annotations

import re
import secrets
from typing import Any, NamedTuple

import numpy as np

from tideflow.graph import errors
from tideflow.runtime.philox import Philox

FLOAT, CATEGORICAL = range(2)


class InputSpec(NamedTuple):
    """What the columns of examples are: the kind of each dense one, and of all sparse ones."""

    dense: list[int]
    sparse: int

    @classmethod
    def parse(cls, text: str | bytes) -> InputSpec:
        """Reads what `TensorForestDataSpec.SerializeToString` wrote."""
        text = text.decode() if isinstance(text, bytes) else text
        dense, _, sparse = text.partition("sparse:")
        columns = re.findall(r"original_type: (\d+) size: (-?\d+)", dense)
        kinds = [int(kind) for kind, size in columns for _ in range(int(size))]
        of_sparse = re.search(r"original_type: (\d+)", sparse)
        return cls(kinds, int(of_sparse[1]) if of_sparse else FLOAT)


class Examples:
    """A batch: dense features come first, sparse ones are numbered after them."""

    def __init__(
        self, dense: np.ndarray, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, spec: InputSpec
    ):
        self._dense, self._spec = dense, spec
        self._has_dense = dense.ndim == 2
        self._width = dense.shape[1] if self._has_dense else 0
        self._rows, self._columns, self._values = indices[:, 0], indices[:, 1], values
        self.count = len(dense) if self._has_dense else int(shape[0]) if len(shape) else 0
        self._stride = int(shape[1]) if len(shape) else 1
        keys = self._rows * self._stride + self._columns
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._starts = np.searchsorted(self._rows, np.arange(self.count + 1)) if len(keys) else None

    def at(self, examples: np.ndarray, features: np.ndarray) -> np.ndarray:
        """The values of features, one for each example; a sparse one that is not there is 0."""
        examples, features = np.broadcast_arrays(examples, features)
        found = np.zeros(examples.shape, np.float32)
        is_dense = features < self._width
        found[is_dense] = self._dense[examples[is_dense], features[is_dense]] if self._has_dense else 0
        if not is_dense.all() and len(self._keys):
            columns = features[~is_dense] - self._width
            keys = examples[~is_dense] * self._stride + columns
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            there = (self._keys[places] == keys) & (columns < self._stride)
            found[~is_dense] = np.where(there, self._values[self._order[places]], 0)
        return found

    def any_feature(self, example: int, numbers: RandomIntegers) -> tuple[int, float, int]:
        """A random feature of an example: its number, its value, and its kind."""
        start, end = (0, 0) if self._starts is None else self._starts[example : example + 2]
        total = self._width + int(end - start)
        if total == 0:
            raise errors.invalid_argument(f"example {example} has no features to split by")
        drawn = numbers.below(total)
        if drawn < self._width:
            return drawn, float(self._dense[example, drawn]), self._spec.dense[drawn]
        place = start + drawn - self._width
        return self._width + int(self._columns[place]), float(self._values[place]), self._spec.sparse


class Targets(NamedTuple):
    """The labels of a batch, [examples, outputs], and the weight of each example."""

    labels: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, weights: np.ndarray, count: int) -> Targets:
        """Labels as rows; without weights, every example counts once."""
        rows = labels.reshape(count, -1).astype(np.float32)
        return cls(rows, weights.astype(np.float32) if weights.size else np.ones(count, np.float32))

    def classes(self, examples: np.ndarray, limit: int) -> np.ndarray:
        """The classes of examples."""
        found: np.ndarray = self.labels[examples, 0].astype(np.int64)
        wrong = found[(found < 0) | (found >= limit)]
        if len(wrong):
            raise errors.invalid_argument(
                f"labels must be from 0 to {limit - 1} (num_classes={limit}), but one is {wrong[0]}"
            )
        return found


class RandomIntegers:
    """Random integers, as TensorFlow draws them. Seed 0 stands for a random seed."""

    def __init__(self, seed: int):
        self._generator = Philox.from_seeds(seed or secrets.randbits(64), 0)
        self._words: list[int] = []
        self._blocks = 0

    def _word(self) -> int:
        if not self._words:
            self._words = self._generator.words(self._blocks, 64).reshape(-1)[::-1].tolist()
            self._blocks += 64
        return self._words.pop()

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1, each as probable; words that would favour some are drawn again."""
        if limit & (limit - 1) == 0:
            return self._word() & (limit - 1)
        skipped = 0xFFFFFFFF % limit + 1
        while (word := self._word()) < skipped:
            pass
        return word % limit


def of_depth(parameter: Any, depth: int) -> float:
    """What a parameter that depends on a node's depth is there."""
    kind = parameter.WhichOneof("ParamType")
    if kind == "linear":
        linear = parameter.linear
        return float(min(max(linear.slope * depth + linear.y_intercept, linear.min_val), linear.max_val))
    if kind == "exponential":
        exponential = parameter.exponential
        power = exponential.base ** (exponential.depth_multiplier * depth)
        return float(exponential.bias + exponential.multiplier * power)
    if kind == "threshold":
        threshold = parameter.threshold
        return float(threshold.on_value if depth >= threshold.threshold else threshold.off_value)
    return float(parameter.constant_value)
