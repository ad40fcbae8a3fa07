"""Functions of many float32 numbers on a CPU, where NumPy's take less time than ATen's.

ATen has them from MKL. There the hyperbolic tangent takes ten times as long, the logarithm twice; and all but
the tangent have a cliff: of zeros, of what is denormal, or where the result is, they take five to sixty times
as long. So did a masked sum of exponentials, or the square root of an optimizer's state that no gradient has
touched. NumPy's take the same time for all numbers.

ATen's are right to the last bit, NumPy's within four units of it, its square root exactly. Compiled steps
have the compiler's own, but for the tangent: a quotient of polynomials (`quotient`), which a compiler fuses
with what stands around it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes

FEWEST = 1024  # elements; fewer are computed as quickly by ATen
_MOST_CORES = 8  # with more, ATen's threads together are as quick where there are very many elements
_VERY_MANY = 1 << 16


@functools.cache
def _is_vectorized() -> bool:
    """Whether NumPy has vector instructions for them here; where it has none, ATen's are the quicker ones."""
    return torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


def is_for_numpy(node: Any, allowed: tuple = (dtypes.float32,)) -> bool:
    """Whether a node takes a function of enough numbers, of a type that is allowed, on the CPU."""
    count = node.outputs[0].shape.num_elements()
    if count is None or count <= FEWEST or any(value.dtype not in allowed for value in node.inputs):
        return False
    if node.device is not None and node.device.type != "cpu" or not _is_vectorized():
        return False
    return count < _VERY_MANY or (os.cpu_count() or 1) <= _MOST_CORES


Function = Callable[[torch.Tensor], torch.Tensor]


def _of_numpy(function: np.ufunc, aten: Function, over: Function) -> tuple[Function, Function]:
    """NumPy's function, and its form that writes over the argument. Of other than float32 numbers, and of
    fake tensors, which have none, they are ATen's, which compilers know.
    """

    def new(x: torch.Tensor) -> torch.Tensor:
        if not _has_floats(x):
            return aten(x)
        with np.errstate(all="ignore"):
            return torch.from_numpy(function(x.numpy()))

    def written_over(x: torch.Tensor) -> torch.Tensor:
        if not _has_floats(x):
            return over(x)
        numbers = x.numpy()
        with np.errstate(all="ignore"):
            function(numbers, out=numbers)
        return x

    new.__name__, written_over.__name__ = function.__name__, f"{function.__name__}_"
    return new, written_over


def _has_floats(x: torch.Tensor) -> bool:
    """Whether NumPy computes functions of them quickly."""
    return type(x) is torch.Tensor and x.dtype is torch.float32 and x.is_cpu and x.dim() > 0


tanh, tanh_ = _of_numpy(np.tanh, torch.tanh, torch.Tensor.tanh_)
exp, exp_ = _of_numpy(np.exp, torch.exp, torch.Tensor.exp_)
log, log_ = _of_numpy(np.log, torch.log, torch.Tensor.log_)
sqrt, sqrt_ = _of_numpy(np.sqrt, torch.sqrt, torch.Tensor.sqrt_)
REUSING = {tanh: tanh_, exp: exp_, log: log_, sqrt: sqrt_}  # the forms that write over their argument


TESTED = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_TESTED = tuple(dtype.torch for dtype in TESTED)


def _tells(function: np.ufunc, aten: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """NumPy's test of numbers, or of pairs of numbers, in a fifth of the time of ATen's."""

    def test(*numbers: torch.Tensor) -> torch.Tensor:
        if not all(type(x) is torch.Tensor and x.dtype in _TESTED and x.is_cpu for x in numbers):
            return aten(*numbers)
        return torch.from_numpy(np.asarray(function(*(x.numpy() for x in numbers))))

    test.__name__ = function.__name__
    return test


TESTS = {
    aten: _tells(function, aten)
    for aten, function in {
        torch.lt: np.less,
        torch.le: np.less_equal,
        torch.gt: np.greater,
        torch.ge: np.greater_equal,
        torch.eq: np.equal,
        torch.ne: np.not_equal,
        torch.isnan: np.isnan,
        torch.isinf: np.isinf,
        torch.isfinite: np.isfinite,
    }.items()
}  # by ATen's function


def of_truths(
    aten: Callable[..., torch.Tensor],
    of_numpy: Callable[..., Any],
    truths: torch.Tensor,
    axes: Sequence[int],
    keep_dims: bool = False,
) -> torch.Tensor:
    """Whether all, or any, along the axes hold: by NumPy, in a tenth of the time of ATen's."""
    if type(truths) is not torch.Tensor or not truths.is_cpu:
        return aten(truths, axes, keep_dims)
    return torch.from_numpy(np.asarray(of_numpy(truths.numpy(), tuple(axes), keepdims=keep_dims)))


def has_zeros(x: torch.Tensor) -> bool:
    """Whether a number is zero; yes where that would not be found out quickly."""
    if type(x) is not torch.Tensor or not x.is_cpu or x.dtype not in _TESTED:
        return True
    return bool((x.numpy() == 0).any())


_SEARCHED = (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.int8)


def is_for_search(x: torch.Tensor) -> bool:
    """Whether NumPy finds extremes among these numbers, in a tenth of ATen's time: no NaN is among them."""
    if type(x) is not torch.Tensor or not x.is_cpu or x.dtype not in _SEARCHED or not x.is_contiguous():
        return False
    return bool(x.numel()) and not (x.is_floating_point() and bool(x.amax().isnan()))


def search(find: Callable[..., Any], x: torch.Tensor, axis: int) -> torch.Tensor:
    """What NumPy's `argmax` or `argmin` finds along an axis: the first of equals."""
    return torch.from_numpy(np.asarray(find(x.numpy(), axis)))


_FEWEST_CHOSEN = 1 << 15  # elements; fewer are chosen as quickly by ATen


_BITS = {4: torch.int32, 8: torch.int64}


def where(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Chooses elements of `x` or `y`. ATen does so with a branch, which a processor that cannot foresee it
    takes in six times the time of choosing by bits.
    """
    if not _can_choose_by_bits(condition, x, y):
        return torch.where(condition, x, y)
    bits = _BITS[x.dtype.itemsize]
    mask = condition.view(torch.int8).neg().to(bits)  # all bits or none
    other = y.view(bits)
    return torch.bitwise_and(x.view(bits) ^ other, mask, out=mask).bitwise_xor_(other).view(x.dtype)


def _can_choose_by_bits(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> bool:
    if type(condition) is not torch.Tensor or not condition.is_cpu or condition.numel() < _FEWEST_CHOSEN:
        return False
    if x.dtype is not y.dtype or x.dtype not in _TESTED:
        return False
    return all(
        part.is_contiguous() and (part.shape == condition.shape or not part.dim())
        for part in (condition, x, y)
    )


def by_numpy(
    function: Callable[..., torch.Tensor], allowed: tuple = (dtypes.float32,)
) -> Callable[[Any], tuple[Callable[..., torch.Tensor], Any] | None]:
    """The `specialize` rule of an op whose kernel has NumPy's function in its place."""
    return lambda node: (function, node.inputs) if is_for_numpy(node, allowed) else None


# The odd polynomial of degree 13 and the even one of degree 6 whose quotient Eigen and XLA compute.
_ABOVE = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
_BELOW = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
_LARGEST = 7.90531110763549805  # beyond it the quotient is no better than 1
_SMALLEST = 4e-4  # below it the tangent is its argument


def quotient(x: torch.Tensor) -> torch.Tensor:
    """The tangent by polynomials, as a compiler is given it; within eight units in the last place. Of few
    numbers it saves nothing, and a thousand such in a row take a compiler many minutes.
    """
    if x.dtype is not torch.float32 or x.device.type != "cpu" or x.numel() <= FEWEST:
        return NotImplemented
    near = x.clamp(-_LARGEST, _LARGEST)
    square = near * near
    above, below = (_polynomial(square, coefficients) for coefficients in (_ABOVE, _BELOW))
    return torch.where(x.abs() < _SMALLEST, x, near * above / below)


def _polynomial(x: torch.Tensor, coefficients: tuple[float, ...]) -> torch.Tensor:
    first, second, *others = coefficients
    value = x * first + second
    for coefficient in others:
        value = value * x + coefficient
    return value
