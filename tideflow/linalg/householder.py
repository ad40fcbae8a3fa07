"""Reflections: 1 - 2·v·vᴴ for a unit vector v."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import at_least, implied, tensor_or_variable
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.linalg import matmul, norms
from tideflow.ops.math import casting, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """Reflections at the hyperplanes that are orthogonal to vectors.

    Args:
      reflection_axis: The vectors, of shape [..., n], of any length above 0.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ):
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = tensor_or_variable(reflection_axis, "reflection_axis")
            at_least(1, self._reflection_axis, "reflection_axis")
            always = "A Householder operator is always"
            super().__init__(
                dtype=self._reflection_axis.dtype,
                graph_parents=[self._reflection_axis],
                is_non_singular=is_non_singular,
                is_self_adjoint=implied(True, is_self_adjoint, f"{always} self adjoint."),
                is_positive_definite=implied(False, is_positive_definite, f"{always} non-positive definite."),
                is_square=implied(True, is_square, f"{always} square."),
                name=name,
            )

    @property
    def reflection_axis(self) -> Any:
        """The vectors that are orthogonal to the hyperplanes."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        axis = self._reflection_axis.shape
        return axis.concatenate(axis[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = shapes.shape(self._reflection_axis)
        return joining.concat([sizes, [sizes[-1]]], 0)

    def _assert_non_singular(self) -> Operation:
        return constants.no_operation("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        raise errors.invalid_argument("Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        return constants.no_operation("assert_self_adjoint")

    def _unit(self) -> Tensor:
        return self.reflection_axis / norms.norm(self.reflection_axis, axis=-1, keepdims=True)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = shapes.adjoint(x) if adjoint_arg else x
        column = shapes.expand_dims(self._unit(), -1)
        return x - 2 * column * matmul.matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Tensor:
        value = casting.cast(self.domain_dimension_tensor() - 2, self.dtype)
        return value * creation.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _determinant(self) -> Tensor:
        return -creation.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return creation.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _to_dense(self) -> Tensor:
        column = shapes.expand_dims(self._unit(), -1)
        matrix = -2 * matmul.matmul(column, column, adjoint_b=True)
        return diagonals.matrix_set_diag(matrix, 1.0 + diagonals.matrix_diag_part(matrix))

    def _diag_part(self) -> Tensor:
        unit = self._unit()
        return 1.0 - 2 * unit * unary.conj(unit)
