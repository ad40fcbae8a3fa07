"""`tf.matmul`, `tf.linalg.det` and their kin take operators too: the public names ask the operator first."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tideflow.export import symbols
from tideflow.linalg.operator import LinearOperator
from tideflow.ops.arrays import diagonals, shapes
from tideflow.ops.linalg import contraction, decompositions, matmul, matrix_functions, solvers


def _also_for_operators(function: Callable, for_operators: Callable) -> None:
    """Under every public name of `function`: `for_operators` where an argument is an operator."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        values = (*args[:2], *kwargs.values())
        if any(isinstance(value, LinearOperator) for value in values):
            return for_operators(*args, **kwargs)
        return function(*args, **kwargs)

    for path, value in symbols.items():
        if value is function:
            symbols[path] = either


def _named(name: str | None) -> dict[str, str]:
    return {} if name is None else {"name": name}


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


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, **_named(name))


def _inverse(input: LinearOperator, adjoint: bool = False, name: str | None = None) -> LinearOperator:
    inverse = input.inverse(**_named(name))
    return inverse.adjoint() if adjoint else inverse


def _logdet(matrix: LinearOperator, name: str | None = None) -> Any:
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant(**_named(name))


def _diag_part(input: LinearOperator, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Any:
    return input.diag_part(name)


_also_for_operators(matmul.matmul, _matmul)
_also_for_operators(solvers.matrix_solve, _solve)
_also_for_operators(matrix_functions.matrix_inverse, _inverse)
_also_for_operators(matrix_functions.logdet, _logdet)
_also_for_operators(diagonals.matrix_diag_part, _diag_part)
_also_for_operators(shapes.adjoint, lambda matrix, name=None: matrix.adjoint(**_named(name)))
_also_for_operators(decompositions.cholesky, lambda input, name=None: input.cholesky(**_named(name)))
_also_for_operators(
    matrix_functions.matrix_determinant, lambda input, name=None: input.determinant(**_named(name))
)
_also_for_operators(contraction.trace, lambda x, name=None: x.trace(**_named(name)))
