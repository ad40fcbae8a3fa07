"""Tables of contrib's linear optimizers: one made of several, each with a share of the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor


class ShardedMutableDenseHashTable:
    """Several `MutableDenseHashTable`s; the remainder of a key tells which of them has it.

    Args:
      key_dtype: The type of the keys, integers.
      value_dtype: The type of the values.
      default_value: The value of keys that are not there.
      empty_key: A key that is never used.
      deleted_key: Another one.
      num_shards: The number of tables.
      checkpoint: Whether the tables are saved with the variables.
      name: A name for the tables.
    """

    @deprecated(
        None,
        "This class is deprecated. To UPDATE or USE linear optimizers, please check its latest version in "
        "core: tensorflow_estimator/python/estimator/canned/linear_optimizer/.",
    )
    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        num_shards: int = 1,
        checkpoint: bool = True,
        name: str = "ShardedMutableHashTable",
    ):
        self._key_dtype = key_dtype
        with tf.name_scope(name, "sharded_mutable_hash_table") as scope:
            self._name = scope
            self._shards = [
                tf.contrib.lookup.MutableDenseHashTable(
                    key_dtype,
                    value_dtype,
                    default_value,
                    empty_key,
                    deleted_key,
                    checkpoint=checkpoint,
                    name=f"{name}-{number}-of-{num_shards}",
                )
                for number in range(1, num_shards + 1)
            ]
        self._value_shape = tf.convert_to_tensor(default_value).shape

    @property
    def name(self) -> str:
        """The name scope of the tables."""
        return self._name

    @property
    def table_shards(self) -> Sequence[Any]:
        """The tables."""
        return self._shards

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys in all tables."""
        with tf.name_scope(name, "sharded_mutable_hash_table_size"):
            return tf.add_n([table.size() for table in self._shards])

    def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
        """The values of keys.

        Args:
          keys: A vector, or a matrix of which each row is a key; its shape must be known.
          name: A name for the operations.

        Returns:
          The values, with the default one where a key is not there.

        Raises:
          TypeError: If the keys are of another type than those of the table.
          ValueError: If their shape is not known, or is another.
        """
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        _check_keys(keys)
        if len(self._shards) == 1:
            return self._shards[0].lookup(keys, name=name)
        places = self._places(keys)
        parts = [
            table.lookup(part, name=name)
            for table, part in zip(self._shards, self._parts(keys, places), strict=True)
        ]
        count = keys.shape[0]
        found = tf.dynamic_stitch(self._parts(tf.range(count), places), parts)
        found.set_shape(tf.TensorShape([count]).concatenate(self._value_shape))
        return found

    def insert(self, keys: Tensor, values: Tensor, name: str | None = None) -> Any:
        """Sets the values of keys.

        Args:
          keys: A vector, or a matrix of which each row is a key; its shape must be known.
          values: Their values.
          name: A name for the operations.

        Returns:
          The operation that does it.

        Raises:
          ValueError: If the shape of the keys is not known, or is another.
        """
        _check_keys(keys)
        if len(self._shards) == 1:
            return self._shards[0].insert(keys, values, name=name)
        places = self._places(keys)
        parts = zip(self._shards, self._parts(keys, places), self._parts(values, places), strict=True)
        return tf.group(*(table.insert(*part, name=name) for table, *part in parts))

    def export_sharded(self, name: str | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """The keys of each table, and the values of each."""
        keys, values = zip(*(table.export(name=name) for table in self._shards), strict=True)
        return list(keys), list(values)

    def _places(self, keys: Tensor) -> Tensor:
        """Which table has each key; the first number of a key that is a vector tells."""
        numbers = keys if keys.shape.ndims == 1 else keys[:, 0]
        return tf.cast(tf.abs(numbers) % len(self._shards), tf.int32)

    def _parts(self, rows: Tensor, places: Tensor) -> list[Tensor]:
        return tf.dynamic_partition(rows, places, len(self._shards))


def _check_keys(keys: Tensor) -> None:
    if not keys.shape.is_fully_defined():
        raise ValueError(f"Key shape must be fully defined, got {keys.shape}.")
    if keys.shape.ndims not in (1, 2):
        raise ValueError(f"Expected a vector or matrix for keys, got {keys.shape}.")
