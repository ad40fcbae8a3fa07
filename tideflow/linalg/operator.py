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
from tideflow.graph.shapes import Dimension, TensorShape, dimension_value
from tideflow.linalg import algebra
from tideflow.linalg.tools import cholesky_solve, is_variable, matrix_solve, shape_tensor
from tideflow.ops.arrays import creation, diagonals, shapes
from tideflow.ops.linalg import decompositions, matrix_functions, spectra
from tideflow.ops.math import casting, checks, complex_numbers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


@export("linalg.LinearOperator")
class LinearOperator(abc.ABC):
    """A batch of matrices by what it does. Hints are True, False, or None where nothing is promised."""

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
        """The name under which methods make their nodes."""
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
        """Whether xᴴAx has a positive real part for every x that is not zero."""
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
        """[batch…, rows, columns], as far as it is known."""
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """[batch…, rows, columns] as a tensor."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return shape_tensor(self.shape.as_list())
            return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch, as far as it is known."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """How many axes the operator has as a tensor."""
        return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """How many axes the operator has, as a tensor."""
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return shapes.size(self.shape_tensor())

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns: the length of the vectors that it takes."""
        return self.shape[-1]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor."""
        return self._side_tensor(-1, name)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows: the length of the vectors that it gives."""
        return self.shape[-2]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows as a tensor."""
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
        """An operation that fails where a matrix has no inverse."""
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
        """An operation that fails where a matrix is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        dense = self.to_dense()
        return checks.assert_equal(
            dense, shapes.adjoint(dense), message="Matrix was not equal to its adjoint."
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """An operation that fails where a matrix differs from its adjoint."""
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
        """A·x (Aᴴ·x with `adjoint`, A·xᴴ with `adjoint_arg`) for matrices x, or another operator."""
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
        self.shape[axis].assert_is_compatible_with(x.shape[x_axis])

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return shapes.squeeze(self.matmul(shapes.expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """A·x (or Aᴴ·x) for vectors x."""
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
        """The determinant of each matrix."""
        self._must_be_square("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            diagonal = diagonals.matrix_diag_part(decompositions.cholesky(self.to_dense()))
            return 2 * reductions.reduce_sum(unary.log(diagonal), axis=[-1])
        return matrix_functions.slogdet(self.to_dense())[1]

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithm of each determinant's absolute value."""
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
        """X with A·X = rhs (Aᴴ with `adjoint`, rhsᴴ with `adjoint_arg`) for matrices, or another operator."""
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
        """x with A·x = rhs (or Aᴴ·x = rhs) for vectors."""
        with self._name_scope(name):
            rhs = self._checked(rhs, "rhs")
            self._check_side(-1 if adjoint else -2, rhs, -1)
            return self._solvevec(rhs, adjoint=adjoint)

    # ------------------------------------------------------------------ other operators

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Aᴴ as an operator."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.combined("adjoint", self)

    H = property(adjoint, None)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """A⁻¹ as an operator."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return algebra.combined("inverse", self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular L with L·Lᴴ = A as an operator."""
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
        """The matrices as a tensor."""
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self) -> Tensor:
        return diagonals.matrix_diag_part(self.to_dense())

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonal of each matrix."""
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self) -> Tensor:
        return reductions.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name: str = "trace") -> Tensor:
        """The sum of the diagonal of each matrix."""
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """A + x."""
        with self._name_scope(name):
            return self._add_to_tensor(self._checked(x, "x"))
