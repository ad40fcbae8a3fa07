"""Arithmetic of sparse tensors with each other: sums, extremes, and softmax along the last axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.composite import SparseTensor, SparseTensorValue, components
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import broadcast_static_shape
from tideflow.ops.helpers import cpu_functions, unsigned
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import brackets, host_rank, host_shape, of_rank, vector
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import NUMERIC, REAL, types
from tideflow.ops.math import segments
from tideflow.ops.sparse import index_rows, parts, sparse_reductions, with_dense
from tideflow.ops.sparse.index_rows import (
    as_sparse,
    check_parts,
    check_same_sizes,
    elements_of,
    named_words,
    parts_of,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_PAIR = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64"
_A, _B = np.array([[0, 1], [0, 2], [1, 0]]), np.array([[0, 0], [0, 2], [1, 1], [1, 2]])
_SIZES = np.array([2, 3])
_NO_INDICES = np.zeros((0, 2), np.int64)


def _check_pair(a_indices, a_values, a_shape, b_indices, b_values, b_shape) -> None:
    """Two sparse tensors must have one shape; TensorFlow has two ways to say so of their ranks."""
    indices, values = (
        f"{brackets(a.shape)}{{}}{brackets(b.shape)}"
        for a, b in ((a_indices, b_indices), (a_values, b_values))
    )
    if a_indices.ndim != 2 or b_indices.ndim != 2:
        said = "should be matrices but received shapes: "
        raise ShapeError(
            f"Input indices {said}{indices.format(' and ')}",
            f"Inputs a_indices and b_indices {said}{indices.format(', ')}",
        )
    if a_values.ndim != 1 or b_values.ndim != 1:
        said = f"should be vectors but received shapes: {values.format(' and ')}"
        raise ShapeError(f"Input values {said}", f"Inputs a_values and b_values {said}")
    if host_rank(a_shape) != 1 or host_rank(b_shape) != 1:
        raise ShapeError(
            f"Input shapes should be a vector but received shapes {host_shape(a_shape)} and "
            f"{host_shape(b_shape)}"
        )
    rows, counts = (len(a_indices), len(b_indices)), (len(a_values), len(b_values))
    if rows != counts:
        raise ShapeError(
            f"Expected {rows[0]} and {rows[1]} non-empty input values, got {counts[0]} and {counts[1]}"
        )
    check_same_sizes(a_shape, b_shape)


def _pair_groups(a_indices, a_values, a_shape, b_indices, b_values, b_shape) -> index_rows.Groups:
    """The elements of two sparse tensors of one shape, those of the first before those of the second."""
    _check_pair(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    for part in ((a_indices, a_values, a_shape), (b_indices, b_values, b_shape)):
        check_parts(*part)
    return index_rows.grouped(torch.cat([a_indices, b_indices]))


sparse_add_op = Op(
    "SparseAdd",
    f"{_PAIR}, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    T=NUMERIC,
    Treal=REAL,
    host="a_shape, b_shape",
)


@sparse_add_op.shape
def _sparse_add_shape(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    of_rank(a_indices, 2)
    of_rank(b_indices, 2)
    rank = None if vector(a_shape) is None else len(a_shape)
    return [[None, rank], [None], [rank]]


def _reaches(values: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    """Whether each value is at least as far from 0 as the threshold."""
    distance = values.abs() if values.dtype.is_signed else values
    return unsigned.comparable(distance) >= unsigned.comparable(threshold)


@sparse_add_op.kernel
def _sparse_add_kernel(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh, *, device):
    groups = _pair_groups(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    if thresh.ndim:
        raise ShapeError(f"The magnitude threshold must be a scalar: got shape {brackets(thresh.shape)}")
    values = unsigned.bits(torch.cat([a_values, b_values]))
    total = segments.folded(values, groups.members, groups.count, "sum", 0)
    # The threshold is for sums of two elements.
    meet = torch.bincount(groups.members, minlength=groups.count) > 1
    kept = ~meet | _reaches(total.view(a_values.dtype), thresh)
    sizes = torch.tensor(a_shape, dtype=torch.int64, device=device)
    if bool(cpu_functions.of_truths(torch.all, np.all, kept, [0])):
        return groups.rows, total.view(a_values.dtype), sizes
    return groups.rows[kept], total[kept].view(a_values.dtype), sizes


@sparse_add_op.gradient
def _sparse_add_gradient(op, _, grad, __):
    a_indices, b_indices = op.inputs[0], op.inputs[3]
    a_grad, b_grad = sparse_add_grad_op(grad, a_indices, b_indices, op.outputs[0])
    a_grad.set_shape(op.inputs[1].shape)
    b_grad.set_shape(op.inputs[4].shape)
    return [None, a_grad, None, None, b_grad, None, None]


def _sparse_add_reference(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    a, b = elements_of(a_indices, a_values), elements_of(b_indices, b_values)
    total = {**a, **b, **{at: a[at] + b[at] for at in a.keys() & b.keys()}}
    kept = {at: value for at, value in total.items() if not (at in a and at in b) or abs(value) >= thresh}
    return *parts_of(kept, 2, a_values.dtype), a_shape


_ZERO = np.float32(0.0)
sparse_add_op.samples(
    (_A, f32(3), _SIZES, _B, f32(4), _SIZES, _ZERO),
    (_A, f32(3, low=0.1), _SIZES, _B, f32(4, low=0.1), _SIZES, np.float32(9.0)),
    (_A, i32(3), _SIZES, _NO_INDICES, i32(0), _SIZES, np.int32(0)),
    against=_sparse_add_reference,
)
sparse_add_op.refuses(
    (_A, f32(3), _SIZES, _B, f32(4), np.array([2, 4]), _ZERO),
    "got 3 and 4 for dimension 1",
    InvalidArgumentError,
)
sparse_add_op.refuses(
    (_A, f32(3), _SIZES, _B[:, :1], f32(4), _SIZES[:1], _ZERO),
    "do not have the same ranks",
    InvalidArgumentError,
)


@export("sparse.add", "sparse_add")
def sparse_add(
    a: TensorLike | SparseTensor,
    b: TensorLike | SparseTensor,
    threshold: TensorLike | None = None,
    thresh: TensorLike | None = None,
) -> Any:
    """Adds two tensors of which at least one is sparse.

    Args:
      a: A SparseTensor, or a tensor of the same type and shape as the other.
      b: A SparseTensor, or a tensor of the same type and shape as the other.
      threshold: Of two SparseTensors, sums of two elements that are closer to 0 than this are left out; a
        scalar, 0 by default.
      thresh: A deprecated name of `threshold`.

    Returns:
      A SparseTensor where both are sparse, else a tensor.

    Raises:
      TypeError: Where neither is sparse.
      InvalidArgumentError: In a step in which the shapes differ.
    """
    threshold = renamed("threshold", threshold, "thresh", thresh)
    sparse = [isinstance(value, (SparseTensor, SparseTensorValue)) for value in (a, b)]
    if not any(sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not all(sparse):
        a, b = (a, b) if sparse[0] else (b, a)
        return with_dense.sparse_tensor_dense_add_op(a.indices, a.values, a.dense_shape, b)
    a, b = as_sparse(a), as_sparse(b)
    threshold = convert_to_tensor(
        0 if threshold is None else threshold, dtype=a.values.dtype.real_dtype.base_dtype, name="threshold"
    )
    indices, values, sizes = sparse_add_op(*components(a), *components(b), threshold)
    a.shape.assert_is_compatible_with(b.shape)
    known = broadcast_static_shape(a.shape, b.shape)
    return SparseTensor(indices, values, known.as_list() if known.is_fully_defined() else sizes)


sparse_add_grad_op = Op(
    "SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 "
    "-> a_val_grad: T, b_val_grad: T",
    T=NUMERIC,
    differentiable=False,
)


@sparse_add_grad_op.shape
def _sparse_add_grad_shape(backprop_val_grad, a_indices, b_indices, sum_indices):
    return [[of_rank(a_indices, 2).tuple[0]], [of_rank(b_indices, 2).tuple[0]]]


@sparse_add_grad_op.kernel
def _sparse_add_grad_kernel(backprop_val_grad, a_indices, b_indices, sum_indices):
    shapes = [x.shape for x in (a_indices, b_indices, sum_indices)]
    if any(len(shape) != 2 for shape in shapes):
        shown = " and ".join(map(brackets, shapes))
        raise ShapeError(f"Input indices should be matrices but received shapes: {shown}")
    parts.check_gradient(backprop_val_grad, sum_indices, "sum_indices")
    ranks = [shape[1] for shape in shapes]
    if len(set(ranks)) > 1:
        raise ShapeError(f"The densified operands should have the same ndims; for A, B, sum got: {ranks}")
    found = parts.values_at(unsigned.bits(backprop_val_grad), sum_indices, [a_indices, b_indices])
    return [grads.view(backprop_val_grad.dtype) for grads in found]


def _sparse_add_grad_reference(grad, a_indices, b_indices, sum_indices):
    found = elements_of(sum_indices, grad)
    a_grad, b_grad = ([found.get(tuple(at), 0) for at in indices] for indices in (a_indices, b_indices))
    return np.array(a_grad), np.array(b_grad)


sparse_add_grad_op.samples(
    (f32(6), _A, _B, np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])),
    (f32(1), _A, _B, np.array([[0, 2]])),
    (f32(0), _NO_INDICES, _NO_INDICES, _NO_INDICES),
    against=_sparse_add_grad_reference,
)


def _extreme_shapes(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
    for indices, values, sizes in ((a_indices, a_values, a_shape), (b_indices, b_values, b_shape)):
        of_rank(indices, 2)
        of_rank(values, 1)
        vector(sizes)
    return [[None, None], [None]]


def _extreme(is_better: Callable) -> Callable:
    """The kernel that takes the better of each pair of elements, or else the first; missing ones are 0."""

    def _kernel(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        groups = _pair_groups(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
        a, b = (unsigned.bits(a_values).new_zeros(groups.count) for _ in range(2))
        a[groups.members[: len(a_values)]] = unsigned.bits(a_values)
        b[groups.members[len(a_values) :]] = unsigned.bits(b_values)
        comparable = (unsigned.comparable(x.view(a_values.dtype)) for x in (a, b))
        return groups.rows, torch.where(is_better(*comparable), b, a).view(a_values.dtype)

    return _kernel


def _add_extreme_samples(op: Op, choose: Callable) -> None:
    def reference(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        a, b = elements_of(a_indices, a_values), elements_of(b_indices, b_values)
        found = {at: choose(a.get(at, 0), b.get(at, 0)) for at in a.keys() | b.keys()}
        return parts_of(found, 2, a_values.dtype)

    op.samples(
        (_A, f32(3), _SIZES, _B, f32(4), _SIZES),
        (_A, i32(3), _SIZES, _B, i32(4), _SIZES),
        (_A, f32(3), _SIZES, _NO_INDICES, f32(0), _SIZES),
        against=reference,
    )
    op.refuses(
        (_A, f32(3), _SIZES, _B, f32(4), np.array([2, 4])),
        "got 3 and 4 for dimension 1",
        InvalidArgumentError,
    )


def _of_pair(op: Op, a: SparseTensor, b: SparseTensor, name: str | None) -> SparseTensor:
    with name_scope(name, op.name, [a.indices, a.values, b.indices, b.values]) as scope:
        indices, values = op(*components(a), *components(b), name=scope)
    return SparseTensor(indices, values, a.dense_shape)


sparse_sparse_maximum_op = Op(
    "SparseSparseMaximum",
    f"{_PAIR} -> output_indices: int64, output_values: T",
    T=REAL,
    host="a_shape, b_shape",
)
sparse_sparse_maximum_op.shape(_extreme_shapes)
sparse_sparse_maximum_op.kernel(_extreme(lambda a, b: b > a))
sparse_sparse_maximum_op.gradient(undefined_gradient)
_add_extreme_samples(sparse_sparse_maximum_op, max)


@export("sparse.maximum", "sparse_maximum")
def sparse_maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Takes the larger of two sparse tensors, element by element.

    Args:
      sp_a: A SparseTensor of a real type.
      sp_b: A SparseTensor of the same type and shape.
      name: A name for the operation.

    Returns:
      A SparseTensor of that shape with the elements that one of them has; one that the other lacks counts as
      0.

    Raises:
      InvalidArgumentError: In a step in which the shapes differ.
    """
    return _of_pair(sparse_sparse_maximum_op, sp_a, sp_b, name)


sparse_sparse_minimum_op = Op(
    "SparseSparseMinimum",
    f"{_PAIR} -> output_indices: int64, output_values: T",
    T=NUMERIC,
    host="a_shape, b_shape",
)
sparse_sparse_minimum_op.shape(_extreme_shapes)
sparse_sparse_minimum_op.kernel(_extreme(lambda a, b: b < a))
sparse_sparse_minimum_op.gradient(undefined_gradient)
_add_extreme_samples(sparse_sparse_minimum_op, min)


@export("sparse.minimum", "sparse_minimum")
def sparse_minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Takes the smaller of two sparse tensors, element by element.

    Args:
      sp_a: A SparseTensor of a real type.
      sp_b: A SparseTensor of the same type and shape.
      name: A name for the operation.

    Returns:
      A SparseTensor of that shape with the elements that one of them has; one that the other lacks counts as
      0.

    Raises:
      InvalidArgumentError: In a step in which the shapes differ.
    """
    return _of_pair(sparse_sparse_minimum_op, sp_a, sp_b, name)


sparse_softmax_op = Op(
    "SparseSoftmax",
    "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    T=types("half float double"),
    host="sp_shape",
)


@sparse_softmax_op.shape
def _sparse_softmax_shape(sp_indices, sp_values, sp_shape):
    of_rank(sp_indices, 2)
    vector(sp_shape)
    return of_rank(sp_values, 1)


@sparse_softmax_op.kernel
def _sparse_softmax_kernel(sp_indices, sp_values, sp_shape):
    check_parts(sp_indices, sp_values, sp_shape, named_words("sp"))
    if len(sp_shape) < 2:
        raise ShapeError(f"Input should have rank >= 2, but received shape: {brackets(sp_shape)}")
    groups = index_rows.grouped(sp_indices[:, :-1])
    largest = segments.folded(sp_values, groups.members, groups.count, "amax", -torch.inf)
    powers = torch.exp(sp_values - largest[groups.members])
    return powers / segments.folded(powers, groups.members, groups.count, "sum", 0)[groups.members]


@sparse_softmax_op.gradient
def _sparse_softmax_gradient(op, grad):
    indices, _, sizes = op.inputs
    probabilities = op.outputs[0]
    product = SparseTensor(indices, probabilities * grad, sizes)
    total = -sparse_reductions.sparse_reduce_sum(product, [-1], keepdims=True)
    centred = with_dense.sparse_dense_cwise_add(SparseTensor(indices, grad, sizes), total)
    return [None, centred.values * probabilities, None]


def _sparse_softmax_reference(sp_indices, sp_values, sp_shape):
    dense = np.full(sp_shape, -np.inf)
    dense[tuple(sp_indices.T)] = sp_values
    powers = np.exp(dense)
    return (powers / powers.sum(-1, keepdims=True))[tuple(sp_indices.T)]


sparse_softmax_op.samples(
    (_B, f32(4), _SIZES),
    (np.array([[0, 0, 1], [0, 0, 2], [1, 1, 0]]), f32(3), np.array([2, 2, 3])),
    (_NO_INDICES, f32(0), _SIZES),
    against=_sparse_softmax_reference,
)
sparse_softmax_op.refuses((_A[:, :1], f32(3), _SIZES[:1]), "should have rank >= 2", InvalidArgumentError)


@export("sparse.softmax", "sparse_softmax")
def sparse_softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Computes the softmax along the last axis, of the elements that are there.

    Args:
      sp_input: A SparseTensor of half, float32 or float64, of at least two dimensions.
      name: A name for the operation.

    Returns:
      A SparseTensor with the same indices.
    """
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = sparse_softmax_op(*components(sp_input))
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)
