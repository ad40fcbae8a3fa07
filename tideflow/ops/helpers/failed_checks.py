"""What failed assertions say in eager mode, where tensors have values, and no names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.operation import Tensor

_ELEMENTS = 3  # of a tensor that are shown, unless a program says otherwise


def label(tensor: Any) -> str:
    """What messages call a tensor, or what else has a type: its name or, without one, what it is; in eager
    mode its shape and type.
    """
    if not getattr(tensor, "is_eager", False):
        return str(getattr(tensor, "name", tensor))
    return f"shape={tensor.shape} dtype={tensor.dtype.name}"


def name_or(tensor: Any, otherwise: str) -> str:
    """A tensor's name; `otherwise` in eager mode, where none has one."""
    return otherwise if getattr(tensor, "is_eager", False) else str(tensor.name)


def comparison_error(
    symbol: str,
    x: Any,
    y: Any,
    holds: Any,
    data: Sequence[Any] | None,
    summarize: int | None,
    message: str | None,
) -> errors.InvalidArgumentError:
    """The error of `x symbol y`, which `holds` in some elements only."""
    count = (
        _ELEMENTS
        if summarize is None
        else max(x._array().size, y._array().size)
        if summarize < 0
        else summarize
    )
    lines = list(_elements_of(symbol, x, y, holds, count) if data is None else data)
    shown = [_shown(line, count) for line in lines if line is not None]
    return errors.InvalidArgumentError(None, None, "\n".join(shown if message is None else [message, *shown]))


def _elements_of(symbol: str, x: Any, y: Any, holds: Any, count: int) -> Iterator[Any]:
    yield f"Condition x {symbol} y did not hold."
    if count <= 0:
        return
    left, right = x._array(), y._array()
    if left.shape == right.shape and left.ndim:
        differ = ~holds._array()
        places = np.argwhere(differ)[:count]
        yield f"Indices of first {len(places)} different values:"
        yield places
        yield "Corresponding x values:"
        yield left[differ][:count]
        yield "Corresponding y values:"
        yield right[differ][:count]
    for name, array in (("x", left), ("y", right)):
        flat = array.reshape(-1)[:count]
        yield f"First {flat.size} elements of {name}:"
        yield flat


def _shown(line: Any, count: int) -> str:
    if not isinstance(line, Tensor):
        return str(line)
    value = line.numpy()  # type: ignore[attr-defined]
    if np.isscalar(value):
        return str(value)
    return str(_first(value, count))


def _first(array: np.ndarray, count: int) -> list[str]:
    flat = array.reshape(-1)
    return [str(item) for item in flat[:count]] + ["..."] * (count < flat.size)


def condition_error(
    condition: Any, data: Sequence[Any], summarize: int | None
) -> errors.InvalidArgumentError:
    """The error of `tf.Assert` with a condition that is false, and tensors to show."""
    count = _ELEMENTS if summarize is None else summarize
    lines = []
    for tensor in data:
        array = tensor._array()
        lines.append(
            ", ".join(_first(array, array.size if count < 0 else count)) if array.ndim or count else ""
        )
    return errors.InvalidArgumentError(
        None, None, f"Expected '{condition}' to be true. Summarized data: " + "\n".join(lines)
    )
