"""Parsing of SequenceExample messages: context features, like those of an Example, and lists of features.

The column of a list has `lengths`, the number of steps in each message (-1 if it does not have the list),
`counts`, the number of values in each step, and `values`, all of them concatenated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.example_proto import SequenceExample
from tideflow.io.examples import DTYPE_OF, LIST_OF, TYPE_NAMES, Wanted, as_values, shape_text, shown


class ListColumn(NamedTuple):
    """The steps of one feature list in every message."""

    lengths: np.ndarray
    counts: np.ndarray
    values: np.ndarray


class SequenceBlame:
    """Errors about messages and steps of lists, with the name of the message."""

    def __init__(self, names: Sequence[bytes] = (), in_batch: bool = False) -> None:
        self.names = names
        self.in_batch = in_batch

    def error(self, row: int, what: str) -> InvalidArgumentError:
        place = f" (element {row} of the batch)" if self.in_batch else ""
        return errors.invalid_argument(f"Name: {self._name(row)}, {what}{place}")

    def refuse(self, wanted: Wanted, row: int, what: str) -> InvalidArgumentError:
        return self.error(row, f"Context feature: {wanted.key}, Key: {wanted.key}, Index: {row}.  {what}")

    miscounted = refuse

    def missing(self, wanted: Wanted, row: int) -> InvalidArgumentError:
        return self.error(row, f"Context feature '{wanted.key}' is required but could not be found.")

    def unreadable(self, data: Any, row: int) -> InvalidArgumentError:
        place = f" (element {row} of the batch)" if self.in_batch else ""
        return errors.invalid_argument(f"Could not parse example input, value: '{shown(data)}'{place}")

    def _name(self, row: int) -> str:
        if len(self.names):
            return self.names[row].decode(errors="replace")
        return "<unknown>" if self.in_batch else ""


def read_sequences(messages: Sequence[bytes], blame: SequenceBlame) -> list[Any]:
    """The parsed messages."""
    sequences = []
    for row, data in enumerate(messages):
        try:
            sequences.append(SequenceExample.FromString(data))
        except DecodeError:
            raise blame.unreadable(data, row) from None
    return sequences


def list_column(sequences: Sequence[Any], wanted: Wanted, blame: SequenceBlame) -> ListColumn:
    """One feature list of all messages. Only a sparse list may have steps without values."""
    field, key = LIST_OF[wanted.dtype], wanted.key
    lengths: list[int] = []
    counts: list[int] = []
    values: list[Any] = []
    for row, sequence in enumerate(sequences):
        lists = sequence.feature_lists.feature_list
        if key not in lists:
            lengths.append(-1)
            continue
        steps = lists[key].feature
        lengths.append(len(steps))
        for step, feature in enumerate(steps):
            kind = feature.WhichOneof("kind")
            if kind is None and wanted.shape is None:
                counts.append(0)
                continue
            if kind != field:
                raise blame.error(row, _wrong_type(wanted, step, DTYPE_OF.get(kind)))
            found = getattr(feature, field).value
            if wanted.shape is not None and len(found) != wanted.stride:
                raise blame.error(row, _wrong_size(wanted, step, len(found)))
            counts.append(len(found))
            values.extend(found)
    return ListColumn(
        np.array(lengths, np.int64), np.array(counts, np.int64), as_values(values, wanted.dtype)
    )


def _wrong_type(wanted: Wanted, step: int, found: DType | None) -> str:
    actual = "an empty feature" if found is None else TYPE_NAMES[found]
    return (
        f"Feature list: {wanted.key}, Index: {step}.  Data types don't match. Expected type: "
        f"{TYPE_NAMES[wanted.dtype]}  Feature is: {actual}"
    )


def _wrong_size(wanted: Wanted, step: int, found: int) -> str:
    return (
        f"Key: {wanted.key}, Index: {step}.  Number of {TYPE_NAMES[wanted.dtype]} values != expected.  "
        f"values size: {found} but output shape: {shape_text(wanted.dense_shape)}"
    )


def dense_list(
    wanted: Wanted, column: ListColumn, may_lack: bool, blame: SequenceBlame
) -> tuple[np.ndarray, np.ndarray]:
    """The steps of every message, padded with zeros to the longest, and the number of steps in each."""
    lacking = np.flatnonzero(column.lengths < 0)
    if lacking.size and not may_lack:
        raise blame.error(
            int(lacking[0]),
            f"Feature list '{wanted.key}' is required but could not be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
        )
    lengths = column.lengths.clip(0)
    longest = int(lengths.max(initial=0))
    table = np.zeros((len(lengths), longest, wanted.stride), column.values.dtype)
    if table.dtype == object:
        table[:] = b""
    table[np.arange(longest) < lengths[:, None]] = column.values.reshape(-1, wanted.stride)
    return table.reshape(len(lengths), longest, *wanted.dense_shape), lengths


def sparse_list(column: ListColumn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices (message, step, value), values and shape."""
    lengths, counts = column.lengths.clip(0), column.counts
    row = np.repeat(np.arange(len(lengths)), lengths)
    step = np.arange(len(counts)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = np.arange(len(column.values)) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.stack([np.repeat(row, counts), np.repeat(step, counts), place], axis=1)
    shape = np.array([len(lengths), lengths.max(initial=0), counts.max(initial=0)], np.int64)
    return indices.astype(np.int64), column.values, shape
