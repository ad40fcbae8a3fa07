"""`tf.ConditionalAccumulator` and its sparse relative: Python's side of the accumulator ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.math import casting
from tideflow.ops.queues import accumulators

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


def _step(value: Any) -> Tensor:
    return casting.cast(convert_to_tensor(value), dtypes.int64)


@export("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """Adds up gradients of the current step; those of earlier steps are dropped."""

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, accumulator_ref: Tensor):
        self._dtype = dtype
        self._shape = TensorShape(None) if shape is None else as_shape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        return self._accumulator_ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients are inside."""
        return self._op(accumulators.num_accumulated_op, accumulators.resource_num_accumulated_op)(
            self._accumulator_ref, name=name or f"{self._name}_NumAccumulated"
        )

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """Gradients of steps before this one are stale."""
        return self._op(accumulators.set_global_step_op, accumulators.resource_set_global_step_op)(
            self._accumulator_ref, _step(new_global_step), name=name
        )

    def _op(self, on_reference: Op, on_resource: Op) -> Op:
        """The op for the kind of handle that the accumulator has."""
        return on_resource if self._accumulator_ref.dtype is dtypes.resource else on_reference


@export("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean, or the sum, of gradients."""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        handle = accumulators.resource_conditional_accumulator_op(
            dtype=dtype,
            shape=as_shape(shape),
            shared_name=shared_name,
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: Any, local_step: TensorLike = 0, name: str | None = None) -> Operation:
        """Adds a gradient that was computed at `local_step`, unless it is stale."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return self._op(accumulators.apply_gradient_op, accumulators.resource_apply_gradient_op)(
            self._accumulator_ref, _step(local_step), grad, name=name
        )

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """Mean or sum of the gradients, once there are `num_required`; the next step begins."""
        taken = self._op(accumulators.take_gradient_op, accumulators.resource_take_gradient_op)(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        taken.set_shape(self._shape)
        return taken


@export("SparseConditionalAccumulator", "sparse.SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean, or the sum, of gradients that are IndexedSlices."""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        handle = accumulators.sparse_conditional_accumulator_op(
            dtype=dtype,
            shape=as_shape(shape),
            shared_name=shared_name,
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Adds a gradient that was computed at `local_step`, unless it is stale."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """Adds rows of a gradient that was computed at `local_step`, unless it is stale."""
        step = _step(local_step)
        indices = casting.cast(grad_indices, dtypes.int64)
        shape = casting.cast([] if grad_shape is None else grad_shape, dtypes.int64)
        return accumulators.sparse_apply_gradient_op(
            self._accumulator_ref,
            step,
            indices,
            grad_values,
            shape,
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Indices, values and shape of the mean or sum, once there are `num_required` gradients."""
        return accumulators.sparse_take_gradient_op(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: TensorLike, name: str | None = None) -> IndexedSlices:
        """`take_grad` as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(indices=indices, values=values, dense_shape=shape)
