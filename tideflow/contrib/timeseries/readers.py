"""Readers of whole series: from arrays, from lines of files."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries.arrays import batched_series
from tideflow.contrib.timeseries.keys import TIMES, VALUES
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike


class TimeSeriesReader(abc.ABC):
    """A source of one series, in the order of its times."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:  # noqa: B027
        """Raises if the series is known to be shorter than that."""

    @abc.abstractmethod
    def read(self) -> dict[str, Tensor]:
        """The next part of the series, over and over: features by name, [records, ...]."""

    @abc.abstractmethod
    def read_full(self) -> dict[str, Tensor]:
        """The whole series: features by name, [records, ...]."""


@export("contrib.timeseries.NumpyReader")
class NumpyReader(TimeSeriesReader):
    """Reads a series from arrays.

    Args:
      data: Arrays by name, `"times"` [length] and `"values"` [length] or [length, features] among them.
      read_num_records_hint: How many records are read at once.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096):
        self._features = batched_series(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises if the series is shorter than a window.

        Args:
          minimum_dataset_size: The length of a window.

        Raises:
          ValueError: If it is.
        """
        size = self._features[TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but "
                f"only {size} records were available in the dataset. Either decrease the window size or "
                "provide more records."
            )

    def read(self) -> dict[str, Tensor]:
        """The next part of the series, over and over: features by name, [records, ...]."""
        unbatched = {name: value[0] for name, value in self._features.items()}
        return self._repeated(unbatched, batch_size=self._read_num_records_hint)

    def read_full(self) -> dict[str, Tensor]:
        """The whole series: features by name, [records, ...]."""
        whole = self._repeated(self._features, batch_size=1, queue_capacity=2)
        return {name: tf.squeeze(value, axis=0) for name, value in whole.items()}

    @staticmethod
    def _repeated(arrays: dict[str, Any], **options: int) -> dict[str, Tensor]:
        return tf.estimator.inputs.numpy_input_fn(arrays, num_epochs=None, shuffle=False, **options)()


@export("contrib.timeseries.CSVReader")
class CSVReader(TimeSeriesReader):
    """Reads a series from files of comma-separated values.

    Args:
      filenames: A file, or several in the order of their times.
      column_names: The names of the columns. Columns of one name are one feature of several numbers.
      column_dtypes: Their types; int64 for times and float32 for the rest if None.
      skip_header_lines: How many lines to skip at the start of each file.
      read_num_records_hint: How many lines are read at once.

    Raises:
      ValueError: If there is not exactly one column of times, no column of values, or not a type for each.
    """

    def __init__(
        self,
        filenames: str | Sequence[str],
        column_names: Sequence[str] = (TIMES, VALUES),
        column_dtypes: Sequence[DTypeLike] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ):
        for required in (TIMES, VALUES):
            if required not in column_names:
                raise ValueError(f"'{required}' is a required column.")
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names (got "
                f"column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{TIMES}'), but exactly one is required.")
        self._column_names = column_names
        self._column_dtypes = column_dtypes or [
            tf.int64 if name == TIMES else tf.float32 for name in column_names
        ]
        self._may_lack_values = column_dtypes is not None
        self._filenames = filenames
        self._skip_header_lines = skip_header_lines
        self._read_num_records_hint = read_num_records_hint

    def read(self) -> dict[str, Tensor]:
        """The next part of the series, over and over: features by name, [records, ...]."""
        reader, files, reset = self._lines(passes_without_a_line=self._read_num_records_hint)
        with tf.control_dependencies([reset]):
            _, lines = reader.read_up_to(files, self._read_num_records_hint)
        return self._parsed(lines)

    def read_full(self) -> dict[str, Tensor]:
        """The whole series: features by name, [records, ...]."""
        reader, files, reset = self._lines(passes_without_a_line=2)
        with tf.control_dependencies([reset]):
            first_key, first_line = reader.read_up_to(files, 1)

        def is_new(key: Tensor, *_: Any) -> Tensor:
            return tf.not_equal(key[0], first_key[0])

        def collect(_: Tensor, line: Tensor, count: Tensor, lines: Any) -> tuple:
            next_key, next_line = reader.read_up_to(files, 1)
            next_key.set_shape([1])
            next_line.set_shape([1])
            return next_key, next_line, count + 1, lines.write(count, line)

        nothing = tf.TensorArray(tf.string, size=0, dynamic_size=True)
        *_, collected = tf.while_loop(is_new, collect, [tf.constant([""]), first_line, 0, nothing])
        lines = collected.concat()
        with tf.control_dependencies([lines]):
            back_to_start = reader.reset()
        with tf.control_dependencies([back_to_start]):
            return self._parsed(tf.identity(lines))

    def _lines(self, passes_without_a_line: int) -> tuple:
        """A reader, a queue that hands it the files over and over, and what tells the queue of a line read.

        The queue gives up after so many passes over files that have no line: it would never end.
        """
        passes = tf.Variable(
            tf.constant(0, tf.int64), name="epoch_limiter", trainable=False, collections=["local_variables"]
        )
        counted = tf.cond(
            tf.is_variable_initialized(passes),
            lambda: passes.count_up_to(passes_without_a_line),
            lambda: tf.constant(0, tf.int64),
        )
        with tf.control_dependencies([counted]):
            names = tf.identity(tf.reshape(tf.convert_to_tensor(self._filenames), [-1]))
        files = tf.train.string_input_producer(names, shuffle=False, capacity=1)
        reader = tf.TextLineReader(skip_header_lines=self._skip_header_lines)
        return reader, files, tf.assign(passes, 0)

    def _parsed(self, lines: Tensor) -> dict[str, Tensor]:
        defaults = [
            tf.zeros([1 if self._may_lack_values or name == TIMES else 0], dtype)
            for name, dtype in zip(self._column_names, self._column_dtypes, strict=True)
        ]
        columns: dict[str, list] = {}
        for name, column in zip(self._column_names, tf.decode_csv(lines, defaults), strict=True):
            columns.setdefault(name, []).append(column)
        return {
            name: parts[0] if name == TIMES else tf.stack(parts, axis=1) for name, parts in columns.items()
        }
