"""Slices: `x[1:, ..., None, ::-1]` as StridedSlice, its gradient, and assignment to a slice of a variable."""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.known_sizes import has_static_value
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.scopes import get_eager_graph, name_scope
from tideflow.graph.shapes import Dimension, TensorShape
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.helpers.axes import (
    as_sizes,
    brackets,
    checked_sizes,
    host_rank,
    mismatch,
    moved,
    of_rank,
    size_sum,
    vector,
)
from tideflow.ops.helpers.samples import f32, i32, ref, resource
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

# ---------------------------------------------------------------------------------- begin and size

slice_op = Op("Slice", "input: T, begin: Index, size: Index -> output: T", Index=INDICES, host="begin, size")


def _length(size: int | None, start: int | None, length: int | None, to_the_end: bool) -> int | None:
    if None not in (size, start) and start > size:
        raise ShapeError(f"Negative dimension size caused by subtracting {start} from {size}")
    if not to_the_end:
        return length
    return size_sum(size, None if start is None else -start)


@slice_op.shape
def _slice_shape(input, begin, size):
    starts, lengths = vector(begin), as_sizes(size)
    rank = next((len(v) for v in (starts, lengths) if v is not None), input.ndims)
    if rank is None:
        return None
    if starts is not None and lengths is not None and len(starts) != len(lengths):
        raise ShapeError(mismatch(TensorShape([len(starts)]), TensorShape([len(lengths)])))
    sizes = of_rank(input, rank).tuple
    for axis, start in enumerate(starts or ()):
        if start is not None and start < -1:
            raise ShapeError(
                f"Invalid value in tensor used for shape: {start}",
                f"Expected begin[{axis}] in [0, {sizes[axis]}], but got {start}",
            )
    # TensorFlow's graphs take -1 for a number that is not known yet: only the kernel refuses it.
    starts = [None if start == -1 else start for start in starts or [None] * rank]
    lengths = lengths or [None] * rank
    given = size if fully_known(size) else None
    return [
        _length(sizes[i], starts[i], lengths[i], given is not None and given[i] == -1) for i in range(rank)
    ]


slice_op.value(moved)


def _checked_window(sizes: Sequence[int], begin: list[int], size: list[int]) -> list[tuple[int, int]]:
    """(start, length) along each axis."""
    if np.shape(begin) != (len(sizes),) or np.shape(size) != (len(sizes),):
        raise ShapeError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(sizes)}, but got shapes "
            f"{brackets(np.shape(begin))} and {brackets(np.shape(size))} instead."
        )
    window = []
    for axis, (whole, start, length) in enumerate(zip(sizes, begin, size, strict=True)):
        if not 0 <= start <= whole:
            raise ShapeError(f"Expected begin[{axis}] in [0, {whole}], but got {start}")
        if length == -1:
            length = whole - start
        if not 0 <= length <= whole - start:
            raise ShapeError(f"Expected size[{axis}] in [0, {whole - start}], but got {length}")
        window.append((start, length))
    return window


@slice_op.kernel
def _slice_kernel(input, begin, size):
    for axis, (start, length) in enumerate(_checked_window(input.shape, begin, size)):
        if length != input.shape[axis]:
            input = input.narrow(axis, start, length)
    return input


@slice_op.kernel("string")
def _slice_string_kernel(input, begin, size):
    window = _checked_window(input.shape, begin, size)
    return input[tuple(builtins.slice(start, start + length) for start, length in window)]


@slice_op.gradient
def _slice_gradient(op, grad):
    input, begin, _ = op.inputs
    index_type = begin.dtype.base_dtype
    rank = shapes.rank(input)
    taken = shapes.shape(op.outputs[0], out_type=index_type)
    column = joining.stack([rank, 1])
    before = shapes.reshape(begin, column)
    after = shapes.reshape(shapes.shape(input, out_type=index_type) - taken - begin, column)
    return [tf.pad(grad, joining.concat([before, after], 1)), None, None]


def _window(input: np.ndarray, begin: np.ndarray, size: np.ndarray) -> np.ndarray:
    pairs = zip(begin.tolist(), size.tolist(), strict=True)
    return input[tuple(builtins.slice(b, None if s == -1 else b + s) for b, s in pairs)]


slice_op.samples(
    (f32(4, 3), np.array([1, 0], np.int32), np.array([2, 2], np.int32)),
    (f32(4, 3), np.array([0, 1]), np.array([-1, -1])),
    (f32(4, 3), np.array([4, 0], np.int32), np.array([0, 2], np.int32)),
    (f32(), np.array([], np.int32), np.array([], np.int32)),
    against=_window,
)
slice_op.refuses((f32(4), np.array([5], np.int32), np.array([-1], np.int32)), "subtracting 5 from 4")
slice_op.refuses(
    (f32(4, 3), np.array([0], np.int32), np.array([1], np.int32)), "Shape must be rank 1 but is rank 2"
)


@export("slice")
def slice(input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """Cuts a part out of a tensor.

    Args:
      input_: A tensor.
      begin: Where the part begins along each axis, a vector of integers.
      size: How long it is along each axis, a vector of integers; -1: to the end.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input_`.
    """
    return slice_op(input_, begin, size, name=name)


# ---------------------------------------------------------------------------------- what a spec means


class Masks(NamedTuple):
    """Which entries of a spec leave out their begin or end, are an ellipsis, make an axis, take one place."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0


def _masked(function: Callable) -> Callable:
    """A rule, kernel or reference of these ops: its last argument gathers the five mask attributes."""

    def _gathered(*inputs: Any, **masks: int) -> Any:
        return function(*inputs, Masks(**masks))

    keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in Masks._fields]
    _gathered.__signature__ = inspect.Signature(keywords)
    return _gathered


_SOME_PLACE, _SOME_RANGE = object(), object()  # what is not known before the step
# What a spec does, axis by axis of the result: an int takes one place of the input's next axis (and drops
# it), a range takes those places, None makes a new axis. Where a size is a symbol, a slice takes them.
Cut = Any


def _place(axis: int, size: int | None, index: int | None) -> Cut:
    if size is None or index is None:
        return _SOME_PLACE
    if not -size <= index < size:
        raise ShapeError(f"slice index {index} of dimension {axis} out of bounds.")
    return index % size


def _cut(
    i: int, axis: int, size: int | None, begin: int | None, end: int | None, stride: int, masks: Masks
) -> Cut:
    """Entry i of a spec, applied to an axis."""
    if stride == 0:
        raise ShapeError(f"strides[{i}] must be non-zero")
    if masks.shrink_axis_mask >> i & 1:
        if stride < 0:
            raise ShapeError("only stride 1 allowed on non-range indexing.")
        return _place(axis, size, begin)
    open_begin, open_end = masks.begin_mask >> i & 1, masks.end_mask >> i & 1
    if size is None or begin is None and not open_begin or end is None and not open_end:
        return _SOME_RANGE
    places = builtins.slice(None if open_begin else begin, None if open_end else end, stride)
    if any(isinstance(number, torch.SymInt) for number in (size, begin, end)):
        if stride < 0:
            raise ShapeError(f"strides[{i}] is negative, along an axis whose size is known only in a run")
        return places
    return range(*places.indices(size))


def _all_of(size: int | None) -> Cut:
    if isinstance(size, torch.SymInt):
        return builtins.slice(None)
    return _SOME_RANGE if size is None else range(size)


def _cuts(
    sizes: Sequence[int | None], begin: list | None, end: list | None, strides: list, masks: Masks
) -> list[Cut]:
    """The cuts that a spec means for an input of these sizes; unknown sizes and bounds are None."""
    _check_spec(begin, end, strides)
    count = len(strides)
    begin, end = begin or [None] * count, end or [None] * count
    if masks.ellipsis_mask.bit_count() > 1:
        raise ShapeError("Multiple ellipses in slice spec not allowed")
    cuts: list[Cut] = []
    axis = 0
    for i in range(count):
        if masks.ellipsis_mask >> i & 1:
            still_to_take = sum(1 for later in range(i + 1, count) if not masks.new_axis_mask >> later & 1)
            stop = max(axis, len(sizes) - still_to_take)
            cuts += [_all_of(size) for size in sizes[axis:stop]]
            axis = stop
        elif masks.new_axis_mask >> i & 1:
            cuts.append(None)
        else:
            if axis >= len(sizes):
                raise ShapeError(
                    f"Index out of range using input dim {axis}; input has only {len(sizes)} dims"
                )
            cuts.append(_cut(i, axis, sizes[axis], begin[i], end[i], strides[i], masks))
            axis += 1
    return cuts + [_all_of(size) for size in sizes[axis:]]


def _sizes_after(cuts: list[Cut]) -> list[int | None]:
    kept = [cut for cut in cuts if not (isinstance(cut, int) or cut is _SOME_PLACE)]
    return [1 if cut is None else None if cut is _SOME_RANGE else len(cut) for cut in kept]


def _forward(places: range) -> builtins.slice:
    return builtins.slice(places.start, places.stop, places.step) if places else builtins.slice(0, 0)


def _index(cuts: list[Cut]) -> tuple[tuple, list[int]]:
    """The cuts as an index without negative steps, and the axes of the result that are reversed after it."""
    index, reversed_axes = [], []
    for cut in cuts:
        if isinstance(cut, range) and cut.step < 0:
            reversed_axes.append(sum(1 for entry in index if not isinstance(entry, int)))
            cut = cut[::-1]
        index.append(_forward(cut) if isinstance(cut, range) else cut)
    return tuple(index), reversed_axes


# ---------------------------------------------------------------------------------- strided slices

_SPEC = "begin: Index, end: Index, strides: Index"
_HOST = "begin, end, strides"


def _check_spec(*parts: list | None) -> None:
    """Begin, end and strides are vectors of one length, as far as they are known."""
    known = [part for part in parts if part is not None]
    wrong = next((part for part in known if host_rank(part) != 1 or len(part) != len(known[0])), None)
    if wrong is None:
        return
    shapes = [brackets([None] if part is None else np.shape(part)) for part in parts]
    in_step = (
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes {}, {}, and {} "
        "instead.".format(*shapes)
    )
    vector(wrong, in_step)
    raise ShapeError(mismatch(TensorShape([len(known[0])]), TensorShape([len(wrong)])), in_step)


def _masks_of(op: Any) -> dict[str, int]:
    return {name: op.attrs[name] for name in Masks._fields}


def _python_index(begin: np.ndarray, end: np.ndarray, strides: np.ndarray, masks: Masks) -> tuple:
    """The index that Python would have been given."""
    index: list[Any] = []
    for i, (first, last, step) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)):
        if masks.ellipsis_mask >> i & 1:
            index.append(Ellipsis)
        elif masks.new_axis_mask >> i & 1:
            index.append(None)
        elif masks.shrink_axis_mask >> i & 1:
            index.append(first)
        else:
            open_begin, open_end = masks.begin_mask >> i & 1, masks.end_mask >> i & 1
            index.append(builtins.slice(None if open_begin else first, None if open_end else last, step))
    return tuple(index)


@_masked
def _by_numpy(input, begin, end, strides, masks):
    """What NumPy finds at that index."""
    return input[_python_index(begin, end, strides, masks)]


@_masked
def _assigned_by_numpy(input, begin, end, strides, value, masks):
    """The array after NumPy's assignment at that index."""
    whole = input.copy()
    whole[_python_index(begin, end, strides, masks)] = value
    return whole


@_masked
def _zeros_but_there(shape, begin, end, strides, value, masks):
    """Zeros, and the value at that index."""
    whole = np.zeros(shape, value.dtype)
    whole[_python_index(begin, end, strides, masks)] = value
    return whole


def _vectors(*rows: list[int]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(row, np.int32) for row in rows)


strided_slice_op = Op(
    "StridedSlice",
    f"input: T, {_SPEC} -> output: T",
    Index=types("int16 int32 int64"),
    host=_HOST,
    **Masks()._asdict(),
)


@strided_slice_op.shape
@_masked
def _strided_slice_shape(input, begin, end, strides, masks):
    _check_spec(begin, end, strides)
    if input.tuple is None or strides is None or not fully_known(strides):
        return None
    return _sizes_after(_cuts(input.tuple, begin, end, strides, masks))


strided_slice_op.value(moved)


@strided_slice_op.sizes
def _strided_slice_sizes(op):
    return partial_value(op.outputs[0]) if has_static_value(op.inputs[0]) else NotImplemented


@strided_slice_op.kernel
@_masked
def _strided_slice_kernel(input, begin, end, strides, masks):
    index, reversed_axes = _index(_cuts(input.shape, begin, end, strides, masks))
    return input[index].flip(reversed_axes) if reversed_axes else input[index]


@strided_slice_op.kernel("string")
@_masked
def _strided_slice_string_kernel(input, begin, end, strides, masks):
    index, reversed_axes = _index(_cuts(input.shape, begin, end, strides, masks))
    found = np.asarray(input[index], dtype=object)
    return np.flip(found, tuple(reversed_axes)) if reversed_axes else found  # a flipped scalar is no array


@strided_slice_op.specialize
def _strided_slice_specialized(node):
    input, *spec = node.inputs
    if not input.shape.is_fully_defined() or any(part.constant is None for part in spec):
        return None
    masks = Masks(*(node.attrs[name] for name in Masks._fields))
    sizes = input.shape.tuple
    index, reversed_axes = _index(_cuts(sizes, *(part.constant.tolist() for part in spec), masks))
    while (
        index and sizes and index[-1] == builtins.slice(0, sizes[-1], 1)
    ):  # all of an axis: unsaid is quicker
        index, sizes = index[:-1], sizes[:-1]
    return None if reversed_axes else (operator.getitem, (input, index[0] if len(index) == 1 else index))


@strided_slice_op.gradient
def _strided_slice_gradient(op, grad):
    input, begin, end, strides = op.inputs
    sizes = shapes.shape(input, out_type=begin.dtype.base_dtype)
    return [strided_slice_grad_op(sizes, begin, end, strides, grad, **_masks_of(op)), None, None, None]


strided_slice_op.samples(
    (f32(4, 3), *_vectors([1, 0], [3, 3], [1, 2])),
    (f32(4, 3), *_vectors([3, 0], [0, 0], [-2, 1]), {"end_mask": 2, "begin_mask": 2}),
    (f32(4, 3, 5), *_vectors([0, 2], [0, 3], [1, 1]), {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
    (f32(4), *_vectors([0, -1], [0, 0], [1, 1]), {"new_axis_mask": 1, "shrink_axis_mask": 2}),
    (f32(4), *_vectors([2], [2], [1])),
    (f32(), *_vectors([], [], [])),
    against=_by_numpy,
)
strided_slice_op.refuses(
    (f32(4), *_vectors([4], [5], [1]), {"shrink_axis_mask": 1}), "slice index 4 of dimension 0"
)
strided_slice_op.refuses((f32(4), *_vectors([0], [4], [0])), "strides[0] must be non-zero")
strided_slice_op.refuses((f32(4), *_vectors([0, 0], [1, 1], [1, 1])), "input has only 1 dims")


@export("strided_slice")
def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: VariableLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]`, axis by axis: what Python's indexing of tensors is made of.

    In each mask, bit i is about entry i of `begin`, `end` and `strides`.

    Args:
      input_: A tensor.
      begin: Where to begin along each axis, a vector of integers; negative ones are counted from the end.
      end: Where to stop before along each axis, a vector of integers.
      strides: The step along each axis, a vector of integers; by default 1.
      begin_mask: Which entries of `begin` do not count: they are from the very start.
      end_mask: Which entries of `end` do not count: they are to the very end.
      ellipsis_mask: Which entry stands for as many whole axes as are not mentioned.
      new_axis_mask: Which entries make a new axis of size 1.
      shrink_axis_mask: Which entries take one place, at `begin`, and drop the axis.
      var: The variable that `input_` is the value of.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input_`. Its `assign(value)` changes that slice of `var`.
    """
    if strides is None:
        strides = creation.ones_like(begin)
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)._asdict()
    result = strided_slice_op(input_, begin, end, strides, name=name, **masks)

    def assign(val: Any, name: str | None = None, parent: str | None = name) -> Any:
        if var is None:
            return _no_assignment(val, name)
        return var._strided_slice_assign(
            begin, end, strides, val, name or f"{parent or 'StridedSlice/'}_assign", **masks
        )

    result.assign = assign
    return result


def _put(buffer: Any, cuts: list[Cut], value: Any) -> None:
    """buffer[cuts] = value, in place."""
    sizes = _sizes_after(cuts)
    if list(value.shape) != sizes:
        raise errors.unimplemented(
            f"sliced l-value shape {brackets(sizes)} does not match r-value shape {brackets(value.shape)}. "
            "Automatic broadcasting not yet implemented."
        )
    index, reversed_axes = _index(cuts)
    flip = np.flip if isinstance(value, np.ndarray) else torch.flip
    buffer[index] = flip(value, tuple(reversed_axes)) if reversed_axes else value


def _assign(buffer: Any, cuts: list[Cut], value: Any) -> None:
    """The same for a variable. TensorFlow does not look at what is assigned to an empty slice."""
    if 0 not in _sizes_after(cuts):
        _put(buffer, cuts, value)


strided_slice_grad_op = Op(
    "StridedSliceGrad",
    f"shape: Index, {_SPEC}, dy: T -> output: T",
    Index=INDICES,
    host=f"shape, {_HOST}",
    **Masks()._asdict(),
)


_SHAPE = "shape must be 1-D, got shape.shape = "


@strided_slice_grad_op.shape
@_masked
def _strided_slice_grad_shape(shape, begin, end, strides, dy, masks):
    _check_spec(begin, end, strides)
    return as_sizes(shape, _SHAPE)


@strided_slice_grad_op.kernel
@_masked
def _strided_slice_grad_kernel(shape, begin, end, strides, dy, masks):
    whole = dy.new_zeros(checked_sizes(shape, _SHAPE))
    cuts = _cuts(shape, begin, end, strides, masks)
    sizes = _sizes_after(cuts)
    if list(dy.shape) != sizes:
        raise ShapeError(f"shape of dy was {brackets(dy.shape)} instead of {brackets(sizes)}")
    _put(whole, cuts, dy)
    return whole


@strided_slice_grad_op.gradient
def _strided_slice_grad_gradient(op, grad):
    _, begin, end, strides, _ = op.inputs
    return [None, None, None, None, strided_slice(grad, begin, end, strides, **_masks_of(op))]


strided_slice_grad_op.samples(
    (*_vectors([4, 3], [1, 0], [3, 3], [1, 2]), f32(2, 2)),
    (*_vectors([4], [3], [0], [-2]), f32(2)),
    (*_vectors([4, 3], [2], [3], [1]), f32(3), {"shrink_axis_mask": 1}),
    against=_zeros_but_there,
)

strided_slice_assign_op = Op(
    "StridedSliceAssign",
    f"ref: Ref(T), {_SPEC}, value: T -> output_ref: Ref(T)",
    Index=INDICES,
    host=_HOST,
    stateful=True,
    colocate="ref",
    differentiable=None,
    **Masks()._asdict(),
)


@strided_slice_assign_op.shape
@_masked
def _strided_slice_assign_shape(ref, begin, end, strides, value, masks):
    _check_spec(begin, end, strides)
    return ref


@strided_slice_assign_op.kernel
@_masked
def _strided_slice_assign_kernel(ref, begin, end, strides, value, masks):
    with ref as buffer:
        _assign(buffer, _cuts(buffer.shape, begin, end, strides, masks), value)
    return ref


strided_slice_assign_op.samples(
    (ref(f32(4, 3)), *_vectors([1, 0], [3, 3], [1, 2]), f32(2, 2)),
    (ref(i32(4)), *_vectors([3], [0], [-2]), i32(2)),
    against=_assigned_by_numpy,
)

resource_strided_slice_assign_op = Op(
    "ResourceStridedSliceAssign",
    f"ref: resource, {_SPEC}, value: T",
    Index=INDICES,
    host=_HOST,
    stateful=True,
    colocate="ref",
    differentiable=False,
    **Masks()._asdict(),
)


@resource_strided_slice_assign_op.shape
@_masked
def _resource_strided_slice_assign_shape(ref, begin, end, strides, value, masks):
    _check_spec(begin, end, strides)
    return []


@resource_strided_slice_assign_op.kernel
@_masked
def _resource_strided_slice_assign_kernel(ref, begin, end, strides, value, masks):
    with ref as buffer:
        _assign(buffer, _cuts(buffer.shape, begin, end, strides, masks), value)


resource_strided_slice_assign_op.samples(
    (resource(f32(4, 3)), *_vectors([2], [3], [1]), f32(3), {"shrink_axis_mask": 1}),
    against=_assigned_by_numpy,
)

strided_slice_update_op = Op(
    "TensorStridedSliceUpdate",
    f"input: T, {_SPEC}, value: T -> output: T",
    Index=INDICES,
    host=_HOST,
    **Masks()._asdict(),
)


@strided_slice_update_op.shape
@_masked
def _strided_slice_update_shape(input, begin, end, strides, value, masks):
    _check_spec(begin, end, strides)
    return input


@strided_slice_update_op.kernel
@strided_slice_update_op.kernel("string")
@_masked
def _strided_slice_update_kernel(input, begin, end, strides, value, masks):
    whole = input.copy() if isinstance(input, np.ndarray) else input.clone()
    _put(whole, _cuts(whole.shape, begin, end, strides, masks), value)
    return whole


@strided_slice_update_op.gradient
def _strided_slice_update_gradient(op, grad):
    _, *spec, value = op.inputs
    kept = strided_slice_update_op(grad, *spec, creation.zeros_like(value), **_masks_of(op))
    return [kept, None, None, None, strided_slice(grad, *spec, **_masks_of(op))]


strided_slice_update_op.samples(
    (f32(4, 3), *_vectors([1, 0], [3, 3], [1, 2]), f32(2, 2)),
    (i32(4), *_vectors([3], [0], [-2]), i32(2)),
    (f32(4, 3), *_vectors([2], [3], [1]), f32(3), {"shrink_axis_mask": 1}),
    against=_assigned_by_numpy,
)


# ---------------------------------------------------------------------------------- x[...]

_WRONG_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
    "are valid indices"
)


def _no_assignment(val: Any, name: str | None = None) -> Any:
    raise ValueError("Sliced assignment is only supported for variables")


def slice_helper(tensor: Tensor, slice_spec: Any, var: Any = None) -> Tensor:
    """`tensor[slice_spec]`; `var` is the variable that a slice of it can be assigned to."""
    if var is None and (graph := get_eager_graph()) is not None:
        places = _integers_of(slice_spec)
        if places is not None:
            known = graph.known.get((strided_slice_op, getattr(tensor, "_key", None), places))
            if known is not None:
                result = known((tensor, None, None, None), _NAME)  # it knows the places
            else:
                result = _slice_of_integers(graph, tensor, slice_spec, places)
            result.assign = _no_assignment
            return result
    if isinstance(slice_spec, bool) or getattr(slice_spec, "dtype", None) in (dtypes.bool, np.dtype(bool)):
        return indexing.boolean_mask(tensor, slice_spec)
    begin, end, strides, masks = _spec(_entries(slice_spec))
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as scope:
        return strided_slice(tensor, *_packed(begin, end, strides), var=var, name=scope, **masks)


def _entries(slice_spec: Any) -> Sequence[Any]:
    return slice_spec if isinstance(slice_spec, (list, tuple)) else (slice_spec,)


def _spec(entries: Sequence[Any]) -> tuple[list, list, list, dict[str, int]]:
    """Begin, end, strides and masks of the entries of an index."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(Masks._fields, 0)
    for i, entry in enumerate(entries):
        (first, last, step), marks = _bounds(entry)
        begin.append(first)
        end.append(last)
        strides.append(step)
        for mark in marks:
            masks[mark] |= 1 << i
    return begin, end, strides, masks


_MOST_SPECS = 1_000
_NAME = "strided_slice"
_specs: dict[Any, Any] = {}  # of indices of integers alone, as eager mode calls the op with them
_SLICE = builtins.slice


def _integers_of(slice_spec: Any) -> tuple[Any, ...] | None:
    """The integers of an index in a form that can be compared; None where it has others than integers."""
    kind = type(slice_spec)
    if kind is _SLICE:
        first, last, step = slice_spec.start, slice_spec.stop, slice_spec.step
        if (
            (first is None or type(first) is int)
            and (last is None or type(last) is int)
            and (step is None or type(step) is int)
        ):
            return _SLICE, first, last, step
        return None
    if kind is int or slice_spec is None or slice_spec is Ellipsis:
        return (slice_spec,)
    if not isinstance(slice_spec, (list, tuple)):
        return None
    found: list[Any] = []
    for entry in slice_spec:
        places = None if isinstance(entry, (list, tuple)) else _integers_of(entry)
        if places is None:
            return None
        found += places
    return tuple(found)


def _slice_of_integers(graph: Any, tensor: Any, slice_spec: Any, places: tuple[Any, ...]) -> Any:
    vectors, masks = _spec_of_integers(_entries(slice_spec), places)
    key = None  # of a tensor of a graph that takes eager mode's calls
    if type(tensor) is graph.tensor_type:
        key = strided_slice_op, tensor._key, places
    return graph.execute(strided_slice_op, (tensor, *vectors), masks, _NAME, key)


def _spec_of_integers(entries: Sequence[Any], places: Any) -> tuple[list[Any], dict[str, int]]:
    """Begin, end and strides of an index of integers, and the masks that are not zero."""
    known = _specs.get(places)
    if known is None:
        if len(_specs) > _MOST_SPECS:
            _specs.clear()
        *vectors, masks = _spec(entries)
        known = _specs[places] = vectors, {name: mask for name, mask in masks.items() if mask}
    return known


def _check_index(index: Any) -> None:
    if isinstance(index, (int, Dimension)):
        return
    try:
        usable = dtypes.as_dtype(index.dtype).base_dtype in INDICES and TensorShape(index.shape).ndims in (
            0,
            None,
        )
    except (AttributeError, TypeError):
        usable = False
    if not usable:
        raise TypeError(f"{_WRONG_INDEX}, got {index!r}")


def _bounds(entry: Any) -> tuple[tuple[Any, Any, Any], list[str]]:
    """(begin, end, stride) of one entry of an index, and the masks that it sets."""
    if entry is Ellipsis:
        return (0, 0, 1), ["ellipsis_mask"]
    if entry is None:
        return (0, 0, 1), ["new_axis_mask"]
    if not isinstance(entry, builtins.slice):
        _check_index(entry)
        return (entry, entry + 1, 1), ["shrink_axis_mask"]
    for part in (entry.start, entry.stop, entry.step):
        if part is not None:
            _check_index(part)
    marks = [mask for mask, part in (("begin_mask", entry.start), ("end_mask", entry.stop)) if part is None]
    first, last = (0 if part is None else part for part in (entry.start, entry.stop))
    return (first, last, 1 if entry.step is None else entry.step), marks


def _packed(*parts: list) -> list[Tensor]:
    """begin, end and strides as vectors of one type."""
    if not parts[0]:
        return [constants.constant([], dtypes.int32)] * len(parts)
    vectors = [joining.stack(part) for part in parts]
    if any(vector.dtype.base_dtype is dtypes.int64 for vector in vectors):
        vectors = [casting.cast(vector, dtypes.int64) for vector in vectors]
    return vectors


Tensor._override_operator("__getitem__", slice_helper)
