"""Lists with tensors in them, as tensors: `[x, [1.0, y]]` is a Pack of x and another Pack."""

from __future__ import annotations

from typing import Any

from tideflow.graph import dtypes, nest
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.arrays.joining import pack_op
from tideflow.ops.math import casting


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element") and hasattr(value, "dtype")


def _type_of_tensors(values: Any) -> dtypes.DType | None:
    """The type of the first tensor in a nested list, None where there is none."""
    for value in values:
        if _is_tensor(value):
            return value.dtype.base_dtype
        found = _type_of_tensors(value) if isinstance(value, (list, tuple)) else None
        if found is not None:
            return found
    return None


def _part(value: Any, dtype: dtypes.DType, place: int) -> Any:
    if isinstance(value, (list, tuple)):
        return _packed(value, dtype, str(place))
    if _is_tensor(value) and value.dtype.base_dtype is not dtype:
        raise TypeError(
            f"Cannot convert a list containing a tensor of dtype {value.dtype} to {dtype} "
            f"(Tensor is: {value!r})"
        )
    return value


def _packed(values: Any, dtype: dtypes.DType, name: str) -> Any:
    """A nested list as one Pack of Packs; a list without tensors stays a list."""
    with name_scope(name) as scope:
        parts = [_part(value, dtype, i) for i, value in enumerate(values)]
        if not any(_is_tensor(part) for part in parts):
            return parts
        for i, part in enumerate(parts):
            if not _is_tensor(part):
                parts[i] = constants.constant(part, dtype, name=str(i))
        return pack_op(parts, name=scope)


def _pack_lists(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A list or tuple with tensors in it, as a tensor."""
    found = None if as_ref else _type_of_tensors(value)
    if found is None:
        return NotImplemented
    wanted = found if dtype is None else dtypes.as_dtype(dtype).base_dtype
    if wanted is not found:
        value = nest.map_structure(
            lambda item: casting.cast(item, wanted) if _is_tensor(item) else item, value
        )
    return _packed(value, wanted, name or "packed")


register_tensor_conversion_function((list, tuple), _pack_lists, 99)
