"""What operators of special kinds are when they are turned, inverted, decomposed, multiplied or divided."""

from __future__ import annotations

from typing import Any

from tideflow.linalg.algebra import rule
from tideflow.linalg.circulant import LinearOperatorCirculant
from tideflow.linalg.compounds import (
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorKronecker,
)
from tideflow.linalg.dense import LinearOperatorDiag, LinearOperatorLowerTriangular
from tideflow.linalg.householder import LinearOperatorHouseholder
from tideflow.linalg.identities import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.wrapped import LinearOperatorAdjoint, LinearOperatorInversion
from tideflow.ops.arrays import shapes
from tideflow.ops.linalg import decompositions
from tideflow.ops.math import unary


def _conjugate(tensor: Any) -> Any:
    return unary.conj(tensor) if tensor.dtype.is_complex else tensor


def _itself(operator: LinearOperator) -> LinearOperator:
    return operator


# ---------------------------------------------------------------------------------- adjoint


@rule("adjoint", LinearOperator)
def _adjoint_of_operator(operator):
    return LinearOperatorAdjoint(operator, **operator._hints)


@rule("adjoint", LinearOperatorAdjoint)
def _adjoint_of_adjoint(operator):
    return operator.operator


rule("adjoint", LinearOperatorIdentity)(_itself)
rule("adjoint", LinearOperatorHouseholder)(_itself)


@rule("adjoint", LinearOperatorScaledIdentity)
def _adjoint_of_scaled_identity(operator):
    return LinearOperatorScaledIdentity(
        operator._num_rows, _conjugate(operator.multiplier), **operator._hints
    )


@rule("adjoint", LinearOperatorDiag)
def _adjoint_of_diag(operator):
    return LinearOperatorDiag(_conjugate(operator.diag), **operator._hints)


@rule("adjoint", LinearOperatorCirculant)
def _adjoint_of_circulant(operator):
    return LinearOperatorCirculant(_conjugate(operator.spectrum), operator.dtype, **operator._hints)


@rule("adjoint", LinearOperatorBlockDiag)
@rule("adjoint", LinearOperatorKronecker)
def _adjoint_of_block_diag(operator):
    return type(operator)([part.adjoint() for part in operator.operators], **operator._hints)


# ---------------------------------------------------------------------------------- inverse


@rule("inverse", LinearOperator)
def _inverse_of_operator(operator):
    return LinearOperatorInversion(operator, **operator._hints)


@rule("inverse", LinearOperatorInversion)
def _inverse_of_inversion(operator):
    return operator.operator


rule("inverse", LinearOperatorIdentity)(_itself)
rule("inverse", LinearOperatorHouseholder)(_itself)


@rule("inverse", LinearOperatorScaledIdentity)
def _inverse_of_scaled_identity(operator):
    return LinearOperatorScaledIdentity(operator._num_rows, 1.0 / operator.multiplier, **operator._hints)


@rule("inverse", LinearOperatorDiag)
def _inverse_of_diag(operator):
    return LinearOperatorDiag(1.0 / operator.diag, **operator._hints)


@rule("inverse", LinearOperatorCirculant)
def _inverse_of_circulant(operator):
    return LinearOperatorCirculant(1.0 / operator.spectrum, operator.dtype, **operator._hints)


@rule("inverse", LinearOperatorBlockDiag)
@rule("inverse", LinearOperatorKronecker)
def _inverse_of_block_diag(operator):
    return type(operator)([part.inverse() for part in operator.operators], **operator._hints)


# ---------------------------------------------------------------------------------- Cholesky

_DEFINITE = {
    "is_non_singular": True,
    "is_self_adjoint": True,
    "is_positive_definite": True,
    "is_square": True,
}
_TRIANGULAR = {"is_non_singular": True, "is_self_adjoint": False, "is_square": True}


@rule("cholesky", LinearOperator)
def _cholesky_of_operator(operator):
    return LinearOperatorLowerTriangular(decompositions.cholesky(operator.to_dense()), **_TRIANGULAR)


rule("cholesky", LinearOperatorIdentity)(_itself)


@rule("cholesky", LinearOperatorScaledIdentity)
def _cholesky_of_scaled_identity(operator):
    return LinearOperatorScaledIdentity(operator._num_rows, unary.sqrt(operator.multiplier), **_DEFINITE)


@rule("cholesky", LinearOperatorDiag)
def _cholesky_of_diag(operator):
    return LinearOperatorDiag(unary.sqrt(operator.diag), **_DEFINITE)


@rule("cholesky", LinearOperatorBlockDiag)
@rule("cholesky", LinearOperatorKronecker)
def _cholesky_of_block_diag(operator):
    parts = [part.cholesky() for part in operator.operators]
    symmetric = all(part.is_self_adjoint for part in parts)
    return type(operator)(parts, is_non_singular=True, is_self_adjoint=symmetric, is_square=True)


# ---------------------------------------------------------------------------------- products and quotients


def _both(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else a and b


def _product_is_square(a: LinearOperator, b: LinearOperator) -> bool | None:
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return a.range_dimension == b.domain_dimension
    return None if None in (a.is_square, b.is_square) else False


def _general_hints(a: LinearOperator, b: LinearOperator) -> dict[str, bool | None]:
    square = _product_is_square(a, b)
    if square is False:
        return dict.fromkeys(
            ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"), False
        )
    non_singular = _both(a.is_non_singular, b.is_non_singular) if square else None
    return {"is_non_singular": non_singular, "is_square": square}


def _commuting_hints(a: LinearOperator, b: LinearOperator) -> dict[str, bool | None]:
    """Of two that can change places: self-adjoint where both are, or neither knows."""
    known = None not in (a.is_self_adjoint, b.is_self_adjoint)
    self_adjoint = True if a.is_self_adjoint and b.is_self_adjoint else None
    if known and a.is_self_adjoint is not b.is_self_adjoint:
        self_adjoint = False
    definite = all(part.is_positive_definite and part.is_self_adjoint for part in (a, b))
    return {
        "is_non_singular": _both(a.is_non_singular, b.is_non_singular),
        "is_self_adjoint": self_adjoint,
        "is_positive_definite": True if definite else None,
        "is_square": True,
    }


def _triangular_hints(a: LinearOperator, b: LinearOperator) -> dict[str, bool | None]:
    return {**_commuting_hints(a, b), "is_positive_definite": None}


@rule("matmul", LinearOperator, LinearOperator)
def _matmul_of_operator_and_operator(a, b):
    return LinearOperatorComposition([a, b], **_general_hints(a, b))


@rule("matmul", LinearOperatorIdentity, LinearOperator)
def _matmul_of_identity_and_operator(identity, operator):
    return operator


@rule("matmul", LinearOperator, LinearOperatorIdentity)
@rule("matmul", LinearOperatorIdentity, LinearOperatorIdentity)
def _matmul_of_operator_and_identity(operator, identity):
    return operator


def _zeros(zeros: LinearOperatorZeros, operator: LinearOperator) -> LinearOperatorZeros:
    if not zeros.is_square or not operator.is_square:
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at "
            "this time."
        )
    return zeros


rule("matmul", LinearOperatorZeros, LinearOperator)(_zeros)
rule("matmul", LinearOperatorZeros, LinearOperatorZeros)(_zeros)
rule("matmul", LinearOperator, LinearOperatorZeros)(lambda operator, zeros: _zeros(zeros, operator))


@rule("matmul", LinearOperatorDiag, LinearOperatorDiag)
def _matmul_of_diag_and_diag(a, b):
    return LinearOperatorDiag(a.diag * b.diag, **_commuting_hints(a, b))


@rule("matmul", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _matmul_of_diag_and_scaled_identity(a, b):
    return LinearOperatorDiag(a.diag * shapes.expand_dims(b.multiplier, -1), **_commuting_hints(a, b))


@rule("matmul", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _matmul_of_scaled_identity_and_diag(a, b):
    return LinearOperatorDiag(shapes.expand_dims(a.multiplier, -1) * b.diag, **_commuting_hints(a, b))


@rule("matmul", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _matmul_of_diag_and_lower_triangular(a, b):
    return LinearOperatorLowerTriangular(
        shapes.expand_dims(a.diag, -1) * b.to_dense(), **_triangular_hints(a, b)
    )


@rule("matmul", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _matmul_of_lower_triangular_and_diag(a, b):
    return LinearOperatorLowerTriangular(
        a.to_dense() * shapes.expand_dims(b.diag, -2), **_triangular_hints(a, b)
    )


@rule("matmul", LinearOperatorCirculant, LinearOperatorCirculant)
def _matmul_of_circulant_and_circulant(a, b):
    return LinearOperatorCirculant(a.spectrum * b.spectrum, a.dtype, **_commuting_hints(a, b))


@rule("solve", LinearOperator, LinearOperator)
def _solve_of_operator_and_operator(a, b):
    return LinearOperatorComposition([LinearOperatorInversion(a), b], **_general_hints(a, b))


@rule("solve", LinearOperatorInversion, LinearOperator)
def _solve_of_inversion_and_operator(a, b):
    return a.operator.matmul(b)


@rule("solve", LinearOperatorIdentity, LinearOperator)
def _solve_of_identity_and_operator(identity, operator):
    return operator


@rule("solve", LinearOperatorDiag, LinearOperatorDiag)
def _solve_of_diag_and_diag(a, b):
    return LinearOperatorDiag(b.diag / a.diag, **_commuting_hints(a, b))


@rule("solve", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _solve_of_diag_and_scaled_identity(a, b):
    return LinearOperatorDiag(shapes.expand_dims(b.multiplier, -1) / a.diag, **_commuting_hints(a, b))


@rule("solve", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _solve_of_scaled_identity_and_diag(a, b):
    return LinearOperatorDiag(b.diag / shapes.expand_dims(a.multiplier, -1), **_commuting_hints(a, b))


@rule("solve", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _solve_of_diag_and_lower_triangular(a, b):
    return LinearOperatorLowerTriangular(
        b.to_dense() / shapes.expand_dims(a.diag, -1), **_triangular_hints(a, b)
    )


@rule("solve", LinearOperatorCirculant, LinearOperatorCirculant)
def _solve_of_circulant_and_circulant(a, b):
    return LinearOperatorCirculant(b.spectrum / a.spectrum, a.dtype, **_commuting_hints(a, b))
