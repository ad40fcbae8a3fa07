"""Parsing of Example messages into columns, one for each feature.

A column has `counts`, the number of values of the feature in each message (-1 if it does not have the
feature), and `values`, the values of all messages, concatenated. Dense, padded and sparse tensors are made of
columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.example_proto import Example
from tideflow.io.example_batches import columns_in_step

LIST_OF = {dtypes.string: "bytes_list", dtypes.float32: "float_list", dtypes.int64: "int64_list"}
TYPE_NAMES = {dtypes.string: "string", dtypes.float32: "float", dtypes.int64: "int64"}
DTYPE_OF = {field: dtype for dtype, field in LIST_OF.items()}
_WORTH_NUMPY = 48  # messages; fewer are parsed one by one, unless there are so many numbers in them:
_MANY_NUMBERS = 8192
_MOST_SHOWN = 200  # characters of a message in an error


@dataclass(frozen=True)
class Wanted:
    """A feature to read. `shape` is None for a sparse feature; its first size is None for a padded one.

    `default` replaces a missing value, or pads.
    """

    key: str
    dtype: DType
    shape: tuple[Any, ...] | None = None
    default: np.ndarray | None = None

    @property
    def dense_shape(self) -> tuple[Any, ...]:
        """The shape of a feature that is not sparse."""
        assert self.shape is not None, f"{self.key} is a sparse feature"
        return self.shape

    @property
    def is_padded(self) -> bool:
        return bool(self.shape) and self.dense_shape[0] is None

    @property
    def stride(self) -> int:
        """The number of values of a dense feature, or of one row of a padded one."""
        return math.prod(self.dense_shape[1:] if self.is_padded else self.dense_shape)

    @property
    def numbers(self) -> int:
        """The number of numbers in each message, as far as it is known before they are read."""
        return 0 if self.shape is None or self.is_padded or self.dtype == dtypes.string else self.stride


class Blame:
    """Errors about messages. In a batch they have the name and the number of the message."""

    def __init__(self, names: Sequence[bytes] | None) -> None:
        self.names = names

    def refuse(self, wanted: Wanted, row: int, what: str) -> InvalidArgumentError:
        """An error about the values of a feature."""
        name = "" if self.names is None else f"Name: {self._name(row)}, "
        index = "" if self.names is None else f", Index: {row}"
        return errors.invalid_argument(f"{name}Key: {wanted.key}{index}.  {what}")

    def miscounted(self, wanted: Wanted, row: int, what: str) -> InvalidArgumentError:
        """An error about the number of values of a feature."""
        return self.refuse(
            wanted, row, f"Can't parse serialized Example. {what}" if self.names is None else what
        )

    def missing(self, wanted: Wanted, row: int) -> InvalidArgumentError:
        """An error about a missing feature."""
        name = "" if self.names is None else f"Name: {self._name(row)}, "
        index = "" if self.names is None else f" Index: {row}."
        return errors.invalid_argument(
            f"{name}Feature: {wanted.key} (data type: {TYPE_NAMES[wanted.dtype]}) is required but could not "
            f"be found.{index}",
        )

    def unreadable(self, data: Any, row: int) -> InvalidArgumentError:
        """An error about bytes that are not a message."""
        index = "" if self.names is None else f" Index: {row}."
        return errors.invalid_argument(f"Could not parse example input, value: '{shown(data)}'{index}")

    def _name(self, row: int) -> str:
        return (
            self.names[row].decode(errors="replace")
            if self.names is not None and len(self.names)
            else "<unknown>"
        )


def shown(data: Any) -> str:
    """The first bytes of `data`, as text for an error."""
    text = bytes(data).decode(errors="replace")
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


# ------------------------------------------------------------------------------------------------ reading


def read_columns(
    messages: Sequence[bytes], wanted: Sequence[Wanted], blame: Blame
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The column of every wanted feature."""
    numbers = sum(feature.numbers for feature in wanted)
    if len(messages) >= _WORTH_NUMPY or len(messages) * numbers >= _MANY_NUMBERS:
        columns = columns_in_step(messages, [(feature.key, feature.dtype) for feature in wanted])
        if columns is not None:
            return columns
    return _one_by_one(messages, wanted, blame)


def plain_values(message: bytes, wanted: Sequence[Wanted]) -> list[np.ndarray] | None:
    """The values of dense features of one message.

    Returns None if a feature is missing, padded or has another type or size, or if the message is invalid:
    `read_columns` handles these cases.
    """
    try:
        features = Example.FromString(message).features.feature
    except DecodeError:
        return None
    found = []
    for feature in wanted:
        if feature.key not in features or feature.is_padded:
            return None
        values = getattr(features[feature.key], LIST_OF[feature.dtype]).value
        if not values or len(values) != feature.stride:
            return None
        array = np.empty(len(values), feature.dtype.as_numpy_dtype)
        array[:] = values
        found.append(array.reshape(feature.shape))
    return found


def _one_by_one(
    messages: Sequence[bytes], wanted: Sequence[Wanted], blame: Blame
) -> list[tuple[np.ndarray, np.ndarray]]:
    parse = Example.FromString

    def features() -> Iterator[Any]:
        for row, data in enumerate(messages):
            try:
                yield parse(data).features.feature
            except DecodeError:
                raise blame.unreadable(data, row) from None

    return columns_of(features(), wanted, blame)


def columns_of(
    messages: Iterable[Any], wanted: Sequence[Wanted], blame: Blame
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The columns of parsed messages, each of which is a map of features by key."""
    counts: list[list[int]] = [[] for _ in wanted]
    values: list[list[Any]] = [[] for _ in wanted]
    readers = [
        (feature.key, LIST_OF[feature.dtype], count, value)
        for feature, count, value in zip(wanted, counts, values, strict=True)
    ]
    for row, features in enumerate(messages):
        for number, (key, field, count, value) in enumerate(readers):
            kind = features[key].WhichOneof("kind") if key in features else None
            if kind is None:
                count.append(-1)
            elif kind != field:
                raise blame.refuse(wanted[number], row, _type_text(wanted[number], DTYPE_OF[kind]))
            else:
                found = getattr(features[key], field).value
                count.append(len(found))
                value.extend(found)
    return [
        (np.array(count, np.int64), as_values(value, feature.dtype))
        for feature, count, value in zip(wanted, counts, values, strict=True)
    ]


def as_values(values: Sequence[Any], dtype: DType) -> np.ndarray:
    """A vector of numbers or byte strings."""
    array = np.empty(len(values), dtype.as_numpy_dtype)
    array[:] = values
    return array


def _type_text(wanted: Wanted, found: DType) -> str:
    expected, actual = TYPE_NAMES[wanted.dtype], TYPE_NAMES[found]
    if wanted.shape is None:
        return f"Data types don't match. Expected type: {expected}, Actual type: {actual}"
    return f"Data types don't match. Data type: {actual} but expected type: {expected}"


# ------------------------------------------------------------------------------------------ making tensors


def _kind_of_values(wanted: Wanted) -> str:
    name = TYPE_NAMES[wanted.dtype]
    return "bytes" if name == "string" else name


def dense(wanted: Wanted, counts: np.ndarray, values: np.ndarray, blame: Blame) -> np.ndarray:
    """The values of a feature that has the same number of values in every message, or the default."""
    size = wanted.stride
    wrong = np.flatnonzero((counts != size) & (counts >= 0))
    if wrong.size:
        row = int(wrong[0])
        raise blame.miscounted(
            wanted,
            row,
            f"Number of {_kind_of_values(wanted)} values != expected.  Values size: {counts[row]} but "
            f"output shape: {shape_text(wanted.dense_shape)}",
        )
    lacking = np.flatnonzero(counts < 0)
    if not lacking.size:
        return values.reshape(len(counts), *wanted.dense_shape)
    if wanted.default is None:
        raise blame.missing(wanted, int(lacking[0]))
    table = np.empty((len(counts), size), values.dtype)
    table[lacking] = wanted.default.reshape(-1)
    table[counts >= 0] = values.reshape(-1, size)
    return table.reshape(len(counts), *wanted.dense_shape)


def padded(wanted: Wanted, counts: np.ndarray, values: np.ndarray, blame: Blame) -> np.ndarray:
    """The values of a feature with any number of rows, each message padded to the longest."""
    counts, size = counts.clip(0), wanted.stride
    wrong = np.flatnonzero(counts % size if size else counts)
    if wrong.size:
        row = int(wrong[0])
        raise blame.miscounted(
            wanted,
            row,
            f"Number of {_kind_of_values(wanted)} values is not a multiple of stride length. Saw "
            f"{counts[row]} values but output shape is: {shape_text(wanted.dense_shape)}",
        )
    longest = int(counts.max(initial=0))
    rows = longest // size if size else 0
    if (counts == longest).all():
        return values.reshape(len(counts), rows, *wanted.dense_shape[1:])
    assert wanted.default is not None, "a padded feature has a value to pad with"
    table = np.empty((len(counts), longest), values.dtype)
    table[:] = wanted.default.reshape(())
    table[np.arange(longest) < counts[:, None]] = values
    return table.reshape(len(counts), rows, *wanted.dense_shape[1:])


def sparse(counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of the ragged matrix of a feature's values."""
    counts = counts.clip(0)
    indices = np.empty((len(values), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return indices, values, np.array([len(counts), counts.max(initial=0)], np.int64)


def shape_text(shape: Sequence[int | None]) -> str:
    """The text of a shape in errors."""
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"
