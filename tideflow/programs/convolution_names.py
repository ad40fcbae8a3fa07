"""What layers of programs take from `tensorflow.python.keras.utils.conv_utils`: sizes around convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.layers.shapes import check_data_format, check_padding, tensor_format

_PADDINGS = ("same", "valid", "full", "causal")

normalize_data_format = check_data_format


def normalize_tuple(value: Any, n: int, name: str) -> tuple[Any, ...]:
    """A size for each of `n` dimensions; ValueError where `value` is neither a number nor `n` of them."""
    if isinstance(value, int):
        return (value,) * n
    refusal = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(refusal) from None
    if len(found) != n:
        raise ValueError(refusal)
    for each in found:
        try:
            int(each)
        except (ValueError, TypeError):
            raise ValueError(f"{refusal} including element {each} of type {type(each)}") from None
    return found


def normalize_padding(value: Any) -> Any:
    """The padding in small letters; a list of sizes as it is."""
    if isinstance(value, (list, tuple)):
        return value
    return check_padding(value, ("valid", "same", "causal"))


def convert_data_format(data_format: str, ndim: int) -> str:
    """The format of tensors as operations call it: `NHWC` for `channels_last` of rank 4."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in (3, 4, 5):
        raise ValueError("Input rank not supported:", ndim)
    return tensor_format(data_format, ndim)


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The length that a convolution gives."""
    if input_length is None:
        return None
    assert padding in _PADDINGS
    reach = (filter_size - 1) * dilation  # beyond a filter's first place
    length = input_length + {"valid": -reach, "full": reach}.get(padding, 0)
    return -(-length // stride)


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """A length of which a convolution gives `output_length`."""
    if output_length is None:
        return None
    return (output_length - 1) * stride - 2 * _padded(filter_size, padding) + filter_size


def _padded(filter_size: int, padding: str) -> int:
    """The places that a padding adds on a side."""
    assert padding in _PADDINGS[:3]
    return {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]


def deconv_output_length(
    input_length: int | None,
    filter_size: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> int | None:
    """The length that a transposed convolution gives; exactly where `output_padding` is given."""
    assert padding in _PADDINGS[:3]
    if input_length is None:
        return None
    size = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is not None:
        return (input_length - 1) * stride + size - 2 * _padded(size, padding) + output_padding
    more = {"valid": max(size - stride, 0), "full": -(stride + size - 2), "same": 0}
    return input_length * stride + more[padding]


def convert_kernel(kernel: Any) -> np.ndarray:
    """A kernel with its places the other way round, as Theano has them."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.flip(kernel, range(kernel.ndim - 2)).copy()
