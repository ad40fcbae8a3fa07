"""Sparse tensors together with dense ones: one made of the other, sums, products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, slicing, stitching
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import as_sizes, brackets, of_rank, vector
from tideflow.ops.helpers.samples import boolean, c64, f32, i32
from tideflow.ops.helpers.types import INDICES, NUMERIC
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.sparse import construction, index_rows
from tideflow.ops.sparse.index_rows import (
    PartWords,
    as_sparse,
    check_columns,
    check_fit,
    check_sizes,
    named_words,
    of_parts,
    outside,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

torch.sparse.check_sparse_tensor_invariants.disable()  # some versions of torch warn unless this is set
TINDICES = attr("type", allowed=INDICES)
_INDICES = np.array([[0, 1], [0, 2], [1, 0]])
_SIZES = np.array([2, 3])
_NO_INDICES = np.zeros((0, 2), np.int64)

# ------------------------------------------------------------------------------------------- sparse to dense

sparse_to_dense_op = Op(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T",
    Tindices=TINDICES,
    validate_indices=True,
    host="output_shape",
)


@sparse_to_dense_op.shape
def _sparse_to_dense_shape(sparse_indices, output_shape, sparse_values, default_value):
    return as_sizes(output_shape, "output_shape should be a vector, got shape ")


def _as_rows(indices: torch.Tensor, rank: int) -> torch.Tensor:
    """The indices as a matrix: a vector, or a single one, are indices of a vector."""
    if indices.ndim > 2:
        raise ShapeError(
            f"sparse_indices should be a scalar, vector, or matrix, got shape {brackets(indices.shape)}"
        )
    rows = indices.long() if indices.ndim == 2 else indices.long().reshape(-1, 1)
    if rows.shape[1] != rank:
        raise ShapeError(f"output_shape has incorrect number of elements: {rank} should be: {rows.shape[1]}")
    return rows


def _scattered(at: torch.Tensor, sizes: list[int], values: Any, default: Any) -> Any:
    count = math.prod(sizes)
    if isinstance(values, np.ndarray):
        dense = np.full(count, default.item(), dtype=object)
        dense[at.numpy()] = values if values.ndim else values.item()
        return dense.reshape(sizes)
    dense = unsigned.bits(default).expand(count).clone()
    dense[at] = unsigned.bits(values)
    return dense.view(values.dtype).reshape(sizes)


@sparse_to_dense_op.kernel
def _sparse_to_dense_kernel(sparse_indices, output_shape, sparse_values, default_value, *, validate_indices):
    if default_value.ndim:
        raise ShapeError(f"default_value should be a scalar. Its shape is {brackets(default_value.shape)}")
    for size in vector(output_shape, "output_shape should be a vector, got shape "):
        if size < 0:
            raise ShapeError(f"Dimension {size} must be >= 0")
    rows = _as_rows(sparse_indices, len(output_shape))
    if sparse_values.ndim and tuple(sparse_values.shape) != (len(rows),):
        raise ShapeError(
            f"sparse_values has incorrect shape {brackets(sparse_values.shape)}, should be [] or "
            f"[{len(rows)}]"
        )
    if validate_indices:
        index_rows.check_order(rows, output_shape)
    elif bool(outside(rows, output_shape).any()):
        raise ShapeError(f"Indices are not valid (out of bounds).  Shape: {brackets(output_shape)}")
    return _scattered(index_rows.places(rows, output_shape), output_shape, sparse_values, default_value)


@sparse_to_dense_op.gradient
def _sparse_to_dense_gradient(op, grad):
    indices, sizes, values, _ = op.inputs
    rows = shapes.reshape(indices, [-1, 1]) if indices.shape.ndims in (0, 1) else indices
    taken = indexing.gather_nd(grad, rows)
    total, of_values = reductions.reduce_sum(grad), reductions.reduce_sum(taken)
    return [
        creation.zeros_like(indices),
        creation.zeros_like(sizes),
        of_values if values.shape.ndims == 0 else taken,
        total - of_values,
    ]


def _sparse_to_dense_reference(sparse_indices, output_shape, sparse_values, default_value):
    dense = np.full(output_shape, default_value, sparse_values.dtype)
    rows = sparse_indices.reshape(-1, len(output_shape))
    for at, value in zip(rows, np.broadcast_to(sparse_values, len(rows))):
        dense[tuple(at)] = value
    return dense


sparse_to_dense_op.samples(
    (_INDICES, _SIZES, f32(3), f32()),
    (np.array([1, 3], np.int32), np.array([5], np.int32), f32(2), f32()),
    (_INDICES, _SIZES, boolean(), boolean(), {"validate_indices": False}),
    (np.array(2), np.array([4]), i32(), i32()),
    (_INDICES, _SIZES, np.array([b"a", b"b", b"c"], dtype=object), np.array(b"z", dtype=object)),
    (_NO_INDICES, np.array([0, 3]), f32(0), f32()),
    against=_sparse_to_dense_reference,
)
sparse_to_dense_op.refuses(
    (_INDICES[::-1], _SIZES, f32(3), f32()), "indices[1] = [0,2] is out of order", InvalidArgumentError
)
sparse_to_dense_op.refuses(
    (_INDICES[[0, 0]], _SIZES, f32(2), f32()), "indices[1] = [0,1] is repeated", InvalidArgumentError
)
sparse_to_dense_op.refuses(
    (_INDICES, np.array([2, 2]), f32(3), f32()),
    "indices[1] = [0,2] is out of bounds: need 0 <= index < [2,2]",
    InvalidArgumentError,
)


@export("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Makes a dense tensor with some values at some indices.

    Args:
      sparse_indices: An int32 or int64 matrix with an index in each row; a vector, or a scalar, for a result
        of one dimension.
      output_shape: The shape of the result, a vector of the same type.
      sparse_values: The values, a vector of any type, or a scalar for all.
      default_value: The value everywhere else, a scalar.
      validate_indices: Whether it is checked that indices are in order, each once.
      name: A name for the operation.

    Returns:
      A tensor of the type of `sparse_values` and the shape `output_shape`.

    Raises:
      InvalidArgumentError: In a step in which indices and values do not fit together, or an index is out of
        bounds or out of order.
    """
    return sparse_to_dense_op(
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


@export("sparse.to_dense", "sparse_tensor_to_dense")
def sparse_tensor_to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Makes a dense tensor of a sparse one.

    Args:
      sp_input: A SparseTensor.
      default_value: The value where it has no element, a scalar; 0 or "" by default.
      validate_indices: Whether it is checked that its elements are in order, each once.
      name: A name for the operation.

    Returns:
      A tensor of its type and shape.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
      InvalidArgumentError: In a step in which an index is out of bounds or out of order.
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = creation.zeros([], sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name
    )


@export("sparse.to_indicator", "sparse_to_indicator")
def sparse_to_indicator(sp_input: SparseTensor, vocab_size: TensorLike, name: str | None = None) -> Tensor:
    """Makes a dense tensor that is true at the ids which stand along the last axis of a sparse one.

    Args:
      sp_input: A SparseTensor of int32 or int64 ids.
      vocab_size: The number that all ids are below, the size of the new last axis.
      name: A name for the operation.

    Returns:
      A bool tensor of its shape with `vocab_size` in place of the last size.

    Raises:
      TypeError: Where `sp_input` is not a SparseTensor.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input.values]) as scope:
        count = shapes.shape(sp_input.indices)[0]
        truths = creation.fill(shapes.expand_dims(count, 0), True)
        flags = SparseTensor(sp_input.indices, truths, sp_input.dense_shape)
        merged = construction.sparse_merge(sp_input, flags, vocab_size, scope)
        return sparse_tensor_to_dense(merged, False, validate_indices=False, name=scope)


@export("sparse.from_dense")
def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Makes a sparse tensor of the elements of a dense one that are not 0, or "".

    Args:
      tensor: A tensor of a numeric type, bool or string.
      name: A name for the operation.

    Returns:
      A SparseTensor of its shape.
    """
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = constants.constant(b"" if tensor.dtype is dtypes.string else 0, tensor.dtype)
        indices = indexing.where_v2(binary.not_equal(tensor, zero))
        values = indexing.gather_nd(tensor, indices)
        return SparseTensor(indices, values, shapes.shape(tensor, out_type=dtypes.int64))


# ----------------------------------------------------------------------------------------- sparse plus dense

sparse_tensor_dense_add_op = Op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    T=NUMERIC,
    Tindices=TINDICES,
    host="a_shape",
)


@sparse_tensor_dense_add_op.shape
def _sparse_tensor_dense_add_shape(a_indices, a_values, a_shape, b):
    of_rank(a_indices, 2)
    of_rank(a_values, 1)
    return b


@sparse_tensor_dense_add_op.kernel
def _sparse_tensor_dense_add_kernel(a_indices, a_values, a_shape, b):
    check_fit(a_indices, a_values, a_shape, named_words("a"))
    if len(a_shape) != b.dim():
        raise ShapeError(f"Two operands have different ranks; received: {len(a_shape)} and {b.dim()}")
    for axis, (size, dense_size) in enumerate(zip(a_shape, b.shape, strict=True)):
        if size != dense_size:
            raise ShapeError(
                f"Dimension {axis} does not equal (no broadcasting is supported): sparse side {size} vs "
                f"dense side {dense_size}"
            )
        check_columns(a_indices, a_shape)
        wrong = (a_indices[:, axis] < 0) | (a_indices[:, axis] >= size)
        if bool(wrong.any()):
            raise ShapeError(
                f"Sparse tensor has some invalid index on dimension {axis}; dense tensor shape: "
                f"{brackets(b.shape)}. {index_rows.first(a_indices, wrong)}"
            )
    check_sizes(a_shape)
    flat, at = unsigned.bits(b).reshape(-1), index_rows.places(a_indices.long(), a_shape)
    return flat.index_add(0, at, unsigned.bits(a_values)).view(b.dtype).reshape(b.shape)


@sparse_tensor_dense_add_op.gradient
def _sparse_tensor_dense_add_gradient(op, grad):
    return [None, indexing.gather_nd(grad, op.inputs[0]), None, grad]


def _sparse_tensor_dense_add_reference(a_indices, a_values, a_shape, b):
    total = b.copy()
    np.add.at(total, tuple(a_indices.T), a_values)
    return total


sparse_tensor_dense_add_op.samples(
    (np.array([[0, 1], [2, 0], [0, 1]], np.int64), f32(3), np.array([3, 2], np.int64), f32(3, 2)),
    (np.zeros((0, 1), np.int32), f32(0), np.array([2], np.int32), f32(2)),
    against=_sparse_tensor_dense_add_reference,
)
sparse_tensor_dense_add_op.refuses(
    (np.array([[0, 5]], np.int64), f32(1), np.array([3, 2], np.int64), f32(3, 2)),
    "Sparse tensor has some invalid index on dimension 1; dense tensor shape: [3,2]. indices[0] = [0,5]",
    InvalidArgumentError,
)

# ------------------------------------------------------------------------------- sparse and dense, by element

_CWISE = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T"


def _cwise_shape(sp_indices, sp_values, sp_shape, dense):
    return [of_parts(sp_indices, sp_values)[0]]


def _cwise(op_type: str) -> Callable:
    """The kernel that combines each element with the one that the dense tensor, broadcast, has there."""

    def _kernel(sp_indices, sp_values, sp_shape, dense):
        check_fit(sp_indices, sp_values, sp_shape, named_words("sp"))
        padded = [1] * (len(sp_shape) - dense.dim()) + list(dense.shape)
        if len(padded) != len(sp_shape) or any(
            size not in (1, whole) for size, whole in zip(padded, sp_shape, strict=True)
        ):
            raise ShapeError(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                f"{brackets(sp_shape)} vs. {brackets(dense.shape)}"
            )
        check_columns(sp_indices, sp_shape)
        check_sizes(sp_shape)
        if bool(outside(sp_indices, sp_shape).any()):
            raise ShapeError("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape")
        there = dense.expand(sp_shape)[tuple(sp_indices.unbind(1))]
        return definition(op_type).kernels[""](sp_values, there)

    return _kernel


class _DenseSide:
    """What the dense operand of an element-wise op has beside each sparse element, and the way back to it."""

    def __init__(self, op: Operation):
        indices, _, sizes, self._dense = op.inputs
        self._sizes = casting.cast(shapes.shape(self._dense), dtypes.int64)
        added = shapes.expand_dims(shapes.size(sizes) - shapes.size(self._sizes), 0)
        padded = joining.concat([creation.ones(added, dtypes.int64), self._sizes], 0)
        scaled = indices // (sizes // padded)  # 0 along the axes that are broadcast
        self._at = slicing.slice(scaled, joining.concat([[0], added], 0), [-1, -1])

    def values(self) -> Tensor:
        if self._dense.shape.ndims == 0:
            return self._dense
        return indexing.gather_nd(self._dense, self._at)

    def gathered(self, grads: Tensor) -> Tensor:
        """The elements' gradients, added up where they belong in the dense operand."""
        zeros = creation.zeros_like(self._dense)
        return tf.sparse_add(zeros, SparseTensor(self._at, grads, self._sizes))


def _add_cwise_samples(op: Op, combine: Callable) -> None:
    def reference(sp_indices, sp_values, sp_shape, dense):
        there = np.broadcast_to(dense, sp_shape)[tuple(sp_indices.T)]
        return combine(sp_values, there).astype(sp_values.dtype)

    op.samples(
        (_INDICES, f32(3), _SIZES, f32(2, 3, low=0.5, high=2)),
        (_INDICES, f32(3), _SIZES, f32(3, low=0.5, high=2)),
        (_INDICES, f32(3), _SIZES, f32(2, 1, low=0.5, high=2)),
        (_INDICES, f32(3), _SIZES, f32(low=0.5, high=2)),
        (_INDICES, i32(3, low=5, high=9), _SIZES, i32(3, low=1, high=4)),
        (_NO_INDICES, f32(0), _SIZES, f32(2, 3)),
        against=reference,
    )
    op.refuses(
        (_INDICES, f32(3), _SIZES, f32(4, 3)), "incompatible shapes: [2,3] vs. [4,3]", InvalidArgumentError
    )
    op.refuses((_INDICES, f32(3), np.array([2, 2]), f32(2, 2)), "out-of-bounds", InvalidArgumentError)


sparse_dense_cwise_add_op = Op("SparseDenseCwiseAdd", _CWISE, T=NUMERIC, host="sp_shape")
sparse_dense_cwise_add_op.shape(_cwise_shape)
sparse_dense_cwise_add_op.kernel(_cwise("AddV2"))


@sparse_dense_cwise_add_op.gradient
def _sparse_dense_cwise_add_gradient(op, grad):
    return [None, grad, None, _DenseSide(op).gathered(grad)]


_add_cwise_samples(sparse_dense_cwise_add_op, np.add)


def sparse_dense_cwise_add(sparse: SparseTensor, dense: Any) -> SparseTensor:
    """A sparse tensor plus what a dense one has at its elements."""
    values = sparse_dense_cwise_add_op(sparse.indices, sparse.values, sparse.dense_shape, dense)
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


def _combined(
    op: Op, sparse: SparseTensor, dense: Tensor, scope: str, prepare: Callable | None = None
) -> SparseTensor:
    values = sparse.values
    if prepare is not None:
        with name_scope(scope):
            values, dense = prepare(values, dense)
    result = op(sparse.indices, values, sparse.dense_shape, dense, name=scope)
    return SparseTensor(sparse.indices, result, sparse.dense_shape)


sparse_dense_cwise_mul_op = Op("SparseDenseCwiseMul", _CWISE, T=NUMERIC, host="sp_shape")
sparse_dense_cwise_mul_op.shape(_cwise_shape)
sparse_dense_cwise_mul_op.kernel(_cwise("Mul"))


@sparse_dense_cwise_mul_op.gradient
def _sparse_dense_cwise_mul_gradient(op, grad):
    dense = _DenseSide(op)
    grad_values, per_element = grad * dense.values(), grad * op.inputs[1]
    return [None, grad_values, None, dense.gathered(per_element)]


_add_cwise_samples(sparse_dense_cwise_mul_op, np.multiply)


def scaled(sparse: SparseTensor, dense: Tensor, scope: str) -> SparseTensor:
    """A dense tensor times a sparse one."""
    return _combined(sparse_dense_cwise_mul_op, sparse, dense, scope)


sparse_dense_cwise_div_op = Op("SparseDenseCwiseDiv", _CWISE, T=NUMERIC, host="sp_shape")
sparse_dense_cwise_div_op.shape(_cwise_shape)
sparse_dense_cwise_div_op.kernel(_cwise("Div"))


@sparse_dense_cwise_div_op.gradient
def _sparse_dense_cwise_div_gradient(op, grad):
    dense = _DenseSide(op)
    divisors = dense.values()
    grad_values, per_element = grad / divisors, grad * (-op.inputs[1] / unary.square(divisors))
    return [None, grad_values, None, dense.gathered(per_element)]


_add_cwise_samples(sparse_dense_cwise_div_op, np.divide)


def _operator(word: str, op: Op, prepare: Callable | None = None) -> None:
    """Gives sparse tensors an operator whose other operand is dense; the result has the same indices."""

    def apply(sparse: SparseTensor, dense: Any) -> SparseTensor:
        with name_scope(None, word, [sparse.values]) as scope:
            dense = convert_to_tensor(dense, dtype=sparse.dtype.base_dtype, name="y")
            return _combined(op, sparse, dense, scope, prepare)

    SparseTensor._override_operator(f"__{word}__", apply)


_operator("div", sparse_dense_cwise_div_op)
_operator("truediv", sparse_dense_cwise_div_op, lambda values, dense: binary.as_quotient(values, dense))
_operator("mul", sparse_dense_cwise_mul_op)

# ------------------------------------------------------------------------------------------------- products

sparse_tensor_dense_matmul_op = Op(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    Tindices=attr("type", dtypes.int64, allowed=INDICES),
    adjoint_a=False,
    adjoint_b=False,
    host="a_shape",
)


@sparse_tensor_dense_matmul_op.shape
def _sparse_tensor_dense_matmul_shape(a_indices, a_values, a_shape, b, *, adjoint_a, adjoint_b):
    of_rank(a_indices, 2)
    of_rank(a_values, 1)
    a = of_rank(TensorShape(as_sizes(a_shape, "Tensor 'a_shape' is not a vector: ")), 2).tuple
    b = of_rank(b, 2).tuple
    rows, inner = reversed(a) if adjoint_a else a
    inner_of_b, columns = reversed(b) if adjoint_b else b
    if None not in (inner, inner_of_b) and inner != inner_of_b:
        raise ShapeError(f"Dimensions must be equal, but are {inner} and {inner_of_b}")
    return [rows, columns]


def _check_limits(numbers: torch.Tensor, limit: int, word: str, column: int) -> None:
    wrong = ((numbers < 0) | (numbers >= limit)).nonzero()
    if len(wrong):
        at = int(wrong[0])
        raise ShapeError(f"{word} ({int(numbers[at])}) from index[{at},{column}] out of bounds (>={limit})")


def _product(
    rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, sizes: list[int], b: torch.Tensor
) -> torch.Tensor:
    if values.is_floating_point() or values.is_complex():
        matrix = torch.sparse_coo_tensor(
            torch.stack([rows, columns]), values.resolve_conj(), sizes, check_invariants=False
        )
        return torch.sparse.mm(matrix, b.resolve_conj())
    numbers = unsigned.bits(b)
    product = numbers.new_zeros(sizes[0], b.shape[1])
    return product.index_add(0, rows, unsigned.bits(values).unsqueeze(1) * numbers[columns]).view(b.dtype)


_FACTOR = PartWords(
    indices="Tensor 'a_indices' is not a matrix: {indices}",
    values="Tensor 'a_values' is not a vector: {values}",
    sizes="Tensor 'a_shape' is not a vector: {sizes}",
    rows="Number of rows of a_indices does not match number of entries in a_values: {rows} and {count}",
)
_FACTOR_COLUMNS = "Number of columns of a_indices does not match number of entries in a_shape"


@sparse_tensor_dense_matmul_op.kernel
def _sparse_tensor_dense_matmul_kernel(a_indices, a_values, a_shape, b, *, adjoint_a, adjoint_b):
    if b.ndim != 2:
        raise ShapeError(f"Tensor 'b' is not a matrix: {brackets(b.shape)}")
    check_fit(a_indices, a_values, a_shape, _FACTOR)
    if len(a_shape) != 2:
        raise ShapeError(f"Tensor 'a_shape' must have 2 elements, but has {len(a_shape)}")
    check_columns(a_indices, a_shape, _FACTOR_COLUMNS)
    b = b.mH if adjoint_b else b
    rows, columns = a_indices.long().unbind(1)
    sizes = a_shape
    if adjoint_a:
        rows, columns, a_values, sizes = columns, rows, a_values.conj(), a_shape[::-1]
    if sizes[1] != b.shape[0]:
        raise ShapeError(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{sizes[1]} vs. {b.shape[0]}.  Did you forget a transpose?  Dimensions of A: "
            f"{brackets(a_shape)}.  Dimensions of B: {brackets(b.shape)}"
        )
    check_sizes(a_shape)
    _check_limits(rows, sizes[0], "m", int(adjoint_a))
    _check_limits(columns, sizes[1], "k", int(not adjoint_a))
    return _product(rows, columns, a_values, sizes, b)


@sparse_tensor_dense_matmul_op.gradient
def _sparse_tensor_dense_matmul_gradient(op, grad):
    indices, values, sizes, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    if values.dtype.is_complex:
        raise LookupError("SparseTensorDenseMatMul op does not support complex gradients.")
    grad_b = sparse_tensor_dense_matmul_op(indices, values, sizes, grad, adjoint_a=not adjoint_a)
    if adjoint_b:
        grad_b = shapes.transpose(grad_b)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    of_grad = indexing.gather(grad, rows)
    of_b = indexing.gather(shapes.transpose(b) if adjoint_b else b, columns)
    return [None, reductions.reduce_sum(of_grad * of_b, axis=1), None, grad_b]


def _sparse_tensor_dense_matmul_reference(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    a = np.zeros(a_shape, a_values.dtype)
    np.add.at(a, tuple(a_indices.T), a_values)
    return (a.conj().T if adjoint_a else a) @ (b.conj().T if adjoint_b else b)


sparse_tensor_dense_matmul_op.samples(
    (_INDICES, f32(3), _SIZES, f32(3, 4)),
    (_INDICES.astype(np.int32), f32(3), _SIZES, f32(2, 4), {"adjoint_a": True}),
    (_INDICES, f32(3), _SIZES, f32(4, 3), {"adjoint_b": True}),
    (_INDICES[[2, 0, 0]], f32(3), _SIZES, f32(4, 2), {"adjoint_a": True, "adjoint_b": True}),
    (_INDICES, c64(3), _SIZES, c64(2, 1), {"adjoint_a": True}),
    (_INDICES, i32(3), _SIZES, i32(3, 1)),
    (_NO_INDICES, f32(0), _SIZES, f32(3, 0)),
    against=_sparse_tensor_dense_matmul_reference,
)
sparse_tensor_dense_matmul_op.refuses(
    (_INDICES, f32(3), _SIZES, f32(4, 4)), "Dimensions must be equal, but are 3 and 4"
)
sparse_tensor_dense_matmul_op.refuses(
    (np.array([[0, 5]]), f32(1), _SIZES, f32(3, 4)),
    "k (5) from index[0,1] out of bounds (>=3)",
    InvalidArgumentError,
)


@export("sparse.sparse_dense_matmul", "sparse.matmul", "sparse_tensor_dense_matmul")
def sparse_tensor_dense_matmul(
    sp_a: SparseTensor,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies a sparse matrix by a dense one.

    Args:
      sp_a: A SparseTensor of rank 2.
      b: A matrix of the same type.
      adjoint_a: Whether `sp_a` is transposed, and conjugated, before.
      adjoint_b: Whether `b` is transposed, and conjugated, before.
      name: A name for the operation.

    Returns:
      A matrix of that type.

    Raises:
      TypeError: Where `sp_a` is not a SparseTensor.
      ValueError: Where the inner sizes are known to differ.
      InvalidArgumentError: In a step in which they differ, or an index is out of bounds.
    """
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = convert_to_tensor(b, name="b")
        return sparse_tensor_dense_matmul_op(
            sp_a.indices, sp_a.values, sp_a.dense_shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b
        )


# ---------------------------------------------------------------------------------------------- sparse rows


@export("sparse.mask", "sparse_mask")
def sparse_mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Leaves out some of the slices of an IndexedSlices.

    Args:
      a: An IndexedSlices.
      mask_indices: A vector of the type of its indices: those that are left out.
      name: A name for the operation.

    Returns:
      An IndexedSlices with the others.
    """
    with name_scope(name, "sparse_mask", [a.values, mask_indices]) as scope:
        kept, places = stitching.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(indexing.gather(a.values, places, name=scope), kept, a.dense_shape)
