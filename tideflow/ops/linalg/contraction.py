"""Sums of products over chosen axes: `tf.tensordot`, `tf.einsum` and `tf.trace`, of plain products."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, unknown_shape
from tideflow.ops.arrays import creation, diagonals, indexing, joining, shapes, stitching
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.linalg.operator import LinearOperator

# ---------------------------------------------------------------------------------- tensordot


@export("tensordot", "linalg.tensordot")
def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """Products of the elements of two tensors, summed over some of their axes.

    Args:
      a: A tensor of numbers.
      b: A tensor of the type of `a`.
      axes: How many last axes of `a` meet the first ones of `b`; or a pair: the axes of `a`, and those of `b`
        that they meet.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a`: the other axes of `a`, then those of `b`.

    Raises:
      ValueError: If an axis does not exist, or the two lists differ in length.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as name:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        axes_a, axes_b = _contracted_axes(a, axes)
        left, free_a = _as_matrix(a, axes_a, contracted_last=True)
        right, free_b = _as_matrix(b, axes_b, contracted_last=False)
        product = matmul.matmul(left, right)
        if isinstance(free_a, list) and isinstance(free_b, list):
            return shapes.reshape(product, free_a + free_b, name=name)
        free_a = convert_to_tensor(free_a, dtype=dtypes.int32)
        free_b = convert_to_tensor(free_b, dtype=dtypes.int32)
        result = shapes.reshape(product, joining.concat([free_a, free_b], 0), name=name)
        result.set_shape(_free_shape(a, axes_a).concatenate(_free_shape(b, axes_b)))
        return result


def _contracted_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of a and of b that are summed over, as lists or as tensors."""
    if isinstance(axes, (int, np.integer)):
        return _meeting_axes(a, int(axes))
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError(f"'axes' must be an integer or have length 2, but is {axes!r}.")
        first, second = ([int(axis)] if isinstance(axis, (int, np.integer)) else axis for axis in axes)
        if (
            isinstance(first, (list, tuple))
            and isinstance(second, (list, tuple))
            and len(first) != len(second)
        ):
            raise ValueError(
                f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}."
            )
        return first, second
    axes = convert_to_tensor(axes, name="axes", dtype=dtypes.int32)
    return axes[0], axes[1]


def _meeting_axes(a: Tensor, count: int) -> tuple[Any, list[int]]:
    if count < 0:
        raise ValueError(f"'axes' must be at least 0, but is {count}.")
    if a.shape.ndims is None:
        rank = shapes.rank(a)
        return creation.range(rank - count, limit=rank), list(range(count))
    if count > a.shape.ndims:
        raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
    return list(range(a.shape.ndims - count, a.shape.ndims)), list(range(count))


def _as_matrix(tensor: Tensor, axes: Any, contracted_last: bool) -> tuple[Tensor, Any]:
    """The tensor as a matrix of free by contracted axes, or turned; and the sizes of its free axes."""
    rank = tensor.shape.ndims
    static = isinstance(axes, (list, tuple)) and rank is not None
    if static:
        axes = [_from_front(axis, rank) for axis in axes]
        free = [axis for axis in range(rank) if axis not in axes]
    if static and tensor.shape.is_fully_defined():
        sizes = tensor.shape.tuple
        perm = free + axes if contracted_last else axes + free
        flat = [math.prod(sizes[axis] for axis in part) for part in (free, axes)]
        matrix = shapes.reshape(shapes.transpose(tensor, perm), flat if contracted_last else flat[::-1])
        return matrix, [sizes[axis] for axis in free]
    if static:
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = convert_to_tensor(free, dtype=dtypes.int32, name="free")
        sizes = shapes.shape(tensor)
    else:
        sizes = shapes.shape(tensor)
        count = shapes.rank(tensor)
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = indexing.where(binary.greater_equal(axes, 0), axes, axes + count)
        free, _ = stitching.setdiff1d(creation.range(count), axes)
    free_sizes, axes_sizes = indexing.gather(sizes, free), indexing.gather(sizes, axes)
    free_count, axes_count = reductions.reduce_prod(free_sizes), reductions.reduce_prod(axes_sizes)
    perm = joining.concat([free, axes] if contracted_last else [axes, free], 0)
    flat = joining.stack([free_count, axes_count] if contracted_last else [axes_count, free_count])
    return shapes.reshape(shapes.transpose(tensor, perm), flat), free_sizes


def _from_front(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise IndexError(f"list index out of range: axis {axis} of a tensor of rank {rank}")
    return axis % rank


def _free_shape(tensor: Tensor, axes: Any) -> TensorShape:
    """What is known of the sizes of the axes that are not summed over."""
    rank = tensor.shape.ndims
    if rank is None:
        return unknown_shape()
    known = constant_value(axes)
    if known is None:
        count = axes.shape.num_elements()
        return unknown_shape(None if count is None else rank - count)
    summed = {_from_front(int(axis), rank) for axis in np.ravel(known)}
    sizes = [size for axis, size in enumerate(tensor.shape.tuple) if axis not in summed]
    return TensorShape(sizes)


# ---------------------------------------------------------------------------------- trace and einsum


@export("trace", "linalg.trace", operator="trace")
def trace(x: TensorLike | LinearOperator, name: str | None = None) -> Tensor:
    """The sum of the diagonal of each matrix.

    Args:
      x: A tensor of numbers, of rank 2 or more, the matrices along its last two axes.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x`, without its last two axes.
    """
    with name_scope(name, "Trace", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return reductions.reduce_sum(diagonals.matrix_diag_part(x), [-1], name=name)


@export("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """A sum of products, written with a label for each axis: `"ij,jk->ik"` is the matrix product.

    Args:
      equation: The labels, letters, of the axes of each input, separated by commas, and after `->` those of
        the result. An ellipsis stands for any axes. Without an arrow, the result has the labels that occur
        once, in order.
      *inputs: The tensors, of one type.
      **kwargs: `name`, a name for the scope of the operations.

    Returns:
      A tensor of the type of the inputs.

    Raises:
      ValueError: If the equation does not fit the inputs, or repeats a label in one input.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    with name_scope(name, "einsum", [equation, inputs]):
        tensors = [convert_to_tensor(value) for value in inputs]
        labels, output = _parsed(equation, tensors)
        if len(tensors) == 1 and _is_trace(labels[0], output):
            return trace(tensors[0])
        for part in [*labels, output]:
            _check_unique(part)
        result, found = tensors[0], labels[0]
        for position, tensor in enumerate(tensors[1:], 1):
            needed = set(output).union(*labels[position + 1 :])
            summed = (set(found) & set(labels[position])) - needed
            result, found = _product(result, found, tensor, labels[position], summed)
        alone = [axis for axis, label in enumerate(found) if label not in output]
        if alone:
            result = reductions.reduce_sum(result, axis=alone)
            found = "".join(label for label in found if label in output)
        return _transposed(result, [found.index(label) for label in output])


def _parsed(equation: str, tensors: Sequence[Tensor]) -> tuple[list[str], str]:
    """The labels of every input and of the output, ellipses written out."""
    text = equation.replace(" ", "")
    match = re.fullmatch(r"([a-zA-Z.]*(?:,[a-zA-Z.]*)*)(->[a-zA-Z.]*)?", text)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels = match.group(1).split(",")
    if len(labels) != len(tensors):
        raise ValueError(f'Got {len(tensors)} arguments for equation "{equation}", expecting {len(labels)}.')
    output = match.group(2)[2:] if match.group(2) else None
    labels, output = _without_ellipsis(equation, labels, output, tensors)
    for i, (part, tensor) in enumerate(zip(labels, tensors, strict=True)):
        if tensor.shape.ndims not in (None, len(part)):
            raise ValueError(
                f"Tensor t{i} of rank {tensor.shape.ndims} does not match einsum reduction of length "
                f"{len(part)}: {equation} has labels {part} for it."
            )
    unknown = sorted(set(output) - set("".join(labels)))
    if unknown:
        raise ValueError(
            f"Invalid equation: {equation}: its output has unknown labels, {', '.join(unknown)}."
        )
    return labels, output


def _without_ellipsis(
    equation: str, labels: list[str], output: str | None, tensors: Sequence[Tensor]
) -> tuple[list[str], str]:
    """Every `...` as labels that the equation does not use; an output that is not given is NumPy's."""
    if any(part.replace("...", "", 1).count(".") for part in [*labels, output or ""]):
        raise ValueError(f"Indices have incorrect format: {equation}")
    extra = [
        _rank(equation, tensor) - len(part.replace("...", "")) if "..." in part else 0
        for part, tensor in zip(labels, tensors, strict=True)
    ]
    if min(extra, default=0) < 0:
        raise ValueError(f"Equation {equation} has more labels than a tensor has axes.")
    used = set(equation)
    free = [letter for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in used]
    dots = "".join(free[: max(extra, default=0)])
    labels = [
        part.replace("...", dots[len(dots) - count :]) for part, count in zip(labels, extra, strict=True)
    ]
    if output is not None:
        return labels, output.replace("...", dots)
    every = "".join(labels)
    once = sorted(label for label in set(every) if every.count(label) == 1 and label not in dots)
    return labels, dots + "".join(once)


def _rank(equation: str, tensor: Tensor) -> int:
    if tensor.shape.ndims is None:
        raise ValueError(
            f"Unable to statically infer ellipsis axes: {equation} needs the unknown rank of {tensor}."
        )
    return tensor.shape.ndims


def _check_unique(labels: str) -> None:
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ValueError(f"Subscript not supported: an axis appears more than once: {labels}")


def _is_trace(labels: str, output: str) -> bool:
    return len(labels) == 2 and labels[0] == labels[1] and not output


def _product(left: Tensor, labels: str, right: Tensor, others: str, summed: set[str]) -> tuple[Tensor, str]:
    """The product of two tensors, summed over some of the axes they share; and its labels.

    Its axes are those that both keep, those of the left one alone, those of the right one alone.
    """
    kept = sorted((set(labels) & set(others)) - summed)
    only_left, only_right = sorted(set(labels) - set(others)), sorted(set(others) - set(labels))
    left = _ordered(left, labels, [*kept, *only_left, *sorted(summed)])
    right = _ordered(right, others, [*kept, *sorted(summed), *only_right])
    found = "".join([*kept, *only_left, *only_right])
    if not summed:
        for _ in only_right:
            left = shapes.expand_dims(left, -1)
        for _ in only_left:
            right = shapes.expand_dims(right, len(kept))
        return binary.multiply(left, right), found
    batch, end = len(kept), len(kept) + len(only_left)
    left_sizes = _sizes(left)
    inner = _size_product(left_sizes[end:])
    left = _reshaped(left, [*left_sizes[:batch], _size_product(left_sizes[batch:end]), inner])
    right_sizes = _sizes(right)
    columns = right_sizes[batch + len(summed) :]
    right = _reshaped(right, [*right_sizes[:batch], inner, _size_product(columns)])
    return _reshaped(matmul.matmul(left, right), [*left_sizes[:end], *columns]), found


def _ordered(tensor: Tensor, labels: str, wanted: Sequence[str]) -> Tensor:
    return _transposed(tensor, [labels.index(label) for label in wanted])


def _transposed(tensor: Tensor, perm: list[int]) -> Tensor:
    return tensor if perm == sorted(perm) else shapes.transpose(tensor, perm)


def _sizes(tensor: Tensor) -> list[Any]:
    """The sizes of a tensor: numbers where they are known, scalar tensors elsewhere."""
    sizes = tensor.shape.as_list()
    if None in sizes:
        at_run_time = shapes.shape(tensor)
        sizes = [at_run_time[axis] if size is None else size for axis, size in enumerate(sizes)]
    return sizes


def _size_product(sizes: Iterable[Any]) -> Any:
    total: Any = 1
    for size in sizes:
        total = size if isinstance(total, int) and total == 1 else total * size
    return total


def _reshaped(tensor: Tensor, sizes: list[Any]) -> Tensor:
    same = all(isinstance(size, int) for size in sizes) and tensor.shape.tuple == tuple(sizes)
    return tensor if same else shapes.reshape(tensor, sizes)
