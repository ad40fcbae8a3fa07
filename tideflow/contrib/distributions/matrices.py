"""Functions of the parameters of distributions: triangles of matrices, inverses, sums of exponentials."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.tools import rank_of
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, diagonals, joining, shapes, tiling
from tideflow.ops.arrays.indexing import where_v2
from tideflow.ops.math import binary, casting, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.distributions.fill_triangular")
def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Makes a triangular matrix of a vector. The elements are laid out in a spiral, not row by row.

    Args:
      x: The vectors, of shape [..., n (n + 1) / 2].
      upper: Whether the triangle is above the diagonal; else below.
      name: The name of the operation.

    Returns:
      A tensor of shape [..., n, n].

    Raises:
      ValueError: If no triangle has so many elements.
    """
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        known = x.shape.with_rank_at_least(1)
        count = None if known.ndims is None else known.tuple[-1]
        if count is None:
            doubled = casting.cast(2 * shapes.shape(x)[-1], dtypes.float32)
            size: Any = casting.cast(unary.sqrt(0.25 + doubled), dtypes.int32)
            known = known[:-1].concatenate([None, None])
        else:
            size = int(np.sqrt(0.25 + 2.0 * count) - 0.5)
            if size * (size + 1) // 2 != count:
                raise ValueError(
                    f"Input right-most shape ({count}) does not correspond to a triangular matrix."
                )
            known = known[:-1].concatenate([size, size])
        # Twice the vector, once backwards, fills the square: each half has a row's length less.
        last = [rank_of(x) - 1]
        if upper:
            parts = [x, tiling.reverse(x[..., size:], axis=last)]
        else:
            parts = [x[..., size:], tiling.reverse(x, axis=last)]
        square = joining.concat([shapes.shape(x)[:-1], [size, size]], 0)
        square = known.as_list() if known.is_fully_defined() else square
        matrix = shapes.reshape(joining.concat(parts, -1), square)
        matrix = diagonals.matrix_band_part(matrix, *((0, -1) if upper else (-1, 0)))
        matrix.set_shape(known)
        return matrix


@export("contrib.distributions.fill_triangular_inverse")
def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Makes the vector from which `fill_triangular` makes a triangular matrix.

    Args:
      x: The matrices, of shape [..., n, n].
      upper: Whether the triangle is above the diagonal; else below.
      name: The name of the operation.

    Returns:
      A tensor of shape [..., n (n + 1) / 2].
    """
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        known = x.shape.with_rank_at_least(2)
        size = None if known.ndims is None else known.tuple[-1]
        known = known[:-2].concatenate([None if size is None else size * (size + 1) // 2])
        size = shapes.shape(x)[-1] if size is None else size
        count = size * (size + 1) // 2
        rank = rank_of(x)
        if upper:
            first, rest = x[..., 0, :], x[..., 1:, :]
        else:
            first, rest = tiling.reverse(x[..., -1, :], axis=[rank - 2]), x[..., :-1, :]
        # Turned by half a circle, the rest fills the places of the triangle that it leaves free.
        rest = rest + tiling.reverse(rest, axis=[rank - 2, rank - 1])
        rest = shapes.reshape(rest, joining.concat([shapes.shape(x)[:-2], [size * (size - 1)]], 0))
        vector = joining.concat([first, rest[..., : count - size]], -1)
        vector.set_shape(known)
        return vector


@export("contrib.distributions.matrix_diag_transform")
def matrix_diag_transform(
    matrix: TensorLike, transform: Callable[[Tensor], Tensor] | None = None, name: str | None = None
) -> Tensor:
    """Applies a function to the diagonals of matrices.

    Args:
      matrix: The matrices, of shape [..., n, n].
      transform: The function of the diagonals; by default they stay as they are.
      name: The name of the operation.

    Returns:
      A tensor of the shape of `matrix`.
    """
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return diagonals.matrix_set_diag(matrix, transform(diagonals.matrix_diag_part(matrix)))


@export("contrib.distributions.tridiag")
def tridiag(
    below: TensorLike | None = None,
    diag: TensorLike | None = None,
    above: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Makes matrices that are zero but on the diagonal and beside it.

    Args:
      below: What is below the diagonal, of shape [..., n - 1]; nothing by default.
      diag: The diagonal, of shape [..., n]; nothing by default.
      above: What is above the diagonal, of shape [..., n - 1]; nothing by default.
      name: The name of the operation.

    Returns:
      A tensor of shape [..., n, n].

    Raises:
      ValueError: If none of the three is given.
    """

    def padded(x: TensorLike, label: str) -> Tensor:
        x = convert_to_tensor(x, name=label)
        zero = creation.zeros(joining.concat([shapes.shape(x)[:-1], [1]], 0), dtype=x.dtype)
        return diagonals.matrix_diag(joining.concat([zero, x, zero], -1))

    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            parts.append(padded(below, "below")[..., :-1, 1:])
        if diag is not None:
            parts.append(diagonals.matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(padded(above, "above")[..., 1:, :-1])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return functools.reduce(binary.add_v2, parts)


@export("contrib.distributions.reduce_weighted_logsumexp")
def reduce_weighted_logsumexp(
    logx: TensorLike,
    w: TensorLike | None = None,
    axis: TensorLike | None = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """Computes `log(abs(sum(w * exp(logx))))` without overflow.

    Args:
      logx: The logarithms of the numbers.
      w: The weights, which may be negative; 1 by default.
      axis: The axes to sum over; all by default.
      keep_dims: Whether the axes stay, with size 1.
      return_sign: Whether to return the sign of the sum too.
      name: The name of the operation.

    Returns:
      A tensor, or a pair of it and the sign.
    """
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            total = reductions.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (total, creation.ones_like(total)) if return_sign else total
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + unary.log(unary.abs(w))
        largest = reductions.reduce_max(logs, axis=axis, keepdims=True)
        largest = where_v2(unary.is_inf(largest), creation.zeros_like(largest), largest)
        share = unary.sign(w) * unary.exp(logs - largest)
        share = reductions.reduce_sum(share, axis=axis, keepdims=keep_dims)
        largest = largest if keep_dims else shapes.squeeze(largest, axis)
        sign = unary.sign(share)
        total = largest + unary.log(sign * share)
        return (total, sign) if return_sign else total


@export("contrib.distributions.softplus_inverse")
def softplus_inverse(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the number whose softplus is `x`: `log(exp(x) - 1)`.

    Args:
      x: The numbers, above 0.
      name: The name of the operation.

    Returns:
      A tensor.
    """
    with name_scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        # Softplus is exp far below zero and the identity far above it.
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        is_small, is_large = x < np.exp(threshold), x > -threshold
        safe = where_v2(binary.logical_or(is_small, is_large), creation.ones_like(x), x)
        middle = safe + unary.log(-unary.expm1(-safe))
        return where_v2(is_small, unary.log(x), where_v2(is_large, x, middle))
