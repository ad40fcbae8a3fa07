"""What random forests do to arrays: strings as numbers, and additions at places of a variable."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.ops.forests.helpers import TESTS
from tideflow.ops.helpers.samples import text

_MULTIPLIER, _SEED = 0xC6A4A7935BD1E995, 0xC70F6907
_MASK = 0xFFFFFFFFFFFFFFFF


def string_hash(text: bytes) -> int:
    """The hash of a string in GNU's C++ library, which is a 64-bit MurmurHash."""

    def mixed(number: int) -> int:
        return number ^ number >> 47

    found = _SEED ^ len(text) * _MULTIPLIER & _MASK
    whole = len(text) & ~7
    for place in range(0, whole, 8):
        word = int.from_bytes(text[place : place + 8], "little")
        word = mixed(word * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
        found = (found ^ word) * _MULTIPLIER & _MASK
    if rest := text[whole:]:
        found = (found ^ int.from_bytes(rest, "little")) * _MULTIPLIER & _MASK
    return mixed(mixed(found) * _MULTIPLIER & _MASK)


strings_as_numbers_op = Op(
    "ReinterpretStringToFloat", "input_data: string -> output_data: float", differentiable=False
)
strings_as_numbers_op.shape(lambda input_data: input_data)


@strings_as_numbers_op.kernel
def _strings_as_numbers_kernel(input_data):
    hashes = [float(string_hash(text)) for text in input_data.reshape(-1)]
    return torch.tensor(hashes, dtype=torch.float64).float().reshape(input_data.shape)


# What TensorFlow 1.15 says of these strings.
strings_as_numbers_op.samples(
    text("abc", "", "a longer string of bytes", "12345678"),
    against=lambda input_data: np.array([3.6637267e18, 6.1425091e18, 4.7853880e18, 1.0113837e19], np.float32),
)


scatter_add_ndim_op = Op(
    "ScatterAddNdim",
    "input: Ref(float), indices: int32, deltas: float",
    stateful=True,
    colocate="input",
    differentiable=False,
)
scatter_add_ndim_op.shape(lambda input, indices, deltas: [])


@scatter_add_ndim_op.kernel
def _scatter_add_ndim_kernel(input, indices, deltas):
    if indices.ndim != 2:
        raise errors.invalid_argument("indices should be two-dimensional")
    if not len(indices):
        return
    if len(indices) != (len(deltas) if deltas.ndim else 0):
        raise errors.invalid_argument("Number of updates should be same as number of indices.")
    with input as buffer:
        if buffer.ndim - indices.shape[1] != deltas.ndim - 1:
            raise errors.invalid_argument("Number of indices dimensions should be the same as input rank.")
        limits = indices.new_tensor(buffer.shape[: indices.shape[1]])
        if bool(((indices < 0) | (indices >= limits)).any()):
            raise errors.invalid_argument(
                f"indices must be within the shape {list(buffer.shape)} of input, but are {indices.tolist()}"
            )
        buffer.index_put_(tuple(indices.long().T), deltas, accumulate=True)


scatter_add_ndim_op.samples(covered_by=TESTS)
