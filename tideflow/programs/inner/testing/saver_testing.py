"""`tensorflow.python.training.saver_test_utils`: an object that says itself how it is saved."""

from __future__ import annotations

from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, executing_eagerly
from tideflow.programs.modules import generated_function
from tideflow.train.saveables import SaveableObject, SaveSpec


class CheckpointedOp:
    """A table of numbers by string, which checkpoints hold as its keys and its values.

    Args:
      name: The name of the table, and of what is saved of it.
      table_ref: An existing table; by default a new one.
    """

    def __init__(self, name: str, table_ref: Tensor | None = None):
        self.table_ref = table_ref
        if table_ref is None:
            make = generated_function("mutable_hash_table_v2")
            self.table_ref = make(key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name)
        self.name = name
        if not executing_eagerly():
            self._saveable = self.CustomSaveable(self, name)
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @property
    def saveable(self) -> SaveableObject:
        return self.CustomSaveable(self, self.name) if executing_eagerly() else self._saveable

    def insert(self, keys: Any, values: Any) -> Any:
        """Puts numbers into the table."""
        return generated_function("lookup_table_insert_v2")(self.table_ref, keys, values)

    def lookup(self, keys: Any, default: Any) -> Tensor:
        """The numbers of some keys."""
        return generated_function("lookup_table_find_v2")(self.table_ref, keys, default)

    def keys(self) -> Tensor:
        """All keys."""
        return self._export()[0]

    def values(self) -> Tensor:
        """The numbers of all keys."""
        return self._export()[1]

    def _export(self) -> Any:
        export = generated_function("lookup_table_export_v2")
        return export(self.table_ref, dtypes.string, dtypes.float32)

    class CustomSaveable(SaveableObject):
        """What is saved of a table."""

        def __init__(self, table: CheckpointedOp, name: str):
            parts = zip(table._export(), ("keys", "values"), strict=True)
            specs = [SaveSpec(tensor, "", f"{name}-{part}") for tensor, part in parts]
            super().__init__(table, specs, name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            return generated_function("lookup_table_import_v2")(self.op.table_ref, *restored_tensors)
