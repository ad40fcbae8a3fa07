"""Circulant matrices, whose product with a vector is a periodic convolution; Toeplitz ones fit inside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.linalg.operator import LinearOperator
from tideflow.linalg.tools import assert_no_zeros, assert_real, at_least, implied
from tideflow.ops.arrays import broadcasting, creation, joining, shapes, tiling
from tideflow.ops.math import casting, checks, complex_numbers, reductions, unary
from tideflow.ops.signals import fourier

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


def _as_complex(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        return x
    return casting.cast(x, dtypes.complex128 if x.dtype is dtypes.float64 else dtypes.complex64)


def _as_type(x: Tensor, dtype: dtypes.DType) -> Tensor:
    """The numbers in another type; of complex ones the real parts where the type is real."""
    return casting.cast(x if dtype.is_complex else complex_numbers.real(x), dtype)


class _Circulant(LinearOperator):
    """Matrices that Fourier's transform over `block_depth` axes makes diagonal, by that diagonal."""

    def __init__(
        self,
        spectrum: Any,
        block_depth: int,
        input_output_dtype: Any,
        is_non_singular: bool | None,
        is_self_adjoint: bool | None,
        is_positive_definite: bool | None,
        is_square: bool | None,
        name: str,
    ):
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            if self._spectrum.shape.ndims is not None and self._spectrum.shape.ndims < block_depth:
                raise ValueError(
                    f"Argument spectrum must have at least {block_depth} dimensions.  Found: {self._spectrum}"
                )
            if not self._spectrum.dtype.is_complex:
                message = "A real spectrum always corresponds to a self-adjoint operator."
                is_self_adjoint = implied(True, is_self_adjoint, message)
            message = "A [[nested] block] circulant operator is always square."
            super().__init__(
                dtype=input_output_dtype,
                graph_parents=[self._spectrum],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=implied(True, is_square, message),
                name=name,
            )

    # ------------------------------------------------------------------ blocks

    @property
    def block_depth(self) -> int:
        """Over how many axes the transform goes."""
        return self._block_depth

    @property
    def block_shape(self) -> TensorShape:
        """The sizes of those axes, as far as they are known."""
        return self._spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Tensor:
        """The sizes of those axes as a tensor."""
        return shapes.shape(self._spectrum)[-self.block_depth :]

    @property
    def spectrum(self) -> Tensor:
        """The diagonal, with an axis for each of the transform's."""
        return self._spectrum

    def _block_axes(self) -> list[int]:
        return list(range(-self.block_depth, 0))

    def _shape(self) -> TensorShape:
        block = self.block_shape
        side = math.prod(block.tuple) if block.is_fully_defined() else None
        return self._spectrum.shape[: -self.block_depth].concatenate([side, side])

    def _shape_tensor(self) -> Tensor:
        side = reductions.reduce_prod(self.block_shape_tensor())
        return joining.concat([shapes.shape(self._spectrum)[: -self.block_depth], [side, side]], 0)

    # ------------------------------------------------------------------ products and equations

    def _transformed(self, x: Tensor) -> Tensor:
        transform = (fourier.fft, fourier.fft2d, fourier.fft3d)[self.block_depth - 1]
        return transform(_as_complex(x))

    def _transformed_back(self, x: Tensor) -> Tensor:
        transform = (fourier.ifft, fourier.ifft2d, fourier.ifft3d)[self.block_depth - 1]
        return transform(_as_complex(x))

    def _by_spectrum(self, apply: Any, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """Columns as rows, rows as blocks: there `apply(transform, spectrum)`, and all the way back."""
        spectrum = _as_complex(self._spectrum)
        spectrum = unary.conj(spectrum) if adjoint else spectrum
        rows = unary.conj(x) if adjoint_arg else shapes.matrix_transpose(x)
        rows = casting.cast(rows, spectrum.dtype)
        batch = shapes.shape(rows)[:-1]
        blocks = shapes.reshape(rows, joining.concat([batch, self.block_shape_tensor()], 0))
        one_for_all_rows = shapes.expand_dims(spectrum, -self.block_depth - 1)
        result = self._transformed_back(apply(self._transformed(blocks), one_for_all_rows))
        sizes = joining.concat(
            [shapes.shape(result)[: -self.block_depth], [self.domain_dimension_tensor()]], 0
        )
        result = shapes.matrix_transpose(shapes.reshape(result, sizes))
        result = _as_type(result, self.dtype)
        columns = x.shape[-2 if adjoint_arg else -1]
        known = broadcast_static_shape(x.shape[:-2], self.batch_shape)
        result.set_shape(known.concatenate([self.range_dimension, columns]))
        return result

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_spectrum(lambda blocks, spectrum: spectrum * blocks, x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_spectrum(lambda blocks, spectrum: blocks / spectrum, rhs, adjoint, adjoint_arg)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """What a product with this operator convolves with: the first column, in blocks."""
        with self._name_scope(name):
            return _as_type(self._transformed_back(self._spectrum), self.dtype)

    # ------------------------------------------------------------------ numbers

    def _determinant(self) -> Tensor:
        return _as_type(reductions.reduce_prod(self._spectrum, axis=self._block_axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        logarithms = unary.log(unary.abs(self._spectrum))
        return casting.cast(reductions.reduce_sum(logarithms, axis=self._block_axes()), self.dtype)

    def _trace(self) -> Tensor:
        return _as_type(reductions.reduce_sum(self._spectrum, axis=self._block_axes()), self.dtype)

    def _diag_part(self) -> Tensor:
        known = self.shape.is_fully_defined()
        sizes = self.shape[:-1] if known else self.shape_tensor()[:-1]
        count = self.domain_dimension.value if known else self.domain_dimension_tensor()
        mean = self.trace() / casting.cast(count, self.dtype)
        return shapes.expand_dims(mean, -1) * creation.ones(sizes, dtype=self.dtype)

    # ------------------------------------------------------------------ checks at run time

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """An operation that fails where the operator does not give real vectors for real vectors."""
        with self._name_scope(name):
            real = self.dtype.real_dtype
            allowed = np.finfo(real.as_numpy_dtype).eps * casting.cast(self.domain_dimension_tensor(), real)
            imaginary = complex_numbers.imag(self.convolution_kernel())
            return checks.assert_less(unary.abs(imaginary), allowed, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Operation:
        return assert_no_zeros(self._spectrum, "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Operation:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return checks.assert_positive(complex_numbers.real(self._spectrum), message=message)

    def _assert_self_adjoint(self) -> Operation:
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return assert_real(self._spectrum, message)


_ARGUMENTS = """
    Args:
      spectrum: The Fourier transform of the first column, over the last {axes}: the eigenvalues.
      input_output_dtype: The type of the vectors that the operator takes and gives.
      is_non_singular: Whether the matrices have inverses; None where it is not known.
      is_self_adjoint: Whether they are their own adjoints; None where it is not known.
      is_positive_definite: Whether `x^H A x` is positive for all x that are not zero; None where it is not
        known.
      is_square: Whether they are square, as they always are.
      name: The name scope of the operations.
"""


def _kind(depth: int, doc: str) -> type[_Circulant]:
    """The public class of circulant operators over `depth` axes."""
    kind_name = "LinearOperatorCirculant" if depth == 1 else f"LinearOperatorCirculant{depth}D"

    def __init__(
        self: _Circulant,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = kind_name,
    ):
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        _Circulant.__init__(self, spectrum, depth, input_output_dtype, *hints, name)

    described = f"{doc}\n{_ARGUMENTS.format(axes='axis' if depth == 1 else f'{depth} axes')}"
    members = {"__init__": __init__, "__doc__": described, "__module__": __name__}
    return export(f"linalg.{kind_name}")(type(kind_name, (_Circulant,), members))


LinearOperatorCirculant = _kind(1, "Circulant matrices: each row is the one above, turned by one place.")
LinearOperatorCirculant2D = _kind(2, "Circulant matrices of blocks that are circulant themselves.")
LinearOperatorCirculant3D = _kind(
    3, "Circulant matrices of blocks that are circulant in two ways themselves."
)


@export("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """Matrices with the same number along each diagonal.

    Args:
      col: The first columns, of shape [..., n].
      row: The first rows, of the same shape. Their first elements are ignored.
      is_non_singular: Whether every matrix has an inverse; None if it is not known.
      is_self_adjoint: Whether every matrix equals its adjoint; None if it is not known.
      is_positive_definite: Whether every matrix is positive definite; None if it is not known.
      is_square: Whether the matrices are square; None if it is not known.
      name: The name of the operator.
    """

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ):
        with name_scope(name, values=[row, col]):
            self._row = convert_to_tensor(row, name="row")
            self._col = convert_to_tensor(col, name="col")
            at_least(1, self._row, "row")
            at_least(1, self._col, "col")
            if (self._row.shape[-1] == self._col.shape[-1]) is False:
                raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
            super().__init__(
                dtype=self._row.dtype,
                graph_parents=[self._row, self._col],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=implied(True, is_square, "Only square Toeplitz operators currently supported."),
                name=name,
            )
            self._circulant = self._embedding()

    def _embedding(self) -> LinearOperator:
        """A circulant operator twice as large, with this one in its upper left corner."""
        zero = creation.zeros_like(self._col[..., :1])
        column = joining.concat([self._col, zero, tiling.reverse(self._row[..., 1:], axis=[-1])], axis=-1)
        spectrum = fourier.fft(_as_complex(column))
        return LinearOperatorCirculant(spectrum, input_output_dtype=self._row.dtype)

    @property
    def col(self) -> Tensor:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first rows."""
        return self._row

    def _shape(self) -> TensorShape:
        vectors = broadcast_static_shape(self.row.shape, self.col.shape)
        return vectors.concatenate(vectors[-1:])

    def _shape_tensor(self) -> Tensor:
        vectors = broadcasting.broadcast_dynamic_shape(shapes.shape(self.row), shapes.shape(self.col))
        return joining.concat([vectors, [vectors[-1]]], 0)

    def _assert_self_adjoint(self) -> Operation:
        message = "row and col are not the same, and so this operator is not self-adjoint."
        return checks.assert_equal(self.row, self.col, message=message)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = shapes.adjoint(x) if adjoint_arg else x
        longer = joining.concat([x, creation.zeros_like(x)], axis=-2)
        result = self._circulant.matmul(longer, adjoint=adjoint)
        return result[..., : self.domain_dimension_tensor(), :]

    def _trace(self) -> Tensor:
        return casting.cast(self.domain_dimension_tensor(), self.dtype) * self.col[..., 0]

    def _diag_part(self) -> Tensor:
        return self.col[..., 0:1] * creation.ones([self.domain_dimension_tensor()], self.dtype)
