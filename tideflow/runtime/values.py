"""Conversion of values between NumPy and torch.

Inside a step, numbers are torch tensors, strings object arrays.
"""

import re
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

from tideflow.graph.dtypes import DType

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def to_torch(array: np.ndarray, device: torch.device | None = None) -> Any:
    """The runtime value of an array. On the CPU it shares the array's memory, if the layout allows it."""
    if array.dtype == object:
        return array
    if array.dtype == _BFLOAT16:
        tensor = torch.from_numpy(_plain(array.view(np.uint16))).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(_plain(array))
    return tensor if device is None or device.type == "cpu" else tensor.to(device)


def _plain(array: np.ndarray) -> np.ndarray:
    """The array in a form that torch accepts: no negative strides, native byte order, writable."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        return np.array(array, order="C")
    return array


def to_numpy(value: Any) -> np.ndarray:
    """The runtime value as an array, which may share the value's memory."""
    if isinstance(value, np.ndarray):
        return value
    value = value if value.is_cpu else value.cpu()
    array: np.ndarray
    if value.dtype == torch.bfloat16:
        array = value.contiguous().view(torch.uint16).numpy().view(_BFLOAT16)
        return array
    if value.is_conj() or value.is_neg():
        value = value.resolve_conj().resolve_neg()
    array = value.numpy()
    return array


def unshared(value: Any) -> Any:
    """The value in memory of its own, for state: a fed array shares its memory with the user's program."""
    if isinstance(value, torch.Tensor) and not value.untyped_storage().resizable():
        return value.clone()
    return value


def host_value(value: Any) -> Any:
    """A tensor's value as Python numbers. Kernels take sizes and axes in this form."""
    return value.tolist()


def describe(value: Any) -> str:
    """The dtype and shape of a runtime value, as text for messages."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"string{list(value.shape)}"
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], torch.Tensor):
        return "[" + ", ".join(describe(item) for item in value) + "]"
    return repr(value)


# How torch and NumPy say that no memory is large enough.
_NO_MEMORY = re.compile(
    "can't allocate memory|(Storage size|Stride) calculation overflowed|integer multiplication overflow"
    "|array is too big|Maximum allowed (dimension|size) exceeded"
)


def is_out_of_memory(error: Exception) -> bool:
    """Whether NumPy or torch raised this because it could not allocate."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or bool(_NO_MEMORY.search(str(error)))


def empty_like_type(dtype: DType, shape: Sequence[int]) -> Any:
    """A value of zeros (or empty strings)."""
    if dtype.torch is None:
        return np.full(shape, b"", dtype=object)
    return torch.zeros(tuple(shape), dtype=dtype.torch)
