"""Lists of tensors as values: what TensorFlow's newer loops keep instead of TensorArrays and stacks.

A list is the one cell of a variant tensor. No op changes a list; each gives a new one.
"""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.helpers.axes import merged, of_rank_at_least
from tideflow.ops.helpers.tensor_lists import (
    ELEMENTS,
    LIST,
    SIZES,
    UNKNOWN,
    ListShape,
    as_cell,
    element_shape_from,
    elements_shape,
    unbound,
)
from tideflow.ops.helpers.types import INDICES
from tideflow.runtime.tensor_lists import TensorList, as_variant, list_in, refusal, shown
from tideflow.runtime.tensor_lists import merged as merged_shapes

_TESTS = "tests/ops/control_flow/test_tensor_lists.py"


def _new_list_shape(element_shape, count, *, element_dtype):
    return ListShape(element_dtype, element_shape_from(element_shape))


empty_list_op = Op(
    "EmptyTensorList",
    "element_shape: shape_type, max_num_elements: int32 -> handle: variant",
    host="element_shape, max_num_elements",
    differentiable=False,
    **ELEMENTS,
    **SIZES,
)


@empty_list_op.shape
def _empty_list_shape(element_shape, count, *, element_dtype):
    return ListShape(element_dtype, element_shape_from(element_shape), is_empty=True)


@empty_list_op.kernel
def _empty_list_kernel(element_shape, max_num_elements, *, element_dtype):
    return as_variant(TensorList(element_dtype, element_shape_from(element_shape), limit=max_num_elements))


empty_list_op.samples(covered_by=_TESTS)

reserve_op = Op(
    "TensorListReserve",
    "element_shape: shape_type, num_elements: int32 -> handle: variant",
    host="element_shape, num_elements",
    differentiable=False,
    **ELEMENTS,
    **SIZES,
)
reserve_op.shape(_new_list_shape)


@reserve_op.kernel
def _reserve_kernel(element_shape, num_elements, *, element_dtype):
    if num_elements < 0:
        raise refusal(f"The num_elements to reserve must be a non negative number, but got {num_elements}")
    return as_variant(TensorList(element_dtype, element_shape_from(element_shape), (None,) * num_elements))


reserve_op.samples(covered_by=_TESTS)


def _is_one_cell(handle: TensorShape) -> None:
    if handle.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {handle.ndims}")


push_back_op = Op(
    "TensorListPushBack", f"{LIST}, tensor: element_dtype -> output_handle: variant", **ELEMENTS
)


@push_back_op.shape
def _push_back_shape(handle, tensor, *, element_dtype):
    _is_one_cell(handle)
    known = elements_shape(handle, element_dtype, UNKNOWN, "push to")
    return handle.with_one_more(tensor) if isinstance(handle, ListShape) else ListShape(element_dtype, known)


@push_back_op.kernel
def _push_back_kernel(handle, tensor):
    return as_variant(list_in(handle).pushed(tensor))


@push_back_op.gradient
def _push_back_gradient(op, grad):
    return pop_back_op(grad, shapes.shape(op.inputs[1]), element_dtype=op.attrs["element_dtype"])


push_back_op.samples(covered_by=_TESTS)

pop_back_op = Op(
    "TensorListPopBack",
    f"{LIST}, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    host="element_shape",
    **ELEMENTS,
)


@pop_back_op.shape
def _pop_back_shape(handle, element_shape, *, element_dtype):
    known = elements_shape(handle, element_dtype, element_shape_from(element_shape), "read from")
    return [handle if isinstance(handle, ListShape) else [], known]


@pop_back_op.kernel
def _pop_back_kernel(handle, element_shape, *, element_dtype):
    found = list_in(handle, element_dtype)
    if not found.values:
        raise refusal("Trying to pop from an empty list.")
    *others, last = found.values
    if last is None:
        shape = merged_shapes(element_shape_from(element_shape), found.element_shape)
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


pop_back_op.samples(covered_by=_TESTS)

push_back_batch_op = Op(
    "TensorListPushBackBatch",
    "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    differentiable=False,
    **ELEMENTS,
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
    for i, part in enumerate(unbound(tensor)):
        made[i] = list_in(as_cell(handles[i])).pushed(part, f" at index {i}")
    return made


push_back_batch_op.samples(covered_by=_TESTS)

get_item_op = Op(
    "TensorListGetItem",
    f"{LIST}, index: int32, element_shape: Tshape -> item: element_dtype",
    Tshape=attr("type", dtypes.int32, allowed=INDICES),
    host="index, element_shape",
    **ELEMENTS,
)


@get_item_op.shape
def _get_item_shape(handle, index, element_shape, *, element_dtype):
    return elements_shape(handle, element_dtype, element_shape_from(element_shape), "read from")


@get_item_op.kernel
def _get_item_kernel(handle, index, element_shape, *, element_dtype):
    found = list_in(handle, element_dtype)
    if not 0 <= index < len(found.values):
        raise refusal(f"Trying to access element {index} in a list with {len(found.values)} elements.")
    value = found.values[index]
    if value is not None:
        return value
    shape = found.common_shape(element_shape_from(element_shape))
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


get_item_op.samples(covered_by=_TESTS)

set_item_op = Op(
    "TensorListSetItem",
    f"{LIST}, index: int32, item: element_dtype -> output_handle: variant",
    resize_if_index_out_of_bounds=False,
    host="index",
    **ELEMENTS,
)


@set_item_op.shape
def _set_item_shape(handle, index, item, *, element_dtype):
    if not isinstance(handle, ListShape):
        return ListShape(element_dtype, UNKNOWN)
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


set_item_op.samples(covered_by=_TESTS)

length_op = Op("TensorListLength", f"{LIST} -> length: int32", differentiable=False)
length_op.shape(lambda handle: [])


@length_op.kernel
def _length_kernel(handle):
    return torch.tensor(len(list_in(handle).values), dtype=torch.int32)


length_op.samples(covered_by=_TESTS)

resize_op = Op("TensorListResize", f"{LIST}, size: int32 -> output_handle: variant", host="size")
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


resize_op.samples(covered_by=_TESTS)

element_shape_op = Op(
    "TensorListElementShape", f"{LIST} -> element_shape: shape_type", differentiable=False, **SIZES
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


element_shape_op.samples(covered_by=_TESTS)

concat_lists_op = Op(
    "TensorListConcatLists",
    "input_a: variant, input_b: variant -> output: variant",
    differentiable=False,
    **ELEMENTS,
)


@concat_lists_op.shape
def _concat_lists_shape(input_a, input_b, *, element_dtype):
    both = merged(input_a, input_b)
    known = elements_shape(input_a, element_dtype, UNKNOWN, "join to a")
    known = elements_shape(input_b, element_dtype, known, "join to a")
    return ListShape(element_dtype, known) if both.ndims == 0 else both


@concat_lists_op.kernel
def _concat_lists_kernel(input_a, input_b, *, element_dtype):
    made = np.empty(input_a.shape, dtype=object)
    for place in np.ndindex(made.shape):
        a, b = (list_in(as_cell(given[place]), element_dtype) for given in (input_a, input_b))
        shape = merged_shapes(a.element_shape, b.element_shape)
        made[place] = TensorList(element_dtype, shape, (*a.values, *b.values), a.limit)
    return made


concat_lists_op.samples(covered_by=_TESTS)
