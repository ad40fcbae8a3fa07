"""Tensors put together and taken apart: concat, stack, split, unstack."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.dispatch import dispatching
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.known_sizes import known_sizes, known_value
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import get_eager_graph, name_scope
from tideflow.graph.shapes import Dimension, TensorShape, mismatch
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import contexts
from tideflow.ops.helpers.arguments import are_integers
from tideflow.ops.helpers.axes import (
    COUNT,
    as_value,
    brackets,
    common_shape,
    elements,
    host_rank,
    host_shape,
    merged,
    moved,
    normal_axis,
    rank_for_axis,
    scalar,
    size_sum,
    vector,
)
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDEX, types
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged


def _common_size(values: list[TensorShape], axis: int) -> int | None:
    """The size that all values have along an axis, as far as it is known."""
    known = [value for value in values if value.tuple is not None and value.tuple[axis] is not None]
    for value in known[1:]:
        if value.tuple[axis] != known[0].tuple[axis]:
            raise ShapeError(
                f"Dimension {axis} in both shapes must be equal, but are {known[0].tuple[axis]} and "
                f"{value.tuple[axis]}. Shapes are {brackets(known[0].tuple)} and {brackets(value.tuple)}.",
                _compared("Dimensions of inputs should match", values, values.index(value)),
            )
    return known[0].tuple[axis] if known else None


def _compared(what: str, values: list[TensorShape], place: int) -> str:
    first, other = (brackets(values[i].tuple or ()) for i in (0, place))
    return f"ConcatOp : {what}: shape[0] = {first} vs. shape[{place}] = {other}"


def _joined(values: list[TensorShape], axis: int | None) -> list | None:
    rank = next((value.ndims for value in values if value.ndims is not None), None)
    if rank is None:
        return None
    if rank == 0:
        raise ShapeError(
            "Can't concatenate scalars (use tf.stack instead)",
            f"ConcatOp : Expected concatenating dimensions in the range [0, 0), but got {axis}",
        )
    in_step = f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}"
    for i, value in enumerate(values):
        if value.ndims not in (None, rank):
            compared = _compared("Ranks of all input tensors should match", values, i)
            raise ShapeError(
                f"Shape must be rank {rank} but is rank {value.ndims} (values[{i}])",
                compared if axis is None or -rank <= axis < rank else in_step,
            )
    if axis is None:
        return [None] * rank
    along = normal_axis(axis, rank, rank_for_axis(axis, rank), in_step)
    sizes = [_common_size(values, i) if i != along else None for i in range(rank)]
    sizes[along] = size_sum(*(None if value.tuple is None else value.tuple[along] for value in values))
    return sizes


_MOST_SLICES = 16  # parts; more are cut by one Split


def _shapes_of(values: Sequence[Tensor]) -> list[Tensor]:
    sizes = []
    for value in values:
        sizes.append(shapes.shape(value))
        if not sizes[-1].is_eager and sizes[-1].op.type != "Const":
            return shapes.shape_n(values)
    return sizes


def _are_apart(one: Tensor, other: Tensor) -> bool:
    """Whether tensors are made in different branches or loops."""
    return contexts.output_context(one.op) is not contexts.output_context(other.op)


def parts_of_gradient(values: Sequence[Tensor], axis: Tensor, grad: Any) -> list[Tensor]:
    """The part of the gradient that belongs to each value."""
    grad = convert_to_tensor(grad)
    if not axis.is_eager and axis.op.type == "Const" and _are_apart(axis, grad):
        axis = constants.constant(axis.op.attrs["value"], axis.dtype)  # a constant need not enter a loop
    axis = casting.cast(axis, dtypes.int32) % shapes.rank(values[0])
    sizes = _shapes_of(values)
    if len(values) > _MOST_SLICES:
        lengths = tf.slice(stack(sizes, axis=1), [axis, 0], [1, -1])
        return split(grad, shapes.squeeze(lengths), axis)
    offsets = concat_offset_op(axis, sizes)
    return [tf.slice(grad, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


# ---------------------------------------------------------------------------------- concat

concat_op = Op(
    "Concat",
    "concat_dim: int32, values: N * T -> output: T",
    N=attr("int", minimum=2),
    host="concat_dim",
    has_static_value=True,
)


@concat_op.shape
def _concat_shape(concat_dim, values):
    return _joined(values, scalar(concat_dim, "concat_dim tensor should be a scalar integer, but got shape "))


concat_op.value(moved)


@concat_op.kernel
def _concat_kernel(concat_dim, values):
    return torch.cat(values, concat_dim)


@concat_op.kernel("string")
def _concat_string_kernel(concat_dim, values):
    return np.concatenate(values, concat_dim)


@concat_op.gradient
def _concat_gradient(op, grad):
    return [None, *parts_of_gradient(op.inputs[1:], op.inputs[0], grad)]


concat_op.samples(
    (np.array(1, np.int32), [f32(2, 3), f32(2, 1)]),
    against=lambda axis, values: np.concatenate(values, int(axis)),
)


concat_v2_op = Op(
    "ConcatV2",
    "values: N * T, axis: Tidx -> output: T",
    N=attr("int", minimum=2),
    Tidx=INDEX,
    host="axis",
    has_static_value=True,
)


@concat_v2_op.shape
def _concat_v2_shape(values, axis):
    return _joined(values, scalar(axis, "axis tensor should be a scalar integer, but got shape "))


concat_v2_op.value(moved)


@concat_v2_op.sizes
def _concat_v2_sizes(op):
    parts = [known_sizes(part) for part in op.inputs[:-1]]
    return None if None in parts else [size for part in parts for size in part]


concat_v2_op.kernel(torch.cat)


@concat_v2_op.kernel("string")
def _concat_v2_string_kernel(values, axis):
    return np.concatenate(values, axis)


@concat_v2_op.gradient
def _concat_v2_gradient(op, grad):
    return [*parts_of_gradient(op.inputs[:-1], op.inputs[-1], grad), None]


concat_v2_op.samples(
    ([f32(2, 3), f32(1, 3)], np.array(0, np.int32)),
    ([f32(2, 1), f32(2, 2), f32(2, 3)], np.array(-1, np.int64)),
    ([f32(0, 2), f32(1, 2)], np.array(0, np.int32)),
    ([i32(2), i32(0)], np.array(0, np.int32)),
    against=lambda values, axis: np.concatenate(values, int(axis)),
)
concat_v2_op.refuses(([f32(2, 3), f32(3, 2)], np.array(0, np.int32)), "must be equal, but are 3 and 2")
concat_v2_op.refuses(([f32(2, 3), f32(2)], np.array(0, np.int32)), "Shape must be rank 2 but is rank 1")
concat_v2_op.refuses(([f32(), f32()], np.array(0, np.int32)), "Can't concatenate scalars")


_AS_THEY_ARE: dict[str, Any] = {}


@export("concat")
def concat(values: TensorOrRagged, axis: TensorLike, name: str = "concat") -> Tensor:
    """Joins tensors one after the other along an axis.

    Args:
      values: A list of tensors of one type, whose shapes differ along `axis` only.
      axis: The axis to join along, a scalar; negative ones are counted from the end.
      name: A name for the operation.

    Returns:
      A tensor of the same type.
    """
    graph = get_eager_graph()
    if graph is not None and type(axis) is int:
        key = _key_of_tensors(graph, concat_v2_op, axis, values)
        if key is not None and len(key) > _OF_ONE:
            known = graph.known.get(key)
            if known is not None:
                return known((values, axis), name)
            return graph.execute(concat_v2_op, (values, axis), _AS_THEY_ARE, name, key)
    return _concat(values, axis, name)


# Here, and not of `tf.concat`, which is quicker so.
@functools.partial(dispatching, forms={"ragged": "concat"})
def _concat(values: TensorOrRagged, axis: TensorLike, name: str) -> Tensor:
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, dtype=dtypes.int32, name="concat_dim").shape.assert_has_rank(0)
            return constants.identity(values[0], name=name)
    return concat_v2_op.apply((list(values), axis), name)


_OF_ONE = 3  # parts of the key of one tensor


def _key_of_tensors(graph: Any, op: Op, axis: int, values: Any) -> tuple[Any, ...] | None:
    """The op's key along this axis for a list or tuple of eager tensors alone; None for anything else."""
    if type(values) is not list and type(values) is not tuple or not values:
        return None
    kind = graph.tensor_type
    key = [op, axis]
    for value in values:
        if type(value) is not kind:
            return None
        key.append(value._key)
    return tuple(key)


concat_offset_op = Op(
    "ConcatOffset",
    "concat_dim: int32, shape: N * shape_type -> offset: N * shape_type",
    N=attr("int", minimum=2),
    shape_type=INDEX,
    host="concat_dim, shape",
    on_host=True,
    differentiable=False,
)


@concat_offset_op.shape
def _concat_offset_shape(concat_dim, shape):
    return [[len(sizes) if sizes is not None and host_rank(sizes) == 1 else None] for sizes in shape]


def _offsets(axis: int, sizes: list[list[int]]) -> list[list[int]]:
    offsets, begin = [], 0
    for part in sizes:
        offsets.append([0] * len(part))
        offsets[-1][axis] = begin
        begin += part[axis]
    return offsets


@concat_offset_op.value
def _concat_offset_value(op):
    axis, *sizes = (partial_value(tensor) for tensor in op.inputs)
    if not isinstance(axis, int) or any(
        part is None
        or host_rank(part) != 1
        or len(part) != len(sizes[0])
        or not -len(part) <= axis < len(part)
        for part in sizes
    ):
        return [None] * len(sizes)
    agree = all(_without(part, axis) == _without(sizes[0], axis) for part in sizes)  # else the kernel refuses
    known = all(fully_known(part) for part in sizes)
    return _offsets(axis, sizes) if known and agree else [None] * len(sizes)


def _without(sizes: list[Any], axis: int) -> list[Any]:
    axis %= len(sizes)
    return sizes[:axis] + sizes[axis + 1 :]


@concat_offset_op.kernel
def _concat_offset_kernel(concat_dim, shape, *, shape_type):
    if isinstance(concat_dim, list):
        raise errors.invalid_argument(
            f"Concat dim tensor should be a scalar integer, but got shape {host_shape(concat_dim)}"
        )
    for i, sizes in enumerate(shape, 1):
        if host_rank(sizes) != 1:
            raise errors.invalid_argument(f"input {i} should be a vector, but got shape {host_shape(sizes)}")
    first = shape[0]
    axis = normal_axis(concat_dim, len(first), f"Concat dim is out of range: {concat_dim} vs. {len(first)}")
    for i, sizes in enumerate(shape):
        if len(sizes) != len(first):
            raise errors.invalid_argument(
                f"input {i} should contain {len(first)} elements, but got {len(sizes)}"
            )
        if _without(sizes, axis) != _without(first, axis):
            raise errors.invalid_argument(
                f"All dimensions except {axis} must match. Input {i} has shape {_spaced(sizes)} and doesn't "
                f"match input 0 with shape {_spaced(first)}.",
            )
    return [torch.tensor(offset, dtype=shape_type.torch) for offset in _offsets(axis, shape)]


def _spaced(sizes: list[int]) -> str:
    return f"[{' '.join(map(str, sizes))}]"


def _starts(axis: np.ndarray, sizes: list[np.ndarray]) -> list[np.ndarray]:
    """Along the axis, how much the tensors before take; 0 along the others."""
    return [
        np.where(np.arange(len(own)) == axis, sum(int(before[axis]) for before in sizes[:i]), 0)
        for i, own in enumerate(sizes)
    ]


concat_offset_op.samples(
    (np.array(1, np.int32), [np.array([2, 3], np.int32), np.array([2, 5], np.int32)]), against=_starts
)
concat_offset_op.refuses(
    (np.array(2**31 - 1, np.int32), [np.array([2, 3], np.int32), np.array([2, 5], np.int32)]),
    "axis 2147483647 is out of range [-2, 2)",
    errors.InvalidArgumentError,
)

parallel_concat_op = Op("ParallelConcat", "values: N * T -> output: T", shape=attr("shape"))


@parallel_concat_op.shape
def _parallel_concat_shape(values, *, shape):
    for i, value in enumerate(values):
        if value.tuple is not None and value.tuple[:1] not in ((1,), (None,)):
            raise ShapeError(f"Size of first dimension must be 1, but values[{i}] has shape {value}")
        if difference := mismatch(value, values[0]):
            raise ShapeError(f"{difference}\n\tFrom merging shape {i} with other shapes.")
    return merged(shape, TensorShape(_joined(values, 0)))


@parallel_concat_op.kernel
def _parallel_concat_kernel(values):
    return torch.cat(values, 0)


@parallel_concat_op.kernel("string")
def _parallel_concat_string_kernel(values):
    return np.concatenate(values, 0)


@parallel_concat_op.gradient
def _parallelparts_of_gradient(op, grad):
    return split(grad, len(op.inputs), 0)


parallel_concat_op.samples(
    ([f32(1, 3), f32(1, 3)], {"shape": [2, 3]}), against=lambda values, shape: np.concatenate(values)
)


@export("parallel_stack")
def parallel_stack(values: Sequence[Any], name: str = "parallel_stack") -> Tensor:
    """Stacks tensors of one fully known shape along a new first axis.

    Args:
      values: A list of tensors of one shape and type.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the same type.

    Raises:
      ValueError: If the shape is not fully known.
    """
    with name_scope(name):
        shape = convert_to_tensor(values[0]).shape
        shape.assert_is_fully_defined()
        rows = [shapes.expand_dims(value, 0) for value in values]
        if not all(row.shape.is_fully_defined() for row in rows):
            raise ValueError("All input shapes must be fully defined.")
        return parallel_concat_op(rows, shape=[len(values), *shape.as_list()])


# ---------------------------------------------------------------------------------- split

split_op = Op(
    "Split",
    "split_dim: int32, value: T -> output: num_split * T",
    num_split=attr("int", minimum=1),
    host="split_dim",
)


def _split_range(axis: Any, rank: int) -> str:
    """What TensorFlow's kernels say of an axis that is not there."""
    return f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}"


def _no_scalar(axis: Any) -> str:
    return f"split_dim must be a scalar but has rank {host_rank(axis)} and shape "


def _split_axis(axis: int, rank: int) -> int:
    there = f"Dimension size, given by scalar input {axis} must be in range [{-rank}, {rank})"
    return normal_axis(axis, rank, there, _split_range(axis, rank))


@split_op.shape
def _split_shape(split_dim, value, *, num_split):
    if value.tuple is None:
        return [None] * num_split
    if scalar(split_dim, _no_scalar(split_dim), COUNT) is None:
        return [[None] * value.ndims] * num_split
    axis = _split_axis(split_dim, value.ndims)
    sizes = value.as_list()
    if sizes[axis] is not None:
        if sizes[axis] % num_split:
            raise ShapeError(
                f"Dimension size must be evenly divisible by {num_split} but is {sizes[axis]} (axis "
                f"{axis})\n\tNumber of ways to split should evenly divide the split dimension"
            )
        sizes[axis] //= num_split
    return [sizes] * num_split


split_op.value(moved)


def _even_share(sizes: Sequence[int], axis: int, count: int) -> int:
    rank = len(sizes)
    size = sizes[normal_axis(scalar(axis), rank, _split_range(axis, rank))]
    if size % count:
        raise errors.invalid_argument(
            "Number of ways to split should evenly divide the split dimension, but got "
            f"split_dim {axis} (size = {size}) and num_split {count}",
        )
    return size // count


@split_op.kernel
def _split_kernel(split_dim, value, *, num_split):
    return value.split([_even_share(value.shape, split_dim, num_split)] * num_split, split_dim)


@split_op.kernel("string")
def _split_string_kernel(split_dim, value, *, num_split):
    _even_share(value.shape, split_dim, num_split)
    return np.split(value, num_split, split_dim)


@split_op.gradient
def _split_gradient(op, *grads):
    return [None, concat(list(grads), op.inputs[0])]


split_op.samples(
    (np.array(1, np.int32), f32(2, 6), {"num_split": 3}),
    (np.array(-1, np.int32), f32(2, 4), {"num_split": 1}),
    (np.array(0, np.int32), f32(0, 4), {"num_split": 2}),
    against=lambda axis, value, num_split: np.split(value, num_split, int(axis)),
)
split_op.refuses((np.array(1, np.int32), f32(2, 6), {"num_split": 4}), "evenly divisible by 4 but is 6")

split_v_op = Op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T",
    num_split=attr("int", minimum=1),
    Tlen=attr("type", dtypes.int64, allowed=types("int8 int32 int64")),
    host="size_splits, split_dim",
)


def _complete(lengths: list[int], size: int | None) -> list[int | None]:
    """The lengths with the one that is -1 filled in."""
    if lengths.count(-1) > 1:
        raise ShapeError(
            "size_splits can only have one -1", f"There can only be one -1 in the input: {brackets(lengths)}"
        )
    is_negative = any(length < -1 for length in lengths)
    if size is None and not is_negative:
        return [None if length == -1 else length for length in lengths]
    given = sum(length for length in lengths if length != -1)
    left = (size or 0) - given
    if is_negative or left < 0 or left > 0 and -1 not in lengths:
        raise ShapeError(
            f"can't split axis of size {size} into pieces of size {brackets(lengths)}",
            "Determined shape must either match input shape along split_dim exactly if fully specified, or "
            "be less than the size of the input along split_dim if not fully specified.  Got: "
            f"{given}, of {brackets(lengths)}",
        )
    return [left if length == -1 else length for length in lengths]


@split_v_op.shape
def _split_v_shape(value, size_splits, split_dim, *, num_split):
    lengths = vector(size_splits)
    if lengths is not None and len(lengths) != num_split:
        raise ShapeError(
            f"Length of size_splits should be equal to num_outputs ({len(lengths)} and {num_split})",
            "size of the split_tensor must be 1-D and have the same elements as outputs got 1-D and "
            f"{len(lengths)} elements",
        )
    if value.tuple is None:
        return [None] * num_split
    if scalar(split_dim, _no_scalar(split_dim), COUNT) is None and value.ndims != 1:
        return [[None] * value.ndims] * num_split
    axis = _split_axis(split_dim or 0, value.ndims)
    if lengths is None or not fully_known(lengths):
        lengths = [None] * num_split
    else:
        lengths = _complete(lengths, value.tuple[axis])
    return [[*value.tuple[:axis], length, *value.tuple[axis + 1 :]] for length in lengths]


split_v_op.value(moved)


@split_v_op.kernel
def _split_v_kernel(value, size_splits, split_dim):
    axis = normal_axis(scalar(split_dim), value.ndim, _split_range(split_dim, value.ndim))
    return value.split(_complete(vector(size_splits), value.shape[axis]), axis)


@split_v_op.kernel("string")
def _split_v_string_kernel(value, size_splits, split_dim):
    axis = normal_axis(scalar(split_dim), value.ndim, _split_range(split_dim, value.ndim))
    ends = np.cumsum(_complete(vector(size_splits), value.shape[axis]))
    return np.split(value, ends[:-1], axis)


@split_v_op.gradient
def _split_v_gradient(op, *grads):
    return [concat(list(grads), op.inputs[2]), None, None]


def _cut_at(value: np.ndarray, lengths: np.ndarray, axis: np.ndarray) -> list[np.ndarray]:
    """Parts from one end to the next; a length of -1 is what the others leave."""
    left = value.shape[int(axis)] - lengths[lengths >= 0].sum()
    ends = np.cumsum(np.where(lengths < 0, left, lengths))
    return np.split(value, ends[:-1], int(axis))


split_v_op.samples(
    (f32(2, 6), np.array([1, 2, 3]), np.array(1, np.int32), {"num_split": 3}),
    (f32(5), np.array([2, -1], np.int32), np.array(0, np.int32), {"num_split": 2}),
    (f32(2, 3), np.array([0, 2]), np.array(-2, np.int32), {"num_split": 2}),
    against=_cut_at,
)
split_v_op.refuses(
    (f32(6), np.array([1, 2]), np.array(0, np.int32), {"num_split": 2}), "can't split axis of size 6"
)


@export("split")
def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: TensorLike = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """Cuts a tensor along an axis into equal parts, or into parts of given sizes.

    Args:
      value: A tensor.
      num_or_size_splits: How many equal parts, an integer; or their sizes, a vector of which one may be -1.
      axis: The axis to cut along, a scalar.
      num: How many parts there are, where the length of the sizes is not known.
      name: A name for the operation.

    Returns:
      A list of tensors of the type of `value`.

    Raises:
      ValueError: If the number of parts is not known, or does not fit the size.
    """
    if get_eager_graph() is not None:
        if type(num_or_size_splits) is int:
            return split_op.apply((axis, value), name, {"num_split": num_or_size_splits})
        if are_integers(num_or_size_splits) and num is None:
            sizes = num_or_size_splits
            return split_v_op.apply((value, sizes, axis), name, {"num_split": len(sizes)})
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer)):
        return split_op(axis, value, num_split=num_or_size_splits, name=name)
    if sizes.shape.ndims == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = None if sizes.shape.tuple is None else sizes.shape.tuple[0]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return split_v_op(value, sizes, axis, num_split=num, name=name)


# ---------------------------------------------------------------------------------- stack and unstack

pack_op = Op("Pack", "values: N * T -> output: T", axis=0, has_static_value=True)


def _unequal_values(values: list[TensorShape]) -> str:
    """What TensorFlow's kernel says of values of different shapes."""
    place = next((i for i, value in enumerate(values) if value.tuple != values[0].tuple), 0)
    first, other = (brackets(values[i].tuple or ()) for i in (0, place))
    return f"Shapes of all inputs must match: values[0].shape = {first} != values[{place}].shape = {other}"


@pack_op.shape
def _pack_shape(values, *, axis):
    one = common_shape(values, _unequal_values(values))
    if one.tuple is None:
        return None
    sizes = one.as_list()
    sizes.insert(normal_axis(axis, one.ndims + 1), len(values))
    return sizes


@pack_op.value
def _pack_value(op):
    """What is known of the values. One of unknown shape has that of the others, and unknown elements."""
    if op.outputs[0].shape.ndims is None:
        return None
    shape = op.outputs[0].shape.as_list()
    del shape[op.attrs["axis"]]
    if None in shape:
        return moved(op)
    values = [elements(value) for value in op.inputs]
    nothing = np.full(shape, None)
    return as_value(np.stack([nothing if value is None else value for value in values], op.attrs["axis"]))


@pack_op.sizes
def _pack_sizes(op):
    return [known_value(item) for item in op.inputs] if op.outputs[0].shape.ndims == 1 else NotImplemented


@pack_op.kernel
def _pack_kernel(values, *, axis):
    return torch.stack(values, axis)


@pack_op.kernel("string")
def _pack_string_kernel(values, *, axis):
    return np.stack(values, axis)


@pack_op.gradient
def _pack_gradient(op, grad):
    return unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


pack_op.samples(
    ([f32(2, 3), f32(2, 3)],),
    ([f32(2), f32(2), f32(2)], {"axis": -1}),
    ([f32()],),
    ([f32(0), f32(0)], {"axis": 1}),
    against=lambda values, axis=0: np.stack(values, axis),
)
pack_op.refuses(([f32(2), f32(3)],), "must be equal, but are 2 and 3")


@export("stack", ragged="stack")
def stack(values: TensorOrRagged, axis: int = 0, name: str = "stack") -> Tensor:
    """Stacks tensors of one shape along a new axis. Python values make a constant.

    Args:
      values: A list of tensors of one shape and type.
      axis: Where the new axis stands; negative ones are counted from the end.
      name: A name for the operation.

    Returns:
      A tensor with one axis more.

    Raises:
      ValueError: If the axis does not exist.
    """
    graph = get_eager_graph()
    if graph is not None and type(axis) is int:
        key = _key_of_tensors(graph, pack_op, axis, values)
        if key is not None:
            return graph.execute(pack_op, (values,), {"axis": axis}, name, key)
    if axis == 0 and not _is_packed_one_by_one(values):
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # not one constant, and not tensors of one type: Pack says what is wrong
    shape = convert_to_tensor(values[0], name=name).shape
    if shape.ndims is not None and not -shape.ndims - 1 <= axis <= shape.ndims:
        raise ValueError(f"axis = {axis} not in [{-shape.ndims - 1}, {shape.ndims + 1})")
    return pack_op(list(values), axis=axis, name=name)


def _is_packed_one_by_one(values: Any) -> bool:
    """Whether Python values make a Pack in TensorFlow's graphs, though one constant could hold them."""
    if not isinstance(values, (list, tuple)) or not values:
        return False
    return isinstance(values[0], np.ndarray) or any(isinstance(value, Dimension) for value in values)


unpack_op = Op("Unpack", "value: T -> output: num * T", num=attr("int", minimum=0), axis=0)


@unpack_op.shape
def _unpack_shape(value, *, num, axis):
    if value.tuple is None:
        return [None] * num
    sizes = value.as_list()
    found = sizes.pop(normal_axis(axis, value.ndims))
    if found not in (None, num):
        raise ShapeError(f"Dimension must be {num} but is {found}")
    return [sizes] * num


unpack_op.value(moved)


def _check_count(sizes: Sequence[int], num: int, axis: int) -> None:
    if sizes[normal_axis(axis, len(sizes))] != num:
        raise errors.invalid_argument(
            f"Input shape axis {axis} must equal {num}, got shape {brackets(sizes)}"
        )


@unpack_op.kernel
def _unpack_kernel(value, *, num, axis):
    _check_count(value.shape, num, axis)
    return value.unbind(axis)


@unpack_op.kernel("string")
def _unpack_string_kernel(value, *, num, axis):
    _check_count(value.shape, num, axis)
    return [np.asarray(item, dtype=object) for item in np.moveaxis(value, axis, 0)]


@unpack_op.gradient
def _unpack_gradient(op, *grads):
    return stack(list(grads), axis=op.attrs["axis"])


unpack_op.samples(
    (f32(3, 2), {"num": 3}),
    (f32(3, 2), {"num": 2, "axis": -1}),
    (f32(1), {"num": 1}),
    against=lambda value, num, axis: [np.take(value, place, axis) for place in range(num)],
)
unpack_op.refuses((f32(2), {"num": 3}), "Dimension must be 3 but is 2")


@export("unstack")
def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """Takes apart the tensors that lie along an axis. The inverse of `tf.stack`.

    Args:
      value: A tensor of rank 1 or more.
      num: How many tensors there are, where the shape does not say.
      axis: The axis to take apart.
      name: A name for the operation.

    Returns:
      A list of tensors with one axis less.

    Raises:
      ValueError: If the axis does not exist, or its size is not known and `num` not given.
    """
    if num is None:
        value = convert_to_tensor(value)
        shape = value.shape
        if shape.ndims is not None:
            if not -shape.ndims <= axis < shape.ndims:
                raise ValueError(f"axis = {axis} not in [{-shape.ndims}, {shape.ndims})")
            num = shape.tuple[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {shape}")
    return unpack_op(value, num=num, axis=axis, name=name)
