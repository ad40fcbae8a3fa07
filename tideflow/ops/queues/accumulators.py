"""Accumulators of gradients as ops; the dense ones with a reference or a resource as the handle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.session_objects import NAMED, REFERENCE, RESOURCE, found, held
from tideflow.ops.helpers.types import NUMERIC
from tideflow.runtime.accumulators import Accumulator, SparseAccumulator

_DTYPE = attr("type", allowed=NUMERIC)
_TESTS = "tests/queues/test_accumulators.py"


def _scalar(shape: TensorShape, what: str) -> None:
    if shape.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {shape.ndims}: '{what}' is one number")


def _accumulator_op(name: str, handle: str, kind: type[Accumulator], is_model_state: bool = False) -> Op:
    """An op that makes an accumulator."""
    op = Op(
        name,
        f" -> handle: {handle}",
        stateful=True,
        handle=True,
        differentiable=False,
        dtype=_DTYPE,
        shape=attr("shape"),
        reduction_type=attr("string", "MEAN", allowed=("MEAN", "SUM")),
        is_model_state=is_model_state,
        **NAMED,
    )
    op.shape(lambda: [2])

    @op.kernel
    def _kernel(*, dtype, shape, reduction_type, resources, node):
        def make(name: str) -> Accumulator:
            return kind(name, dtype, shape, reduction_type, resources.store.is_closed)

        def facts(made: Accumulator) -> dict[str, Any]:
            return {"type": made.kind, "dtype": made.dtype.name, "shape": str(made.shape)}

        return found("accumulator", make, resources, node, facts)

    op.samples(covered_by=_TESTS)
    return op


conditional_accumulator_op = _accumulator_op("ConditionalAccumulator", REFERENCE, Accumulator)
sparse_conditional_accumulator_op = _accumulator_op(
    "SparseConditionalAccumulator", REFERENCE, SparseAccumulator
)
resource_conditional_accumulator_op = _accumulator_op(
    "ResourceConditionalAccumulator", RESOURCE, Accumulator, is_model_state=True
)


def _on_accumulator(name: str, signature: str, shape: Callable, kernel: Callable, **options: Any) -> Op:
    """An op that does something with an accumulator; those on resources are stateful."""
    is_resource = signature.startswith("handle: resource")
    op = Op(name, signature, stateful=is_resource, differentiable=False, **options)
    op.shape(shape)
    op.kernel(kernel)
    op.samples(covered_by=_TESTS)
    return op


def _of_type(handle: Any, dtype: dtypes.DType) -> Accumulator:
    accumulator = held(handle)
    if accumulator.dtype is not dtype:
        raise errors.invalid_argument(
            f"Accumulator '{accumulator.name}' is of {accumulator.dtype.name}, but the gradient is of "
            f"{dtype.name}",
        )
    return accumulator


def _apply_shape(handle, local_step, *gradient):
    _scalar(local_step, "local_step")
    return []


def _apply(handle, local_step, gradient, *, dtype):
    _of_type(handle, dtype).apply(int(local_step), gradient)


apply_gradient_op = _on_accumulator(
    "AccumulatorApplyGradient",
    "handle: Ref(string), local_step: int64, gradient: dtype",
    _apply_shape,
    _apply,
    dtype=_DTYPE,
)
resource_apply_gradient_op = _on_accumulator(
    "ResourceAccumulatorApplyGradient",
    "handle: resource, local_step: int64, gradient: dtype",
    _apply_shape,
    _apply,
    dtype=_DTYPE,
)


def _apply_sparse(
    handle, local_step, gradient_indices, gradient_values, gradient_shape, *, dtype, has_known_shape
):
    shape = gradient_shape.tolist() if has_known_shape else None
    _of_type(handle, dtype).apply(int(local_step), gradient_indices, gradient_values, shape)


sparse_apply_gradient_op = _on_accumulator(
    "SparseAccumulatorApplyGradient",
    "handle: Ref(string), local_step: int64, gradient_indices: int64, gradient_values: dtype, "
    "gradient_shape: int64",
    _apply_shape,
    _apply_sparse,
    dtype=_DTYPE,
    has_known_shape=attr("bool"),
)


def _take_shape(handle, num_required):
    _scalar(num_required, "num_required")
    return None


def _take(handle, num_required, *, dtype):
    return _of_type(handle, dtype).take(int(num_required))


take_gradient_op = _on_accumulator(
    "AccumulatorTakeGradient",
    "handle: Ref(string), num_required: int32 -> average: dtype",
    _take_shape,
    _take,
    dtype=_DTYPE,
    suspendable=True,
    awaited=False,
)
resource_take_gradient_op = _on_accumulator(
    "ResourceAccumulatorTakeGradient",
    "handle: resource, num_required: int32 -> average: dtype",
    _take_shape,
    _take,
    dtype=_DTYPE,
    suspendable=True,
    awaited=False,
)


def _take_sparse_shape(handle, num_required):
    _scalar(num_required, "num_required")
    return [None, None, None]


sparse_take_gradient_op = _on_accumulator(
    "SparseAccumulatorTakeGradient",
    "handle: Ref(string), num_required: int32 -> indices: int64, values: dtype, shape: int64",
    _take_sparse_shape,
    _take,
    dtype=_DTYPE,
    suspendable=True,
    awaited=False,
)


def _num_accumulated(handle):
    return torch.tensor(held(handle).count, dtype=torch.int32)


num_accumulated_op = _on_accumulator(
    "AccumulatorNumAccumulated",
    "handle: Ref(string) -> num_accumulated: int32",
    lambda handle: [],
    _num_accumulated,
)
resource_num_accumulated_op = _on_accumulator(
    "ResourceAccumulatorNumAccumulated",
    "handle: resource -> num_accumulated: int32",
    lambda handle: [],
    _num_accumulated,
)


def _step_shape(handle, new_global_step):
    _scalar(new_global_step, "new_global_step")
    return []


def _set_step(handle, new_global_step):
    held(handle).set_step(int(new_global_step))


set_global_step_op = _on_accumulator(
    "AccumulatorSetGlobalStep", "handle: Ref(string), new_global_step: int64", _step_shape, _set_step
)
resource_set_global_step_op = _on_accumulator(
    "ResourceAccumulatorSetGlobalStep", "handle: resource, new_global_step: int64", _step_shape, _set_step
)
