"""The shape of a tensor, as a value and as something to change: Shape, Reshape, Transpose, broadcasting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.export import export, expose
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, broadcast_static_shape
from tideflow.ops.arrays import constants, creation, joining
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import as_sizes, brackets, merged, moved, size_product, vector
from tideflow.ops.helpers.samples import c64, f32
from tideflow.ops.helpers.types import INDICES
from tideflow.ops.math import casting, reductions

expose(None, "newaxis")
OUT_TYPE = attr("type", dtypes.int32, allowed=INDICES)


def _sizes(tensor: Any) -> list | None:
    return None if tensor.shape.tuple is None else list(tensor.shape.tuple)


# ---------------------------------------------------------------------------------- the shape as a value

shape_op = Op(
    "Shape", "input: T -> output: out_type", out_type=OUT_TYPE, differentiable=False, role="metadata"
)


@shape_op.shape
def _shape_shape(input):
    return [input.ndims]


@shape_op.value
def _shape_value(op):
    return _sizes(op.inputs[0])


@shape_op.kernel
def _shape_kernel(input, *, out_type, device):
    return torch.tensor(input.shape, dtype=out_type.torch, device=device)


shape_op.samples(
    f32(2, 3), f32(), (f32(0, 2), {"out_type": dtypes.int64}), against=lambda x: np.array(x.shape)
)


def shape_of(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    """The shape of a tensor; a Shape node where it is not known, or where constants are not wanted."""
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, SparseTensor):
            return casting.cast(input.dense_shape, out_type)
        input = convert_to_tensor(input)
        if optimize and input.shape.is_fully_defined():
            return constants.constant(input.shape.as_list(), out_type, name=scope)
        return shape_op(input, out_type=out_type, name=scope)


shape_n_op = Op("ShapeN", "input: N * T -> output: N * out_type", out_type=OUT_TYPE, differentiable=False)


@shape_n_op.shape
def _shape_n_shape(input):
    return [[shape.ndims] for shape in input]


@shape_n_op.value
def _shape_n_value(op):
    return [_sizes(tensor) for tensor in op.inputs]


@shape_n_op.kernel
def _shape_n_kernel(input, *, out_type, device):
    return [torch.tensor(value.shape, dtype=out_type.torch, device=device) for value in input]


shape_n_op.samples(([f32(2, 3), f32()],))


@export("shape_n")
def shape_n(input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors."""
    return shape_n_op(input, out_type=out_type, name=name)


def _size_family_shape(input):
    return []


size_op = Op("Size", "input: T -> output: out_type", out_type=OUT_TYPE, differentiable=False, role="metadata")
size_op.shape(_size_family_shape)


@size_op.value
def _size_value(op):
    return op.inputs[0].shape.num_elements()


@size_op.kernel
def _size_kernel(input, *, out_type, device):
    return torch.tensor(math.prod(input.shape), dtype=out_type.torch, device=device)


size_op.samples(f32(2, 3), f32(), f32(0, 2), against=np.size)


@export("size")
def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """How many elements a tensor has: a constant where its shape is known."""
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, SparseTensor):
            return reductions.reduce_prod(casting.cast(input.dense_shape, out_type), 0, name=scope)
        input = convert_to_tensor(input)
        if input.shape.is_fully_defined():
            return constants.constant(input.shape.num_elements(), out_type, name=scope)
        return size_op(input, out_type=out_type, name=scope)


rank_op = Op("Rank", "input: T -> output: int32", differentiable=False, role="metadata")
rank_op.shape(_size_family_shape)


@rank_op.value
def _rank_value(op):
    return op.inputs[0].shape.ndims


@rank_op.kernel
def _rank_kernel(input, *, device):
    return torch.tensor(len(input.shape), dtype=torch.int32, device=device)


rank_op.samples(f32(2, 3), f32(), f32(0, 2), against=np.ndim)


@export("rank")
def rank(input: Any, name: str | None = None) -> Tensor:
    """How many dimensions a tensor has: a constant where that is known."""
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, SparseTensor):
            return size_op(input.dense_shape, name=scope)
        input = convert_to_tensor(input)
        if input.shape.ndims is not None:
            return constants.constant(input.shape.ndims, dtypes.int32, name=scope)
        return rank_op(input, name=scope)


def _reshape_family_gradient(op, grad):
    return [reshape(grad, shape(op.inputs[0])), None]


# ---------------------------------------------------------------------------------- reshape

reshape_op = Op("Reshape", "tensor: T, shape: Tshape -> output: T", Tshape=OUT_TYPE, host="shape")


@reshape_op.shape
def _reshape_shape(tensor, shape):
    sizes = as_sizes(shape)
    count = None if tensor.tuple is None else size_product(*tensor.tuple)
    if sizes is None or count is None:
        return sizes
    known = math.prod(size for size in sizes if size is not None)
    open_places = sizes.count(None)
    if open_places == 0 and known != count:
        raise ShapeError(
            f"Cannot reshape a tensor with {count} elements to shape {brackets(sizes)} ({known} elements)"
        )
    if open_places == 1 and known:
        if count % known:
            raise ShapeError(f"Dimension size must be evenly divisible by {known} but is {count}")
        sizes[sizes.index(None)] = count // known
    return sizes


reshape_op.value(moved)


def _complete(sizes: list[int], before: Sequence[int]) -> list[int]:
    """The sizes with the one that is -1 filled in. For empty tensors too: there, sizes of 0 do not count."""
    vector(sizes)
    count = math.prod(before)
    if -1 in sizes:
        place = sizes.index(-1)
        if -1 in sizes[place + 1 :]:
            second = sizes.index(-1, place + 1)
            raise ShapeError(f"Only one input size may be -1, not both {place} and {second}")
        rest = sizes[:place] + sizes[place + 1 :]
        missing, left = divmod(count, max(math.prod(rest), 1))
        if 0 in rest and not count:
            missing, left = math.prod(n for n in before if n) // math.prod(n for n in rest if n), 0
        if left:
            raise ShapeError(
                f"Input to reshape is a tensor with {count} values, but the requested shape requires a "
                f"multiple of {math.prod(rest)}"
            )
        sizes = sizes[:place] + [missing] + sizes[place + 1 :]
    for i, size in enumerate(sizes):
        if size < 0:
            raise ShapeError(f"Size {i} must be non-negative, not {size}")
    if math.prod(sizes) != count:
        raise ShapeError(
            f"Input to reshape is a tensor with {count} values, but the requested shape has "
            f"{math.prod(sizes)}"
        )
    return sizes


@reshape_op.kernel
def _reshape_kernel(tensor, shape):
    return tensor.reshape(_complete(shape, tensor.shape))


@reshape_op.specialize
def _reshape_specialized(node):
    tensor, shape = node.inputs
    if shape.constant is not None and tensor.shape.is_fully_defined() and tensor.dtype.torch:
        return torch.reshape, (tensor, _complete(shape.constant.tolist(), tensor.shape.tuple))


reshape_op.gradient(_reshape_family_gradient)
reshape_op.samples(
    (f32(2, 3), np.array([3, -1], np.int32)),
    (f32(1, 1), np.array([], np.int32)),
    (f32(), np.array([1, 1], np.int64)),
    (f32(0, 3), np.array([-1, 3], np.int32)),
    against=np.reshape,
)
reshape_op.refuses((f32(2, 3), np.array([4, -1], np.int32)), "must be evenly divisible by 4 but is 6")
reshape_op.refuses((f32(2, 3), np.array([5], np.int32)), "6 elements to shape [5] (5 elements)")


@export("reshape", "manip.reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor` in the same order under another shape; one size may be -1."""
    return reshape_op(tensor, shape, name=name)


expand_dims_op = Op("ExpandDims", "input: T, dim: Tdim -> output: T", Tdim=OUT_TYPE, host="dim")


def _single(dim: Any) -> int | None:
    if isinstance(dim, list):
        if len(dim) != 1:
            raise ShapeError("'dim' input must be a tensor with a single value")
        return _single(dim[0])
    return dim


def _check_new_axis(dim: int, rank: int) -> None:
    if not -rank - 1 <= dim <= rank:
        raise ShapeError(f"dim {dim} not in the interval [{-rank - 1}, {rank}].")


@expand_dims_op.shape
def _expand_dims_shape(input, dim):
    dim = _single(dim)
    if dim is None or input.ndims is None:
        return None
    _check_new_axis(dim, input.ndims)
    sizes = input.as_list()
    sizes.insert(dim if dim >= 0 else dim + input.ndims + 1, 1)
    return sizes


expand_dims_op.value(moved)


@expand_dims_op.kernel
def _expand_dims_kernel(input, dim):
    _check_new_axis(_single(dim), len(input.shape))
    return input.unsqueeze(_single(dim))


@expand_dims_op.kernel("string")
def _expand_dims_string_kernel(input, dim):
    return np.expand_dims(input, _single(dim))


@expand_dims_op.specialize
def _expand_dims_specialized(node):
    if node.inputs[1].constant is not None:
        return torch.unsqueeze, (node.inputs[0], int(node.inputs[1].constant.reshape(-1)[0]))


expand_dims_op.gradient(_reshape_family_gradient)
expand_dims_op.samples(
    (f32(2, 3), np.array(1, np.int32)),
    (f32(), np.array(0, np.int32)),
    (f32(0, 2), np.array(-1, np.int64)),
    against=lambda x, dim: np.expand_dims(x, int(dim)),
)
expand_dims_op.refuses((f32(2), np.array(3, np.int32)), "dim 3 not in the interval [-2, 1]")


@export("expand_dims")
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """The tensor with a dimension of size 1 put in at `axis`."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return expand_dims_op(input, axis, name=name)


squeeze_op = Op("Squeeze", "input: T -> output: T", squeeze_dims=attr("list(int)", [], minimum=0))


def _squeezed_axes(sizes: Sequence[int | None], squeeze_dims: list[int]) -> tuple[int, ...]:
    rank = len(sizes)
    if not squeeze_dims:
        return tuple(axis for axis, size in enumerate(sizes) if size == 1)
    for i, axis in enumerate(squeeze_dims):
        if not -rank <= axis < rank:
            raise ShapeError(f"squeeze_dims[{i}] not in [{-rank},{rank}).")
        if sizes[axis] not in (1, None):
            raise ShapeError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {sizes[axis]}")
    return tuple(sorted({axis % rank for axis in squeeze_dims}))


@squeeze_op.shape
def _squeeze_shape(input, *, squeeze_dims):
    if input.tuple is None or not squeeze_dims and None in input.tuple:
        return None
    axes = _squeezed_axes(input.tuple, squeeze_dims)
    return [size for axis, size in enumerate(input.tuple) if axis not in axes]


squeeze_op.value(moved)


@squeeze_op.kernel
def _squeeze_kernel(input, *, squeeze_dims):
    return input.squeeze(_squeezed_axes(input.shape, squeeze_dims))


@squeeze_op.gradient
def _squeeze_gradient(op, grad):
    return reshape(grad, shape(op.inputs[0]))


squeeze_op.samples(
    f32(1, 3, 1), (f32(1, 3, 1), {"squeeze_dims": [-1]}), f32(), (f32(1, 0), {"squeeze_dims": [0]})
)
squeeze_op.refuses((f32(2, 1), {"squeeze_dims": [0]}), "expected a dimension of 1, got 2")


@export("squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """The tensor without its dimensions of size 1, or without those of `axis`."""
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    axes = [] if axis is None else list(axis) if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    return squeeze_op(input, squeeze_dims=axes, name=name)


ensure_shape_op = Op("EnsureShape", "input: T -> output: T", shape=attr("shape"))


@ensure_shape_op.shape
def _ensure_shape_shape(input, *, shape):
    return merged(shape, input)


@ensure_shape_op.kernel
def _ensure_shape_kernel(input, *, shape, node):
    if not shape.is_compatible_with(tuple(input.shape)):
        raise errors.invalid_argument(
            f"Shape of tensor {node.source.inputs[0].name} {brackets(input.shape)} is not compatible with "
            f"expected shape {brackets(shape.tuple)}.",
        )
    return input


@ensure_shape_op.gradient
def _ensure_shape_gradient(op, grad):
    return grad


ensure_shape_op.samples((f32(2, 3), {"shape": [None, 3]}), (f32(), {"shape": None}))
ensure_shape_op.refuses((f32(2), {"shape": [3]}), "must be equal, but are 3 and 2")


@export("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, whose shape is checked in each step and known from here on."""
    return ensure_shape_op(
        x, shape=shape if isinstance(shape, TensorShape) else TensorShape(shape), name=name
    )


def _transpose_family_shape(x, perm):
    perm = vector(perm)
    if perm is None:
        return [None] * x.ndims if x.ndims is not None else None
    if x.ndims not in (None, len(perm)):
        raise ShapeError(f"Dimension must be {x.ndims} but is {len(perm)}")
    if x.tuple is None or not fully_known(perm):
        return [None] * len(perm)
    for axis in perm:
        if not -x.ndims <= axis < x.ndims:
            raise ShapeError(f"perm dim {axis} is out of range of input rank {x.ndims}")
    return [x.tuple[axis] for axis in perm]


def _checked_perm(perm: list[int], rank: int) -> list[int]:
    vector(perm)
    if len(perm) != rank:
        raise ShapeError(
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(perm)}"
        )
    for axis in perm:
        if not 0 <= axis < rank:
            raise ShapeError(f"{axis} is out of range [0 .. {rank})")
    for axis in range(rank):
        if axis not in perm:
            raise ShapeError(f"{axis} is missing from {{{','.join(map(str, perm))}}}.")
    return perm


# ---------------------------------------------------------------------------------- transpose

transpose_op = Op("Transpose", "x: T, perm: Tperm -> y: T", Tperm=OUT_TYPE, host="perm")
transpose_op.shape(_transpose_family_shape)
transpose_op.value(moved)


@transpose_op.kernel
def _transpose_kernel(x, perm):
    return x.permute(_checked_perm(perm, x.ndim))


@transpose_op.kernel("string")
def _transpose_string_kernel(x, perm):
    return x.transpose(_checked_perm(perm, x.ndim))


@transpose_op.specialize
def _transpose_specialized(node):
    perm = node.inputs[1].constant
    if perm is not None and sorted(perm.tolist()) == list(range(node.inputs[0].shape.ndims or 0)):
        return torch.permute, (node.inputs[0], perm.tolist())


@transpose_op.gradient
def _transpose_gradient(op, grad):
    return [transpose(grad, invert_permutation(op.inputs[1])), None]


transpose_op.samples(
    (f32(2, 3, 4), np.array([2, 0, 1], np.int32)),
    (f32(), np.array([], np.int32)),
    (f32(0, 2), np.array([1, 0], np.int64)),
    against=np.transpose,
)
transpose_op.refuses((f32(2, 3), np.array([0, 2], np.int32)), "perm dim 2 is out of range of input rank 2")

conjugate_transpose_op = Op("ConjugateTranspose", "x: T, perm: Tperm -> y: T", Tperm=OUT_TYPE, host="perm")
conjugate_transpose_op.shape(_transpose_family_shape)


@conjugate_transpose_op.kernel
def _conjugate_transpose_kernel(x, perm):
    return torch.conj_physical(x.permute(_checked_perm(perm, x.ndim)))


@conjugate_transpose_op.kernel("string")
def _conjugate_transpose_string_kernel(x, perm):
    return x.transpose(_checked_perm(perm, x.ndim))


@conjugate_transpose_op.gradient
def _conjugate_transpose_gradient(op, grad):
    return [transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None]


conjugate_transpose_op.samples(
    (c64(2, 3), np.array([1, 0], np.int32)),
    (f32(2, 3), np.array([1, 0], np.int32)),
    against=lambda x, perm: np.conj(np.transpose(x, perm)),
)


@export("transpose")
def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """The dimensions of `a` in the order of `perm`, reversed where none is given."""
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        op = conjugate_transpose_op if conjugate and a.dtype.is_complex else transpose_op
        if perm is None:
            perm = _reversed_axes(a)
        return op(a, perm, name=scope)


def _reversed_axes(a: Tensor) -> Any:
    if a.shape.ndims is not None:
        return np.arange(a.shape.ndims - 1, -1, -1, dtype=np.int32)
    count = rank(a)
    return (count - 1) - creation.range(0, count, 1, name="Range")


invert_permutation_op = Op(
    "InvertPermutation", "x: T -> y: T", T=OUT_TYPE, host="x", on_host=True, differentiable=False
)


@invert_permutation_op.shape
def _invert_permutation_shape(x):
    return [None if vector(x) is None else len(x)]


def _inverse(perm: list[int]) -> list[int]:
    inverse = [0] * len(perm)
    for place, axis in enumerate(perm):
        inverse[axis] = place
    return inverse


@invert_permutation_op.value
def _invert_permutation_value(op):
    perm = partial_value(op.inputs[0])
    return _inverse(perm) if fully_known(perm) and sorted(perm) == list(range(len(perm))) else None


@invert_permutation_op.kernel
def _invert_permutation_kernel(x, *, T):
    seen = set()
    for axis in vector(x):
        if not 0 <= axis < len(x):
            raise errors.invalid_argument(f"{axis} is not between 0 and {len(x)}")
        if axis in seen:
            raise errors.invalid_argument(f"{axis} is duplicated in the input.")
        seen.add(axis)
    return torch.tensor(_inverse(x), dtype=T.torch)


invert_permutation_op.samples(
    (np.array([2, 0, 1], np.int32),),
    (np.array([], np.int64),),
    against=lambda x: np.argsort(x).astype(x.dtype),
)


@export("invert_permutation", "math.invert_permutation")
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """`y` with `y[x[i]] = i`."""
    return invert_permutation_op(x, name=name)


# ---------------------------------------------------------------------------------- broadcasting

broadcast_to_op = Op("BroadcastTo", "input: T, shape: Tidx -> output: T", Tidx=OUT_TYPE, host="shape")


@broadcast_to_op.shape
def _broadcast_to_shape(input, shape):
    sizes = as_sizes(shape)
    if sizes is None:
        return None
    if input.tuple is None:
        return sizes
    if input.ndims > len(sizes):
        raise ShapeError(f"Shape must be at most rank {len(sizes)} but is rank {input.ndims}")
    for back in range(1, input.ndims + 1):
        old, new = input.tuple[-back], sizes[-back]
        if new is None:
            sizes[-back] = old if old is not None and old > 1 else None
        elif old not in (None, 1, new):
            raise ShapeError(f"Dimensions must be equal, but are {old} and {new}")
    return sizes


broadcast_to_op.value(moved)


def _checked_target(before: Sequence[int], sizes: list[int]) -> list[int]:
    vector(sizes)
    for size in sizes:
        if size < 0:
            raise ShapeError(f"Dimension {size} must be >= 0")
    if len(before) > len(sizes):
        raise ShapeError(
            f"Rank of input ({len(before)}) must be no greater than rank of output shape ({len(sizes)})."
        )
    if any(old not in (1, new) for old, new in zip(reversed(before), reversed(sizes), strict=False)):
        raise ShapeError(f"Incompatible shapes: {brackets(before)} vs. {brackets(sizes)}")
    return sizes


@broadcast_to_op.kernel
def _broadcast_to_kernel(input, shape):
    return input.expand(_checked_target(input.shape, shape))


@broadcast_to_op.kernel("string")
def _broadcast_to_string_kernel(input, shape):
    return np.broadcast_to(input, _checked_target(input.shape, shape))


@broadcast_to_op.gradient
def _broadcast_to_gradient(op, grad):
    before = shape(op.inputs[0], out_type=op.inputs[1].dtype.base_dtype)
    _, axes = broadcast_gradient_args_op(op.inputs[1], before)
    return [reshape(reductions.reduce_sum(grad, axes, keepdims=True), before), None]


broadcast_to_op.samples(
    (f32(3), np.array([2, 3], np.int32)),
    (f32(), np.array([2, 2], np.int64)),
    (f32(2, 1), np.array([2, 3], np.int32)),
    (f32(1), np.array([0], np.int32)),
    against=np.broadcast_to,
)
broadcast_to_op.refuses((f32(3), np.array([2], np.int32)), "must be equal, but are 3 and 2")


@export("broadcast_to")
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """The tensor repeated along its dimensions of size 1 (and new ones in front) to have `shape`."""
    return broadcast_to_op(input, shape, name=name)


def _check_broadcast(first: list[int], second: list[int]) -> None:
    if any(a != b and 1 not in (a, b) for a, b in zip(reversed(first), reversed(second), strict=False)):
        raise errors.invalid_argument(f"Incompatible shapes: {brackets(first)} vs. {brackets(second)}")


broadcast_args_op = Op(
    "BroadcastArgs", "s0: T, s1: T -> r0: T", T=OUT_TYPE, host="s0, s1", on_host=True, differentiable=False
)


@broadcast_args_op.shape
def _broadcast_args_shape(s0, s1):
    s0, s1 = vector(s0), vector(s1)
    return [None if s0 is None or s1 is None else max(len(s0), len(s1))]


def _common(size: int | None, other: int | None) -> int | None:
    if size is None or other is None or size != other and 1 not in (size, other):
        return None
    return other if size == 1 else size


@broadcast_args_op.value
def _broadcast_args_value(op):
    """A size beside one that is not known stays open: whether they fit is for the step to say."""
    first, second = (partial_value(tensor) for tensor in op.inputs)
    if first is None or second is None:
        return None
    rank = max(len(first), len(second))
    pairs = zip([1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second, strict=True)
    return [_common(*pair) for pair in pairs]


@broadcast_args_op.kernel
def _broadcast_args_kernel(s0, s1, *, T):
    _check_broadcast(vector(s0), vector(s1))
    return torch.tensor(broadcast_static_shape(s0, s1).as_list(), dtype=T.torch)


broadcast_args_op.samples(
    (np.array([2, 1, 3], np.int32), np.array([7, 1], np.int32)),
    (np.array([], np.int64), np.array([2], np.int64)),
    against=lambda a, b: np.array(np.broadcast_shapes(tuple(a), tuple(b)), a.dtype),
)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape of an element-wise operation on tensors of these shapes."""
    return broadcast_args_op(shape_x, shape_y)


broadcast_gradient_args_op = Op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    T=OUT_TYPE,
    host="s0, s1",
    on_host=True,
    differentiable=False,
)


@broadcast_gradient_args_op.shape
def _broadcast_gradient_args_shape(s0, s1):
    vector(s0), vector(s1)
    return [[None], [None]]


def _summed_axes(first: list[int], second: list[int]) -> list[list[int]]:
    """For each of two shapes that broadcast together, the axes along which the gradient must be summed."""
    if first == second:
        return [[], []]
    rank = max(len(first), len(second))
    pairs = list(zip([1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second, strict=True))
    return [[axis for axis, pair in enumerate(pairs) if pair[side] == 1] for side in (0, 1)]


@broadcast_gradient_args_op.value
def _broadcast_gradient_args_value(op):
    first, second = (partial_value(tensor) for tensor in op.inputs)
    if not (fully_known(first) and fully_known(second)):
        return [None, None]
    return _summed_axes(first, second)


@broadcast_gradient_args_op.kernel
def _broadcast_gradient_args_kernel(s0, s1, *, T):
    _check_broadcast(vector(s0), vector(s1))
    return [torch.tensor(axes, dtype=T.torch) for axes in _summed_axes(s0, s1)]


broadcast_gradient_args_op.samples(
    (np.array([2, 1, 3], np.int32), np.array([7, 1], np.int32)),
    (np.array([2, 3], np.int64), np.array([2, 3], np.int64)),
    (np.array([], np.int32), np.array([1], np.int32)),
)


def broadcast_gradient_args(s0: Any, s1: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The axes along which the gradients of two broadcast operands, of shapes `s0` and `s1`, are summed."""
    return broadcast_gradient_args_op(s0, s1, name=name)


@export("shape")
def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of a tensor: a constant where it is known."""
    return shape_of(input, name, optimize=True, out_type=out_type)


@export("matrix_transpose", "linalg.matrix_transpose", "linalg.transpose")
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The matrices of the last two dimensions, transposed."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        if a.shape.ndims is not None:
            if a.shape.ndims < 2:
                raise ValueError(
                    f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}"
                )
            return transpose(
                a, [*range(a.shape.ndims - 2), a.shape.ndims - 1, a.shape.ndims - 2], conjugate=conjugate
            )
        count = rank(a)
        batch = creation.range(count - 2, name="Range")
        last, before = count - 1, count - 2
        return transpose(a, joining.concat([batch, [last, before]], 0), conjugate=conjugate)


@export("linalg.adjoint")
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transposes of the matrices of the last two dimensions."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)
