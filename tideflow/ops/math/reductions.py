"""Reductions over axes (Sum, Max, Any, ArgMax ...) and over lists of tensors (AddN), and what they build."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, stitching, tiling
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import brackets, host_rank, merged, scalar
from tideflow.ops.helpers.samples import boolean, c64, f32, i32
from tideflow.ops.helpers.types import INDICES, NUMERIC, QUANTIZED, REAL, types
from tideflow.ops.math import binary, casting, cumulative, unary
from tideflow.runtime.tensor_lists import sum_of
from tideflow.runtime.values import to_numpy, to_torch

TIDX = attr("type", dtypes.int32, allowed=INDICES)


def _reduction(name: str, allowed: tuple, **more: Any) -> Op:
    signature = "input: T, reduction_indices: Tidx -> output: T"
    return Op(name, signature, T=allowed, Tidx=TIDX, keep_dims=False, host="reduction_indices", **more)


def _without(sizes: Sequence[int | None], axes: Sequence[int], keep_dims: bool) -> list[int | None]:
    """The sizes left after reducing over the axes."""
    if keep_dims:
        return [1 if axis in axes else size for axis, size in enumerate(sizes)]
    return [size for axis, size in enumerate(sizes) if axis not in axes]


# ---------------------------------------------------------------------------------- shapes and axes


def _sum_family_shape(input, reduction_indices, *, keep_dims):
    if host_rank(reduction_indices) > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {host_rank(reduction_indices)}")
    if input.ndims is None:
        return None
    if not fully_known(reduction_indices):
        return [None] * input.ndims if keep_dims else None
    return _without(input.tuple, normal_axes(reduction_indices, input.ndims), keep_dims)


def _direct(function: Any, of_empty: bool = True) -> Any:
    """A shortcut past the axes' checks, for constant axes and element types that ATen reduces as they are."""

    def rule(node):
        values, indices = node.inputs
        computable = values.dtype.is_floating or values.dtype.is_complex
        if indices.constant is None or not computable or node.outputs[0].shape.ndims is None:
            return None
        if not of_empty and not values.shape.num_elements():
            return None
        axes = normal_axes(indices.constant.tolist(), values.shape.ndims)
        return (function, (values, axes, node.attrs["keep_dims"])) if axes else None

    return rule


def _sum_family_value(op):
    values, indices = (partial_value(tensor) for tensor in op.inputs)
    if (
        not op.inputs[0].dtype.is_integer
        or not isinstance(values, list)
        or not fully_known([values, indices])
    ):
        return None
    array = np.array(values, op.inputs[0].dtype.numpy)
    if array.ndim != op.inputs[0].shape.ndims:
        return None
    kernel = op.definition.kernels[""]
    return to_numpy(kernel(to_torch(array), indices, keep_dims=op.attrs["keep_dims"])).tolist()


def _static_spread(graph: Any, sizes: tuple[int, ...], indices: Any) -> tuple[list[int], list[int]]:
    """The sizes after a reduction that keeps its axes, and how often each is repeated to undo it."""
    kept = _without(sizes, normal_axes(indices, len(sizes)), keep_dims=True)
    multiples = [size // max(1, left) for size, left in zip(sizes, kept, strict=True)]
    axes = np.ravel(indices).tolist()
    if (sizes, *axes) not in graph._known_reductions:
        graph._known_reductions.add((sizes, *axes))
        # TensorFlow finds these numbers by nodes that it leaves in the graph, the first time.
        reduced_shape(list(sizes), axes)
        list(sizes) // binary.maximum(kept, 1)
    return kept, multiples


def _spread(op: Any, grad: Tensor) -> Tensor:
    """The gradient of a sum: every element of a reduced block gets the block's gradient."""
    sizes, indices = op.inputs[0].shape.tuple, partial_value(op.inputs[1])
    if sizes is not None and fully_known(indices):
        known = None not in sizes
        if indices == list(range(len(sizes))):
            grad = shapes.reshape(grad, [1] * len(sizes))
            full = constants.constant(list(sizes), dtypes.int32) if known else shapes.shape(op.inputs[0])
            return tiling.tile(grad, full)
        if known:
            kept, multiples = _static_spread(op.graph, sizes, indices)
            return tiling.tile(shapes.reshape(grad, kept), multiples)
    full = shapes.shape(op.inputs[0])
    with colocate_with(full):
        kept = reduced_shape(full, op.inputs[1])
        multiples = full // binary.maximum(kept, 1)
    return tiling.tile(shapes.reshape(grad, kept), multiples)


def _add_refuses_of_sum_family(op: Op) -> None:
    op.refuses((f32(2, 3), 2), "Invalid reduction dimension 2 for input with 2 dimensions")
    op.refuses((f32(2, 3), [[0, 1]]), "Shape must be at most rank 1 but is rank 2")


sum_op = _reduction("Sum", NUMERIC)
sum_op.shape(_sum_family_shape)
sum_op.value(_sum_family_value)


@sum_op.kernel
@unsigned.modular
def _sum_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    return torch.sum(input, axes, keep_dims, dtype=input.dtype) if axes else input


def normal_axes(indices: Any, rank: int) -> list[int]:
    """Reduction indices as axes counted from the front, each once, in order."""
    if host_rank(indices) > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {host_rank(indices)}")
    flat = indices if isinstance(indices, list) else [indices]
    for index in flat:
        if not -rank <= index < rank:
            raise ShapeError(f"Invalid reduction dimension {index} for input with {rank} dimensions.")
    return sorted({index % rank for index in flat})


sum_op.specialize(_direct(torch.sum))


@sum_op.gradient
def _sum_gradient(op, grad):
    return [_spread(op, grad), None]


sum_op.samples((i32(2, 3), -1), (c64(2, 3), 0), (f32(), np.array([], np.int32)), (f32(0, 2), 1))
_add_refuses_of_sum_family(sum_op)

mean_op = _reduction("Mean", NUMERIC)
mean_op.shape(_sum_family_shape)


@mean_op.kernel
def _mean_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    if not axes:
        return input
    if input.is_floating_point() or input.is_complex():
        return torch.mean(input, axes, keep_dims)
    total = sum_op.kernels[""](
        input, axes, keep_dims=keep_dims
    )  # wraps in its own type, as TensorFlow's does
    count = max(1, math.prod(input.shape[axis] for axis in axes))
    return torch.div(total.to(torch.int64), count, rounding_mode="trunc").to(input.dtype)


mean_op.specialize(_direct(torch.mean))


@mean_op.gradient
def _mean_gradient(op, grad):
    spread = _spread(op, grad)
    before, after = op.inputs[0].shape.num_elements(), op.outputs[0].shape.num_elements()
    if before is not None and after is not None:
        count = constants.constant(before // max(1, after), grad.dtype)
    else:
        sizes = shapes.shape(op.inputs[0]), shapes.shape(op.outputs[0])
        whole, part = (reduce_prod(size) for size in sizes)
        count = casting.cast(whole // binary.maximum(part, 1), grad.dtype)
    return [binary.truediv(spread, count), None]


mean_op.samples((i32(2, 3), -1), (c64(2, 3), 0), (f32(), np.array([], np.int32)), (f32(0, 2), 1))
_add_refuses_of_sum_family(mean_op)

prod_op = _reduction("Prod", NUMERIC)
prod_op.shape(_sum_family_shape)
prod_op.value(_sum_family_value)


@prod_op.kernel
@unsigned.modular
def _prod_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    for axis in axes:
        input = torch.prod(input, axis, keepdim=True, dtype=input.dtype)
    return input.reshape(_without(input.shape, axes, keep_dims))


@prod_op.gradient
def _prod_gradient(op, grad):
    """Each element gets the product of the others: by cumulative products, as one of them may be 0."""
    x = op.inputs[0]
    full = shapes.shape(x)
    indices = shapes.reshape(op.inputs[1], [-1])
    kept = reduced_shape(full, op.inputs[1])
    multiples = full // binary.maximum(kept, 1)
    spread = tiling.tile(shapes.reshape(grad, kept), multiples)

    rank = shapes.rank(x)
    reduced = (casting.cast(indices, dtypes.int32) + rank) % rank
    other, _ = stitching.setdiff1d(creation.range(0, rank), reduced)
    perm = joining.concat([reduced, other], 0)
    sizes = [reduce_prod(indexing.gather(full, axes)) for axes in (reduced, other)]
    permuted = shapes.transpose(x, perm)
    permuted_shape = shapes.shape(permuted)
    flat = shapes.reshape(permuted, sizes)
    before = cumulative.cumprod(flat, axis=0, exclusive=True)
    after = cumulative.cumprod(flat, axis=0, exclusive=True, reverse=True)
    others = shapes.reshape(unary.conj(before) * unary.conj(after), permuted_shape)
    product = spread * shapes.transpose(others, shapes.invert_permutation(perm))
    return [shapes.reshape(product, full), None]


prod_op.samples((i32(2, 3), -1), (c64(2, 3), 0), (f32(), np.array([], np.int32)), (f32(0, 2), 1))
prod_op.samples((np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0]], np.float32), 1))
_add_refuses_of_sum_family(prod_op)

ORDERED = REAL + QUANTIZED


def _extreme(reduce: Any, of_nothing: Any) -> Any:
    """The kernel of Max or Min; reducing no elements gives the value that loses against any other."""

    @unsigned.ordered
    def kernel(input, reduction_indices, *, keep_dims):
        axes = normal_axes(reduction_indices, input.dim())
        if not axes:
            return input
        if input.numel() == 0:
            return input.new_full(_without(input.shape, axes, keep_dims), of_nothing(input.dtype))
        return reduce(input, axes, keep_dims)

    return kernel


def _max_family_gradient(op, grad):
    """Elements that tie for the extreme share its gradient."""
    x, indices = op.inputs
    kept = reduced_shape(shapes.shape(x), indices)
    y = shapes.reshape(op.outputs[0], kept)
    grad = shapes.reshape(grad, kept)
    chosen = casting.cast(binary.equal(y, x), grad.dtype)
    ties = shapes.reshape(reduce_sum(chosen, indices), kept)
    return [chosen / ties * grad, None]


max_op = _reduction("Max", ORDERED)
max_op.shape(_sum_family_shape)
max_op.value(_sum_family_value)


def _lowest(dtype: torch.dtype) -> float:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


max_op.kernel(_extreme(torch.amax, _lowest))
max_op.specialize(_direct(torch.amax, of_empty=False))
max_op.gradient(_max_family_gradient)
_add_refuses_of_sum_family(max_op)

min_op = _reduction("Min", ORDERED)
min_op.shape(_sum_family_shape)
min_op.value(_sum_family_value)


def _highest(dtype: torch.dtype) -> float:
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


min_op.kernel(_extreme(torch.amin, _highest))
min_op.specialize(_direct(torch.amin, of_empty=False))
min_op.gradient(_max_family_gradient)
_add_refuses_of_sum_family(min_op)

# ---------------------------------------------------------------------------------- public reductions


def _reduced(op: Op, x: Any, axis: Any, keepdims: Any, name: str | None) -> Tensor:
    output = op(x, all_axes(x) if axis is None else axis, keep_dims=bool(keepdims), name=name)
    if axis is None and not keepdims and not output.shape.is_fully_defined():
        output.set_shape(())
    return output


euclidean_norm_op = _reduction("EuclideanNorm", NUMERIC)
euclidean_norm_op.shape(_sum_family_shape)


@euclidean_norm_op.kernel
def _euclidean_norm_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    if input.is_floating_point() or input.is_complex():
        norm = torch.linalg.vector_norm(input, dim=axes, keepdim=keep_dims) if axes else input.abs()
        return norm.to(input.dtype)
    squares = input.to(torch.int64) ** 2
    total = (squares.sum(axes, keep_dims) if axes else squares).to(input.dtype)  # wraps, as TensorFlow's does
    return total.to(torch.float64).sqrt().to(input.dtype)


@euclidean_norm_op.gradient
def _euclidean_norm_gradient(op, grad):
    x, indices = op.inputs
    kept = reduced_shape(shapes.shape(x), indices)
    norm, grad = shapes.reshape(op.outputs[0], kept), shapes.reshape(grad, kept)
    return [binary.truediv(x, norm / grad), None]


_add_refuses_of_sum_family(euclidean_norm_op)


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the sum of squares over the given axes."""
    return _reduced(euclidean_norm_op, input_tensor, axis, keepdims, name)


def _logical_reduction(name: str) -> Op:
    signature = "input: bool, reduction_indices: Tidx -> output: bool"
    return Op(name, signature, Tidx=TIDX, keep_dims=False, host="reduction_indices", differentiable=False)


any_op = _logical_reduction("Any")
any_op.shape(_sum_family_shape)


@any_op.kernel
def _any_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    return torch.any(input, axes, keep_dims) if axes else input


any_op.refuses((boolean(2, 3), -3), "Invalid reduction dimension -3 for input with 2 dimensions")

all_op = _logical_reduction("All")
all_op.shape(_sum_family_shape)


@all_op.kernel
def _all_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    return torch.all(input, axes, keep_dims) if axes else input


all_op.refuses((boolean(2, 3), -3), "Invalid reduction dimension -3 for input with 2 dimensions")


def _against(reduce: Any) -> Any:
    def reference(x, axes, keep_dims):
        return reduce(x, axis=tuple(np.ravel(axes).tolist()), keepdims=keep_dims).astype(x.dtype)

    return reference


for _op, _reduce in (
    (sum_op, np.sum),
    (mean_op, np.mean),
    (prod_op, np.prod),
    (euclidean_norm_op, np.linalg.norm),
):
    _op.samples(
        (f32(2, 3, low=0.5, high=2.0), 1),
        (f32(2, 3, 4), [0, -1], {"keep_dims": True}),
        (f32(3), [0]),
        (f32(2, 3, low=0.5), [0, 1], {"Tidx": dtypes.int64}),
        against=_against(_reduce) if _op is not euclidean_norm_op else None,
    )
for _op, _reduce, _nothing in ((max_op, np.max, -np.inf), (min_op, np.min, np.inf)):
    _op.samples(
        (f32(2, 3), 1),
        (f32(2, 3, 4), [0, -1], {"keep_dims": True}),
        (f32(4), 0),
        (f32(0, 2), 0),
        (f32(0, 2), 1),
        (f32(2, 3), -1, {"Tidx": dtypes.int64}),
        against=_against(partial(_reduce, initial=_nothing)),
    )
for _op, _reduce in ((any_op, np.any), (all_op, np.all)):
    _op.samples(
        (boolean(2, 3), 1),
        (boolean(2, 3), [0, 1], {"keep_dims": True}),
        (boolean(0, 2), 0),
        against=_against(_reduce),
    )


def all_axes(x: Any) -> Tensor:
    """Every axis of x, as a constant where the rank is known."""
    if isinstance(x, SparseTensor) and x.dense_shape.shape.is_fully_defined():
        return constants.constant(np.arange(x.dense_shape.shape.tuple[0]), dtypes.int32)
    if isinstance(x, Tensor) and x.shape.ndims is not None:
        return constants.constant(np.arange(x.shape.ndims), dtypes.int32)
    return creation.range(0, shapes.rank(x))


def _reducer(name: str, op: Op, doc: str) -> Callable[..., Tensor]:
    """The public function of a reduction, deprecated argument names included."""

    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = renamed("axis", axis, "reduction_indices", reduction_indices)
        return _reduced(op, input_tensor, axis, renamed("keepdims", keepdims, "keep_dims", keep_dims), name)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc
    return export(name, f"math.{name}")(reduce)


reduce_sum = _reducer("reduce_sum", sum_op, "The sum over the given axes, over all by default.")
reduce_mean = _reducer(
    "reduce_mean", mean_op, "The mean over the given axes; of integers, rounded towards 0."
)
reduce_prod = _reducer("reduce_prod", prod_op, "The product over the given axes.")
reduce_max = _reducer("reduce_max", max_op, "The largest element along the given axes.")
reduce_min = _reducer("reduce_min", min_op, "The smallest element along the given axes.")
reduce_any = _reducer("reduce_any", any_op, "Whether any element along the given axes is true.")
reduce_all = _reducer("reduce_all", all_op, "Whether all elements along the given axes are true.")


def _checked_dimension(dimension: int, rank: int) -> int:
    if not -rank <= dimension < rank:
        raise ShapeError(
            f"Dimension ({dimension}) must be in the range [{-rank}, {rank}), where {rank} is the number of "
            "dimensions in the input."
        )
    return dimension % rank


def _arg_max_family_shape(input, dimension):
    if input.ndims is None:
        return None
    if input.ndims <= 1:
        return []
    if scalar(dimension) is None:
        return [None] * (input.ndims - 1)
    return _without(input.tuple, [_checked_dimension(dimension, input.ndims)], keep_dims=False)


def _position(find: Any, instead_of_nan: float) -> Any:
    """The kernel of ArgMax or ArgMin: the first of equals, and a NaN never wins."""

    def kernel(input, dimension, *, output_type):
        axis = _checked_dimension(dimension, input.dim())
        if not input.shape[axis]:
            raise ShapeError(f"Reduction axis {axis} is empty in shape {brackets(input.shape)}")
        if input.is_floating_point():
            input = torch.where(torch.isnan(input), instead_of_nan, input)
        elif input.dtype == torch.bool:
            input = input.to(torch.uint8)
        return find(unsigned.comparable(input), axis).to(output_type.torch)

    return kernel


# ---------------------------------------------------------------------------------- where the extreme stands

arg_max_op = Op(
    "ArgMax",
    "input: T, dimension: Tidx -> output: output_type",
    T=ORDERED + (dtypes.bool,),
    Tidx=attr("type", dtypes.int32, allowed=types("int16 int32 int64")),
    output_type=attr("type", dtypes.int64, allowed=types("int16 uint16 int32 int64")),
    host="dimension",
    differentiable=False,
)
arg_max_op.shape(_arg_max_family_shape)
arg_max_op.kernel(_position(torch.argmax, -math.inf))


@export("argmax", "math.argmax")
def argmax(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Where the largest element along an axis (0 by default) stands."""
    axis = renamed("axis", axis, "dimension", dimension)
    return arg_max_op(input, 0 if axis is None else axis, output_type=output_type, name=name)


@export("arg_max")
def arg_max(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """The old name of `argmax`."""
    return arg_max_op(input, dimension, output_type=output_type, name=name)


arg_min_op = Op(
    "ArgMin",
    "input: T, dimension: Tidx -> output: output_type",
    T=ORDERED + (dtypes.bool,),
    Tidx=TIDX,
    output_type=attr("type", dtypes.int64, allowed=INDICES),
    host="dimension",
    differentiable=False,
)
arg_min_op.shape(_arg_max_family_shape)
arg_min_op.kernel(_position(torch.argmin, math.inf))


@export("argmin", "math.argmin")
def argmin(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Where the smallest element along an axis (0 by default) stands."""
    axis = renamed("axis", axis, "dimension", dimension)
    return arg_min_op(input, 0 if axis is None else axis, output_type=output_type, name=name)


@export("arg_min")
def arg_min(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """The old name of `argmin`."""
    return arg_min_op(input, dimension, output_type=output_type, name=name)


for _op, _find in ((arg_max_op, np.argmax), (arg_min_op, np.argmin)):
    _op.samples(
        (f32(2, 3), 1),
        (i32(3, 4), -2, {"output_type": dtypes.int32}),
        (np.array([1.0, 3.0, 3.0], np.float32), 0),
        (boolean(2, 3), 0),
        against=lambda x, axis, _find=_find: _find(x, axis),
    )
    _op.samples((f32(0, 3), 1))
    _op.refuses((f32(2, 3), 2), "Dimension (2) must be in the range [-2, 2)")
    _op.refuses((f32(2, 0), 1), "Reduction axis 1 is empty in shape [2,0]", InvalidArgumentError)


def _common_shape(inputs: list[TensorShape]) -> TensorShape:
    shape = inputs[-1]
    for position, other in reversed(list(enumerate(inputs[:-1]))):
        try:
            shape = merged(other, shape)
        except ShapeError as error:
            raise ShapeError(f"{error} From merging shape {position} with other shapes.") from None
    return shape


@unsigned.modular
def _add_n_family_kernel(inputs):
    first, *others = inputs
    if any(other.shape != first.shape for other in others):
        sizes = ", ".join(brackets(value.shape) for value in inputs)
        raise ShapeError(f"Inputs must have the same size and shape, but have shapes {sizes}")
    if not others:
        return first
    total = torch.add(first, others[0])
    for other in others[1:]:
        total.add_(other)
    return total


def _add_n_family_gradient(op, grad):
    return [grad] * len(op.inputs)


# ---------------------------------------------------------------------------------- sums of tensors

add_n_op = Op("AddN", "inputs: N * T -> sum: T", T=NUMERIC + (dtypes.variant,), commutative=True)


@add_n_op.shape
def _add_n_shape(inputs):
    return _common_shape(inputs)


add_n_op.kernel(_add_n_family_kernel)


@add_n_op.kernel("string")
def _add_n_string_kernel(inputs):
    return sum_of(inputs)  # no strings are added; the other values that are objects are variants


@add_n_op.specialize
def _add_n_specialized(node):
    known = all(value.shape.is_fully_defined() for value in node.inputs)
    computable = node.outputs[0].dtype.is_floating or node.outputs[0].dtype.is_complex
    return (torch.add, node.inputs) if len(node.inputs) == 2 and known and computable else None


add_n_op.gradient(_add_n_family_gradient)
add_n_op.samples(
    ([f32(2, 3), f32(2, 3), f32(2, 3)],),
    ([f32(), f32()],),
    ([i32(2)],),
    ([f32(0, 2), f32(0, 2)],),
    against=lambda inputs: sum(inputs),
)
add_n_op.refuses(([f32(2), f32(3)],), "must be equal, but are 2 and 3")


@export("add_n", "math.add_n")
def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and type."""
    tensors = _tensors(
        "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape", inputs
    )
    if len(tensors) > 1:
        return add_n_op(tensors, name=name)
    return constants.identity(convert_to_tensor(tensors[0]), name=name) if name else tensors[0]


def _tensors(complaint: str, inputs: Any) -> list[Tensor]:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(complaint)
    return [value if isinstance(value, IndexedSlices) else convert_to_tensor(value) for value in inputs]


accumulate_n_op = Op(
    "AccumulateNV2", "inputs: N * T -> sum: T", T=NUMERIC, shape=attr("shape"), commutative=True
)


@accumulate_n_op.shape
def _accumulate_n_shape(inputs, *, shape):
    return _common_shape([*inputs, shape])


accumulate_n_op.kernel(_add_n_family_kernel)
accumulate_n_op.gradient(_add_n_family_gradient)
accumulate_n_op.samples(([f32(2, 3), f32(2, 3)], {"shape": [2, 3]}), against=lambda inputs: sum(inputs))
accumulate_n_op.refuses(([f32(2), f32(3)], {"shape": None}), "must be equal, but are 2 and 3")


@export("accumulate_n", "math.accumulate_n")
def accumulate_n(
    inputs: Sequence[Any], shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of tensors of one shape and type, of which `shape` may tell more than they do."""
    tensors = _tensors("inputs must be a list of at least one Tensor with the same dtype and shape", inputs)
    if any(tensor.dtype.base_dtype is not tensors[0].dtype.base_dtype for tensor in tensors):
        raise ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    if tensor_dtype is not None and tensors[0].dtype.base_dtype is not dtypes.as_dtype(tensor_dtype):
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {tensors[0].dtype}")
    common = as_shape(shape)
    for tensor in tensors:
        common = common.merge_with(tensor.shape)
    if len(tensors) > 1:
        return accumulate_n_op(tensors, shape=common, name=name)
    return constants.identity(tensors[0], name=name) if name else tensors[0]


def reduced_shape(full: Any, indices: Any) -> Tensor:
    """The shape after a reduction that keeps its axes, as a tensor."""
    full, indices = casting.cast(full, dtypes.int32), casting.cast(indices, dtypes.int32)
    rank = shapes.size(full)
    indices = (indices + rank) % rank
    reduced = shapes.shape(indices)
    return stitching.dynamic_stitch([creation.range(rank), indices], [full, creation.fill(reduced, 1)])


@export("math.reduce_variance")
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean squared distance from the mean over the given axes."""
    with name_scope(name or "reduce_variance"):
        mean = reduce_mean(input_tensor, axis=axis, keepdims=True)
        return reduce_mean(unary.square(input_tensor - mean), axis=axis, keepdims=keepdims)


@export("math.reduce_std")
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the variance over the given axes."""
    with name_scope(name or "reduce_std"):
        return unary.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


@export("reduce_logsumexp", "math.reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) over the given axes, computed without overflow."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    x = convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]):
        largest = reduce_max(x, axis=axis, keepdims=True)
        shift = constants.stop_gradient(
            indexing.where(unary.is_finite(largest), largest, creation.zeros_like(largest))
        )
        result = unary.log(reduce_sum(unary.exp(binary.subtract(x, shift)), axis=axis, keepdims=keepdims))
        if not keepdims:
            shift = shapes.reshape(shift, shapes.shape(result))
        result = binary.add(result, shift)
        if axis is None and not keepdims and not result.shape.is_fully_defined():
            result.set_shape(())
        return result


@export("count_nonzero", "math.count_nonzero")
def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Tensor:
    """How many elements along the given axes are not 0 (or not the empty string)."""
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    given = renamed("input", input, "input_tensor", input_tensor)
    with name_scope(name, "count_nonzero", [given]):
        x = convert_to_tensor(given, name="input")
        nonzero = binary.not_equal(x, creation.zeros([], dtype=x.dtype.base_dtype))
        counts = reduce_sum(casting.cast(nonzero, dtypes.int64), axis=axis, keepdims=keepdims)
        return casting.cast(counts, dtype)
