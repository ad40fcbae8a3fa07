"""Vocabularies: tokens by frequency, by weight or by what they tell about a label, and the files of them.

A vocabulary's file has a token a line, the most valuable one first, or a weight and a token. Equal tokens by
value come in falling order of their bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.io.records import framed
from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.engine.value_counts import ValueCounts

# What the file of an empty vocabulary contains: a table of no entries cannot be made of a file.
_NO_TOKEN = {True: b"49d0cd50-04bb-48c0-bc6f-5b575dce351a", False: b"-1"}


@dataclass(frozen=True)
class Pruning:
    """Which tokens are kept.

    Args:
      top_k: How many at most.
      threshold: The least value.
      frequency: The least frequency, where the value is another one.
    """

    top_k: int | None = None
    threshold: float = -math.inf
    frequency: float = 0.0


@dataclass(frozen=True)
class Format:
    """How a vocabulary is written.

    Args:
      strings: Whether tokens are strings; else integers.
      store_frequency: Whether a line has the value in front of the token.
      fingerprint_shuffle: Whether tokens are in the order of their hashes.
      file_format: "text" or "tfrecord_gzip".
    """

    strings: bool = True
    store_frequency: bool = False
    fingerprint_shuffle: bool = False
    file_format: str = "text"


@dataclass(frozen=True)
class File:
    """A file that an analyzer makes.

    Args:
      content: What stands in it.
      entries: The number of its entries.
    """

    content: bytes
    entries: int


@dataclass(frozen=True)
class Vocabulary(Accumulator):
    """The file of the tokens of a column, or of the tokens with weights.

    Its blocks are the tokens, and their weights where there are any.

    Args:
      pruning: Which tokens are kept.
      format: How they are written.
      coverage: Which tokens of each key are kept besides.
      key_fn: The key of a token, for `coverage`.
    """

    pruning: Pruning = Pruning()
    format: Format = Format()
    coverage: Pruning | None = None
    key_fn: Callable[[Any], Any] | None = None

    def create(self) -> Any:
        return ValueCounts()

    def add(self, state: Any, block: Any) -> Any:
        weights = block[1].reshape(-1).astype(np.float64) if len(block) > 1 else None
        state.add(self._column(block[0]), weights)
        return state

    def merge(self, states: Sequence[Any]) -> Any:
        return states[0].merge(states[1:])

    def _column(self, tokens: np.ndarray) -> pa.Array:
        return pa.array(tokens.reshape(-1), pa.binary() if self.format.strings else pa.int64())

    def _is_token(self, token: Any) -> bool:
        """A line of text cannot be empty, nor have a line break inside."""
        if not self.format.strings or self.format.file_format != "text":
            return True
        return bool(token) and b"\n" not in token and b"\r" not in token

    def extract(self, state: Any, reserved: Sequence[bytes] = ()) -> File:
        tokens, counts, weights = state.table()
        values = (counts if weights is None else weights).tolist()
        pairs = zip(tokens.to_pylist(), values, strict=True)
        return self.file(
            [((value, value), token) for token, value in pairs if self._is_token(token)], reserved
        )

    def file(self, tokens: Iterable[tuple[tuple[Any, Any], Any]], reserved: Sequence[bytes] = ()) -> File:
        """The file of tokens, each with its value and its frequency."""
        entries = [(value, frequency, _as_bytes(token)) for (value, frequency), token in tokens]
        kept = {(value, token) for value, _, token in _pruned(entries, self.pruning)}
        if self.coverage is not None and self.key_fn is not None:
            by_key: dict[Any, list[Any]] = {}
            for entry in entries:
                by_key.setdefault(self.key_fn(entry[2]), []).append(entry)
            for group in by_key.values():
                kept |= {(value, token) for value, _, token in _pruned(group, self.coverage)}
        return _file(kept, self.format, reserved)


def _file(entries: Iterable[tuple[Any, bytes]], how: Format, reserved: Sequence[bytes] = ()) -> File:
    """The file of values with tokens, in order, behind reserved tokens."""
    names = set(reserved)
    kept = list(entries)
    ordered = [entry for entry in kept if entry[1] not in names]
    if not kept and not reserved:
        ordered = [(1, _NO_TOKEN[how.strings])]
    if how.fingerprint_shuffle:
        ordered.sort(key=lambda entry: hashlib.sha1(entry[1]).digest())
    else:
        ordered.sort(reverse=True)
    ordered = [(-1, token) for token in reserved] + ordered
    lines = [f"{value} ".encode() + token if how.store_frequency else token for value, token in ordered]
    if how.file_format == "text":
        content = b"".join(line + b"\n" for line in lines)
    else:
        content = gzip.compress(b"".join(framed(line) for line in lines), mtime=0)
    return File(content, max(len(kept), 1))


def _as_bytes(token: Any) -> bytes:
    return token if isinstance(token, bytes) else str(token).encode()


def _pruned(entries: Iterable[tuple[Any, Any, bytes]], pruning: Pruning) -> list[tuple[Any, Any, bytes]]:
    """The entries (value, frequency, token) that are kept; the most valuable first, if there is a limit."""
    kept = [entry for entry in entries if entry[1] >= pruning.frequency and entry[0] >= pruning.threshold]
    if pruning.top_k is None:
        return kept
    return sorted(kept, key=lambda entry: (entry[0], entry[2]), reverse=True)[: pruning.top_k]


# ------------------------------------------------------------------------ what tokens tell about labels


@dataclass(frozen=True)
class _Occurrences:
    """In how many rows a token is, with what weight, and with what weight by label."""

    count: float
    weight: float
    by_label: np.ndarray

    def __add__(self, other: _Occurrences) -> _Occurrences:
        width = max(len(self.by_label), len(other.by_label))
        by_label = [np.pad(each.by_label, (0, width - len(each.by_label))) for each in (self, other)]
        return _Occurrences(self.count + other.count, self.weight + other.weight, by_label[0] + by_label[1])


_ALL_ROWS = None  # the token that every row has: its occurrences are those of the labels


@dataclass(frozen=True)
class InformativeVocabulary(Vocabulary):
    """The file of tokens by their mutual information with a label.

    Its blocks are the tokens, the label and the weight of each, then the labels and the weights of all rows.
    A label of -1 is none.

    Args:
      adjusted: Whether the information that chance would give is taken off.
      min_diff_from_avg: A label whose number of rows with the token differs less from the expected one tells
        nothing; None takes 2 to 25, by the number of rows.
    """

    adjusted: bool = False
    min_diff_from_avg: float | None = None

    def create(self) -> dict[Any, Any]:
        return {}

    def add(self, state: dict[Any, Any], block: Any) -> dict[Any, Any]:
        tokens, labels, weights, row_labels, row_weights = block
        if not row_weights.size:
            return state
        width = int(max(labels.max(initial=-1), row_labels.max(initial=-1))) + 1
        column = self._column(tokens).dictionary_encode()
        codes, names = np.asarray(column.indices), column.dictionary.to_pylist()
        labels = labels.reshape(len(codes), -1) if len(codes) else labels.reshape(0, 1)
        weights = weights.reshape(-1)
        by_label = np.zeros((len(names), width))
        for each in labels.T:
            known = each >= 0
            np.add.at(by_label, (codes[known], each[known]), weights[known])
        counts = np.bincount(codes, minlength=len(names))
        sums = np.bincount(codes, weights, len(names))
        found = {
            token: _Occurrences(float(count), float(weight), row)
            for token, count, weight, row in zip(names, counts, sums, by_label, strict=True)
            if self._is_token(token)
        }
        totals = np.zeros(width)
        row_labels = row_labels.reshape(len(row_weights), -1)
        for each in row_labels.T:
            np.add.at(totals, each[each >= 0], row_weights[each >= 0])
        found[_ALL_ROWS] = _Occurrences(float(len(row_weights)), float(row_weights.sum()), totals)
        return self.merge([state, found])

    def merge(self, states: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
        total = states[0]
        for state in states[1:]:
            for token, own in state.items():
                total[token] = total[token] + own if token in total else own
        return total

    def extract(self, state: dict[Any, Any], reserved: Sequence[bytes] = ()) -> File:
        everything = state.pop(_ALL_ROWS, None)
        if everything is None:
            return self.file([], reserved)
        scored = [(self._value(own, everything), token) for token, own in state.items()]
        return self.file(scored, reserved)

    def _value(self, own: _Occurrences, rows: _Occurrences) -> tuple[float, float]:
        """The information that a token gives about the label, and its frequency."""
        total = rows.weight
        if total == 0:
            return math.nan, 0.0
        if round(own.weight) == round(total):
            return 0, own.weight
        if round(own.weight) > round(total):
            raise ValueError(
                f"Frequency of token higher than number of records {own.weight} > {total}. This likely means "
                "you have provided tft.vocabulary with input that has repeated tokens per row, rather than a "
                "set representation."
            )
        least = self.min_diff_from_avg
        if least is None:
            least = int(min(25, max(2, (total - 1e4) / (1e6 - 1e4) * 23 + 2)))
        information = 0.0
        for label, with_label in enumerate(rows.by_label):
            if with_label == 0:
                continue
            share = own.by_label[label] / own.weight if label < len(own.by_label) and own.weight else 0.0
            both = min(max(share, 1e-6), 1 - 1e-6) * own.weight
            if abs(own.weight * with_label / total - both) < least:
                continue
            information += both * math.log2(both * total / (own.weight * with_label))
            if self.adjusted:
                information -= expected_information(total, own.weight, with_label)
        return information, own.weight


def expected_information(total: float, first: float, second: float) -> float:
    """The mutual information that chance gives to two values with these frequencies, times `total`.

    The number of rows with both has the hypergeometric distribution, worked out by logarithms of factorials.
    """
    if not first or not second:
        return 0.0
    lowest, highest = round(max(0.0, first + second - total)), round(min(first, second))
    both = np.arange(lowest, highest + 1, dtype=np.float64)
    log_p = np.array(
        [
            -math.lgamma(n + 1)
            - math.lgamma(max(first - n, 0) + 1)
            - math.lgamma(max(second - n, 0) + 1)
            - math.lgamma(max(total - first - second + n, 0) + 1)
            for n in both
        ]
    )
    p = np.exp(log_p - log_p.max())
    some = both > 0
    gain = both[some] * np.log2(both[some] * total / (first * second))
    return float((gain * p[some]).sum() / p.sum())


# ----------------------------------------------------------------------------- values by key, in a file


@dataclass(frozen=True)
class KeyedFile(Accumulator):
    """The file of another reduction's results by key: a line has the results with commas, and the key.

    Args:
      reduction: A reduction whose results are keys and values (`PerKey`, `KeyCounts`).
    """

    reduction: Accumulator

    def create(self) -> Any:
        return self.reduction.create()

    def add(self, state: Any, block: Any) -> Any:
        return self.reduction.add(state, block)

    def merge(self, states: Sequence[Any]) -> Any:
        return self.reduction.merge(states)

    def extract(self, state: Any) -> File:
        keys, *columns = self.reduction.extract(state)
        lines = [",".join(map(str, values)) for values in zip(*columns, strict=True)]
        return _file(zip(lines, keys, strict=True), Format(store_frequency=True, fingerprint_shuffle=True))
