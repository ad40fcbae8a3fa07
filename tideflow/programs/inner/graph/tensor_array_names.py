"""Names that tests take from `tensorflow.python.ops.tensor_array_grad`."""

from __future__ import annotations

from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow.tensor_array_ops import gradient_source


def _GetGradSource(op_or_tensor: Operation | Tensor) -> str:
    """The name of the `tf.gradients` call that made an operation or a tensor."""
    return gradient_source(op_or_tensor.name)
