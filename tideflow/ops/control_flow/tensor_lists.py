"""Lists of tensors as values: what TensorFlow's newer loops keep instead of TensorArrays and stacks.

A list is the one cell of a variant tensor. No op changes a list; each gives a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, shapes, slicing
from tideflow.ops.helpers.axes import as_sizes, merged, of_rank_at_least
from tideflow.ops.helpers.types import INDICES
from tideflow.runtime.tensor_lists import TensorList, as_variant, list_in, refusal, shown
from tideflow.runtime.tensor_lists import merged as merged_shapes

_ELEMENTS = {"element_dtype": attr("type")}
_SIZES = {"shape_type": attr("type", allowed=INDICES)}

# ---------------------------------------------------------------------------------------------- static shapes


class ListShape(TensorShape):
    """The (scalar) shape of a list's handle, which also knows what the list's elements are."""

    __slots__ = ("dtype", "element_shape")

    def __init__(self, dtype: dtypes.DType, element_shape: TensorShape):
        super().__init__(())
        self.dtype = dtype
        self.element_shape = element_shape

    def merge_with(self, other: Any) -> TensorShape:
        super().merge_with(other)
        return self


_UNKNOWN = TensorShape(None)


def _told(element_shape: Any) -> TensorShape:
    """The shape that an `element_shape` input tells: -1 is a shape of which nothing is known."""
    if element_shape is None or element_shape == -1:
        return _UNKNOWN
    if not isinstance(element_shape, list):
        raise ShapeError(
            f"The only valid scalar shape tensor is the fully unknown shape specified as -1: {element_shape}"
        )
    return TensorShape(as_sizes(element_shape))


def _empty_list_family_shape(element_shape, count, *, element_dtype):
    return ListShape(element_dtype, _told(element_shape))


empty_list_op = Op(
    "EmptyTensorList",
    "element_shape: shape_type, max_num_elements: int32 -> handle: variant",
    host="element_shape, max_num_elements",
    differentiable=False,
    **_ELEMENTS,
    **_SIZES,
)
empty_list_op.shape(_empty_list_family_shape)


@empty_list_op.kernel
def _empty_list_kernel(element_shape, max_num_elements, *, element_dtype):
    return as_variant(TensorList(element_dtype, _told(element_shape), limit=max_num_elements))


empty_list_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

reserve_op = Op(
    "TensorListReserve",
    "element_shape: shape_type, num_elements: int32 -> handle: variant",
    host="element_shape, num_elements",
    differentiable=False,
    **_ELEMENTS,
    **_SIZES,
)
reserve_op.shape(_empty_list_family_shape)


@reserve_op.kernel
def _reserve_kernel(element_shape, num_elements, *, element_dtype):
    if num_elements < 0:
        raise refusal(f"The num_elements to reserve must be a non negative number, but got {num_elements}")
    return as_variant(TensorList(element_dtype, _told(element_shape), (None,) * num_elements))


reserve_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

_LIST = "input_handle: variant"


def _elements(handle: TensorShape, dtype: dtypes.DType, told: TensorShape, action: str) -> TensorShape:
    """What is known of the shape of a list's elements; ShapeError where they have another type."""
    if not isinstance(handle, ListShape):
        return told
    if handle.dtype is not dtype:
        raise ShapeError(
            f"Trying to {action} list with wrong element dtype. List has type {handle.dtype.name} but the "
            f"op's elements have type {dtype.name}"
        )
    return merged(told, handle.element_shape)


push_back_op = Op(
    "TensorListPushBack", f"{_LIST}, tensor: element_dtype -> output_handle: variant", **_ELEMENTS
)


def _is_one_cell(handle: TensorShape) -> None:
    if handle.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {handle.ndims}")


@push_back_op.shape
def _push_back_shape(handle, tensor, *, element_dtype):
    _is_one_cell(handle)
    known = _elements(handle, element_dtype, _UNKNOWN, "push to")
    return ListShape(element_dtype, known)


@push_back_op.kernel
def _push_back_kernel(handle, tensor):
    return as_variant(list_in(handle).pushed(tensor))


@push_back_op.gradient
def _push_back_gradient(op, grad):
    return pop_back_op(grad, shapes.shape(op.inputs[1]), element_dtype=op.attrs["element_dtype"])


push_back_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

pop_back_op = Op(
    "TensorListPopBack",
    f"{_LIST}, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    host="element_shape",
    **_ELEMENTS,
)


@pop_back_op.shape
def _pop_back_shape(handle, element_shape, *, element_dtype):
    known = _elements(handle, element_dtype, _told(element_shape), "read from")
    return [handle if isinstance(handle, ListShape) else [], known]


@pop_back_op.kernel
def _pop_back_kernel(handle, element_shape, *, element_dtype):
    found = list_in(handle, element_dtype)
    if not found.values:
        raise refusal("Trying to pop from an empty list.")
    *others, last = found.values
    if last is None:
        shape = merged_shapes(_told(element_shape), found.element_shape)
        if not shape.is_fully_defined():
            raise refusal(
                f"Trying to read an uninitialized tensor but element_shape is not fully "
                f"defined.{shown(shape)}"
            )
        last = found.zeros(shape.tuple)
    return as_variant(found.with_values(others)), last


@pop_back_op.gradient
def _pop_back_gradient(op, grad_list, grad):
    dtype = op.attrs["element_dtype"]
    if grad_list is None:
        grad_list = empty_list_op(
            element_shape_op(op.outputs[0], shape_type=dtypes.int32), -1, element_dtype=dtype
        )
    if grad is None:
        grad = creation.zeros_like(op.outputs[1])
    return push_back_op(grad_list, grad), None


pop_back_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")


def _as_array(part: Any) -> np.ndarray:
    return part if isinstance(part, np.ndarray) else as_variant(part)


def _unbound(value: Any) -> Sequence[Any]:
    """The elements along the first axis."""
    return value.unbind(0) if isinstance(value, torch.Tensor) else [_as_array(part) for part in value]


push_back_batch_op = Op(
    "TensorListPushBackBatch",
    "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    differentiable=False,
    **_ELEMENTS,
)


@push_back_batch_op.shape
def _push_back_batch_shape(handles, tensor, *, element_dtype):
    handles = of_rank_at_least(handles, 1)
    many, rows = (handles.tuple or [None])[0], (of_rank_at_least(tensor, 1).tuple or [None])[0]
    if None not in (many, rows) and many != rows:
        raise ShapeError(f"Dimensions must be equal, but are {rows} and {many}")
    return handles


@push_back_batch_op.kernel
def _push_back_batch_kernel(handles, tensor):
    made = np.empty(handles.shape, dtype=object)
    for i, part in enumerate(_unbound(tensor)):
        made[i] = list_in(_as_array(handles[i])).pushed(part, f" at index {i}")
    return made


push_back_batch_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

get_item_op = Op(
    "TensorListGetItem",
    f"{_LIST}, index: int32, element_shape: Tshape -> item: element_dtype",
    Tshape=attr("type", dtypes.int32, allowed=INDICES),
    host="index, element_shape",
    **_ELEMENTS,
)


@get_item_op.shape
def _get_item_shape(handle, index, element_shape, *, element_dtype):
    return _elements(handle, element_dtype, _told(element_shape), "read from")


@get_item_op.kernel
def _get_item_kernel(handle, index, element_shape, *, element_dtype):
    found = list_in(handle, element_dtype)
    if not 0 <= index < len(found.values):
        raise refusal(f"Trying to access element {index} in a list with {len(found.values)} elements.")
    value = found.values[index]
    if value is not None:
        return value
    shape = found.common_shape(_told(element_shape))
    if not shape.is_fully_defined():
        raise refusal(
            f"Trying to read an uninitialized tensor but element_shape is not fully defined: {shown(shape)} "
            "and no list element is set."
        )
    return found.zeros(shape.tuple)


@get_item_op.gradient
def _get_item_gradient(op, grad):
    dtype = op.attrs["element_dtype"]
    blank = reserve_op(shapes.shape(grad), length_op(op.inputs[0]), element_dtype=dtype)
    return set_item_op(blank, op.inputs[1], grad), None, None


get_item_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

set_item_op = Op(
    "TensorListSetItem",
    f"{_LIST}, index: int32, item: element_dtype -> output_handle: variant",
    resize_if_index_out_of_bounds=False,
    host="index",
    **_ELEMENTS,
)


@set_item_op.shape
def _set_item_shape(handle, index, item, *, element_dtype):
    if not isinstance(handle, ListShape):
        return ListShape(element_dtype, _UNKNOWN)
    merged(item, handle.element_shape)
    return handle


@set_item_op.kernel
def _set_item_kernel(handle, index, item, *, element_dtype, resize_if_index_out_of_bounds):
    found = list_in(handle, element_dtype)
    if resize_if_index_out_of_bounds and index >= len(found.values):
        found = found.with_values((*found.values, *[None] * (index + 1 - len(found.values))))
    if not 0 <= index < len(found.values):
        raise refusal(f"Trying to modify element {index} in a list with {len(found.values)} elements.")
    return as_variant(found.replaced(index, item))


@set_item_op.gradient
def _set_item_gradient(op, grad):
    _, index, item = op.inputs
    grad_list = set_item_op(grad, index, creation.zeros_like(item))
    return grad_list, None, get_item_op(grad, index, shapes.shape(item), element_dtype=item.dtype)


set_item_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")


def _stacked(elements: TensorShape, count: int | None) -> list[int | None] | None:
    return None if elements.tuple is None else [count, *elements.tuple]


def _joined(values: Sequence[Any], stacked: bool) -> Any:
    if isinstance(values[0], torch.Tensor):
        return torch.stack(list(values)) if stacked else torch.cat(list(values))
    return np.stack(values) if stacked else np.concatenate(values)


def _none_yet(dtype: dtypes.DType, sizes: Sequence[int]) -> Any:
    return (
        np.empty(tuple(sizes), object)
        if dtype.torch is None
        else torch.zeros(tuple(sizes), dtype=dtype.torch)
    )


def _row_shape(tensor: Tensor) -> Tensor:
    """The shape of the elements along the first axis."""
    return slicing.slice(shapes.shape(tensor), [1], [-1])


stack_op = Op(
    "TensorListStack",
    f"{_LIST}, element_shape: int32 -> tensor: element_dtype",
    num_elements=-1,
    host="element_shape",
    **_ELEMENTS,
)


@stack_op.shape
def _stack_shape(handle, element_shape, *, element_dtype, num_elements):
    known = _elements(handle, element_dtype, _told(element_shape), "read from")
    return _stacked(known, None if num_elements < 0 else num_elements)


@stack_op.kernel
def _stack_kernel(handle, element_shape, *, element_dtype, num_elements):
    found = list_in(handle, element_dtype)
    count = len(found.values)
    if num_elements >= 0 and num_elements != count:
        raise refusal(
            f"Operation expected a list with {num_elements} elements but got a list with {count} elements."
        )
    shape = found.common_shape(_told(element_shape))
    if not shape.is_fully_defined():
        what = (
            "elements of an empty list with"
            if not count
            else "list which only contains uninitialized tensors and has a"
        )
        raise refusal(f"Tried to stack {what} non-fully-defined element_shape: {shown(shape)}")
    if not count:
        return _none_yet(element_dtype, (0, *shape.tuple))
    return _joined([found.zeros(shape.tuple) if v is None else v for v in found.values], stacked=True)


@stack_op.gradient
def _stack_gradient(op, grad):
    return from_tensor_op(grad, _row_shape(grad)), None


stack_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")


def _rest(shape: TensorShape) -> TensorShape:
    return of_rank_at_least(shape, 1)[1:]


def _has_rows(tensor: Any) -> None:
    if not tensor.ndim:
        raise refusal("Tensor must be at least a vector, but saw shape: []")


def _fitting(told: TensorShape, sizes: Sequence[int]) -> TensorShape:
    if not told.is_compatible_with(TensorShape(tuple(sizes))):
        raise refusal(
            f"Specified a list with shape {shown(told)} from a tensor whose elements have shape "
            f"{shown(sizes)}"
        )
    return told


from_tensor_op = Op(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
    host="element_shape",
    **_ELEMENTS,
    **_SIZES,
)


@from_tensor_op.shape
def _from_tensor_shape(tensor, element_shape, *, element_dtype):
    told = _told(element_shape)
    if tensor.ndims != 0:  # a scalar is the kernel's to refuse, as in TensorFlow
        merged(_rest(tensor), told)
    return ListShape(element_dtype, told)


@from_tensor_op.kernel
def _from_tensor_kernel(tensor, element_shape, *, element_dtype):
    _has_rows(tensor)
    shape = _fitting(_told(element_shape), tensor.shape[1:])
    return as_variant(TensorList(element_dtype, shape, tuple(_unbound(tensor))))


@from_tensor_op.gradient
def _from_tensor_gradient(op, grad):
    tensor = op.inputs[0]
    rows = tensor.shape.tuple[0] if tensor.shape.tuple else None
    return (
        stack_op(
            grad, _row_shape(tensor), element_dtype=tensor.dtype, num_elements=-1 if rows is None else rows
        ),
        None,
    )


from_tensor_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

gather_op = Op(
    "TensorListGather",
    f"{_LIST}, indices: int32, element_shape: int32 -> values: element_dtype",
    host="indices, element_shape",
    **_ELEMENTS,
)


@gather_op.shape
def _gather_shape(handle, indices, element_shape, *, element_dtype):
    known = _elements(handle, element_dtype, _told(element_shape), "read from")
    return _stacked(known, None if indices is None else len(indices))


@gather_op.kernel
def _gather_kernel(handle, indices, element_shape, *, element_dtype):
    found = list_in(handle, element_dtype)
    for index in indices:
        if not 0 <= index < len(found.values):
            raise refusal(f"Index {index} out of range; list only has {len(found.values)} elements.")
    chosen = found.with_values([found.values[index] for index in indices])
    shape = _told(element_shape)
    shape = chosen.common_shape(shape) if None not in chosen.values else found.common_shape(shape)
    if not shape.is_fully_defined():
        what = "0-elements" if not indices else "uninitialized tensors"
        raise refusal(f"Tried to gather {what} from a list with non-fully-defined shape: {shown(shape)}")
    if not indices:
        return _none_yet(element_dtype, (0, *shape.tuple))
    return _joined([found.zeros(shape.tuple) if v is None else v for v in chosen.values], stacked=True)


@gather_op.gradient
def _gather_gradient(op, grad):
    """Of an element gathered more than once only the last gradient counts, as in TensorFlow."""
    blank = reserve_op(_row_shape(grad), length_op(op.inputs[0]), element_dtype=grad.dtype)
    return scatter_into_op(blank, grad, op.inputs[1]), None, None


gather_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")


def _scatter_family_shape(tensor, indices, element_shape, num_elements=None, *, element_dtype):
    told = _told(element_shape)
    merged(_rest(tensor), told)
    return ListShape(element_dtype, told)


def _scattered(values: list[Any], tensor: Any, indices: list[int]) -> list[Any]:
    """The values with rows of the tensor at these positions; there must be as many positions as rows."""
    _has_rows(tensor)
    if len(indices) != tensor.shape[0]:
        raise refusal(
            f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: {tensor.shape[0]}"
        )
    for index, part in zip(indices, _unbound(tensor), strict=True):
        if index < 0:
            raise refusal(f"Indices in TensorListScatter must all be non-negative, but one is {index}.")
        values[index] = part
    return values


def _scatter(
    tensor: Any, indices: list[int], told: TensorShape, dtype: dtypes.DType, count: int
) -> np.ndarray:
    shape = _fitting(told, tensor.shape[1:])
    highest = max(indices, default=-1)
    if count < -1:
        raise refusal(f"TensorListScatter expects num_elements >= -1, found: {count}")
    if count == -1:
        count = highest + 1
    elif highest >= count:
        raise refusal(f"TensorListScatter: Trying to scatter at index {highest} in list with size {count}")
    return as_variant(TensorList(dtype, shape, tuple(_scattered([None] * count, tensor, indices))))


def _scatter_family_gradient(op, grad):
    tensor, indices = op.inputs[:2]
    back = gather_op(grad, indices, _row_shape(tensor), element_dtype=tensor.dtype)
    return [back] + [None] * (len(op.inputs) - 1)


scatter_op = Op(
    "TensorListScatter",
    "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
    host="indices, element_shape",
    **_ELEMENTS,
    **_SIZES,
)
scatter_op.shape(_scatter_family_shape)


@scatter_op.kernel
def _scatter_kernel(tensor, indices, element_shape, *, element_dtype):
    return _scatter(tensor, indices, _told(element_shape), element_dtype, -1)


scatter_op.gradient(_scatter_family_gradient)
scatter_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

scatter_v2_op = Op(
    "TensorListScatterV2",
    "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> "
    "output_handle: variant",
    host="indices, element_shape, num_elements",
    **_ELEMENTS,
    **_SIZES,
)
scatter_v2_op.shape(_scatter_family_shape)


@scatter_v2_op.kernel
def _scatter_v2_kernel(tensor, indices, element_shape, num_elements, *, element_dtype):
    return _scatter(tensor, indices, _told(element_shape), element_dtype, num_elements)


scatter_v2_op.gradient(_scatter_family_gradient)
scatter_v2_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

scatter_into_op = Op(
    "TensorListScatterIntoExistingList",
    f"{_LIST}, tensor: element_dtype, indices: int32 -> output_handle: variant",
    host="indices",
    **_ELEMENTS,
)


@scatter_into_op.shape
def _scatter_into_shape(handle, tensor, indices, *, element_dtype):
    known = _elements(handle, element_dtype, _UNKNOWN, "scatter into")
    merged(_rest(tensor), known)
    return ListShape(element_dtype, known)


@scatter_into_op.kernel
def _scatter_into_kernel(handle, tensor, indices, *, element_dtype):
    found = list_in(handle, element_dtype)
    _has_rows(tensor)
    _fitting(found.element_shape, tensor.shape[1:])
    values = list(found.values)
    values += [None] * (max(indices, default=-1) + 1 - len(values))
    return as_variant(found.with_values(_scattered(values, tensor, indices)))


@scatter_into_op.gradient
def _scatter_into_gradient(op, grad):
    _, tensor, indices = op.inputs
    grad_list = scatter_into_op(grad, creation.zeros_like(tensor), indices)
    return grad_list, gather_op(grad, indices, _row_shape(tensor), element_dtype=tensor.dtype), None


scatter_into_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")


def _concatenated(elements: TensorShape) -> list[int | None] | None:
    return None if elements.tuple is None else [None, *of_rank_at_least(elements, 1).tuple[1:]]


def _leading(index: int, declared: int | None, leading_dims: Sequence[int]) -> int:
    if declared is not None:
        return declared
    if index >= len(leading_dims):
        raise refusal(
            f"List contains uninitialized tensor at index {index} but leading_dims has only "
            f"{len(leading_dims)} elements."
        )
    return leading_dims[index]


def _concat(found: TensorList, told: TensorShape, leading_dims: Sequence[int]) -> tuple[Any, torch.Tensor]:
    """All elements along the first axis; those never set have the sizes that `leading_dims` says."""
    told = merged_shapes(told, found.element_shape)
    if told.ndims == 0:
        raise refusal("Concat requires elements to be at least vectors, found scalars instead.")
    for i, value in enumerate(found.values):
        if value is not None and not value.ndim:
            raise refusal(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
    rest = _UNKNOWN if told.tuple is None else TensorShape(told.tuple[1:])
    for value in found.values:
        if value is not None:
            rest = merged_shapes(rest, TensorShape(value.shape[1:]))
    if not rest.is_fully_defined():
        kind = "an empty tensor list" if not found.values else "a list that only holds uninitialized tensors"
        raise refusal(
            f"All except the first dimension must be fully defined when concating {kind}. "
            f"element_shape: {shown(told)}"
        )
    if not found.values:
        return _none_yet(found.dtype, (0, *rest.tuple)), torch.zeros(0, dtype=torch.int64)
    first = told.tuple[0] if told.tuple is not None else None
    parts = [
        found.zeros((_leading(i, first, leading_dims), *rest.tuple)) if value is None else value
        for i, value in enumerate(found.values)
    ]
    lengths = torch.tensor([part.shape[0] for part in parts], dtype=torch.int64)
    return _joined(parts, stacked=False), lengths


def _concat_family_gradient(op, grad, grad_lengths):
    shape = element_shape_op(op.inputs[0], shape_type=dtypes.int32)
    back = split_op(grad, shape, op.outputs[1])
    return back if len(op.inputs) == 1 else [back, None, None]


concat_op = Op(
    "TensorListConcat",
    f"{_LIST} -> tensor: element_dtype, lengths: int64",
    element_shape=attr("shape", None),
    **_ELEMENTS,
)


@concat_op.shape
def _concat_shape(handle, *, element_dtype, element_shape):
    known = _elements(handle, element_dtype, element_shape, "read from")
    return [_concatenated(known), [None]]


@concat_op.kernel
def _concat_kernel(handle, *, element_dtype, element_shape):
    return _concat(list_in(handle, element_dtype), element_shape, ())


concat_op.gradient(_concat_family_gradient)
concat_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

concat_v2_op = Op(
    "TensorListConcatV2",
    f"{_LIST}, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, lengths: int64",
    host="element_shape, leading_dims",
    **_ELEMENTS,
    **_SIZES,
)


@concat_v2_op.shape
def _concat_v2_shape(handle, element_shape, leading_dims, *, element_dtype):
    known = _elements(handle, element_dtype, _told(element_shape), "read from")
    return [_concatenated(known), [None]]


@concat_v2_op.kernel
def _concat_v2_kernel(handle, element_shape, leading_dims, *, element_dtype):
    return _concat(list_in(handle, element_dtype), _told(element_shape), leading_dims)


concat_v2_op.gradient(_concat_family_gradient)
concat_v2_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

concat_lists_op = Op(
    "TensorListConcatLists",
    "input_a: variant, input_b: variant -> output: variant",
    differentiable=False,
    **_ELEMENTS,
)


@concat_lists_op.shape
def _concat_lists_shape(input_a, input_b, *, element_dtype):
    both = merged(input_a, input_b)
    known = _elements(input_a, element_dtype, _UNKNOWN, "join to a")
    known = _elements(input_b, element_dtype, known, "join to a")
    return ListShape(element_dtype, known) if both.ndims == 0 else both


@concat_lists_op.kernel
def _concat_lists_kernel(input_a, input_b, *, element_dtype):
    made = np.empty(input_a.shape, dtype=object)
    for place in np.ndindex(made.shape):
        a, b = (list_in(_as_array(given[place]), element_dtype) for given in (input_a, input_b))
        shape = merged_shapes(a.element_shape, b.element_shape)
        made[place] = TensorList(element_dtype, shape, (*a.values, *b.values), a.limit)
    return made


concat_lists_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

split_op = Op(
    "TensorListSplit",
    "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    host="element_shape, lengths",
    **_ELEMENTS,
    **_SIZES,
)


@split_op.shape
def _split_shape(tensor, element_shape, lengths, *, element_dtype):
    told = _told(element_shape)
    rest = _rest(tensor).tuple
    merged(_UNKNOWN if rest is None else TensorShape([None, *rest]), told)
    return ListShape(element_dtype, told)


@split_op.kernel
def _split_kernel(tensor, element_shape, lengths, *, element_dtype):
    _has_rows(tensor)
    shape = _fitting(_told(element_shape), (None, *tensor.shape[1:]))
    parts, begin, rows = [], 0, tensor.shape[0]
    for length in lengths:
        if length < 0:
            raise refusal(f"Invalid value in lengths: {length}")
        if begin + length > rows:
            raise refusal(f"Attempting to slice [{begin}, {begin + length}] from tensor with length {rows}")
        parts.append(tensor[begin : begin + length])
        begin += length
    if begin < rows:
        raise refusal(f"Unused values in tensor. Length of tensor: {rows} Values used: {begin}")
    return as_variant(TensorList(element_dtype, shape, tuple(parts)))


@split_op.gradient
def _split_gradient(op, grad):
    tensor, element_shape, lengths = op.inputs
    back = concat_v2_op(grad, element_shape, lengths, element_dtype=tensor.dtype)
    return back.tensor, None, None


split_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

length_op = Op("TensorListLength", f"{_LIST} -> length: int32", differentiable=False)
length_op.shape(lambda handle: [])


@length_op.kernel
def _length_kernel(handle):
    return torch.tensor(len(list_in(handle).values), dtype=torch.int32)


length_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

resize_op = Op("TensorListResize", f"{_LIST}, size: int32 -> output_handle: variant", host="size")
resize_op.shape(lambda handle, size: handle)


@resize_op.kernel
def _resize_kernel(handle, size):
    if size < 0:
        raise refusal(f"TensorListSlice expects size to be non-negative. Got: {size}")
    found = list_in(handle)
    return as_variant(found.with_values((*found.values[:size], *[None] * (size - len(found.values)))))


@resize_op.gradient
def _resize_gradient(op, grad):
    return resize_op(grad, length_op(op.inputs[0])), None


resize_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")

element_shape_op = Op(
    "TensorListElementShape", f"{_LIST} -> element_shape: shape_type", differentiable=False, **_SIZES
)


@element_shape_op.shape
def _element_shape_shape(handle):
    known = handle.element_shape.ndims if isinstance(handle, ListShape) else None
    return [known]


@element_shape_op.kernel
def _element_shape_kernel(handle, *, shape_type):
    sizes = list_in(handle).element_shape.tuple
    value = -1 if sizes is None else [-1 if size is None else size for size in sizes]
    return torch.tensor(value, dtype=shape_type.torch)


element_shape_op.samples(covered_by="tests/ops/control_flow/test_tensor_lists.py")
