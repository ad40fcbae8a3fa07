"""The norm of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops import binary, reductions, shapes, unary
from tideflow.ops.arguments import renamed

_OF_VECTORS = ["euclidean", 1, 2, np.inf]
_OF_MATRICES = ["euclidean", "fro", 1, np.inf]


@export("norm", "linalg.norm")
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors along one axis, of matrices along two, or of the whole tensor as one vector."""
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    of_matrices = isinstance(axis, (list, tuple)) and len(axis) == 2
    axes = _checked_axes(axis, of_matrices)
    _check_order(ord, of_matrices)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2):
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
            powers = reductions.reduce_sum(binary.pow(unary.abs(x), ord), axes, keepdims=True)
            result = binary.pow(powers, 1.0 / ord)
        return result if keepdims else shapes.squeeze(result, axes)


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
