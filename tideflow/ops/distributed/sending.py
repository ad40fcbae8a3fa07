"""Send and Recv: the two ends of an edge of the graph that was cut because it goes from one task to another.

The partitioner puts them in (`compile/partition.py`); they are in nobody's program. The rendezvous of the
step that runs says where a value goes.
"""

from __future__ import annotations

from typing import Any

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.waiting import StepContext

_ENDS = {
    "tensor_name": attr("string"),  # the edge
    "send_device": attr("string"),
    "recv_device": attr("string"),
}

send_op = Op("_Send", "tensor: T", stateful=True, on_host=True, differentiable=False, **_ENDS)


@send_op.shape
def _send_shape(tensor: TensorShape) -> list:
    return []


@send_op.kernel
def _send_kernel(tensor: Any, *, tensor_name: str, recv_device: str, context: StepContext) -> None:
    context.rendezvous.put(tensor_name, tensor, recv_device)


send_op.samples(covered_by="tests/cluster/test_steps.py")

recv_op = Op(
    "_Recv",
    " -> tensor: tensor_type",
    stateful=True,
    on_host=True,
    suspendable=True,
    differentiable=False,
    shape=attr("shape", None),
    **_ENDS,
)


@recv_op.shape
def _recv_shape(*, shape: TensorShape) -> TensorShape:
    return shape


@recv_op.kernel
def _recv_kernel(*, tensor_name: str, context: StepContext) -> Any:
    return context.rendezvous.take(tensor_name)


recv_op.samples(covered_by="tests/cluster/test_steps.py")

SEND, RECV = send_op.name, recv_op.name
