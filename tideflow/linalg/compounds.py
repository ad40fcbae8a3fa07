"""Operators made from several: their product, the blocks of a diagonal, the Kronecker product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import (
    broadcast_batch,
    broadcast_batch_tensor,
    implied_by_all,
    with_common_batch,
)
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, checks


class _Compound(LinearOperator):
    """Operators of one type, held in a list."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        joint: str,
        empty: str,
        name: str | None,
        **hints: bool | None,
    ):
        checks.assert_proper_iterable(operators)
        self._operators = list(operators)
        if not self._operators:
            raise ValueError(f"Expected {empty} operators. Found: {self._operators}")
        if len({operator.dtype for operator in self._operators}) > 1:
            found = "   ".join(str((operator.name, operator.dtype)) for operator in self._operators)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
        parents = [parent for operator in self._operators for parent in operator.graph_parents]
        name = joint.join(operator.name for operator in self._operators) if name is None else name
        with name_scope(name, values=parents):
            super().__init__(self._operators[0].dtype, parents, name=name, **hints)

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators it is made from."""
        return self._operators

    def _static_batch(self) -> TensorShape:
        return broadcast_batch([operator.batch_shape for operator in self.operators])

    def _batch_tensor(self) -> Tensor:
        return broadcast_batch_tensor([operator.batch_shape_tensor() for operator in self.operators])

    def _together(self, combine: Callable, value_of: Callable) -> Any:
        """The values of all operators as one."""
        return reduce(combine, [value_of(operator) for operator in self.operators])


@export("linalg.LinearOperatorComposition")
class LinearOperatorComposition(_Compound):
    """The product of operators. The last one is applied first.

    Args:
      operators: The operators, of matching sizes.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.

    Raises:
      ValueError: If there are no operators, or hints contradict each other.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        message = "The composition of non-singular operators is always non-singular."
        super().__init__(
            operators,
            "_o_",
            "a non-empty list of",
            name,
            is_non_singular=implied_by_all(operators, "is_non_singular", is_non_singular, message),
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
        )

    def _shape(self) -> TensorShape:
        for left, right in zip(self.operators, self.operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        sides = [self.operators[0].range_dimension, self.operators[-1].domain_dimension]
        return self._static_batch().concatenate(sides)

    def _shape_tensor(self) -> Tensor:
        first, last = self.operators[0], self.operators[-1]
        sides = joining.stack([first.range_dimension_tensor(), last.domain_dimension_tensor()])
        return joining.concat([self._batch_tensor(), sides], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *others = self.operators if adjoint else self.operators[::-1]
        result = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *others = self.operators[::-1] if adjoint else self.operators
        result = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _determinant(self) -> Tensor:
        return self._together(mul, lambda operator: operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._together(add, lambda operator: operator.log_abs_determinant())


@export("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Compound):
    """Operators as blocks along a diagonal, with zeros elsewhere.

    Args:
      operators: The operators, which must be square.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.

    Raises:
      ValueError: If there are no operators, or hints contradict each other.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool = True,
        name: str | None = None,
    ):
        def hint(kind: str, given: bool | None, word: str) -> bool | None:
            message = f"The direct sum of {word} operators is always {word}."
            return implied_by_all(operators, kind, given, message)

        is_non_singular = hint("is_non_singular", is_non_singular, "non-singular")
        is_self_adjoint = hint("is_self_adjoint", is_self_adjoint, "self-adjoint")
        is_positive_definite = hint("is_positive_definite", is_positive_definite, "positive definite")
        if not (is_square and all(operator.is_square for operator in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        super().__init__(
            operators,
            "_ds_",
            "a non-empty list of",
            name,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
        )

    def _shape(self) -> TensorShape:
        side = self._together(add, lambda operator: operator.domain_dimension)
        return self._static_batch().concatenate([side, side])

    def _shape_tensor(self) -> Tensor:
        side = self._together(add, lambda operator: operator.domain_dimension_tensor())
        return joining.concat([self._batch_tensor(), joining.stack([side, side])], 0)

    def _by_blocks(self, method: str, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        known = self.shape.is_fully_defined()
        sizes = [
            operator.domain_dimension.value if known else operator.domain_dimension_tensor()
            for operator in self.operators
        ]
        parts = joining.split(x, sizes, axis=-1 if adjoint_arg else -2)
        results = [
            getattr(operator, method)(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, part in zip(self.operators, parts, strict=True)
        ]
        return joining.concat(with_common_batch(results), axis=-2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_blocks("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_blocks("solve", rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._together(mul, lambda operator: operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._together(add, lambda operator: operator.log_abs_determinant())

    def _trace(self) -> Tensor:
        return self._together(add, lambda operator: operator.trace())

    def _diag_part(self) -> Tensor:
        columns = [shapes.expand_dims(operator.diag_part(), -1) for operator in self.operators]
        return shapes.squeeze(joining.concat(with_common_batch(columns), axis=-2), axis=-1)

    def _to_dense(self) -> Tensor:
        blocks = with_common_batch([operator.to_dense() for operator in self.operators])
        width, before, rows = self.domain_dimension_tensor(), 0, []
        for block in blocks:
            height = shapes.shape(block)[:-1]
            left = creation.zeros(joining.concat([height, [before]], 0), dtype=block.dtype)
            before = before + shapes.shape(block)[-1]
            right = creation.zeros(joining.concat([height, [width - before]], 0), dtype=block.dtype)
            rows.append(joining.concat([left, block, right], axis=-1))
        dense = joining.concat(rows, axis=-2)
        dense.set_shape(self.shape)
        return dense

    def _assert_non_singular(self) -> Operation:
        return grouping.group(*[operator.assert_non_singular() for operator in self.operators])

    def _assert_self_adjoint(self) -> Operation:
        return grouping.group(*[operator.assert_self_adjoint() for operator in self.operators])

    def _assert_positive_definite(self) -> Operation:
        return grouping.group(*[operator.assert_positive_definite() for operator in self.operators])


@export("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(_Compound):
    """The Kronecker product of operators: each element of the first one times the whole next one, and so on.

    Args:
      operators: The operators.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.

    Raises:
      ValueError: If there are no operators, or hints contradict each other.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        def hint(kind: str, given: bool | None, word: str) -> bool | None:
            message = f"The Kronecker product of {word} operators is always {word}."
            return implied_by_all(operators, kind, given, message)

        super().__init__(
            operators,
            "_x_",
            "a list of >=1",
            name,
            is_non_singular=hint("is_non_singular", is_non_singular, "non-singular"),
            is_self_adjoint=hint("is_self_adjoint", is_self_adjoint, "self-adjoint"),
            is_positive_definite=hint("is_positive_definite", is_positive_definite, "positive-definite"),
            is_square=is_square,
        )

    def _shape(self) -> TensorShape:
        rows = self._together(mul, lambda operator: operator.range_dimension)
        columns = self._together(mul, lambda operator: operator.domain_dimension)
        return self._static_batch().concatenate([rows, columns])

    def _shape_tensor(self) -> Tensor:
        rows = self._together(mul, lambda operator: operator.range_dimension_tensor())
        columns = self._together(mul, lambda operator: operator.domain_dimension_tensor())
        return joining.concat([self._batch_tensor(), joining.stack([rows, columns])], 0)

    def _one_by_one(self, method: str, x: Tensor, turned: bool, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """Applies each operator to its own part of the rows of x.

        The rows of x are numbered by one index for each operator. Each operator in turn acts on the first of
        them, which is then put last: once around, all are in their places behind the columns of x.
        """
        x = shapes.adjoint(x) if adjoint_arg else x
        columns = shapes.shape(x)[-1]
        result = x
        for operator in self.operators:
            side = operator.range_dimension_tensor() if turned else operator.domain_dimension_tensor()
            rows = _split_rows(result, side)
            result = shapes.matrix_transpose(getattr(operator, method)(rows, adjoint=adjoint))
        result = shapes.matrix_transpose(_split_rows(result, columns))
        batch = broadcast_batch([x.shape[:-2], self.batch_shape])
        height = self.domain_dimension if turned else self.range_dimension
        result.set_shape(batch.concatenate([height, x.shape[-1]]))
        return result

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._one_by_one("matmul", x, adjoint, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._one_by_one("solve", rhs, not adjoint, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._together(mul, lambda operator: operator.determinant() ** self._repeats(operator))

    def _log_abs_determinant(self) -> Tensor:
        return self._together(add, lambda operator: operator.log_abs_determinant() * self._repeats(operator))

    def _repeats(self, operator: LinearOperator) -> Tensor:
        """How often an operator stands in the product."""
        total = self.domain_dimension_tensor()
        return casting.cast(total // operator.domain_dimension_tensor(), operator.dtype)

    def _trace(self) -> Tensor:
        return self._together(mul, lambda operator: operator.trace())

    def _diag_part(self) -> Tensor:
        product = self._together(_outer_of_vectors, lambda operator: operator.diag_part())
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        shorter = None if None in (rows, columns) else min(rows, columns)
        product.set_shape(self.batch_shape.concatenate([shorter]))
        return product

    def _to_dense(self) -> Tensor:
        product = self._together(_outer_of_matrices, lambda operator: operator.to_dense())
        product.set_shape(self.shape)
        return product

    def _assert_non_singular(self) -> Operation:
        self._all_square("be invertible")
        return grouping.group(*[operator.assert_non_singular() for operator in self.operators])

    def _assert_self_adjoint(self) -> Operation:
        self._all_square("be self adjoint")
        return grouping.group(*[operator.assert_self_adjoint() for operator in self.operators])

    def _all_square(self, purpose: str) -> None:
        if not all(operator.is_square for operator in self.operators):
            message = f"All Kronecker factors must be square for the product to {purpose}."
            raise errors.invalid_argument(message)


def _split_rows(matrix: Tensor, rows: Any) -> Tensor:
    """The elements, in order, as matrices of so many rows."""
    return shapes.reshape(matrix, joining.concat([shapes.shape(matrix)[:-2], [rows, -1]], 0))


def _outer_of_vectors(a: Tensor, b: Tensor) -> Tensor:
    product = shapes.expand_dims(a, -1) * shapes.expand_dims(b, -2)
    return shapes.reshape(product, joining.concat([shapes.shape(product)[:-2], [-1]], 0))


def _outer_of_matrices(a: Tensor, b: Tensor) -> Tensor:
    """[…, i, j] and […, k, l] as […, i·k, j·l]."""
    left = shapes.expand_dims(shapes.expand_dims(a, -2), -1)
    right = shapes.expand_dims(shapes.expand_dims(b, -2), -4)
    product = left * right
    sizes = shapes.shape(product)
    sides = [sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]]
    return shapes.reshape(product, joining.concat([sizes[:-4], sides], 0))
