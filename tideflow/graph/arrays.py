"""Python values as NumPy arrays, by TensorFlow's rules: floats become float32, ints int32 where they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import Dimension, TensorShape

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

_ACCEPTED: dict[str, tuple[type, ...]] = {  # Python types that an element of each kind of dtype may have
    "bool": (bool, np.bool_),
    "string": (str, bytes, np.str_, np.bytes_),
    "int": (int, np.bool_, np.integer, Dimension),
    "float": (int, float, np.bool_, np.integer, np.floating),
    "complex": (int, float, complex, np.number),
}


def as_array(value: Any, dtype: DTypeLike | None = None) -> np.ndarray:
    """The array that a constant of this value holds: always a copy."""
    if type(value) is float and dtype is None:
        return np.array(value, np.float32)  # a short path for the most common constants
    dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, TensorShape):
        value = value.as_list()
        dtype = dtype or (dtypes.int64 if any(size >= 2**31 for size in value) else dtypes.int32)
    if hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
        return _from_numpy(np.asarray(value), dtype)
    return _from_python(value, dtype)


def refuse_tensors(value: Any) -> None:
    """TypeError for a tensor, or a list with one, in place of the value of a constant."""
    if hasattr(value, "op") or isinstance(value, (list, tuple)) and any(hasattr(v, "op") for v in value):
        raise TypeError("List of Tensors when single Tensor expected")


def typed_array(value: Any, dtype: DTypeLike | None = None) -> tuple[np.ndarray, DType]:
    """The array that a constant of this value holds, and its type.

    The array of a quantized type holds plain integers, so its dtype alone does not say the type.
    """
    if dtype is None and isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "V":
        dtype = dtypes.as_dtype(value.dtype)
    array = as_array(value, dtype)
    return array, dtype_of_array(array) if dtype is None else dtypes.as_dtype(dtype)


def dtype_of_array(array: np.ndarray) -> DType:
    """The dtype of an array; object arrays hold strings."""
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        if dtype is not None and dtype is not dtypes.string:
            if array.dtype.kind != "O":
                raise TypeError(f"Expected {dtype.name}, got {array.dtype} array instead.")
            return array.astype(dtype.numpy)
        if array.dtype.kind == "O":
            if set(map(type, array.ravel().tolist())) <= {bytes}:  # the form in which steps exchange strings
                return np.array(array, order="C")
            return _from_python(array.tolist(), dtype)
        return _bytes_array(array.astype(object))
    if dtype is dtypes.string:
        raise TypeError(f"Expected string, got an array of {array.dtype} instead.")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    return np.array(array, dtype=None if dtype is None else dtype.numpy, order="C")


def _from_python(value: Any, dtype: DType | None) -> np.ndarray:
    if dtype is not None and dtype.is_quantized:
        _check_fields(value, dtype)
        return np.array(value, dtype.as_numpy_dtype).astype(dtype.numpy)
    first = _check_elements(value, dtype)
    value = _without_dimensions(value)
    if dtype is dtypes.string or dtype is None and isinstance(first, (str, bytes)):
        return _bytes_array(_object_array(value))
    try:
        with np.errstate(over="ignore"):
            array = np.array(value, dtype=None if dtype is None else dtype.numpy, order="C")
    except OverflowError:
        if dtype is None:
            raise ValueError(f"{value!r} does not fit any integer type.") from None
        if (integers := _in_64_bits(value)) is not None and dtype is not dtypes.int64:
            return integers.astype(dtype.numpy)  # the lowest bits: -1 is the largest unsigned number
        raise ValueError(f"Tensor conversion failed: {value!r} does not fit {dtype.name}.") from None
    except ValueError:
        raise _ragged(value, dtype) from None
    if dtype is not None:
        return array
    if not array.size and first is None:
        return array.astype(np.float32)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        return narrow if (narrow == array).all() else array
    if array.dtype == object:
        raise _unconverted(value)
    return array


def _in_64_bits(value: Any) -> np.ndarray | None:
    """The array of integers that int64 can hold; None for others."""
    try:
        return np.array(value, np.int64)
    except OverflowError:
        return None


def _check_fields(value: Any, dtype: DType) -> None:
    """Raises TypeError unless every element of a quantized type is written as NumPy writes it, `(3,)`."""
    if isinstance(value, list):
        for item in value:
            _check_fields(item, dtype)
    elif not (isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], (int, np.integer))):
        raise TypeError(f"Expected {dtype.name}, got {value!r} of type '{type(value).__name__}' instead.")


def _check_elements(value: Any, dtype: DType | None) -> Any:
    """Raises TypeError at the first element that cannot be of the dtype; returns the first element found."""
    accepted = _accepted(dtype)
    first = None
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)):
            stack.extend(reversed(item))
            continue
        if isinstance(item, np.ndarray):
            first = item.flat[0] if first is None and item.size else first
            continue
        if item is None:
            if dtype is not None:
                raise TypeError(f"Expected {dtype.name}, got None of type 'NoneType' instead.")
            raise ValueError("None values not supported.") if value is None else _unconverted(value)
        if dtype is not None and accepted and not isinstance(item, accepted):
            raise TypeError(f"Expected {dtype.name}, got {item!r} of type '{type(item).__name__}' instead.")
        if first is None:
            first = item
        elif accepted is None and isinstance(first, (str, bytes)) != isinstance(item, (str, bytes)):
            raise _unconverted(value)
    return first


def _unconverted(value: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting "
        "elements to a supported type."
    )


def _accepted(dtype: DType | None) -> tuple[type, ...] | None:
    if dtype is None:
        return None
    for kind, test in (
        ("bool", dtype.is_bool),
        ("string", dtype is dtypes.string),
        ("int", dtype.is_integer),
        ("float", dtype.is_floating),
        ("complex", dtype.is_complex),
    ):
        if test:
            return _ACCEPTED[kind]
    return None


def _without_dimensions(value: Any) -> Any:
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, (list, tuple)) and any(isinstance(item, (Dimension, list, tuple)) for item in value):
        return [_without_dimensions(item) for item in value]
    return value


def _object_array(value: Any) -> np.ndarray:
    """Nested strings as an object array. NumPy's own conversion would pad them to one width."""
    shape = _sizes(value)
    flat: list[Any] = []
    if not _flatten(value, shape, flat):
        raise _ragged(value, dtypes.string)
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)


def _flatten(value: Any, shape: list[int], flat: list[Any]) -> bool:
    """Adds the elements to `flat`; False where the value is not of this shape."""
    if not shape:
        flat.append(value)
        return True
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        return False
    return all(_flatten(item, shape[1:], flat) for item in value)


def _sizes(value: Any) -> list[int]:
    """The sizes of nested lists, along the first elements."""
    sizes = []
    while isinstance(value, (list, tuple)):
        sizes.append(len(value))
        value = value[0] if value else None
    return sizes


def _ragged(value: Any, dtype: dtypes.DType | None) -> ValueError | TypeError:
    wanted = _sizes(value)
    if (
        len(wanted) == 1 and dtype is None
    ):  # only what comes after the first element is a list: an array of objects
        return TypeError(
            f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting "
            "elements to a supported type."
        )
    found = next((n for n in range(1, len(wanted)) if not _flatten(value, wanted[: n + 1], [])), 1)
    return ValueError(
        f"Argument must be a dense tensor: {value!r} - got shape {wanted[:found]}, but wanted {wanted}. "
        "(setting an array element with a sequence.)"
    )


def _bytes_array(array: np.ndarray) -> np.ndarray:
    encoded = np.empty(array.size, dtype=object)
    encoded[:] = [
        item.encode() if isinstance(item, str) else bytes(item) if isinstance(item, bytes) else item
        for item in array.ravel().tolist()
    ]
    return encoded.reshape(array.shape)
