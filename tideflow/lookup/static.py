"""Tables that are filled once, from an initializer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.fresh_names import fresh_id
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, init_scope, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.state import lookup_tables
from tideflow.variables.trackable import Children, Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike
    from tideflow.lookup.initializers import TableInitializerBase


@export("contrib.lookup.LookupInterface")
class LookupInterface(Trackable):
    """The base of tables.

    Args:
      key_dtype: The type of the keys.
      value_dtype: The type of the values.
    """

    _resource_handle: Tensor | None = None

    def _initialize(self) -> Operation | None:
        """Adds what fills the table, if anything does."""
        return None

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike):
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The type of the values."""
        return self._value_dtype

    @property
    def resource_handle(self) -> Tensor | None:
        """The handle of the table."""
        return self._resource_handle

    @property
    def name(self) -> str | None:
        """The last part of the name of the table's operation."""
        return self._table_name

    def _check_key_dtype(self, keys: Any) -> None:
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")


def name_if_in_function() -> str | None:
    """A name under which to share a table that the function which is traced makes: the nodes of two such
    functions may have the same name. Elsewhere None: the table is known by its handle or its node.
    """
    return f"table_{fresh_id()}" if get_default_graph().building_function else None


def last_part(name: str) -> str:
    """A name without its scopes."""
    return name.split("/")[-1]


def name_of(handle: Tensor) -> str:
    """The name of a table, without its scopes. In eager mode it has none of its own."""
    return "table" if handle.is_eager else last_part(handle.op.name)


@export("contrib.lookup.InitializableLookupTableBase")
class InitializableLookupTableBase(LookupInterface):
    """The base of tables that an initializer fills. Subclasses define `_create_resource`.

    Args:
      default_value: The value of keys that are not in the table.
      initializer: The initializer.
    """

    def __init__(self, default_value: TensorLike, initializer: TableInitializerBase):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with(TensorShape([]))
        self._initializer = initializer
        with init_scope():
            self._resource_handle = self._create_resource()
            self._table_name = name_of(self._resource_handle)
            self._init_op = initializer.initialize(self)

    @property
    def _checkpoint_dependencies(self) -> Children:
        return [("_initializer", self._initializer)] if isinstance(self._initializer, Trackable) else []

    def _initialize(self) -> Operation:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in the table."""
        return self._default_value

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return self._init_op

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys in the table.

        Args:
          name: The name of the operation.

        Returns:
          A scalar int64 tensor.
        """
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return lookup_tables.size_v2_op(self.resource_handle)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Any:
        """Looks up keys.

        Args:
          keys: The keys: a tensor or a SparseTensor.
          name: The name of the operation.

        Returns:
          The values, in the form of the keys. Keys that are not in the table have the default value.

        Raises:
          TypeError: If the keys have another type than those of the table.
        """
        key_tensor = keys.values if isinstance(keys, SparseTensor) else keys
        self._check_key_dtype(keys)
        with name_scope(name, f"{self.name}_Lookup", (self.resource_handle, key_tensor, self._default_value)):
            values = lookup_tables.find_v2_op(self.resource_handle, key_tensor, self._default_value)
        values.set_shape(key_tensor.shape)
        return like_keys(keys, values)


def like_keys(keys: Any, values: Tensor) -> Any:
    """The values in the form in which their keys came: sparse or dense."""
    return SparseTensor(keys.indices, values, keys.dense_shape) if isinstance(keys, SparseTensor) else values


class _HashTable(InitializableLookupTableBase):
    """A hash table under a shared name."""

    def __init__(self, initializer: Any, default_value: Any, shared_name: str | None, name: str | None):
        self._shared_name = shared_name
        self._name = name or "hash_table"
        self._key_dtype, self._value_dtype = initializer.key_dtype, initializer.value_dtype
        super().__init__(default_value, initializer)

    def _create_resource(self) -> Tensor:
        return lookup_tables.hash_table_v2_op(
            shared_name=self._shared_name or name_if_in_function(),
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
            name=self._name,
        )

    def _exported(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        values.set_shape(keys.shape.concatenate(self._default_value.shape))
        return keys, values


@export("lookup.StaticHashTable")
class StaticHashTable(_HashTable):
    """A table that is filled once, by its initializer.

    Args:
      initializer: The initializer.
      default_value: The value of keys that are not in the table.
      name: The name of the table.
    """

    def __init__(self, initializer: TableInitializerBase, default_value: TensorLike, name: str | None = None):
        shared_name = initializer._shared_name or f"hash_table_{fresh_id()}"
        super().__init__(initializer, default_value, shared_name, name)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Gets all keys and values.

        Args:
          name: The name of the operation.

        Returns:
          Vectors of the keys and the values.
        """
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            return self._exported(
                *lookup_tables.export_v2_op(
                    self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
                )
            )


@export("contrib.lookup.HashTable")
class HashTable(_HashTable):
    """A table that is filled once, by its initializer.

    Args:
      initializer: The initializer.
      default_value: The value of keys that are not in the table.
      shared_name: The name under which sessions share the table.
      name: The name of the table.
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str | None = None,
    ):
        super().__init__(initializer, default_value, shared_name, name)

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        return self.initializer

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Gets all keys and values.

        Args:
          name: The name of the operation.

        Returns:
          Vectors of the keys and the values.
        """
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]) as scope:
            return self._exported(
                *lookup_tables.export_v2_op(
                    self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype, name=scope
                )
            )
