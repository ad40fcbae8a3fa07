"""Affine bijectors of vectors: `scale · x + shift`, the scale a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.contrib.distributions.bijectors.base import Bijector, zero_log_det
from tideflow.contrib.distributions.tools import (
    dimension_size,
    make_tril_scale,
    plus_low_rank,
    prefer_static,
    rank_of,
    rotate_axes,
)
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.linalg.operator import LinearOperator
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, checks, unary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tideflow.graph.typing import TensorLike


def _of_columns(operator: LinearOperator, apply: Callable, x: Tensor) -> Tensor:
    """Applies an operator to vectors of shape [samples, batch, event], as the columns of one matrix."""
    if operator.tensor_rank is None:
        batch_rank: Any = operator.tensor_rank_tensor() - 2
    else:
        batch_rank = operator.tensor_rank - 2
    samples_rank = rank_of(x) - batch_rank - 1
    if isinstance(samples_rank, int) and samples_rank < 0:
        raise ValueError(f"expected batch_ndims({batch_rank}) + event_ndims(1) <= ndims({x.shape.ndims})")
    sizes = prefer_static(shapes.shape(x))
    rows = shapes.reshape(x, joining.concat([[-1], sizes[samples_rank:]], 0))
    rows = rotate_axes(apply(rotate_axes(rows, -1)), 1)
    of_one = prefer_static(shapes.shape(rows)[1:])
    return shapes.reshape(rows, joining.concat([sizes[:samples_rank], of_one], 0))


def _check_types(shift: Tensor | None, scale: LinearOperator) -> None:
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")


class _OfVectors(Bijector):
    """`scale · x + shift`, the scale an operator or, for the identity, None."""

    def __init__(self, shift: Tensor | None, scale: Any, dtype: DType | None, validate_args: bool, name: str):
        self._shift, self._scale = shift, scale
        parents = [] if shift is None else [shift]
        parents += [scale] if isinstance(scale, Tensor) else [] if scale is None else scale.graph_parents
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> Tensor | None:
        """The shift."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        if self.scale is not None:
            with control_dependencies(self._check_scale()):
                x = _of_columns(self.scale, self.scale.matmul, x)
        return x if self.shift is None else x + self.shift

    def _inverse(self, y: Tensor) -> Tensor:
        y = y if self.shift is None else y - self.shift
        return y if self.scale is None else _of_columns(self.scale, self.scale.solve, y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if self.scale is None:
            return zero_log_det(x)
        with control_dependencies(self._check_scale()):
            return self.scale.log_abs_determinant()

    def _check_scale(self) -> list[Operation]:
        if not self.validate_args:
            return []
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []


@export("contrib.distributions.bijectors.AffineLinearOperator")
class AffineLinearOperator(_OfVectors):
    """The bijector `scale · x + shift` of vectors, the scale a linear operator.

    Args:
      shift: The shift, of shape [..., n]; none by default.
      scale: The operator; the identity by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      TypeError: If `scale` is not a linear operator, or not of the type of `shift`.
      ValueError: If arguments are checked and the operator does not say that it is not singular.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ):
        with name_scope(name), name_scope("init", values=[shift]):
            dtype = dtypes.float32
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                dtype = shift.dtype.base_dtype
            if scale is not None:
                _check_types(shift, scale)
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                dtype = dtype if scale.dtype is None else scale.dtype.base_dtype
        super().__init__(shift, scale, dtype, validate_args, name)


@export("contrib.distributions.bijectors.Affine")
class Affine(_OfVectors):
    """The bijector `scale · x + shift` of vectors, the scale a sum of simple matrices.

    The scale is `scale_identity_multiplier · I + diag(scale_diag) + scale_tril + scale_perturb_factor ·
    diag(scale_perturb_diag) · scale_perturb_factorᵀ`, the identity if none is given.

    Args:
      shift: The shift, of shape [..., n]; none by default.
      scale_identity_multiplier: The multiple of the identity.
      scale_diag: A diagonal, of shape [..., n].
      scale_tril: A matrix of shape [..., n, n] of which the lower triangle is taken.
      scale_perturb_factor: The factor of low rank, of shape [..., n, rank].
      scale_perturb_diag: The diagonal between the factors, of shape [..., rank]; ones by default.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      ValueError: If `scale_perturb_diag` is given without `scale_perturb_factor`.
      TypeError: If `shift` is not of the type of the scale.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine",
    ):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        given = [shift, scale_identity_multiplier, scale_diag, scale_tril]
        given += [scale_perturb_diag, scale_perturb_factor]
        self._is_multiple_of_identity = scale_tril is scale_diag is scale_perturb_factor is None
        with name_scope(name), name_scope("init", values=given):
            shift = None if shift is None else convert_to_tensor(shift, name="shift")
            if self._is_multiple_of_identity:
                dtype = dtypes.float32 if shift is None else shift.dtype.base_dtype
                scale = _multiplier(scale_identity_multiplier, dtype, validate_args)
            else:
                size = None
                if scale_perturb_factor is not None:
                    size = dimension_size(convert_to_tensor(scale_perturb_factor), -2)
                scale = make_tril_scale(
                    shift, scale_tril, scale_diag, scale_identity_multiplier, size, validate_args
                )
                if scale_perturb_factor is not None:
                    scale = plus_low_rank(scale, scale_perturb_factor, scale_perturb_diag)
                _check_types(shift, scale)
        super().__init__(shift, scale, scale.dtype.base_dtype, validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        if not self._is_multiple_of_identity:
            return super()._forward(x)
        return x * self.scale if self.shift is None else x * self.scale + self.shift

    def _inverse(self, y: Tensor) -> Tensor:
        if not self._is_multiple_of_identity:
            return super()._inverse(y)
        return (y if self.shift is None else y - self.shift) / self.scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if not self._is_multiple_of_identity:
            return self.scale.log_abs_determinant()
        size = casting.cast(shapes.shape(x)[-1], self.scale.dtype)
        return unary.log(unary.abs(self.scale)) * size


def _multiplier(given: Any, dtype: DType, validate_args: bool) -> Tensor:
    if given is None:
        multiplier = convert_to_tensor(1.0, dtype=dtype)
    else:
        multiplier = convert_to_tensor(given, name="identity_multiplier")
    if not validate_args:
        return multiplier
    zero = creation.zeros([], multiplier.dtype)
    message = "identity_multiplier should be non-zero."
    return grouping.with_dependencies(
        [checks.assert_none_equal(multiplier, zero, message=message)], multiplier
    )
