"""How layers write sizes, padding and data formats, and what follows from them."""

from __future__ import annotations

from typing import Any

from tideflow.layers import keras_state


def sizes(value: Any, rank: int, name: str) -> tuple[int, ...]:
    """`value` for each of `rank` axes: one int for all, or as many as there are axes."""
    if isinstance(value, int):
        return (value,) * rank
    refusal = f"The `{name}` argument must be a tuple of {rank} integers. Received: {value}"
    try:
        items = list(value)
    except TypeError:
        raise ValueError(refusal) from None
    if len(items) != rank:
        raise ValueError(refusal)
    return tuple(_integer(item, refusal) for item in items)


def _integer(item: Any, refusal: str) -> int:
    try:
        return int(item)
    except (TypeError, ValueError):
        raise ValueError(f"{refusal} including element {item} of type {type(item)}") from None


def check_padding(value: Any, allowed: tuple[str, ...] = ("valid", "same")) -> Any:
    """One of the allowed kinds of padding, in small letters. Lists are passed on: the op decides on them."""
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower() if isinstance(value, str) else value
    if padding not in allowed:
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for '
            f"`Conv1D). Received: {value}"
        )
    return padding


def check_data_format(value: str | None) -> str:
    """ "channels_first" or "channels_last", in small letters; Keras's default for None."""
    value = keras_state.image_data_format() if value is None else value
    data_format = value.lower() if isinstance(value, str) else value
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}'
        )
    return data_format


def tensor_format(data_format: str, rank: int) -> str:
    """The ops' name for a layer's data format: NHWC, NCDHW …"""
    inner = {3: "W", 4: "HW", 5: "DHW"}[rank]
    return f"NC{inner}" if data_format == "channels_first" else f"N{inner}C"


def deconvolved_size(
    size: Any, filter_size: int, padding: str, stride: int, dilation: int = 1, extra: int | None = None
) -> Any:
    """The output size of a transposed convolution; a tensor in gives a tensor out. `extra` is what the
    program wants at the end, None for as little as possible.
    """
    if size is None:
        return None
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    if extra is None:
        size = size * stride
        return size + max(reach - stride, 0) if padding == "valid" else size
    around = reach // 2 if padding == "same" else 0
    return (size - 1) * stride + reach - 2 * around + extra


def convolved_size(
    size: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The output size of a convolution."""
    if size is None:
        return None
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    return -(-(size if padding in ("same", "causal") else size - reach + 1) // stride)
