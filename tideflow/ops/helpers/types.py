"""Sets of element types that ops allow, in TensorFlow's own order: the order in which errors list them."""

from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.schema import attr


def types(names: str) -> tuple[DType, ...]:
    """The dtypes of a line of names: `types("half float double")`."""
    return tuple(as_dtype(name) for name in names.split())


INDICES = types("int32 int64")
INDEX = attr("type", "int32", allowed=INDICES)  # the attribute: the type of sizes, axes and places
REAL_PARTS = types("float double")  # the types of the two halves of a complex number
COMPLEX = types("complex64 complex128")
FLOATS = types("bfloat16 half float double")
FLOATS_HALF_FIRST = types("half bfloat16 float double")
FLOATS_COMPLEX = FLOATS + COMPLEX
SIGNED = types("int8 int16 int32 int64")
UNSIGNED = types("uint8 uint16 uint32 uint64")
INTEGERS = SIGNED + UNSIGNED
QUANTIZED = types("qint8 quint8 qint32 qint16 quint16")
SIGNED_NUMBERS = FLOATS + SIGNED + COMPLEX  # whatever can be negated
REAL = types("float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64")
NUMERIC_OF_CONTRIB = types(
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 uint16 complex128 half "
    "uint32 uint64"
)
NUMERIC = types(
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 "
    "complex128 half uint32 uint64"
)
