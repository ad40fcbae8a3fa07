"""Reductions over axes (Sum, Max, Any …), and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.scopes import colocate_with, device, get_eager_graph, name_scope
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, stitching
from tideflow.ops.helpers import cpu_functions, flops, unsigned
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import host_rank
from tideflow.ops.helpers.looking import has_symbols, of_symbols
from tideflow.ops.helpers.samples import boolean, c64, f32, i32
from tideflow.ops.helpers.types import INDEX, NUMERIC, QUANTIZED, REAL
from tideflow.ops.math import binary, casting, cumulative, unary
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike, TensorOrRagged


_PYTHON_NAMES = {"axis": "reduction_indices"}


def _reduction(name: str, allowed: tuple, **more: Any) -> Op:
    return Op(
        name,
        "input: T, reduction_indices: Tidx -> output: T",
        T=allowed,
        Tidx=INDEX,
        keep_dims=False,
        host="reduction_indices",
        python_names=_PYTHON_NAMES,
        **more,
    )


def _without(sizes: Sequence[int | None], axes: Sequence[int], keep_dims: bool) -> list[int | None]:
    """The sizes left after reducing over the axes."""
    if keep_dims:
        return [1 if axis in axes else size for axis, size in enumerate(sizes)]
    return [size for axis, size in enumerate(sizes) if axis not in axes]


def normal_axes(indices: Any, rank: int) -> list[int]:
    """Reduction indices as axes counted from the front, each once, in order."""
    if host_rank(indices) > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {host_rank(indices)}")
    flat = indices if isinstance(indices, list) else [indices]
    for index in flat:
        if not -rank <= index < rank:
            raise ShapeError(
                f"Invalid reduction dimension {index} for input with {rank} dimensions.",
                f"Invalid reduction dimension ({index} for input with {rank} dimension(s)",
            )
    return sorted({index % rank for index in flat})


def reduced_sizes(input, reduction_indices, *, keep_dims):
    """The shape rule of all reductions."""
    if host_rank(reduction_indices) > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {host_rank(reduction_indices)}")
    if input.ndims is None:
        return None
    if not fully_known(reduction_indices):
        return [None] * input.ndims if keep_dims else None
    return _without(input.tuple, normal_axes(reduction_indices, input.ndims), keep_dims)


def _direct(function: Any, of_empty: bool = True) -> Any:
    """A shortcut past the axes' checks, for constant axes and element types that ATen reduces as they are."""

    def _specialized(node):
        values, indices = node.inputs
        computable = values.dtype.is_floating or values.dtype.is_complex
        if indices.constant is None or not computable or values.shape.ndims is None:
            return None
        if not of_empty and not values.shape.num_elements():
            return None
        axes = normal_axes(indices.constant.tolist(), values.shape.ndims)
        if len(axes) == values.shape.ndims and not node.attrs["keep_dims"]:
            return function, (values,)
        return (function, (values, axes, node.attrs["keep_dims"])) if axes else None

    return _specialized


def value_of_sizes(op):
    """The value rule of reductions of sizes: the kernel, where all integers and axes are known."""
    values, indices = (partial_value(tensor) for tensor in op.inputs)
    if (
        not op.inputs[0].dtype.is_integer
        or not isinstance(values, list)
        or not fully_known([values, indices])
    ):
        return None
    array = np.array(values, dtype=object)
    if array.ndim != op.inputs[0].shape.ndims:
        return None
    keep_dims = op.attrs["keep_dims"]
    if has_symbols(array):
        kept = np.array(of_symbols(op, (array, indices, True)), dtype=object)
        return (kept if keep_dims else kept.squeeze(tuple(np.ravel(indices).tolist()))).tolist()
    kernel = op.definition.kernels[""]
    found = kernel(to_torch(array.astype(op.inputs[0].dtype.numpy)), indices, keep_dims=keep_dims)
    return to_numpy(found).tolist()


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
            return tf.tile(grad, full)
        if known:
            kept, multiples = _static_spread(op.graph, sizes, indices)
            return tf.tile(shapes.reshape(grad, kept), multiples)
    full = shapes.shape(op.inputs[0])
    with colocate_with(full):
        kept = reduced_shape(full, op.inputs[1])
        multiples = full // binary.maximum(kept, 1)
    return tf.tile(shapes.reshape(grad, kept), multiples)


def reduced_shape(full: Any, indices: Any) -> Tensor:
    """The shape after a reduction that keeps its axes, as a tensor."""
    full, indices = casting.cast(full, dtypes.int32), casting.cast(indices, dtypes.int32)
    rank = shapes.size(full)
    indices = (indices + rank) % rank
    reduced = shapes.shape(indices)
    return stitching.dynamic_stitch([creation.range(rank), indices], [full, creation.fill(reduced, 1)])


# What the docstring of every reduction says after its first sentence.
ARGUMENTS = """

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set.
    """


def all_axes(x: Any) -> Tensor:
    """Every axis of x, as a constant where the rank is known."""
    if isinstance(x, SparseTensor) and x.dense_shape.shape.is_fully_defined():
        return constants.constant(np.arange(x.dense_shape.shape.tuple[0]), dtypes.int32)
    if isinstance(x, Tensor) and x.shape.ndims is not None:
        return constants.constant(np.arange(x.shape.ndims), dtypes.int32)
    return creation.range(0, shapes.rank(x))


_AXES = [list(range(rank)) for rank in range(65)]  # torch's tensors have at most 64
_KEEPING, _DROPPING = {"keep_dims": True}, {"keep_dims": False}


def _reduced(op: Op, x: Any, axis: Any, keepdims: Any, name: str | None) -> Tensor:
    graph = get_eager_graph()
    if graph is not None and type(x) is graph.tensor_type and (axis is None or type(axis) is int):
        axes = _AXES[len(x._key[1])] if axis is None else axis
        key = op, x._key, axis, not keepdims
        return graph.execute(op, (x, axes), _KEEPING if keepdims else _DROPPING, name, key)
    axes = all_axes(x) if axis is None else axis
    output = op.apply((x, axes), name, {"keep_dims": bool(keepdims)})
    if axis is None and not keepdims and not output.is_eager and not output.shape.is_fully_defined():
        output.set_shape(())
    return output


def _reducer(name: str, op: Op, doc: str) -> Callable[..., Tensor]:
    """The public function of a reduction, under the name `name` and `math.name`."""

    def reduce(
        input_tensor: TensorOrRagged,
        axis: TensorLike | None = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: TensorLike | None = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        if reduction_indices is not None or keep_dims is not None:
            axis = renamed("axis", axis, "reduction_indices", reduction_indices)
            keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
        return _reduced(op, input_tensor, axis, keepdims, name)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc + ARGUMENTS
    return export(name, f"math.{name}", ragged=name)(reduce)


def _by_array(reduce: Callable) -> Callable:
    """A reference by NumPy's function of an array, its axes and whether they stay."""

    def reference(x, axes, keep_dims):
        return reduce(x, axis=tuple(np.ravel(axes).tolist()), keepdims=keep_dims).astype(x.dtype)

    return reference


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2, 3), 2), "Invalid reduction dimension 2 for input with 2 dimensions")
    op.refuses((f32(2, 3), [[0, 1]]), "Shape must be at most rank 1 but is rank 2")


# ---------------------------------------------------------------------------------- sums, means, products

SUM_SAMPLES = (
    (f32(2, 3, low=0.5, high=2.0), 1),
    (f32(2, 3, 4), [0, -1], {"keep_dims": True}),
    (f32(3), [0]),
    (f32(2, 3, low=0.5), [0, 1], {"Tidx": dtypes.int64}),
    (i32(2, 3), -1),
    (c64(2, 3), 0),
    (f32(), np.array([], np.int32)),
    (f32(0, 2), 1),
)

sum_op = _reduction("Sum", NUMERIC)
sum_op.shape(reduced_sizes)
sum_op.value(value_of_sizes)


@sum_op.kernel
@unsigned.modular
def _sum_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    return torch.sum(input, axes, keep_dims, dtype=input.dtype) if axes else input


sum_op.specialize(_direct(torch.sum))


@sum_op.gradient
def _sum_gradient(op, grad):
    return [_spread(op, grad), None]


sum_op.flops(flops.per_reduced_element)
sum_op.samples(*SUM_SAMPLES, against=_by_array(np.sum))
_add_refusals(sum_op)

reduce_sum = _reducer("reduce_sum", sum_op, "The sum over the given axes.")

mean_op = _reduction("Mean", NUMERIC)
mean_op.shape(reduced_sizes)


@mean_op.kernel
def _mean_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    if not axes:
        return input
    if input.is_floating_point() or input.is_complex():
        return torch.mean(input, axes, keep_dims)
    # The sum wraps in its own type, as TensorFlow's does.
    total = sum_op.kernels[""](input, axes, keep_dims=keep_dims)
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


@mean_op.flops
def _mean_flops(op):
    flops.full_shape(op.outputs[0])
    return flops.size(op.inputs[0])


mean_op.samples(*SUM_SAMPLES, against=_by_array(np.mean))
_add_refusals(mean_op)

reduce_mean = _reducer("reduce_mean", mean_op, "The mean over the given axes; of integers, rounded to zero.")

prod_op = _reduction("Prod", NUMERIC)
prod_op.shape(reduced_sizes)
prod_op.value(value_of_sizes)


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
    spread = tf.tile(shapes.reshape(grad, kept), multiples)

    with device("/cpu:0"):  # where sizes are
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


prod_op.samples(
    *SUM_SAMPLES,
    (np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0]], np.float32), 1),
    against=_by_array(np.prod),
)
_add_refusals(prod_op)

reduce_prod = _reducer("reduce_prod", prod_op, "The product over the given axes.")

# ---------------------------------------------------------------------------------- extremes

ORDERED = REAL + QUANTIZED


def _extreme(reduce: Any, of_nothing: Any) -> Any:
    """The kernel of Max or Min; reducing no elements gives the value that loses against any other."""

    @unsigned.ordered
    def _kernel(input, reduction_indices, *, keep_dims):
        axes = normal_axes(reduction_indices, input.dim())
        if not axes:
            return input
        if input.numel() == 0:
            return input.new_full(_without(input.shape, axes, keep_dims), of_nothing(input.dtype))
        if input.dtype is torch.int64 and cpu_functions.is_for_search(input):
            found = np.asarray(_OF_NUMPY[reduce](input.numpy(), tuple(axes), keepdims=keep_dims))
            return torch.from_numpy(found)  # in a tenth of the time
        return reduce(input, axes, keep_dims)

    return _kernel


_OF_NUMPY = {torch.amax: np.max, torch.amin: np.min}
_LANES = 128  # elements side by side, of which ATen compares many at once; it takes fewer than 32 one by one


def _extreme_directly(reduce: Any) -> Any:
    """`_direct`, where few elements lie side by side in two steps, in the first of which there are more."""
    direct = _direct(reduce, of_empty=False)

    def _specialized(node):
        chosen = direct(node)
        is_of_axes = chosen is not None and len(chosen[1]) == 3
        if not is_of_axes or node.device is not None and node.device.type != "cpu":
            return chosen
        values, axes, _ = chosen[1]
        first = _before_extreme(values.shape.tuple, axes)
        return (_in_two_steps(reduce), (values, first, node.outputs[0].shape.as_list())) if first else chosen

    return _specialized


def _before_extreme(shape: tuple, axes: list[int]) -> list[int] | None:
    """The shape [outer, reduced, more, inner] in which reducing one axis after the other is quicker."""
    begin, end = min(axes), max(axes) + 1
    if None in shape or sorted(axes) != list(range(begin, end)):
        return None
    outer, reduced, inner = (math.prod(part) for part in (shape[:begin], shape[begin:end], shape[end:]))
    more = math.gcd(reduced, 1 << (_LANES // inner).bit_length() - 1) if inner <= _LANES // 2 else 1
    is_worth_it = 1 < inner < 32 <= more * inner and reduced >= 4 * more
    return [outer, reduced // more, more, inner] if is_worth_it else None


def _in_two_steps(reduce: Any) -> Any:
    def extreme(x, first, sizes):
        outer, reduced, more, inner = first
        lanes = reduce(x.reshape(outer, reduced, more * inner), 1)
        return reduce(lanes.view(outer, more, inner), 1).view(sizes)

    return extreme


def extreme_gradient(op, grad):
    """Elements that tie for the extreme share its gradient."""
    x, indices = op.inputs
    kept = reduced_shape(shapes.shape(x), indices)
    y = shapes.reshape(op.outputs[0], kept)
    grad = shapes.reshape(grad, kept)
    chosen = casting.cast(binary.equal(y, x), grad.dtype)
    ties = shapes.reshape(reduce_sum(chosen, indices), kept)
    return [chosen / ties * grad, None]


def _lowest(dtype: torch.dtype) -> float:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> float:
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


EXTREME_SAMPLES = (
    (f32(2, 3), 1),
    (f32(2, 3, 4), [0, -1], {"keep_dims": True}),
    (f32(4), 0),
    (f32(0, 2), 0),
    (f32(0, 2), 1),
    (f32(2, 3), -1, {"Tidx": dtypes.int64}),
)

max_op = _reduction("Max", ORDERED)
max_op.shape(reduced_sizes)
max_op.value(value_of_sizes)

max_op.kernel(_extreme(torch.amax, _lowest))
max_op.specialize(_extreme_directly(torch.amax))
max_op.gradient(extreme_gradient)
max_op.samples(*EXTREME_SAMPLES, against=_by_array(partial(np.max, initial=-np.inf)))
_add_refusals(max_op)

reduce_max = _reducer("reduce_max", max_op, "The largest element along the given axes.")

min_op = _reduction("Min", ORDERED)
min_op.shape(reduced_sizes)
min_op.value(value_of_sizes)

min_op.kernel(_extreme(torch.amin, _highest))
min_op.specialize(_extreme_directly(torch.amin))
min_op.gradient(extreme_gradient)
min_op.samples(*EXTREME_SAMPLES, against=_by_array(partial(np.min, initial=np.inf)))
_add_refusals(min_op)

reduce_min = _reducer("reduce_min", min_op, "The smallest element along the given axes.")

euclidean_norm_op = _reduction("EuclideanNorm", NUMERIC)
euclidean_norm_op.shape(reduced_sizes)


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


euclidean_norm_op.samples(
    *SUM_SAMPLES, against=_by_array(lambda x, **how: np.sqrt(np.sum(np.abs(x) ** 2, **how)))
)
_add_refusals(euclidean_norm_op)


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The Euclidean norm over the given axes: the square root of the sum of squares.

    Args:
      input_tensor: The tensor of numbers to reduce.
      axis: The axes to reduce over: an integer or a vector of them. By default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set.
    """
    return _reduced(euclidean_norm_op, input_tensor, axis, keepdims, name)


# ---------------------------------------------------------------------------------- truth values


def _logical_reduction(name: str) -> Op:
    return Op(
        name,
        "input: bool, reduction_indices: Tidx -> output: bool",
        Tidx=INDEX,
        keep_dims=False,
        host="reduction_indices",
        differentiable=False,
        python_names=_PYTHON_NAMES,
    )


TRUTH_SAMPLES = (boolean(2, 3), 1), (boolean(2, 3), [0, 1], {"keep_dims": True}), (boolean(0, 2), 0)

any_op = _logical_reduction("Any")
any_op.shape(reduced_sizes)


@any_op.kernel
def _any_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    return cpu_functions.of_truths(torch.any, np.any, input, axes, keep_dims) if axes else input


any_op.samples(*TRUTH_SAMPLES, against=_by_array(np.any))
any_op.refuses((boolean(2, 3), -3), "Invalid reduction dimension -3 for input with 2 dimensions")

reduce_any = _reducer("reduce_any", any_op, "Tells whether any element along the given axes is True.")

all_op = _logical_reduction("All")
all_op.shape(reduced_sizes)


@all_op.kernel
def _all_kernel(input, reduction_indices, *, keep_dims):
    axes = normal_axes(reduction_indices, input.dim())
    return cpu_functions.of_truths(torch.all, np.all, input, axes, keep_dims) if axes else input


all_op.samples(*TRUTH_SAMPLES, against=_by_array(np.all))
all_op.refuses((boolean(2, 3), -3), "Invalid reduction dimension -3 for input with 2 dimensions")

reduce_all = _reducer("reduce_all", all_op, "Tells whether all elements along the given axes are True.")

# ---------------------------------------------------------------------------------- made of these


@export("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike, axis: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The variance over the given axes: the mean squared distance from the mean.

    Args:
      input_tensor: The tensor of floating-point numbers to reduce.
      axis: The axes to reduce over: an integer or a vector of them. By default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set.
    """
    with name_scope(name or "reduce_variance"):
        mean = reduce_mean(input_tensor, axis=axis, keepdims=True)
        return reduce_mean(unary.square(input_tensor - mean), axis=axis, keepdims=keepdims)


@export("math.reduce_std")
def reduce_std(
    input_tensor: TensorLike, axis: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation over the given axes: the square root of the variance.

    Args:
      input_tensor: The tensor of floating-point numbers to reduce.
      axis: The axes to reduce over: an integer or a vector of them. By default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set.
    """
    with name_scope(name or "reduce_std"):
        return unary.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


@export("reduce_logsumexp", "math.reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The logarithm of the sum of exp(x) over the given axes, computed without overflow.

    Args:
      input_tensor: The tensor of floating-point numbers to reduce.
      axis: The axes to reduce over: an integer or a vector of them. By default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the scope of the operations.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set.
    """
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
    input_tensor: TensorLike | None = None,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Counts the elements along the given axes that are not 0, or not the empty string.

    Args:
      input_tensor: The tensor of numbers, truth values or strings to reduce.
      axis: The axes to reduce over: an integer or a vector of them. By default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      dtype: The type of the counts.
      name: A name for the scope of the operations.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.
      input: Another name of `input_tensor`.

    Returns:
      A tensor of type `dtype`, without the reduced axes unless `keepdims` is set.
    """
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    given = renamed("input", input, "input_tensor", input_tensor)
    with name_scope(name, "count_nonzero", [given]):
        x = convert_to_tensor(given, name="input")
        nonzero = binary.not_equal(x, creation.zeros([], dtype=x.dtype.base_dtype))
        counts = reduce_sum(casting.cast(nonzero, dtypes.int64), axis=axis, keepdims=keepdims)
        return casting.cast(counts, dtype)
