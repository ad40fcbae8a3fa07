"""Parsing of many Example messages at once: NumPy reads one field of every message at a time.

A Python loop over messages would take most of the time. Here the loop is over the fields of a message: each
iteration reads one field of every message. This works for the layout that all usual writers produce. For
anything else (another order of fields, unpacked numbers, other types than requested, invalid bytes)
`columns_in_step` returns None, and the messages are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType

# The tags of fields on the wire: number << 3 | 2, where 2 means "a length and as many bytes".
_FIRST, _SECOND, _THIRD = 0x0A, 0x12, 0x1A
_TAG_OF_LIST = {dtypes.string: _FIRST, dtypes.float32: _SECOND, dtypes.int64: _THIRD}
_MANY_FIELDS, _FEW_MESSAGES = 64, 16  # with more fields in fewer messages, one by one is faster
_AT_A_TIME = 8192  # messages; the arrays made of them fit into a processor's cache
_LONGEST_KEY = 127  # bytes; its length is one byte
# Three consecutive headers, each a tag and a length of one byte. The lengths are 2, 4 and 6 less than the
# size.
_LONGEST_SHORT = 129
_SIX_BYTES, _EACH_LENGTH = np.uint64((1 << 48) - 1), np.uint64(1 << 8 | 1 << 24 | 1 << 40)
_HEADERS_BEFORE = np.uint64(2 << 8 | 4 << 24 | 6 << 40)
_PADDING = bytes(16)  # a word may be read past the end of the last message
# Varints of at most 8 bytes are read as words: each byte has 7 bits, and a bit that says whether more follow.
_MORE_BITS, _SEVEN_BITS = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)
_HALVES = [  # how groups of bits are joined: the mask of those that stay, and how far the others move
    (np.uint64(0x007F007F007F007F), np.uint64(1)),
    (np.uint64(0x00003FFF00003FFF), np.uint64(2)),
    (np.uint64(0x000000000FFFFFFF), np.uint64(4)),
]

Columns = list[tuple[np.ndarray, np.ndarray]]


class _OddLayout(Exception):
    """The messages do not have the usual layout."""


def columns_in_step(messages: Sequence[bytes], wanted: Sequence[tuple[str, DType]]) -> Columns | None:
    """For every wanted (feature, type), the number of values in each message, and the values of all messages.

    The number is -1 for a message without the feature. Returns None if the messages must be read one by one.
    """
    starts = range(0, max(len(messages), 1), _AT_A_TIME)
    try:
        parts = [_Batch(messages[i : i + _AT_A_TIME]).columns(wanted) for i in starts]
    except _OddLayout:
        return None
    if len(parts) == 1:
        return parts[0]
    return [
        (np.concatenate([counts for counts, _ in column]), np.concatenate([values for _, values in column]))
        for column in zip(*parts)
    ]


class _Batch:
    """The bytes of many messages, concatenated, which are read at many places at once."""

    def __init__(self, messages: Sequence[bytes]) -> None:
        lengths = np.fromiter(map(len, messages), np.int64, len(messages))
        self.joined = b"".join(messages) + _PADDING
        self.bytes = np.frombuffer(self.joined, np.uint8)
        self.words = np.ndarray(len(self.joined) - 7, "<u8", self.joined, strides=(1,))  # at every byte one
        self.ends = np.cumsum(lengths)
        self.starts = self.ends - lengths

        filled = np.flatnonzero(self.starts < self.ends)
        features = self.starts.copy()
        features[filled] = self._only_field(self.starts[filled], self.ends[filled], _FIRST)
        self.entries = self._repeated(features, self.ends)
        # Of an entry: a tag, the length of the key, and its first six bytes.
        self.heads = self.words[self.entries[1]]
        if ((self.heads & 0xFF) != _FIRST).any():
            raise _OddLayout

    def columns(self, wanted: Sequence[tuple[str, DType]]) -> Columns:
        row, start, end = self.entries
        found = []
        for name, dtype in wanted:
            key = name.encode()
            latest = np.full(len(self.starts), -1)
            at = self._entries_of(key)
            latest[row[at]] = at  # if a message has a feature twice, the later one counts
            present = np.flatnonzero(latest >= 0)
            at = latest[present]
            found.append(self._column(present, start[at] + 2 + len(key), end[at], dtype))
        return found

    def features(self) -> list[tuple[str, DType | None]]:
        """The names of all features, and the type that each has where it first has a list, if it has one."""
        _, start, end = self.entries
        names = []
        left = np.arange(len(start))
        while left.size:
            first = int(start[left[0]])
            size = self.joined[first + 1]
            key = self.joined[first + 2 : first + 2 + size]
            at = self._entries_of(key)
            left = np.setdiff1d(left, at, assume_unique=True)
            names.append((key.decode(), self._type_of(start[at] + 2 + size, end[at])))
        return names

    def _type_of(self, at: np.ndarray, end: np.ndarray) -> DType | None:
        """The type of the first of these features that has a list; None if none has."""
        start = self._only_field(at, end, _SECOND)
        listed = start[start < end]
        if not listed.size:
            return None
        tag = self.bytes[listed[0]]
        return next((dtype for dtype, known in _TAG_OF_LIST.items() if known == tag), None)

    def _entries_of(self, key: bytes) -> np.ndarray:
        """The entries with this key, found by their first word and by the other words of a longer key."""
        if len(key) > _LONGEST_KEY:
            raise _OddLayout
        entry = bytes([_FIRST, len(key)]) + key
        start = self.entries[1]
        at = np.flatnonzero(_is(self.heads, entry[:8]))
        for i in range(8, len(entry), 8):
            at = at[_is(self.words[start[at] + i], entry[i : i + 8])]
        return at

    # ------------------------------------------------------------------ fields

    def _varints(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The varints at these places, and the place after each."""
        word = self.words[at]
        last = ~word & _MORE_BITS
        last &= -last  # only the bit of the first byte after which no more follow
        if not last.all():
            return self._long_varints(at)
        word &= last - np.uint64(1)
        word &= _SEVEN_BITS
        for kept, distance in _HALVES:
            word = word & kept | (word & ~kept) >> distance
        return word.view(np.int64), at + (np.bitwise_count(last - np.uint64(1)) // 8 + 1)

    def _long_varints(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, byte by byte, for varints of more than eight bytes, such as negative numbers."""
        number = self.bytes[at].astype(np.int64)
        after = at + 1
        shift, more = 0, np.flatnonzero(number >= 128)
        while more.size:
            shift += 7
            if shift > 63:
                raise _OddLayout
            byte = self.bytes[after[more]].astype(np.int64)
            after[more] += 1
            number[more] += (byte - 1) << shift  # minus 1 for the "more follows" bit of the byte before
            more = more[byte >= 128]
        return number, after

    def _field(self, at: np.ndarray, end: np.ndarray, tag: int) -> tuple[np.ndarray, np.ndarray]:
        """The begin and end of the contents of the field at each of these places. It must have this tag."""
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
        """The begin of the contents of the field at each place, which must extend to `end`."""
        if (at >= end).any():
            raise _OddLayout
        start, stop = self._field(at, end, tag)
        if (stop != end).any():
            raise _OddLayout
        return start

    def _short_list(self, at: np.ndarray, end: np.ndarray, tag: int) -> np.ndarray | None:
        """The begin of the values of short features: a list of this kind with one string, or packed numbers.

        In a short feature the three headers before the values are two bytes each. Returns None unless all
        features are short, as most are.
        """
        size = end - at
        if not len(size) or size.min() <= 6 or size.max() > _LONGEST_SHORT:
            return None
        headers = size.astype(np.uint64) * _EACH_LENGTH + np.uint64(_SECOND | tag << 16 | _FIRST << 32)
        if ((self.words[at] & _SIX_BYTES) != headers - _HEADERS_BEFORE).any():
            return None
        return at + 6

    def _repeated(self, at: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The entries of messages that have one repeated field: their message, begin and end."""
        rows: list[np.ndarray] = []
        starts: list[np.ndarray] = []
        stops: list[np.ndarray] = []
        row: np.ndarray = np.flatnonzero(at < end)
        at, end = at[row], end[row]
        while row.size:
            if len(rows) > _MANY_FIELDS and row.size < _FEW_MESSAGES:
                raise _OddLayout
            start, stop = self._field(at, end, _FIRST)
            rows.append(row)
            starts.append(start)
            stops.append(stop)
            has_more = stop < end
            if has_more.all():
                at = stop
            else:
                row, at, end = row[has_more], stop[has_more], end[has_more]
        if len(rows) == 1:
            return rows[0], starts[0], stops[0]
        none = np.zeros(0, np.int64)
        if not rows:
            return none, none, none
        return np.concatenate(rows), np.concatenate(starts), np.concatenate(stops)

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
        if (at == end).any():  # a feature without a list counts as missing
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
        if (size == size[0]).all():  # rows of equal length are copied as a whole
            rows = np.ndarray(len(self.joined) - int(size[0]) + 1, f"V{size[0]}", self.joined, strides=(1,))
            return size // 4, rows[start].view("<f4")
        everywhere = np.ndarray(len(self.joined) - 3, "<f4", self.joined, strides=(1,))
        return size // 4, everywhere[_each_of(start, size // 4, 4)]

    def _integers(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers, after = self._varints(start)
        if (after == end).all():  # one number in each message
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
    equal: np.ndarray = (words & mask) == np.uint64(int.from_bytes(text, "little"))
    return equal


def _each_of(start: np.ndarray, counts: np.ndarray, step: int = 1) -> np.ndarray:
    """For every i, `counts[i]` places from `start[i]` on, `step` apart; all concatenated."""
    ends = np.cumsum(counts)
    places: np.ndarray = np.repeat(start - step * (ends - counts), counts) + step * np.arange(ends[-1])
    return places


def every_column(messages: Sequence[bytes]) -> dict[str, tuple[DType, np.ndarray, np.ndarray] | None] | None:
    """Of every feature that one of the messages has: its type, the number of values in each message (-1 for a
    message without the feature), and the values of all; None for a feature that never has a list. None if the
    messages must be read one by one.
    """
    try:
        batch = _Batch(messages)
        return {
            name: None if dtype is None else (dtype, *batch.columns([(name, dtype)])[0])
            for name, dtype in batch.features()
        }
    except (_OddLayout, UnicodeDecodeError):
        return None
