"""Matrix products: MatMul, its batched and sparse-hinted kin, and what is built from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import get_eager_graph, name_scope
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import broadcasting, shapes
from tideflow.ops.helpers import cpu_products, unsigned
from tideflow.ops.helpers.axes import merged, of_rank, of_rank_at_least
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.flops import full_shape, size
from tideflow.ops.helpers.samples import c64, f32, i32
from tideflow.ops.helpers.types import types
from tideflow.ops.math import casting, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.linalg.operator import LinearOperator


class _Words(NamedTuple):
    """What TensorFlow's kernels say of a factor of another rank, and of sizes that do not fit."""

    rank: str
    sizes: str

    def of_rank(self, place: int, sizes: Sequence[int | None]) -> str:
        return self.rank.format(place=place, name="ab"[place], shape=brackets(sizes), rank=len(sizes))


_OF_MATMUL = _Words(
    "In[{place}] is not a matrix. Instead it has shape {shape}",
    "Matrix size-incompatible: In[0]: {left}, In[1]: {right}",
)
_OF_SPARSE_MATMUL = _Words("{name} is not a matrix", "Matrix size incompatible: a: {left}, b: {right}")
_OF_BATCHES = _Words(
    "In[{place}] ndims must be >= 2: {rank}",
    "In[0] mismatch In[1] shape: {inner} vs. {other}: {left} {right} {turn_left:d} {turn_right:d}",
)


def _product_sizes(
    left: tuple, right: tuple, turn_left: bool, turn_right: bool, words: _Words, *names: str
) -> list[int | None]:
    """Rows and columns of a product; the inner sizes must agree."""
    rows, inner = (left[-1], left[-2]) if turn_left else left[-2:]
    other, columns = (right[-1], right[-2]) if turn_right else right[-2:]
    if inner is not None and other is not None and inner != other:
        first, second = (
            f"{name}'s {'rows' if axis == -2 else 'columns'} (axis {axis})"
            for name, axis in zip(names, (-2 if turn_left else -1, -1 if turn_right else -2), strict=True)
        )
        raise ShapeError(
            f"Dimensions must be equal, but are {inner} and {other}: {first} against {second}",
            words.sizes.format(
                left=brackets(left),
                right=brackets(right),
                inner=inner,
                other=other,
                turn_left=turn_left,
                turn_right=turn_right,
            ),
        )
    return [rows, columns]


def _matrix_product_shape(words: _Words) -> Callable:
    """The shape rule of MatMul and SparseMatMul."""

    def _shape(a, b, *, transpose_a, transpose_b):
        left, right = (
            of_rank(factor, 2, words.of_rank(place, factor.tuple or ())).tuple
            for place, factor in enumerate((a, b))
        )
        return _product_sizes(left, right, transpose_a, transpose_b, words, "a", "b")

    return _shape


def _multiplied(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.is_cuda and not (a.is_floating_point() or a.is_complex()):  # cuBLAS multiplies no integers
        return (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2, dtype=a.dtype)
    return torch.matmul(a, b)


def _check(
    a: torch.Tensor, b: torch.Tensor, turn_a: bool, turn_b: bool, rank: int | None, words: _Words
) -> None:
    """Refuses, with TensorFlow's messages, what ATen's product would take or refuse with its own."""
    for place, value in enumerate((a, b)):
        if value.dim() < 2 or rank is not None and value.dim() != rank:
            raise ShapeError(words.of_rank(place, value.shape))
    _product_sizes(tuple(a.shape), tuple(b.shape), turn_a, turn_b, words, "In[0]", "In[1]")


def _numpy_product(a: np.ndarray, b: np.ndarray, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    return (a.T if transpose_a else a) @ (b.T if transpose_b else b)


matmul_op = Op(
    "MatMul",
    "a: T, b: T -> product: T",
    T=types("bfloat16 half float double int32 int64 uint8 uint16 uint32 uint64 complex64 complex128"),
    transpose_a=False,
    transpose_b=False,
    grad_a=False,
    grad_b=False,
)
matmul_op.shape(_matrix_product_shape(_OF_MATMUL))


@matmul_op.kernel
@unsigned.modular
def _matmul_kernel(a, b, *, transpose_a, transpose_b):
    _check(a, b, transpose_a, transpose_b, 2, _OF_MATMUL)
    return _multiplied(a.mT if transpose_a else a, b.mT if transpose_b else b)


def _left_turned(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a.t(), b)


def _right_turned(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a, b.t())


def _both_turned(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a.t(), b.t())


_DIRECT = {
    (False, False): torch.mm,
    (True, False): _left_turned,
    (False, True): _right_turned,
    (True, True): _both_turned,
}


@matmul_op.specialize
def _matmul_specialized(node):
    """Where the output's shape is known, the inputs' fit."""
    a, b = node.inputs
    if not node.outputs[0].shape.is_fully_defined() or not (a.dtype.is_floating or a.dtype.is_complex):
        return None
    products = cpu_products.products_for(node)
    direct = products.plain if products else _DIRECT
    return direct[node.attrs["transpose_a"], node.attrs["transpose_b"]], (a, b)


@matmul_op.gradient
def _matmul_gradient(op, grad):
    a, b = (unary.conj(value) for value in op.inputs)
    turned_a, turned_b = op.attrs["transpose_a"], op.attrs["transpose_b"]
    to_a = to_b = None
    if op.wants_gradient(0):
        to_a = (
            matmul_op(b, grad, transpose_a=turned_b, transpose_b=True)
            if turned_a
            else matmul_op(grad, b, transpose_b=not turned_b)
        )
    if op.wants_gradient(1):
        to_b = (
            matmul_op(grad, a, transpose_a=True, transpose_b=turned_a)
            if turned_b
            else matmul_op(a, grad, transpose_a=not turned_a)
        )
    return [to_a, to_b]


@matmul_op.flops
def _matmul_flops(op):
    rows, columns = full_shape(op.inputs[0]).as_list()
    return 2 * size(op.outputs[0]) * (rows if op.attrs["transpose_a"] else columns)


matmul_op.samples(
    (f32(2, 3), f32(3, 4)),
    (f32(3, 2), f32(3, 4), {"transpose_a": True}),
    (f32(2, 3), f32(4, 3), {"transpose_b": True}),
    (c64(3, 2), c64(4, 3), {"transpose_a": True, "transpose_b": True}),
    (i32(2, 3), i32(3, 2)),
    (f32(2, 0), f32(0, 3)),
    against=_numpy_product,
)
matmul_op.refuses(
    (f32(2, 3), f32(4, 5)),
    "Dimensions must be equal, but are 3 and 4: a's columns (axis -1) against b's rows",
)
matmul_op.refuses((f32(3), f32(3, 4)), "Shape must be rank 2 but is rank 1")

SPARSE_HINTED = attr("type", dtypes.float32, allowed=types("float bfloat16"))

sparse_matmul_op = Op(
    "SparseMatMul",
    "a: Ta, b: Tb -> product: float",
    Ta=SPARSE_HINTED,
    Tb=SPARSE_HINTED,
    transpose_a=False,
    transpose_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
)
sparse_matmul_op.shape(_matrix_product_shape(_OF_SPARSE_MATMUL))


@sparse_matmul_op.kernel
def _sparse_matmul_kernel(a, b, *, transpose_a, transpose_b):
    _check(a, b, transpose_a, transpose_b, 2, _OF_SPARSE_MATMUL)
    a, b = a.float(), b.float()
    return torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)


@sparse_matmul_op.gradient
def _sparse_matmul_gradient(op, grad):
    a, b = op.inputs
    from_relu = not grad.is_eager and grad.op.type == "ReluGrad"
    hints = {a: op.attrs["a_is_sparse"], b: op.attrs["b_is_sparse"], grad: from_relu}

    def product(left, right, dtype, transpose_a=False, transpose_b=False):
        sparse = hints[left], hints[right]
        right = shapes.transpose(right) if transpose_b else right
        result = matmul(left, right, transpose_a=transpose_a, a_is_sparse=sparse[0], b_is_sparse=sparse[1])
        return casting.cast(result, dtype)

    turned = op.attrs["transpose_a"], op.attrs["transpose_b"]
    if turned == (False, False):
        return [product(grad, b, a.dtype, transpose_b=True), product(a, grad, b.dtype, transpose_a=True)]
    if turned == (False, True):
        return [product(grad, b, a.dtype), product(grad, a, b.dtype, transpose_a=True)]
    if turned == (True, False):
        return [product(b, grad, a.dtype, transpose_b=True), product(a, grad, b.dtype)]
    both = {"transpose_a": True, "transpose_b": True}
    return [product(b, grad, a.dtype, **both), product(grad, a, b.dtype, **both)]


sparse_matmul_op.samples(
    (f32(2, 3), f32(3, 4), {"a_is_sparse": True}),
    (f32(3, 2), f32(4, 3), {"transpose_a": True, "transpose_b": True}),
    (f32(2, 3), f32(4, 3), {"transpose_b": True}),
    (f32(3, 2), f32(3, 4), {"transpose_a": True}),
    against=_numpy_product,
)
sparse_matmul_op.refuses((f32(2, 3), f32(4, 5)), "Dimensions must be equal, but are 3 and 4")


@export("sparse_matmul")
def sparse_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product in float32, with hints which of the two is mostly zeros. `tf.matmul` takes the same
    hints.

    Args:
      a: A matrix of type float32 or bfloat16.
      b: A matrix of type float32 or bfloat16.
      transpose_a: Whether `a` is transposed first.
      transpose_b: Whether `b` is transposed first.
      a_is_sparse: Whether `a` is mostly zeros.
      b_is_sparse: Whether `b` is mostly zeros.
      name: A name for the operation.

    Returns:
      A matrix of type float32.
    """
    hints = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
    return sparse_matmul_op(a, b, transpose_a=transpose_a, transpose_b=transpose_b, **hints, name=name)


def _batch_op(name: str, allowed: str) -> Op:
    options = {"adj_x": False, "adj_y": False, "grad_x": False, "grad_y": False}
    return Op(name, "x: T, y: T -> output: T", T=types(allowed), **options)


def direct_product(node):
    """The shortcut of both batch products, where nothing is transposed and the shapes are known to fit."""
    x, y = node.inputs
    turned = node.attrs["adj_x"] or node.attrs["adj_y"]
    if turned or not x.dtype.is_floating or not node.outputs[0].shape.is_fully_defined():
        return None
    return torch.matmul, (x, y)


def batch_products(op: Any, grad: Tensor) -> list[Tensor]:
    """The gradients of x and y before the sum over batches that broadcasting repeated."""
    x, y = op.inputs
    turned = op.attrs["adj_x"], op.attrs["adj_y"]
    if turned == (False, False):
        return [matmul(grad, y, adjoint_b=True), matmul(x, grad, adjoint_a=True)]
    if turned == (False, True):
        return [matmul(grad, y), matmul(grad, x, adjoint_a=True)]
    if turned == (True, False):
        return [matmul(y, grad, adjoint_b=True), matmul(x, grad)]
    both = {"adjoint_a": True, "adjoint_b": True}
    return [matmul(y, grad, **both), matmul(grad, x, **both)]


def _adjoint(x: np.ndarray, turn: bool) -> np.ndarray:
    return np.swapaxes(x.conj(), -1, -2) if turn else x


def _add_batch_samples(op: Op) -> None:
    op.samples(
        (f32(5, 2, 3), f32(5, 3, 4)),
        (f32(5, 3, 2), f32(5, 3, 4), {"adj_x": True}),
        (f32(2, 5, 2, 3), f32(2, 5, 4, 3), {"adj_y": True}),
        (f32(2, 3, 2), f32(2, 2, 3), {"adj_x": True, "adj_y": True}),
        (c64(2, 3), c64(2, 4), {"adj_x": True}),
        (f32(0, 2, 3), f32(0, 3, 4)),
        against=lambda x, y, adj_x, adj_y: _adjoint(x, adj_x) @ _adjoint(y, adj_y),
    )
    op.refuses((f32(5, 2, 3), f32(5, 4, 3)), "Dimensions must be equal, but are 3 and 4: x's columns")
    op.refuses((f32(3), f32(3, 4)), "Shape must be at least rank 2 but is rank 1")


batch_matmul_op = _batch_op("BatchMatMul", "bfloat16 half float double int32 int64 complex64 complex128")


def _ranks(x: TensorShape, y: TensorShape) -> str:
    return f"In[0] and In[1] has different ndims: {brackets(x.tuple)} vs. {brackets(y.tuple)}"


def _same_batches(x: TensorShape, y: TensorShape) -> TensorShape:
    """The sizes of the batches, which BatchMatMul does not broadcast."""
    left, right = brackets(x.tuple), brackets(y.tuple)
    if x.ndims != y.ndims:
        return merged(x[:-2], y[:-2], _ranks(x, y))
    axis = next((i for i, (a, b) in enumerate(zip(x.tuple, y.tuple, strict=True)) if a != b), 0)
    return merged(
        x[:-2], y[:-2], f"In[0].dim({axis}) and In[1].dim({axis}) must be the same: {left} vs {right}"
    )


@batch_matmul_op.shape
def _batch_matmul_shape(x, y, *, adj_x, adj_y):
    if None not in (x.ndims, y.ndims) and x.ndims != y.ndims:
        _same_batches(of_rank_at_least(x, 2, _ranks(x, y)), of_rank_at_least(y, 2, _ranks(x, y)))
    of_rank_at_least(x, 2)
    of_rank_at_least(y, 2)
    if x.ndims is None or y.ndims is None:
        return None
    batch = _same_batches(x, y)
    return [*batch.tuple, *_product_sizes(x.tuple, y.tuple, adj_x, adj_y, _OF_BATCHES, "x", "y")]


@batch_matmul_op.kernel
def _batch_matmul_kernel(x, y, *, adj_x, adj_y):
    _same_batches(TensorShape(x.shape), TensorShape(y.shape))
    return batch_matmul_v2_op.kernels[""](x, y, adj_x=adj_x, adj_y=adj_y)


batch_matmul_op.specialize(direct_product)

batch_matmul_op.gradient(batch_products)


@batch_matmul_op.flops
def _batch_matmul_flops(op):
    left = full_shape(op.inputs[0]).as_list()
    return 2 * size(op.outputs[0]) * (left[-2] if op.attrs["adj_x"] else left[-1])


_add_batch_samples(batch_matmul_op)
batch_matmul_op.refuses((f32(2, 2, 3), f32(1, 3, 4)), "must be equal, but are 2 and 1")

batch_matmul_v2_op = _batch_op(
    "BatchMatMulV2",
    "bfloat16 half float double int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128",
)


@batch_matmul_v2_op.shape
def _batch_matmul_v2_shape(x, y, *, adj_x, adj_y):
    of_rank_at_least(x, 2)
    of_rank_at_least(y, 2)
    if x.ndims is None or y.ndims is None:
        return None
    product = _product_sizes(x.tuple, y.tuple, adj_x, adj_y, _OF_BATCHES, "x", "y")
    try:
        return [*broadcast_shapes(x[:-2], y[:-2]).tuple, *product]
    except ShapeError as error:
        factors = f"{brackets(x.tuple)} vs. {brackets(y.tuple)}"
        raise ShapeError(
            str(error), f"In[0] and In[1] must have compatible batch dimensions: {factors}"
        ) from None


@batch_matmul_v2_op.kernel
@unsigned.modular
def _batch_matmul_v2_kernel(x, y, *, adj_x, adj_y):
    _check(x, y, adj_x, adj_y, None, _OF_BATCHES)
    return _multiplied(x.mH if adj_x else x, y.mH if adj_y else y)


batch_matmul_v2_op.specialize(direct_product)


@batch_matmul_v2_op.gradient
def _batch_matmul_v2_gradient(op, grad):
    products = batch_products(op, grad)
    x, y = (value.shape for value in op.inputs)
    if x.is_fully_defined() and x.tuple == y.tuple:  # nothing was broadcast
        return products
    full = [shapes.shape(value) for value in op.inputs]
    axes = broadcasting.broadcast_gradient_args(full[0][:-2], full[1][:-2])
    return [
        shapes.reshape(reductions.reduce_sum(product, repeated), size)
        for product, repeated, size in zip(products, axes, full, strict=True)
    ]


_add_batch_samples(batch_matmul_v2_op)
batch_matmul_v2_op.samples(
    (f32(2, 3), f32(5, 3, 4)), (f32(2, 1, 2, 3), f32(5, 3, 4)), (i32(2, 3), i32(4, 3, 2))
)
batch_matmul_v2_op.refuses((f32(2, 2, 3), f32(3, 3, 4)), "Dimensions must be equal, but are 2 and 3")


_AS_THEY_ARE: dict[str, Any] = {}


@export("matmul", "linalg.matmul", operator="matmul")
def matmul(
    a: TensorLike | LinearOperator,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of a and b, or of each pair of matrices where they have more than two axes.

    Args:
      a: A tensor of numbers, of rank 2 or more.
      b: A tensor of the type of `a`. Axes before the last two broadcast with those of `a`.
      transpose_a: Whether the matrices of `a` are transposed first.
      transpose_b: Whether the matrices of `b` are transposed first.
      adjoint_a: Whether the matrices of `a` are conjugated and transposed first.
      adjoint_b: Whether the matrices of `b` are conjugated and transposed first.
      a_is_sparse: Whether `a`, a matrix, is mostly zeros.
      b_is_sparse: Whether `b`, a matrix, is mostly zeros.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a`, with the rows of the matrices of `a` and the columns of those of `b`.

    Raises:
      ValueError: If a matrix is to be both transposed and adjoint, or the inner sizes differ.
    """
    graph = get_eager_graph()
    if graph is not None and not (adjoint_a or adjoint_b or a_is_sparse or b_is_sparse):
        kind = graph.tensor_type
        if type(a) is not kind and getattr(a, "is_eager", True):
            a = convert_to_tensor(a, name="a")
        if type(b) is not kind and getattr(b, "is_eager", True):
            b = convert_to_tensor(b, name="b")
        if type(a) is kind and type(b) is kind:
            key = matmul_op, a._key, b._key
            if key in graph.kernels or a.dtype is b.dtype and a.ndim == b.ndim == 2:
                if not transpose_a and not transpose_b:
                    return graph.execute(matmul_op, (a, b), _AS_THEY_ARE, name or "MatMul", key)
                turned = {"transpose_a": transpose_a, "transpose_b": transpose_b}
                return graph.execute(matmul_op, (a, b), turned, name or "MatMul")
    with name_scope(name, "MatMul", [a, b]) as name:
        for side, transpose, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
            if transpose and adjoint:
                raise ValueError(f"Only one of transpose_{side} and adjoint_{side} can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        hinted = a_is_sparse or b_is_sparse
        if not hinted and (_may_be_batch(a.shape) or _may_be_batch(b.shape)):
            a = unary.conj(a) if transpose_a else a
            b = unary.conj(b) if transpose_b else b
            return batch_matmul_v2_op(
                a, b, adj_x=transpose_a or adjoint_a, adj_y=transpose_b or adjoint_b, name=name
            )
        a = unary.conj(a) if adjoint_a else a
        b = unary.conj(b) if adjoint_b else b
        turned = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
        if not _takes_hints(a, b, hinted):
            return matmul_op(a, b, **turned, name=name)
        product = sparse_matmul_op(
            a, b, **turned, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=name
        )
        both_short = a.dtype is dtypes.bfloat16 and b.dtype is dtypes.bfloat16
        return casting.cast(product, dtypes.bfloat16) if both_short else product


def _may_be_batch(shape: TensorShape) -> bool:
    return shape.ndims is None or shape.ndims > 2


def _takes_hints(a: Tensor, b: Tensor, hinted: bool) -> bool:
    """Whether SparseMatMul is the op: for its types, where asked for, or where a and b differ in type."""
    kinds = (a.dtype.base_dtype, b.dtype.base_dtype)
    if hinted and all(kind in (dtypes.bfloat16, dtypes.float32) for kind in kinds):
        return True
    return dtypes.bfloat16 in kinds and kinds[0] is not kinds[1]


@export("linalg.matvec")
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector, or of each pair of them where they have more axes.

    Args:
      a: A tensor of numbers, of rank 2 or more.
      b: A tensor of the type of `a`, the vectors along its last axis.
      transpose_a: Whether the matrices are transposed first.
      adjoint_a: Whether the matrices are conjugated and transposed first.
      a_is_sparse: Whether `a`, a matrix, is mostly zeros.
      b_is_sparse: Whether `b` is mostly zeros.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `a`, the products along its last axis.
    """
    with name_scope(name, "MatVec", [a, b]):
        column = shapes.expand_dims(b, axis=-1)
        options = {"transpose_a": transpose_a, "adjoint_a": adjoint_a}
        product = matmul(a, column, **options, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse)
        return shapes.squeeze(product, axis=[-1])
