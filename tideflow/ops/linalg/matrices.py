"""What the ops on batches of matrices share: their shapes, checks in TensorFlow's words, half precision."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import TensorShape, dimension_value
from tideflow.ops.helpers.axes import merged, of_rank_at_least, same_size
from tideflow.ops.helpers.types import types

MATRIX_TYPES = types("double float half complex64 complex128")
BATCH_TYPES = types("double float")  # of the older ops that take batches only
MATRICES = np.array([[[2.0, 0.5], [0.5, 1.0]], [[3.0, -1.0], [-1.0, 2.0]]])  # a sample of these

# ---------------------------------------------------------------------------------- shapes


def sides(matrix: TensorShape) -> tuple[int | None, int | None]:
    """Rows and columns, as far as they are known."""
    of_rank_at_least(matrix, 2)
    return (None, None) if matrix.tuple is None else matrix.tuple[-2:]


def square(matrix: TensorShape) -> TensorShape:
    """The shape of a batch of square matrices."""
    side = same_size(*sides(matrix), in_step="Input matrix must be square.")
    return matrix[:-2].concatenate([side, side])


def solution(matrix: TensorShape, rhs: TensorShape) -> TensorShape:
    """The shape of X in matrix·X = rhs, for batches of equal shape."""
    (rows, columns), (right_rows, right_columns) = sides(matrix), sides(rhs)
    same_size(rows, right_rows)
    return merged(matrix[:-2], rhs[:-2]).concatenate([columns, right_columns])


def square_solution(matrix: TensorShape, rhs: TensorShape) -> TensorShape:
    """The same for square matrices, where X has the shape of rhs."""
    side = same_size(dimension_value(square(matrix)[-1]), sides(rhs)[0])
    return merged(matrix[:-2], rhs[:-2]).concatenate([side, sides(rhs)[1]])


# ---------------------------------------------------------------------------------- checks of a step's values


def check_matrices(*tensors: torch.Tensor) -> None:
    """Batches of matrices, of one shape of batch."""
    first = tensors[0]
    for place, tensor in enumerate(tensors):
        if tensor.dim() != first.dim():
            raise ShapeError("All input tensors must have the same rank.")
        if tensor.dim() < 2:
            raise ShapeError(f"Input tensor {place} must have rank >= 2, got {tensor.dim()}")
        if tensor.shape[:-2] != first.shape[:-2]:
            raise ShapeError("All input tensors must have the same outer dimensions.")


def check_equations(matrix: torch.Tensor, rhs: torch.Tensor, is_square: bool = True) -> None:
    """One equation for each row of rhs."""
    check_matrices(matrix, rhs)
    if is_square and matrix.shape[-2] != matrix.shape[-1]:
        raise ShapeError("First input (lhs) must be a square matrix.")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise ShapeError("Input matrix and rhs are incompatible.")


def check_invertible(pivots: torch.Tensor, message: str = "Input matrix is not invertible.") -> None:
    """No pivot is zero, and the first is a number: what follows is NaN where an input is."""
    if bool((pivots == 0).any()) or bool(pivots[..., :1].isnan().any()):
        raise ShapeError(message)


# ---------------------------------------------------------------------------------- kernels


def on_matrices(kernel: Callable) -> Callable:
    """A kernel for half precision too, which LAPACK lacks: it computes in float32."""

    @functools.wraps(kernel, assigned=())
    def _either(*tensors: torch.Tensor, **attrs: Any) -> Any:
        if tensors[0].dtype is not torch.half:
            return kernel(*tensors, **attrs)
        return _narrowed(kernel(*(_widened(tensor) for tensor in tensors), **attrs))

    return _either


def on_square(kernel: Callable) -> Callable:
    """The same for a kernel of one batch of matrices that must be square."""

    compute = on_matrices(kernel)

    @functools.wraps(kernel, assigned=())
    def _checked(input: torch.Tensor, **attrs: Any) -> Any:
        check_matrices(input)
        if input.shape[-2] != input.shape[-1]:
            raise ShapeError("Input matrix must be square.")
        return compute(input, **attrs)

    return _checked


def _widened(tensor: Any) -> Any:
    return tensor.float() if isinstance(tensor, torch.Tensor) and tensor.dtype is torch.half else tensor


def _narrowed(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(_narrowed(item) for item in result)
    return result.half() if result.dtype is torch.float32 else result
