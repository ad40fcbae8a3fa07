"""What follows from a square matrix: determinant, inverse, square root, logarithm, exponential."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, diagonals, indexing, joining, shapes
from tideflow.ops.control_flow import while_loops
from tideflow.ops.helpers.aliases import inherit
from tideflow.ops.helpers.samples import c64, f32
from tideflow.ops.helpers.types import COMPLEX, types
from tideflow.ops.linalg import decompositions, matmul, schur, solvers
from tideflow.ops.linalg.matrices import (
    BATCH_TYPES,
    MATRICES,
    MATRIX_TYPES,
    check_invertible,
    on_square,
    square,
)
from tideflow.ops.math import binary, casting, clipping, complex_numbers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.linalg.operator import LinearOperator

_REGULAR = np.array([[2.0, 0.5, 0.2], [0.5, 1.5, -0.3], [0.1, -0.4, 1.0]])

# ---------------------------------------------------------------------------------- determinant

_DETERMINANT_TYPES = types("half float double complex64 complex128")


def _signed_logarithm(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """TensorFlow's convention: the sign of what is not finite is 0, and what is not a number counts as 0."""
    sign, logarithm = torch.linalg.slogdet(input)
    finite = logarithm.isfinite()
    logarithm = torch.where(finite | (logarithm > 0), logarithm, -torch.inf)
    return torch.where(finite, sign, torch.zeros_like(sign)), logarithm.to(input.dtype)


def _for_matrices(factor: Tensor) -> Tensor:
    """Numbers, one for each matrix, ready to be multiplied with them."""
    return shapes.reshape(factor, joining.concat([shapes.shape(factor), [1, 1]], 0))


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")
    op.refuses((f32(3),), "Shape must be at least rank 2 but is rank 1")


det_op = Op("MatrixDeterminant", "input: T -> output: T", T=_DETERMINANT_TYPES)


@det_op.shape
def _det_shape(input):
    return square(input)[:-2]


@det_op.kernel
@on_square
def _det_kernel(input):
    sign, logarithm = _signed_logarithm(input)
    return sign * logarithm.exp()


@det_op.gradient
def _det_gradient(op, grad):
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    return _for_matrices(grad * op.outputs[0]) * inverse


det_op.samples(
    f32(3, 3),
    np.stack([_REGULAR, -_REGULAR]),
    c64(2, 2),
    f32(0, 0),
    np.zeros((0, 2, 2)),
    _REGULAR.astype(np.float16),
    against=lambda x: np.linalg.det(x.astype(np.promote_types(x.dtype, np.float32))).astype(x.dtype),
)
_add_refusals(det_op)


@export("matrix_determinant", "linalg.det", operator="determinant")
def matrix_determinant(input: TensorLike | LinearOperator, name: str | None = None) -> Tensor:
    """The determinant of each square matrix.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input`, without its last two axes.
    """
    return det_op(input, name=name)


batch_det_op = Op(
    "BatchMatrixDeterminant", "input: T -> output: T", T=types("float double complex64 complex128")
)
inherit(batch_det_op, det_op)
batch_det_op.samples(MATRICES)

log_det_op = Op("LogMatrixDeterminant", "input: T -> sign: T, log_abs_determinant: T", T=_DETERMINANT_TYPES)


@log_det_op.shape
def _log_det_shape(input):
    return [square(input)[:-2]] * 2


@log_det_op.kernel
@on_square
def _log_det_kernel(input):
    return _signed_logarithm(input)


@log_det_op.gradient
def _log_det_gradient(op, grad_sign, grad_logarithm):
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    return _for_matrices(grad_logarithm) * inverse


log_det_op.samples(
    f32(3, 3), np.stack([_REGULAR, -_REGULAR]), c64(2, 2), against=lambda x: tuple(np.linalg.slogdet(x))
)
_add_refusals(log_det_op)


@export("linalg.slogdet")
def slogdet(input: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The sign of the determinant of each square matrix, and the logarithm of its absolute value.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      name: A name for the operation.

    Returns:
      `sign` and `log_abs_determinant`, of the type of `input`, without its last two axes.
    """
    return log_det_op(input, name=name)


@export("linalg.logdet", operator="logdet")
def logdet(matrix: TensorLike | LinearOperator, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of each positive definite matrix.

    Args:
      matrix: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last
        two axes.
      name: A name for the scope of the operations.

    Returns:
      A tensor of real numbers, without the last two axes.
    """
    with name_scope(name, "logdet", [matrix]):
        diagonal = diagonals.matrix_diag_part(decompositions.cholesky(matrix))
        return 2.0 * reductions.reduce_sum(unary.log(complex_numbers.real(diagonal)), axis=[-1])


# ---------------------------------------------------------------------------------- inverse

inverse_op = Op("MatrixInverse", "input: T -> output: T", adjoint=False, T=MATRIX_TYPES)

inverse_op.shape(square)


@inverse_op.kernel
@on_square
def _inverse_kernel(input, *, adjoint):
    factors, swaps, _ = torch.linalg.lu_factor_ex(input)
    check_invertible(factors.diagonal(dim1=-2, dim2=-1), "Input is not invertible.")
    identity = torch.eye(input.shape[-1], dtype=input.dtype, device=input.device).expand_as(input)
    return torch.linalg.lu_solve(factors, swaps, identity, adjoint=adjoint)


@inverse_op.gradient
def _inverse_gradient(op, grad):
    inverse = op.outputs[0]
    if op.attrs["adjoint"]:
        return -matmul.matmul(inverse, matmul.matmul(grad, inverse, adjoint_a=True))
    return -matmul.matmul(inverse, matmul.matmul(grad, inverse, adjoint_b=True), adjoint_a=True)


def _numpy_inverse(input: np.ndarray, adjoint: bool) -> np.ndarray:
    inverse = np.linalg.inv(input)
    return np.swapaxes(inverse, -1, -2).conj() if adjoint else inverse


inverse_op.samples(
    _REGULAR,
    (np.stack([_REGULAR, 2 * _REGULAR]), {"adjoint": True}),
    (c64(2, 2), {"adjoint": True}),
    (f32(0, 0),),
    against=_numpy_inverse,
)
inverse_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")
inverse_op.refuses((np.ones((2, 2)),), "Input is not invertible.", InvalidArgumentError)


@export("matrix_inverse", "linalg.inv", operator="inverse")
def matrix_inverse(
    input: TensorLike | LinearOperator, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of each square matrix, or of its adjoint.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      adjoint: Whether to invert the adjoints.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`. A step with a singular matrix fails with
      InvalidArgumentError.
    """
    return inverse_op(input, adjoint=adjoint, name=name)


batch_inverse_op = Op("BatchMatrixInverse", "input: T -> output: T", adjoint=False, T=BATCH_TYPES)
inherit(batch_inverse_op, inverse_op)
batch_inverse_op.samples(MATRICES)


# ---------------------------------------------------------------------------------- root and logarithm


def _by_scipy(name: str) -> Any:
    """SciPy's function of that name, of one matrix after the other."""

    def reference(matrix: np.ndarray) -> np.ndarray:
        import scipy.linalg

        function = getattr(scipy.linalg, name)
        batch = matrix.reshape(-1, *matrix.shape[-2:]) if matrix.size else []
        return np.array([function(one) for one in batch], matrix.dtype).reshape(matrix.shape)

    return reference


square_root_op = Op("MatrixSquareRoot", "input: T -> output: T", T=MATRIX_TYPES, on_host=True)
square_root_op.shape(square)
square_root_op.kernel(on_square(schur.square_root))


def _kronecker(a: Tensor, b: Tensor, batch: Tensor, side: Tensor) -> Tensor:
    rows = shapes.reshape(a, joining.concat([batch, [side, 1, side, 1]], 0))
    columns = shapes.reshape(b, joining.concat([batch, [1, side, 1, side]], 0))
    return shapes.reshape(rows * columns, joining.concat([batch, [side * side, side * side]], 0))


@square_root_op.gradient
def _square_root_gradient(op, grad):
    """R·R = A makes dR·R + R·dR = dA, which is linear in dR: with columns below each other, (1⊗R + Rᵀ⊗1)."""
    root = op.outputs[0]
    sizes = shapes.shape(root)
    batch, side = sizes[:-2], sizes[-1]
    identity = creation.eye(side, batch_shape=batch, dtype=root.dtype)
    left = _kronecker(identity, shapes.matrix_transpose(root), batch, side)
    equations = left + _kronecker(root, identity, batch, side)
    column = joining.concat([batch, [side * side, 1]], 0)
    given = shapes.reshape(shapes.matrix_transpose(grad), column)
    return shapes.matrix_transpose(shapes.reshape(solvers.matrix_solve(equations, given), sizes))


square_root_op.samples(
    _REGULAR,
    np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]),
    np.array([[[0.0, 1.0], [-1.0, 0.0]], [[2.0, 1.0], [0.0, 3.0]]], np.float32),
    _REGULAR.astype(np.complex64) * (1 + 1j),
    f32(0, 0),
    against=_by_scipy("sqrtm"),
)
square_root_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")


@export("matrix_square_root", "linalg.sqrtm")
def matrix_square_root(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square root of each square matrix: R with R·R = input, whose eigenvalues have no negative
    real part.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`; NaN where a real matrix has no real root.
    """
    return square_root_op(input, name=name)


logarithm_op = Op("MatrixLogarithm", "input: T -> output: T", T=COMPLEX, on_host=True)
logarithm_op.shape(square)
logarithm_op.kernel(on_square(schur.logarithm))
logarithm_op.gradient(undefined_gradient)
logarithm_op.samples(
    _REGULAR.astype(np.complex128),
    np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]], np.complex64),
    np.stack([100 * _REGULAR, _REGULAR * 1e-3j]).astype(np.complex128),
    np.zeros((0, 0), np.complex64),
    against=_by_scipy("logm"),
)
logarithm_op.refuses((c64(2, 3),), "Dimensions must be equal, but are 2 and 3")


@export("linalg.logm")
def matrix_logarithm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithm of each square matrix.

    Args:
      input: A tensor of complex numbers, of rank 2 or more, the matrices along its last two axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.
    """
    return logarithm_op(input, name=name)


# ---------------------------------------------------------------------------------- exponential

exponential_op = Op("MatrixExponential", "input: T -> output: T", T=MATRIX_TYPES)

exponential_op.shape(square)
exponential_op.kernel(on_square(torch.linalg.matrix_exp))


@exponential_op.gradient
def _exponential_gradient(op, grad):
    """The exponential of [[Aᴴ, dE], [0, Aᴴ]] has the derivative at Aᴴ along dE in its upper right corner."""
    turned = shapes.adjoint(op.inputs[0])
    upper = joining.concat([turned, grad], -1)
    lower = joining.concat([creation.zeros_like(turned), turned], -1)
    side = shapes.shape(turned)[-1]
    return exponential_op(joining.concat([upper, lower], -2))[..., :side, side:]


exponential_op.samples(
    _REGULAR,
    f32(2, 3, 3, low=-3, high=3),
    c64(2, 2),
    f32(0, 0),
    against=_by_scipy("expm"),
)
exponential_op.refuses((f32(2, 3),), "Dimensions must be equal, but are 2 and 3")

# Coefficients of Padé's approximation, and the largest norm for which it is exact to the last digit.
_PADE_7 = [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0], 3.925724783138660
_PADE_13 = (
    [
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ],
    5.371920351148152,
)
_MOST_HALVINGS = 1100  # beyond any finite number


@export("linalg.expm")
def matrix_exponential(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponential of each square matrix: e^A = (e^(A/2ᵏ))^(2ᵏ), where A/2ᵏ is small enough for a short
    fraction.

    Built from other ops: TensorFlow's graphs no longer have the op type MatrixExponential.

    Args:
      input: A tensor of floating-point or complex numbers, of rank 2 or more, the matrices along its last two
        axes.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      ValueError: If the type is another, or the matrices are known not to be square.
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.dtype not in MATRIX_TYPES:
            raise ValueError(f"tf.linalg.expm does not support matrices of type {matrix.dtype}")
        if square(matrix.shape).tuple is not None and matrix.shape.tuple[-1] == 0:
            return matrix
        is_double = matrix.dtype.base_dtype in (dtypes.float64, dtypes.complex128)
        coefficients, largest = _PADE_13 if is_double else _PADE_7
        halvings = _halvings(matrix, largest)
        numerator, denominator = _pade(matrix * casting.cast(2.0**-halvings, matrix.dtype), coefficients)
        result = solvers.matrix_solve(denominator, numerator)
        return _squared(result, halvings)


def _halvings(matrix: Tensor, largest: float) -> Tensor:
    """How often to halve each matrix until its norm is at most `largest`."""
    norm = reductions.reduce_sum(unary.abs(matrix), axis=-2, keepdims=True)
    norm = reductions.reduce_max(norm, axis=-1, keepdims=True)
    return clipping.clip_by_value(unary.ceil(unary.log(norm / largest) / math.log(2.0)), 0.0, _MOST_HALVINGS)


def _pade(matrix: Tensor, coefficients: list[float]) -> tuple[Tensor, Tensor]:
    """Numerator and denominator: even powers, plus or minus odd ones."""
    sizes = shapes.shape(matrix)
    power = creation.eye(sizes[-1], batch_shape=sizes[:-2], dtype=matrix.dtype)
    squared = matmul.matmul(matrix, matrix)
    even, odd = coefficients[0] * power, coefficients[1] * power
    for of_even, of_odd in zip(coefficients[2::2], coefficients[3::2], strict=True):
        power = matmul.matmul(power, squared)
        even, odd = even + of_even * power, odd + of_odd * power
    odd = matmul.matmul(matrix, odd)
    return even + odd, even - odd


def _squared(matrix: Tensor, times: Tensor) -> Tensor:
    """Each matrix squared as often as `times` says."""
    most = reductions.reduce_max(times)

    def step(count: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
        again = binary.less(count, times)
        return count + 1, indexing.where_v2(again, matmul.matmul(current, current), current)

    start = constants.constant(0.0, times.dtype)
    return while_loops.while_loop(lambda count, _: binary.less(count, most), step, [start, matrix])[1]
