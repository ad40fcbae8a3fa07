"""The op types of TensorArray. `flow` carries no value: it orders reads after the writes before them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch

import tideflow as tf
from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import brackets
from tideflow.ops.helpers.axes import same_size, scalar, vector
from tideflow.runtime.tensor_arrays import TensorArrayStorage

_TESTS = "tests/ops/control_flow/test_tensor_array.py"
_FLOW = torch.zeros(())
_numbers = itertools.count()  # arrays of one name are told apart in messages


def _wrong_type(handle: TensorArrayStorage, dtype: dtypes.DType, what: str) -> InvalidArgumentError:
    return errors.invalid_argument(
        f"TensorArray dtype is {dtypes.kernel_name(handle.dtype)} but Op {what} dtype "
        f"{dtypes.kernel_name(dtype)}."
    )


def gradient_source(name: str) -> str:
    """The name of the `tf.gradients` call that made a node, within which arrays of gradients are shared."""
    parts = name.split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise ValueError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {name}. This means "
            "that a tf.gradients op with this op in its dependency path has a custom name that does not "
            "start with 'gradients'. Please make sure all calls to tf.gradients that include non-empty "
            "`name` arguments start with 'gradients'."
        )
    return "/".join(parts[: found[-1] + 1])


def _gradient_array(op: Operation, dtype: Any, source: str, flow: Tensor) -> tf.TensorArray:
    array = tf.TensorArray(dtype=dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=source, flow=flow)


tensor_array_op = Op(
    "TensorArrayV3",
    "size: int32 -> handle: resource, flow: float",
    dtype=attr("type"),
    element_shape=attr("shape", None),
    dynamic_size=False,
    clear_after_read=True,
    identical_element_shapes=False,
    tensor_array_name="",
    host="size",
    stateful=True,
    differentiable=False,
    holds_step_values="dtype",
    role="step values",
)


@tensor_array_op.shape
def _tensor_array_shape(size):
    scalar(size, "TensorArray size must be scalar, but had shape: ")
    return [[2], []]  # as TensorFlow has it: a handle once was two names


@tensor_array_op.kernel
def _tensor_array_kernel(
    size,
    *,
    dtype,
    element_shape,
    dynamic_size,
    clear_after_read,
    identical_element_shapes,
    tensor_array_name,
    node,
):
    array = TensorArrayStorage(
        dtype,
        size,
        element_shape,
        dynamic_size,
        clear_after_read,
        identical_element_shapes,
        f"{tensor_array_name or node.name}_{next(_numbers)}",
    )
    return array, _FLOW


tensor_array_op.samples(covered_by=_TESTS)

gradient_op = Op(
    "TensorArrayGradV3",
    "handle: resource, flow_in: float -> grad_handle: resource, flow_out: float",
    source=attr("string"),
    stateful=True,
    differentiable=False,
    role="step values",
)
gradient_op.shape(lambda handle, flow_in: [[2], []])


@gradient_op.kernel
def _gradient_kernel(handle, flow_in, *, source):
    return handle.gradient(source), flow_in


gradient_op.samples(covered_by=_TESTS)

gradient_with_shape_op = Op(
    "TensorArrayGradWithShape",
    "handle: resource, flow_in: float, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float",
    source=attr("string"),
    host="shape_to_prepend",
    stateful=True,
    differentiable=False,
    role="step values",
)
gradient_with_shape_op.shape(lambda handle, flow_in, shape_to_prepend: [[2], []])


@gradient_with_shape_op.kernel
def _gradient_with_shape_kernel(handle, flow_in, shape_to_prepend, *, source):
    return handle.gradient(source, tuple(shape_to_prepend)), flow_in


gradient_with_shape_op.samples(covered_by=_TESTS)

write_op = Op(
    "TensorArrayWriteV3",
    "handle: resource, index: int32, value: T, flow_in: float -> flow_out: float",
    host="index",
    stateful=True,
)
write_op.shape(lambda handle, index, value, flow_in: [])


@write_op.kernel
def _write_kernel(handle, index, value, flow_in, *, T):
    if T is not handle.dtype:
        raise _wrong_type(handle, T, "is trying to write")
    handle.write(index, value)
    return flow_in


@write_op.gradient
def _write_gradient(op, flow):
    array = _gradient_array(op, op.attrs["T"], gradient_source(flow.op.name), flow)
    return None, None, array.read(op.inputs[1]), flow


write_op.samples(covered_by=_TESTS)

read_op = Op(
    "TensorArrayReadV3",
    "handle: resource, index: int32, flow_in: float -> value: dtype",
    host="index",
    stateful=True,
    role="step values",
)
read_op.shape(lambda handle, index, flow_in: None)


@read_op.kernel
def _read_kernel(handle, index, flow_in, *, dtype):
    if dtype is not handle.dtype:
        raise _wrong_type(handle, dtype, "requested")
    return handle.read(index)


@read_op.gradient
def _read_gradient(op, grad):
    array = _gradient_array(op, op.attrs["dtype"], gradient_source(grad.op.name), op.inputs[2])
    return None, None, array.write(op.inputs[1], grad).flow


read_op.samples(covered_by=_TESTS)

gather_op = Op(
    "TensorArrayGatherV3",
    "handle: resource, indices: int32, flow_in: float -> value: dtype",
    dtype=attr("type"),
    element_shape=attr("shape", None),
    host="indices",
    stateful=True,
    role="step values",
)
gather_op.shape(lambda handle, indices, flow_in: None)


@gather_op.kernel
def _gather_kernel(handle, indices, flow_in, *, dtype, element_shape):
    if dtype is not handle.dtype:
        raise _wrong_type(handle, dtype, "requested")
    values = handle.read_many(indices)
    if values:
        return np.stack(values) if dtype.torch is None else torch.stack(values)
    shape = element_shape.merge_with(handle.element_shape)
    if not shape.is_fully_defined():
        raise errors.unimplemented(
            f"TensorArray has size zero, but element shape {shape} is not fully defined. Currently only "
            "static shapes are supported when packing zero-size TensorArrays.",
        )
    if dtype.torch is None:
        return np.zeros((0, *shape.tuple), object)
    return torch.zeros((0, *shape.tuple), dtype=dtype.torch)


@gather_op.gradient
def _gather_gradient(op, grad):
    array = _gradient_array(op, op.attrs["dtype"], gradient_source(grad.op.name), op.inputs[2])
    return None, None, array.scatter(op.inputs[1], grad).flow


gather_op.samples(covered_by=_TESTS)

scatter_op = Op(
    "TensorArrayScatterV3",
    "handle: resource, indices: int32, value: T, flow_in: float -> flow_out: float",
    host="indices",
    stateful=True,
)


@scatter_op.shape
def _scatter_shape(handle, indices, value, flow_in):
    if value.ndims and indices is not None:
        count = len(vector(indices))
        said = f"Expected len(indices) == values.shape[0], but saw: {count} vs. {value.tuple[0]}"
        same_size(value.tuple[0], count, said)
    return []


@scatter_op.kernel
def _scatter_kernel(handle, indices, value, flow_in, *, T):
    if T is not handle.dtype:
        raise _wrong_type(handle, T, "is trying to write")
    if value.ndim < 1 or len(indices) != value.shape[0]:
        raise errors.invalid_argument(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. "
            f"{value.shape[0] if value.ndim else 'a scalar'}",
        )
    if indices and not handle.dynamic_size and max(indices) >= len(handle.values):
        raise errors.invalid_argument(
            f"Max scatter index must be < array size ({max(indices)} vs. {len(handle.values)})"
        )
    parts = [value[i, ...] for i in range(len(indices))] if T.torch is None else value.unbind(0)
    for index, part in zip(indices, parts, strict=True):
        handle.write(index, part)
    return flow_in


@scatter_op.gradient
def _scatter_gradient(op, flow):
    array = _gradient_array(op, op.attrs["T"], gradient_source(flow.op.name), flow)
    return None, None, array.gather(op.inputs[1]), flow


scatter_op.samples(covered_by=_TESTS)

concat_op = Op(
    "TensorArrayConcatV3",
    "handle: resource, flow_in: float -> value: dtype, lengths: int64",
    dtype=attr("type"),
    element_shape_except0=attr("shape", None),
    stateful=True,
)


@concat_op.shape
def _concat_shape(handle, flow_in, *, element_shape_except0):
    rest = element_shape_except0.tuple
    return [None if rest is None else [None, *rest], [None]]


@concat_op.kernel
def _concat_kernel(handle, flow_in, *, dtype, element_shape_except0):
    if dtype is not handle.dtype:
        raise _wrong_type(handle, dtype, "requested")
    values = [handle.read(i) for i in range(len(handle.values))]
    lengths = torch.tensor([v.shape[0] if v.ndim else -1 for v in values], dtype=torch.int64)
    if (lengths < 0).any():
        place = lengths.tolist().index(-1)
        raise errors.invalid_argument(
            f"Concat saw a scalar shape at index {place} but requires at least vectors.  Did you mean "
            "to call pack?"
        )
    for index, value in enumerate(values):
        if value.shape[1:] != values[0].shape[1:]:
            raise errors.invalid_argument(
                "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                f"{brackets(values[0].shape[1:])} but index {index} has (excepting dimension 0) shape: "
                f"{brackets(value.shape[1:])}"
            )
    if not values:
        rest = element_shape_except0.tuple
        if rest is None or None in rest:
            raise errors.unimplemented(
                f"TensorArray has size zero, but element_shape_except0 {element_shape_except0} is not fully "
                "defined. Currently only static shapes are supported when concatenating zero-size "
                "TensorArrays."
            )
        empty = (
            np.zeros((0, *rest), object)
            if dtype.torch is None
            else torch.zeros((0, *rest), dtype=dtype.torch)
        )
        return empty, lengths
    return np.concatenate(values) if dtype.torch is None else torch.cat(values), lengths


@concat_op.gradient
def _concat_gradient(op, grad, _):
    array = _gradient_array(op, op.attrs["dtype"], gradient_source(grad.op.name), op.inputs[1])
    return None, array.split(grad, lengths=op.outputs[1]).flow


concat_op.samples(covered_by=_TESTS)

split_op = Op(
    "TensorArraySplitV3",
    "handle: resource, value: T, lengths: int64, flow_in: float -> flow_out: float",
    host="lengths",
    stateful=True,
)
split_op.shape(lambda handle, value, lengths, flow_in: [])


@split_op.kernel
def _split_kernel(handle, value, lengths, flow_in, *, T):
    if T is not handle.dtype:
        raise _wrong_type(handle, T, "is trying to write")
    if isinstance(lengths, int):
        raise errors.invalid_argument("Expected lengths to be a vector, received shape: []")
    if not value.ndim:
        raise errors.invalid_argument("Expected value to be at least a vector, but received shape: []")
    if sum(lengths) != value.shape[0]:
        raise errors.invalid_argument(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{sum(lengths)} and value's shape is: {list(value.shape)}",
        )
    if not handle.dynamic_size and len(lengths) != len(handle.values):
        raise errors.invalid_argument(
            f"TensorArray's size is not equal to the size of lengths ({len(handle.values)} vs. "
            f"{len(lengths)}), and the TensorArray is not marked as dynamically resizeable",
        )
    ends = np.cumsum([0, *lengths])
    for index, (start, end) in enumerate(itertools.pairwise(ends)):
        handle.write(index, value[start:end])
    return flow_in


@split_op.gradient
def _split_gradient(op, flow):
    array = _gradient_array(op, op.attrs["T"], gradient_source(flow.op.name), flow)
    return None, array.concat(), None, flow


split_op.samples(covered_by=_TESTS)

size_op = Op(
    "TensorArraySizeV3",
    "handle: resource, flow_in: float -> size: int32",
    stateful=True,
    differentiable=False,
    role="step values",
)
size_op.shape(lambda handle, flow_in: [])


@size_op.kernel
def _size_kernel(handle, flow_in):
    handle._check_open()
    return torch.tensor(len(handle.values), dtype=torch.int32)


size_op.samples(covered_by=_TESTS)

close_op = Op("TensorArrayCloseV3", "handle: resource", stateful=True, differentiable=False)
close_op.shape(lambda handle: [])


@close_op.kernel
def _close_kernel(handle):
    handle.close()


close_op.samples(covered_by=_TESTS)
