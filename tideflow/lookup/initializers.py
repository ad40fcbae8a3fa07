"""What a table is filled from: tensors, or the lines of a text file."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, init_scope, name_scope
from tideflow.ops.state import lookup_tables
from tideflow.variables.assets import TrackableAsset
from tideflow.variables.trackable import Children, Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike
    from tideflow.lookup.static import LookupInterface


@export("lookup.TextFileIndex", "contrib.lookup.TextFileIndex")
class TextFileIndex:
    """Columns of a text file with a special meaning.

    Attributes:
      WHOLE_LINE: The whole line.
      LINE_NUMBER: The number of the line, from 0.
    """

    WHOLE_LINE = lookup_tables.WHOLE_LINE
    LINE_NUMBER = lookup_tables.LINE_NUMBER


def check_table_dtypes(table: Any, key_dtype: DType, value_dtype: DType) -> None:
    """Refuses to fill a table with keys or values of another type."""
    if key_dtype.base_dtype != table.key_dtype:
        raise TypeError(f"Invalid key dtype, expected {table.key_dtype} but got {key_dtype}.")
    if value_dtype.base_dtype != table.value_dtype:
        raise TypeError(f"Invalid value dtype, expected {table.value_dtype} but got {value_dtype}.")


@export("contrib.lookup.TableInitializerBase")
class TableInitializerBase(Trackable, abc.ABC):
    """The base of initializers of tables.

    Args:
      key_dtype: The type of the keys.
      value_dtype: The type of the values.
    """

    _shared_name = ""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The type of the values."""
        return self._value_dtype

    @abc.abstractmethod
    def initialize(self, table: LookupInterface) -> Operation:
        """Adds an operation that fills a table.

        Args:
          table: The table.

        Returns:
          The operation.
        """


@export("lookup.KeyValueTensorInitializer", "contrib.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Initializes a table from tensors of keys and values.

    Args:
      keys: The keys.
      values: The values, as many as keys.
      key_dtype: The type of the keys; that of `keys` if None.
      value_dtype: The type of the values; that of `values` if None.
      name: The name of the operation.
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ):
        with init_scope():
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: LookupInterface) -> Operation:
        """Adds an operation that fills a table.

        Args:
          table: The table, of the same types.

        Returns:
          The operation.
        """
        check_table_dtypes(table, self._keys.dtype, self._values.dtype)
        with name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            filled = lookup_tables.import_v2_op(table.resource_handle, self._keys, self._values)
        if filled is not None:  # it has run already in eager mode
            add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)
        return filled


@export("lookup.TextFileInitializer", "contrib.lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Initializes a table from two columns of a text file.

    Args:
      filename: The file, a string or a scalar string tensor.
      key_dtype: The type of the keys.
      key_index: The number of the column with the keys, or one of `tf.lookup.TextFileIndex`.
      value_dtype: The type of the values.
      value_index: The number of the column with the values, or one of `tf.lookup.TextFileIndex`.
      vocab_size: The number of lines, if it is known.
      delimiter: The character between columns.
      name: The name of the operation.

    Raises:
      ValueError: If the file name is empty, or a type does not fit a column.
    """

    def __init__(
        self,
        filename: TensorLike,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ):
        if not isinstance(filename, (Tensor, TrackableAsset)) and not filename:
            raise ValueError(f"Filename required for {name}.")
        super().__init__(key_dtype, value_dtype)
        _check_index("key", key_index)
        _check_line_number("Keys", key_index, self.key_dtype)
        if key_index == TextFileIndex.WHOLE_LINE and not (
            self.key_dtype.is_integer or self.key_dtype == dtypes.string
        ):
            raise ValueError(f"Signature mismatch. Keys must be integer or string, got {self.key_dtype}.")
        _check_index("value", value_index)
        _check_line_number("Values", value_index, self.value_dtype)
        if value_index == TextFileIndex.WHOLE_LINE and self.value_dtype != dtypes.string:
            raise ValueError(
                f"Signature mismatch. Values must be dtype {dtypes.string}, got {self.value_dtype}."
            )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._given_filename = filename
        self._key_index = key_index
        self._value_index = value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        self._asset = filename if isinstance(filename, TrackableAsset) else TrackableAsset(filename)
        self._filename = self._asset.asset_path

    @property
    def _checkpoint_dependencies(self) -> Children:
        return [("_filename", self._asset)]

    def initialize(self, table: LookupInterface) -> Operation:
        """Adds an operation that fills a table.

        Args:
          table: The table, of the same types.

        Returns:
          The operation.
        """
        check_table_dtypes(table, self.key_dtype, self.value_dtype)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            filled = lookup_tables.initialize_from_file_v2_op(
                table.resource_handle,
                self._filename,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        if filled is None:  # it has run already: eager mode
            return filled
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)
        if not self._filename.is_eager and self._filename.op.definition.role == "constant":
            add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return filled

    @property
    def _shared_name(self) -> str:
        """Tables from the same columns of the same file are the same table."""
        parts = [self._given_filename, self._key_index, self._value_index]
        if self._vocab_size:
            parts.insert(1, self._vocab_size)
        return "_".join(["hash_table", *map(str, parts)])


def _check_index(word: str, index: int) -> None:
    if index < -2:
        raise ValueError(f"Invalid {word} index {index}.")


def _check_line_number(title: str, index: int, dtype: DType) -> None:
    if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(f"Signature mismatch. {title} must be dtype {dtypes.int64}, got {dtype}.")


@export("contrib.lookup.TextFileStringTableInitializer")
class TextFileStringTableInitializer(TextFileInitializer):
    """Initializes a table from numbers to strings, from a text file; by default from line numbers to lines.

    Args:
      filename: The file, a string or a scalar string tensor.
      key_column_index: The number of the column with the keys.
      value_column_index: The number of the column with the values.
      vocab_size: The number of lines, if it is known.
      delimiter: The character between columns.
      name: The name of the operation.
    """

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ):
        super().__init__(
            filename,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name=name,
        )


@export("contrib.lookup.TextFileIdTableInitializer")
class TextFileIdTableInitializer(TextFileInitializer):
    """Initializes a table from strings or integers to numbers, from a text file.

    By default it is from lines to their numbers.

    Args:
      filename: The file, a string or a scalar string tensor.
      key_column_index: The number of the column with the keys.
      value_column_index: The number of the column with the values.
      vocab_size: The number of lines, if it is known.
      delimiter: The character between columns.
      name: The name of the operation.
      key_dtype: The type of the keys.
    """

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = dtypes.string,
    ):
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            dtypes.int64,
            value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name=name,
        )
