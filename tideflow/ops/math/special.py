"""Special functions: incomplete gamma and beta, zeta, polygamma, Bessel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.helpers import unbroadcast
from tideflow.ops.helpers.axes import merged
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.elementwise import unary as define_unary
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS, REAL_PARTS
from tideflow.ops.math import reductions, unary

# -------------------------------------------------------------------------------- Bessel functions


def _bessel_i0e_gradient(op: Operation, grad: Any) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        return grad * (bessel_i1e(x) - unary.sign(x) * y)


bessel_i0e = define_unary(
    "BesselI0e",
    "math.bessel_i0e",
    "exp(-|x|) times the modified Bessel function of order 0.",
    torch.special.i0e,
    _bessel_i0e_gradient,
    types=FLOATS,
    against=lambda x: np.i0(x) * np.exp(-np.abs(x)),
)


def _bessel_i1e_gradient(op: Operation, grad: Any) -> Tensor:
    """The slope is i0e(x) - i1e(x) * (sign(x) + 1 / x); at 0, where 1 / x is not to be had, it is 1/2."""
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        zeros = creation.zeros_like(x)
        smallest = float(np.finfo(x.dtype.as_numpy_dtype).eps)
        divides = unary.abs(x) > smallest
        safe_x = definition("Select")(divides, x, smallest + zeros)
        slope = bessel_i0e(safe_x) - y * (unary.sign(safe_x) + unary.reciprocal(safe_x))
        return grad * definition("Select")(divides, slope, 0.5 + zeros)


bessel_i1e = define_unary(
    "BesselI1e",
    "math.bessel_i1e",
    "exp(-|x|) times the modified Bessel function of order 1.",
    torch.special.i1e,
    _bessel_i1e_gradient,
    types=FLOATS,
)
POSITIVE = {"low": 0.5, "high": 3.0}


def _nan_where(condition: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.where(condition, torch.nan, value)


def _add_shape_and_samples_of_igamma_family(op: Op) -> None:
    op.shape(broadcast_shapes)
    op.samples((f32(2, 3, **POSITIVE), f32(2, 3, **POSITIVE)), (f32(2, 1, **POSITIVE), f32(3, **POSITIVE)))
    op.samples((f32(0, 3, **POSITIVE), f32(3, **POSITIVE)))


def _igamma_gradient(op: Operation, grad: Any) -> list[Tensor]:
    a, x = op.inputs
    to_a, to_x = unbroadcast.ways_back(shapes.shape(a), shapes.shape(x))
    with control_dependencies([grad]):
        by_a = igamma_grad_a_op(a, x)
        by_x = unary.exp(-x + (a - 1) * unary.log(x) - unary.lgamma(a))
        grad_a = to_a(by_a * grad)
        return [grad_a, to_x(by_x * grad)]


# -------------------------------------------------------------------------------- incomplete gamma

igamma_op = Op("Igamma", "a: T, x: T -> z: T", T=FLOATS)
_add_shape_and_samples_of_igamma_family(igamma_op)


@igamma_op.kernel
def _igamma_kernel(a, x):
    return _nan_where((a <= 0) | (x < 0), torch.special.gammainc(a, x))


igamma_op.gradient(_igamma_gradient)


@export("igamma", "math.igamma")
def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function."""
    return igamma_op(a, x, name=name)


igammac_op = Op("Igammac", "a: T, x: T -> z: T", T=FLOATS)
_add_shape_and_samples_of_igamma_family(igammac_op)


@igammac_op.kernel
def _igammac_kernel(a, x):
    return _nan_where((a <= 0) | (x < 0), torch.special.gammaincc(a, x))


def _igammac_gradient(op: Operation, grad: Any) -> list[Tensor]:
    grad_a, grad_x = _igamma_gradient(op, grad)
    return [-grad_a, -grad_x]


igammac_op.gradient(_igammac_gradient)


@export("igammac", "math.igammac")
def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function, 1 - igamma."""
    return igammac_op(a, x, name=name)


igamma_grad_a_op = Op("IgammaGradA", "a: T, x: T -> z: T", T=REAL_PARTS, differentiable=False)
_add_shape_and_samples_of_igamma_family(igamma_grad_a_op)


@igamma_grad_a_op.kernel
def _igamma_grad_a_kernel(a, x):
    """igamma = front * series; front = x**a exp(-x) / gamma(a), series = sum of x**n / (a (a+1) ... (a+n)).

    The series and its derivative by a are summed in double precision until no term changes anything.
    """
    dtype = a.dtype
    a, x = torch.broadcast_tensors(a.double(), x.double())
    term = a.reciprocal()
    slope = -term / a  # the term's derivative by a
    series, series_slope = term, slope
    n = 0
    while bool((slope.abs() > 1e-17 * series_slope.abs()).any()):
        n += 1
        ratio = x / (a + n)
        term = term * ratio
        slope = slope * ratio - term / (a + n)
        series, series_slope = series + term, series_slope + slope
    front = torch.exp(a * torch.log(x) - x - torch.lgamma(a))
    grad = front * (series * (torch.log(x) - torch.digamma(a)) + series_slope)
    grad = torch.where(x == 0, 0.0, torch.where(torch.isinf(x), 0.0, grad))
    return _nan_where((a <= 0) | (x < 0), grad).to(dtype)


OF_FLOATS = {"T": dtypes.float32}  # with Python numbers among the inputs, the type must be said

# -------------------------------------------------------------------------------- zeta and polygamma

zeta_op = Op("Zeta", "x: T, q: T -> z: T", T=REAL_PARTS)
zeta_op.shape(broadcast_shapes)
zeta_op.kernel(torch.special.zeta)


@zeta_op.gradient
def _zeta_gradient(op, grad):
    x, q = op.inputs
    _, to_q = unbroadcast.ways_back(shapes.shape(x), shapes.shape(q))
    with control_dependencies([grad]):
        return [None, to_q(-x * zeta(x + 1, q) * grad)]


zeta_op.samples(
    ([1.5, 2.0, 4.0], f32(3, **POSITIVE), OF_FLOATS), ([[3.0], [2.0]], f32(3, **POSITIVE), OF_FLOATS)
)


@export("zeta", "math.zeta")
def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + n) ** -x over n from 0."""
    return zeta_op(x, q, name=name)


polygamma_op = Op("Polygamma", "a: T, x: T -> z: T", T=REAL_PARTS)
polygamma_op.shape(broadcast_shapes)


@polygamma_op.kernel
def _polygamma_kernel(a, x):
    """Derivatives of digamma are zetas; order 0 is digamma itself, and what is no order is no number."""
    order = a + 1
    sign = 1 - 2 * torch.remainder(order, 2)
    derivative = sign * torch.exp(torch.lgamma(order)) * torch.special.zeta(order, x)
    return _nan_where((a < 0) | (a != a.floor()), torch.where(a == 0, torch.digamma(x), derivative))


@polygamma_op.gradient
def _polygamma_gradient(op, grad):
    a, x = op.inputs
    _, to_x = unbroadcast.ways_back(shapes.shape(a), shapes.shape(x))
    with control_dependencies([grad]):
        return [None, to_x(polygamma(a + 1, x) * grad)]


polygamma_op.samples(
    ([0.0, 1.0, 2.0], f32(3, **POSITIVE), OF_FLOATS), (3.0, f32(2, 3, **POSITIVE), OF_FLOATS)
)


@export("polygamma", "math.polygamma")
def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative of order `a` of the digamma function."""
    return polygamma_op(a, x, name=name)


# -------------------------------------------------------------------------------- incomplete beta

betainc_op = Op("Betainc", "a: T, b: T, x: T -> z: T", T=REAL_PARTS)


@betainc_op.shape
def _betainc_shape(a, b, x):
    whole = [shape for shape in (a, b, x) if shape.ndims != 0]
    if not whole:
        return []
    shape = whole[0]
    for other in whole[1:]:
        shape = merged(shape, other)
    return shape


def _away_from_zero(x: torch.Tensor, tiny: float) -> torch.Tensor:
    return torch.where(x.abs() < tiny, tiny, x)


def _beta_fraction(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The continued fraction 1 + d1 / (1 + d2 / (1 + ...)) of the incomplete beta, by Lentz's method."""
    tiny = 1e-300
    upper = torch.ones_like(x)
    lower = torch.zeros_like(x)
    value = torch.ones_like(x)
    for m in range(10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) if m else None
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for factor in (odd,) if even is None else (even, odd):
            lower = _away_from_zero(1 + factor * lower, tiny).reciprocal()
            upper = _away_from_zero(1 + factor / upper, tiny)
            change = upper * lower
            value = value * change
        if not bool(((change - 1).abs() > 1e-16).any()):
            break
    return value


@betainc_op.kernel
def _betainc_kernel(a, b, x):
    dtype = x.dtype
    a, b, x = torch.broadcast_tensors(a.double(), b.double(), x.double())
    swap = x > (a + 1) / (
        a + b + 2
    )  # the fraction converges fast on one side of the mean; the other is its complement
    p, q, t = torch.where(swap, b, a), torch.where(swap, a, b), torch.where(swap, 1 - x, x)
    beta = torch.lgamma(p) + torch.lgamma(q) - torch.lgamma(p + q)
    part = torch.exp(p * torch.log(t) + q * torch.log1p(-t) - beta) / (p * _beta_fraction(p, q, t))
    value = torch.where(swap, 1 - part, part)
    value = torch.where(x == 0, 0.0, torch.where(x == 1, 1.0, value))
    return _nan_where((a <= 0) | (b <= 0) | (x < 0) | (x > 1), value).to(dtype)


@betainc_op.gradient
def _betainc_gradient(op, grad):
    a, b, x = op.inputs
    _, to_x = unbroadcast.ways_back(shapes.shape(a), shapes.shape(x))
    log_beta = unary.lgamma(a) + unary.lgamma(b) - unary.lgamma(a + b)
    by_x = unary.exp((b - 1) * unary.log(1 - x) + (a - 1) * unary.log(x) - log_beta)
    return [None, None, to_x(by_x * grad)]


betainc_op.samples(
    (2.0, 3.0, f32(2, 3, low=0.1, high=0.9), OF_FLOATS),
    ([0.5, 1.0, 4.0], [2.0, 0.7, 1.5], f32(3, low=0.1, high=0.9), OF_FLOATS),
)
betainc_op.refuses((f32(2, 3), f32(2, 3), f32(3)), "Shapes must be equal rank, but are 2 and 1")


@export("betainc", "math.betainc")
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized incomplete beta integral."""
    return betainc_op(a, b, x, name=name)


@export("math.bessel_i0")
def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return unary.exp(unary.abs(x)) * bessel_i0e(x)


@export("math.bessel_i1")
def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return unary.exp(unary.abs(x)) * bessel_i1e(x)


@export("lbeta", "math.lbeta")
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the beta function of the numbers along the last axis."""
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        of_each = reductions.reduce_sum(unary.lgamma(x), axis=[-1])
        return of_each - unary.lgamma(reductions.reduce_sum(x, axis=[-1]))
