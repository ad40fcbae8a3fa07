"""Operators that need no elements: the identity, multiples of it, and zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import (
    assert_fits,
    implied,
    not_a_variable,
    shape_tensor,
    tensor_or_variable,
)
from tideflow.ops.arrays import constants, creation, diagonals, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, checks, complex_numbers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


class _Sized(LinearOperator):
    """What is given by sizes: `_num_rows`, `_num_columns` and, where there is one, a `_batch_shape_arg`."""

    _assert_proper_shapes = False
    _batch_shape_arg: Tensor | None = None

    def _size(self, value: Any, name: str, rank: int = 0) -> Tensor:
        """A size, or (rank 1) several, as a tensor; checked now, and at run time where that is asked for."""
        not_a_variable(value, name)
        size = shape_tensor(value, name=f"{name}_arg" if rank else name)
        if not size.dtype.is_integer:
            raise TypeError(f"Argument {name} must be integer type.  Found: {size}")
        known = constant_value(size)
        if known is not None and known.ndim != rank:
            raise ValueError(f"Argument {name} must be a {rank}-D Tensor.  Found: {known}")
        if known is not None and np.any(known < 0):
            raise ValueError(f"Argument {name} must be non-negative.  Found: {known}")
        if not self._assert_proper_shapes:
            return size
        asserts = [
            checks.assert_rank(size, rank, message=f"Argument {name} must be a {rank}-D Tensor."),
            checks.assert_non_negative(size, message=f"Argument {name} must be non-negative."),
        ]
        return grouping.with_dependencies(asserts, size)

    def _static_batch(self) -> TensorShape:
        if self._batch_shape_arg is None:
            return TensorShape([])
        known = constant_value(self._batch_shape_arg)
        return TensorShape(None if known is None else known.tolist())

    def _batch_tensor(self) -> Tensor | None:
        return self._batch_shape_arg

    def _shape(self) -> TensorShape:
        known = [constant_value(size) for size in (self._num_rows, self._num_columns)]
        return self._static_batch().concatenate([None if size is None else int(size) for size in known])

    def _shape_tensor(self) -> Tensor:
        sides = joining.stack([self._num_rows, self._num_columns], axis=0)
        batch = self._batch_tensor()
        return sides if batch is None else joining.concat([batch, sides], 0)

    def _fitting(self, x: Tensor) -> Tensor:
        """x after a check that it can be multiplied, where that is asked for."""
        return grouping.with_dependencies([assert_fits(self, x)], x) if self._assert_proper_shapes else x

    def _repeated(self, x: Tensor) -> Tensor:
        """x for every matrix of the batch."""
        if self._batch_shape_arg is None:
            return x
        batch = self.batch_shape.concatenate([1, 1])
        if batch.is_fully_defined():
            if broadcast_static_shape(x.shape, batch) == x.shape:
                return x
            return x + creation.zeros(batch, dtype=self.dtype)
        return x + creation.zeros(joining.concat([self.batch_shape_tensor(), [1, 1]], 0), dtype=self.dtype)

    def _shorter_side(self) -> Any:
        sides = self.shape.tuple[-2:] if self.shape.tuple is not None else (None, None)
        return reductions.reduce_min(self.shape_tensor()[-2:]) if None in sides else min(sides)

    def _diagonal_shape(self) -> Any:
        if self.shape.is_fully_defined():
            return self.batch_shape.concatenate([self._shorter_side()])
        return joining.concat([self.batch_shape_tensor(), [self._shorter_side()]], axis=0)


@export("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(_Sized):
    """Identity matrices.

    Args:
      num_rows: The number of rows.
      batch_shape: The shape of the batch; one matrix if None.
      dtype: The type of the elements; float32 if None.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      assert_proper_shapes: Whether steps check the sizes.
      name: The name of the operator.
    """

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool = True,
        is_self_adjoint: bool = True,
        is_positive_definite: bool = True,
        is_square: bool = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            for hint, word in (
                (is_self_adjoint, "self adjoint"),
                (is_non_singular, "non-singular"),
                (is_positive_definite, "positive-definite"),
                (is_square, "square"),
            ):
                implied(True, bool(hint), f"An identity operator is always {word}.")
            super().__init__(
                dtype=dtype or dtypes.float32,
                is_non_singular=True,
                is_self_adjoint=True,
                is_positive_definite=True,
                is_square=True,
                name=name,
            )
            self._num_rows = self._num_columns = self._size(num_rows, "num_rows")
            if batch_shape is not None:
                self._batch_shape_arg = self._size(batch_shape, "batch_shape", rank=1)

    def _assert_non_singular(self) -> Operation:
        return constants.no_operation("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        return constants.no_operation("assert_positive_definite")

    def _assert_self_adjoint(self) -> Operation:
        return constants.no_operation("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._repeated(self._fitting(shapes.adjoint(x) if adjoint_arg else x))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return creation.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return creation.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self) -> Tensor:
        return casting.cast(self._shorter_side(), self.dtype) * creation.ones(self._batch(), dtype=self.dtype)

    def _diag_part(self) -> Tensor:
        return creation.ones(self._diagonal_shape(), dtype=self.dtype)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return diagonals.matrix_set_diag(x, 1 + diagonals.matrix_diag_part(x))


@export("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(_Sized):
    """Multiples of the identity matrix.

    Args:
      num_rows: The number of rows.
      multiplier: The factors, of the shape of the batch.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      assert_proper_shapes: Whether steps check the sizes.
      name: The name of the operator.
    """

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = tensor_or_variable(multiplier, "multiplier")
            if not self._multiplier.dtype.is_complex:
                message = "A real diagonal operator is always self adjoint."
                is_self_adjoint = implied(True, is_self_adjoint, message)
            implied(True, bool(is_square), "A ScaledIdentity operator is always square.")
            super().__init__(
                dtype=self._multiplier.dtype,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )
            self._num_rows = self._num_columns = self._size(num_rows, "num_rows")

    @property
    def multiplier(self) -> Any:
        """The factors."""
        return self._multiplier

    def _static_batch(self) -> TensorShape:
        return self._multiplier.shape

    def _batch_tensor(self) -> Tensor:
        return shapes.shape(self._multiplier)

    def _assert_non_singular(self) -> Operation:
        return checks.assert_positive(unary.abs(self.multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Operation:
        message = "LinearOperator was not positive definite."
        return checks.assert_positive(complex_numbers.real(self.multiplier), message=message)

    def _assert_self_adjoint(self) -> Operation:
        imaginary = complex_numbers.imag(self.multiplier)
        message = "LinearOperator was not self-adjoint"
        return checks.assert_equal(creation.zeros_like(imaginary), imaginary, message=message)

    def _factor(self, adjoint: bool) -> Tensor:
        factor = shapes.expand_dims(shapes.expand_dims(self.multiplier, -1), -1)
        return unary.conj(factor) if adjoint else factor

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._fitting(shapes.adjoint(x) if adjoint_arg else x) * self._factor(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._fitting(shapes.adjoint(rhs) if adjoint_arg else rhs) / self._factor(adjoint)

    def _determinant(self) -> Tensor:
        return self.multiplier ** casting.cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return casting.cast(self._num_rows, self.dtype.real_dtype) * unary.log(unary.abs(self.multiplier))

    def _trace(self) -> Tensor:
        ones = creation.ones(self._batch(), dtype=self.dtype)
        return self.multiplier * casting.cast(self._shorter_side(), self.dtype) * ones

    def _diag_part(self) -> Tensor:
        ones = creation.ones(self._diagonal_shape(), dtype=self.dtype)
        return ones * shapes.expand_dims(self.multiplier, -1)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        diagonal = shapes.expand_dims(self.multiplier, -1) + diagonals.matrix_diag_part(x)
        return diagonals.matrix_set_diag(x, diagonal)


@export("linalg.LinearOperatorZeros")
class LinearOperatorZeros(_Sized):
    """Matrices of zeros.

    Args:
      num_rows: The number of rows.
      num_columns: The number of columns; that of rows if None.
      batch_shape: The shape of the batch; one matrix if None.
      dtype: The type of the elements; float32 if None.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      assert_proper_shapes: Whether steps check the sizes.
      name: The name of the operator.
    """

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool = False,
        is_self_adjoint: bool = True,
        is_positive_definite: bool = False,
        is_square: bool = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            if not is_self_adjoint and is_square:
                raise ValueError("A zero operator is always self adjoint.")
            implied(False, bool(is_non_singular), "A zero operator is always singular.")
            implied(False, bool(is_positive_definite), "A zero operator is always not positive-definite.")
            super().__init__(
                dtype=dtype or dtypes.float32,
                is_non_singular=False,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=False,
                is_square=is_square,
                name=name,
            )
            self._num_rows = self._size(num_rows, "num_rows")
            self._num_columns = self._size(num_rows if num_columns is None else num_columns, "num_columns")
            rows, columns = constant_value(self._num_rows), constant_value(self._num_columns)
            if is_square and None not in (rows, columns) and rows != columns:
                raise ValueError(
                    "LinearOperatorZeros initialized as is_square=True, but got "
                    f"num_rows({rows}) != num_columns({columns})"
                )
            if batch_shape is not None:
                self._batch_shape_arg = self._size(batch_shape, "batch_shape", rank=1)

    def _assert_non_singular(self) -> Operation:
        raise errors.invalid_argument("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Operation:
        raise errors.invalid_argument("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        return constants.no_operation("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        sizes = shapes.shape(self._fitting(shapes.adjoint(x) if adjoint_arg else x))
        rows = self._num_columns if adjoint else self._num_rows
        result = creation.zeros(joining.concat([sizes[:-2], [rows, sizes[-1]]], axis=0), dtype=x.dtype)
        return self._repeated(result)

    def _determinant(self) -> Tensor:
        return creation.zeros(self._batch(), dtype=self.dtype)

    def _trace(self) -> Tensor:
        return creation.zeros(self._batch(), dtype=self.dtype)

    def _diag_part(self) -> Tensor:
        return creation.zeros(self._diagonal_shape(), dtype=self.dtype)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self._repeated(x)
