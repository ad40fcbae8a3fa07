"""The hyperbolic tangent of many float32 numbers on a CPU: NumPy's takes a tenth of the time of ATen's.

ATen's is right to the last bit, NumPy's is within two units of it. A compiled step has neither of them but a
quotient of polynomials (`quotient`), which a compiler fuses with what stands around it.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes

FEWEST = 1024  # elements; fewer are computed as quickly by ATen
_MOST_CORES = 8  # with more, ATen's threads together are as quick where there are very many elements
_VERY_MANY = 1 << 16


@functools.cache
def _is_vectorized() -> bool:
    """Whether NumPy has vector instructions for it here; where it has none, ATen's is the quicker one."""
    return torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


def is_for_numpy(node: Any) -> bool:
    """Whether a node takes the function of enough float32 numbers on the CPU."""
    count = node.outputs[0].shape.num_elements()
    if count is None or count <= FEWEST or node.outputs[0].dtype is not dtypes.float32:
        return False
    if node.device is not None and node.device.type != "cpu" or not _is_vectorized():
        return False
    return count < _VERY_MANY or (os.cpu_count() or 1) <= _MOST_CORES


def tanh(x: torch.Tensor) -> torch.Tensor:
    """The function of any numbers; of fake tensors, which have none, it is the one that compilers know."""
    return torch.from_numpy(np.tanh(x.numpy())) if _has_floats(x) else torch.tanh(x)


def tanh_(x: torch.Tensor) -> torch.Tensor:
    """The same, written over its argument."""
    if not _has_floats(x):
        return x.tanh_()
    numbers = x.numpy()
    np.tanh(numbers, out=numbers)
    return x


def _has_floats(x: torch.Tensor) -> bool:
    """Whether NumPy computes the function of them quickly."""
    return type(x) is torch.Tensor and x.dtype is torch.float32 and x.is_cpu and x.dim() > 0


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
_SMALLEST = 4e-4  # below it the function is its argument


def quotient(x: torch.Tensor) -> torch.Tensor:
    """The function by polynomials, as a compiler is given it; within eight units in the last place. Of few
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
