"""From one element type to another: by value (casts) and by bits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import IndexedSlices, SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import get_eager_graph, name_scope
from tideflow.ops.helpers.axes import of_rank_at_least
from tideflow.ops.helpers.elementwise import of_known_elements, same_shape
from tideflow.ops.helpers.looking import has_symbols
from tideflow.ops.helpers.samples import boolean, c64, f32, i32
from tideflow.ops.helpers.types import types

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike, TensorOrRagged

# -------------------------------------------------------------------------------- casts

cast_op = Op("Cast", "x: SrcT -> y: DstT", Truncate=False, has_static_value=True)
cast_op.shape(same_shape)


@cast_op.value
def _cast_value(op):
    value = partial_value(op.inputs[0]) if op.outputs[0].dtype.is_integer else None
    if value is not None and has_symbols(np.array(value, dtype=object)):
        return value  # a size, of whichever integer type
    return of_known_elements(op)


_MANTISSA_BITS = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}
_BITS_OF = {torch.float64: torch.int64, torch.float32: torch.int32}


def _truncated(x: torch.Tensor, to: torch.dtype) -> torch.Tensor:
    """x without the bits of its mantissa that the smaller type has no room for."""
    dropped = _MANTISSA_BITS.get(x.dtype, 0) - _MANTISSA_BITS.get(to, 99)
    if dropped <= 0 or x.dtype not in _BITS_OF:
        return x
    return (x.view(_BITS_OF[x.dtype]) >> dropped << dropped).view(x.dtype)


@cast_op.kernel
def _cast_kernel(x, *, DstT, Truncate):
    if x.is_complex() and not DstT.is_complex:
        x = x.real
    return (_truncated(x, DstT.torch) if Truncate else x).to(DstT.torch)


@cast_op.kernel("string")
def _cast_string_kernel(x, *, SrcT, DstT):
    raise errors.unimplemented(f"Cast {errors.type_name(SrcT)} to {errors.type_name(DstT)} is not supported")


@cast_op.specialize
def _cast_specialized(node):
    source, target = node.attrs["SrcT"], node.attrs["DstT"]
    if node.attrs["Truncate"] or source.is_complex and not target.is_complex:
        return None
    if target.torch in _NAMED:  # quicker than `to`, which has to find out what it is given
        return _NAMED[target.torch], [node.inputs[0]]
    return torch.Tensor.to, [node.inputs[0], target.torch]


_NAMED = {
    torch.float64: torch.Tensor.double,
    torch.float32: torch.Tensor.float,
    torch.float16: torch.Tensor.half,
    torch.bfloat16: torch.Tensor.bfloat16,
    torch.int64: torch.Tensor.long,
    torch.int32: torch.Tensor.int,
    torch.bool: torch.Tensor.bool,
}


@cast_op.gradient
def _cast_gradient(op, grad):
    source, target = op.attrs["SrcT"], op.attrs["DstT"]
    smooth = source.is_floating or source.is_complex
    return cast(grad, source) if smooth and (target.is_floating or target.is_complex) else None


def _cast_by_numpy(x: np.ndarray, DstT: Any) -> np.ndarray:
    return (x.real if DstT.is_floating else x).astype(DstT.as_numpy_dtype)


cast_op.samples(
    (f32(2, 3, low=-9.0, high=9.0), {"DstT": dtypes.int32}),
    (f32(2, 3), {"DstT": dtypes.float64}),
    (f32(2, 3), {"DstT": dtypes.bool}),
    (i32(), {"DstT": dtypes.uint8}),
    (i32(0, 2), {"DstT": dtypes.float16}),
    (boolean(3), {"DstT": dtypes.float32}),
    (c64(3), {"DstT": dtypes.float32}),
    (f32(3), {"DstT": dtypes.complex64}),
    against=_cast_by_numpy,
)


@export("cast", "dtypes.cast", ragged="values")
def cast(x: TensorOrRagged | SparseTensor, dtype: DTypeLike, name: str | None = None) -> Any:
    """Converts elements to another type, by value.

    Args:
      x: A tensor, SparseTensor or IndexedSlices. Of complex numbers the real part is taken where `dtype` is
        real.
      dtype: The type to convert to.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type `dtype`; `x` itself where it is a tensor, or a resource variable,
      of that type.
    """
    target = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor):
        if x.dtype is target:
            return x
        graph = get_eager_graph()
        if graph is not None and x.is_eager and not x.dtype.is_complex:
            return graph.execute(cast_op, (x,), {"DstT": target}, name, (cast_op, x._key, target))
    elif getattr(x, "_is_resource_variable", False) and x.dtype is target:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, target, name=scope), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, target, name=scope), x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        source = x.dtype.base_dtype
        if source is target:
            return x
        if source.is_complex and target.is_floating:
            logging.getLogger("tensorflow").warning("Casting complex to real discards imaginary part.")
        return cast_op(x, DstT=target, name=scope)


# -------------------------------------------------------------------------------- bits

_SIZED = types(
    "bfloat16 half float double int64 int32 uint8 uint16 uint32 uint64 int8 int16 complex64 complex128 "
    "qint8 quint8 qint16 quint16 qint32"
)

bitcast_op = Op("Bitcast", "input: T -> output: type", T=_SIZED, type=_SIZED, differentiable=None)


def _sizes_as(new: DType, old: DType, sizes: tuple) -> tuple:
    """The shape of the same bits in another type: an element falls into parts, or parts make an element."""
    if old.size == new.size:
        return sizes
    if old.size > new.size:
        return (*sizes, old.size // new.size)
    parts = new.size // old.size
    if not sizes or sizes[-1] not in (None, parts):
        raise ShapeError(
            f"Cannot bitcast due to shape. {(sizes or (1,))[-1]} does not match {parts}",
            f"Cannot bitcast from {errors.type_name(old)} to {errors.type_name(new)}",
        )
    return sizes[:-1]


@bitcast_op.shape
def _bitcast_shape(input, *, T, type):
    if input.tuple is None:
        return input
    if T.size < type.size:
        of_rank_at_least(input, 1)
    return _sizes_as(type, T, input.tuple)


@bitcast_op.kernel
def _bitcast_kernel(input, *, T, type):
    sizes = _sizes_as(type, T, tuple(input.shape))
    return input.reshape(-1).contiguous().view(type.torch).reshape(sizes)


def _same_bytes(input: np.ndarray, type: DType) -> np.ndarray:
    """The bytes of all elements one after another, read anew."""
    sizes = input.shape
    if input.itemsize > type.size:
        sizes = (*sizes, input.itemsize // type.size)
    elif input.itemsize < type.size:
        sizes = sizes[:-1]
    return np.frombuffer(input.tobytes(), type.as_numpy_dtype).reshape(sizes)


bitcast_op.samples(
    (f32(2, 3), {"type": dtypes.int32}),
    (f32(), {"type": dtypes.uint8}),
    (i32(2, 2), {"type": dtypes.int64}),
    (f32(0, 2), {"type": dtypes.float64}),
    (f32(2, 4), {"type": dtypes.half}),
    against=_same_bytes,
)
bitcast_op.refuses((f32(3), {"type": dtypes.float64}), "Cannot bitcast due to shape. 3 does not match 2")


@export("bitcast")
def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """Reads the same bits as elements of another type.

    Args:
      input: A tensor of numbers.
      type: The type to read the bits as. If it is smaller, each element becomes a last axis of parts; if it
        is larger, the last axis must be as long as the parts that make an element, and goes.
      name: A name for the operation.

    Returns:
      A tensor of type `type`.

    Raises:
      ValueError: If the last axis does not make whole elements.
    """
    return bitcast_op(input, type=type, name=name)


@export("saturate_cast", "dtypes.saturate_cast", ragged="values")
def saturate_cast(value: TensorOrRagged, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Converts elements to another type; what lies beyond its range becomes the nearest number in it.

    Args:
      value: A tensor of real numbers.
      dtype: The type to convert to.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype` and the shape of `value`.
    """
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        source, target = value.dtype.base_dtype, dtypes.as_dtype(dtype).base_dtype
        if source.min < target.min:
            value = tf.maximum(value, convert_to_tensor(target.min, dtype=source, name="min"))
        if source.max > target.max:
            value = tf.minimum(value, convert_to_tensor(target.max, dtype=source, name="max"))
        return cast(value, target, name=scope)


@export("to_float")
def to_float(x: TensorLike | SparseTensor, name: str = "ToFloat") -> Any:
    """Converts elements to float32.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type float32.
    """
    return cast(x, dtypes.float32, name=name)


@export("to_double")
def to_double(x: TensorLike | SparseTensor, name: str = "ToDouble") -> Any:
    """Converts elements to float64.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type float64.
    """
    return cast(x, dtypes.float64, name=name)


@export("to_int32")
def to_int32(x: TensorLike | SparseTensor, name: str = "ToInt32") -> Any:
    """Converts elements to int32.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type int32.
    """
    return cast(x, dtypes.int32, name=name)


@export("to_int64")
def to_int64(x: TensorLike | SparseTensor, name: str = "ToInt64") -> Any:
    """Converts elements to int64.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type int64.
    """
    return cast(x, dtypes.int64, name=name)


@export("to_bfloat16")
def to_bfloat16(x: TensorLike | SparseTensor, name: str = "ToBFloat16") -> Any:
    """Converts elements to bfloat16.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type bfloat16.
    """
    return cast(x, dtypes.bfloat16, name=name)


@export("to_complex64")
def to_complex64(x: TensorLike | SparseTensor, name: str = "ToComplex64") -> Any:
    """Converts elements to complex64.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type complex64.
    """
    return cast(x, dtypes.complex64, name=name)


@export("to_complex128")
def to_complex128(x: TensorLike | SparseTensor, name: str = "ToComplex128") -> Any:
    """Converts elements to complex128.

    Args:
      x: A tensor, SparseTensor or IndexedSlices.
      name: A name for the operation.

    Returns:
      What `x` was, with elements of type complex128.
    """
    return cast(x, dtypes.complex128, name=name)
