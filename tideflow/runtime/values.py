"""Values on their way between NumPy and torch. Numbers are torch tensors inside a step, strings are object
arrays.
"""

from typing import Any

import ml_dtypes
import numpy as np
import torch

from tideflow.graph.dtypes import DType

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def to_torch(array: np.ndarray, device: Any = None) -> Any:
    """The array as a runtime value, sharing its memory on the CPU where its layout allows; strings stay
    arrays.
    """
    if array.dtype == object:
        return array
    if array.dtype == _BFLOAT16:
        tensor = torch.from_numpy(_plain(array.view(np.uint16))).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(_plain(array))
    return tensor if device is None or device.type == "cpu" else tensor.to(device)


def _plain(array: np.ndarray) -> np.ndarray:
    """torch takes neither negative strides, nor other byte orders, nor read-only memory without a warning."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        return array.copy()
    return array


def to_numpy(value: Any) -> np.ndarray:
    """The runtime value as an array; it may share the value's memory."""
    if isinstance(value, np.ndarray):
        return value
    value = value if value.is_cpu else value.cpu()
    if value.dtype == torch.bfloat16:
        return value.contiguous().view(torch.uint16).numpy().view(_BFLOAT16)
    if value.is_conj() or value.is_neg():
        value = value.resolve_conj().resolve_neg()
    return value.numpy()


def unshared(value: Any) -> Any:
    """The value for a state to keep: not in the memory of an array, which its owner may change later."""
    if isinstance(value, torch.Tensor) and not value.untyped_storage().resizable():
        return value.clone()
    return value


def host_value(value: Any) -> Any:
    """A tensor's value as Python numbers: what kernels take for sizes and axes."""
    return value.tolist()


def describe(value: Any) -> str:
    """dtype and shape of a runtime value, for people."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"string{list(value.shape)}"
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], torch.Tensor):
        return "[" + ", ".join(describe(item) for item in value) + "]"
    return repr(value)


def empty_like_type(dtype: DType, shape: tuple) -> Any:
    """A value of zeros (or empty strings)."""
    if dtype.torch is None:
        return np.full(shape, b"", dtype=object)
    return torch.zeros(shape, dtype=dtype.torch)
