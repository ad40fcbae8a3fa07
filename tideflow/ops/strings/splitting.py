"""Strings cut into parts, as a sparse matrix of a row for each; and sequences of strings as n-grams."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import brackets
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.samples import text
from tideflow.ops.helpers.types import INDICES
from tideflow.runtime.values import to_torch


def flat_strings(lists: list[list[bytes]]) -> np.ndarray:
    """All strings of the lists in one vector."""
    array = np.empty(sum(map(len, lists)), dtype=object)
    array[:] = [item for items in lists for item in items]
    return array


_SPARSE = "indices: int64, values: string, shape: int64"


def _split_shapes(name: str) -> Callable:
    def _shape(input, separator):
        of_rank(input, 1, f"input must be a vector, got shape: {brackets(input.tuple or ())}")
        scalar(separator, f"{name} must be a scalar, got shape: ")
        return [[None, 2], [None], [2]]

    return _shape


def _split_values(op):
    rows = op.inputs[0].shape.with_rank(1).tuple[0]
    return [None, None, None if rows is None else [rows, None]]


def _split_each(strings: np.ndarray, split: Callable[[bytes], list[bytes]]) -> tuple[Any, np.ndarray, Any]:
    """The parts of every string as a sparse matrix."""
    rows = [split(item) for item in strings]
    counts = np.array([len(row) for row in rows], np.int64)
    numbers = np.repeat(np.arange(len(rows)), counts)
    columns = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.stack([numbers, columns], axis=1).astype(np.int64)
    shape = np.array([len(rows), counts.max(initial=0)], np.int64)
    return to_torch(indices), flat_strings(rows), to_torch(shape)


def _rows_reference(rows: list[list[bytes]]) -> tuple:
    """The rows as indices, values and shape."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([part for row in rows for part in row], object)
    return np.reshape(indices, [-1, 2]), values, np.array([len(rows), max(map(len, rows), default=0)])


_SENTENCES = text("hello  world ", "a b c", "", " ")


def _add_split_refusals(op: Op) -> None:
    op.refuses((text("a", shape=()), b" "), "Shape must be rank 1 but is rank 0")
    op.refuses((_SENTENCES, [b" "]), "Shape must be rank 0 but is rank 1")


def _cut_at_any(delimiters: bytes, skip_empty: bool) -> Callable[[bytes], list[bytes]]:
    """Cuts at each of the delimiters, all of them single bytes; at every byte where there is none."""
    if not delimiters:
        return lambda data: [data[i : i + 1] for i in range(len(data))]
    cut = re.compile(b"[" + re.escape(delimiters) + b"]").split
    if skip_empty:
        return lambda data: [part for part in cut(data) if part]
    return lambda data: cut(data) if data else []


string_split_op = Op(
    "StringSplit",
    f"input: string, delimiter: string -> {_SPARSE}",
    skip_empty=True,
    host="delimiter",
    on_host=True,
    differentiable=False,
)
string_split_op.shape(_split_shapes("delimiter"))
string_split_op.value(_split_values)


@string_split_op.kernel
def _string_split_kernel(input, delimiter, *, skip_empty):
    return _split_each(input, _cut_at_any(scalar(delimiter), skip_empty))


def _string_split_reference(input, delimiter, skip_empty):
    def parts(data: bytes) -> list[bytes]:
        cut = [data] if delimiter else [bytes([byte]) for byte in data]
        for byte in delimiter:
            cut = [part for piece in cut for part in piece.split(bytes([byte]))]
        return [part for part in cut if part or not skip_empty and data]

    return _rows_reference([parts(data) for data in input])


string_split_op.samples(
    (_SENTENCES, b" "),
    (_SENTENCES, b" ", {"skip_empty": False}),
    (_SENTENCES, b"lo"),
    (_SENTENCES, b""),
    (text(), b" "),
    against=_string_split_reference,
)
_add_split_refusals(string_split_op)

string_split_v2_op = Op(
    "StringSplitV2",
    f"input: string, sep: string -> {_SPARSE}",
    maxsplit=-1,
    host="sep",
    on_host=True,
    differentiable=False,
)
string_split_v2_op.shape(_split_shapes("sep"))
string_split_v2_op.value(_split_values)


@string_split_v2_op.kernel
def _string_split_v2_kernel(input, sep, *, maxsplit):
    sep = scalar(sep)
    if maxsplit == 0:
        return _split_each(input, lambda data: [data])
    if sep or maxsplit < 0:
        return _split_each(input, lambda data: data.split(sep or None, max(maxsplit, -1)))

    def rest_last(data: bytes) -> list[bytes]:
        """After so many words the rest is a part even where it is empty, which Python leaves out."""
        parts = data.split(None, maxsplit)
        return [*parts, b""] if len(parts) == maxsplit else parts

    return _split_each(input, rest_last)


string_split_v2_op.samples(
    (_SENTENCES, b""),
    (_SENTENCES, b" "),
    (_SENTENCES, b"", {"maxsplit": 1}),
    (text("1<>2<><>3"), b"<>"),
    (text(), b""),
    against=lambda input, sep, maxsplit: _rows_reference(
        [data.split(sep or None, maxsplit) for data in input]
    ),
)
_add_split_refusals(string_split_v2_op)

string_ngrams_op = Op(
    "StringNGrams",
    "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    separator=attr("string"),
    ngram_widths=attr("list(int)", minimum=0),
    left_pad=attr("string"),
    right_pad=attr("string"),
    pad_width=attr("int"),
    preserve_short_sequences=attr("bool"),
    Tsplits=attr("type", dtypes.int64, allowed=INDICES),
    on_host=True,
    differentiable=False,
)


@string_ngrams_op.shape
def _string_ngrams_shape(data, data_splits):
    of_rank(data, 1)
    return [[None], of_rank(data_splits, 1)]


@string_ngrams_op.kernel
def _string_ngrams_kernel(
    data,
    data_splits,
    *,
    separator,
    ngram_widths,
    left_pad,
    right_pad,
    pad_width,
    preserve_short_sequences,
    Tsplits,
):
    splits = data_splits.tolist()
    for split in splits:
        if not 0 <= split <= len(data):
            raise errors.invalid_argument(f"Invalid split value {split}, must be in [0,{len(data)}]")
    if any(width < 1 for width in ngram_widths):
        raise errors.invalid_argument(f"ngram_widths must contain positive values, got {ngram_widths}")
    glue, left, right = separator.encode(), left_pad.encode(), right_pad.encode()

    def windows(row: list[bytes], width: int, padding: int) -> list[bytes]:
        padded = [left] * padding + row + [right] * padding
        return [glue.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]

    def of_row(row: list[bytes]) -> list[bytes]:
        found = []
        for width in ngram_widths:
            most = width - 1
            found += windows(row, width, most if pad_width < 0 else min(pad_width, most))
        if not found and row and preserve_short_sequences:
            return windows(row, len(row) + 2 * pad_width, pad_width)
        return found

    items = data.tolist()
    rows = [of_row(items[start:end]) for start, end in pairwise(splits)]
    ends = np.cumsum([0, *map(len, rows)])[: len(splits)]
    return flat_strings(rows), to_torch(ends.astype(Tsplits.as_numpy_dtype))


def _string_ngrams_reference(
    data, data_splits, separator, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences
):
    def grams(row: list[bytes], width: int, padding: int) -> list[bytes]:
        padded = [left_pad.encode()] * padding + row + [right_pad.encode()] * padding
        shifted = [padded[start:] for start in range(width)]
        return [separator.encode().join(words) for words in zip(*shifted)]

    rows = []
    for start, end in pairwise(data_splits):
        row = list(data[start:end])
        paddings = [width - 1 if pad_width < 0 else min(pad_width, width - 1) for width in ngram_widths]
        found = [gram for each in zip(ngram_widths, paddings) for gram in grams(row, *each)]
        if not found and row and preserve_short_sequences:
            found = [separator.encode().join(row)]
        rows.append(found)
    splits = np.cumsum([0, *(len(row) for row in rows)])
    return np.array([gram for row in rows for gram in row], object), splits


_LETTERS = text(*"abcdef")
_NGRAMS = dict(
    separator=" ", ngram_widths=[2], left_pad="L", right_pad="R", pad_width=0, preserve_short_sequences=False
)
string_ngrams_op.samples(
    (_LETTERS, np.array([0, 4, 4, 6]), _NGRAMS),
    (_LETTERS, np.int32([0, 1, 6]), {**_NGRAMS, "ngram_widths": [1, 3], "pad_width": -1}),
    (_LETTERS, np.array([0, 2, 6]), {**_NGRAMS, "ngram_widths": [4], "pad_width": 1}),
    (_LETTERS, np.array([0, 2, 6]), {**_NGRAMS, "ngram_widths": [5], "preserve_short_sequences": True}),
    (text(), np.array([0, 0]), _NGRAMS),
    (text(), np.array([0]), _NGRAMS),
    against=_string_ngrams_reference,
)
string_ngrams_op.refuses(
    (_LETTERS, np.array([0, 6]), {**_NGRAMS, "ngram_widths": [3, -(2**31)]}),
    "ngram_widths must contain positive values",
    InvalidArgumentError,
)
string_ngrams_op.refuses((_LETTERS, np.array([0, 7]), _NGRAMS), "Invalid split value 7", InvalidArgumentError)
