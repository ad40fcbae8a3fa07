"""What `tf.matmul`, `tf.linalg.det` and their kin do with linear operators."""

from __future__ import annotations

from typing import Any

from tideflow.dispatch import replacement
from tideflow.linalg.operator import LinearOperator
from tideflow.ops.arrays import shapes


def _named(name: str | None) -> dict[str, str]:
    return {} if name is None else {"name": name}


@replacement("operator", "matmul")
def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, **_named(name))
    turned = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, **_named(name))
    return shapes.adjoint(turned)


@replacement("operator", "solve")
def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, **_named(name))


@replacement("operator", "inverse")
def _inverse(input: LinearOperator, adjoint: bool = False, name: str | None = None) -> LinearOperator:
    inverse = input.inverse(**_named(name))
    return inverse.adjoint() if adjoint else inverse


@replacement("operator", "logdet")
def _logdet(matrix: LinearOperator, name: str | None = None) -> Any:
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant(**_named(name))


@replacement("operator", "diag_part")
def _diag_part(input: LinearOperator, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Any:
    return input.diag_part(name)


@replacement("operator", "adjoint")
def _adjoint(matrix: LinearOperator, name: str | None = None) -> LinearOperator:
    return matrix.adjoint(**_named(name))


@replacement("operator", "cholesky")
def _cholesky(input: LinearOperator, name: str | None = None) -> LinearOperator:
    return input.cholesky(**_named(name))


@replacement("operator", "determinant")
def _determinant(input: LinearOperator, name: str | None = None) -> Any:
    return input.determinant(**_named(name))


@replacement("operator", "trace")
def _trace(x: LinearOperator, name: str | None = None) -> Any:
    return x.trace(**_named(name))
