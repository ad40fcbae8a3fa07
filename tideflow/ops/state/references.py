"""References to variables that pass through: RefIdentity, RefSelect, and the marks that debuggers put."""

from __future__ import annotations

import numpy as np

from tideflow.graph.op import Op, ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import scalar
from tideflow.ops.helpers.samples import f32, ref


def _ref_identity_family_shape(input):
    return input


def _ref_identity_family_kernel(input):
    return input


def _ref_identity_family_gradient(op, grad):
    return grad


ref_identity_op = Op("RefIdentity", "input: Ref(T) -> output: Ref(T)", uninitialized_ok=True)
ref_identity_op.shape(_ref_identity_family_shape)
ref_identity_op.kernel(_ref_identity_family_kernel)
ref_identity_op.gradient(_ref_identity_family_gradient)
ref_identity_op.samples((ref(f32(2, 3)),))

debug_ref_identity_op = Op(
    "DebugGradientRefIdentity", "input: Ref(T) -> output: Ref(T)", uninitialized_ok=True
)
debug_ref_identity_op.shape(_ref_identity_family_shape)
debug_ref_identity_op.kernel(_ref_identity_family_kernel)
debug_ref_identity_op.gradient(_ref_identity_family_gradient)
debug_ref_identity_op.samples((ref(f32(2, 3)),))

debug_identity_op = Op("DebugGradientIdentity", "input: T -> output: T")
debug_identity_op.shape(_ref_identity_family_shape)
debug_identity_op.kernel("string")(_ref_identity_family_kernel)
debug_identity_op.kernel(_ref_identity_family_kernel)
debug_identity_op.gradient(_ref_identity_family_gradient)
debug_identity_op.samples(f32(2, 3), f32(0), against=lambda x: x)

ref_select_op = Op(
    "RefSelect",
    "index: int32, inputs: N * Ref(T) -> output: Ref(T)",
    host="index",
    uninitialized_ok=True,
    differentiable=False,
)


@ref_select_op.shape
def _ref_select_shape(index, inputs):
    scalar(index)
    common = inputs[0]
    for shape in inputs[1:]:
        same = common.tuple is not None and shape.tuple == common.tuple
        common = common if same else TensorShape(None)
    return common


@ref_select_op.kernel
def _ref_select_kernel(index, inputs):
    if not 0 <= scalar(index) < len(inputs):
        raise ShapeError(f"Index must be in the range [0, {len(inputs)}) but got {index}")
    return inputs[index]


ref_select_op.samples((np.array(1, np.int32), [ref(f32(2)), ref(f32(2, low=2, high=3))]))
