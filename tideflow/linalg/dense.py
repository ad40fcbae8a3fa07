"""Operators that hold their elements: full, lower triangular and diagonal matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import (
    assert_no_zeros,
    assert_real,
    at_least,
    implied,
    tensor_or_variable,
    triangular_solve,
)
from tideflow.ops.arrays import diagonals, joining, shapes
from tideflow.ops.linalg import matmul
from tideflow.ops.math import casting, checks, complex_numbers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_NUMBERS = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]


@export("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """Matrices given by all their elements.

    Args:
      matrix: The matrices, of shape [..., rows, columns].
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ):
        with name_scope(name, values=[matrix]):
            self._matrix = tensor_or_variable(matrix, "matrix")
            if self._matrix.dtype.base_dtype not in _NUMBERS:
                raise TypeError(
                    f"Argument matrix must have dtype in {_NUMBERS}.  Found: {self._matrix.dtype}"
                )
            at_least(2, self._matrix, "matrix")
            super().__init__(
                dtype=self._matrix.dtype,
                graph_parents=[self._matrix],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return shapes.shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return self._matrix


@export("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices.

    Args:
      tril: The matrices, of shape [..., n, n]. Elements above the diagonal are ignored.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ):
        message = "Only square lower triangular operators supported at this time."
        is_square = implied(True, is_square, message)
        with name_scope(name, values=[tril]):
            self._tril = tensor_or_variable(tril, "tril")
            at_least(2, self._tril, "tril")
            super().__init__(
                dtype=self._tril.dtype,
                graph_parents=[self._tril],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )

    def _triangle(self) -> Tensor:
        return diagonals.matrix_band_part(self._tril, -1, 0)

    def _diagonal(self) -> Tensor:
        return diagonals.matrix_diag_part(self._tril)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return shapes.shape(self._tril)

    def _assert_non_singular(self) -> Operation:
        return assert_no_zeros(self._diagonal(), "Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul.matmul(self._triangle(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self) -> Tensor:
        return reductions.reduce_prod(self._diagonal(), axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return reductions.reduce_sum(unary.log(unary.abs(self._diagonal())), axis=[-1])

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = shapes.adjoint(rhs) if adjoint_arg else rhs
        return triangular_solve(self._triangle(), rhs, lower=True, adjoint=adjoint)

    def _to_dense(self) -> Tensor:
        return self._triangle()


@export("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices.

    Args:
      diag: The diagonals, of shape [..., n].
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ):
        with name_scope(name, values=[diag]):
            self._diag = tensor_or_variable(diag, "diag")
            at_least(1, self._diag, "diag")
            if not self._diag.dtype.is_complex:
                message = "A real diagonal operator is always self adjoint."
                is_self_adjoint = implied(True, is_self_adjoint, message)
            is_square = implied(True, is_square, "Only square diagonal operators currently supported.")
            super().__init__(
                dtype=self._diag.dtype,
                graph_parents=[self._diag],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> TensorShape:
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = shapes.shape(self._diag)
        return joining.concat([sizes, [sizes[-1]]], 0)

    def _assert_non_singular(self) -> Operation:
        return assert_no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Operation:
        what = (
            "Diagonal operator had diagonal entries with non-positive real part"
            if self.dtype.is_complex
            else "Real diagonal operator had non-positive diagonal entries"
        )
        message = f"{what}, thus was not positive definite."
        return checks.assert_positive(complex_numbers.real(self._diag), message=message)

    def _assert_self_adjoint(self) -> Operation:
        return assert_real(
            self._diag,
            "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint.",
        )

    def _turned(self, adjoint: bool) -> Any:
        return unary.conj(self._diag) if adjoint else self._diag

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = shapes.adjoint(x) if adjoint_arg else x
        return shapes.expand_dims(self._turned(adjoint), -1) * x

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._turned(adjoint) * x

    def _determinant(self) -> Tensor:
        return reductions.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        logarithm = reductions.reduce_sum(unary.log(unary.abs(self._diag)), axis=[-1])
        return casting.cast(logarithm, self.dtype) if self.dtype.is_complex else logarithm

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = shapes.adjoint(rhs) if adjoint_arg else rhs
        return rhs * shapes.expand_dims(1.0 / self._turned(adjoint), -1)

    def _to_dense(self) -> Tensor:
        return diagonals.matrix_diag(self._diag)

    def _diag_part(self) -> Any:
        return self.diag

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return diagonals.matrix_set_diag(x, self._diag + diagonals.matrix_diag_part(x))
