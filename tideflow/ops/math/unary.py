"""Element-wise functions of one tensor, and complex numbers and their parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, definition, not_differentiable
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.helpers import unbroadcast
from tideflow.ops.helpers.axes import merged
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.elementwise import of_values, same_shape, unary, unary_samples
from tideflow.ops.helpers.samples import boolean, c64, f32, i32
from tideflow.ops.helpers.types import (
    COMPLEX,
    FLOATS,
    FLOATS_COMPLEX,
    REAL_PARTS,
    SIGNED,
    SIGNED_NUMBERS,
    UNSIGNED,
)
from tideflow.ops.math import binary, special
from tideflow.ops.nn import activations

# -------------------------------------------------------------------------------- sign and size

abs_op = Op("Abs", "x: T -> y: T", T=FLOATS + SIGNED)
abs_op.shape(same_shape)
abs_op.kernel(torch.abs)
abs_op.gradient(lambda op, grad: grad * sign(op.inputs[0]))
abs_op.samples(*unary_samples(FLOATS, (-1.0, 1.0)), i32(3), against=np.abs)

negative = unary(
    "Neg",
    "math.negative negative",
    "-x.",
    torch.neg,
    lambda op, grad: -grad,
    types=SIGNED_NUMBERS,
    sparse=True,
    sized=True,
    against=np.negative,
)
sign = unary(
    "Sign",
    "math.sign sign",
    "-1, 0 or 1 as x is below, at or above 0; of a complex number, x / abs(x).",
    torch.sgn,
    lambda op, grad: creation.zeros(shapes.shape(op.inputs[0]), dtype=op.inputs[0].dtype.base_dtype),
    types=SIGNED_NUMBERS,
    sparse=True,
    against=np.sign,
)


def by_op(op_type: str, conjugate: bool = False) -> Callable:
    """The gradient is an op of its own, of the output and its gradient."""

    def gradient(op: Operation, grad: Any) -> Tensor:
        with control_dependencies([grad] if conjugate else []):
            y = conj(op.outputs[0]) if conjugate else op.outputs[0]
            return definition(op_type)(y, grad)

    return gradient


# -------------------------------------------------------------------------------- powers and roots


def _reciprocal(x: torch.Tensor) -> torch.Tensor:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return torch.reciprocal(x)
    return torch.div(torch.ones_like(x), x, rounding_mode="trunc")


conj_op = Op("Conj", "input: T -> output: T", T=attr("type", "complex64", allowed=(*COMPLEX, "variant")))


@conj_op.gradient
def _conj_gradient(op, grad):
    return conj(grad)


@export("conj", "math.conj")
def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; of real numbers, themselves."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        if x.dtype.is_complex or x.dtype.name == "variant":
            return conj_op(x, name=scope)
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


reciprocal = unary(
    "Reciprocal",
    "math.reciprocal reciprocal",
    "1 / x.",
    _reciprocal,
    by_op("ReciprocalGrad"),
    types=SIGNED_NUMBERS,
    domain=(0.5, 2.0),
    against=np.reciprocal,
)

inv_op = Op("Inv", "x: T -> y: T", T=SIGNED_NUMBERS)
inv_op.shape(same_shape)
inv_op.kernel(_reciprocal)
inv_op.gradient(by_op("ReciprocalGrad"))
inv_op.samples(f32(2, 3, low=0.5, high=2.0), against=np.reciprocal)


def _square_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        x = conj(op.inputs[0])
        two = constants.constant(2.0, dtype=x.dtype.base_dtype)
        return binary.multiply(grad, binary.multiply(x, two))


square = unary(
    "Square",
    "math.square square",
    "x * x.",
    torch.square,
    _square_gradient,
    types=FLOATS + SIGNED + UNSIGNED + COMPLEX,
    sparse=True,
    sized=True,
    against=np.square,
)
sqrt = unary(
    "Sqrt",
    "math.sqrt sqrt",
    "The square root.",
    torch.sqrt,
    by_op("SqrtGrad"),
    domain=(0.1, 3.0),
    sparse=True,
    against=np.sqrt,
)
rsqrt = unary(
    "Rsqrt",
    "math.rsqrt rsqrt",
    "1 / sqrt(x).",
    torch.rsqrt,
    by_op("RsqrtGrad"),
    domain=(0.1, 3.0),
    against=lambda x: 1 / np.sqrt(x),
)

# -------------------------------------------------------------------------------- exponentials and logarithms


def _exp_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        return grad * conj(op.outputs[0])


exp = unary("Exp", "math.exp exp", "e to the power x.", torch.exp, _exp_gradient, against=np.exp)

# -------------------------------------------------------------------------------- laws of gradients


def times(slope: Callable[[Tensor], Tensor]) -> Callable:
    """The chain rule: gradient * slope(x)."""

    def gradient(op: Operation, grad: Any) -> Tensor:
        with control_dependencies([grad]):
            return grad * slope(conj(op.inputs[0]))

    return gradient


expm1 = unary(
    "Expm1",
    "math.expm1 expm1",
    "exp(x) - 1, exact near 0.",
    torch.expm1,
    times(lambda x: exp(x)),
    against=np.expm1,
)
log = unary(
    "Log",
    "math.log log",
    "The natural logarithm.",
    torch.log,
    times(lambda x: reciprocal(x)),
    domain=(0.1, 3.0),
    against=np.log,
)
log1p = unary(
    "Log1p",
    "math.log1p log1p",
    "log(1 + x), exact near 0.",
    torch.log1p,
    times(lambda x: reciprocal(1 + x)),
    domain=(-0.5, 3.0),
    against=np.log1p,
)
sigmoid = unary(
    "Sigmoid",
    "math.sigmoid sigmoid nn.sigmoid",
    "1 / (1 + exp(-x)).",
    torch.sigmoid,
    by_op("SigmoidGrad", conjugate=True),
    against=lambda x: 1 / (1 + np.exp(-x)),
)
sin = unary("Sin", "math.sin sin", "The sine.", torch.sin, times(lambda x: cos(x)), against=np.sin)

# -------------------------------------------------------------------------------- circular and hyperbolic


def _cos_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        return -grad * sin(conj(op.inputs[0]))


cos = unary("Cos", "math.cos cos", "The cosine.", torch.cos, _cos_gradient, against=np.cos)


def _tan_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        return square(reciprocal(cos(conj(op.inputs[0])))) * grad


tan = unary("Tan", "math.tan tan", "The tangent.", torch.tan, _tan_gradient, against=np.tan)
asin = unary(
    "Asin",
    "math.asin asin",
    "The angle whose sine is x.",
    torch.asin,
    times(lambda x: reciprocal(sqrt(_with_one(binary.subtract, x)))),
    domain=(-0.9, 0.9),
    against=np.arcsin,
)


def _with_one(combine: Callable, x: Tensor) -> Tensor:
    """1 - x² or 1 + x²."""
    squared = square(x)
    return combine(constants.constant(1, dtype=x.dtype.base_dtype), squared)


def _acos_gradient(op: Operation, grad: Any) -> Tensor:
    with control_dependencies([grad]):
        slope = reciprocal(sqrt(_with_one(binary.subtract, conj(op.inputs[0]))))
        return -grad * slope


acos = unary(
    "Acos",
    "math.acos acos",
    "The angle whose cosine is x.",
    torch.acos,
    _acos_gradient,
    domain=(-0.9, 0.9),
    against=np.arccos,
)
atan = unary(
    "Atan",
    "math.atan atan",
    "The angle whose tangent is x.",
    torch.atan,
    times(lambda x: reciprocal(_with_one(binary.add, x))),
    against=np.arctan,
)
sinh = unary(
    "Sinh", "math.sinh sinh", "The hyperbolic sine.", torch.sinh, times(lambda x: cosh(x)), against=np.sinh
)
cosh = unary(
    "Cosh", "math.cosh cosh", "The hyperbolic cosine.", torch.cosh, times(lambda x: sinh(x)), against=np.cosh
)
tanh = unary(
    "Tanh",
    "math.tanh tanh nn.tanh",
    "The hyperbolic tangent.",
    torch.tanh,
    by_op("TanhGrad", conjugate=True),
    sparse=True,
    against=np.tanh,
)


def over(slope: Callable[[Tensor], Tensor]) -> Callable:
    """The chain rule for an inverse function: gradient / slope(y)."""

    def gradient(op: Operation, grad: Any) -> Tensor:
        with control_dependencies([grad]):
            return grad / slope(conj(op.outputs[0]))

    return gradient


asinh = unary(
    "Asinh",
    "math.asinh asinh",
    "The inverse hyperbolic sine.",
    torch.asinh,
    over(lambda y: cosh(y)),
    against=np.arcsinh,
)
acosh = unary(
    "Acosh",
    "math.acosh acosh",
    "The inverse hyperbolic cosine.",
    torch.acosh,
    over(lambda y: sinh(y)),
    domain=(1.5, 3.0),
    against=np.arccosh,
)
atanh = unary(
    "Atanh",
    "math.atanh atanh",
    "The inverse hyperbolic tangent.",
    torch.atanh,
    times(lambda x: reciprocal(_with_one(binary.subtract, x))),
    domain=(-0.9, 0.9),
    against=np.arctanh,
)

# -------------------------------------------------------------------------------- error and gamma functions


def _erf_gradient(scale: float) -> Callable:
    def gradient(op: Operation, grad: Any) -> Tensor:
        factor = constants.constant(scale, dtype=grad.dtype.base_dtype)
        with control_dependencies([grad]):
            return grad * factor * exp(-square(conj(op.inputs[0])))

    return gradient


erf = unary(
    "Erf",
    "math.erf erf",
    "The error function.",
    torch.erf,
    _erf_gradient(2 / math.sqrt(math.pi)),
    types=FLOATS,
    sparse=True,
    against=np.vectorize(math.erf, otypes=[float]),
)
erfc = unary(
    "Erfc",
    "math.erfc erfc",
    "1 - erf(x).",
    torch.erfc,
    _erf_gradient(-2 / math.sqrt(math.pi)),
    types=FLOATS,
    against=np.vectorize(math.erfc, otypes=[float]),
)
lgamma = unary(
    "Lgamma",
    "math.lgamma lgamma",
    "The logarithm of the absolute value of the gamma function.",
    torch.lgamma,
    times(lambda x: digamma(x)),
    types=FLOATS,
    domain=(0.1, 3.0),
    against=np.vectorize(math.lgamma, otypes=[float]),
)
digamma = unary(
    "Digamma",
    "math.digamma digamma",
    "The derivative of lgamma.",
    torch.digamma,
    times(lambda x: special.polygamma(constants.constant(1, dtype=x.dtype.base_dtype), x)),
    types=FLOATS,
    domain=(0.5, 3.0),
)


def flat(op: Operation, grad: Any) -> None:
    """A step function: no gradient passes."""
    return None


# -------------------------------------------------------------------------------- rounding and classes

floor = unary(
    "Floor",
    "math.floor floor",
    "The next integer below.",
    torch.floor,
    flat,
    types=FLOATS,
    sized=True,
    against=np.floor,
)
ceil = unary(
    "Ceil",
    "math.ceil ceil",
    "The next integer above.",
    torch.ceil,
    flat,
    types=FLOATS,
    sized=True,
    against=np.ceil,
)
rint = unary(
    "Rint",
    "math.rint rint",
    "The nearest integer; halves go to the even one.",
    torch.round,
    flat,
    types=FLOATS,
    against=np.rint,
)

round_op = Op("Round", "x: T -> y: T", T=SIGNED_NUMBERS)
round_op.shape(same_shape)


@round_op.kernel
def _round_kernel(x):
    return torch.view_as_complex(torch.view_as_real(x).round()) if x.is_complex() else torch.round(x)


round_op.gradient(flat)
round_op.samples(
    *unary_samples(FLOATS, (-3.0, 3.0)), ([-1.5, 0.5, 2.5], {"T": dtypes.float32}), i32(2), against=np.round
)


@export("round", "math.round")
def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest integer; halves go to the even one."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else round_op(x, name=name)


is_nan = unary(
    "IsNan",
    "math.is_nan is_nan debugging.is_nan",
    "Which elements are not a number.",
    torch.isnan,
    not_differentiable,
    types=FLOATS,
    gives="bool",
    against=np.isnan,
)
is_inf = unary(
    "IsInf",
    "math.is_inf is_inf debugging.is_inf",
    "Which elements are infinite.",
    torch.isinf,
    not_differentiable,
    types=FLOATS,
    gives="bool",
    against=np.isinf,
)
is_finite = unary(
    "IsFinite",
    "math.is_finite is_finite debugging.is_finite",
    "Which elements are finite numbers.",
    torch.isfinite,
    not_differentiable,
    types=FLOATS,
    gives="bool",
    against=np.isfinite,
)

# -------------------------------------------------------------------------------- truth

logical_not_op = Op("LogicalNot", "x: bool -> y: bool", differentiable=False)
logical_not_op.shape(same_shape)
logical_not_op.kernel(torch.logical_not)
logical_not_op.samples(boolean(2, 3), boolean(), against=np.logical_not)


@export("logical_not", "math.logical_not")
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """True where x is False."""
    return logical_not_op(x, name=name)


def _backward_of_aten(function: Callable) -> Callable:
    """ATen has these gradients as one kernel; of complex numbers it conjugates where TensorFlow does not."""
    return lambda node: None if node.inputs[0].dtype.is_complex else (function, node.inputs[::-1])


# -------------------------------------------------------------------------------- gradients that are ops


def of_output(op_type: str, kernel: Callable, gradient: Callable, against: Callable) -> Op:
    """An op of a function's output `y` and the gradient `dy` by it: the gradient by the function's input."""
    op = Op(op_type, "y: T, dy: T -> z: T", T=FLOATS_COMPLEX)
    op.shape(merged)
    op.kernel(kernel)
    op.gradient(gradient)
    op.samples((f32(2, 3, low=0.2, high=0.9), f32(2, 3)), (f32(low=0.2), f32()), against=against)
    return op


def _sigmoid_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, dy = conj(op.inputs[0]), conj(op.inputs[1])
        product = grad * dy
        return [product - 2.0 * product * y, sigmoid_grad_op(y, grad)]


sigmoid_grad_op = of_output(
    "SigmoidGrad",
    lambda y, dy: dy * y * (1 - y),
    _sigmoid_grad_gradient,
    against=lambda y, dy: dy * y * (1 - y),
)
sigmoid_grad_op.specialize(_backward_of_aten(torch.ops.aten.sigmoid_backward.default))


def _tanh_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, dy = conj(op.inputs[0]), conj(op.inputs[1])
        return [grad * -2.0 * dy * y, tanh_grad_op(y, grad)]


tanh_grad_op = of_output(
    "TanhGrad", lambda y, dy: dy * (1 - y * y), _tanh_grad_gradient, against=lambda y, dy: dy * (1 - y * y)
)
tanh_grad_op.specialize(_backward_of_aten(torch.ops.aten.tanh_backward.default))


def _sqrt_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        ratio = grad / op.inputs[0]
        return [-conj(ratio) * op.outputs[0], 0.5 * ratio]


sqrt_grad_op = of_output(
    "SqrtGrad", lambda y, dy: 0.5 * dy / y.conj(), _sqrt_grad_gradient, against=lambda y, dy: dy / (2 * y)
)


def _rsqrt_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, conj_grad = conj(op.inputs[0]), conj(grad)
        return [-1.5 * conj_grad * op.inputs[1] * square(y), rsqrt_grad_op(y, grad)]


rsqrt_grad_op = of_output(
    "RsqrtGrad",
    lambda y, dy: -0.5 * dy * y.conj() ** 3,
    _rsqrt_grad_gradient,
    against=lambda y, dy: -(y**3) * dy / 2,
)


def _reciprocal_grad_gradient(op: Operation, grad: Any) -> list[Tensor]:
    with control_dependencies([grad]):
        y, conj_grad = conj(op.inputs[0]), conj(grad)
        return [conj_grad * -2.0 * op.inputs[1] * y, reciprocal_grad_op(y, grad)]


def _reciprocal_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    return -dy * y.conj().square()


reciprocal_grad_op = of_output(
    "ReciprocalGrad", _reciprocal_grad, _reciprocal_grad_gradient, against=lambda y, dy: -dy * y * y
)
inv_grad_op = of_output(
    "InvGrad", _reciprocal_grad, _reciprocal_grad_gradient, against=lambda y, dy: -dy * y * y
)

# -------------------------------------------------------------------------------- complex numbers

COMPLEX_T = attr("type", "complex64", allowed=COMPLEX)
REAL_T = attr("type", "float", allowed=REAL_PARTS)

complex_abs_op = Op("ComplexAbs", "x: T -> y: Tout", T=COMPLEX_T, Tout=REAL_T)


@complex_abs_op.gradient
def _complex_abs_gradient(op, grad):
    direction = complex(grad, creation.zeros_like(grad)) * op.inputs[0]
    return binary.div_no_nan(direction, complex(op.outputs[0], creation.zeros_like(op.outputs[0])))


@export("abs", "math.abs")
def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; of complex numbers, their real modulus."""
    if isinstance(x, SparseTensor):
        return of_values(abs, "Abs", x, name)
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return complex_abs_op(x, Tout=x.dtype.real_dtype, name=scope)
        return abs_op(x, name=scope)


real_op = Op("Real", "input: T -> output: Tout", T=COMPLEX_T, Tout=REAL_T)


@real_op.gradient
def _real_gradient(op, grad):
    return complex(grad, constants.constant(0, dtype=grad.dtype.base_dtype))


@export("real", "math.real")
def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; of real numbers, themselves."""
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return real_op(input, Tout=input.dtype.real_dtype, name=scope) if input.dtype.is_complex else input


imag_op = Op("Imag", "input: T -> output: Tout", T=COMPLEX_T, Tout=REAL_T)


@imag_op.gradient
def _imag_gradient(op, grad):
    return complex(constants.constant(0, dtype=grad.dtype.base_dtype), grad)


@export("imag", "math.imag")
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; of real numbers, zeros."""
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return imag_op(input, Tout=input.dtype.real_dtype, name=scope)
        return creation.zeros_like(input)


angle_op = Op("Angle", "input: T -> output: Tout", T=COMPLEX_T, Tout=REAL_T)


@angle_op.gradient
def _angle_gradient(op, grad):
    with control_dependencies([grad]):
        re, im = real(op.inputs[0]), imag(op.inputs[0])
        turned = reciprocal(complex(im, re))
        return -complex(grad, constants.constant(0, dtype=grad.dtype.base_dtype)) * turned


@export("angle", "math.angle")
def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of complex numbers; of real numbers, zeros."""
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return angle_op(input, Tout=input.dtype.real_dtype, name=scope)
        return creation.zeros_like(input)


complex_op = Op(
    "Complex",
    "real: T, imag: T -> out: Tout",
    T=attr("type", "float", allowed=REAL_PARTS),
    Tout=attr("type", "complex64", allowed=COMPLEX),
)
complex_op.shape(broadcast_shapes)


@complex_op.kernel
def _complex_kernel(real, imag):
    return torch.complex(*torch.broadcast_tensors(real, imag))


@complex_op.gradient
def _complex_gradient(op, grad):
    to_real, to_imag = unbroadcast.ways_back(shapes.shape(op.inputs[0]), shapes.shape(op.inputs[1]))
    return [to_real(real(grad)), to_imag(imag(grad))]


complex_op.samples(
    (f32(2, 3), f32(2, 3)), (f32(2, 1), f32(3)), (f32(), f32()), against=lambda x, y: x + 1j * y
)


@export("complex", "dtypes.complex")
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i * imag."""
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        parts = real.dtype.base_dtype, imag.dtype.base_dtype
        if parts[0] is not parts[1] or parts[0] not in REAL_PARTS:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return complex_op(real, imag, Tout=COMPLEX[REAL_PARTS.index(parts[0])], name=scope)


for _op, _kernel, _reference in (
    (complex_abs_op, torch.abs, np.abs),
    (real_op, torch.real, np.real),
    (imag_op, torch.imag, np.imag),
    (angle_op, torch.angle, np.angle),
    (conj_op, torch.conj_physical, np.conj),
):
    _op.shape(same_shape)
    _op.kernel(_kernel)
    _op.samples(c64(2, 3), c64(), c64(0, 2), against=_reference)


@export("log_sigmoid", "math.log_sigmoid")
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), exact where the sigmoid vanishes."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return negative(activations.softplus(-x), name=scope)
