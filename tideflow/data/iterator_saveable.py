"""The place of an iterator, as a Saver and object checkpoints save it."""

from __future__ import annotations

from typing import Any

from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.datasets import iterators
from tideflow.train.saveables import SaveableObject, SaveSpec


class IteratorSaveable(SaveableObject):
    """The place of the iterator behind a handle, saved under a key or by the handle's name."""

    def __init__(self, resource: Tensor, key: str | None = None):
        state = iterators.iterator_state_op(resource, name="IteratorState")
        spec = SaveSpec(state, "", f"{resource.name}-state" if key is None else key)
        super().__init__(resource, [spec], resource.name if key is None else key)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        with control_dependencies(_initializers(self.op)):
            return iterators.restore_iterator_op(self.op, restored_tensors[0], name="RestoreIterator")


def _initializers(resource: Tensor) -> list[Operation]:
    """What gives the iterator its dataset, where there is but one for it; eagerly, it has that already."""
    if resource.is_eager:
        return []
    found = [op for op in resource.consumers() if op.definition is iterators.make_iterator_op]
    return found if len(found) == 1 else []
