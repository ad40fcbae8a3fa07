"""Sets: the last dimension of a tensor holds the elements of a set, the others number the sets.

An element may stand there more than once; it counts once. Results are sparse, each set in ascending order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tideflow.export import export
from tideflow.graph.composite import SparseTensor, components, convert_to_tensor_or_sparse_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import brackets, merged, of_rank, of_rank_at_least
from tideflow.ops.helpers.samples import i32
from tideflow.ops.helpers.types import types
from tideflow.ops.sparse.index_rows import (
    CREATED,
    check_inside,
    check_order,
    check_parts,
    parts_of,
    sparse_rank,
)
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

ELEMENTS = types("int8 int16 int32 int64 uint8 uint16 string")
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"
_OPTIONS = dict(
    set_operation=attr("string"), validate_indices=True, T=ELEMENTS, on_host=True, differentiable=False
)


def _result_shapes(
    rank: int | None, other: int | None, said: str = "Shape must be rank {} but is rank {}"
) -> list[list[int | None]]:
    """The shapes of a result whose rank is that of either operand where it is known; they must agree.

    `said` is how TensorFlow tells the rank that the second one must have and the one that it has.
    """
    if None not in (rank, other) and rank != other:
        raise ShapeError(said.format(rank, other))
    rank = other if rank is None else rank
    return [[None, rank], [None], [rank]]


class Sets(NamedTuple):
    """Elements with the number of the set each belongs to; `groups` is the shape of the array of sets."""

    groups: tuple[int, ...]
    numbers: np.ndarray
    elements: np.ndarray


def dense_sets(values: Any) -> Sets:
    """The sets that the last dimension of an array holds."""
    values = to_numpy(values)
    if values.ndim < 2:
        raise ShapeError(f"Shape {brackets(values.shape)} has rank {values.ndim} < 2")
    groups, size = values.shape[:-1], values.shape[-1]
    return Sets(groups, np.repeat(np.arange(math.prod(groups)), size), values.reshape(-1))


def sparse_sets(indices: Any, values: Any, shape: Any, validate: bool) -> Sets:
    """The sets that the last dimension of a sparse tensor holds."""
    sizes = shape.tolist()
    check_parts(indices, values, sizes, CREATED)
    if len(sizes) < 2:
        raise ShapeError(f"Shape {brackets(sizes)} has rank {len(sizes)} < 2")
    (check_order if validate else check_inside)(indices, sizes)
    indices, values = to_numpy(indices), to_numpy(values)
    groups = tuple(sizes[:-1])
    numbers = np.ravel_multi_index(tuple(indices[:, :-1].T), groups) if len(indices) else np.zeros(0, int)
    return Sets(groups, numbers, values)


_OPERATIONS = {
    "a-b": lambda a, b: np.setdiff1d(a, b, assume_unique=True),
    "b-a": lambda a, b: np.setdiff1d(b, a, assume_unique=True),
    "intersection": lambda a, b: np.intersect1d(a, b, assume_unique=True),
    "union": np.union1d,
}


def _combined(a: Sets, b: Sets, operation: str) -> tuple[Any, Any, Any]:
    """The sparse tensor of the sets that an operation makes of each pair of sets.

    Every (set, element) is one number, so that one operation on numbers does for all the sets.
    """
    if a.groups != b.groups:
        raise ShapeError(f"Mismatched shapes {brackets(a.groups)} vs {brackets(b.groups)}")
    if operation not in _OPERATIONS:
        raise ShapeError(f"Invalid set_operation {operation}.")
    table, codes = np.unique(np.concatenate([a.elements, b.elements]), return_inverse=True)
    codes = codes.reshape(-1) + np.concatenate([a.numbers, b.numbers]) * len(table)
    pair = np.unique(codes[: len(a.numbers)]), np.unique(codes[len(a.numbers) :])
    numbers, places = np.divmod(_OPERATIONS[operation](*pair), max(len(table), 1))
    counts = np.bincount(numbers, minlength=math.prod(a.groups))
    columns = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.stack([*np.unravel_index(numbers, a.groups), columns], axis=1).astype(np.int64)
    shape = np.array([*a.groups, counts.max(initial=0)], np.int64)
    return to_torch(indices), to_torch(table[places]), to_torch(shape)


def _sets_reference(*operands: Any) -> dict[tuple[int, ...], set]:
    """Python's sets by their place: of an array, or of the parts of a sparse tensor."""
    if len(operands) == 1:
        (values,) = operands
        return {place: set(values[place].tolist()) for place in np.ndindex(values.shape[:-1])}
    indices, values, sizes = operands
    found = {place: set() for place in np.ndindex(*sizes[:-1])}
    for at, value in zip(indices.tolist(), values.tolist()):
        found[tuple(at[:-1])].add(value)
    return found


def _combined_reference(first: dict, second: dict, operation: str, dtype: np.dtype) -> tuple:
    combine = {"a-b": set.difference, "intersection": set.intersection, "union": set.union}
    if operation == "b-a":
        first, second, operation = second, first, "a-b"
    rows = {place: sorted(combine[operation](elements, second[place])) for place, elements in first.items()}
    found = {(*place, i): value for place, row in rows.items() for i, value in enumerate(row)}
    groups = np.max([*first], axis=0) + 1 if first else [0]
    sizes = np.array([*groups, max(map(len, rows.values()), default=0)])
    return *parts_of(found, len(sizes), dtype), sizes


dense_to_dense_set_operation_op = Op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULT}", **_OPTIONS)


@dense_to_dense_set_operation_op.shape
def _dense_to_dense_set_operation_shape(set1, set2):
    of_rank_at_least(set1, 2)
    outputs = _result_shapes(set1.ndims, set2.ndims)
    of_rank_at_least(set2, 2)
    if set1.ndims is not None and set2.ndims is not None:
        merged(set1[:-1], set2[:-1])
    return outputs


@dense_to_dense_set_operation_op.kernel
@dense_to_dense_set_operation_op.kernel("string")
def _dense_to_dense_set_operation_kernel(set1, set2, *, set_operation):
    return _combined(dense_sets(set1), dense_sets(set2), set_operation)


_WORDS = np.array([[b"a", b"b"], [b"c", b"c"]], dtype=object)
dense_to_dense_set_operation_op.samples(
    (i32(2, 3, low=0, high=4), i32(2, 5, low=0, high=4), {"set_operation": "intersection"}),
    (i32(2, 1, 4, low=0, high=4), i32(2, 1, 0), {"set_operation": "a-b"}),
    (i32(0, 3), i32(0, 2), {"set_operation": "b-a"}),
    (_WORDS, _WORDS[::-1], {"set_operation": "union"}),
    against=lambda a, b, set_operation: _combined_reference(
        _sets_reference(a), _sets_reference(b), set_operation, a.dtype
    ),
)
dense_to_dense_set_operation_op.refuses(
    (i32(2, 3), i32(1, 3), {"set_operation": "union"}),
    "Dimension 0 in both shapes must be equal, but are 2 and 1",
)
dense_to_dense_set_operation_op.refuses(
    (i32(3), i32(3), {"set_operation": "union"}), "Shape must be at least rank 2"
)
dense_to_dense_set_operation_op.refuses(
    (i32(2, 3), i32(2, 3), {"set_operation": "sum"}), "Invalid set_operation sum", InvalidArgumentError
)


def _sparse_rank(indices: Any, values: Any, shape: Any) -> int | None:
    """The rank that the parts of a sparse tensor have together."""
    indices, values, shape = of_rank(indices, 2), of_rank(values, 1), of_rank(shape, 1)
    return sparse_rank(indices, values, shape.tuple[0])


_SPARSE = np.array([[0, 0], [0, 2], [1, 0]]), np.array([3, 1, 3], np.int32), np.array([2, 3])

dense_to_sparse_set_operation_op = Op(
    "DenseToSparseSetOperation",
    f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    **_OPTIONS,
)


@dense_to_sparse_set_operation_op.shape
def _dense_to_sparse_set_operation_shape(set1, set2_indices, set2_values, set2_shape):
    of_rank_at_least(set1, 2)
    rank = _sparse_rank(set2_indices, set2_values, set2_shape)
    return _result_shapes(set1.ndims, rank, "Dimension must be {} but is {}")


@dense_to_sparse_set_operation_op.kernel
@dense_to_sparse_set_operation_op.kernel("string")
def _dense_to_sparse_set_operation_kernel(
    set1, set2_indices, set2_values, set2_shape, *, set_operation, validate_indices
):
    second = sparse_sets(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(dense_sets(set1), second, set_operation)


dense_to_sparse_set_operation_op.samples(
    (i32(2, 4, low=0, high=4), *_SPARSE, {"set_operation": "union"}),
    (i32(2, 4, low=0, high=4), *_SPARSE, {"set_operation": "b-a", "validate_indices": False}),
    against=lambda a, *b, set_operation: _combined_reference(
        _sets_reference(a), _sets_reference(*b), set_operation, a.dtype
    ),
)

sparse_to_sparse_set_operation_op = Op(
    "SparseToSparseSetOperation",
    "set1_indices: int64, set1_values: T, set1_shape: int64, "
    f"set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    **_OPTIONS,
)


@sparse_to_sparse_set_operation_op.shape
def _sparse_to_sparse_set_operation_shape(
    set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape
):
    return _result_shapes(
        _sparse_rank(set1_indices, set1_values, set1_shape),
        _sparse_rank(set2_indices, set2_values, set2_shape),
    )


@sparse_to_sparse_set_operation_op.kernel
@sparse_to_sparse_set_operation_op.kernel("string")
def _sparse_to_sparse_set_operation_kernel(
    set1_indices,
    set1_values,
    set1_shape,
    set2_indices,
    set2_values,
    set2_shape,
    *,
    set_operation,
    validate_indices,
):
    first = sparse_sets(set1_indices, set1_values, set1_shape, validate_indices)
    second = sparse_sets(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(first, second, set_operation)


sparse_to_sparse_set_operation_op.samples(
    (*_SPARSE, *_SPARSE, {"set_operation": "intersection"}),
    (*_SPARSE, *_SPARSE, {"set_operation": "a-b"}),
    against=lambda *parts, set_operation: _combined_reference(
        _sets_reference(*parts[:3]), _sets_reference(*parts[3:]), set_operation, parts[1].dtype
    ),
)


set_size_op = Op(
    "SetSize",
    "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
    validate_indices=True,
    T=ELEMENTS,
    on_host=True,
    differentiable=False,
)


@set_size_op.shape
def _set_size_shape(set_indices, set_values, set_shape):
    of_rank(set_indices, 2)
    return None


@set_size_op.kernel
@set_size_op.kernel("string")
def _set_size_kernel(set_indices, set_values, set_shape, *, validate_indices):
    sets = sparse_sets(set_indices, set_values, set_shape, validate_indices)
    table, codes = np.unique(sets.elements, return_inverse=True)
    numbers = np.unique(codes.reshape(-1) + sets.numbers * len(table)) // max(len(table), 1)
    counts = np.bincount(numbers, minlength=math.prod(sets.groups))
    return to_torch(counts.astype(np.int32).reshape(sets.groups))


def _set_size_reference(*parts):
    sizes = [len(elements) for elements in _sets_reference(*parts).values()]
    return np.array(sizes, np.int32).reshape(parts[2][:-1])


set_size_op.samples(
    _SPARSE,
    (np.array([[0, 0], [0, 1]]), np.array([7, 7], np.int64), np.array([3, 2])),
    (np.zeros((0, 2), np.int64), np.zeros(0, np.int32), np.array([0, 2])),
    against=_set_size_reference,
)
set_size_op.refuses(
    (np.array([[0, 5]]), np.array([3], np.int32), np.array([2, 3])),
    "indices[0] = [0,5] is out of bounds: need 0 <= index < [2,3]",
    InvalidArgumentError,
)
set_size_op.refuses(
    (np.array([[1, 0], [0, 0]]), np.array([3, 4], np.int32), np.array([2, 3])),
    "indices[1] = [0,0] is out of order",
    InvalidArgumentError,
)


@export("sets.size", "sets.set_size")
def set_size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """Counts the different elements of each set.

    Args:
      a: A SparseTensor of integers or strings whose last axis holds the elements of a set.
      validate_indices: Whether it is checked that its elements are in order.

    Returns:
      An int32 tensor of the shape of `a` without its last axis.

    Raises:
      TypeError: Where `a` is not a SparseTensor of such a type.
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.dtype.base_dtype not in ELEMENTS:
        raise TypeError(f"Invalid dtype {a.dtype}.")
    return set_size_op(*components(a), validate_indices=validate_indices)


def _operand(value: Any, name: str) -> Tensor | SparseTensor:
    value = convert_to_tensor_or_sparse_tensor(value, name=name)
    if value.dtype.base_dtype not in ELEMENTS:
        raise TypeError(f"'{name}' invalid dtype {value.dtype}.")
    return value


def _set_operation(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    a, b = _operand(a, "a"), _operand(b, "b")
    if a.dtype.base_dtype is not b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b = b, a  # there is no op of a sparse and a dense tensor in this order
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    options = dict(set_operation=operation, validate_indices=validate_indices)
    if isinstance(a, SparseTensor):
        return SparseTensor(*sparse_to_sparse_set_operation_op(*components(a), *components(b), **options))
    if isinstance(b, SparseTensor):
        return SparseTensor(*dense_to_sparse_set_operation_op(a, *components(b), **options))
    return SparseTensor(*dense_to_dense_set_operation_op(a, b, **options))


@export("sets.intersection", "sets.set_intersection")
def set_intersection(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """Finds the elements that are in both sets, for each pair of sets.

    Args:
      a: A tensor or SparseTensor of integers or strings whose last axis holds the elements of a set.
      b: One of the same type, and of the same shape but for the last axis.
      validate_indices: Whether it is checked that the elements of SparseTensors are in order.

    Returns:
      A SparseTensor whose last axis holds the elements of each result in rising order, each once.

    Raises:
      TypeError: Where a type is another, or they differ.
      ValueError: Where shapes do not fit.
    """
    return _set_operation(a, b, "intersection", validate_indices)


@export("sets.difference", "sets.set_difference")
def set_difference(
    a: TensorLike | SparseTensor,
    b: TensorLike | SparseTensor,
    aminusb: bool = True,
    validate_indices: bool = True,
) -> SparseTensor:
    """Finds the elements of one set that are not in the other, for each pair of sets.

    Args:
      a: A tensor or SparseTensor of integers or strings whose last axis holds the elements of a set.
      b: One of the same type, and of the same shape but for the last axis.
      aminusb: Whether elements of `a` are wanted that are not in `b`, and not the other way round.
      validate_indices: Whether it is checked that the elements of SparseTensors are in order.

    Returns:
      A SparseTensor whose last axis holds the elements of each result in rising order, each once.

    Raises:
      TypeError: Where a type is another, or they differ.
      ValueError: Where shapes do not fit.
    """
    return _set_operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


@export("sets.union", "sets.set_union")
def set_union(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """Finds the elements that are in either set, for each pair of sets.

    Args:
      a: A tensor or SparseTensor of integers or strings whose last axis holds the elements of a set.
      b: One of the same type, and of the same shape but for the last axis.
      validate_indices: Whether it is checked that the elements of SparseTensors are in order.

    Returns:
      A SparseTensor whose last axis holds the elements of each result in rising order, each once.

    Raises:
      TypeError: Where a type is another, or they differ.
      ValueError: Where shapes do not fit.
    """
    return _set_operation(a, b, "union", validate_indices)
