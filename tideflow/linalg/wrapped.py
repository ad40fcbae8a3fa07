"""Operators made from one other: its adjoint, and its inverse."""

from __future__ import annotations

from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import shared_hint
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.math import unary

_HINTS = ("is_square", "is_non_singular", "is_self_adjoint", "is_positive_definite")


class _Wrapped(LinearOperator):
    """An operator of which every hint holds exactly where it holds for the one inside."""

    def __init__(
        self, operator: LinearOperator, word: str, suffix: str, name: str | None, **hints: bool | None
    ):
        self._operator = operator
        for hint in _HINTS:
            what = hint.removeprefix("is_").replace("_", "-")
            message = f"An operator is {what} if and only if its {word} is {what}."
            hints[hint] = shared_hint(operator, hint, hints[hint], message)
        name = f"{operator.name}_{suffix}" if name is None else name
        with name_scope(name, values=operator.graph_parents):
            super().__init__(operator.dtype, operator.graph_parents, name=name, **hints)

    @property
    def operator(self) -> LinearOperator:
        """The operator inside."""
        return self._operator

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self.operator.assert_self_adjoint()


@export("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_Wrapped):
    """The adjoint of an operator.

    Args:
      operator: The operator.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        super().__init__(
            operator,
            "adjoint",
            "adjoint",
            name,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
        )

    def _shape(self) -> TensorShape:
        inner = self.operator.shape
        return inner[:-2].concatenate([inner[-1], inner[-2]])

    def _shape_tensor(self) -> Tensor:
        inner = self.operator.shape_tensor()
        return joining.concat([inner[:-2], [inner[-1], inner[-2]]], axis=-1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _conjugated(self, value: Tensor) -> Tensor:
        return value if self.is_self_adjoint else unary.conj(value)

    def _determinant(self) -> Tensor:
        return self._conjugated(self.operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return self._conjugated(self.operator.trace())

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Tensor:
        dense = self.operator.to_dense()
        return dense if self.is_self_adjoint else shapes.adjoint(dense)


@export("linalg.LinearOperatorInversion")
class LinearOperatorInversion(_Wrapped):
    """The inverse of an operator.

    Args:
      operator: The operator.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        for hint, given in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            known = getattr(operator, hint)
            if known is False or given is False:
                raise ValueError(
                    f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  "
                    f"Found {known}, {given}"
                )
        super().__init__(
            operator,
            "inverse",
            "inv",
            name,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
        )

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Tensor:
        return self.operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self.operator.log_abs_determinant()

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
