"""Whole pipelines from files of Examples or CSV to batches of features."""

from __future__ import annotations

import collections
import csv
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.data import structure
from tideflow.data.dataset import Dataset
from tideflow.data.options import Options
from tideflow.data.readers import CsvDataset, TFRecordDataset
from tideflow.data.transformations import Transformation, parallel_interleave, shuffle_and_repeat
from tideflow.data.transformations import ignore_errors as without_errors
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.type_spec import SparseTensorSpec, TensorSpec
from tideflow.io.local_files import matching_paths
from tideflow.io.records import lines_of, open_for_reading
from tideflow.ops.datasets.parsing_datasets import parse_example_dataset_op
from tideflow.ops.files import parsing
from tideflow.queues.readers import ReaderBase
from tideflow.runtime.dataset_threads import AUTOTUNE

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_INT32 = range(-(1 << 31), 1 << 31)
_INT64 = range(-(1 << 63), 1 << 63)


@export("data.experimental.parse_example_dataset", "contrib.data.parse_example_dataset")
def parse_example_dataset(features: dict[str, Any], num_parallel_calls: TensorLike = 1) -> Transformation:
    """Makes a transformation that parses batches of serialized Example messages.

    Args:
      features: The features to parse, by name: FixedLenFeature, VarLenFeature and so on.
      num_parallel_calls: The number of batches to parse at the same time.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.

    Raises:
      ValueError: If `features` is empty.
    """
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def apply(dataset: Dataset) -> Dataset:
        parsed = _parsed(dataset, features, num_parallel_calls)
        if not any(isinstance(feature, parsing.SparseFeature) for feature in features.values()):
            return parsed
        return parsed.map(lambda parts: parsing.merged(features, parts), num_parallel_calls)

    return apply


def _parsed(dataset: Dataset, features: dict[str, Any], num_parallel_calls: Any) -> Dataset:
    """The dense features of batches of Examples, and the sparse ones, or the parts these are made of."""
    if not isinstance(dataset.element_spec, TensorSpec) or not dataset.element_spec.is_compatible_with(
        TensorSpec([None], dtypes.string)
    ):
        raise TypeError("Input dataset should be a dataset of vectors of strings")
    split = parsing.Split(parsing.with_open_length(features), parsing.OF_EXAMPLES)
    split.check_disjoint()
    batch = dataset.output_shapes
    spec = {
        key: TensorSpec(batch.concatenate(shape), dtype)
        for (key, dtype), shape in zip(split.dense.items(), split.shapes, strict=True)
    }
    spec |= {key: SparseTensorSpec(batch.concatenate([None]), dtype) for key, dtype in split.sparse.items()}
    variant = parse_example_dataset_op(
        dataset._variant_tensor,
        num_parallel_calls,
        split.default_tensors(),
        sparse_keys=list(split.sparse),
        dense_keys=list(split.dense),
        sparse_types=list(split.sparse.values()),
        dense_shapes=split.shapes,
        **structure.flat_attributes(spec),
    )
    return Dataset(variant, spec, [dataset])


@export("data.experimental.make_batched_features_dataset", "contrib.data.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern: str | Sequence[str],
    batch_size: TensorLike,
    features: dict[str, Any],
    reader: Callable[..., Dataset] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Makes a dataset of batches of features from files of Example messages.

    Args:
      file_pattern: A file name pattern, or a list of them.
      batch_size: The number of examples in a batch.
      features: The features to parse, by name.
      reader: The dataset class that reads a file.
      label_key: The name of a feature that is the label.
      reader_args: Further arguments for `reader`.
      num_epochs: How often the data is repeated; infinitely often if None.
      shuffle: Whether the elements are shuffled.
      shuffle_buffer_size: The size of the buffer for that.
      shuffle_seed: The seed of the order.
      prefetch_buffer_size: The number of batches to read ahead; a suitable one if None.
      reader_num_threads: The number of files to read at the same time.
      parser_num_threads: The number of batches to parse at the same time.
      sloppy_ordering: Whether the order of the files' elements may vary, for speed.
      drop_final_batch: Whether a last batch of fewer examples is dropped.

    Returns:
      A dataset of dictionaries of tensors, or of pairs of dictionary and label.
    """
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not "
            "supported. For example, pass `tf.data.TFRecordDataset` instead of `tf.TFRecordReader`."
        )
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    arguments = list(reader_args or ())
    records = _read_side_by_side(
        files, lambda name: reader(name, *arguments), reader_num_threads, sloppy_ordering
    )
    if records.output_types == (dtypes.string, dtypes.string):  # a reader of keys and values
        records = records._map_in_place(lambda _, value: value)
    records = _shuffled_epochs(records, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    threads = 2 if parser_num_threads is None else parser_num_threads
    parsed = batches.apply(parse_example_dataset(features, threads))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        parsed = parsed.map(lambda found: (found, found.pop(label_key)))
    return parsed.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _read_side_by_side(
    files: Dataset, read: Callable[[Tensor], Dataset], threads: int | None, sloppy: bool
) -> Dataset:
    """What is in the files, of so many at a time."""
    if threads != AUTOTUNE:
        return files.apply(parallel_interleave(read, 1 if threads is None else threads, sloppy=sloppy))
    options = Options()
    options.experimental_deterministic = not sloppy
    return files.interleave(read, num_parallel_calls=threads).with_options(options)


def _shuffled_epochs(
    dataset: Dataset, epochs: int | None, shuffle: bool, buffer_size: int, seed: int | None
) -> Dataset:
    if shuffle and epochs != 1:
        return dataset.apply(shuffle_and_repeat(buffer_size, epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if epochs == 1 else dataset.repeat(epochs)


@export("data.experimental.make_csv_dataset", "contrib.data.make_csv_dataset")
def make_csv_dataset(
    file_pattern: str | Sequence[str],
    batch_size: int,
    column_names: list[str] | None = None,
    column_defaults: list[Any] | None = None,
    label_name: str | None = None,
    select_columns: list[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Makes a dataset of batches of the columns of CSV files.

    Args:
      file_pattern: A file name pattern, or a list of them.
      batch_size: The number of rows in a batch.
      column_names: The names of the columns; those of the header if None.
      column_defaults: The default or the type of each column; inferred from the data if None.
      label_name: The name of a column that is the label.
      select_columns: The names or the numbers of the columns to read; all if None.
      field_delim: The character between fields.
      use_quote_delim: Whether fields may be quoted.
      na_value: The text of a missing value.
      header: Whether the first line of each file is a header.
      num_epochs: How often the data is repeated; infinitely often if None.
      shuffle: Whether the elements are shuffled.
      shuffle_buffer_size: The size of the buffer for that.
      shuffle_seed: The seed of the order.
      prefetch_buffer_size: The number of batches to read ahead; a suitable one if None.
      num_parallel_reads: The number of files to read at the same time.
      sloppy: Whether the order of the files' rows may vary, for speed.
      num_rows_for_inference: The number of rows from which types are inferred; all if None.
      compression_type: "", `"ZLIB"` or `"GZIP"`.
      ignore_errors: Whether invalid rows are skipped.

    Returns:
      A dataset of dictionaries of tensors, or of pairs of dictionary and label.

    Raises:
      ValueError: If names are not unique, or the label is not a column.
    """
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    paths = sorted({path for pattern in patterns for path in matching_paths(pattern)})
    if not paths:
        raise ValueError(f"No files match {file_pattern}.")
    if column_names is None and not header:
        raise ValueError("Cannot infer column names without a header line.")
    names = column_names or _rows(paths[0], compression_type, field_delim, use_quote_delim)[0]
    if len(names) != len(set(names)):
        raise ValueError("Cannot have duplicate column names.")
    chosen = None if select_columns is None else _positions(select_columns, names)
    if column_defaults is None:
        rows = _some_rows(
            paths, compression_type, field_delim, use_quote_delim, header, num_rows_for_inference
        )
        if any(len(row) != len(names) for row in rows):
            raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
        wanted = range(len(names)) if chosen is None else chosen
        defaults = [_inferred([row[i] for row in rows], na_value) for i in wanted]
    else:
        defaults = [_required(value) for value in column_defaults]
    if chosen is not None:
        names = [names[i] for i in chosen]
    if len(defaults) != len(names):
        raise ValueError(
            f"The number of column defaults ({len(defaults)}) must equal the number of columns "
            f"({len(names)})."
        )
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def read(name: Any) -> Dataset:
        rows = CsvDataset(
            name,
            defaults,
            compression_type=compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=chosen,
        )
        return rows.apply(without_errors()) if ignore_errors else rows

    def by_name(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(names, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    files = Dataset.from_tensor_slices([str(path) for path in paths])
    if shuffle:
        files = files.shuffle(len(paths), shuffle_seed)
    rows = _read_side_by_side(files, read, num_parallel_reads, sloppy)
    rows = _shuffled_epochs(rows, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    batches = rows.batch(batch_size, drop_remainder=num_epochs is None)
    named = batches._map_in_place(by_name)
    return named.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _rows(
    path: str, compression: str | None, delimiter: str, quotes: bool, most: int | None = 1
) -> list[list[str]]:
    with open_for_reading(path, compression or "") as file:
        lines = (line.decode() for line in lines_of(file, path, compression or ""))
        quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        return list(itertools.islice(csv.reader(lines, delimiter=delimiter, quoting=quoting), most))


def _some_rows(
    paths: list[str], compression: str | None, delimiter: str, quotes: bool, header: bool, most: int | None
) -> list[list[str]]:
    """The first rows of the files, from which the columns' types are guessed."""
    found: list[list[str]] = []
    for path in paths:
        left = None if most is None else most - len(found) + header
        if left is not None and left <= header:
            break
        found += _rows(path, compression, delimiter, quotes, left)[int(header) :]
    return found


def _positions(columns: list[Any], names: list[str]) -> list[int]:
    if all(isinstance(column, int) for column in columns):
        found = list(columns)
    elif all(isinstance(column, str) for column in columns):
        missing = [column for column in columns if column not in names]
        if missing:
            raise ValueError(f"Columns {missing} are not among the columns {names}.")
        found = [names.index(column) for column in columns]
    else:
        raise ValueError("`select_columns` must be all integers or all strings.")
    if len(set(found)) != len(found):
        raise ValueError("`select_columns` must not have duplicates.")
    if any(not 0 <= i < len(names) for i in found):
        raise ValueError(f"`select_columns` must be among the {len(names)} columns.")
    return sorted(found)


def _required(value: Any) -> Any:
    """A default, or a dtype for a column that must be there."""
    try:
        return dtypes.as_dtype(value) if isinstance(value, (dtypes.DType, type)) else value
    except TypeError:
        return value


def _inferred(cells: list[str], na_value: str) -> Any:
    """The default of a column of the narrowest type that all its cells are of."""
    seen = [cell for cell in cells if cell not in ("", na_value)]
    for blank, fits in (
        ([0], lambda cell: _is_int(cell, _INT32)),
        (np.zeros(1, np.int64), lambda cell: _is_int(cell, _INT64)),
        ([0.0], _is_number),
    ):
        if all(map(fits, seen)):
            return blank
    return [""]


def _is_int(cell: str, bounds: range) -> bool:
    try:
        return int(cell) in bounds
    except ValueError:
        return False


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
