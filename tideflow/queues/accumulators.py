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
    """The base of accumulators: they collect gradients of the current step and drop those of earlier steps.

    Args:
      dtype: The type of the gradients.
      shape: Their shape; unknown if None.
      accumulator_ref: The handle of the accumulator.
    """

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, accumulator_ref: Tensor):
        self._dtype = dtype
        self._shape = TensorShape(None) if shape is None else as_shape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator's operation."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """The number of gradients in the accumulator.

        Args:
          name: The name of the operation.

        Returns:
          A scalar int32 tensor.
        """
        return self._op(accumulators.num_accumulated_op, accumulators.resource_num_accumulated_op)(
            self._accumulator_ref, name=name or f"{self._name}_NumAccumulated"
        )

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """Sets the current step. Gradients of earlier steps are dropped from then on.

        Args:
          new_global_step: The step.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self._op(accumulators.set_global_step_op, accumulators.resource_set_global_step_op)(
            self._accumulator_ref, _step(new_global_step), name=name
        )

    def _op(self, on_reference: Op, on_resource: Op) -> Op:
        """The op for the kind of handle that the accumulator has."""
        return on_resource if self._accumulator_ref.dtype is dtypes.resource else on_reference


@export("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of dense gradients.

    Args:
      dtype: The type of the gradients.
      shape: Their shape; unknown if None.
      shared_name: The name under which sessions share it.
      name: The name of the accumulator.
      reduction_type: `"MEAN"` or `"SUM"`.
    """

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

    def apply_grad(self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None) -> Operation:
        """Adds a gradient, unless its step is earlier than the current one.

        Args:
          grad: The gradient.
          local_step: The step at which it was computed.
          name: The name of the operation.

        Returns:
          The operation.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return self._op(accumulators.apply_gradient_op, accumulators.resource_apply_gradient_op)(
            self._accumulator_ref, _step(local_step), grad, name=name
        )

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """Takes the reduced gradient, once there are enough; the current step advances.

        Args:
          num_required: The number of gradients to wait for.
          name: The name of the operation.

        Returns:
          The mean or the sum.
        """
        taken = self._op(accumulators.take_gradient_op, accumulators.resource_take_gradient_op)(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        taken.set_shape(self._shape)
        return taken


@export("SparseConditionalAccumulator", "sparse.SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of gradients that are IndexedSlices.

    Args:
      dtype: The type of the gradients.
      shape: Their dense shape; unknown if None.
      shared_name: The name under which sessions share it.
      name: The name of the accumulator.
      reduction_type: `"MEAN"` or `"SUM"`.
    """

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
        """Adds a gradient, unless its step is earlier than the current one.

        Args:
          grad: The gradient as IndexedSlices.
          local_step: The step at which it was computed.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """Adds a gradient, given by its parts, unless its step is earlier than the current one.

        Args:
          grad_indices: The indices of the rows.
          grad_values: The rows.
          grad_shape: The dense shape.
          local_step: The step at which it was computed.
          name: The name of the operation.

        Returns:
          The operation.
        """
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
        """Takes the reduced gradient, once there are enough; the current step advances.

        Args:
          num_required: The number of gradients to wait for.
          name: The name of the operation.

        Returns:
          The indices, the values and the dense shape of the mean or the sum.
        """
        return accumulators.sparse_take_gradient_op(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: TensorLike, name: str | None = None) -> IndexedSlices:
        """Takes the reduced gradient as IndexedSlices, once there are enough; the current step advances.

        Args:
          num_required: The number of gradients to wait for.
          name: The name of the operation.

        Returns:
          The mean or the sum.
        """
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(indices=indices, values=values, dense_shape=shape)
