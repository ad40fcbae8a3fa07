"""Many Example messages at once: NumPy walks through all of them in step, one field of each at a time.

A loop over messages in Python would cost more than everything else. Here the loop is over the fields of one
message: each turn reads one field of every message. What is laid out as every writer lays it out is read
this way; `columns_in_step` gives None for anything else (other field orders, unpacked numbers, types other
than asked for, broken bytes), and the messages are then read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType

# Tags of the fields on the wire: number << 3 | 2, "a length and so many bytes".
_FIRST, _SECOND, _THIRD = 0x0A, 0x12, 0x1A
_TAG_OF_LIST = {dtypes.string: _FIRST, dtypes.float32: _SECOND, dtypes.int64: _THIRD}
_MANY_TURNS, _FEW_MESSAGES = 64, 16  # so many turns for so few messages: one by one is faster
_TOGETHER = 8192  # messages: what is made of them fits a processor's own memory
_LONGEST_KEY = 127  # bytes: its length is one byte
# Three headers behind each other, each a tag and a length of one byte: 2, 4 and 6 less than all there is.
_LONGEST_SHORT = 129
_SIX_BYTES, _EACH_LENGTH = np.uint64((1 << 48) - 1), np.uint64(1 << 8 | 1 << 24 | 1 << 40)
_HEADERS_BEFORE = np.uint64(2 << 8 | 4 << 24 | 6 << 40)
_PADDING = bytes(16)  # a number may be read past the end before the end is looked at
# Numbers of 8 bytes at most are read as words: 7 bits of each byte, and a bit that says whether more follow.
_MORE_BITS, _SEVEN_BITS = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)
_HALVES = [  # groups of bits moved together: which keep their place, and how far the others move
    (np.uint64(0x007F007F007F007F), np.uint64(1)),
    (np.uint64(0x00003FFF00003FFF), np.uint64(2)),
    (np.uint64(0x000000000FFFFFFF), np.uint64(4)),
]

Columns = list[tuple[np.ndarray, np.ndarray]]


class _OddLayout(Exception):
    """Something that is not read in step."""


def columns_in_step(messages: Sequence[bytes], wanted: Sequence[tuple[str, DType]]) -> Columns | None:
    """For every wanted (feature, type): how many values each message has, -1 where it lacks the feature, and
    the values of all messages. None where the messages must be read one by one.
    """
    starts = range(0, max(len(messages), 1), _TOGETHER)
    try:
        parts = [_Batch(messages[i : i + _TOGETHER]).columns(wanted) for i in starts]
    except _OddLayout:
        return None
    if len(parts) == 1:
        return parts[0]
    return [tuple(map(np.concatenate, zip(*column))) for column in zip(*parts)]


class _Batch:
    """The bytes of many messages end to end, read at many places at once."""

    def __init__(self, messages: Sequence[bytes]):
        lengths = np.fromiter(map(len, messages), np.int64, len(messages))
        self.joined = b"".join(messages) + _PADDING
        self.bytes = np.frombuffer(self.joined, np.uint8)
        self.words = np.ndarray(len(self.joined) - 7, "<u8", self.joined, strides=(1,))  # one at every byte
        self.ends = np.cumsum(lengths)
        self.starts = self.ends - lengths

    def columns(self, wanted: Sequence[tuple[str, DType]]) -> Columns:
        start, end = self.starts, self.ends
        filled = np.flatnonzero(start < end)
        features = start.copy()
        features[filled] = self._only_field(start[filled], end[filled], _FIRST)
        row, start, end = self._repeated(features, end)
        heads = self.words[start]  # of an entry: a tag, the length of the key, and its first six bytes
        if ((heads & 0xFF) != _FIRST).any():
            raise _OddLayout
        found = []
        for name, dtype in wanted:
            key = name.encode()
            latest = np.full(len(self.starts), -1)
            at = self._entries_of(key, start, heads)
            latest[row[at]] = at  # a feature that a message has twice is the later one
            present = np.flatnonzero(latest >= 0)
            at = latest[present]
            found.append(self._column(present, start[at] + 2 + len(key), end[at], dtype))
        return found

    def _entries_of(self, key: bytes, start: np.ndarray, heads: np.ndarray) -> np.ndarray:
        """The entries with this key: by their first word, then by the other words of a longer key."""
        if len(key) > _LONGEST_KEY:
            raise _OddLayout
        entry = bytes([_FIRST, len(key)]) + key
        at = np.flatnonzero(_is(heads, entry[:8]))
        for i in range(8, len(entry), 8):
            at = at[_is(self.words[start[at] + i], entry[i : i + 8])]
        return at

    # ------------------------------------------------------------------ fields

    def _varints(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers that begin at these places, and where each ends."""
        word = self.words[at]
        last = ~word & _MORE_BITS
        last &= -last  # the bit of the last byte alone
        if not last.all():
            return self._long_varints(at)
        word &= last - np.uint64(1)
        word &= _SEVEN_BITS
        for kept, distance in _HALVES:
            word = word & kept | (word & ~kept) >> distance
        return word.view(np.int64), at + (np.bitwise_count(last - np.uint64(1)) // 8 + 1)

    def _long_varints(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same byte by byte: some take more than eight, as negative ones do."""
        number = self.bytes[at].astype(np.int64)
        after = at + 1
        shift, more = 0, np.flatnonzero(number >= 128)
        while more.size:
            shift += 7
            if shift > 63:
                raise _OddLayout
            byte = self.bytes[after[more]].astype(np.int64)
            after[more] += 1
            number[more] += (byte - 1) << shift  # the 1 is what the bit "more follows" has added
            more = more[byte >= 128]
        return number, after

    def _field(self, at: np.ndarray, end: np.ndarray, tag: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the contents of the field with this tag begin and end, at each of these places."""
        head = self.words[at].view(np.int64)
        if ((head & 0xFF) != tag).any():
            raise _OddLayout
        length, start = head >> 8 & 0xFF, at + 2
        long = np.flatnonzero(length >= 128)
        if long.size:
            length[long], start[long] = self._varints(at[long] + 1)
            if (length[long] < 0).any():
                raise _OddLayout
        stop = start + length
        if (stop > end).any():
            raise _OddLayout
        return start, stop

    def _only_field(self, at: np.ndarray, end: np.ndarray, tag: int) -> np.ndarray:
        """Where the contents of the field begin that takes all there is up to `end`."""
        if (at >= end).any():
            raise _OddLayout
        start, stop = self._field(at, end, tag)
        if (stop != end).any():
            raise _OddLayout
        return start

    def _short_list(self, at: np.ndarray, end: np.ndarray, tag: int) -> np.ndarray | None:
        """Where the values begin, in features that are a list of this kind with one string, or with packed
        numbers, and so short that the three headers in front of them are two bytes each: most are. None
        unless all are.
        """
        size = end - at
        if not len(size) or size.min() <= 6 or size.max() > _LONGEST_SHORT:
            return None
        headers = size.astype(np.uint64) * _EACH_LENGTH + np.uint64(_SECOND | tag << 16 | _FIRST << 32)
        if ((self.words[at] & _SIX_BYTES) != headers - _HEADERS_BEFORE).any():
            return None
        return at + 6

    def _repeated(self, at: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every field of messages made of one repeated field: whose it is, where it begins and ends."""
        turns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        row = np.flatnonzero(at < end)
        at, end = at[row], end[row]
        while row.size:
            if len(turns) > _MANY_TURNS and row.size < _FEW_MESSAGES:
                raise _OddLayout
            start, stop = self._field(at, end, _FIRST)
            turns.append((row, start, stop))
            going_on = stop < end
            if going_on.all():
                at = stop
            else:
                row, at, end = row[going_on], stop[going_on], end[going_on]
        if len(turns) == 1:
            return turns[0]
        none = np.zeros(0, np.int64)
        return tuple(np.concatenate(parts) for parts in zip(*turns)) if turns else (none, none, none)

    # ------------------------------------------------------------------ values

    def _column(
        self, row: np.ndarray, at: np.ndarray, end: np.ndarray, dtype: DType
    ) -> tuple[np.ndarray, np.ndarray]:
        counts = np.full(len(self.starts), -1)
        short = self._short_list(at, end, _TAG_OF_LIST[dtype])
        if short is not None:
            read = {dtypes.string: self._one_text, dtypes.float32: self._floats}.get(dtype, self._integers)
            counts[row], values = read(short, end)
            return counts, values
        at = self._only_field(at, end, _SECOND)
        if (at == end).any():  # a feature of no kind is no feature
            row, at, end = (part[at < end] for part in (row, at, end))
        start = self._only_field(at, end, _TAG_OF_LIST[dtype])
        if dtype is dtypes.string:
            counts[row], values = self._texts(start, end)
            return counts, values
        full = np.flatnonzero(start < end)
        counts[row] = 0
        if full.size:
            row, end = row[full], end[full]
            start = self._only_field(start[full], end, _FIRST)
        read = self._floats if dtype is dtypes.float32 else self._integers
        counts[row], values = read(start, end) if full.size else (0, np.zeros(0, dtype.as_numpy_dtype))
        return counts, values

    def _one_text(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(len(start), np.int64), self._cut(start, end)

    def _cut(self, begin: np.ndarray, stop: np.ndarray) -> np.ndarray:
        joined, values = self.joined, np.empty(len(begin), object)
        values[:] = [joined[a:b] for a, b in zip(begin.tolist(), stop.tolist())]
        return values

    def _texts(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        row, begin, stop = self._repeated(start, end)
        if row.size and (np.diff(row) < 0).any():
            order = np.argsort(row, kind="stable")
            row, begin, stop = row[order], begin[order], stop[order]
        return np.bincount(row, minlength=len(start)), self._cut(begin, stop)

    def _floats(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = end - start
        if (size % 4).any():
            raise _OddLayout
        if (size == size[0]).all():  # rows of one length are copied whole
            rows = np.ndarray(len(self.joined) - int(size[0]) + 1, f"V{size[0]}", self.joined, strides=(1,))
            return size // 4, rows[start].view("<f4")
        everywhere = np.ndarray(len(self.joined) - 3, "<f4", self.joined, strides=(1,))
        return size // 4, everywhere[_each_of(start, size // 4, 4)]

    def _integers(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers, after = self._varints(start)
        if (after == end).all():  # one each
            return np.ones(len(start), np.int64), numbers
        place = _each_of(start, end - start)
        is_last = self.bytes[place] < 128
        stops = np.cumsum(end - start) - 1  # in `place`
        if not is_last[stops].all():
            raise _OddLayout
        begins = np.empty(len(is_last), bool)
        begins[0], begins[1:] = True, is_last[:-1]
        counts = np.diff(np.cumsum(is_last)[stops], prepend=0)
        return counts, self._varints(place[begins])[0]


def _is(words: np.ndarray, text: bytes) -> np.ndarray:
    """Whether words begin with a text of up to eight bytes."""
    mask = np.uint64((1 << 8 * len(text)) - 1)
    return (words & mask) == np.uint64(int.from_bytes(text, "little"))


def _each_of(start: np.ndarray, counts: np.ndarray, step: int = 1) -> np.ndarray:
    """`counts[i]` places from `start[i]` on, `step` apart, for every i, end to end."""
    ends = np.cumsum(counts)
    return np.repeat(start - step * (ends - counts), counts) + step * np.arange(ends[-1])
