"""Numbers as text, and text as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import boolean, c64, f32, f64, i32, i64, text
from tideflow.ops.helpers.types import REAL, types
from tideflow.ops.strings.strings import each
from tideflow.runtime.values import to_numpy, to_torch


def _refusal(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


as_string_op = Op(
    "AsString",
    "input: T -> output: string",
    T=REAL + types("complex64 complex128 bool variant string"),
    precision=-1,
    scientific=False,
    shortest=False,
    width=-1,
    fill="",
    on_host=True,
    differentiable=False,
)
as_string_op.shape(same_shape)


def _style(dtype: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> str:
    """The format that C's printf takes, which is Python's too."""
    exact = not (dtype.is_floating or dtype.is_complex)
    if exact and (scientific or shortest):
        raise _refusal(f"scientific and shortest format not supported for datatype {dtype.name}")
    if exact and precision >= 0:
        raise _refusal(f"precision not supported for datatype {dtype.name}")
    if scientific and shortest:
        raise _refusal("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise _refusal("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise _refusal(f'Fill argument not supported: "{fill}"')
    kind = "d" if exact else "e" if scientific else "g" if shortest else "f"
    return f"%{fill}{width if width >= 0 else ''}{f'.{precision}' if precision >= 0 else ''}{kind}"


def _writer(style: str) -> Callable[[float], str]:
    """Writes floats as C does: no zeros before infinities, and NaN with its sign."""
    for_words = style.replace("%0", "%")

    def write(value: float) -> str:
        if value - value == 0:
            return style % value
        if value == value or not np.signbit(value):
            return for_words % value
        negative = for_words % -np.inf
        return negative.replace("inf", "nan")

    return write


# ------------------------------------------------------------------------------------------------ to text


@as_string_op.kernel
def _as_string_kernel(input, *, T, precision, scientific, shortest, width, fill):
    style = _style(T, precision, scientific, shortest, width, fill)
    if T is dtypes.string:
        return input
    if T.is_bool:
        return each(lambda value: b"true" if value else b"false", to_numpy(input))
    if T.is_integer:
        return each(lambda value: (style % value).encode(), to_numpy(input))
    write = _writer(style)
    if T.is_complex:
        return each(lambda z: f"({write(z.real)},{write(z.imag)})".encode(), to_numpy(input))
    return each(lambda value: write(value).encode(), to_numpy(input).astype(np.float64))


as_string_op.samples(
    (f32(2, 3),),
    (f64(3), {"precision": 3, "width": 9, "fill": "0"}),
    (f32(3), {"scientific": True}),
    (f32(), {"shortest": True, "fill": "+"}),
    (i32(4), {"width": 5, "fill": "-"}),
    (i64(0, 2),),
    (boolean(3),),
    (c64(2), {"precision": 1}),
    (text("kept"),),
)
as_string_op.refuses((i32(2), {"precision": 2}), "precision not supported", InvalidArgumentError)
as_string_op.refuses(
    (f32(2), {"scientific": True, "shortest": True}), "Cannot select both", InvalidArgumentError
)
as_string_op.refuses((f32(2), {"fill": "x"}), "Fill argument not supported", InvalidArgumentError)


@export("strings.as_string", "dtypes.as_string", "as_string")
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each number as text, in the format of C's printf that the arguments describe."""
    return as_string_op(
        input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=fill,
        name=name,
    )


string_to_number_op = Op(
    "StringToNumber",
    "string_tensor: string -> output: out_type",
    out_type=attr("type", dtypes.float32, allowed=types("float double int32 int64 uint32 uint64")),
    on_host=True,
    differentiable=False,
)
string_to_number_op.shape(same_shape)


@string_to_number_op.kernel
def _string_to_number_kernel(string_tensor, *, out_type):
    def number(data: bytes) -> float | int:
        found = parsed_number(data, out_type)
        if found is None:
            shown = data.decode("utf-8", "replace")
            raise _refusal(f"StringToNumberOp could not correctly convert string: {shown}")
        return found

    with np.errstate(over="ignore"):
        return to_torch(each(number, string_tensor).astype(out_type.as_numpy_dtype))


string_to_number_op.samples(
    (text("1", " -2.5e3 ", "0x1F", "inf", ".5"),),
    (text("-7", "9223372036854775807", shape=(2, 1)), {"out_type": dtypes.int64}),
    (text("12", shape=()), {"out_type": dtypes.int32}),
    (text("18446744073709551615"), {"out_type": dtypes.uint64}),
    (text(), {"out_type": dtypes.float64}),
)
string_to_number_op.refuses(
    (text("1", "two"),), "StringToNumberOp could not correctly convert string: two", InvalidArgumentError
)
string_to_number_op.refuses(
    (text("2147483648"), {"out_type": dtypes.int32}), "could not correctly convert", InvalidArgumentError
)


@export("strings.to_number", "string_to_number")
def string_to_number(
    string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None, input: Any = None
) -> Tensor:
    """Each string as a number; an error where one is none, or an integer too large."""
    strings = renamed("input", input, "string_tensor", string_tensor)
    return string_to_number_op(strings, out_type=out_type, name=name)


# ------------------------------------------------------------------------------------------------ to numbers

_FLOAT = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)", re.I)
_HEXADECIMAL = re.compile(rb"([+-]?)0x([0-9a-f]+)", re.I)
_INTEGER = re.compile(rb"-?\d+")


def parsed_number(data: bytes, dtype: DType) -> float | int | None:
    """The number that text stands for, by TensorFlow's rules: None where it is none, or out of range."""
    body = data.strip()
    if dtype.is_integer:
        number = int(body) if _INTEGER.fullmatch(body) else None
        return number if number is not None and dtype.min <= number <= dtype.max else None
    if _FLOAT.fullmatch(body):
        return float(body)
    hexadecimal = _HEXADECIMAL.fullmatch(body)
    if hexadecimal:
        return float(int(hexadecimal[1] + hexadecimal[2], 16))
    return 0.0 if data and not body else None
