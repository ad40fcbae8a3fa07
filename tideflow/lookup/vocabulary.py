"""Vocabularies: strings to numbers and back, with buckets for the strings that no vocabulary has."""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import graph_outside, init_scope, name_scope
from tideflow.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from tideflow.lookup.static import LookupInterface, StaticHashTable, last_part, like_keys
from tideflow.ops.arrays import constants, creation, indexing, shapes
from tideflow.ops.math import binary, casting
from tideflow.ops.strings import hashing, numbers
from tideflow.variables.trackable import Children

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike
    from tideflow.lookup.initializers import TableInitializerBase

# ------------------------------------------------------------------------------------------------ hashing


@export("contrib.lookup.HasherSpec")
class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """A hash function for strings that are not in a vocabulary.

    Args:
      hasher: The name of the function: `"fasthash"` or `"stronghash"`.
      key: The key of the function, or None.
    """

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)
expose(FastHashSpec, "contrib.lookup.FastHashSpec")


@export("contrib.lookup.StrongHashSpec")
class StrongHashSpec(HasherSpec):
    """A hash function with a secret key.

    Args:
      key: The key: two integers.

    Raises:
      ValueError: If the key is not two integers.
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(hasattr(part, "__index__") for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _check_hasher(spec: Any) -> None:
    if not isinstance(spec, HasherSpec):
        raise TypeError(f"hasher_spec must be of type HasherSpec, got {spec}")


def _hash_function(spec: HasherSpec) -> Callable:
    if spec.hasher == "fasthash":
        return hashing.string_to_hash_bucket_fast
    if spec.hasher == "legacy":
        return hashing.string_to_hash_bucket
    if spec.hasher == "stronghash":
        return functools.partial(hashing.string_to_hash_bucket_strong, key=spec.key)
    raise ValueError(f"Unknown hasher {spec.hasher}")


# ------------------------------------------------------------------------------- tables with hash buckets


def _check_vocabulary_dtypes(source: Any, key_dtype: DType) -> None:
    """What is looked up fits the table, or what fills it: strings, or whole numbers."""
    supported = (dtypes.int64, dtypes.string)
    if source.key_dtype not in supported:
        raise TypeError(f"Invalid key dtype, expected one of {supported}, but got {source.key_dtype}.")
    if source.key_dtype.is_integer != key_dtype.is_integer:
        kind = "integer" if key_dtype.is_integer else "non-integer"
        raise TypeError(f"Invalid key dtype, expected {kind} but got {source.key_dtype}.")
    if source.value_dtype != dtypes.int64:
        raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {source.value_dtype}.")


class _WithHashBuckets(LookupInterface):
    """Numbers of a table first, then buckets: a key that the table lacks has the number of its bucket."""

    def __init__(
        self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec, name: str, key_dtype: DType
    ):
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        super().__init__(key_dtype, dtypes.int64)
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = hasher_spec
        self._table_name = last_part(name)

    def _children_to_export(self) -> Children:
        return [] if self._table is None else [("_table", self._table)]

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table, or does nothing where there is none."""
        if self._table is not None:
            return self._table.initializer
        with name_scope(None, "init"):
            return constants.no_operation()

    @property
    def resource_handle(self) -> Tensor | None:
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys and buckets."""
        with name_scope(name, f"{self.name}_Size"):
            known = convert_to_tensor(0, dtype=dtypes.int64) if self._table is None else self._table.size()
            return known + self._num_oov_buckets

    def lookup(self, keys: TensorLike | SparseTensor, name: str | None = None) -> Any:
        """Finds the numbers of keys.

        Args:
          keys: The keys: a tensor or a SparseTensor.
          name: The name scope of the operations.

        Returns:
          The numbers, of the shape of `keys`.
        """
        self._check_key_dtype(keys)
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            values = casting.cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            return like_keys(keys, self._table.lookup(values, name=name))
        with name_scope(name, f"{self.name}_Lookup"):
            ids = self._bucket_of(values)
            if self._table is not None:
                found = self._table.lookup(values)
                ids = binary.add(ids, self._table.size())
                is_known = binary.not_equal(found, self._table.default_value)
                ids = indexing.where_v2(is_known, found, ids)
        return like_keys(keys, ids)

    def _bucket_of(self, values: Tensor) -> Tensor:
        texts = values if values.dtype.base_dtype == dtypes.string else numbers.as_string(values)
        to_bucket = _hash_function(self._hasher_spec)
        return to_bucket(texts, num_buckets=self._num_oov_buckets, name="hash_bucket")


@export("contrib.lookup.IdTableWithHashBuckets")
class IdTableWithHashBuckets(_WithHashBuckets):
    """A table from strings to numbers, with hash buckets for strings that are not in it.

    Args:
      table: The table, or None for buckets only.
      num_oov_buckets: The number of buckets. Their numbers follow those of the table.
      hasher_spec: The hash function.
      name: The name of the table.
      key_dtype: The type of the keys; that of the table if None.
    """

    def __init__(
        self,
        table: LookupInterface | None,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ):
        name = name.rstrip("/") if name else name
        if table is not None:
            key_dtype = table.key_dtype if key_dtype is None else key_dtype
            _check_vocabulary_dtypes(table, key_dtype)
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else key_dtype
            name = name or "hash_bucket"
        _check_hasher(hasher_spec)
        super().__init__(table, num_oov_buckets, hasher_spec, name, key_dtype)

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        return self.initializer


@export("lookup.StaticVocabularyTable")
class StaticVocabularyTable(_WithHashBuckets):
    """A vocabulary that is filled once, with hash buckets for strings that are not in it.

    Args:
      initializer: The initializer of a table from strings or integers to int64, or None for buckets only.
      num_oov_buckets: The number of buckets. Their numbers follow those of the vocabulary.
      lookup_key_dtype: The type of the keys; that of the initializer if None.
      name: The name of the table.
    """

    def __init__(
        self,
        initializer: TableInitializerBase | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        name = name.rstrip("/") if name else name
        table, key_dtype = None, dtypes.string
        if initializer is not None:
            key_dtype = initializer.key_dtype if lookup_key_dtype is None else lookup_key_dtype
            _check_vocabulary_dtypes(initializer, key_dtype)
            table = StaticHashTable(initializer, default_value=-1)
        name = name or ("hash_bucket" if table is None else table.name)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, key_dtype)


# ------------------------------------------------------------------------------------------ from strings


def _check_file(vocabulary_file: Any) -> None:
    if vocabulary_file is None or isinstance(vocabulary_file, str) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")


def _check_keys(num_oov_buckets: int, dtype: DType) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")


@export("contrib.lookup.index_table_from_file")
def index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """Makes a table from the lines of a file to their numbers.

    Args:
      vocabulary_file: The file.
      num_oov_buckets: The number of hash buckets for strings that are not in the file.
      vocab_size: The number of lines, if it is known.
      default_value: The number of strings that are not in the file, if there are no buckets.
      hasher_spec: The hash function of the buckets.
      key_dtype: The type of the keys.
      name: The name of the table.
      key_column_index: The number of the column with the keys.
      value_column_index: The number of the column with the values.
      delimiter: The character between columns.

    Returns:
      The table.

    Raises:
      ValueError: If the arguments are not valid.
    """
    _check_file(vocabulary_file)
    if vocab_size is not None and vocab_size < 1:
        shown = vocabulary_file
        if isinstance(vocabulary_file, Tensor):
            shown = constant_value(vocabulary_file) or "?"
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {shown}")
    _check_keys(num_oov_buckets, key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            source = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init",
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table = StaticHashTable(source, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def _with_buckets(table: Any, num_oov_buckets: int, hasher_spec: HasherSpec, key_dtype: DType) -> Any:
    if not num_oov_buckets:
        return table
    return IdTableWithHashBuckets(
        table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec, key_dtype=key_dtype
    )


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DType = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the elements of a vector to their places."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    _check_keys(num_oov_buckets, dtype)
    outside = init_scope() if graph_outside().is_eager else contextlib.nullcontext()
    with outside, name_scope(name, "string_to_index"):  # a table of eager mode is filled at once
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            kind = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {kind}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        places = casting.cast(creation.range(shapes.size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            table_keys = casting.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            source = KeyValueTensorInitializer(
                table_keys, places, table_keys.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTable(source, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


# -------------------------------------------------------------------------------------------- to strings


@export("contrib.lookup.index_to_string_table_from_file")
def index_to_string_table_from_file(
    vocabulary_file: TensorLike,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """Makes a table from numbers to the lines of a file.

    Args:
      vocabulary_file: The file.
      vocab_size: The number of lines, if it is known.
      default_value: The string of numbers that have no line.
      name: The name of the table.
      key_column_index: The number of the column with the keys.
      value_column_index: The number of the column with the values.
      delimiter: The character between columns.

    Returns:
      The table.

    Raises:
      ValueError: If the arguments are not valid.
    """
    _check_file(vocabulary_file)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        source = TextFileStringTableInitializer(
            vocabulary_file,
            vocab_size=vocab_size,
            name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            delimiter=delimiter,
        )
        return StaticHashTable(source, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: str = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from places to the elements of a vector."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        strings = convert_to_tensor(vocabulary_list, dtypes.string)
        places = casting.cast(creation.range(shapes.size(strings)), dtypes.int64)
        source = KeyValueTensorInitializer(places, strings, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTable(source, default_value)
