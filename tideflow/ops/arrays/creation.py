"""Tensors made from sizes and numbers: fills, ranges, one-hot rows, grids and masks."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError, definition
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import get_eager_graph, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, joining, shapes
from tideflow.ops.helpers.arguments import are_integers
from tideflow.ops.helpers.axes import (
    COUNT,
    as_sizes,
    brackets,
    checked_sizes,
    moved,
    of_rank,
    one_value,
    scalar,
)
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.references import unchanged
from tideflow.ops.helpers.samples import f32, i32, i64
from tideflow.ops.helpers.types import FLOATS, INDEX, types
from tideflow.ops.math import binary, casting
from tideflow.runtime.tensor_lists import zeros_of
from tideflow.runtime.values import to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike, TensorOrRagged

# ---------------------------------------------------------------------------------- one value everywhere

fill_op = Op(
    "Fill", "dims: index_type, value: T -> output: T", index_type=INDEX, host="dims", has_static_value=True
)

_DIMS = "dims must be a vector, got shape "


@fill_op.shape
def _fill_shape(dims, value):
    of_rank(value, 0)
    sizes = as_sizes(dims, _DIMS)
    if sizes is not None and -1 in dims:
        raise ShapeError("Fill dimensions must be >= 0")
    return sizes


fill_op.value(moved)


@fill_op.kernel
def _fill_kernel(dims, value):
    return one_value(value, "value").expand(checked_sizes(dims, _DIMS)).contiguous()


@fill_op.kernel("string")
def _fill_string_kernel(dims, value):
    return np.full(checked_sizes(dims, _DIMS), one_value(value, "value")[()], dtype=object)


@fill_op.gradient
def _fill_gradient(op, grad):
    return [None, tf.reduce_sum(grad)]


fill_op.samples(
    (np.array([2, 3], np.int32), f32()),
    (np.array([], np.int32), f32()),
    (np.array([0, 2], np.int64), i32()),
    against=lambda dims, value: np.full(dims, value, value.dtype),
)
fill_op.refuses((np.array([-1], np.int32), f32()), "Fill dimensions must be >= 0")
fill_op.refuses((np.array([2], np.int32), f32(2)), "Shape must be rank 0 but is rank 1")


@export("fill")
def fill(dims: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """Makes a tensor with one value in every place.

    Args:
      dims: The shape, a vector of integers.
      value: The value, a scalar.
      name: A name for the operation.

    Returns:
      A tensor of the type of `value`.
    """
    return fill_op(dims, value, name=name)


_SMALL = 1000  # elements: larger fills stay out of the graph as data


def _is_small(shape: Any) -> bool:
    """Whether the tensor is small enough for a constant. Where sizes are tensors, comparing them leaves nodes
    in the graph, as TensorFlow does, and the answer is no.
    """
    if not isinstance(shape, (list, tuple, np.ndarray, TensorShape)):
        return False
    sizes = list(shape)
    try:
        return (
            bool(functools.reduce(operator.mul, sizes, *([] if sizes else [1])) < _SMALL) and -1 not in sizes
        )
    except (TypeError, ValueError):
        return False


def _sizes_tensor(shape: Any) -> Tensor:
    try:
        sizes = TensorShape(shape).as_list()
        kind = dtypes.int64 if any(size > dtypes.int32.max for size in sizes) else dtypes.int32
        return constants.constant(sizes, kind, name="shape_as_tensor")
    except (TypeError, ValueError):
        return convert_to_tensor(shape, dtype=dtypes.int32)


def _filled(value: Any, shape: Any, dtype: dtypes.DType, name: str | None, default_name: str) -> Tensor:
    with name_scope(name, default_name, [shape]) as scope:
        if not isinstance(shape, Tensor):
            if isinstance(shape, TensorShape) and not shape.is_fully_defined():
                raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
            if _is_small(shape):
                return constants.constant(value, dtype, shape, name=scope)
            shape = _sizes_tensor(shape)
        if not shape.shape.tuple:
            shape = shapes.reshape(shape, [-1])
        return fill(shape, constants.constant(value, dtype), name=scope)


_MOST_FILLED = 2**20  # elements, of what eager mode makes at once; a Fill asks whether memory is there


def _small_sizes(shape: Any) -> Sequence[int] | None:
    """The sizes of a small shape that is given as Python's integers; None of others."""
    if isinstance(shape, TensorShape):
        shape = shape.tuple
    if not are_integers(shape):
        return None
    count = 1
    for size in shape:
        if size < 0:
            return None
        count *= size
    return shape if count <= _MOST_FILLED else None  # type: ignore[no-any-return]


@export("zeros")
def zeros(shape: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Makes a tensor of zeros (False, empty strings): a constant where it is small, a Fill where not.

    Args:
      shape: The shape: a list of integers, a TensorShape or a vector.
      dtype: The type of the elements.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`.
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    graph = get_eager_graph()
    if graph is not None and dtype.torch and (sizes := _small_sizes(shape)) is not None:
        return graph.filled(sizes, 0, dtype)
    zero = False if dtype.is_bool else "" if dtype is dtypes.string else 0
    return _filled(zero, shape, dtype, name, "zeros")


@export("ones")
def ones(shape: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Makes a tensor of ones (True): a constant where it is small, a Fill where not.

    Args:
      shape: The shape: a list of integers, a TensorShape or a vector.
      dtype: The type of the elements.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`.
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    graph = get_eager_graph()
    if graph is not None and dtype.torch and (sizes := _small_sizes(shape)) is not None:
        return graph.filled(sizes, 1, dtype)
    return _filled(True if dtype.is_bool else 1, shape, dtype, name, "ones")


zeros_like_op = Op("ZerosLike", "x: T -> y: T", differentiable=False)
zeros_like_op.shape(same_shape)

zeros_like_op.kernel(lambda x: torch.zeros_like(x))


@zeros_like_op.kernel("string")
def _zeros_like_string_kernel(x, *, T):
    return zeros_of(x) if T is dtypes.variant else np.full(x.shape, b"", dtype=object)


zeros_like_op.specialize(lambda node: (torch.zeros_like, node.inputs))
zeros_like_op.samples(f32(2, 3), i64(), f32(0, 2), against=np.zeros_like)


@export("zeros_like", ragged="values")
def zeros_like(
    tensor: TensorOrRagged, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Makes a tensor of zeros with the shape of another one.

    Args:
      tensor: A tensor.
      dtype: The type of the elements; by default that of `tensor`.
      name: A name for the operation.
      optimize: Whether to make a constant where the shape is known.

    Returns:
      A tensor of type `dtype` and the shape of `tensor`.
    """
    graph = get_eager_graph()
    if graph is not None and dtype is None and type(tensor) is graph.tensor_type:
        return zeros_like_op.apply((tensor,), name)
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if wanted is dtypes.variant:
            return zeros_like_op(tensor, name=scope)
        if optimize and tensor.shape.is_fully_defined():
            return zeros(tensor.shape, wanted, name=scope)
        if wanted is not tensor.dtype.base_dtype:
            return zeros(shapes.shape_of(tensor, optimize=optimize), wanted, name=scope)
        return zeros_like_op(tensor, name=scope)


ones_like_op = Op(
    "OnesLike",
    "x: T -> y: T",
    T=types(
        "bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128 "
        "bool"
    ),
    differentiable=False,
)
ones_like_op.shape(same_shape)

ones_like_op.kernel(lambda x: torch.ones_like(x))
ones_like_op.samples(f32(2, 3), i64(), f32(0, 2), against=np.ones_like)


@export("ones_like", ragged="values")
def ones_like(
    tensor: TensorOrRagged, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Makes a tensor of ones with the shape of another one.

    Args:
      tensor: A tensor.
      dtype: The type of the elements; by default that of `tensor`.
      name: A name for the operation.
      optimize: Whether to make a constant where the shape is known.

    Returns:
      A tensor of type `dtype` and the shape of `tensor`.
    """
    graph = get_eager_graph()
    if graph is not None and dtype is None and type(tensor) is graph.tensor_type and tensor.dtype.torch:
        return ones_like_op.apply((tensor,), name)
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        sizes = shapes.shape_of(tensor, optimize=optimize)
        result = ones(sizes, tensor.dtype if dtype is None else dtype, name=scope)
        result.set_shape(tensor.shape)
        return result


# ---------------------------------------------------------------------------------- sequences

range_op = Op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    Tidx=attr(
        "type",
        dtypes.int32,
        allowed=types("bfloat16 half float double int8 int16 int32 int64 uint16 uint32 uint64"),
    ),
    host="start, limit, delta",
    differentiable=False,
    has_static_value=True,
)


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ShapeError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ShapeError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ShapeError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(delta, (int, np.integer)):
        return -((start - limit) // delta)
    count = abs((limit - start) / delta)
    if not count < 2**63:
        raise ShapeError(f"Requires ((limit - start) / delta) <= {2**63 - 1}, but it is {count}")
    return math.ceil(count)


@range_op.shape
def _range_shape(start, limit, delta):
    if None in (scalar(start), scalar(limit), scalar(delta)):
        return [None]
    return [_range_size(start, limit, delta)]


@range_op.value
def _range_value(op):
    start, limit, delta = (partial_value(tensor) for tensor in op.inputs)
    size = op.outputs[0].shape.tuple[0]
    if size is None or isinstance(size, torch.SymInt) or None in (start, limit, delta):
        return None
    return [start + i * delta for i in np.arange(size).tolist()]


@range_op.kernel
def _range_kernel(start, limit, delta, *, Tidx, device):
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if isinstance(value, list):
            raise errors.invalid_argument(f"{name} must be a scalar, not shape [{len(value)}]")
    size = _range_size(start, limit, delta)
    if isinstance(size, torch.SymInt):
        return (torch.arange(size, device=device) * delta + start).to(Tidx.torch)
    if Tidx.is_integer:
        numbers = np.arange(size, dtype=np.int64) * delta + start
        return to_torch(numbers.astype(Tidx.as_numpy_dtype), device)
    # Rounded after every step, as a sum that grows by delta is.
    steps = np.full(size, delta, Tidx.as_numpy_dtype)
    steps[:1] = start
    return to_torch(np.add.accumulate(steps), device)


range_op.samples(
    (np.array(2, np.int32), np.array(9, np.int32), np.array(3, np.int32)),
    (np.array(5, np.int64), np.array(0, np.int64), np.array(-2, np.int64)),
    (np.array(3, np.int32), np.array(3, np.int32), np.array(1, np.int32)),
    (np.array(0, np.float32), np.array(1, np.float32), np.array(0.3, np.float32), {"Tidx": dtypes.float32}),
    against=np.arange,
)
range_op.refuses(
    (*np.float32([0, np.inf, 1]), {"Tidx": dtypes.float32}), "Requires ((limit - start) / delta) <= "
)
range_op.refuses((np.array(0), np.array(5), np.array(0)), "Requires delta != 0")
range_op.refuses((np.array(5), np.array(0), np.array(1)), "Requires start <= limit when delta > 0: 5/0")

_BY_WIDTH = types("int32 int64 float double")  # the types in which tf.range counts, the widest last


@export("range")
def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """Counts from one number up to, without, another: `tf.range(limit)` or `tf.range(start, limit, delta)`.

    Args:
      start: The first number, a scalar; with one argument, the limit, and counting begins at 0.
      limit: The number to stop before.
      delta: The step, which may be negative.
      dtype: The type to count in; by default the widest of those given.
      name: A name for the operation.

    Returns:
      A vector.
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        start = convert_to_tensor(start, dtype=dtype, name="start")
        limit = convert_to_tensor(limit, dtype=dtype, name="limit")
        delta = convert_to_tensor(delta, dtype=dtype, name="delta")
        ends = [start, limit, delta]
        if dtype is None:
            found = [tensor.dtype.base_dtype for tensor in ends]
            unknown = [dtype for dtype in found if dtype not in _BY_WIDTH]
            if unknown:
                raise TypeError(
                    f"tf.range counts in {', '.join(d.name for d in _BY_WIDTH)}, not in {unknown[0].name}; "
                    "give `dtype` for others"
                )
            widest = max(found, key=_BY_WIDTH.index)
            ends = [casting.cast(tensor, widest) for tensor in ends]
        return range_op(*ends, name=scope)


@export("sequence_mask")
def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = dtypes.bool,
    name: str | None = None,
) -> Tensor:
    """Marks the first places of rows: the last axis is True in the first `lengths[i]` of `maxlen` places.

    Args:
      lengths: How many places to mark, a tensor of integers.
      maxlen: The size of the last axis, a scalar; by default the largest of `lengths`.
      dtype: The type of the result.
      name: A name for the scope of the operations.

    Returns:
      A tensor of type `dtype` with one axis more than `lengths`.

    Raises:
      ValueError: If `maxlen` is not a scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = tf.reduce_max(lengths)
            maxlen = binary.maximum(constants.constant(0, longest.dtype), longest)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        zero, one = (constants.constant(number, maxlen.dtype) for number in (0, 1))
        places = range_op(zero, maxlen, one)
        cast_op = definition("Cast")  # made even where nothing changes, as TensorFlow's graphs have it
        ends = cast_op(shapes.expand_dims(lengths, -1), DstT=maxlen.dtype)
        mask = binary.less(places, ends)
        wanted = dtypes.bool if dtype is None else dtypes.as_dtype(dtype).base_dtype
        return mask if wanted is dtypes.bool else cast_op(mask, DstT=wanted)


lin_space_op = Op(
    "LinSpace",
    "start: T, stop: T, num: Tidx -> output: T",
    T=FLOATS,
    Tidx=INDEX,
    host="num",
    differentiable=False,
)


@lin_space_op.shape
def _lin_space_shape(start, stop, num):
    for name, end in (("start", start), ("stop", stop)):
        of_rank(end, 0, f"{name} must be a scalar, not shape {brackets(end.tuple or ())}")
    if scalar(num, "num must be a scalar, not shape ") is not None and num <= 0:
        raise ShapeError(f"Requires num > 0: {num}")
    return [num]


@lin_space_op.kernel
def _lin_space_kernel(start, stop, num):
    if num <= 0:
        raise ShapeError(f"Requires num > 0: {num}")
    steps = torch.arange(num, dtype=start.dtype, device=start.device)
    if num == 1:
        return start.reshape(1)
    spaced = start + steps * ((stop - start) / (num - 1))
    spaced[0], spaced[-1] = (
        start,
        stop,
    )  # exactly, also if the steps are rounded, or infinite
    return spaced


lin_space_op.samples(
    (f32(), f32(), np.array(5, np.int32)),
    (f32(), f32(), np.array(1, np.int64)),
    against=lambda start, stop, num: np.linspace(start, stop, int(num), dtype=start.dtype),
)
lin_space_op.refuses((f32(), f32(), np.array(0, np.int32)), "Requires num > 0: 0")


@export("linspace", "lin_space")
def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None) -> Tensor:
    """Makes evenly spaced numbers from one to another, both included.

    Args:
      start: The first number, a scalar of floating-point type.
      stop: The last number, a scalar of the same type.
      num: How many numbers, at least 1.
      name: A name for the operation.

    Returns:
      A vector of the type of `start`.
    """
    return lin_space_op(start, stop, num, name=name)


# ---------------------------------------------------------------------------------- one-hot rows

one_hot_op = Op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    axis=-1,
    TI=attr("type", dtypes.int64, allowed=types("uint8 int8 int32 int64")),
    host="depth",
    differentiable=False,
)


def _depth_axis(axis: int, rank: int) -> int:
    if axis > rank:
        raise ShapeError(f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}")
    return rank if axis == -1 else axis


@one_hot_op.shape
def _one_hot_shape(indices, depth, on_value, off_value, *, axis):
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        of_rank(value, 0, f"{name} must be a scalar, but got: {brackets(value.tuple or ())}")
    if axis < -1:
        raise ShapeError(f"axis must be >= -1, not {axis}")
    if scalar(depth, "depth must be a scalar, but got: ", COUNT) is not None and depth < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {depth}")
    if indices.tuple is None:
        return None
    sizes = indices.as_list()
    sizes.insert(_depth_axis(axis, indices.ndims), depth)
    return sizes


def _hits(indices: torch.Tensor, depth: int, axis: int) -> torch.Tensor:
    if depth < 0:
        raise ShapeError(f"depth must be non-negative, got: {depth}")
    axis = _depth_axis(axis, indices.ndim)
    classes = torch.arange(depth, device=indices.device).reshape([-1] + [1] * (indices.ndim - axis))
    return indices.unsqueeze(axis) == classes


@one_hot_op.kernel
def _one_hot_kernel(indices, depth, on_value, off_value, *, axis):
    one_value(on_value, "on_value"), one_value(off_value, "off_value")
    if type(indices) is torch.Tensor and indices.is_cpu and depth > 0 and on_value.dtype in _SCATTERED:
        return _filled_rows(indices.long(), depth, on_value, off_value, _depth_axis(axis, indices.ndim))
    return torch.where(_hits(indices, depth, axis), on_value, off_value)


_SCATTERED = (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool)


def _filled_rows(
    indices: torch.Tensor, depth: int, on_value: torch.Tensor, off_value: torch.Tensor, axis: int
) -> torch.Tensor:
    """The same, by writing one element of each row where the others cost no more than memory."""
    hits = (indices >= 0) & (indices < depth)
    sizes = [*indices.shape[:axis], depth, *indices.shape[axis:]]
    rows = off_value.expand(sizes).contiguous()
    places = torch.where(hits, indices, 0).unsqueeze_(axis)
    return rows.scatter_(axis, places, torch.where(hits, on_value, off_value).unsqueeze_(axis))


@one_hot_op.kernel("string")
def _one_hot_string_kernel(indices, depth, on_value, off_value, *, axis):
    return np.where(_hits(indices, depth, axis).numpy(), on_value, off_value)


def _one_hot_rows(
    indices: np.ndarray, depth: np.ndarray, on: np.ndarray, off: np.ndarray, axis: int = -1
) -> np.ndarray:
    hits = np.expand_dims(indices, -1) == np.arange(int(depth))
    return np.moveaxis(np.where(hits, on, off), -1, axis)


one_hot_op.samples(
    (np.array([0, 2, -1, 1]), np.array(3, np.int32), f32(), f32()),
    (np.array(1, np.uint8), np.array(3, np.int32), i32(), i32()),
    (np.array([[0, 1], [2, 5]], np.int32), np.array(3, np.int32), f32(), f32(), {"axis": 0}),
    (np.array([], np.int64), np.array(3, np.int32), f32(), f32()),
    (np.array([0], np.int64), np.array(0, np.int32), f32(), f32(), {"axis": 1}),
    against=_one_hot_rows,
)
one_hot_op.refuses((np.array([0]), np.array(-1, np.int32), f32(), f32()), "must be non-negative")


@export("one_hot", ragged="one_hot")
def one_hot(
    indices: TensorOrRagged,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Marks classes: one value at the place of the index along a new axis, another elsewhere.

    Args:
      indices: The places, a tensor of integers; one that is negative or too large marks nothing.
      depth: The size of the new axis, a scalar.
      on_value: The value at the index, a scalar; by default 1.
      off_value: The value elsewhere, a scalar; by default 0.
      axis: Where the new axis stands; by default last.
      dtype: The type of the result; by default that of the values, else float32.
      name: A name for the operation.

    Returns:
      A tensor with one axis more than `indices`.

    Raises:
      TypeError: If the types of `on_value`, `off_value` and `dtype` differ.
    """
    if get_eager_graph() is not None and on_value is None and off_value is None:
        wanted = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype).base_dtype
        values = (convert_to_tensor(value, dtype=wanted) for value in (1, 0))
        return one_hot_op.apply((indices, depth, *values), name, {"axis": -1 if axis is None else axis})
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        on_type = None if on_value is None else convert_to_tensor(on_value).dtype.base_dtype
        off_type = None if off_value is None else convert_to_tensor(off_value).dtype.base_dtype
        for given, found in (("on_value", on_type), ("off_value", off_type)):
            if wanted is not None and found not in (None, wanted):
                raise TypeError(f"dtype {found} of {given} does not match dtype parameter {wanted}")
        if None not in (on_type, off_type) and on_type is not off_type:
            raise TypeError(f"dtype {on_type} of on_value does not match dtype {off_type} of off_value")
        result_type = wanted or on_type or off_type or dtypes.float32
        if on_value is None:
            on_value = convert_to_tensor(1, dtype=result_type, name="on_value")
        if off_value is None:
            off_value = convert_to_tensor(0, dtype=result_type, name="off_value")
        return one_hot_op(indices, depth, on_value, off_value, axis=-1 if axis is None else axis, name=scope)


# ---------------------------------------------------------------------------------- promises

guarantee_const_op = Op("GuaranteeConst", "input: T -> output: T", stateful=True)

guarantee_const_op.shape(same_shape)
guarantee_const_op.kernel(constants.passed_on)
guarantee_const_op.gradient(lambda op, grad: grad)
guarantee_const_op.samples(f32(2, 3), f32(), against=unchanged)


@export("guarantee_const")
def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """Promises that a tensor has the same value in every step.

    Args:
      input: A tensor.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.
    """
    return guarantee_const_op(input, name=name)


# ---------------------------------------------------------------------------------- matrices and grids


@export("eye", "linalg.eye")
def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    batch_shape: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Makes an identity matrix, or a batch of them.

    Args:
      num_rows: How many rows.
      num_columns: How many columns; by default as many as rows.
      batch_shape: The axes in front, a list of integers or a vector; by default none.
      dtype: The type of the elements.
      name: A name for the scope of the operations.

    Returns:
      A tensor [batch_shape, num_rows, num_columns] of type `dtype`.
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        sizes = [num_rows, num_rows if is_square else num_columns]
        if not any(isinstance(size, Tensor) for size in sizes):
            is_square = int(sizes[0]) == int(sizes[1])
        batch = [] if batch_shape is None else batch_shape
        shortest = _smaller(*sizes)
        if isinstance(batch, Tensor) or isinstance(shortest, Tensor):
            batch = convert_to_tensor(batch, dtype=dtypes.int32, name="shape")
            diagonal_shape = joining.concat([batch, [shortest]], 0)
            full_shape = None if is_square else joining.concat([batch, sizes], 0)
        else:
            diagonal_shape = TensorShape(batch).concatenate([shortest])
            full_shape = TensorShape(batch).concatenate(sizes)
        diagonal = ones(diagonal_shape, dtype)
        if is_square:
            return tf.matrix_diag(diagonal)
        return tf.matrix_set_diag(zeros(full_shape, dtype), diagonal)


def _smaller(rows: Any, columns: Any) -> Any:
    if isinstance(rows, Tensor) or isinstance(columns, Tensor):
        return binary.minimum(rows, columns)
    return min(int(rows), int(columns))


@export("meshgrid")
def meshgrid(*args: TensorLike, **kwargs: Any) -> list[Tensor]:
    """Spans a grid by vectors: for each vector, its coordinate in every point of the grid.

    Args:
      *args: The vectors, of one type.
      **kwargs: `indexing`, "xy" (the first two axes are exchanged, as on a plane) or "ij"; `name`, a name for
        the scope of the operations.

    Returns:
      A list of tensors, as many as vectors, of the shape of the grid.

    Raises:
      ValueError: If `indexing` is another word.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        grids = [_along(joining.stack(vector), axis, count) for axis, vector in enumerate(args)]
        sizes = [shapes.size(vector) for vector in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            grids[0], grids[1] = _along(grids[0], 1, count), _along(grids[1], 0, count)
            sizes[0], sizes[1] = sizes[1], sizes[0]
        everywhere = ones(sizes, dtype)
        return [grid * everywhere for grid in grids]


def _along(vector: Any, axis: int, rank: int) -> Tensor:
    return shapes.reshape(vector, [1] * axis + [-1] + [1] * (rank - axis - 1))
