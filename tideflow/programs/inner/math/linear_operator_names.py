"""What `tensorflow.python.ops.linalg`'s modules have beside operators: rules by class, and helpers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.linalg import algebra, tools

# ---------------------------------------------------------------------------------- linear_operator_algebra


class _Register:
    """Decorator: how operators of some classes are combined."""

    operation: str
    function: str

    def __init__(self, *kinds: type):
        self._kinds = kinds

    def __call__(self, rule: Callable) -> Callable:
        if not callable(rule):
            raise TypeError(f"{self.function} must be callable, received: {rule}")
        return algebra.rule(self.operation, *self._kinds)(rule)


class RegisterAdjoint(_Register):
    """Decorator: the adjoint of operators of a class."""

    operation, function = "adjoint", "adjoint_fn"


class RegisterCholesky(_Register):
    """Decorator: the Cholesky factor of operators of a class."""

    operation, function = "cholesky", "cholesky_fn"


class RegisterInverse(_Register):
    """Decorator: the inverse of operators of a class."""

    operation, function = "inverse", "inverse_fn"


class RegisterMatmul(_Register):
    """Decorator: the product of operators of two classes."""

    operation, function = "matmul", "matmul_fn"


class RegisterSolve(_Register):
    """Decorator: the product of the inverse of an operator of a class and one of another class."""

    operation, function = "solve", "solve_fn"


_ADJOINTS = algebra.rules("adjoint")
_CHOLESKY_DECOMPS = algebra.rules("cholesky")
_INVERSES = algebra.rules("inverse")
_MATMUL = algebra.rules("matmul")
_SOLVE = algebra.rules("solve")


def _registered(operation: str) -> Callable:
    def registered(*kinds: type) -> Callable | None:
        return algebra.nearest_rule(operation, list(kinds))

    return registered


_registered_adjoint = _registered("adjoint")
_registered_cholesky = _registered("cholesky")
_registered_inverse = _registered("inverse")
_registered_matmul = _registered("matmul")
_registered_solve = _registered("solve")


def _combine(operation: str) -> Callable:
    def combine(*operators: Any, name: str | None = None) -> Any:
        return algebra.combined(operation, *operators)

    return combine


adjoint = _combine("adjoint")
cholesky = _combine("cholesky")
inverse = _combine("inverse")
matmul = _combine("matmul")
solve = _combine("solve")

# ---------------------------------------------------------------------------------- linear_operator_util

broadcast_matrix_batch_dims = tools.with_common_batch
matrix_solve_with_broadcast = tools.matrix_solve
matrix_triangular_solve_with_broadcast = tools.triangular_solve
cholesky_solve_with_broadcast = tools.cholesky_solve
shape_tensor = tools.shape_tensor
is_ref = tools.is_variable
assert_not_ref_type = tools.not_a_variable


def convert_nonref_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """A value as a tensor; a variable stays one, to be read wherever it is used."""
    if value is None:
        return None
    if not is_ref(value):
        return tf.convert_to_tensor(value, dtype=dtype, dtype_hint=dtype_hint, name=name)
    wanted, found = base_dtype(dtype or value.dtype), base_dtype(value.dtype)
    if wanted != found:
        raise TypeError(f"Mutable type must be of dtype '{dtype_name(wanted)}' but is '{dtype_name(found)}'.")
    return value


def base_dtype(dtype: Any) -> DType:
    """A type without whether it is of a reference."""
    return tf.as_dtype(dtype).base_dtype


def dtype_name(dtype: Any) -> str:
    """The name of a type."""
    return tf.as_dtype(dtype).name


def assert_no_entries_with_modulus_zero(
    x: Any, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero"
) -> Operation:
    """An operation that fails where an element is zero."""
    return tools.assert_no_zeros(x, message or "")


def assert_zero_imag_part(
    x: Any, message: str | None = None, name: str = "assert_zero_imag_part"
) -> Operation:
    """An operation that fails where an element has an imaginary part."""
    return tools.assert_real(x, message or "")


def assert_compatible_matrix_dimensions(operator: Any, x: Tensor) -> Operation:
    """An operation that fails where a matrix has not one row for each column of an operator."""
    return tools.assert_fits(operator, x)


def assert_is_batch_matrix(tensor: Tensor) -> None:
    """A tensor must have two axes at least."""
    if tensor.shape.ndims is not None and tensor.shape.ndims < 2:
        raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}")


def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """A hint of an operator, or the given one where it has none; they must not be opposites."""
    return tools.shared_hint(operator, hint_attr_name, provided_hint_value, message)
