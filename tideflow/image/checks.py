"""What functions of images ask of their arguments: at once where the graph knows, else in the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph.convert import is_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.math import checks


def require(condition: Any, message: str) -> list[Operation]:
    """ValueError where the condition is known to be false; an assertion where it is a tensor."""
    if is_tensor(condition):
        return [debugging.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def at_least_3d(image: Tensor) -> list[Operation]:
    """Assertions that the image has at least three axes, none of them empty."""
    try:
        shape = image.shape.with_rank(3) if image.shape.ndims is None else image.shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    if 0 in shape.tuple:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    return [
        checks.assert_positive(shapes.shape(image), ["all dims of 'image.shape' must be > 0."]),
        checks.assert_greater_equal(
            shapes.rank(image), 3, message="'image' must be at least three-dimensional."
        ),
    ]


def checked(image: Tensor) -> Tensor:
    """The image, which has at least three axes."""
    return grouping.with_dependencies(at_least_3d(image), image)


def batched(image: Tensor) -> tuple[Tensor, Callable]:
    """One image, or one of unknown rank, as a batch of one, and how to take it out again."""
    rank = image.shape.ndims
    if rank not in (None, 3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    if rank == 4:
        return image, lambda batch: batch
    image = shapes.expand_dims(image, 0)
    if rank is None:
        image.set_shape([None] * 4)
    return image, lambda batch: shapes.squeeze(batch, axis=[0])


def sizes_of(image: Tensor, rank: int) -> list[Any]:
    """The size of each axis: a number where the graph knows it, else a tensor."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    known = image.shape.with_rank(rank).as_list()
    computed = joining.unstack(shapes.shape(image), rank)
    return [c if k is None else k for k, c in zip(known, computed, strict=True)]


def known_sizes(*sizes: Any) -> list[int | None]:
    """Of sizes that are numbers or tensors, the numbers."""
    return [None if is_tensor(size) else size for size in sizes]


def either(function: Callable, python_function: Callable) -> Callable:
    """The function of tensors where an argument is one, else that of numbers."""
    return lambda x, y: (function if is_tensor(x) or is_tensor(y) else python_function)(x, y)
