"""Element types: `DType`, one object per type, with its NumPy and torch counterparts.

A type is known by its number in TensorFlow's `types.proto`. Every type has a reference twin (number + 100):
the type of an edge that carries a variable's buffer instead of a value. Each number has exactly one `DType`.
"""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import ml_dtypes
import numpy as np

from tideflow.export import export, expose

if TYPE_CHECKING:
    import torch

    from tideflow.graph.typing import DTypeLike

    _TorchType: TypeAlias = torch.dtype  # inside DType, `torch` is an attribute

_REF = 100

(DT_INVALID, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_UINT8, DT_INT16, DT_INT8, DT_STRING) = range(8)
(DT_COMPLEX64, DT_INT64, DT_BOOL, DT_QINT8, DT_QUINT8, DT_QINT32, DT_BFLOAT16, DT_QINT16) = range(8, 16)
(DT_QUINT16, DT_UINT16, DT_COMPLEX128, DT_HALF, DT_RESOURCE, DT_VARIANT, DT_UINT32, DT_UINT64) = range(16, 24)

# Number, name, kind, NumPy type; the torch type has NumPy's name. Quantized values are stored as plain
# integers; the NumPy type that users see has one field, named as the type.
_TYPES: tuple[tuple[int, str, str, type | None], ...] = (
    (DT_FLOAT, "float32", "float", np.float32),
    (DT_DOUBLE, "float64", "float", np.float64),
    (DT_HALF, "float16", "float", np.float16),
    (DT_BFLOAT16, "bfloat16", "float", ml_dtypes.bfloat16),
    (DT_INT8, "int8", "int", np.int8),
    (DT_INT16, "int16", "int", np.int16),
    (DT_INT32, "int32", "int", np.int32),
    (DT_INT64, "int64", "int", np.int64),
    (DT_UINT8, "uint8", "uint", np.uint8),
    (DT_UINT16, "uint16", "uint", np.uint16),
    (DT_UINT32, "uint32", "uint", np.uint32),
    (DT_UINT64, "uint64", "uint", np.uint64),
    (DT_BOOL, "bool", "bool", np.bool_),
    (DT_COMPLEX64, "complex64", "complex", np.complex64),
    (DT_COMPLEX128, "complex128", "complex", np.complex128),
    (DT_QINT8, "qint8", "quantized", np.int8),
    (DT_QINT16, "qint16", "quantized", np.int16),
    (DT_QINT32, "qint32", "quantized", np.int32),
    (DT_QUINT8, "quint8", "quantized", np.uint8),
    (DT_QUINT16, "quint16", "quantized", np.uint16),
    (DT_STRING, "string", "string", np.object_),
    (DT_RESOURCE, "resource", "handle", None),
    (DT_VARIANT, "variant", "handle", None),
)


@export("DType", "dtypes.DType")
class DType:
    """The type of the elements of a tensor. `DType(n)` is the one object of number `n`.

    Args:
      type_enum: The number of the type in TensorFlow's `types.proto`.

    Attributes:
      name: The type's name, `"float32"` or, for a reference, `"float32_ref"`.
      as_datatype_enum: The type's number in `types.proto`.
      base_dtype: The type without the reference.
      real_dtype: The type of the real and imaginary parts of a complex type; any other type itself.
      size: The number of bytes of one element.
      numpy: The NumPy type of the arrays that a step takes and returns, None for handles.
      torch: The torch dtype of the buffers, None for strings and handles.
      is_bool: Whether the type is `tf.bool`.
      is_complex: Whether the type is a complex floating-point type.
      is_floating: Whether the type is a real floating-point type.
      is_integer: Whether the type is a signed or unsigned integer, and not a quantized one.
      is_numpy_compatible: Whether NumPy has a type for the elements.
      is_quantized: Whether the type is a quantized integer.
      is_unsigned: Whether the type is an unsigned integer.
    """

    name: str
    as_datatype_enum: int
    base_dtype: DType
    real_dtype: DType
    size: int
    numpy: type[object] | None
    torch: _TorchType | None
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_numpy_compatible: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    _as_ref: DType
    _is_ref_dtype: builtins.bool

    __slots__ = (
        "__weakref__",
        "_as_ref",
        "_is_ref_dtype",
        "as_datatype_enum",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "name",
        "numpy",
        "real_dtype",
        "size",
        "torch",
    )

    def __new__(cls, type_enum: int) -> DType:
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}") from None

    def __getattr__(self, name: str) -> Any:
        """`torch`, when the first type is asked for it: programs that only read files never load torch."""
        if name != "torch":
            raise AttributeError(f"'DType' object has no attribute {name!r}")
        _pair_with_torch()
        return self.torch

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type of the elements: `object` for strings, one field of integers for quantized types."""
        if self.numpy is None:
            raise TypeError(f"{self} has no NumPy type: its values are handles, not arrays.")
        return _with_field(self.base_dtype) if self.is_quantized else self.numpy

    @property
    def min(self) -> Any:
        """The smallest value of the type; TypeError where the type has no order or no bounds."""
        return self._bounds("minimum").min

    @property
    def max(self) -> Any:
        """The largest value of the type; TypeError where the type has no order or no bounds."""
        return self._bounds("maximum").max

    def _bounds(self, which: str) -> Any:
        if self.is_integer:
            return np.iinfo(self.numpy)
        if self.is_floating:
            return ml_dtypes.finfo(self.numpy)  # type: ignore[no-untyped-call]
        raise TypeError(f"Cannot find {which} value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of an image's intensities in this type: 0 to 1, or 0 to the largest integer."""
        if self.is_floating:
            return (0, 1)
        if self.is_bool:
            return (False, True)
        return (0, self.max)

    def is_compatible_with(self, other: DTypeLike) -> builtins.bool:
        """Whether a tensor of type `other` may be used where this type is required.

        Args:
          other: A DType, or anything that `tf.as_dtype` accepts.

        Returns:
          True where `other` is this type or a reference to it.
        """
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def __eq__(self, other: Any) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return "tf." + self.name

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"


@export("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value: DTypeLike) -> DType:
    """Converts a value that names an element type to its `DType`.

    Args:
      type_value: A `DType`, its number or name, a NumPy or torch dtype, or one of the Python types `float`,
        `bool` and `object` (strings).

    Returns:
      The `DType`.

    Raises:
      TypeError: If the value names no type.
    """
    if type(type_value) is DType:
        return type_value
    try:
        found = _FROM_ANYTHING.get(type_value)
    except TypeError:  # not hashable, so no type
        found = None
    if found is None:
        found = _from_uncommon(type_value)
    if found is None:
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return found


def _from_uncommon(value: Any) -> DType | None:
    """Types that are not in the table: torch types before the first use of one; sized strings, foreign byte
    orders and aliases of NumPy's such as `np.longlong`.
    """
    if not from_torch and "torch" in sys.modules:
        _pair_with_torch()
        return as_dtype(value)
    if isinstance(value, np.dtype):
        if value.kind in "SU":
            return string
        return None if value.kind == "V" else from_numpy.get(value.newbyteorder("="))
    if isinstance(value, type) and issubclass(value, np.number):
        try:
            return from_numpy.get(np.dtype(value))
        except TypeError:  # an abstract type such as np.floating
            return None
    return None


def _with_field(dtype: DType) -> np.dtype[Any]:
    """The NumPy type of a quantized type: its integers, in a field that marks them as quantized."""
    return np.dtype([(dtype.name, dtype.numpy)])


def _make(enum: int, name: str, kind: str, numpy: type | None) -> DType:
    dtype = object.__new__(DType)
    dtype.as_datatype_enum = enum
    dtype.name = name
    dtype.size = np.dtype(numpy).itemsize if numpy else 1
    dtype.is_bool = kind == "bool"
    dtype.is_complex = kind == "complex"
    dtype.is_floating = kind == "float"
    dtype.is_integer = kind in ("int", "uint")
    dtype.is_numpy_compatible = numpy is not None
    dtype.is_quantized = kind == "quantized"
    dtype.is_unsigned = kind == "uint"
    dtype.base_dtype = dtype.real_dtype = dtype._as_ref = dtype
    dtype._is_ref_dtype = False
    dtype.numpy = object if kind == "string" else numpy
    return dtype


def _make_all() -> dict[int, DType]:
    by_enum = {}
    for enum, name, kind, numpy in _TYPES:
        base = by_enum[enum] = _make(enum, name, kind, numpy)
        ref = by_enum[enum + _REF] = _make(enum + _REF, name + "_ref", kind, numpy)
        ref.base_dtype, ref._is_ref_dtype = base, True
        base._as_ref = ref
    for whole, part in ((DT_COMPLEX64, DT_FLOAT), (DT_COMPLEX128, DT_DOUBLE)):
        by_enum[whole].real_dtype = by_enum[whole + _REF].real_dtype = by_enum[part]
    return by_enum


_BY_ENUM = _make_all()

float16 = half = DType(DT_HALF)
float32 = DType(DT_FLOAT)
float64 = double = DType(DT_DOUBLE)
bfloat16 = DType(DT_BFLOAT16)
int8 = DType(DT_INT8)
int16 = DType(DT_INT16)
int32 = DType(DT_INT32)
int64 = DType(DT_INT64)
uint8 = DType(DT_UINT8)
uint16 = DType(DT_UINT16)
uint32 = DType(DT_UINT32)
uint64 = DType(DT_UINT64)
bool = DType(DT_BOOL)
complex64 = DType(DT_COMPLEX64)
complex128 = DType(DT_COMPLEX128)
qint8 = DType(DT_QINT8)
qint16 = DType(DT_QINT16)
qint32 = DType(DT_QINT32)
quint8 = DType(DT_QUINT8)
quint16 = DType(DT_QUINT16)
string = DType(DT_STRING)
resource = DType(DT_RESOURCE)
variant = DType(DT_VARIANT)

float16_ref = half_ref = float16._as_ref
float32_ref = float32._as_ref
float64_ref = double_ref = float64._as_ref
bfloat16_ref = bfloat16._as_ref
int8_ref = int8._as_ref
int16_ref = int16._as_ref
int32_ref = int32._as_ref
int64_ref = int64._as_ref
uint8_ref = uint8._as_ref
uint16_ref = uint16._as_ref
uint32_ref = uint32._as_ref
uint64_ref = uint64._as_ref
bool_ref = bool._as_ref
complex64_ref = complex64._as_ref
complex128_ref = complex128._as_ref
qint8_ref = qint8._as_ref
qint16_ref = qint16._as_ref
qint32_ref = qint32._as_ref
quint8_ref = quint8._as_ref
quint16_ref = quint16._as_ref
string_ref = string._as_ref
resource_ref = resource._as_ref
variant_ref = variant._as_ref

QUANTIZED_DTYPES = frozenset(dtype for dtype in _BY_ENUM.values() if dtype.is_quantized)

# The DType of an array or a buffer. Arrays and buffers of a quantized type hold plain integers, so that no
# dtype of NumPy or torch stands for a quantized type.
_PLAIN = [dtype for dtype in _BY_ENUM.values() if not (dtype._is_ref_dtype or dtype.is_quantized)]
from_torch: dict[torch.dtype, DType] = {}
from_numpy: dict[np.dtype[Any], DType] = {np.dtype(dtype.numpy): dtype for dtype in _PLAIN if dtype.numpy}

for _dtype in _BY_ENUM.values():
    if not _dtype._is_ref_dtype:
        expose(_dtype, _dtype.name, f"dtypes.{_dtype.name}")
expose(float64, "double", "dtypes.double")
expose(float16, "half", "dtypes.half")
expose(QUANTIZED_DTYPES, "QUANTIZED_DTYPES", "dtypes.QUANTIZED_DTYPES")

_ALIASES = {"float": float32, "double": float64, "half": float16}


def kernel_name(dtype: DType) -> str:
    """A type's name in the messages of TensorFlow's kernels."""
    return next((name for name, meaning in _ALIASES.items() if meaning is dtype), dtype.name)


_FROM_ANYTHING: dict[Any, DType] = {
    **_BY_ENUM,
    **{dtype.name: dtype for dtype in _BY_ENUM.values()},
    **_ALIASES,
    **{name + "_ref": dtype._as_ref for name, dtype in _ALIASES.items()},
    **from_numpy,
    **{dtype.type: meaning for dtype, meaning in from_numpy.items()},
    **{_with_field(d): d for d in (qint8, qint16, qint32, quint8, quint16)},
    float: float32,
    builtins.bool: bool,
    object: string,
    np.str_: string,
    np.bytes_: string,
}


def _pair_with_torch() -> None:
    """Gives every type its torch type."""
    import torch  # loaded when asked for

    for dtype in _BY_ENUM.values():
        dtype.torch = None if dtype.numpy in (None, object) else getattr(torch, np.dtype(dtype.numpy).name)
    from_torch.update({dtype.torch: dtype for dtype in _PLAIN if dtype.torch})
    _FROM_ANYTHING.update(from_torch)
