"""Python values as the arrays of eager tensors, refused in the words that TensorFlow has for eager mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.arrays import typed_array
from tideflow.graph.op_errors import type_word
from tideflow.graph.shapes import Dimension, TensorShape

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_TEXTS = (str, bytes)
_NUMBERS = (bool, int, float, complex, np.generic, Dimension)


def eager_array(value: Any, dtype: DTypeLike | None) -> tuple[np.ndarray, dtypes.DType]:
    """The array that a tensor of this value holds, and its type.

    Raises:
      TypeError: If the value is of another type than `dtype`.
      ValueError: If the value is of no type that a tensor has, or no array.
    """
    try:
        return typed_array(value, dtype)
    except (TypeError, ValueError) as error:
        raise _refusal(value, dtype, error) from None


def _refusal(value: Any, dtype: DTypeLike | None, error: Exception) -> Exception:
    if isinstance(value, (np.ndarray, TensorShape)) or hasattr(value, "__array__"):
        return error
    items = list(_items(value))
    others = [item for item in items if not isinstance(item, (*_TEXTS, *_NUMBERS, np.ndarray))]
    if others and others[0] is items[0]:
        found = type(others[0])
        return ValueError(
            f"Attempt to convert a value ({others[0]!r}) with an unsupported type ({found}) to a Tensor."
        )
    if dtype is not None and isinstance(error, TypeError):
        word = type_word(dtypes.as_dtype(dtype).base_dtype)
        return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {word}")
    if others or len({isinstance(item, _TEXTS) for item in items}) > 1:
        return ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if dtype is None and any(isinstance(item, int) and not -(2**63) <= item < 2**63 for item in items):
        return ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if dtype is None and isinstance(value, (list, tuple)):
        return ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    return error


def _items(value: Any) -> Iterator[Any]:
    """The items of nested lists, one after the other."""
    if not isinstance(value, (list, tuple)):
        yield value
        return
    for item in value:
        yield from _items(item)
