"""The bias and the activation functions that stand between two layers, with the ops of their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import float32
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, executing_eagerly, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import broadcasting, creation, indexing, joining, shapes
from tideflow.ops.helpers import cpu_functions
from tideflow.ops.helpers.axes import brackets, merged, of_rank, of_rank_at_least, unequal_inputs
from tideflow.ops.helpers.flops import per_input_element, per_reduced_element
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, NUMERIC, REAL, types
from tideflow.ops.helpers.unsigned import add_kernel, widened
from tideflow.ops.math import casting, reductions, unary
from tideflow.ops.nn.windows import channels

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ---------------------------------------------------------------------------- bias

_IMAGE_FORMAT = attr("string", "NHWC", allowed=("NHWC", "NCHW"))
_plus = widened(torch.add)


_CHANNELS = {-1: "last dimension", 1: "channel dimension"}


def _biased_shape(value, bias, *, data_format="NHWC"):
    shown = brackets(value.tuple or ())
    value = of_rank_at_least(
        value, 3 if data_format == "NCHW" else 2, f"Input tensor must be at least 2D: {shown}"
    )
    count = of_rank(bias, 1, f"Biases must be 1D: {brackets(bias.tuple or ())}").tuple[0]
    if value.tuple is None:
        return value
    sizes = list(value.tuple)
    axis = 1 if data_format == "NCHW" else -1
    if None not in (sizes[axis], count) and sizes[axis] != count:
        raise ShapeError(
            f"Dimensions must be equal, but are {sizes[axis]} and {count}: channels and biases",
            f"Must provide as many biases as the {_CHANNELS[axis]} of the input tensor: "
            f"{brackets(bias.tuple)} vs. {shown}",
        )
    sizes[axis] = count if sizes[axis] is None else sizes[axis]
    return sizes


def _biased(value, bias, *, data_format="NHWC"):
    if bias.ndim != 1 or value.ndim < 2 or channels(value.shape, data_format) != len(bias):
        _biased_shape(TensorShape(value.shape), TensorShape(bias.shape), data_format=data_format)
    return _plus(value, bias if data_format == "NHWC" else bias.view(-1, *[1] * (value.ndim - 2)))


def _specialized_sum(node):
    value, bias = node.inputs
    known = value.shape.ndims is not None and bias.shape.is_fully_defined()
    fits = known and bias.shape.tuple == value.shape.tuple[-1:]  # `torch.add` would repeat a single one
    if not fits or node.attrs.get("data_format") == "NCHW" or value.dtype.is_unsigned:
        return None
    return torch.add, [value, bias]


def _biased_reference(value, bias, *, data_format="NHWC"):
    axis = 1 if data_format == "NCHW" else value.ndim - 1
    return np.stack([np.take(value, i, axis) + b for i, b in enumerate(bias)], axis)


bias_add_op = Op("BiasAdd", "value: T, bias: T -> output: T", T=NUMERIC, data_format=_IMAGE_FORMAT)
bias_add_op.shape(_biased_shape)
bias_add_op.kernel(_biased)
bias_add_op.specialize(_specialized_sum)


@bias_add_op.gradient
def _bias_add_gradient(op, grad):
    return grad, bias_add_grad_op(grad, data_format=op.attrs["data_format"])


bias_add_op.flops(per_input_element())
bias_add_op.samples(
    (f32(2, 3), f32(3)),
    (f32(2, 4, 3, 2), f32(2)),
    (f32(2, 3, 4), f32(3), {"data_format": "NCHW"}),
    (f32(0, 3), f32(3)),
    (i32(2, 3), i32(3)),
    against=_biased_reference,
)
bias_add_op.refuses((f32(1, 5, 5, 4), f32(5)), "Dimensions must be equal, but are 4 and 5")
bias_add_op.refuses((f32(1, 5, 5, 4), f32(4, 2)), "Shape must be rank 1 but is rank 2")
bias_add_op.refuses((f32(5), f32(5)), "Shape must be at least rank 2 but is rank 1")


@export("nn.bias_add")
def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds a vector to the channels of `value`.

    Args:
      value: A tensor of a numeric type and of at least two dimensions.
      bias: A vector of the same type, with one element for each channel of `value`.
      data_format: "N...C" (the default: channels are the last axis) or "NC..." (they are the second).
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `value`.

    Raises:
      ValueError: Where `data_format` is of neither form, or where the sizes of channels and bias differ.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if not data_format.startswith("N") or "C" not in (data_format[1:2], data_format[-1]):
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
            data_format = "NCHW" if data_format.startswith("NC") else "NHWC"
        if not executing_eagerly():  # there a bias that is a tensor says the type of values that are none
            value = convert_to_tensor(value, name="input")
            bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return bias_add_op(value, bias, data_format=data_format, name=name)


bias_add_v1_op = Op("BiasAddV1", "value: T, bias: T -> output: T", T=NUMERIC)
bias_add_v1_op.shape(_biased_shape)
bias_add_v1_op.kernel(_biased)
bias_add_v1_op.specialize(_specialized_sum)


@bias_add_v1_op.gradient
def _bias_add_v1_gradient(op, grad):
    return grad, reductions.reduce_sum(grad, creation.range(shapes.rank(grad) - 1))


bias_add_v1_op.samples((f32(2, 3), f32(3)), (f32(2, 4, 2), f32(2)), against=_biased_reference)

bias_add_grad_op = Op("BiasAddGrad", "out_backprop: T -> output: T", T=NUMERIC, data_format=_IMAGE_FORMAT)


@bias_add_grad_op.shape
def _bias_add_grad_shape(out_backprop, *, data_format):
    least = 3 if data_format == "NCHW" else 2
    said = f"Input tensor must be at least 2D: {brackets(out_backprop.tuple or ())}"
    sizes = of_rank_at_least(out_backprop, least, said).tuple
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


bias_add_grad_op.flops(per_reduced_element)
bias_add_grad_op.samples(
    f32(2, 3),
    f32(2, 4, 3, 2),
    (f32(2, 3, 4), {"data_format": "NCHW"}),
    f32(0, 3),
    against=lambda grad, *, data_format: np.sum(
        grad.swapaxes(1, -1) if data_format == "NCHW" else grad, tuple(range(grad.ndim - 1))
    ),
)

# ---------------------------------------------------------------------------- families


def _activation(
    op_type: str,
    kernel: Callable,
    gradient: Callable,
    allowed: tuple,
    against: Callable,
    uint64: Callable | None = None,
) -> Op:
    op = Op(op_type, "features: T -> activations: T", T=allowed)
    op.shape(lambda features: features)
    add_kernel(op, kernel, uint64)
    op.gradient(gradient)
    op.samples(f32(2, 3, low=-8.0, high=8.0), f32(), f32(0, 2), against=against)
    return op


def _slope_shape(op_type: str) -> Callable:
    return lambda gradients, features: merged(
        gradients, features, unequal_inputs(op_type, gradients, features)
    )


def _slope(
    op_type: str,
    kernel: Callable,
    gradient: Callable,
    allowed: tuple,
    against: Callable,
    of: str = "features",
    uint64: Callable | None = None,
) -> Op:
    """The op `backprops = gradients * f'`, where f' is known from the features or from the outputs."""
    op = Op(op_type, f"gradients: T, {of}: T -> backprops: T", T=allowed)
    op.shape(_slope_shape(op_type))
    add_kernel(op, kernel, uint64)
    op.gradient(gradient)
    _add_slope_samples(op, against)
    return op


def _add_slope_samples(op: Op, against: Callable) -> None:
    op.samples(
        (f32(2, 3), f32(2, 3, low=-8.0, high=8.0)), (f32(), f32()), (f32(0, 2), f32(0, 2)), against=against
    )
    op.refuses((f32(2, 3), f32(2, 4)), "must be equal, but are 3 and 4")


def _slope_of_constant_slope(op: Operation, grad: Tensor, slope: Op, **attrs: Any) -> tuple:
    """The gradient of a slope that is constant between the corners of its function: its own slope is 0."""
    features = op.inputs[1]
    return slope(grad, features, **attrs), creation.zeros(shapes.shape(features), dtype=features.dtype)


def _slope_of_exponential(op: Operation, grad: Tensor, slope: Op) -> tuple:
    """The gradient of a slope that is its function's output plus a constant below 0, and constant above."""
    gradients, outputs = op.inputs
    by_gradients = slope(grad, outputs)
    return by_gradients, indexing.where(outputs < 0, grad * gradients, creation.zeros_like(outputs))


# ---------------------------------------------------------------------------- relu, relu6, leaky relu

relu_op = _activation(
    "Relu",
    torch.relu,
    lambda op, grad: relu_grad_op(grad, op.outputs[0]),
    types("float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 qint8"),
    against=lambda x: np.maximum(x, 0),
    uint64=lambda bits: bits,
)


@export("nn.relu")
def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes max(x, 0) of every element.

    Args:
      features: A tensor of a real type, or of qint8.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `features`.
    """
    return relu_op.apply((features,), name)


@export("nn.crelu")
def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """Computes relu(x) and relu(-x) and joins the two, so that no information is lost.

    Args:
      features: A tensor of a real type.
      name: A name for the operation.
      axis: The axis along which the two are joined; its size doubles.

    Returns:
      A tensor of the type of `features`, twice as long along `axis`.
    """
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        return relu_op(joining.concat([features, -features], axis, name=name))


_aten = torch.ops.aten

relu_grad_op = _slope(
    "ReluGrad",
    lambda gradients, features: _aten.threshold_backward.default(gradients, features, 0),
    lambda op, grad: _slope_of_constant_slope(op, grad, relu_grad_op),
    REAL,
    against=lambda gradients, x: gradients * (x > 0),
    uint64=lambda gradients, bits: torch.where(bits != 0, gradients, 0),
)

relu6_op = _activation(
    "Relu6",
    lambda x: torch.clamp(x, 0, 6),
    lambda op, grad: relu6_grad_op(grad, op.outputs[0]),
    REAL,
    against=lambda x: np.clip(x, 0, 6),
    uint64=lambda bits: torch.where((bits >= 0) & (bits < 6), bits, 6),
)


@export("nn.relu6")
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes min(max(x, 0), 6) of every element.

    Args:
      features: A tensor of a real type.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `features`.
    """
    with name_scope(name, "Relu6", [features]) as name:
        return relu6_op(convert_to_tensor(features, name="features"), name=name)


relu6_grad_op = _slope(
    "Relu6Grad",
    lambda gradients, features: (
        _aten.hardtanh_backward.default(gradients, features, 0, 6)
        if features.is_floating_point()
        else torch.where((features > 0) & (features < 6), gradients, 0)
    ),
    lambda op, grad: _slope_of_constant_slope(op, grad, relu6_grad_op),
    REAL,
    against=lambda gradients, x: gradients * (np.clip(x, 0, 6) == x),
)

_LEAKY = {"alpha": attr("float", 0.20000000298023224), "T": attr("type", "float", allowed=FLOATS_HALF_FIRST)}

leaky_relu_op = Op("LeakyRelu", "features: T -> activations: T", **_LEAKY)
leaky_relu_op.shape(lambda features: features)


@leaky_relu_op.kernel
def _leaky_relu_kernel(features, *, alpha):
    if features.itemsize == 2:  # alpha is a number of the type, as in TensorFlow
        alpha = float(torch.tensor(alpha, dtype=features.dtype))
    return torch.nn.functional.leaky_relu(features, alpha)


leaky_relu_op.gradient(lambda op, grad: leaky_relu_grad_op(grad, op.inputs[0], alpha=op.attrs["alpha"]))
leaky_relu_op.samples(
    f32(2, 3), f32(), (f32(0, 2), {"alpha": 0.1}), against=lambda x, *, alpha: np.maximum(x, alpha * x)
)


@export("nn.leaky_relu")
def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Computes x of elements above 0 and alpha * x of those below.

    Args:
      features: A tensor of a floating-point type; integers are cast to float32.
      alpha: The slope below 0.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `features`, and of its type where that is a floating-point type.
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = casting.cast(features, float32)
        return leaky_relu_op(features, alpha=0.2 if alpha is None else alpha, name=name)


leaky_relu_grad_op = Op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", **_LEAKY)
leaky_relu_grad_op.shape(_slope_shape("LeakyReluGrad"))


@leaky_relu_grad_op.kernel
def _leaky_relu_grad_kernel(gradients, features, *, alpha):
    return _aten.leaky_relu_backward.default(gradients, features, alpha, False)


leaky_relu_grad_op.gradient(
    lambda op, grad: _slope_of_constant_slope(op, grad, leaky_relu_grad_op, alpha=op.attrs["alpha"])
)
_add_slope_samples(
    leaky_relu_grad_op, against=lambda gradients, x, *, alpha: gradients * np.where(x > 0, 1, alpha)
)

# ---------------------------------------------------------------------------- elu, selu

elu_op = _activation(
    "Elu",
    torch.nn.functional.elu,
    lambda op, grad: elu_grad_op(grad, op.outputs[0]),
    FLOATS_HALF_FIRST,
    against=lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
)


@export("nn.elu")
def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes x of elements above 0 and exp(x) - 1 of those below.

    Args:
      features: A tensor of a floating-point type.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `features`.
    """
    return elu_op(features, name=name)


elu_grad_op = _slope(
    "EluGrad",
    lambda gradients, outputs: _aten.elu_backward.default(gradients, 1.0, 1.0, 1.0, True, outputs),
    lambda op, grad: _slope_of_exponential(op, grad, elu_grad_op),
    FLOATS_HALF_FIRST,
    against=lambda gradients, y: gradients * np.minimum(y + 1, 1),
    of="outputs",
)

_SCALE = 1.0507009873554804934193349852946
_SCALED_ALPHA = 1.7580993408473768599402175208123

selu_op = _activation(
    "Selu",
    torch.selu,
    lambda op, grad: selu_grad_op(grad, op.outputs[0]),
    FLOATS_HALF_FIRST,
    against=lambda x: np.where(x < 0, _SCALED_ALPHA * np.expm1(np.minimum(x, 0)), _SCALE * x).astype(x.dtype),
)


@export("nn.selu")
def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes scale * x of elements above 0 and scale * alpha * (exp(x) - 1) of those below.

    The two constants keep activations of mean 0 and variance 1 at that from layer to layer.

    Args:
      features: A tensor of a floating-point type.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `features`.
    """
    return selu_op(features, name=name)


selu_grad_op = _slope(
    "SeluGrad",
    lambda gradients, outputs: (
        gradients * cpu_functions.where(outputs < 0, outputs + _SCALED_ALPHA, outputs.new_tensor(_SCALE))
    ),
    lambda op, grad: _slope_of_exponential(op, grad, selu_grad_op),
    FLOATS_HALF_FIRST,
    against=lambda gradients, y: gradients * np.where(y < 0, y + _SCALED_ALPHA, _SCALE),
    of="outputs",
)

# ---------------------------------------------------------------------------- softplus, softsign


def _softplus(features: torch.Tensor) -> torch.Tensor:
    beyond = 36.0 if features.dtype is torch.float64 else 20.0  # there log(1 + e^x) is x, to the last bit
    return torch.nn.functional.softplus(features, 1.0, beyond)


softplus_op = _activation(
    "Softplus",
    _softplus,
    lambda op, grad: grad * unary.sigmoid(op.inputs[0]),
    FLOATS_HALF_FIRST,
    against=lambda x: np.logaddexp(x, 0).astype(x.dtype),
)


@export("nn.softplus", "math.softplus")
def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes log(exp(x) + 1) of every element.

    Args:
      features: A tensor of a floating-point type.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `features`.
    """
    return softplus_op(features, name=name)


def _softplus_grad_gradient(op, grad):
    gradients, x = op.inputs
    with control_dependencies([grad]):
        by_gradients = softplus_grad_op(grad, x)
        return by_gradients, grad * gradients / (unary.exp(-x) + 2.0 + unary.exp(x))


softplus_grad_op = _slope(
    "SoftplusGrad",
    lambda gradients, x: gradients * torch.sigmoid(x),
    _softplus_grad_gradient,
    FLOATS_HALF_FIRST,
    against=lambda gradients, x: gradients / (1 + np.exp(-x)),
)

softsign_op = _activation(
    "Softsign",
    lambda x: x / x.abs().add_(1),
    lambda op, grad: softsign_grad_op(grad, op.inputs[0]),
    FLOATS_HALF_FIRST,
    against=lambda x: x / (1 + np.abs(x)),
)


@export("nn.softsign", "math.softsign")
def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes x / (abs(x) + 1) of every element.

    Args:
      features: A tensor of a floating-point type.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `features`.
    """
    return softsign_op(features, name=name)


def _softsign_grad_gradient(op, grad):
    gradients, x = op.inputs
    size = 1 + unary.abs(x)
    return softsign_grad_op(grad, x), -2.0 * grad * gradients * unary.sign(x) / (size * size * size)


softsign_grad_op = _slope(
    "SoftsignGrad",
    lambda gradients, x: gradients / x.abs().add_(1).square_(),
    _softsign_grad_gradient,
    FLOATS_HALF_FIRST,
    against=lambda gradients, x: gradients / (1 + 2 * np.abs(x) + x * x),
)
