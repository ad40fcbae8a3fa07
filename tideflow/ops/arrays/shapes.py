"""The shape of a tensor, as a value and as something to change: Shape, Reshape, Transpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export, expose
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import executing_eagerly, get_eager_graph, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants
from tideflow.ops.helpers.arguments import are_integers, renamed
from tideflow.ops.helpers.axes import as_sizes, brackets, merged, moved, of_rank, size_product, vector
from tideflow.ops.helpers.references import unchanged
from tideflow.ops.helpers.samples import c64, f32
from tideflow.ops.helpers.types import INDEX
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike, TensorOrRagged
    from tideflow.linalg.operator import LinearOperator

expose(None, "newaxis")


def _sizes(tensor: Any) -> list | None:
    return None if tensor.shape.tuple is None else list(tensor.shape.tuple)


# ---------------------------------------------------------------------------------- the shape as a value

shape_op = Op("Shape", "input: T -> output: out_type", out_type=INDEX, differentiable=False, role="metadata")

shape_op.shape(lambda input: [input.ndims])
shape_op.value(lambda op: _sizes(op.inputs[0]))


@shape_op.kernel
def _shape_kernel(input, *, out_type, device):
    try:
        return torch.tensor(input.shape, dtype=out_type.torch, device=device)
    except RuntimeError:
        axis, size = next((i, n) for i, n in enumerate(input.shape) if n >= 2**31)
        raise errors.invalid_argument(f"Shape output type is 32-bit but dim {axis} is {size}") from None


shape_op.samples(
    f32(2, 3), f32(), (f32(0, 2), {"out_type": dtypes.int64}), against=lambda x: np.array(x.shape)
)


def shape_of(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    """The shape of a tensor; a Shape node where it is not known, or where constants are not wanted."""
    graph = get_eager_graph()
    if graph is not None and type(input) is graph.tensor_type:
        return shape_op.apply((input,), name, {"out_type": out_type})
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, SparseTensor):
            return casting.cast(input.dense_shape, out_type)
        input = convert_to_tensor(input)
        if optimize and input.shape.is_fully_defined():
            return constants.constant(input.shape.as_list(), out_type, name=scope)
        return shape_op(input, out_type=out_type, name=scope)


@export("shape")
def shape(
    input: TensorLike | SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.int32
) -> Tensor:
    """The shape of a tensor: a constant where it is known.

    Args:
      input: A tensor or SparseTensor.
      name: A name for the operation.
      out_type: The type of the sizes, int32 or int64.

    Returns:
      A vector of type `out_type`.
    """
    return shape_of(input, name, optimize=True, out_type=out_type)


shape_n_op = Op("ShapeN", "input: N * T -> output: N * out_type", out_type=INDEX, differentiable=False)

shape_n_op.shape(lambda input: [[shape.ndims] for shape in input])
shape_n_op.value(lambda op: [_sizes(tensor) for tensor in op.inputs])


@shape_n_op.kernel
def _shape_n_kernel(input, *, out_type, device):
    return [_shape_kernel(value, out_type=out_type, device=device) for value in input]


shape_n_op.samples(([f32(2, 3), f32()],), against=lambda input: [np.array(x.shape) for x in input])


@export("shape_n")
def shape_n(
    input: Sequence[Any], out_type: DTypeLike = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of several tensors.

    Args:
      input: A list of tensors of one type.
      out_type: The type of the sizes, int32 or int64.
      name: A name for the operation.

    Returns:
      A list of vectors of type `out_type`.
    """
    return shape_n_op(input, out_type=out_type, name=name)


size_op = Op("Size", "input: T -> output: out_type", out_type=INDEX, differentiable=False, role="metadata")
size_op.shape(lambda input: [])

size_op.value(lambda op: op.inputs[0].shape.num_elements())


@size_op.kernel
def _size_kernel(input, *, out_type, device):
    try:
        return torch.tensor(math.prod(input.shape), dtype=out_type.torch, device=device)
    except RuntimeError:
        raise errors.invalid_argument(
            "Number of elements was larger than representable by 32-bit output type: "
            f"{math.prod(input.shape)}"
        ) from None


size_op.samples(f32(2, 3), f32(), f32(0, 2), against=np.size)


@export("size", ragged="size")
def size(
    input: TensorOrRagged | SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.int32
) -> Tensor:
    """How many elements a tensor has: a constant where its shape is known.

    Args:
      input: A tensor or SparseTensor.
      name: A name for the operation.
      out_type: The type of the number, int32 or int64.

    Returns:
      A scalar of type `out_type`.
    """
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, SparseTensor):
            return tf.reduce_prod(casting.cast(input.dense_shape, out_type), 0, name=scope)
        input = convert_to_tensor(input)
        if input.shape.is_fully_defined():
            return constants.constant(input.shape.num_elements(), out_type, name=scope)
        return size_op(input, out_type=out_type, name=scope)


rank_op = Op("Rank", "input: T -> output: int32", differentiable=False, role="metadata")
rank_op.shape(lambda input: [])

rank_op.value(lambda op: op.inputs[0].shape.ndims)


@rank_op.kernel
def _rank_kernel(input, *, device):
    return torch.tensor(len(input.shape), dtype=torch.int32, device=device)


rank_op.samples(f32(2, 3), f32(), f32(0, 2), against=np.ndim)


@export("rank", ragged="rank")
def rank(input: TensorOrRagged | SparseTensor, name: str | None = None) -> Tensor:
    """How many axes a tensor has: a constant where that is known.

    Args:
      input: A tensor or SparseTensor.
      name: A name for the operation.

    Returns:
      A scalar of type int32.
    """
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, SparseTensor):
            return size_op(input.dense_shape, name=scope)
        input = convert_to_tensor(input)
        if input.shape.ndims is not None:
            return constants.constant(input.shape.ndims, dtypes.int32, name=scope)
        return rank_op(input, name=scope)


# ---------------------------------------------------------------------------------- reshape


def shaped_back(op, grad):
    """The gradient of ops that keep the elements and their order; their second input is a size."""
    return [reshape(grad, shape(op.inputs[0])), None]


reshape_op = Op("Reshape", "tensor: T, shape: Tshape -> output: T", Tshape=INDEX, host="shape")


_ONE_AXIS = "sizes input must be 1-D, not "


@reshape_op.shape
def _reshape_shape(tensor, shape):
    sizes = as_sizes(shape, _ONE_AXIS)
    count = None if tensor.tuple is None else size_product(*tensor.tuple)
    if sizes is None or count is None:
        return sizes
    known = math.prod(size for size in sizes if size is not None)
    open_places = sizes.count(None)
    if open_places == 0 and known != count:
        raise ShapeError(
            f"Cannot reshape a tensor with {count} elements to shape {brackets(sizes)} ({known} elements)",
            f"Input to reshape is a tensor with {count} values, but the requested shape has {known}",
        )
    if open_places == 1 and known:
        if count % known:
            raise ShapeError(f"Dimension size must be evenly divisible by {known} but is {count}")
        sizes[sizes.index(None)] = count // known
    return sizes


reshape_op.value(moved)


def _complete(sizes: list[int], before: Sequence[int]) -> list[int]:
    """The sizes with the one that is -1 filled in. For empty tensors too: there, sizes of 0 do not count."""
    vector(sizes, _ONE_AXIS)
    count = math.prod(before)
    if -1 in sizes:
        place = sizes.index(-1)
        if -1 in sizes[place + 1 :]:
            second = sizes.index(-1, place + 1)
            raise ShapeError(f"Only one input size may be -1, not both {place} and {second}")
        rest = sizes[:place] + sizes[place + 1 :]
        others = max(math.prod(rest), 1)
        missing, left = count // others, count % others  # symbols have no divmod
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


reshape_op.gradient(shaped_back)
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
def reshape(tensor: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """Gives the elements of a tensor, in the same order, another shape.

    Args:
      tensor: A tensor.
      shape: The shape to have, a vector of integers. One of them may be -1: what is left.
      name: A name for the operation.

    Returns:
      A tensor of the type of `tensor` and of this shape.

    Raises:
      ValueError: If the shape is known to have another number of elements.
    """
    graph = get_eager_graph()
    if graph is not None and type(tensor) is graph.tensor_type and are_integers(shape):
        key = reshape_op, tensor._key, *shape  # type: ignore[misc]
        known = graph.known.get(key)
        if known is not None:
            return known((tensor, shape), name)
        return graph.execute(reshape_op, (tensor, shape), {}, name, key)
    return reshape_op.apply((tensor, shape), name)


expand_dims_op = Op(
    "ExpandDims",
    "input: T, dim: Tdim -> output: T",
    Tdim=INDEX,
    host="dim",
    python_names={"axis": "dim"},
)


def _single(dim: Any) -> int | None:
    if isinstance(dim, list):
        if len(dim) != 1:
            raise ShapeError("'dim' input must be a tensor with a single value")
        return _single(dim[0])
    return dim


def _check_new_axis(dim: int, rank: int) -> None:
    if not -rank - 1 <= dim <= rank:
        raise ShapeError(
            f"dim {dim} not in the interval [{-rank - 1}, {rank}].",
            f"Tried to expand dim index {dim} for tensor with {rank} dimensions.",
        )


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


expand_dims_op.gradient(shaped_back)
expand_dims_op.samples(
    (f32(2, 3), np.array(1, np.int32)),
    (f32(), np.array(0, np.int32)),
    (f32(0, 2), np.array(-1, np.int64)),
    against=lambda x, dim: np.expand_dims(x, int(dim)),
)
expand_dims_op.refuses((f32(2), np.array(3, np.int32)), "dim 3 not in the interval [-2, 1]")


@export("expand_dims", ragged="expand_dims")
def expand_dims(
    input: TensorOrRagged,
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """Puts an axis of size 1 into the shape of a tensor.

    Args:
      input: A tensor.
      axis: Where the new axis stands, a scalar; negative ones are counted from the end.
      name: A name for the operation.
      dim: The deprecated name of `axis`.

    Returns:
      A tensor of the type of `input` with one axis more.

    Raises:
      ValueError: If no axis is given, or it does not exist.
    """
    if dim is not None:
        axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    graph = get_eager_graph()
    if graph is not None and type(input) is graph.tensor_type and type(axis) is int:
        return graph.execute(expand_dims_op, (input, axis), {}, name, (expand_dims_op, input._key, axis))
    return expand_dims_op(input, axis, name=name)


squeeze_op = Op(
    "Squeeze",
    "input: T -> output: T",
    squeeze_dims=attr("list(int)", [], minimum=0),
    python_names={"axis": "squeeze_dims"},
)


def _squeezed_axes(sizes: Sequence[int | None], squeeze_dims: list[int]) -> tuple[int, ...]:
    rank = len(sizes)
    if not squeeze_dims:
        return tuple(axis for axis, size in enumerate(sizes) if size == 1)
    for i, axis in enumerate(squeeze_dims):
        if not -rank <= axis < rank:
            raise ShapeError(f"squeeze_dims[{i}] not in [{-rank},{rank}).")
        if sizes[axis] not in (1, None):
            raise ShapeError(
                f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {sizes[axis]}"
            )
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


@squeeze_op.specialize
def _squeeze_specialized(node):
    (input,) = node.inputs
    if input.shape.is_fully_defined() and input.dtype.torch:
        return torch.squeeze, (input, _squeezed_axes(input.shape.tuple, node.attrs["squeeze_dims"]))


@squeeze_op.gradient
def _squeeze_gradient(op, grad):
    return reshape(grad, shape(op.inputs[0]))


squeeze_op.samples(
    f32(1, 3, 1),
    (f32(1, 3, 1), {"squeeze_dims": [-1]}),
    f32(),
    (f32(1, 0), {"squeeze_dims": [0]}),
    against=lambda x, squeeze_dims: np.squeeze(x, tuple(squeeze_dims) or None),
)
squeeze_op.refuses((f32(2, 1), {"squeeze_dims": [0]}), "expected a dimension of 1, got 2")


@export("squeeze", ragged="squeeze")
def squeeze(
    input: TensorLike,
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
    squeeze_dims: int | Sequence[int] | None = None,
) -> Tensor:
    """Removes axes of size 1 from the shape of a tensor.

    Args:
      input: A tensor.
      axis: The axes to remove, an integer or a list of them; by default all of size 1.
      name: A name for the operation.
      squeeze_dims: The deprecated name of `axis`.

    Returns:
      A tensor of the type of `input`.

    Raises:
      ValueError: If an axis is known to have another size.
    """
    if squeeze_dims is not None:
        axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    axes = [] if axis is None else list(axis) if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    graph = get_eager_graph()
    if graph is not None and type(input) is graph.tensor_type and are_integers(axes):
        key = squeeze_op, input._key, *axes
        return graph.execute(squeeze_op, (input,), {"squeeze_dims": axes}, name, key)
    return squeeze_op(input, squeeze_dims=axes, name=name)


ensure_shape_op = Op("EnsureShape", "input: T -> output: T", shape=attr("shape"))


@ensure_shape_op.shape
def _ensure_shape_shape(input, *, shape):
    if shape.ndims is not None:
        of_rank(input, shape.ndims)
    return merged(shape, input)


@ensure_shape_op.kernel
def _ensure_shape_kernel(input, *, shape, node):
    if not shape.is_compatible_with(tuple(input.shape)):
        asked = node.source.inputs[0].name.removesuffix(":0")
        raise errors.invalid_argument(
            f"Shape of tensor {asked} {brackets(input.shape)} is not compatible with expected shape "
            f"{brackets(shape.tuple)}.",
        )
    return input


ensure_shape_op.gradient(lambda op, grad: grad)
ensure_shape_op.samples((f32(2, 3), {"shape": [None, 3]}), (f32(), {"shape": None}), against=unchanged)
ensure_shape_op.refuses((f32(2), {"shape": [3]}), "must be equal, but are 3 and 2")


@export("ensure_shape")
def ensure_shape(x: TensorLike, shape: ShapeLike | None, name: str | None = None) -> Tensor:
    """Checks the shape of a tensor in each step, so that it is known from here on.

    Args:
      x: A tensor.
      shape: The shape that it must have, of which sizes may be open.
      name: A name for the operation.

    Returns:
      A tensor like `x`. A step in which it has another shape fails with InvalidArgumentError.

    Raises:
      ValueError: If the shape is known to be another.
    """
    return ensure_shape_op(
        x, shape=shape if isinstance(shape, TensorShape) else TensorShape(shape), name=name
    )


# ---------------------------------------------------------------------------------- transpose


def permuted_shape(x, perm):
    """The shape rule of Transpose and ConjugateTranspose."""
    perm = vector(perm, "perm must be a vector, not ")
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
    vector(perm, "perm must be a vector, not ")
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


transpose_op = Op("Transpose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, host="perm")
transpose_op.shape(permuted_shape)
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

conjugate_transpose_op = Op("ConjugateTranspose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, host="perm")
conjugate_transpose_op.shape(permuted_shape)


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
def transpose(
    a: TensorLike, perm: TensorLike | None = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """Exchanges the axes of a tensor.

    Args:
      a: A tensor.
      perm: For each axis of the result, the axis of `a` that it is; by default all axes in reverse.
      name: A name for the operation.
      conjugate: Whether complex numbers are conjugated too.

    Returns:
      A tensor of the type of `a`.
    """
    if getattr(a, "is_eager", False) and executing_eagerly() and not conjugate:
        return transpose_op.apply((a, _reversed_axes(a) if perm is None else perm), name)
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        op = conjugate_transpose_op if conjugate and a.dtype.is_complex else transpose_op
        if perm is None:
            perm = _reversed_axes(a)
        return op(a, perm, name=scope)


def _reversed_axes(a: Tensor) -> Any:
    if a.is_eager:
        return list(range(a.shape.ndims - 1, -1, -1))
    if a.shape.ndims is not None:
        return np.arange(a.shape.ndims - 1, -1, -1, dtype=np.int32)
    count = rank(a)
    return (count - 1) - tf.range(0, count, 1, name="Range")


@export("matrix_transpose", "linalg.matrix_transpose", "linalg.transpose")
def matrix_transpose(a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Transposes the matrices along the last two axes of a tensor.

    Args:
      a: A tensor of rank 2 or more.
      name: A name for the scope of the operations.
      conjugate: Whether complex numbers are conjugated too.

    Returns:
      A tensor of the type of `a` with its last two axes exchanged.

    Raises:
      ValueError: If the rank is known to be less than 2.
    """
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
        batch = tf.range(count - 2, name="Range")
        last, before = count - 1, count - 2
        return transpose(a, tf.concat([batch, [last, before]], 0), conjugate=conjugate)


@export("linalg.adjoint", operator="adjoint")
def adjoint(matrix: TensorLike | LinearOperator, name: str | None = None) -> Tensor:
    """The conjugate transposes of the matrices along the last two axes of a tensor.

    Args:
      matrix: A tensor of rank 2 or more.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `matrix` with its last two axes exchanged.
    """
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


invert_permutation_op = Op("InvertPermutation", "x: T -> y: T", T=INDEX, on_host=True, differentiable=False)

_PERMUTATION = "invert_permutation expects a 1D vector. "


@invert_permutation_op.shape
def _invert_permutation_shape(x):
    return of_rank(x, 1, _PERMUTATION)


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
def _invert_permutation_kernel(x):
    of_rank(TensorShape(x.shape), 1, _PERMUTATION)
    inverse = torch.full_like(x, -1)
    are_places = not x.numel() or int(x.min()) >= 0 and int(x.max()) < len(x)
    if are_places:
        inverse[x.long()] = torch.arange(len(x), dtype=x.dtype)
    if not are_places or x.numel() and int(inverse.min()) < 0:
        raise _no_permutation(x.tolist())
    return inverse


def _no_permutation(x: list[int]) -> errors.InvalidArgumentError:
    """An error for the first number that is no place, or stands there twice."""
    seen = set()
    for axis in x:
        if not 0 <= axis < len(x):
            return errors.invalid_argument(f"{axis} is not between 0 and {len(x)}")
        if axis in seen:
            break
        seen.add(axis)
    return errors.invalid_argument(f"{axis} is duplicated in the input.")


invert_permutation_op.samples(
    (np.array([2, 0, 1], np.int32),),
    (np.array([], np.int64),),
    against=lambda x: np.argsort(x).astype(x.dtype),
)


@export("invert_permutation", "math.invert_permutation")
def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverts a permutation: gives `y` with `y[x[i]] = i`.

    Args:
      x: A vector of int32 or int64 that holds each number from 0 to its length - 1 once.
      name: A name for the operation.

    Returns:
      A vector of the type of `x`. A step in which `x` is no permutation fails with InvalidArgumentError.
    """
    return invert_permutation_op(x, name=name)
