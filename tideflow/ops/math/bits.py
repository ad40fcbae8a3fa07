"""The bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph.op import Op, not_differentiable
from tideflow.graph.operation import Tensor
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.elementwise import binary, same_shape, unary
from tideflow.ops.helpers.samples import i32
from tideflow.ops.helpers.types import INTEGERS


def bitwise(
    op_type: str, word: str, doc: str, kernel: Callable, against: Callable, **how: Any
) -> Callable[..., Tensor]:
    """Defines an op on the bits of two integers."""
    return binary(
        op_type,
        f"bitwise.{word}",
        doc,
        kernel,
        not_differentiable,
        types=INTEGERS,
        against=against,
        ragged="broadcast_values",
        **how,
    )


bitwise_and = bitwise(
    "BitwiseAnd",
    "bitwise_and",
    "The bits that both have.",
    torch.bitwise_and,
    np.bitwise_and,
    commutative=True,
)
bitwise_or = bitwise(
    "BitwiseOr",
    "bitwise_or",
    "The bits that one has, or both.",
    torch.bitwise_or,
    np.bitwise_or,
    commutative=True,
)
bitwise_xor = bitwise(
    "BitwiseXor",
    "bitwise_xor",
    "The bits that exactly one has.",
    torch.bitwise_xor,
    np.bitwise_xor,
    commutative=True,
)


def _shift(function: Callable) -> Callable:
    """A shift by a number of bits, which is brought into the range that the type has."""
    return lambda x, y: function(x, y.clamp(0, 8 * x.element_size() - 1))


left_shift = bitwise(
    "LeftShift", "left_shift", "x shifted left by y bits.", _shift(torch.bitwise_left_shift), np.left_shift
)
right_shift = bitwise(
    "RightShift",
    "right_shift",
    "x shifted right by y bits; negative numbers stay negative.",
    _shift(torch.bitwise_right_shift),
    np.right_shift,
    uint64=_shift(unsigned.shifted_right),
)
invert = unary(
    "Invert",
    "bitwise.invert",
    "Every bit flipped.",
    torch.bitwise_not,
    not_differentiable,
    types=INTEGERS,
    against=np.invert,
    ragged="values",
)

population_count_op = Op("PopulationCount", "x: T -> y: uint8", T=INTEGERS, differentiable=False)
population_count_op.shape(same_shape)


@population_count_op.kernel
def _population_count_kernel(x):
    octets = x.contiguous().unsqueeze(-1).view(torch.uint8)
    ones = sum((octets >> bit) & 1 for bit in range(8))
    return ones.sum(-1, dtype=torch.uint8)


population_count_op.samples(
    i32(2, 3), i32(), i32(0, 2), against=lambda x: np.bitwise_count(x.view(np.uint32))
)
