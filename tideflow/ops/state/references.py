"""References to variables that pass through: RefIdentity, RefSelect, and the marks that debuggers put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.graph.op import Op, ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import scalar
from tideflow.ops.helpers.samples import f32, ref, text


def _same(input):
    """Shape, value or reference: what goes in comes out."""
    return input


ref_identity_op = Op("RefIdentity", "input: Ref(T) -> output: Ref(T)", uninitialized_ok=True)
ref_identity_op.shape(_same)
ref_identity_op.kernel(_same)
ref_identity_op.gradient(lambda op, grad: grad)
ref_identity_op.samples((ref(f32(2, 3)),), against=lambda value: (value, value))

# Called with the operation and the gradient where `tf.gradients` passes a mark: debuggers add themselves.
gradient_listeners: list[Callable[[Any, Any], None]] = []


def _heard_gradient(op, grad):
    for listener in gradient_listeners:
        listener(op, grad)
    return grad


debug_ref_identity_op = Op(
    "DebugGradientRefIdentity", "input: Ref(T) -> output: Ref(T)", uninitialized_ok=True
)
debug_ref_identity_op.shape(_same)
debug_ref_identity_op.kernel(_same)
debug_ref_identity_op.gradient(_heard_gradient)
debug_ref_identity_op.samples((ref(f32(2, 3)),), against=lambda value: (value, value))

debug_identity_op = Op("DebugGradientIdentity", "input: T -> output: T")
debug_identity_op.shape(_same)
debug_identity_op.kernel(_same)
debug_identity_op.kernel("string")(_same)
debug_identity_op.gradient(_heard_gradient)
debug_identity_op.samples(f32(2, 3), f32(0), text("a", "b"), against=lambda x: x)

ref_select_op = Op(
    "RefSelect",
    "index: int32, inputs: N * Ref(T) -> output: Ref(T)",
    host="index",
    uninitialized_ok=True,
    differentiable=None,
)


_SCALAR = "Index must be a scalar, but it has shape "


@ref_select_op.shape
def _ref_select_shape(index, inputs):
    scalar(index, _SCALAR)
    common = inputs[0]
    for shape in inputs[1:]:
        same = common.tuple is not None and shape.tuple == common.tuple
        common = common if same else TensorShape(None)
    return common


@ref_select_op.kernel
def _ref_select_kernel(index, inputs):
    if not 0 <= scalar(index, _SCALAR) < len(inputs):
        raise ShapeError(f"Index must be in the range [0, {len(inputs)}) but got {index}")
    return inputs[index]


ref_select_op.samples(
    (np.array(1, np.int32), [ref(f32(2)), ref(f32(2, low=2, high=3))]),
    against=lambda index, inputs: (inputs[index], *inputs),
)
