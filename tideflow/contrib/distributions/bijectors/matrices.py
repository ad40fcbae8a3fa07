"""Bijectors of matrices: triangles, their diagonals, inverses and squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tideflow.contrib.distributions.bijectors.base import Bijector
from tideflow.contrib.distributions.bijectors.combined import Chain
from tideflow.contrib.distributions.bijectors.elementwise import AffineScalar, Softplus
from tideflow.contrib.distributions.matrices import fill_triangular, fill_triangular_inverse
from tideflow.contrib.distributions.tools import dimension_size
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.linalg import decompositions, matmul, solvers
from tideflow.ops.math import casting, checks, reductions, unary


@export("contrib.distributions.bijectors.CholeskyOuterProduct")
class CholeskyOuterProduct(Bijector):
    """The product `x · xᵀ` of lower triangular matrices, whose inverse is the Cholesky decomposition.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Tensor) -> Tensor:
        if self.validate_args:
            sizes = shapes.shape(x)
            is_matrix = checks.assert_rank_at_least(x, 2)
            x = grouping.with_dependencies([is_matrix, checks.assert_equal(sizes[-2], sizes[-1])], x)
        x = diagonals.matrix_band_part(x, -1, 0)
        return matmul.matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Tensor) -> Tensor:
        return decompositions.cholesky(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """n log 2, and the logs of the diagonal, the first n times, the last once."""
        diagonal = diagonals.matrix_diag_part(x)
        if self.validate_args:
            sizes = shapes.shape(x)
            assertions = [
                checks.assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix."),
                checks.assert_equal(
                    sizes[-2], sizes[-1], message="Input must be a (batch of) square matrix."
                ),
                checks.assert_positive(diagonal, message="Input must be positive definite."),
            ]
            diagonal = grouping.with_dependencies(assertions, diagonal)
        size = dimension_size(x, -1)
        count = casting.cast(size, x.dtype)
        times = creation.linspace(count, constants.constant(1.0, x.dtype), size)
        return count * math.log(2.0) + reductions.reduce_sum(unary.log(diagonal) * times, axis=-1)


@export("contrib.distributions.bijectors.FillTriangular")
class FillTriangular(Bijector):
    """The bijector of vectors to triangular matrices (`tf.contrib.distributions.fill_triangular`).

    Args:
      upper: Whether the triangle is above the diagonal; else below.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"):
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args, name=name
        )

    def _forward(self, x: Tensor) -> Tensor:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Tensor) -> Tensor:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return creation.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return creation.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        count = input_shape.tuple[-1]
        size = None if count is None else _side_of_triangle(count)
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        rows, columns = output_shape.tuple[-2:]
        if None not in (rows, columns) and rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        count = None if None in (rows, columns) else rows * (rows + 1) // 2
        return output_shape[:-2].concatenate([count])

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        count = casting.cast(input_shape[-1], dtypes.float32)
        size = (-1.0 + unary.sqrt(1.0 + 8.0 * count)) / 2.0
        with name_scope("vector_size_to_square_matrix_size"):
            whole = casting.cast(size, input_shape.dtype)
            if self.validate_args:
                message = "Vector length is not a triangular number"
                is_whole = checks.assert_equal(casting.cast(whole, dtypes.float32), size, message=message)
                whole = grouping.with_dependencies([is_whole], whole)
        return joining.concat([input_shape[:-1], [whole, whole]], 0)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        size = output_shape[-1]
        if self.validate_args:
            is_square = checks.assert_equal(size, output_shape[-2], message="Matrix must be square.")
            size = grouping.with_dependencies([is_square], size)
        return joining.concat([output_shape[:-2], [size * (size + 1) // 2]], 0)


def _side_of_triangle(count: int) -> int:
    size = int((-1 + np.sqrt(1 + 8 * count)) / 2.0)
    if size * (size + 1) // 2 != count:
        raise ValueError("Vector length is not a triangular number.")
    return size


@export("contrib.distributions.bijectors.MatrixInverseTriL")
class MatrixInverseTriL(Bijector):
    """The inverse of lower triangular matrices.

    Args:
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions(x)):
            sizes = shapes.shape(x)
            identity = creation.eye(sizes[-1], batch_shape=sizes[:-2], dtype=x.dtype)
            return solvers.matrix_triangular_solve(x, identity, lower=True)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions(x)):
            size = casting.cast(shapes.shape(x)[-1], x.dtype.base_dtype)
            logs = unary.log(unary.abs(diagonals.matrix_diag_part(x)))
            return -2.0 * size * reductions.reduce_sum(logs, axis=-1)

    def _assertions(self, x: Tensor) -> list[Operation]:
        if not self.validate_args:
            return []
        sizes = shapes.shape(x)
        diagonal = diagonals.matrix_diag_part(x)
        above = x - diagonals.matrix_band_part(x, -1, 0)
        return [
            checks.assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
            checks.assert_equal(sizes[-2], sizes[-1], message="Input must be a square matrix."),
            checks.assert_equal(above, creation.zeros_like(above), message="Input must be lower triangular."),
            checks.assert_none_equal(
                diagonal,
                creation.zeros_like(diagonal),
                message="Input must have all diagonal entries nonzero.",
            ),
        ]


@export("contrib.distributions.bijectors.TransformDiagonal")
class TransformDiagonal(Bijector):
    """A bijector of the diagonals of matrices, which leaves the rest as it is.

    Args:
      diag_bijector: The bijector of the diagonals.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(self, diag_bijector: Any, validate_args: bool = False, name: str = "transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Tensor) -> Tensor:
        diagonal = self._diag_bijector.forward(diagonals.matrix_diag_part(x))
        return diagonals.matrix_set_diag(x, diagonal)

    def _inverse(self, y: Tensor) -> Tensor:
        diagonal = self._diag_bijector.inverse(diagonals.matrix_diag_part(y))
        return diagonals.matrix_set_diag(y, diagonal)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        diagonal = diagonals.matrix_diag_part(x)
        return self._diag_bijector.forward_log_det_jacobian(diagonal, event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        diagonal = diagonals.matrix_diag_part(y)
        return self._diag_bijector.inverse_log_det_jacobian(diagonal, event_ndims=1)


@export("contrib.distributions.bijectors.ScaleTriL")
class ScaleTriL(Chain):
    """The bijector of vectors to lower triangular matrices with a positive diagonal.

    Args:
      diag_bijector: The bijector of the diagonals; softplus by default.
      diag_shift: What is added to the diagonals behind it; nothing for None.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.
    """

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: float | None = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ):
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        links = [TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()]
        super().__init__(links, validate_args=validate_args, name=name)
