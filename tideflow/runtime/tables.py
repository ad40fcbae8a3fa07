"""Lookup tables: values by key, shared by steps and threads.

A table has its values in the rows of one array, and a dictionary from key to row. Strings are looked up in
the dictionary one by one. Numbers are looked up all at once in an index of the keys, which is made after
enough lookups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import (
    InvalidArgumentError,
    UnimplementedError,
)
from tideflow.interrupts import Lock
from tideflow.runtime.fingerprints import hash64

_SMALLEST = 16  # rows
_SPREAD = 8  # an index is an array by key if at least one in so many numbers is a key, else a sorted array
_MOST = 2**64 - 1


def _refusal(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


def _brackets(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _cells(dtype: DType) -> Any:
    """The NumPy type in which values are kept; lists of tensors and other variants are objects."""
    return object if dtype is dtypes.variant else dtype.as_numpy_dtype


class Table:
    """A table that steps insert into and remove from."""

    def __init__(
        self,
        container: str,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...] = (),
        key_shape: tuple[int, ...] = (),
    ) -> None:
        self.container = container
        self.name = name
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.value_shape = value_shape
        self.key_shape = key_shape
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._rows: dict[Any, int] = {}
        self._values = np.empty((_SMALLEST, *self.value_shape), _cells(self.value_dtype))
        self._used = 0  # rows, including those of removed keys
        self._index: Callable[[np.ndarray], np.ndarray] | None = None
        self._looked_up = 0  # keys, since the table last changed

    def read(self) -> np.ndarray:
        """The value of a reference to the table: the names of its container and of itself."""
        return np.array([self.container.encode(), self.name.encode()], object)

    # ------------------------------------------------------------------ operations

    def size(self) -> int:
        """The number of keys."""
        return len(self._rows)

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The value of every key, or the default if the table does not have the key."""
        if default.shape != self.value_shape:
            raise _refusal(
                f"Expected shape {_brackets(self.value_shape)} for default value, got "
                f"{_brackets(default.shape)}"
            )
        batch = self._batch(keys)
        with self._lock:
            rows = self._rows_of(keys)
            found: np.ndarray = self._values[rows]
        found[rows < 0] = default
        return found.reshape((*batch, *self.value_shape))

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Sets the values of keys. If a key occurs twice, its last value counts."""
        self._check_values(keys, values)
        with self._lock:
            self._insert(self._plain(keys), values)

    def remove(self, keys: np.ndarray) -> None:
        """Removes keys, if the table has them."""
        self._batch(keys)
        with self._lock:
            for key in self._plain(keys):
                self._rows.pop(key, None)
            self._changed()

    def import_items(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Replaces all keys and values of the table."""
        self._check_values(keys, values)
        with self._lock:
            self._forget()
            self._insert(self._plain(keys), values)

    def export_items(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys, and their values."""
        with self._lock:
            rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
            return self._keys(), self._values[rows]

    # ------------------------------------------------------------------ rows

    def _batch(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of the keys without the axes of a key itself."""
        rank = keys.ndim - len(self.key_shape)
        if rank < 0 or keys.shape[rank:] != self.key_shape:
            raise _refusal(
                f"Expected key shape {_brackets(self.key_shape)} got {_brackets(keys.shape[max(rank, 0) :])}"
            )
        return keys.shape[:rank]

    def _check_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        expected = (*self._batch(keys), *self.value_shape)
        if values.shape != expected:
            raise _refusal(f"Expected shape {_brackets(expected)} for value, got {_brackets(values.shape)}")

    def _plain(self, keys: np.ndarray) -> list[Any]:
        """The keys as Python values, which the dictionary has."""
        if not self.key_shape:
            plain: list[Any] = keys.ravel().tolist()
            return plain
        return [tuple(key) for key in keys.reshape(-1, math.prod(self.key_shape)).tolist()]

    def _keys(self) -> np.ndarray:
        array = np.empty((len(self._rows), *self.key_shape), self.key_dtype.as_numpy_dtype)
        if self._rows:
            flat = array.reshape(len(self._rows), -1)
            flat[:] = [key if self.key_shape else (key,) for key in self._rows]
        return array

    def _insert(self, keys: list[Any], values: np.ndarray) -> None:
        self._make_room(len(keys))
        rows, used = self._rows, self._used
        places = []
        for key in keys:
            row = rows.get(key)
            if row is None:
                row = rows[key] = used
                used += 1
            places.append(row)
        self._used = used
        self._values[places] = values.reshape(len(places), *self.value_shape)
        self._changed()

    def _make_room(self, count: int) -> None:
        """Makes room for `count` more rows. A larger array no longer has the rows of removed keys."""
        if self._used + count <= len(self._values):
            return
        kept = np.fromiter(self._rows.values(), np.int64, len(self._rows))
        larger = np.empty((2 * (len(kept) + count), *self.value_shape), self._values.dtype)
        larger[: len(kept)] = self._values[kept]
        self._rows = {key: row for row, key in enumerate(self._rows)}
        self._values, self._used = larger, len(kept)

    def _changed(self) -> None:
        self._index, self._looked_up = None, 0

    def _rows_of(self, keys: np.ndarray) -> np.ndarray:
        """The row of every key, or -1 if the table does not have the key."""
        self._looked_up += keys.size
        if self.key_shape or self.key_dtype is dtypes.string or self._index is None and self._few_lookups():
            get = self._rows.get
            plain = self._plain(keys)
            return np.fromiter([get(key, -1) for key in plain], np.int64, len(plain))
        if self._index is None:
            self._index = _index_of(self._keys(), np.fromiter(self._rows.values(), np.int64, len(self._rows)))
        return self._index(keys.ravel())

    def _few_lookups(self) -> bool:
        """Whether an index of the keys would have cost more than it saved since the table changed."""
        return self._looked_up < len(self._rows) // 4 + _SMALLEST


def _index_of(known: np.ndarray, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from keys to rows, -1 for unknown keys."""
    if not len(known):
        return lambda keys: np.full(len(keys), -1)
    first, last = known.min(), known.max()
    if known.dtype.kind == "i" and int(last) - int(first) < _SPREAD * len(known):  # a row for every number
        row_of = np.full(int(last) - int(first) + 1, -1)
        row_of[known - first] = rows
        return lambda keys: np.where(
            (keys >= first) & (keys <= last), row_of[keys.clip(first, last) - first], -1
        )
    order = np.argsort(known)
    known, rows = known[order], rows[order]

    def by_order(keys: np.ndarray) -> np.ndarray:
        places = np.searchsorted(known, keys).clip(max=len(known) - 1)
        return np.where(known[places] == keys, rows[places], -1)

    return by_order


class StaticTable(Table):
    """A table that is filled once and does not change afterwards."""

    def _forget(self) -> None:
        super()._forget()
        self.initialized = False

    def initialize(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fills the table. A second call must have the same number of keys, and has no effect."""
        if keys.size != values.size:
            raise _refusal(f"Keys and values must have the same size {keys.size} vs {values.size}")
        with self._lock:
            if self.initialized:
                if keys.size != len(self._rows):
                    raise errors.failed_precondition("Table was already initialized with different data.")
                return
            plain = self._plain(keys)
            self._check_unambiguous(plain, values)
            self._insert(plain, values)
            self.initialized = True

    @staticmethod
    def _check_unambiguous(keys: list[Any], values: np.ndarray) -> None:
        if len(set(keys)) == len(keys):
            return
        known: dict[Any, Any] = {}
        for key, value in zip(keys, values.ravel().tolist(), strict=True):
            if known.setdefault(key, value) != value:
                raise errors.failed_precondition(
                    f"HashTable has different value for same key. Key {_text(key)} has {_text(known[key])} "
                    f"and trying to add value {_text(value)}",
                )

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        if not self.initialized:
            raise errors.failed_precondition(f"Table not initialized. ({self.name})")
        return super().find(keys, default)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        raise self._not_supported("Insert")

    def remove(self, keys: np.ndarray) -> None:
        raise self._not_supported("Remove")

    @staticmethod
    def _not_supported(what: str) -> UnimplementedError:
        return errors.unimplemented(f"{what} not supported by InitializableLookupTable implementations")

    def import_items(self, keys: np.ndarray, values: np.ndarray) -> None:
        self.initialize(keys, values)

    def export_items(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.initialized:
            raise errors.aborted(f"HashTable is not initialized. ({self.name})")
        return super().export_items()


class DenseTable(Table):
    """A table of numbered buckets, with a special key for empty buckets and one for buckets of removed keys.

    Buckets matter only for export and import: TensorFlow writes such a table to files by bucket.
    """

    def __init__(
        self,
        container: str,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...],
        empty_key: np.ndarray,
        deleted_key: np.ndarray | None,
        buckets: int,
        max_load_factor: float,
    ) -> None:
        super().__init__(container, name, key_dtype, value_dtype, value_shape, empty_key.shape)
        _check_buckets(empty_key, deleted_key, buckets, max_load_factor)
        self._buckets = buckets
        self._max_load = max_load_factor
        self._empty_key = empty_key
        self._reserved = {self._plain(empty_key)[0]: "empty_key"}
        if deleted_key is not None:
            self._reserved[self._plain(deleted_key)[0]] = "deleted_key"

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        self._check_keys(keys)
        return super().find(keys, default)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        self._check_values(keys, values)
        self._check_keys(keys)
        with self._lock:
            plain = self._plain(keys)
            while len(self._rows) + len(plain) > self._buckets * self._max_load:
                self._buckets *= 2
            self._insert(plain, values)

    def remove(self, keys: np.ndarray) -> None:
        self._batch(keys)
        self._check_keys(keys)
        super().remove(keys)

    def _check_keys(self, keys: np.ndarray) -> None:
        if self.key_shape:
            self._batch(keys)
        for key in self._reserved:
            if (
                (keys == np.array(key, keys.dtype))
                .reshape(-1, *self.key_shape)
                .all(axis=tuple(range(1, 1 + len(self.key_shape))))
                .any()
            ):
                raise _refusal(f"Using the {self._reserved[key]} as a table key is not allowed")

    def export_items(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys and the values of all buckets, including empty ones, each as a row."""
        with self._lock:
            keys = np.empty((self._buckets, *(self.key_shape or (1,))), self.key_dtype.as_numpy_dtype)
            keys[:] = self._empty_key
            values = np.empty((self._buckets, *(self.value_shape or (1,))), self._values.dtype)
            values[:] = b"" if self.value_dtype is dtypes.string else 0
            taken: set[int] = set()
            for key, row in self._rows.items():
                bucket = self._free_bucket(key, taken)
                taken.add(bucket)
                keys[bucket] = key
                values[bucket] = self._values[row]
            return keys, values

    def _free_bucket(self, key: Any, taken: set[int]) -> int:
        """The bucket in which TensorFlow puts the key."""
        bucket, step = _bucket_hash(key) % self._buckets, 0
        while bucket in taken:
            step += 1
            bucket = (bucket + step) % self._buckets
        return bucket

    def import_items(self, keys: np.ndarray, values: np.ndarray) -> None:
        if keys.shape[1:] != (self.key_shape or (1,)) or values.shape[1:] != (self.value_shape or (1,)):
            raise _refusal(
                f"Expected rows of shape {_brackets(self.key_shape or (1,))} and "
                f"{_brackets(self.value_shape or (1,))}, got keys of shape {_brackets(keys.shape)} and "
                f"values of shape {_brackets(values.shape)}"
            )
        plain = self._plain(keys)
        kept = [i for i, key in enumerate(plain) if key not in self._reserved]
        with self._lock:
            self._forget()
            self._buckets = max(len(keys), 4)
            self._insert([plain[i] for i in kept], values[kept])


def _check_buckets(
    empty_key: np.ndarray, deleted_key: np.ndarray | None, buckets: int, max_load_factor: float
) -> None:
    if buckets < 4 or buckets & (buckets - 1):
        raise _refusal(f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
    if not 0 < max_load_factor < 1:
        raise _refusal(f"max_load_factor must be between 0 and 1, got: {max_load_factor:g}")
    if deleted_key is None:
        return
    if empty_key.shape != deleted_key.shape:
        raise _refusal(
            "Empty and deleted keys must have same shape, got shapes: "
            f"{_brackets(empty_key.shape)} and {_brackets(deleted_key.shape)}"
        )
    if (empty_key == deleted_key).all():
        raise _refusal("Empty and deleted keys cannot be equal")


def _bucket_hash(key: Any) -> int:
    """TensorFlow's hash of a key: a number itself, Hash64 of a string, the hashes of a tuple combined."""
    if isinstance(key, bytes):
        return hash64(key)
    if not isinstance(key, tuple):
        return int(key) & _MOST
    combined = 0
    for part in key:
        mixed = _bucket_hash(part) + 0x9E3779B97F4A7800 + (combined << 10) + (combined >> 4)
        combined = (combined ^ mixed) & _MOST
    return combined


def _text(item: Any) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)
