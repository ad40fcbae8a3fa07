"""The norm of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, joining, shapes, stitching
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.linalg import spectra
from tideflow.ops.math import casting, powers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_OF_VECTORS = ["euclidean", 1, 2, np.inf]
_OF_MATRICES = ["euclidean", "fro", 1, 2, np.inf]


@export("norm", "linalg.norm")
def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors along one axis, of matrices along two, or of the whole tensor as one vector.

    Args:
      tensor: A tensor of floating-point or complex numbers.
      ord: Which norm: "euclidean", 1, 2, np.inf or, of vectors, any positive number; of matrices also "fro".
      axis: The axis of the vectors, or a pair of axes of the matrices; by default all elements are one
        vector.
      keepdims: Whether these axes stay, with size 1.
      name: A name for the scope of the operations.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `tensor`, without these axes unless `keepdims` is set.

    Raises:
      ValueError: If there is no such norm, or `axis` is something else.
    """
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    of_matrices = isinstance(axis, (list, tuple)) and len(axis) == 2
    axes = _checked_axes(axis, of_matrices)
    _check_order(ord, of_matrices)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if of_matrices and ord == 2:
            result = _largest_singular_value(x, axes)
        elif ord in ("fro", "euclidean", 2):
            squares = x * unary.conj(x)
            result = unary.sqrt(reductions.reduce_sum(squares, axes, keepdims=True))
        elif ord == 1:
            result = reductions.reduce_sum(unary.abs(x), _first(axes), keepdims=True)
            if of_matrices:
                result = reductions.reduce_max(result, axes[1], keepdims=True)
        elif ord == np.inf:
            result = unary.abs(x)
            if of_matrices:
                result = reductions.reduce_sum(result, axes[1], keepdims=True)
            result = reductions.reduce_max(result, _first(axes), keepdims=True)
        else:
            total = reductions.reduce_sum(powers.pow(unary.abs(x), ord), axes, keepdims=True)
            result = powers.pow(total, 1.0 / ord)
        return result if keepdims else shapes.squeeze(result, axes)


def _largest_singular_value(x: Tensor, axes: list[int]) -> Tensor:
    order, back = _with_last(x, axes)
    values = spectra.svd(shapes.transpose(x, order), compute_uv=False)
    largest = reductions.reduce_max(values, axis=-1, keepdims=True)
    return shapes.transpose(shapes.expand_dims(largest, -1), back)


def _with_last(x: Tensor, axes: list[int]) -> tuple[Any, Any]:
    """The order of axes with these at the end, and the order that undoes it."""
    if x.shape.ndims is not None:
        last = [axis % x.shape.ndims for axis in axes]
        order = [axis for axis in range(x.shape.ndims) if axis not in last] + last
        return order, np.argsort(order).astype(np.int32)
    count = shapes.rank(x)
    last = joining.stack([axis if axis >= 0 else axis + count for axis in axes])
    others, _ = stitching.setdiff1d(creation.range(count), last)
    order = joining.concat([others, last], 0)
    return order, shapes.invert_permutation(order)


def _first(axes: list[int] | None) -> int | None:
    return None if axes is None else axes[0]


def _checked_axes(axis: Any, of_matrices: bool) -> list[int] | None:
    axes = list(axis) if of_matrices else [axis]
    is_int = [isinstance(item, (int, np.integer)) for item in axes]
    if axis is None:
        return None
    if not all(is_int) or len(set(axes)) < len(axes):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    return [int(item) for item in axes]


def _check_order(order: Any, of_matrices: bool) -> None:
    if of_matrices:
        if order not in _OF_MATRICES:
            raise ValueError(f"'ord' must be a supported matrix norm in {_OF_MATRICES}, got {order}")
    elif order not in _OF_VECTORS and (isinstance(order, str) or not np.isreal(order) or order <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")


@export("linalg.normalize")
def normalize(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Divides a tensor by its norm.

    Args:
      tensor: A tensor of floating-point or complex numbers.
      ord: Which norm, as for `tf.norm`.
      axis: The axis of the vectors, or a pair of axes of the matrices; by default all elements are one
        vector.
      name: A name for the scope of the operations.

    Returns:
      The divided tensor, and the norm with its axes kept.
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = casting.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size
