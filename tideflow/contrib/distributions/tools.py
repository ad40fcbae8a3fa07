"""What distributions and bijectors share: values that are known statically or else computed, and scales."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tideflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value, partial_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape, broadcast_static_shape
from tideflow.linalg.dense import LinearOperatorDiag, LinearOperatorLowerTriangular
from tideflow.linalg.identities import LinearOperatorIdentity, LinearOperatorScaledIdentity
from tideflow.linalg.low_rank import LinearOperatorLowRankUpdate
from tideflow.linalg.operator import LinearOperator
from tideflow.ops.arrays import broadcasting, creation, diagonals, indexing, joining, shapes, slicing, tiling
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, checks, positions

# ------------------------------------------------------------------------------------ known or computed


def static_value(x: Any) -> Any:
    """The value of `x` where the graph alone tells it, else None."""
    return constant_value(convert_to_tensor(x))


def prefer_static(x: Tensor) -> Any:
    """The value of a tensor where the graph alone tells it, else the tensor."""
    value = constant_value(x)
    return x if value is None else value


def shape_from(vector: Tensor) -> TensorShape:
    """The static shape that a tensor of sizes tells; a size of -1 is unknown."""
    sizes = partial_value(vector)
    if sizes is None:
        return as_shape(None)
    sizes = np.array(sizes, object).reshape([-1]).tolist()
    return as_shape([None if size is None or size < 0 else int(size) for size in sizes])


def rank_of(x: Tensor) -> Any:
    """The rank, as an int where it is known."""
    return shapes.rank(x) if x.shape.ndims is None else x.shape.ndims


def dimension_size(x: Tensor, axis: int) -> Any:
    """The size along an axis counted from the end, as an int where it is known."""
    size = x.shape.with_rank_at_least(abs(axis)).tuple
    known = None if size is None else size[axis]
    return shapes.shape(x)[axis] if known is None else known


def event_rank(distribution: Distribution) -> Any:
    """The rank of a sample, as an int where it is known."""
    if distribution.event_shape.ndims is not None:
        return distribution.event_shape.ndims
    return shapes.size(distribution.event_shape_tensor())


def batch_rank(distribution: Distribution) -> Any:
    """The rank of the batch, as an int where it is known."""
    if distribution.batch_shape.ndims is not None:
        return distribution.batch_shape.ndims
    return shapes.size(distribution.batch_shape_tensor())


def pick_vector(condition: Any, if_true: Any, if_false: Any) -> Any:
    """One of two vectors, whose sizes may differ."""
    with name_scope("pick_vector", values=[condition, if_true, if_false]):
        condition = convert_to_tensor(condition, name="cond")
        known = constant_value(condition)
        if known is not None:
            return if_true if known else if_false
        if_true = convert_to_tensor(if_true, name="true_vector")
        if_false = convert_to_tensor(if_false, name="false_vector")
        count = shapes.shape(if_true)[0]
        both = joining.concat([if_true, if_false], 0)
        first, size = indexing.where(condition, 0, count), indexing.where(condition, count, -1)
        return slicing.slice(both, [first], [size])


def concat_vectors(*vectors: Any) -> Any:
    """Vectors of sizes one after another: a list of ints where all are known."""
    known = [static_value(vector) for vector in vectors]
    if any(vector is None for vector in known):
        return joining.concat([convert_to_tensor(v, dtype=dtypes.int32) for v in vectors], 0)
    return [int(size) for vector in known for size in vector]


def get_broadcast_shape(*tensors: Tensor) -> Any:
    """What tensors broadcast to: a list of ints where it is known, else a tensor."""
    known = functools.reduce(broadcast_static_shape, (x.shape for x in tensors))
    if known.is_fully_defined():
        return known.as_list()
    return functools.reduce(broadcasting.broadcast_dynamic_shape, [shapes.shape(x) for x in tensors])


def rotate_axes(x: Tensor, shift: Any) -> Tensor:
    """Moves every axis `shift` places to the right, the last ones to the front."""
    with name_scope("rotate_transpose", values=[x, shift]):
        if x.shape.ndims is not None and not isinstance(shift, Tensor):
            order = np.roll(np.arange(x.shape.ndims), shift)
            return shapes.transpose(x, perm=order) if (order != np.arange(x.shape.ndims)).any() else x
        rank = shapes.rank(x)
        first = binary.floormod(-convert_to_tensor(shift), rank)
        order = joining.concat([creation.range(first, rank), creation.range(0, first)], 0)
        return shapes.transpose(x, perm=order)


def pad_axis(x: Tensor, axis: int, front: bool = False, back: bool = False, count: Any = 1) -> Tensor:
    """Puts zeros before or behind the elements along an axis, which is counted from the end."""
    with name_scope("pad", values=[x, count]):
        behind = creation.zeros([-1 - axis, 2], dtype=dtypes.int32)
        here = joining.stack([[count * int(front), count * int(back)]])
        before = creation.zeros(joining.stack([rank_of(x) + axis, 2]), dtype=dtypes.int32)
        padded = tiling.pad(x, joining.concat([before, here, behind], 0))
        if x.shape.ndims is not None:
            sizes: list[Any] = x.shape.as_list()
            grown = None if isinstance(count, Tensor) else count * (front + back)
            sizes[axis] = None if grown is None or sizes[axis] is None else sizes[axis] + grown
            padded.set_shape(sizes)
        return padded


# ------------------------------------------------------------------------------------ scales of vectors


def is_diagonal_scale(scale: Any) -> bool:
    """Whether an operator has nothing off its diagonal, by its kind."""
    if not isinstance(scale, LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(scale, (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag))


def _tensor_or_none(x: Any, name: str) -> Any:
    return None if x is None else convert_to_tensor(x, name=name)


def _checked_diagonal(x: Tensor, diagonal: Tensor, validate_args: bool, positive: bool) -> Tensor:
    if not validate_args:
        return x
    if positive:
        check = checks.assert_positive(diagonal, message="diagonal part must be positive")
    else:
        zero = creation.zeros([], x.dtype)
        check = checks.assert_none_equal(diagonal, zero, message="diagonal part must be non-zero")
    return grouping.with_dependencies([check], x)


def make_diag_scale(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> LinearOperator:
    """The operator of a diagonal, plus a multiple of the identity; its size is that of `loc` if not told."""
    with name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = _tensor_or_none(loc, "loc")
        scale_diag = _tensor_or_none(scale_diag, "scale_diag")
        multiplier = _tensor_or_none(scale_identity_multiplier, "scale_identity_multiplier")
        hints = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": assert_positive}
        if scale_diag is not None:
            if multiplier is not None:
                scale_diag += multiplier[..., None]
            diagonal = _checked_diagonal(scale_diag, scale_diag, validate_args, assert_positive)
            return LinearOperatorDiag(diagonal, **hints)
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        size = dimension_size(loc, -1) if shape_hint is None else shape_hint
        if multiplier is None:
            return LinearOperatorIdentity(
                num_rows=size,
                dtype=loc.dtype.base_dtype,
                is_self_adjoint=True,
                is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )
        multiplier = _checked_diagonal(multiplier, multiplier, validate_args, assert_positive)
        return LinearOperatorScaledIdentity(
            num_rows=size, multiplier=multiplier, assert_proper_shapes=validate_args, **hints
        )


def make_tril_scale(
    loc: Any = None,
    scale_tril: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> LinearOperator:
    """The operator of a lower triangle plus a diagonal plus a multiple of the identity."""
    if scale_tril is None:
        return make_diag_scale(
            loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive, name
        )
    triangle = diagonals.matrix_band_part(convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
    diagonal = diagonals.matrix_diag_part(triangle)
    if scale_diag is not None:
        diagonal += scale_diag
    if scale_identity_multiplier is not None:
        diagonal += convert_to_tensor(scale_identity_multiplier)[..., None]
    triangle = diagonals.matrix_set_diag(triangle, diagonal)
    return LinearOperatorLowerTriangular(
        _checked_diagonal(triangle, diagonal, validate_args, assert_positive),
        is_non_singular=True,
        is_self_adjoint=False,
        is_positive_definite=assert_positive,
    )


def plus_low_rank(scale: LinearOperator, factor: Any, diagonal: Any) -> LinearOperator:
    """The operator `scale + factor · diagonal · factorᵀ`."""
    return LinearOperatorLowRankUpdate(
        scale,
        u=_tensor_or_none(factor, "scale_perturb_factor"),
        diag_update=_tensor_or_none(diagonal, "scale_perturb_diag"),
        is_diag_update_positive=diagonal is None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


def shapes_from_loc_and_scale(
    loc: Tensor | None, scale: LinearOperator, name: str = "shapes_from_loc_and_scale"
) -> tuple[Any, Any]:
    """The batch shape and the event shape of `scale · x + loc`, as far as known as lists."""
    with name_scope(name, values=[loc, *scale.graph_parents]):
        size = scale.range_dimension_tensor()
        known = constant_value(size)
        event = [int(known)] if known is not None else size[None]
        batch = scale.batch_shape_tensor()
        if loc is None:
            return prefer_static(batch), event
        of_loc = None if loc.shape.ndims is None else loc.shape.tuple[-1]
        if of_loc not in (None, 1) and known is not None and of_loc != known:
            raise ValueError(
                f"Event size of 'scale' ({of_loc}) could not be broadcast up to that of 'loc' ({known})."
            )
        loc_batch = loc.shape.with_rank_at_least(1)[:-1]
        if scale.batch_shape.is_fully_defined() and loc_batch.is_fully_defined():
            return broadcast_static_shape(scale.batch_shape, loc_batch).as_list(), event
        return broadcasting.broadcast_dynamic_shape(batch, shapes.shape(loc)[:-1]), event


# ------------------------------------------------------------------------------------ distributions


def maybe_check_scalar_distribution(
    distribution: Distribution, dtype: dtypes.DType, validate_args: bool
) -> list[Operation]:
    """Assertions that a distribution is of one number, of a type."""
    if distribution.dtype != dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not "{dtype.name}"'
        )
    if validate_args and distribution.reparameterization_type is not FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable variables; "
            f'distribution.reparameterization_type = "{distribution.reparameterization_type}" != '
            '"FULLY_REPARAMETERIZED".'
        )
    assertions = []
    for name in ("is_scalar_event", "is_scalar_batch"):
        is_scalar = getattr(distribution, name)()
        known = static_value(is_scalar)
        message = f"distribution must be scalar; distribution.{name}=False is not True"
        if known is not None and not known:
            raise ValueError(message)
        if known is None and validate_args:
            assertions.append(checks.assert_equal(is_scalar, True, message=message))
    return assertions


def as_one_hot(x: Tensor, classes: Any, dtype: Any) -> Tensor:
    """The most likely class of each row of logits, as one 1 among zeros."""
    return creation.one_hot(positions.argmax(x, axis=-1), classes, dtype=dtype)
