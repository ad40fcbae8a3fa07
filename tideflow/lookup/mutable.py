"""Tables that steps change, and that checkpoints keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, colocate_with, name_scope
from tideflow.lookup.static import LookupInterface, name_if_in_function, name_of
from tideflow.ops.state import lookup_tables

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


class SaveSpec:
    """A tensor that a checkpoint keeps under a name; it may be a function that makes it, of known type."""

    def __init__(
        self,
        tensor: Tensor | Callable[[], Tensor],
        slice_spec: str,
        name: str,
        dtype: DTypeLike | None = None,
        device: str | None = None,
    ):
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        if not callable(tensor):
            dtype, device = tensor.dtype, tensor.device
        elif dtype is None or device is None:
            raise AssertionError(
                "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be "
                "provided."
            )
        self.dtype, self.device = dtype, device

    @property
    def tensor(self) -> Tensor:
        """The tensor; each time a new one where a function makes it."""
        return self._tensor() if callable(self._tensor) else self._tensor


class TableSaveable:
    """How a checkpoint keeps a table: its keys and its values, exported and imported again."""

    def __init__(self, table: Any, name: str):
        keys, values = table.export()
        self.op = table
        self.name = name
        self.specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]

    @property
    def device(self) -> str:
        return self.specs[0].device

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Any = None, name: str | None = None
    ) -> Operation:
        """The operation that fills the table from what the checkpoint has."""
        with name_scope(name, f"{self.name}_table_restore"), colocate_with(self.op.resource_handle):
            return lookup_tables.import_v2_op(self.op.resource_handle, *restored_tensors)


class _MutableTable(LookupInterface):
    """What both kinds of mutable tables do."""

    def __init__(self, key_dtype: Any, value_dtype: Any, name: str, checkpoint: bool):
        super().__init__(key_dtype, value_dtype)
        self._name, self._checkpoint = name, checkpoint
        handle = self._resource_handle = self._create_resource()
        self._table_name = name_of(handle)
        if checkpoint and not handle.is_eager:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self, name))

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"table": lambda name=self._name: TableSaveable(self, name)}

    def _scope(self, name: str | None, doing: str, *values: Any) -> name_scope:
        return name_scope(name, f"{self.name}_{doing}", [self.resource_handle, *values])

    def _beside_table(self) -> Any:
        return colocate_with(self.resource_handle)

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys in the table."""
        with self._scope(name, "Size"), self._beside_table():
            return lookup_tables.size_v2_op(self.resource_handle)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """Finds the values of keys.

        Args:
          keys: The keys, a tensor.
          name: The name scope of the operations.

        Returns:
          The values; the default for keys that are not there.
        """
        with self._scope(name, "lookup_table_find", keys):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            with self._beside_table():
                return lookup_tables.find_v2_op(self.resource_handle, keys, self._default_value)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Sets the values of keys, new ones and old ones.

        Args:
          keys: The keys, a tensor.
          values: Their values, a tensor.
          name: The name scope of the operations.

        Returns:
          The operation.
        """
        with self._scope(name, "lookup_table_insert", keys, values):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            values = convert_to_tensor(values, dtype=self._value_dtype, name="values")
            with self._beside_table():
                return lookup_tables.insert_v2_op(self.resource_handle, keys, values)

    def remove(self, keys: TensorLike, name: str | None = None) -> Operation:
        """Takes keys out of the table, where they are there.

        Args:
          keys: The keys, a tensor.
          name: The name scope of the operations.

        Returns:
          The operation.
        """
        self._check_key_dtype(keys)
        with self._scope(name, "lookup_table_remove", keys, self._default_value):
            return lookup_tables.remove_v2_op(self.resource_handle, keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        with self._scope(name, "lookup_table_export_values"), self._beside_table():
            return tuple(
                lookup_tables.export_v2_op(
                    self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
                )
            )


@export("contrib.lookup.MutableHashTable")
class MutableHashTable(_MutableTable):
    """A table that steps can change. A value is a scalar, or a vector if the default is one.

    Args:
      key_dtype: The type of the keys.
      value_dtype: The type of the values.
      default_value: The value of keys that are not in the table.
      name: The name of the table.
      checkpoint: Whether savers save the table.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ):
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype)
        super().__init__(key_dtype, value_dtype, name, checkpoint)

    def _create_resource(self) -> Tensor:
        attrs = {
            "shared_name": name_if_in_function(),
            "use_node_name_sharing": self._checkpoint,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "name": self._name,
        }
        if self._default_value.shape.ndims == 0:
            return lookup_tables.mutable_hash_table_v2_op(**attrs)
        return lookup_tables.mutable_tensors_table_v2_op(value_shape=self._default_value.shape, **attrs)


@export("lookup.experimental.DenseHashTable", "contrib.lookup.MutableDenseHashTable")
class DenseHashTable(_MutableTable):
    """A table of numbered buckets that steps can change.

    Args:
      key_dtype: The type of the keys.
      value_dtype: The type of the values.
      default_value: The value of keys that are not in the table.
      empty_key: A key that marks empty buckets and cannot be used.
      deleted_key: A key that marks buckets of removed keys and cannot be used.
      initial_num_buckets: The number of buckets at the start, a power of 2.
      name: The name of the table.
      checkpoint: Whether savers save the table.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ):
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        self._empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        self._initial_num_buckets = initial_num_buckets
        super().__init__(key_dtype, value_dtype, name, checkpoint)

    def _create_resource(self) -> Tensor:
        return lookup_tables.mutable_dense_hash_table_v2_op(
            self._empty_key,
            self._deleted_key,
            shared_name=name_if_in_function(),
            use_node_name_sharing=self._checkpoint,
            value_dtype=self._value_dtype,
            value_shape=self._default_value.shape,
            initial_num_buckets=self._initial_num_buckets,
            name=self._name,
        )

    def insert_or_assign(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Adds an operation that sets the values of keys.

        Args:
          keys: The keys.
          values: Their values.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self.insert(keys, values, name)

    def erase(self, keys: TensorLike, name: str | None = None) -> Operation:
        """Adds an operation that removes keys.

        Args:
          keys: The keys. Those that are not in the table are ignored.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self.remove(keys, name)
