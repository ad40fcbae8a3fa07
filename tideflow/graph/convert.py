"""From Python values to tensors: `convert_to_tensor` and the registry of conversion functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_Conversion: TypeAlias = Callable[..., Any]
_Types: TypeAlias = "type | tuple[type, ...]"

# Priority, order of registration, type(s), function.
_conversions: list[tuple[int, int, _Types, _Conversion]] = []
_by_type: dict[type, list[_Conversion]] = {}
_NUMBERS = (int, float, np.generic, np.ndarray)  # programs cannot register conversions of these


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: _Types, conversion_func: _Conversion, priority: int = 100
) -> None:
    """Registers how values of a type become tensors.

    Args:
      base_type: The type, or a tuple of types. Subclasses count too.
      conversion_func: Called as `conversion_func(value, dtype=dtype, name=name, as_ref=as_ref)`. `dtype` is
        the type that the tensor must have, or None. It returns a tensor, or `NotImplemented` to leave the
        value to the next function.
      priority: Functions of lower priority are tried first, those of equal priority in order of registration.

    Raises:
      TypeError: If `base_type` is no type or tuple of types, or `conversion_func` cannot be called.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(t, _NUMBERS) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions.append((priority, len(_conversions), base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[:2])
    _by_type.clear()


def _functions_for(cls: type) -> list[_Conversion]:
    found = _by_type.get(cls)
    if found is None:
        found = _by_type[cls] = [function for _, _, base, function in _conversions if issubclass(cls, base)]
    return found


@export("convert_to_tensor")
def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    *,
    as_ref: bool = False,
) -> Tensor:
    """Converts a value to a tensor of the default graph.

    A tensor is returned as it is, a variable is read, and other values become a constant. Lists and tuples
    may mix tensors and numbers: they are packed.

    Args:
      value: A tensor, a variable, an array, a number, a string, or nested lists of those.
      dtype: The type that the tensor must have. Without it, the type follows from the value: Python floats
        become float32, Python ints int32 where they fit and int64 otherwise.
      name: The name of the constant, if one is made.
      preferred_dtype: A type that is tried first where `dtype` is None. It has no effect if the value cannot
        have that type.
      dtype_hint: The same as `preferred_dtype`.
      as_ref: Whether a reference variable is converted to its reference instead of its value.

    Returns:
      The tensor.

    Raises:
      TypeError: If no conversion for the type of `value` is registered.
      ValueError: If `value` is a tensor of another type than `dtype`, or cannot be represented in `dtype`.
      RuntimeError: If a registered conversion returns anything but a tensor of the requested type.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: "
                f"{value!r}"
            )
        return value
    if preferred_dtype is None:
        preferred_dtype = dtype_hint
    elif dtype_hint is not None:
        raise ValueError("Cannot specify both 'preferred_dtype' and 'dtype_hint'")
    functions = _functions_for(type(value))
    if dtype is None and preferred_dtype is not None and _fits(value, dtypes.as_dtype(preferred_dtype)):
        preferred = dtypes.as_dtype(preferred_dtype)
        for function in functions:
            try:
                result = function(value, dtype=preferred, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                continue
            if isinstance(result, Tensor) and result.dtype.base_dtype is not preferred.base_dtype:
                raise TypeError(
                    "convert_to_tensor did not convert to the preferred dtype: "
                    f"{result.dtype.base_dtype!r} vs {preferred.base_dtype!r}"
                )
            if isinstance(result, Tensor):
                return result
    for function in functions:
        result = function(value, dtype=wanted, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"{_prefix(name)}Conversion function {function!r} for type {type(value)} returned "
                f"non-Tensor: {result!r}"
            )
        if wanted is not None and not wanted.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"{_prefix(name)}Conversion function {function!r} for type {type(value)} returned "
                f"incompatible dtype: requested = {wanted.base_dtype.name}, actual = {result.dtype.name}"
            )
        return result
    raise TypeError(
        f"{_prefix(name)}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function "
        "registered."
    )


def _fits(value: Any, preferred: dtypes.DType) -> bool:
    """Whether no integer of an array is cut off in a type that is only preferred."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "iu" or not value.size:
        return True
    return not preferred.is_integer or bool(preferred.min <= value.min() and value.max() <= preferred.max)


def _prefix(name: str | None) -> str:
    return f"Error converting {name}: " if name else ""


def convert_n_to_tensor(
    values: Sequence[TensorLike],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
) -> list[Tensor]:
    """Each value as a tensor; the arguments are those of `convert_to_tensor`."""
    if not isinstance(values, (Sequence, np.ndarray)):
        raise TypeError("values must be a sequence.")
    return [
        convert_to_tensor(v, dtype, name if name is None else f"{name}_{i}", preferred_dtype)
        for i, v in enumerate(values)
    ]


@export("is_tensor", "contrib.framework.is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a sparse tensor, indexed slices, or a variable.

    Args:
      x: Any Python object.

    Returns:
      True where functions of TensorFlow would treat `x` as a tensor, without making a constant of it.
    """
    return (
        isinstance(x, Tensor)
        or type(x).__name__ in ("SparseTensor", "IndexedSlices")
        or hasattr(x, "_as_graph_element")
    )
