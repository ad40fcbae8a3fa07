"""LinearOperator: a matrix, or a batch of them, by what it does, with what is known of it as hints.

A kind of matrix is a subclass that says its shape (`_shape`, `_shape_tensor`) and how it multiplies
(`_matmul`). Everything else follows from these, slowly; a kind that can do better overrides `_solve`,
`_determinant`, `_log_abs_determinant`, `_to_dense`, `_diag_part`, `_trace`, `_add_to_tensor`, `_matvec`,
`_solvevec` or the `_assert_…`. Shapes are [batch…, rows, columns].
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.dispatch import register_class
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import Dimension, TensorShape, dimension_at_index, dimension_value
from tideflow.linalg import algebra
from tideflow.linalg.tools import cholesky_solve, is_variable, matrix_solve, shape_tensor
from tideflow.ops.arrays import creation, diagonals, shapes
from tideflow.ops.linalg import decompositions, matrix_functions, spectra
from tideflow.ops.math import casting, checks, complex_numbers, reductions, unary
from tideflow.variables.module import Module

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("linalg.LinearOperator")
class LinearOperator(Module, abc.ABC):
    """The base of linear operators: batches of matrices that are described by how they act.

    A subclass defines `_shape`, `_shape_tensor` and `_matmul`; it may define faster forms of the other
    methods.

    Args:
      dtype: The type of the elements.
      graph_parents: The tensors that the operator is made from.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register_class(cls, "operator")

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Sequence[Any] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        for hint, word in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if hint:
                if is_square is False:
                    raise ValueError(f"A {word} matrix is always square.")
                is_square = True
        self._graph_parents = list(graph_parents or [])
        for i, parent in enumerate(self._graph_parents):
            if not isinstance(parent, Tensor) and not is_variable(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_by_hints = is_square
        self._name = name or type(self).__name__
        self._scope_name = f"{self._name}/"

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[str]:
        """The scope in which a method makes its nodes."""
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # ------------------------------------------------------------------ what is known

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of the operator, under which its methods make operations."""
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that the operator is made from."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether every matrix has an inverse."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether every matrix equals its adjoint."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the real part of `adjoint(x) @ A @ x` is positive for every x except zero."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether there are as many rows as columns."""
        found = self.domain_dimension == self.range_dimension
        if self._is_square_by_hints is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if self._is_square_by_hints is None else self._is_square_by_hints

    def _can_use_cholesky(self) -> bool | None:
        return self.is_self_adjoint and self.is_positive_definite

    @property
    def _hints(self) -> dict[str, bool | None]:
        return {
            "is_non_singular": self.is_non_singular,
            "is_self_adjoint": self.is_self_adjoint,
            "is_positive_definite": self.is_positive_definite,
            "is_square": self.is_square,
        }

    # ------------------------------------------------------------------ shape

    @abc.abstractmethod
    def _shape(self) -> TensorShape:
        """The static shape."""

    @abc.abstractmethod
    def _shape_tensor(self) -> Tensor:
        """The shape at run time."""

    @property
    def shape(self) -> TensorShape:
        """The static shape [batch, rows, columns]."""
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape [batch, rows, columns] as a tensor.

        Args:
          name: The name of the operation.

        Returns:
          An int32 vector.
        """
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return shape_tensor(self.shape.as_list())
            return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as a tensor.

        Args:
          name: The name of the operation.

        Returns:
          An int32 vector.
        """
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank of the operator as a tensor, or None."""
        return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The rank of the operator as a tensor, in a tensor.

        Args:
          name: The name of the operation.

        Returns:
          An int32 scalar.
        """
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return shapes.size(self.shape_tensor())

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns."""
        return self.shape[-1]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor.

        Args:
          name: The name of the operation.

        Returns:
          An int32 scalar.
        """
        return self._side_tensor(-1, name)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows."""
        return self.shape[-2]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows as a tensor.

        Args:
          name: The name of the operation.

        Returns:
          An int32 scalar.
        """
        return self._side_tensor(-2, name)

    def _side_tensor(self, axis: int, name: str) -> Tensor:
        with self._name_scope(name):
            size = dimension_value(self.shape[axis])
            return self.shape_tensor()[axis] if size is None else convert_to_tensor(size)

    def _batch(self) -> Any:
        """The shape of the batch as sizes where they are known, else as a tensor."""
        return self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()

    # ------------------------------------------------------------------ checks at run time

    def _assert_non_singular(self) -> Operation:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = spectra.svd(self.to_dense(), compute_uv=False)
        condition = reductions.reduce_max(values, axis=-1) / reductions.reduce_min(values, axis=-1)
        return checks.assert_less(
            condition, self._largest_condition(), message="Singular matrix up to precision epsilon."
        )

    def _largest_condition(self) -> Tensor:
        """The condition number above which a matrix counts as singular."""
        with name_scope("max_nonsingular_condition_number"):
            dtype = self.dtype.real_dtype
            sides = self.range_dimension_tensor(), self.domain_dimension_tensor()
            longest = reductions.reduce_max([100.0, *(casting.cast(side, dtype) for side in sides)])
            return 1.0 / (casting.cast(longest, dtype) * np.finfo(dtype.as_numpy_dtype).eps)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """Adds an operation that fails if a matrix has no inverse.

        Args:
          name: The name of the operation.

        Returns:
          The operation.
        """
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        """Of a matrix that is not self-adjoint, A + Aᴴ decides."""
        dense = self.to_dense()
        if not self.is_self_adjoint:
            dense = dense + shapes.adjoint(dense)
        diagonal = diagonals.matrix_diag_part(decompositions.cholesky(dense))
        return checks.assert_positive(
            complex_numbers.real(diagonal), message="Matrix was not positive definite."
        )

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """Adds an operation that fails if a matrix is not positive definite.

        Args:
          name: The name of the operation.

        Returns:
          The operation.
        """
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        dense = self.to_dense()
        return checks.assert_equal(
            dense, shapes.adjoint(dense), message="Matrix was not equal to its adjoint."
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """Adds an operation that fails if a matrix does not equal its adjoint.

        Args:
          name: The name of the operation.

        Returns:
          The operation.
        """
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _checked(self, value: Any, name: str) -> Tensor:
        """The argument as a tensor of the operator's type."""
        tensor = convert_to_tensor(value, name=name)
        if tensor.dtype.base_dtype is not self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}.  Found: {tensor.dtype} in tensor {tensor}"
            )
        return tensor

    # ------------------------------------------------------------------ products

    @abc.abstractmethod
    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        """The product with matrices."""

    def matmul(
        self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """Multiplies the operator A by matrices or by another operator.

        Args:
          x: Matrices of shape [..., columns, k], or an operator.
          adjoint: Whether the adjoint of A is used.
          adjoint_arg: Whether the adjoint of `x` is used.
          name: The name of the operation.

        Returns:
          A tensor of shape [..., rows, k], or an operator.
        """
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            with self._name_scope(name):
                return algebra.combined("matmul", left, right)
        with self._name_scope(name):
            x = self._checked(x, "x")
            self._check_side(-2 if adjoint else -1, x, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _pair(self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, argument: str) -> tuple:
        """This operator and the other, turned where that is asked for; they must fit."""
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        if (right.range_dimension == left.domain_dimension) is False:
            raise ValueError(
                f"Operators are incompatible. Expected `{argument}` to have dimension "
                f"{left.domain_dimension} but got {right.range_dimension}."
            )
        return left, right

    def _check_side(self, axis: int, x: Tensor, x_axis: int) -> None:
        dimension_at_index(self.shape, axis).assert_is_compatible_with(x.shape[x_axis])

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return shapes.squeeze(self.matmul(shapes.expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """Multiplies the operator A by vectors.

        Args:
          x: Vectors of shape [..., columns].
          adjoint: Whether the adjoint of A is used.
          name: The name of the operation.

        Returns:
          A tensor of shape [..., rows].
        """
        with self._name_scope(name):
            x = self._checked(x, "x")
            self._check_side(-2 if adjoint else -1, x, -1)
            return self._matvec(x, adjoint=adjoint)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    # ------------------------------------------------------------------ determinants

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return unary.exp(self.log_abs_determinant())
        return matrix_functions.matrix_determinant(self.to_dense())

    def determinant(self, name: str = "det") -> Tensor:
        """Computes the determinants.

        Args:
          name: The name of the operation.

        Returns:
          A tensor of the shape of the batch.

        Raises:
          NotImplementedError: If the matrices are not square.
        """
        self._must_be_square("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            diagonal = diagonals.matrix_diag_part(decompositions.cholesky(self.to_dense()))
            return 2 * reductions.reduce_sum(unary.log(diagonal), axis=[-1])
        return matrix_functions.slogdet(self.to_dense())[1]

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """Computes the logarithms of the determinants' absolute values.

        Args:
          name: The name of the operation.

        Returns:
          A tensor of the shape of the batch.

        Raises:
          NotImplementedError: If the matrices are not square.
        """
        self._must_be_square("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _must_be_square(self, message: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(message)

    # ------------------------------------------------------------------ equations

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = shapes.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return cholesky_solve(decompositions.cholesky(self.to_dense()), rhs)
        return matrix_solve(self.to_dense(), rhs, adjoint=adjoint)

    def solve(
        self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """Solves the equations `A @ X = rhs`.

        Args:
          rhs: Matrices of shape [..., rows, k], or an operator.
          adjoint: Whether the adjoint of A is used.
          adjoint_arg: Whether the adjoint of `rhs` is used.
          name: The name of the operation.

        Returns:
          The solutions X.

        Raises:
          NotImplementedError: If the matrices are singular or not square.
        """
        if self.is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be singular."
            )
        self._must_be_square("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return algebra.combined("solve", left, right)
        with self._name_scope(name):
            rhs = self._checked(rhs, "rhs")
            self._check_side(-1 if adjoint else -2, rhs, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return shapes.squeeze(self.solve(shapes.expand_dims(rhs, axis=-1), adjoint=adjoint), axis=-1)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """Solves the equations `A @ x = rhs` for vectors.

        Args:
          rhs: Vectors of shape [..., rows].
          adjoint: Whether the adjoint of A is used.
          name: The name of the operation.

        Returns:
          The solutions.

        Raises:
          NotImplementedError: If the matrices are singular or not square.
        """
        with self._name_scope(name):
            rhs = self._checked(rhs, "rhs")
            self._check_side(-1 if adjoint else -2, rhs, -1)
            return self._solvevec(rhs, adjoint=adjoint)

    # ------------------------------------------------------------------ other operators

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The adjoint of the operator.

        Args:
          name: The name of the operation.

        Returns:
          An operator.
        """
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.combined("adjoint", self)

    H = property(adjoint, None)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse of the operator.

        Args:
          name: The name of the operation.

        Returns:
          An operator.

        Raises:
          ValueError: If the matrices are singular or not square.
        """
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return algebra.combined("inverse", self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The Cholesky factor of the operator: the lower triangular L with `L @ adjoint(L) = A`.

        Args:
          name: The name of the operation.

        Returns:
          An operator.

        Raises:
          ValueError: If the matrices are not known to be positive definite and self-adjoint.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        with self._name_scope(name):
            return algebra.combined("cholesky", self)

    # ------------------------------------------------------------------ elements

    def _to_dense(self) -> Tensor:
        columns = dimension_value(self.domain_dimension)
        columns = self.domain_dimension_tensor() if columns is None else columns
        return self.matmul(creation.eye(columns, batch_shape=self._batch(), dtype=self.dtype))

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The elements of the matrices.

        Args:
          name: The name of the operation.

        Returns:
          A tensor of shape [..., rows, columns].
        """
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self) -> Tensor:
        return diagonals.matrix_diag_part(self.to_dense())

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals of the matrices.

        Args:
          name: The name of the operation.

        Returns:
          A tensor of shape [..., n].
        """
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self) -> Tensor:
        return reductions.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the matrices' diagonals.

        Args:
          name: The name of the operation.

        Returns:
          A tensor of the shape of the batch.
        """
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """Adds the operator to matrices.

        Args:
          x: Matrices of the operator's shape.
          name: The name of the operation.

        Returns:
          The sums as a tensor.
        """
        with self._name_scope(name):
            return self._add_to_tensor(self._checked(x, "x"))
