"""An operator and a little more: L + U·D·Vᴴ, where U and V have few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape, dimension_at_index, dimension_value
from tideflow.linalg.dense import LinearOperatorDiag
from tideflow.linalg.identities import LinearOperatorIdentity
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import cholesky_solve, implied, matrix_solve, tensor_or_variable
from tideflow.ops.arrays import broadcasting, diagonals, joining, shapes
from tideflow.ops.linalg import decompositions, matmul, matrix_functions
from tideflow.ops.math import casting, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator plus matrices of low rank: `L + U @ D @ adjoint(V)`.

    Equations and determinants are those of L and of the small matrix `inverse(D) + adjoint(V) @ inverse(L) @
    U`.

    Args:
      base_operator: The operator L.
      u: The matrices U, of shape [..., rows, k].
      diag_update: The diagonals of D, of shape [..., k]; ones if None.
      v: The matrices V, of shape [..., columns, k]; U if None.
      is_diag_update_positive: Whether the elements of D are real and positive; None if it is not known.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ):
        if diag_update is None:
            message = (
                "Default diagonal is the identity, which is positive.  However, user set "
                "'is_diag_update_positive' to False."
            )
            is_diag_update_positive = implied(True, is_diag_update_positive, message)
        definite = base_operator.is_positive_definite and base_operator.is_self_adjoint
        self._use_cholesky = bool(definite and is_diag_update_positive and v is None)
        if base_operator.is_self_adjoint and v is None and not base_operator.dtype.is_complex:
            message = (
                "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this "
                "must be a self-adjoint operator."
            )
            is_self_adjoint = implied(True, is_self_adjoint, message)
        if self._use_cholesky:
            message = "Arguments imply this is self-adjoint positive-definite operator."
            implied(True, is_non_singular, message)
            is_positive_definite = implied(True, is_positive_definite, message)
            is_self_adjoint = implied(True, is_self_adjoint, message)
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._base_operator = base_operator
            self._u = tensor_or_variable(u, "u")
            self._v = self._u if v is None else tensor_or_variable(v, "v")
            self._diag_update = (
                None if diag_update is None else tensor_or_variable(diag_update, "diag_update")
            )
            parents = [self._u, self._diag_update, self._v]
            super().__init__(
                dtype=base_operator.dtype,
                graph_parents=base_operator.graph_parents + [part for part in parents if part is not None],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            self._is_diag_update_positive = is_diag_update_positive
            self._diag_operator = self._diagonal()
            self._check_shapes()

    def _diagonal(self) -> LinearOperator:
        if self._diag_update is not None:
            positive = self._is_diag_update_positive
            return LinearOperatorDiag(self._diag_update, is_positive_definite=positive)
        count = dimension_value(self._u.shape[-1])
        count = shapes.shape(self._u)[-1] if count is None else count
        return LinearOperatorIdentity(num_rows=count, dtype=self.dtype)

    def _check_shapes(self) -> None:
        both = broadcast_static_shape(self.u.shape, self.v.shape)
        batch = broadcast_static_shape(self.base_operator.batch_shape, both[:-2])
        self.base_operator.domain_dimension.assert_is_compatible_with(both[-2])
        if self._diag_update is not None:
            dimension_at_index(both, -1).assert_is_compatible_with(self._diag_update.shape[-1])
            broadcast_static_shape(batch, self._diag_update.shape[:-1])

    @property
    def u(self) -> Any:
        """The matrices U."""
        return self._u

    @property
    def v(self) -> Any:
        """The matrices V."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the elements of D are real and positive."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonals of D, or None."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """The operator D."""
        return self._diag_operator

    @property
    def base_operator(self) -> LinearOperator:
        """The operator L."""
        return self._base_operator

    def _shape(self) -> TensorShape:
        batch = broadcast_static_shape(self.base_operator.batch_shape, self.u.shape[:-2])
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        batch = broadcasting.broadcast_dynamic_shape(
            self.base_operator.batch_shape_tensor(), shapes.shape(self.u)[:-2]
        )
        return joining.concat([batch, self.base_operator.shape_tensor()[-2:]], axis=0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        u, v = (self.v, self.u) if adjoint else (self.u, self.v)
        inner = matmul.matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg)
        update = matmul.matmul(u, self.diag_operator.matmul(inner, adjoint=adjoint))
        return self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + update

    def _capacitance(self) -> Tensor:
        """C = D⁻¹ + Vᴴ·L⁻¹·U"""
        inner = matmul.matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _determinant(self) -> Tensor:
        if self.is_positive_definite:
            return unary.exp(self.log_abs_determinant())
        inner = matrix_functions.matrix_determinant(self._capacitance())
        return inner * self.diag_operator.determinant() * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._use_cholesky:
            diagonal = diagonals.matrix_diag_part(decompositions.cholesky(self._capacitance()))
            inner = 2 * reductions.reduce_sum(unary.log(diagonal), axis=[-1])
        else:
            inner = unary.log(unary.abs(matrix_functions.matrix_determinant(self._capacitance())))
            inner = casting.cast(inner, self.dtype)
        outer = self.diag_operator.log_abs_determinant() + self.base_operator.log_abs_determinant()
        return inner + outer

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        """L⁻¹ - L⁻¹·U·C⁻¹·Vᴴ·L⁻¹, by Woodbury's identity."""
        base = self.base_operator
        if base.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular LinearOperator."
            )
        u, v = (self.v, self.u) if adjoint else (self.u, self.v)
        first = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = matmul.matmul(v, first, adjoint_a=True)
        if self._use_cholesky:
            inner = cholesky_solve(decompositions.cholesky(self._capacitance()), inner)
        else:
            inner = matrix_solve(self._capacitance(), inner, adjoint=adjoint)
        return first - base.solve(matmul.matmul(u, inner), adjoint=adjoint)
