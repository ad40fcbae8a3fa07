"""From Python values to tensors: `convert_to_tensor` and the registry of conversion functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor

_conversions: list[tuple[int, int, Any, Callable]] = []  # priority, order of registration, type(s), function
_by_type: dict[type, list[Callable]] = {}
_UNCONVERTIBLE: dict[type, list[Callable]] = {}


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable, priority: int = 100
) -> None:
    """Values of `base_type` become tensors by `conversion_func(value, dtype, name, as_ref)`; lower priority
    goes first.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions.append((priority, len(_conversions), base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[:2])
    _by_type.clear()


def _functions_for(cls: type) -> list[Callable]:
    found = _by_type.get(cls)
    if found is None:
        found = _by_type[cls] = [function for _, _, base, function in _conversions if issubclass(cls, base)]
    return found


@export("convert_to_tensor")
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    *,
    as_ref: bool = False,
) -> Tensor:
    """The tensor that stands for `value`: itself, a variable's value, or a constant in the default graph."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: "
                f"{value!r}"
            )
        return value
    if preferred_dtype is None:
        preferred_dtype = dtype_hint
    functions = _functions_for(type(value))
    if dtype is None and preferred_dtype is not None:
        preferred = dtypes.as_dtype(preferred_dtype)
        for function in functions:
            try:
                result = function(value, dtype=preferred, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                continue
            if result is not NotImplemented and result.dtype.base_dtype is preferred.base_dtype:
                return result
    for function in functions:
        result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"{_prefix(name)}Conversion function {function!r} for type {type(value)} returned "
                f"non-Tensor: {result!r}"
            )
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"{_prefix(name)}Conversion function {function!r} for type {type(value)} returned "
                f"incompatible dtype: requested = {dtype.base_dtype.name}, actual = {result.dtype.name}"
            )
        return result
    raise TypeError(
        f"{_prefix(name)}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function "
        "registered."
    )


def _prefix(name: str | None) -> str:
    return f"Error converting {name}: " if name else ""


def convert_n_to_tensor(
    values: Sequence[Any], dtype: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> list[Tensor]:
    """Each value as a tensor."""
    return [
        convert_to_tensor(v, dtype, name if name is None else f"{name}_{i}", preferred_dtype)
        for i, v in enumerate(values)
    ]


@export("is_tensor", "contrib.framework.is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether x is a tensor, a sparse one, or a variable."""
    return (
        isinstance(x, Tensor)
        or type(x).__name__ in ("SparseTensor", "IndexedSlices")
        or hasattr(x, "_as_graph_element")
    )
