"""`Barrier` of TensorFlow's data_flow_ops: elements whose components come at different times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.queues import barriers
from tideflow.queues.base import _as_shapes, _as_types

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


class Barrier:
    """Collects components by key; gives out elements once all their components have come."""

    def __init__(
        self,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: Any = None,
        shared_name: str | None = None,
        name: str = "barrier",
    ):
        self._types = _as_types(types)
        if shapes is None:
            self._shapes = [TensorShape(None) for _ in self._types]
        else:
            self._shapes = [as_shape(shape) for shape in _as_shapes(shapes)]
            if len(self._shapes) == 1:
                self._shapes *= len(self._types)
            if not all(shape.is_fully_defined() for shape in self._shapes):
                raise ValueError(f"All shapes must be fully defined: {self._shapes!r}")
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(
                        f"Empty tensors are not supported, but received shape '{shape}' at index {i}"
                    )
        self._barrier_ref = barriers.barrier_op(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name, name=name
        )
        self._name = self._barrier_ref.op.name.rpartition("/")[2]

    @property
    def barrier_ref(self) -> Tensor:
        return self._barrier_ref

    @property
    def name(self) -> str:
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """One component of the elements of these keys."""
        return barriers.insert_many_op(
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
            name=name or f"{self._name}_BarrierInsertMany",
        )

    def take_many(
        self,
        num_elements: Any,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Indices, keys and components of complete elements; waits until there are so many."""
        taken = barriers.take_many_op(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=timeout,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        count = None if allow_small_batch else constant_value(taken[0].op.inputs[1])
        batch = None if count is None else int(count)
        taken[0].set_shape([batch])
        taken[1].set_shape([batch])
        for tensor, shape in zip(taken[2], self._shapes, strict=True):
            if shape.ndims is not None:
                tensor.set_shape([batch, *shape.as_list()])
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """No new keys; what is incomplete may still be completed, unless that is cancelled."""
        return barriers.close_op(
            self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_BarrierClose",
        )

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements are complete."""
        return barriers.ready_size_op(self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components."""
        return barriers.incomplete_size_op(
            self._barrier_ref, name=name or f"{self._name}_BarrierIncompleteSize"
        )
