"""Datasets of what files hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.data import structure
from tideflow.data.dataset import Dataset
from tideflow.data.numbers import number
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.arrays import shapes
from tideflow.ops.datasets import file_datasets

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_BUFFER_BYTES = 256 * 1024
_STRING = TensorSpec([], dtypes.string)


def _named_files(filenames: Any) -> Dataset:
    """A dataset of the names, whichever way they are given."""
    if isinstance(filenames, Dataset):
        if filenames.output_types is not dtypes.string:
            raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
        if not filenames.output_shapes.is_compatible_with([]):
            raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
        return filenames
    names = convert_to_tensor(filenames, dtype=dtypes.string)
    names = shapes.reshape(names, [-1], name="flat_filenames")
    return Dataset.from_tensor_slices(names)


def _buffer(size: Any) -> Tensor:
    return number(_BUFFER_BYTES if size is None else size, "buffer_size")


def _compression(kind: str | None) -> Tensor:
    return number("" if kind is None else kind, "compression_type", dtypes.string)


class _OfFiles(Dataset):
    """The contents of files, one after the other, or several at a time."""

    def _read(
        self, filenames: Any, num_parallel_reads: Any, read_one_file: Callable[[Tensor], Dataset]
    ) -> None:
        names = _named_files(filenames)
        if num_parallel_reads is None:
            made = names.flat_map(read_one_file)
        else:
            made = names.interleave(
                read_one_file, cycle_length=num_parallel_reads, num_parallel_calls=num_parallel_reads
            )
        super().__init__(made._variant_tensor, _STRING, [names])


@export("data.TextLineDataset")
class TextLineDataset(_OfFiles):
    """A dataset of the lines of text files, without their line ends.

    Args:
      filenames: The file, or a vector of files.
      compression_type: "", `"ZLIB"` or `"GZIP"`; none if None.
      buffer_size: Has no effect.
      num_parallel_reads: The number of files to read at the same time; one after the other if None.
    """

    def __init__(
        self,
        filenames: TensorLike,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
    ):
        def read_one_file(name: Tensor) -> Dataset:
            parts = name, _compression(compression_type), _buffer(buffer_size)
            return Dataset(file_datasets.text_line_dataset_op(*parts), _STRING)

        self._read(filenames, num_parallel_reads, read_one_file)


@export("data.TFRecordDataset")
class TFRecordDataset(_OfFiles):
    """A dataset of the records of TFRecord files.

    Args:
      filenames: The file, or a vector of files.
      compression_type: "", `"ZLIB"` or `"GZIP"`; none if None.
      buffer_size: Has no effect.
      num_parallel_reads: The number of files to read at the same time; one after the other if None.
    """

    def __init__(
        self,
        filenames: TensorLike,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
    ):
        def read_one_file(name: Tensor) -> Dataset:
            parts = name, _compression(compression_type), _buffer(buffer_size)
            return Dataset(file_datasets.tf_record_dataset_op(*parts), _STRING)

        self._read(filenames, num_parallel_reads, read_one_file)


@export("data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(_OfFiles):
    """A dataset of the records of files with records of a fixed size.

    Args:
      filenames: The file, or a vector of files.
      record_bytes: The size of a record in bytes.
      header_bytes: The number of bytes to skip at the start of a file; 0 if None.
      footer_bytes: The number of bytes to ignore at the end of a file; 0 if None.
      buffer_size: Has no effect.
      compression_type: "", `"ZLIB"` or `"GZIP"`; none if None.
      num_parallel_reads: The number of files to read at the same time; one after the other if None.
    """

    def __init__(
        self,
        filenames: TensorLike,
        record_bytes: TensorLike,
        header_bytes: TensorLike | None = None,
        footer_bytes: TensorLike | None = None,
        buffer_size: int | None = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
    ):
        def read_one_file(name: Tensor) -> Dataset:
            variant = file_datasets.fixed_length_record_dataset_v2_op(
                name,
                number(0 if header_bytes is None else header_bytes, "header_bytes"),
                number(record_bytes, "record_bytes"),
                number(0 if footer_bytes is None else footer_bytes, "footer_bytes"),
                _buffer(buffer_size),
                _compression(compression_type),
            )
            return Dataset(variant, _STRING)

        self._read(filenames, num_parallel_reads, read_one_file)


@export("data.experimental.CsvDataset", "contrib.data.CsvDataset")
class CsvDataset(Dataset):
    """A dataset of the records of CSV files, with a tensor for each field.

    Args:
      filenames: The file, or a vector of files.
      record_defaults: The default of each field, or its type if the field is required.
      compression_type: "", `"ZLIB"` or `"GZIP"`; none if None.
      buffer_size: Has no effect.
      header: Whether the first line of each file is skipped.
      field_delim: The character between fields.
      use_quote_delim: Whether fields may be quoted.
      na_value: The text of a missing value.
      select_cols: The numbers of the fields to read, ascending; all if None.
    """

    def __init__(
        self,
        filenames: TensorLike,
        record_defaults: Sequence[Any],
        compression_type: str | None = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: TensorLike | None = None,
    ):
        names = number(filenames, "filenames", dtypes.string)
        defaults = [_default(value) for value in record_defaults]
        spec = tuple(TensorSpec([], default.dtype) for default in defaults)
        variant = file_datasets.csv_dataset_op(
            names,
            _compression(compression_type),
            _buffer(buffer_size),
            number(header, "header", dtypes.bool),
            number(field_delim, "field_delim", dtypes.string),
            number(use_quote_delim, "use_quote_delim", dtypes.bool),
            number(na_value, "na_value", dtypes.string),
            number([] if select_cols is None else select_cols, "select_cols"),
            defaults,
            output_shapes=[part.shape for part in spec],
        )
        super().__init__(variant, spec)


@export("data.experimental.SqlDataset", "contrib.data.SqlDataset")
class SqlDataset(Dataset):
    """A dataset of the rows of a database query.

    Args:
      driver_name: The database: `"sqlite"`.
      data_source_name: The file of the database.
      query: The query.
      output_types: The types of the columns.
    """

    def __init__(
        self,
        driver_name: TensorLike,
        data_source_name: TensorLike,
        query: TensorLike,
        output_types: Sequence[DTypeLike],
    ):
        spec = structure.map_structure(lambda dtype: TensorSpec([], dtypes.as_dtype(dtype)), output_types)
        variant = file_datasets.sql_dataset_op(
            number(driver_name, "driver_name", dtypes.string),
            number(data_source_name, "data_source_name", dtypes.string),
            number(query, "query", dtypes.string),
            **structure.flat_attributes(spec),
        )
        super().__init__(variant, spec)


def _default(value: Any) -> Tensor:
    """A field's default; a dtype stands for a field that must be there."""
    if isinstance(value, dtypes.DType):
        return convert_to_tensor([], dtype=value)
    return convert_to_tensor(value, name="record_defaults")
