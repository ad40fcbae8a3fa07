"""What layers of programs take from `tensorflow.python.keras.utils.conv_utils`: sizes around convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
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


# ----------------------------------------------------------------------------- which inputs an output sees


def conv_output_shape(
    input_shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int], padding: str
) -> tuple[int, ...]:
    """The spatial sizes of a convolution's output.

    Args:
      input_shape: The spatial sizes of the input.
      kernel_shape: The sizes of the kernel.
      strides: The strides.
      padding: `"same"`, `"valid"`, `"causal"` or `"full"`.

    Returns:
      The sizes.
    """
    sizes = zip(input_shape, kernel_shape, strides, strict=True)
    found = (conv_output_length(size, kernel, padding, stride) for size, kernel, stride in sizes)
    return tuple(0 if size == 0 else out for size, out in zip(input_shape, found, strict=True))


def conv_connected_inputs(
    input_shape: Sequence[int],
    kernel_shape: Sequence[int],
    output_position: Sequence[int],
    strides: Sequence[int],
    padding: str,
) -> list[range]:
    """Which positions of the input a position of the output sees, along each axis.

    Args:
      input_shape: The spatial sizes of the input.
      kernel_shape: The sizes of the kernel.
      output_position: The position of the output.
      strides: The strides.
      padding: `"same"` or `"valid"`.

    Returns:
      A range for each axis.
    """
    ranges = []
    axes = zip(input_shape, kernel_shape, output_position, strides, strict=True)
    for size, kernel, position, stride in axes:
        left = kernel // 2
        center = position * stride + (left if padding == "valid" else 0)
        ranges.append(range(max(0, center - left), min(size, center + kernel - left)))
    return ranges


def _checked_axes(
    input_shape: Sequence[int], kernel_shape: Any, strides: Any, padding: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The kernel's sizes and strides along all axes; ValueError and NotImplementedError for others."""
    if padding not in {"same", "valid"}:
        raise NotImplementedError(
            f'Padding type {padding} not supported. Only "valid" and "same" are implemented.'
        )
    rank = len(input_shape)
    kernel = (kernel_shape,) * rank if isinstance(kernel_shape, int) else tuple(kernel_shape)
    steps = (strides,) * rank if isinstance(strides, int) else tuple(strides)
    if len(kernel) != rank or len(steps) != rank:
        raise ValueError(
            f"Number of kernel dimensions and of strides must be {rank}, that of the input: received "
            f"{len(kernel)} and {len(steps)}."
        )
    return kernel, steps


def conv_kernel_mask(input_shape: Sequence[int], kernel_shape: Any, strides: Any, padding: str) -> np.ndarray:
    """Which positions of the input each position of the output sees, as an array.

    Args:
      input_shape: The spatial sizes of the input.
      kernel_shape: The sizes of the kernel.
      strides: The strides.
      padding: `"same"` or `"valid"`.

    Returns:
      An array of the input's sizes and then the output's, True where the two are connected.
    """
    kernel, steps = _checked_axes(input_shape, kernel_shape, strides, padding)
    outputs = conv_output_shape(input_shape, kernel, steps, padding)
    mask = np.zeros((*input_shape, *outputs), bool)
    for position in itertools.product(*map(range, outputs)):
        seen = conv_connected_inputs(input_shape, kernel, position, steps, padding)
        mask[(*(slice(each.start, each.stop) for each in seen), *position)] = True
    return mask


def conv_kernel_idxs(
    input_shape: Sequence[int],
    kernel_shape: Any,
    strides: Any,
    padding: str,
    filters_in: int,
    filters_out: int,
    data_format: str,
) -> Iterator[tuple[int, int]]:
    """Which weights a locally connected layer has, as places in a matrix from outputs to inputs.

    Args:
      input_shape: The spatial sizes of the input.
      kernel_shape: The sizes of the kernel.
      strides: The strides.
      padding: `"same"` or `"valid"`.
      filters_in: The channels of the input.
      filters_out: The channels of the output.
      data_format: `"channels_first"` or `"channels_last"`.

    Yields:
      Pairs of the index of an output and that of an input, both flat.
    """
    kernel, steps = _checked_axes(input_shape, kernel_shape, strides, padding)
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f'Data format {data_format} not recognized.`data_format` must be "channels_first" or '
            '"channels_last".'
        )
    outputs = conv_output_shape(input_shape, kernel, steps, padding)
    first = data_format == "channels_first"

    def flat(position: tuple[int, ...], channel: int, sizes: Sequence[int], channels: int) -> int:
        where = (channel, *position) if first else (*position, channel)
        return int(np.ravel_multi_index(where, (channels, *sizes) if first else (*sizes, channels)))

    for position in itertools.product(*map(range, outputs)):
        seen = conv_connected_inputs(input_shape, kernel, position, steps, padding)
        for source in itertools.product(*seen):
            for channel_in, channel_out in itertools.product(range(filters_in), range(filters_out)):
                yield (
                    flat(position, channel_out, outputs, filters_out),
                    flat(source, channel_in, input_shape, filters_in),
                )
