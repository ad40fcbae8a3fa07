"""What the kinds of operators share: hints, arguments, batches that are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.ops.arrays import broadcasting, constants, joining, shapes
from tideflow.ops.linalg import solvers
from tideflow.ops.math import checks, complex_numbers, unary
from tideflow.variables.base import Variable

# ---------------------------------------------------------------------------------- hints


def implied(value: bool, hint: bool | None, message: str) -> bool:
    """A hint that follows from the kind of the operator; ValueError where the user says the opposite."""
    if hint is (not value):
        raise ValueError(message)
    return value


def implied_by_all(parts: Sequence[Any], name: str, hint: bool | None, message: str) -> bool | None:
    """A hint that is True where it is of all parts, else what the user says."""
    if all(getattr(part, name) for part in parts):
        return implied(True, hint, message)
    return hint


def shared_hint(operator: Any, name: str, hint: bool | None, message: str) -> bool | None:
    """A hint that holds for an operator exactly where it holds for one made from it."""
    known = getattr(operator, name)
    if known is None:
        return hint
    return known if hint is None else implied(bool(known), hint, message)


# ---------------------------------------------------------------------------------- arguments


def is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def tensor_or_variable(value: Any, name: str) -> Any:
    """The argument as a tensor; a variable stays one, to be read wherever the operator is used."""
    return value if is_variable(value) else convert_to_tensor(value, name=name)


def not_a_variable(value: Any, name: str) -> None:
    if is_variable(value):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}")


def at_least(rank: int, value: Any, name: str) -> None:
    """An argument must have that many dimensions."""
    if value.shape.ndims is not None and value.shape.ndims < rank:
        plural = "" if rank == 1 else "s"
        raise ValueError(f"Argument {name} must have at least {rank} dimension{plural}.  Found: {value}")


def shape_tensor(sizes: Any, name: str | None = None) -> Tensor:
    """Sizes as a tensor; no sizes are integers too."""
    empty = isinstance(sizes, (list, tuple)) and not sizes
    return convert_to_tensor(sizes, dtype=dtypes.int32 if empty else None, name=name)


# ---------------------------------------------------------------------------------- checks at run time


def assert_no_zeros(x: Any, message: str) -> Operation:
    """An operation that fails where an element is zero."""
    with name_scope("assert_no_entries_with_modulus_zero", values=[x]):
        x = convert_to_tensor(x, name="x")
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return checks.assert_less(zero, unary.abs(x), message=message)


def assert_real(x: Any, message: str) -> Operation:
    """An operation that fails where an element has an imaginary part."""
    with name_scope("assert_zero_imag_part", values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating:
            return constants.no_operation()
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return checks.assert_equal(zero, complex_numbers.imag(x), message=message)


def assert_fits(operator: Any, x: Tensor) -> Operation:
    """An operation that fails where x has not one row for each column of the operator."""
    return checks.assert_equal(
        shapes.shape(x)[-2],
        operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this operator",
    )


# ---------------------------------------------------------------------------------- batches


def broadcast_batch(parts: Sequence[TensorShape]) -> TensorShape:
    """The shape of a batch of several operators together."""
    whole = parts[0]
    for part in parts[1:]:
        whole = broadcast_static_shape(whole, part)
    return whole


def broadcast_batch_tensor(parts: Sequence[Any]) -> Any:
    """The same at run time."""
    whole = parts[0]
    for part in parts[1:]:
        whole = broadcasting.broadcast_dynamic_shape(whole, part)
    return whole


def with_common_batch(matrices: Sequence[Any]) -> list[Tensor]:
    """Matrices repeated until all have one batch shape."""
    matrices = [convert_to_tensor(matrix) for matrix in matrices]
    for matrix in matrices:
        if matrix.shape.ndims is not None and matrix.shape.ndims < 2:
            raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {matrix}")
    common = broadcast_batch([matrix.shape[:-2] for matrix in matrices])
    if common.is_fully_defined() and all(matrix.shape[:-2] == common for matrix in matrices):
        return matrices
    batch: Any = common.as_list() if common.is_fully_defined() else None
    if batch is None:
        batch = broadcast_batch_tensor([shapes.shape(matrix)[:-2] for matrix in matrices])
    return [
        broadcasting.broadcast_to(matrix, joining.concat([batch, shapes.shape(matrix)[-2:]], 0))
        for matrix in matrices
    ]


def _with_broadcast(solve: Callable, scope: str, matrix: Any, rhs: Any, **options: Any) -> Tensor:
    with name_scope(None, scope, [matrix, rhs]):
        matrix, rhs = with_common_batch([matrix, rhs])
        return solve(matrix, rhs, **options)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """X with matrix·X = rhs, batches broadcast."""
    return _with_broadcast(solvers.matrix_solve, "MatrixSolveWithBroadcast", matrix, rhs, adjoint=adjoint)


def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False) -> Tensor:
    """The same for triangular matrices."""
    options = {"lower": lower, "adjoint": adjoint}
    return _with_broadcast(solvers.matrix_triangular_solve, "MatrixTriangularSolve", matrix, rhs, **options)


def cholesky_solve(factor: Any, rhs: Any) -> Tensor:
    """X with L·Lᴴ·X = rhs, batches broadcast."""
    return _with_broadcast(solvers.cholesky_solve, "CholeskySolveWithBroadcast", factor, rhs)
