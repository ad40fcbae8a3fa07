"""The first two generations of TensorArray's op types, in graphs that were written before TensorFlow 1.1.

Their handles are strings: references in the first generation, values in the second. Creating an array gives
no flow yet. Otherwise they do what the ops of the third generation do, which took their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.schema import attr
from tideflow.ops.control_flow import tensor_array_ops as third
from tideflow.runtime.tensor_arrays import TensorArrayStorage

_TESTS = "tests/ops/control_flow/test_old_tensor_arrays.py"
_ARRAY = {
    "dtype": attr("type"),
    "element_shape": attr("shape", None),
    "dynamic_size": False,
    "clear_after_read": True,
    "tensor_array_name": "",
}


def _creating(name: str, handle: str) -> Op:
    """An op that makes an array."""
    op = Op(
        name,
        f"size: int32 -> handle: {handle}",
        host="size",
        stateful=True,
        differentiable=False,
        holds_step_values="dtype",
        role="step values",
        **_ARRAY,
    )
    op.shape(lambda size: third.tensor_array_op.shape_rule(size)[0])

    @op.kernel
    def _kernel(size, *, dtype, element_shape, dynamic_size, clear_after_read, tensor_array_name, node):
        called = tensor_array_name or node.name
        return TensorArrayStorage(dtype, size, element_shape, dynamic_size, clear_after_read, False, called)

    op.samples(covered_by=_TESTS)
    return op


tensor_array_v1_op = _creating("TensorArray", "Ref(string)")
tensor_array_v2_op = _creating("TensorArrayV2", "string")


def _of_gradients(name: str, handle: str) -> Op:
    """An op that finds or makes the array of an array's gradients.

    The first one takes the strings behind its reference; here that is the array itself.
    """
    op = Op(
        name,
        f"handle: string, flow_in: float -> grad_handle: {handle}",
        source=attr("string"),
        stateful=True,
        differentiable=False,
        role="step values",
    )
    op.shape(lambda handle, flow_in: [2])
    op.kernel(lambda handle, flow_in, *, source: handle.gradient(source))
    op.samples(covered_by=_TESTS)
    return op


grad_v1_op = _of_gradients("TensorArrayGrad", "Ref(string)")
grad_v2_op = _of_gradients("TensorArrayGradV2", "string")


def _older(name: str, signature: str, successor: Op, **options: Any) -> Op:
    """An op that does what the one of the third generation does, with another handle."""
    op = Op(name, signature, host=successor.host, role=successor.role, **options)
    op.effects = True  # TensorFlow's list of op types calls it stateless all the same
    op.shape(successor.shape_rule)
    op.kernel(successor.kernels[""])
    op.gradient(successor.gradient_function)
    op.samples(covered_by=_TESTS)
    return op


_WRITE = "index: int32, value: T, flow_in: float -> flow_out: float"
write_v1_op = _older("TensorArrayWrite", f"handle: Ref(string), {_WRITE}", third.write_op)
write_v2_op = _older("TensorArrayWriteV2", f"handle: string, {_WRITE}", third.write_op)

_READ = "index: int32, flow_in: float -> value: dtype"
read_v1_op = _older("TensorArrayRead", f"handle: Ref(string), {_READ}", third.read_op)
read_v2_op = _older("TensorArrayReadV2", f"handle: string, {_READ}", third.read_op)

_GATHER = "indices: int32, flow_in: float -> value: dtype"
_ELEMENTS = {"dtype": attr("type"), "element_shape": attr("shape", None)}
gather_v1_op = _older("TensorArrayGather", f"handle: Ref(string), {_GATHER}", third.gather_op, **_ELEMENTS)
gather_v2_op = _older("TensorArrayGatherV2", f"handle: string, {_GATHER}", third.gather_op, **_ELEMENTS)

_SCATTER = "indices: int32, value: T, flow_in: float -> flow_out: float"
scatter_v1_op = _older("TensorArrayScatter", f"handle: Ref(string), {_SCATTER}", third.scatter_op)
scatter_v2_op = _older("TensorArrayScatterV2", f"handle: string, {_SCATTER}", third.scatter_op)

_CONCAT = "flow_in: float -> value: dtype, lengths: int64"
_PARTS = {"dtype": attr("type"), "element_shape_except0": attr("shape", None)}
concat_v1_op = _older("TensorArrayConcat", f"handle: Ref(string), {_CONCAT}", third.concat_op, **_PARTS)
concat_v2_op = _older("TensorArrayConcatV2", f"handle: string, {_CONCAT}", third.concat_op, **_PARTS)

_SPLIT = "value: T, lengths: int64, flow_in: float -> flow_out: float"
split_v1_op = _older("TensorArraySplit", f"handle: Ref(string), {_SPLIT}", third.split_op)
split_v2_op = _older("TensorArraySplitV2", f"handle: string, {_SPLIT}", third.split_op)

_SIZE = "flow_in: float -> size: int32"
size_v1_op = _older("TensorArraySize", f"handle: Ref(string), {_SIZE}", third.size_op)
size_v2_op = _older("TensorArraySizeV2", f"handle: string, {_SIZE}", third.size_op)

close_v1_op = _older("TensorArrayClose", "handle: Ref(string)", third.close_op)
close_v2_op = _older("TensorArrayCloseV2", "handle: string", third.close_op)


def _whole(name: str, signature: str, kernel: Callable[..., Any], role: str = "", **attrs: Any) -> Op:
    """An op on all elements in their order, which later became a gather or a scatter."""
    op = Op(name, signature, role=role, **attrs)
    op.shape(lambda handle, *inputs: None if attrs else [])
    op.kernel(kernel)
    op.gradient(undefined_gradient)
    op.samples(covered_by=_TESTS)
    return op


def _pack(handle, flow_in, *, dtype, element_shape):
    places = range(len(handle.values))
    return third.gather_op.kernels[""](handle, places, flow_in, dtype=dtype, element_shape=element_shape)


def _unpack(handle, value, flow_in, *, T):
    places = range(value.shape[0] if value.ndim else 0)
    return third.scatter_op.kernels[""](handle, places, value, flow_in, T=T)


pack_op = _whole(
    "TensorArrayPack",
    "handle: Ref(string), flow_in: float -> value: dtype",
    _pack,
    "step values",
    **_ELEMENTS,
)
unpack_op = _whole(
    "TensorArrayUnpack", "handle: Ref(string), value: T, flow_in: float -> flow_out: float", _unpack
)
