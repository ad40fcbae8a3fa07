"""Checks of ranks, axes and sizes for shape rules and kernels, with TensorFlow's messages; values of sizes.

The checks raise ShapeError. From a shape rule it reaches the user while the graph is built, from a kernel as
the step's InvalidArgumentError.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import ShapeError
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.shapes import TensorShape, brackets, mismatch
from tideflow.ops.helpers.looking import has_symbols


def of_rank(shape: TensorShape, rank: int, in_step: str = "") -> TensorShape:
    """The shape, known to have `rank` dimensions; `in_step` is what TensorFlow's kernel says of another."""
    if shape.ndims not in (None, rank):
        raise ShapeError(f"Shape must be rank {rank} but is rank {shape.ndims}", in_step)
    return shape.with_rank(rank)


def of_rank_at_least(shape: TensorShape, rank: int, in_step: str = "") -> TensorShape:
    """The shape, which must not be known to have fewer than `rank` dimensions."""
    if shape.ndims is not None and shape.ndims < rank:
        raise ShapeError(f"Shape must be at least rank {rank} but is rank {shape.ndims}", in_step)
    return shape


def same_size(a: int | None, b: int | None, in_step: str = "") -> int | None:
    """What two sizes that must be equal say together."""
    if None not in (a, b) and a != b:
        raise ShapeError(f"Dimensions must be equal, but are {a} and {b}", in_step)
    return b if a is None else a


def of_size(size: int | None, wanted: int, in_step: str = "") -> int:
    """A size that must be this one."""
    if size not in (None, wanted):
        raise ShapeError(f"Dimension must be {wanted} but is {size}", in_step)
    return wanted


def merged(shape: TensorShape, other: TensorShape, in_step: str = "") -> TensorShape:
    """What two shapes that must be equal say together."""
    difference = mismatch(shape, other)
    if difference:
        raise ShapeError(difference, in_step)
    return shape.merge_with(other)


def common_shape(inputs: list[TensorShape], in_step: str = "") -> TensorShape:
    """What the shapes of tensors that must be equal say together."""
    shape = inputs[-1]
    for position, other in reversed(list(enumerate(inputs[:-1]))):
        try:
            shape = merged(other, shape)
        except ShapeError as error:
            raise ShapeError(
                f"{error}\n\tFrom merging shape {position} with other shapes.", in_step
            ) from None
    return shape


def unequal_inputs(op_type: str, *inputs: TensorShape) -> str:
    """What TensorFlow's kernels say of inputs that must have one shape, and do not."""
    place = next((i for i, shape in enumerate(inputs) if shape.tuple != inputs[0].tuple), 0)
    first, other = (brackets(inputs[i].tuple or ()) for i in (0, place))
    return (
        f"Inputs to operation {ShapeError.NODE} of type {op_type} must have the same size and shape.  "
        f"Input 0: {first} != input {place}: {other}"
    )


SIZES = "shape must be a vector of {int32,int64}, got shape "


def checked_sizes(sizes: Any, in_step: str = SIZES) -> list[int]:
    """The sizes in a host vector, none of them negative; `in_step` as in `vector`."""
    for size in vector(sizes, in_step):
        if type(size) is not int and not isinstance(size, torch.SymInt):
            raise ShapeError(f"A shape must be a vector of integers, but has {size}")
        if size < 0:
            raise ShapeError(f"Dimension {size} must be >= 0")
    return sizes


def host_rank(value: Any) -> int:
    """The rank of a Python value that stands for a tensor."""
    return 0 if not isinstance(value, list) else 1 + (host_rank(value[0]) if value else 0)


def host_shape(value: Any) -> str:
    """The shape of a Python value that stands for a tensor, as it is shown."""
    return brackets(np.shape(np.array(value, dtype=object)))


def vector(value: Any, in_step: str = "") -> list | None:
    """The elements of a host vector; None where even their number is unknown.

    `in_step` is what TensorFlow's kernel says before the shape of another value.
    """
    if value is not None and host_rank(value) != 1:
        raise ShapeError(
            f"Shape must be rank 1 but is rank {host_rank(value)}", in_step and in_step + host_shape(value)
        )
    return value


def scalar(value: Any, in_step: str = "", said: str = "Shape must be rank 0 but is rank") -> Any:
    """A host scalar, or None where it is unknown; `in_step` as in `vector`."""
    if isinstance(value, list):
        raise ShapeError(f"{said} {host_rank(value)}", in_step and in_step + host_shape(value))
    return value


COUNT = "Input must be scalar but has rank"  # what TensorFlow's shape functions say of sizes and axes


def one_value(value: Any, name: str) -> Any:
    """A runtime value that must be a scalar: broadcasting would hide that it is not."""
    if value.ndim:
        raise ShapeError(f"{name} must be a scalar, got shape {brackets(value.shape)}")
    return value


def normal_axis(axis: int, rank: int, said: str = "", in_step: str = "") -> int:
    """The axis counted from the front. `said` and `in_step` are TensorFlow's words for one that is not "
    "there."""
    if not -rank <= axis < rank:
        there = f"axis {axis} is out of range [-{rank}, {rank})"
        raise ShapeError(f"{said}: {there}" if said else there, in_step)
    return axis % rank


def rank_for_axis(axis: int, rank: int) -> str:
    """TensorFlow's words for a tensor that has not enough dimensions to have an axis."""
    return f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank}"


def as_sizes(value: Any, in_step: str = SIZES) -> list[int | None] | None:
    """A host vector of sizes as the dimensions of a shape: -1 and what is unknown are None."""
    sizes = vector(value, in_step)
    if sizes is None:
        return None
    for size in sizes:
        if size is not None and size < -1:
            raise ShapeError(f"Invalid value in tensor used for shape: {size}")
    return [None if size == -1 else size for size in sizes]


def size_sum(*sizes: int | None) -> int | None:
    """The sum of sizes; unknown where one is."""
    return None if None in sizes else sum(sizes)


def size_product(*sizes: int | None) -> int | None:
    """The product of sizes; unknown where one is, unless another is 0."""
    if 0 in sizes:
        return 0
    return None if None in sizes else math.prod(sizes)


# ---------------------------------------------------------------------------------- values of sizes


def moved(op: Any) -> Any:
    """The value rule of an op that only moves elements: runs its kernel on the elements that are known.

    Unknown elements are None. Arrays with None are object arrays, as strings are: the string kernel serves.
    """
    results = _moved(op) or [None] * len(op.outputs)
    return results[0] if len(op.outputs) == 1 else results


def _moved(op: Any) -> list[Any] | None:
    definition = op.definition
    args = []
    for arg, given in zip(definition.inputs, definition.group_inputs(op.inputs, op.attrs), strict=True):
        known = _known_number if arg.name in definition.host else elements
        values = [known(tensor) for tensor in (given if arg.is_list else [given])]
        if any(value is None for value in values):
            return None
        args.append(values if arg.is_list else values[0])
    kernel = definition.kernels.get("string") or definition.kernels[""]
    try:
        result = kernel(*args, **{name: op.attrs[name] for name in definition.wants(kernel)})
    except (ValueError, IndexError, InvalidArgumentError):  # the step reports it, with the op
        return None
    return [as_value(item) for item in (result if definition.outputs[0].is_list else [result])]


def as_value(found: Any) -> Any:
    """An array of what is known as a partial value."""
    array = np.asarray(found, dtype=object)
    return array.tolist() if array.size or array.ndim < 2 else None  # a list would forget the other sizes


def _known_number(tensor: Any) -> Any:
    """A size or place. One that is a symbol says nothing of values: NumPy would make a number of it."""
    value = partial_value(tensor)
    known = fully_known(value) and not has_symbols(np.array(value, dtype=object))
    return value if known else None


def elements(tensor: Any) -> np.ndarray | None:
    """What is known of a tensor as an array, None in the places that are not; None where nothing is known."""
    value = partial_value(tensor)
    if value is None and tensor.shape.tuple != ():
        return None
    array = np.array(value, dtype=object)
    if not tensor.shape.is_fully_defined():
        # None may stand for a whole row of a length that is not known.
        return array if tensor.shape.ndims in (None, array.ndim) else None
    return array.reshape(tensor.shape.tuple) if array.size == tensor.shape.num_elements() else None


# ---------------------------------------------------------------------------------- strings


def by_places(kernel: Callable) -> Callable:
    """The string kernel of an op that moves its first input's elements: it moves their places instead."""

    @functools.wraps(kernel, assigned=())
    def _string_kernel(strings: np.ndarray, *args: Any, **attrs: Any) -> Any:
        flat = strings.reshape(-1)
        places = kernel(torch.arange(strings.size).reshape(strings.shape), *args, **attrs)
        if isinstance(places, torch.Tensor):
            return np.asarray(flat[places.numpy()], dtype=object)
        return [np.asarray(flat[part.numpy()], dtype=object) for part in places]

    return _string_kernel
