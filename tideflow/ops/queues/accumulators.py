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

OPS: dict[str, Op] = {}
_DTYPE = attr("type", allowed=NUMERIC)


def _added(op: Op, shape: Callable, kernel: Callable) -> None:
    op.shape(shape)
    op.kernel(kernel)
    op.samples(covered_by="tests/queues/test_accumulators.py")
    OPS[op.name] = op


def _maker(name: str, handle: str, kind: type[Accumulator]) -> None:
    op = Op(
        name,
        f" -> handle: {handle}",
        stateful=True,
        handle=True,
        differentiable=False,
        dtype=_DTYPE,
        shape=attr("shape"),
        reduction_type=attr("string", "MEAN", allowed=("MEAN", "SUM")),
        **NAMED,
    )

    def kernel(*, dtype, shape, reduction_type, resources, node):
        def make(name: str) -> Accumulator:
            return kind(name, dtype, shape, reduction_type, resources.store.is_closed)

        def facts(made: Accumulator) -> dict[str, Any]:
            return {"type": made.kind, "dtype": made.dtype.name, "shape": str(made.shape)}

        return found("accumulator", make, resources, node, facts)

    _added(op, lambda: [2], kernel)


_maker("ConditionalAccumulator", REFERENCE, Accumulator)
_maker("SparseConditionalAccumulator", REFERENCE, SparseAccumulator)
_maker("ResourceConditionalAccumulator", RESOURCE, Accumulator)


def _of_type(handle: Any, dtype: dtypes.DType) -> Accumulator:
    accumulator = held(handle)
    if accumulator.dtype is not dtype:
        raise errors.invalid_argument(
            f"Accumulator '{accumulator.name}' is of {accumulator.dtype.name}, but the gradient is of "
            f"{dtype.name}",
        )
    return accumulator


def _scalar(shape: TensorShape, what: str) -> None:
    if shape.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {shape.ndims}: '{what}' is one number")


def _apply_shape(handle, local_step, *gradient):
    _scalar(local_step, "local_step")
    return []


def _apply(handle, local_step, gradient, *, dtype):
    _of_type(handle, dtype).apply(int(local_step), gradient)


def _take_shape(handle, num_required):
    _scalar(num_required, "num_required")
    return None


def _take(handle, num_required, *, dtype):
    return _of_type(handle, dtype).take(int(num_required))


def _step_shape(handle, new_global_step):
    _scalar(new_global_step, "new_global_step")
    return []


def _dense_methods(prefix: str, handle: str) -> None:
    common = {"stateful": handle == RESOURCE, "differentiable": False}
    apply = Op(
        f"{prefix}AccumulatorApplyGradient",
        f"handle: {handle}, local_step: int64, gradient: dtype",
        dtype=_DTYPE,
        **common,
    )
    _added(apply, _apply_shape, _apply)
    take = Op(
        f"{prefix}AccumulatorTakeGradient",
        f"handle: {handle}, num_required: int32 -> average: dtype",
        dtype=_DTYPE,
        suspendable=True,
        **common,
    )
    _added(take, _take_shape, _take)
    count = Op(f"{prefix}AccumulatorNumAccumulated", f"handle: {handle} -> num_accumulated: int32", **common)
    _added(count, lambda handle: [], lambda handle: torch.tensor(held(handle).count, dtype=torch.int32))
    step = Op(f"{prefix}AccumulatorSetGlobalStep", f"handle: {handle}, new_global_step: int64", **common)
    _added(step, _step_shape, lambda handle, new_global_step: held(handle).set_step(int(new_global_step)))


_dense_methods("", REFERENCE)
_dense_methods("Resource", RESOURCE)


def _apply_sparse(
    handle, local_step, gradient_indices, gradient_values, gradient_shape, *, dtype, has_known_shape
):
    shape = gradient_shape.tolist() if has_known_shape else None
    _of_type(handle, dtype).apply(int(local_step), gradient_indices, gradient_values, shape)


def _take_sparse_shape(handle, num_required):
    _scalar(num_required, "num_required")
    return [None, None, None]


_added(
    Op(
        "SparseAccumulatorApplyGradient",
        f"handle: {REFERENCE}, local_step: int64, gradient_indices: int64, gradient_values: dtype, "
        "gradient_shape: int64",
        dtype=_DTYPE,
        has_known_shape=attr("bool"),
        differentiable=False,
    ),
    _apply_shape,
    _apply_sparse,
)
_added(
    Op(
        "SparseAccumulatorTakeGradient",
        f"handle: {REFERENCE}, num_required: int32 -> indices: int64, values: dtype, shape: int64",
        dtype=_DTYPE,
        suspendable=True,
        differentiable=False,
    ),
    _take_sparse_shape,
    _take,
)
