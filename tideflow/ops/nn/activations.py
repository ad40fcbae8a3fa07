"""What stands between two layers: the bias and the activation functions, with the ops of their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import float32
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import broadcasting, creation, indexing, joining, shapes
from tideflow.ops.helpers.axes import merged, of_rank, of_rank_at_least
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, NUMERIC, REAL, types
from tideflow.ops.helpers.unsigned import add_kernel, widened
from tideflow.ops.math import casting, reductions, unary
from tideflow.ops.nn.windows import channels

_IMAGE_FORMAT = attr("string", "NHWC", allowed=("NHWC", "NCHW"))


def _bias_add_family_shape(value, bias, *, data_format="NHWC"):
    value = of_rank_at_least(value, 3 if data_format == "NCHW" else 2)
    count = of_rank(bias, 1).tuple[0]
    if value.tuple is None:
        return value
    sizes = list(value.tuple)
    axis = 1 if data_format == "NCHW" else -1
    if None not in (sizes[axis], count) and sizes[axis] != count:
        raise ShapeError(f"Dimensions must be equal, but are {sizes[axis]} and {count}: channels and biases")
    sizes[axis] = count if sizes[axis] is None else sizes[axis]
    return sizes


_plus = widened(torch.add)


def _bias_add_family_kernel(value, bias, *, data_format="NHWC"):
    if bias.ndim != 1 or channels(value.shape, data_format) != len(bias):
        raise ShapeError(
            f"Must provide as many biases as channels: {list(bias.shape)} vs. {list(value.shape)}"
        )
    return _plus(value, bias if data_format == "NHWC" else bias.view(-1, *[1] * (value.ndim - 2)))


def _bias_add_family_specialized(node):
    value, bias = node.inputs
    known = (
        value.shape.ndims is not None and value.shape.tuple[-1] is not None and bias.shape.is_fully_defined()
    )
    if not known or node.attrs.get("data_format") == "NCHW" or value.dtype.is_unsigned:
        return None
    return torch.add, [value, bias]


# ---------------------------------------------------------------------------- bias

bias_add_op = Op("BiasAdd", "value: T, bias: T -> output: T", T=NUMERIC, data_format=_IMAGE_FORMAT)
bias_add_op.shape(_bias_add_family_shape)
bias_add_op.kernel(_bias_add_family_kernel)
bias_add_op.specialize(_bias_add_family_specialized)


@bias_add_op.gradient
def _bias_add_gradient(op, grad):
    return grad, bias_add_grad_op(grad, data_format=op.attrs["data_format"])


bias_add_op.samples(
    (f32(2, 3), f32(3)),
    (f32(2, 4, 3, 2), f32(2)),
    (f32(2, 3, 4), f32(3), {"data_format": "NCHW"}),
    (f32(0, 3), f32(3)),
    (i32(2, 3), i32(3)),
)
bias_add_op.refuses((f32(1, 5, 5, 4), f32(5)), "Dimensions must be equal, but are 4 and 5")
bias_add_op.refuses((f32(1, 5, 5, 4), f32(4, 2)), "Shape must be rank 1 but is rank 2")
bias_add_op.refuses((f32(5), f32(5)), "Shape must be at least rank 2 but is rank 1")


@export("nn.bias_add")
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Adds a vector to the channels of `value`, its last axis unless the format says otherwise."""
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if not data_format.startswith("N") or "C" not in (data_format[1:2], data_format[-1]):
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
            data_format = "NCHW" if data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return bias_add_op(value, bias, data_format=data_format, name=name)


bias_add_v1_op = Op("BiasAddV1", "value: T, bias: T -> output: T", T=NUMERIC)
bias_add_v1_op.shape(_bias_add_family_shape)
bias_add_v1_op.kernel(_bias_add_family_kernel)
bias_add_v1_op.specialize(_bias_add_family_specialized)


@bias_add_v1_op.gradient
def _bias_add_v1_gradient(op, grad):
    return grad, reductions.reduce_sum(grad, creation.range(shapes.rank(grad) - 1))


bias_add_v1_op.samples((f32(2, 3), f32(3)), (f32(2, 4, 2), f32(2)))

bias_add_grad_op = Op("BiasAddGrad", "out_backprop: T -> output: T", T=NUMERIC, data_format=_IMAGE_FORMAT)


@bias_add_grad_op.shape
def _bias_add_grad_shape(out_backprop, *, data_format):
    sizes = of_rank_at_least(out_backprop, 3 if data_format == "NCHW" else 2).tuple
    return [None] if sizes is None else [channels(sizes, data_format)]


_sum_of_rows = widened(lambda rows: rows.sum(0, dtype=rows.dtype))


@bias_add_grad_op.kernel
def _bias_add_grad_kernel(out_backprop, *, data_format):
    last = out_backprop if data_format == "NHWC" else out_backprop.movedim(1, -1)
    return _sum_of_rows(
        last.reshape(-1, last.shape[-1]) if last.numel() else last.new_zeros(1, last.shape[-1])
    )


def _sum_over_places(images: torch.Tensor) -> torch.Tensor:
    return images.reshape(-1, images.shape[-1]).sum(0)


@bias_add_grad_op.specialize
def _bias_add_grad_specialized(node):
    grad = node.inputs[0]
    if node.attrs["data_format"] == "NCHW" or not grad.dtype.is_floating or not grad.shape.num_elements():
        return None
    return (torch.sum, [grad, 0]) if grad.shape.ndims == 2 else (_sum_over_places, [grad])


@bias_add_grad_op.gradient
def _bias_add_grad_gradient(op, grad):
    sizes = shapes.shape(op.inputs[0])
    if op.attrs["data_format"] == "NCHW":
        grad = shapes.reshape(grad, joining.concat([[1, -1], creation.ones_like(sizes[2:])], 0))
    return broadcasting.broadcast_to(grad, sizes)


bias_add_grad_op.samples(f32(2, 3), f32(2, 4, 3, 2), (f32(2, 3, 4), {"data_format": "NCHW"}), f32(0, 3))

# ---------------------------------------------------------------------------- families


def _activation(
    op_type: str, kernel: Callable, allowed: tuple, against: Callable, uint64: Callable | None = None
) -> Op:
    op = Op(op_type, "features: T -> activations: T", T=allowed)
    op.shape(lambda features: features)
    add_kernel(op, kernel, uint64)
    op.samples(f32(2, 3, low=-8.0, high=8.0), f32(), f32(0, 2), against=against)
    return op


relu_op = _activation(
    "Relu",
    torch.relu,
    types("float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 qint8"),
    lambda x: np.maximum(x, 0),
    uint64=lambda bits: bits,
)


@export("nn.relu")
def relu(features: Any, name: str | None = None) -> Tensor:
    """max(x, 0)."""
    return relu_op(features, name=name)


@export("nn.crelu")
def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """relu(x) and relu(-x), one after the other along `axis`."""
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        return relu_op(joining.concat([features, -features], axis, name=name))


_aten = torch.ops.aten


def _slope_samples(op: Op) -> None:
    op.samples((f32(2, 3), f32(2, 3, low=-8.0, high=8.0)), (f32(), f32()), (f32(0, 2), f32(0, 2)))
    op.refuses((f32(2, 3), f32(2, 4)), "must be equal, but are 3 and 4")


def _slope(
    op_type: str, kernel: Callable, allowed: tuple, of: str = "features", uint64: Callable | None = None
) -> Op:
    """The op `backprops = gradients * f'`, where f' is known from the features or from the outputs."""
    op = Op(op_type, f"gradients: T, {of}: T -> backprops: T", T=allowed)
    op.shape(merged)
    add_kernel(op, kernel, uint64)
    _slope_samples(op)
    return op


# ---------------------------------------------------------------------------- relu, relu6, leaky relu


def _relu_slope(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    return _aten.threshold_backward.default(gradients, features, 0)


relu_grad_op = _slope(
    "ReluGrad", _relu_slope, REAL, uint64=lambda gradients, bits: torch.where(bits != 0, gradients, 0)
)
relu6_op = _activation(
    "Relu6",
    lambda x: torch.clamp(x, 0, 6),
    REAL,
    lambda x: np.clip(x, 0, 6),
    uint64=lambda bits: torch.where((bits >= 0) & (bits < 6), bits, 6),
)


@export("nn.relu6")
def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as name:
        return relu6_op(convert_to_tensor(features, name="features"), name=name)


def _relu6_slope(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    return torch.where((features > 0) & (features < 6), gradients, 0)


relu6_grad_op = _slope("Relu6Grad", _relu6_slope, REAL)


def _zeros_of(tensor: Tensor) -> Tensor:
    return creation.zeros(shapes.shape(tensor), dtype=tensor.dtype)


def _piecewise_linear(forward: Op, slope: Op, of_output: bool) -> None:
    """The gradients of a function whose slope is constant between its corners: the slope's own slope is 0."""

    def shared(op: Operation) -> dict[str, Any]:
        return {"alpha": op.attrs["alpha"]} if "alpha" in op.attrs else {}

    @forward.gradient
    def forward_gradient(op, grad):
        return slope(grad, op.outputs[0] if of_output else op.inputs[0], **shared(op))

    @slope.gradient
    def slope_gradient(op, grad):
        return slope(grad, op.inputs[1], **shared(op)), _zeros_of(op.inputs[1])


_piecewise_linear(relu_op, relu_grad_op, of_output=True)
_piecewise_linear(relu6_op, relu6_grad_op, of_output=True)
_LEAKY = {"alpha": attr("float", 0.20000000298023224), "T": attr("type", "float", allowed=FLOATS_HALF_FIRST)}

leaky_relu_op = Op("LeakyRelu", "features: T -> activations: T", **_LEAKY)
leaky_relu_op.shape(lambda features: features)


@leaky_relu_op.kernel
def _leaky_relu_kernel(features, *, alpha):
    return torch.nn.functional.leaky_relu(features, alpha)


leaky_relu_op.samples(f32(2, 3), f32(), (f32(0, 2), {"alpha": 0.1}))


@export("nn.leaky_relu")
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """x above 0, alpha * x below."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = casting.cast(features, float32)
        return leaky_relu_op(features, alpha=float(alpha), name=name)


leaky_relu_grad_op = Op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", **_LEAKY)
leaky_relu_grad_op.shape(merged)


@leaky_relu_grad_op.kernel
def _leaky_relu_grad_kernel(gradients, features, *, alpha):
    return _aten.leaky_relu_backward.default(gradients, features, alpha, False)


_piecewise_linear(leaky_relu_op, leaky_relu_grad_op, of_output=False)
_slope_samples(leaky_relu_grad_op)

elu_op = _activation(
    "Elu",
    torch.nn.functional.elu,
    FLOATS_HALF_FIRST,
    lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
)


@export("nn.elu")
def elu(features: Any, name: str | None = None) -> Tensor:
    """x above 0, exp(x) - 1 below."""
    return elu_op(features, name=name)


def _elu_slope(gradients: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    return _aten.elu_backward.default(gradients, 1.0, 1.0, 1.0, True, outputs)


elu_grad_op = _slope("EluGrad", _elu_slope, FLOATS_HALF_FIRST, of="outputs")

# ---------------------------------------------------------------------------- elu, selu

_SCALE = 1.0507009873554804934193349852946
_SCALED_ALPHA = 1.7580993408473768599402175208123

selu_op = _activation(
    "Selu",
    torch.selu,
    FLOATS_HALF_FIRST,
    lambda x: np.where(x < 0, _SCALED_ALPHA * np.expm1(np.minimum(x, 0)), _SCALE * x).astype(x.dtype),
)


@export("nn.selu")
def selu(features: Any, name: str | None = None) -> Tensor:
    """scale * x above 0, scale * alpha * (exp(x) - 1) below: activations that keep mean 0 and variance 1."""
    return selu_op(features, name=name)


def _selu_slope(gradients: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    return gradients * torch.where(outputs < 0, outputs + _SCALED_ALPHA, _SCALE)


selu_grad_op = _slope("SeluGrad", _selu_slope, FLOATS_HALF_FIRST, of="outputs")


def _exponential_below_zero(forward: Op, slope: Op) -> None:
    """The gradients of a function whose slope is its output plus a constant below 0, and constant above."""

    @forward.gradient
    def forward_gradient(op, grad):
        return slope(grad, op.outputs[0])

    @slope.gradient
    def slope_gradient(op, grad):
        gradients, outputs = op.inputs
        by_gradients = slope(grad, outputs)
        return by_gradients, indexing.where(outputs < 0, grad * gradients, creation.zeros_like(outputs))


_exponential_below_zero(elu_op, elu_grad_op)
_exponential_below_zero(selu_op, selu_grad_op)

# ---------------------------------------------------------------------------- softplus, softsign


def _softplus(features: torch.Tensor) -> torch.Tensor:
    beyond = (
        36.0 if features.dtype is torch.float64 else 20.0
    )  # where log(1 + e^x) is x, to the type's precision
    return torch.nn.functional.softplus(features, 1.0, beyond)


softplus_op = _activation(
    "Softplus", _softplus, FLOATS_HALF_FIRST, lambda x: np.logaddexp(x, 0).astype(x.dtype)
)


@softplus_op.gradient
def _softplus_gradient(op, grad):
    return grad * unary.sigmoid(op.inputs[0])


@export("nn.softplus", "math.softplus")
def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(exp(x) + 1)."""
    return softplus_op(features, name=name)


softplus_grad_op = _slope(
    "SoftplusGrad", lambda gradients, x: gradients * torch.sigmoid(x), FLOATS_HALF_FIRST
)


@softplus_grad_op.gradient
def _softplus_grad_gradient(op, grad):
    gradients, x = op.inputs
    with control_dependencies([grad]):
        by_gradients = softplus_grad_op(grad, x)
        return by_gradients, grad * gradients / (unary.exp(-x) + 2.0 + unary.exp(x))


softsign_op = _activation(
    "Softsign", lambda x: x / (1 + x.abs()), FLOATS_HALF_FIRST, lambda x: x / (1 + np.abs(x))
)


@softsign_op.gradient
def _softsign_gradient(op, grad):
    return softsign_grad_op(grad, op.inputs[0])


@export("nn.softsign", "math.softsign")
def softsign(features: Any, name: str | None = None) -> Tensor:
    """x / (abs(x) + 1)."""
    return softsign_op(features, name=name)


softsign_grad_op = _slope(
    "SoftsignGrad", lambda gradients, x: gradients / (1 + x.abs()).square(), FLOATS_HALF_FIRST
)


@softsign_grad_op.gradient
def _softsign_grad_gradient(op, grad):
    gradients, x = op.inputs
    size = 1 + unary.abs(x)
    return softsign_grad_op(grad, x), -2.0 * grad * gradients * unary.sign(x) / (size * size * size)
