"""Weights of losses and metrics: a scalar, or of the values' rank with each size 1 or the same."""

from __future__ import annotations

from typing import Any

from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.control_flow import conditionals, debugging
from tideflow.ops.math import binary, confusion
from tideflow.ops.sparse import sets

_ASSERT_BROADCASTABLE_ERROR_PREFIX = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """ValueError, or an operation that fails, unless the weights can be broadcast to the values."""
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        weights, weights_shape, weights_rank = _measured("weights", weights)
        values, values_shape, values_rank = _measured("values", values)
        verdict = _static_verdict(weights.shape, values.shape)
        if verdict is not None:
            return constants.no_operation(name=verdict)
        is_scalar = binary.equal(0, weights_rank, name="is_scalar")
        is_valid = conditionals.cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _same_rank_and_sizes(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        data = [_ASSERT_BROADCASTABLE_ERROR_PREFIX, "weights.shape=", weights.name, weights_shape]
        data += ["values.shape=", values.name, values_shape, "is_scalar=", is_scalar]
        return debugging.Assert(is_valid, data, name=scope)


def _measured(name: str, value: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A tensor, its shape and its rank."""
    with name_scope(None, name, [value]) as scope:
        tensor = convert_to_tensor(value, name=scope)
        return tensor, shapes.shape(tensor, name="shape"), shapes.rank(tensor, name="rank")


def _static_verdict(weights: TensorShape, values: TensorShape) -> str | None:
    """What the shapes alone say: why all is well, or None where it depends on the step; or ValueError."""
    if weights.ndims is None or values.ndims is None:
        return None
    if weights.ndims == 0:
        return "static_scalar_check_success"
    if weights.ndims != values.ndims:
        raise ValueError(
            f"{_ASSERT_BROADCASTABLE_ERROR_PREFIX} values.rank={values.ndims}. weights.rank={weights.ndims}. "
            f"values.shape={values}. weights.shape={weights}."
        )
    if not (weights.is_fully_defined() and values.is_fully_defined()):
        return None
    for axis, (size, wanted) in enumerate(zip(weights.tuple, values.tuple, strict=True)):
        if size not in (1, wanted):
            raise ValueError(
                f"{_ASSERT_BROADCASTABLE_ERROR_PREFIX} Mismatch at dim {axis}. values.shape={values} "
                f"weights.shape={weights}."
            )
    return "static_dims_check_success"


def _same_rank_and_sizes(
    weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Tensor
) -> Tensor:
    with name_scope(None, "has_valid_nonscalar_shape") as scope:
        is_same_rank = binary.equal(values_rank, weights_rank, name="is_same_rank")
        return conditionals.cond(
            is_same_rank,
            lambda: _sizes_fit(weights_shape, values_shape),
            lambda: is_same_rank,
            name=scope,
        )


def _sizes_fit(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether no size of the weights is missing in the set of its axis: the values' size and 1."""
    with name_scope(None, "has_invalid_dims") as scope:
        values_column = shapes.expand_dims(values_shape, -1)
        accepted = joining.concat([values_column, creation.ones_like(values_column)], axis=1)
        misfits = sets.set_difference(shapes.expand_dims(weights_shape, -1), accepted)
        return binary.equal(0, shapes.size(misfits.values, name="num_invalid_dims"), name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """The weights in the shape of the values."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        both_known = weights.shape.is_fully_defined() and values.shape.is_fully_defined()
        if both_known and weights.shape.is_compatible_with(values.shape):
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return binary.multiply(weights, creation.ones_like(values), name=scope)


def matched_rank(weights: Tensor, values: Tensor) -> Tensor:
    """The weights with a last axis of size 1 taken away or added where that gives them the values' rank."""
    given, wanted = weights.shape.ndims, values.shape.ndims
    if given == 0:
        return weights
    if given is not None and wanted is not None:
        if given - wanted == 1:
            return shapes.squeeze(weights, [-1])
        return shapes.expand_dims(weights, [-1]) if wanted - given == 1 else weights
    return _matched_in_step(weights, values)


def _matched_in_step(weights: Tensor, values: Tensor) -> Tensor:
    rank = shapes.rank(weights)
    excess = rank - shapes.rank(values)
    can_shrink = confusion.may_end_in_one(weights)

    def shrunk() -> Tensor:
        return shapes.squeeze(weights, [-1]) if can_shrink else weights

    def grown() -> Tensor:
        is_short = binary.equal(excess, -1)
        return conditionals.cond(is_short, lambda: shapes.expand_dims(weights, [-1]), lambda: weights)

    def adjusted() -> Tensor:
        return conditionals.cond(binary.equal(excess, 1), shrunk, grown)

    return conditionals.cond(binary.equal(rank, 0), lambda: weights, adjusted)
