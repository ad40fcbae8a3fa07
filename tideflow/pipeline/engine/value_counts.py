"""How often each value occurs, exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tideflow.pipeline.engine.workers import at_once

_PENDING_VALUES = 1 << 20
_PENDING_BYTES = 1 << 26
_MOST_HASHES = 1 << 21  # that are kept: beyond it memory is dearer than the time to make them again
_SAMPLE = 1 << 13
_MANY_BYTES = 64  # mean bytes of a value from which on Arrow hashes them faster
_LONG = 256  # bytes of a string, up to which many are hashed at once, eight bytes at a time
_AT_ONCE = 1 << 18  # values, among which the largest are looked for
_AT_A_TIME = 1 << 14  # values; what is computed of them stays in a processor's cache
_RANGE_BITS = 3  # of hashes: so many ranges are merged at once
_RANGES = 1 << _RANGE_BITS
_ODD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


class _Values(NamedTuple):
    """Values, how often each occurs (None: once), the weight of each, and their hashes.

    Hashes are rising, and there only if they are all different, so that the values are.
    """

    values: pa.Array
    counts: np.ndarray | None = None
    weights: np.ndarray | None = None
    hashes: np.ndarray | None = None


class ValueCounts:
    """How often each byte string or integer occurs, and with which weight in all."""

    def __init__(self) -> None:
        self._parts: list[_Values] = []
        self._waiting = self._bytes = 0
        self._settled = 0

    def add(self, values: pa.Array, weights: np.ndarray | None = None) -> None:
        """Adds values that are not null, each with its weight if there are any."""
        if not len(values):
            return
        self._parts.append(_Values(values, weights=weights))
        self._waiting += len(values)
        self._bytes += values.nbytes
        if self._waiting >= max(_PENDING_VALUES, self._settled) or self._bytes >= _PENDING_BYTES:
            self.settle()

    def merge(self, others: Sequence[ValueCounts]) -> ValueCounts:
        """Adds what others have counted; returns self."""
        for other in others:
            self._parts += other._parts
            self._waiting += other._waiting + other._settled
            self._bytes += other._bytes
        if self._waiting >= max(_PENDING_VALUES, self._settled):
            self.settle()
        return self

    @property
    def distinct(self) -> int:
        """The number of different values."""
        return len(self.table()[0])

    def table(self) -> tuple[pa.Array, np.ndarray, np.ndarray | None]:
        """The values, how often each occurs, and the weight of each; in no order."""
        self.settle()
        if not self._parts:
            return pa.array([], pa.binary()), np.zeros(0, np.int64), None
        whole = self._parts[0]
        return whole.values, _counts_of(whole), whole.weights

    def top(self, most: int, weighted: bool = False) -> list[tuple[Any, float]]:
        """The most frequent values with their counts. Of equally frequent ones the larger come first."""
        self.settle()
        if not self._parts:
            return []
        values, counts, weights, _ = self._parts[0]
        ranks = weights if weighted else counts
        if ranks is None:
            if weighted:
                return []
            chosen = _largest(values, np.ones(len(values), bool), most)
            return [(value, 1) for value in sorted(values.take(pa.array(chosen)).to_pylist(), reverse=True)]
        least = (
            np.partition(ranks, len(ranks) - most)[len(ranks) - most] if len(ranks) > most else ranks.min()
        )
        above = np.flatnonzero(ranks > least)
        chosen = np.concatenate([above, _largest(values, ranks == least, most - len(above))])
        pairs = zip(values.take(pa.array(chosen)).to_pylist(), ranks[chosen].tolist())
        return sorted(pairs, key=lambda pair: (pair[1], pair[0]), reverse=True)

    def settle(self) -> None:
        """Makes one part of all, with each value once."""
        if not self._waiting:
            return
        parts, self._parts = self._parts, []
        self._parts = [_joined(parts)]
        self._settled, self._waiting, self._bytes = len(self._parts[0].values), 0, 0

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        if self._parts:
            whole = self._parts[0]  # without the buffers around a slice
            self._parts = [whole._replace(values=pa.concat_arrays([whole.values]))]
        return self.__dict__


def _joined(parts: list[_Values]) -> _Values:
    """One part of several, with each value once. The list is emptied: what it holds is twice there now."""
    values = pa.concat_arrays([part.values for part in parts]) if len(parts) > 1 else parts[0].values
    counts = weights = None
    if any(part.counts is not None for part in parts):
        counts = np.concatenate([_counts_of(part) for part in parts])
    if parts[0].weights is not None:
        weights = np.concatenate([part.weights for part in parts])
    hashes = None
    if len(values) <= _MOST_HASHES:
        hashes = _all_different([part.hashes for part in parts])
    parts.clear()
    return _counted(values, counts, weights) if hashes is None else _Values(values, counts, weights, hashes)


def _all_different(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """All hashes, rising, if there are some of each part and all are different."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    # Each range of hashes is a slice of every part: ranges are merged by several threads at once.
    bounds = np.arange(1, _RANGES, dtype=np.uint64) << np.uint64(64 - _RANGE_BITS)
    ends = [[0, *np.searchsorted(part, bounds).tolist(), len(part)] for part in known]

    def merged(at: int) -> np.ndarray | None:
        rising = np.concatenate([part[end[at] : end[at + 1]] for part, end in zip(known, ends)])
        rising.sort(kind="stable")  # merges what is sorted already
        return rising if (rising[1:] != rising[:-1]).all() else None

    ranges = [each for each in at_once(merged, range(_RANGES)) if each is not None]
    return np.concatenate(ranges) if len(ranges) == _RANGES else None


def _largest(values: pa.Array, among: np.ndarray, most: int) -> np.ndarray:
    """The places of the largest of some values, in no order. Of many values it takes little memory."""

    def chosen(places: np.ndarray) -> np.ndarray:
        if len(places) <= most:
            return places
        table = pa.table({"value": values.take(pa.array(places))})
        largest: np.ndarray = places[pc.select_k_unstable(table, most, [("value", "descending")]).to_numpy()]
        return largest

    def of_part(begin: int) -> np.ndarray:
        here = np.flatnonzero(among[begin : begin + _AT_ONCE])
        if len(here) > most and pa.types.is_binary(values.type):
            first = _first_bytes(values.slice(begin, _AT_ONCE))[here]
            here = here[first >= np.partition(first, len(first) - most)[len(first) - most]]
        return chosen(begin + here)

    parts = at_once(of_part, range(0, len(values), _AT_ONCE))
    return chosen(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _first_bytes(values: pa.Array) -> np.ndarray:
    """The first eight bytes of each value as a number: it rises with the values."""
    words, offsets = _words_of(values)
    lengths = np.minimum(np.diff(offsets), 8)
    numbers = words[offsets[:-1]].byteswap()  # little-endian words are compared from their last byte on
    unused = (8 * (8 - lengths)).astype(np.uint64)
    return np.where(lengths > 0, numbers >> unused << unused, np.uint64(0))


def _counted(values: pa.Array, counts: np.ndarray | None, weights: np.ndarray | None) -> _Values:
    """Each different value once, with the sum of its counts (None: each occurs once) and weights."""
    if weights is not None or not _seem_different(values) or values.nbytes > _MANY_BYTES * len(values):
        return _grouped(values, counts, weights)
    rising = hashes_of(values)
    rising.sort()
    again = np.unique(rising[1:][rising[1:] == rising[:-1]])
    if not len(again):
        return _Values(values, counts, hashes=rising if len(values) <= _MOST_HASHES else None)
    if len(again) > len(values) // 8:
        return _grouped(values, counts, weights)
    del rising
    hashes = hashes_of(values)
    once = again[np.minimum(np.searchsorted(again, hashes), len(again) - 1)] != hashes
    rest = _grouped(values.filter(pa.array(~once)), None if counts is None else counts[~once], None)
    single = values.filter(pa.array(once))
    of_single = np.ones(len(single), np.int64) if counts is None else counts[once]
    return _Values(pa.concat_arrays([single, rest.values]), np.concatenate([of_single, _counts_of(rest)]))


def _counts_of(part: _Values) -> np.ndarray:
    return np.ones(len(part.values), np.int64) if part.counts is None else part.counts


def _grouped(values: pa.Array, counts: np.ndarray | None, weights: np.ndarray | None) -> _Values:
    if counts is None and weights is None:
        pairs = pc.value_counts(values)
        return _Values(pairs.field(0), pairs.field(1).to_numpy())
    encoded = pc.dictionary_encode(values)
    at, size = encoded.indices.to_numpy(), len(encoded.dictionary)
    summed = np.bincount(at, minlength=size)
    if counts is not None:
        summed = np.zeros(size, np.int64)
        np.add.at(summed, at, counts)
    return _Values(encoded.dictionary, summed, None if weights is None else np.bincount(at, weights, size))


def _seem_different(values: pa.Array) -> bool:
    """Whether most values of a sample occur once: then sorting hashes is faster than a hash table."""
    if len(values) <= _SAMPLE:
        return False
    step = len(values) // _SAMPLE
    sample = values.take(pa.array(np.arange(0, _SAMPLE * step, step)))
    return bool(pc.count_distinct(sample).as_py() > 0.9 * _SAMPLE)


def hashes_of(values: pa.Array) -> np.ndarray:
    """A number of each byte string, made of its length and its bytes, eight at a time; or of each number."""
    if not pa.types.is_binary(values.type):
        wide = np.int64 if pa.types.is_integer(values.type) else np.float64
        bits: np.ndarray = values.to_numpy(zero_copy_only=False).astype(wide).view(np.uint64)
        return bits
    hashes = np.empty(len(values), np.uint64)
    for begin in range(0, len(values), _AT_A_TIME):
        words, offsets = _words_of(values.slice(begin, _AT_A_TIME))
        hashes[begin : begin + _AT_A_TIME] = _hashes_at(words, offsets[:-1], np.diff(offsets))
    return hashes


def _words_of(values: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The eight bytes from each byte of byte strings on, as numbers; and where strings begin and end."""
    _, places, data = values.buffers()
    offsets = np.frombuffer(places, np.int32, len(values) + 1, values.offset * 4).astype(np.int64)
    inside = b"" if data is None else memoryview(data)[offsets[0] : offsets[-1]]
    padded = bytes(inside) + bytes(8)
    return np.ndarray(len(padded) - 7, "<u8", padded, strides=(1,)), offsets - offsets[0]


def _hashes_at(words: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    hashes = lengths.astype(np.uint64) * _ODD
    for begin in range(0, min(int(lengths.max()), _LONG), 8):
        live = np.flatnonzero(lengths > begin)  # a hash does not depend on the strings beside it
        left = np.minimum(lengths[live] - begin, 8).astype(np.uint64)
        word = words[starts[live] + begin] << np.uint64(8) * (np.uint64(8) - left)
        mixed = (hashes[live] ^ word) * _MIX
        hashes[live] = mixed ^ (mixed >> np.uint64(31))
    for long in np.flatnonzero(lengths > _LONG).tolist():
        whole = words[starts[long] : starts[long] + lengths[long] - 7 : 8].tobytes()
        rest = words[starts[long] + lengths[long] - 8].tobytes()
        digest = hashlib.blake2b(whole + rest, digest_size=8).digest()
        hashes[long] = np.uint64(int.from_bytes(digest, "little"))
    return hashes
