"""Numbers as text, and text as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
from tideflow.ops.helpers.integers import check_int32
from tideflow.ops.helpers.samples import boolean, c64, f32, f64, i32, i64, text
from tideflow.ops.helpers.types import REAL, types
from tideflow.ops.strings.strings import each
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorOrRagged


def _style(dtype: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> str:
    """The format that C's printf takes, which is Python's too."""
    exact = not (dtype.is_floating or dtype.is_complex)
    if exact and (scientific or shortest):
        raise errors.invalid_argument(
            f"scientific and shortest format not supported for datatype {dtype.name}"
        )
    if exact and precision >= 0:
        raise errors.invalid_argument(f"precision not supported for datatype {dtype.name}")
    if scientific and shortest:
        raise errors.invalid_argument("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise errors.invalid_argument("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise errors.invalid_argument(f'Fill argument not supported: "{fill}"')
    check_int32("precision", precision)
    check_int32("width", width)
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


def _as_string_reference(input, precision, scientific, shortest, width, fill):
    """By Python's format strings."""
    kind = "d" if input.dtype.kind == "i" else "e" if scientific else "g" if shortest else "f"
    layout = {"-": "<"}.get(fill, fill) + (str(width) if width >= 0 else "")
    layout += (f".{precision}" if precision >= 0 else "") + kind

    def written(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, bool):
            return str(value).lower().encode()
        if isinstance(value, complex):
            return f"({value.real:{layout}},{value.imag:{layout}})".encode()
        return f"{value:{layout}}".encode()

    return each(written, input.astype(object))


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
    against=_as_string_reference,
)
as_string_op.refuses((i32(2), {"precision": 2}), "precision not supported", InvalidArgumentError)
as_string_op.refuses(
    (f32(2), {"scientific": True, "shortest": True}), "Cannot select both", InvalidArgumentError
)
as_string_op.refuses((f32(2), {"fill": "x"}), "Fill argument not supported", InvalidArgumentError)


@export("strings.as_string", "dtypes.as_string", "as_string", ragged="values")
def as_string(
    input: TensorOrRagged,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Writes each element as text, as C's printf would.

    Args:
      input: A tensor of a numeric type, bool or string.
      precision: How many digits follow the point, of floating-point numbers only; -1 for printf's default.
      scientific: Whether floating-point numbers are written with an exponent.
      shortest: Whether floating-point numbers are written in the shorter of the two ways.
      width: How many characters a number has at least; -1 for no more than it needs.
      fill: printf's flag: "" (blanks in front), "0" (zeros), " ", "+" (a sign always), "-" (blanks behind).
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step, where arguments contradict each other or the type.
    """
    return as_string_op(
        input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=fill,
        name=name,
    )


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


_PLAIN = {True: b"0123456789-", False: b"0123456789-+.eE"}  # by whether the numbers are integers


def plain_numbers(items: list[bytes], dtype: DType) -> np.ndarray | None:
    """The numbers that texts of digits stand for, read in one go; None where some text is less plain, or no
    number: `parsed_number` decides about each then.
    """
    is_integer = dtype.is_integer
    if b"".join(items).translate(None, _PLAIN[is_integer]):
        return None
    try:
        if is_integer:
            numbers = np.array([*map(int, items)], np.int64)
            limits = np.iinfo(dtype.as_numpy_dtype)
            if numbers.size and (numbers.min() < limits.min or numbers.max() > limits.max):
                return None
        else:
            numbers = np.array([*map(float, items)], np.float64)
    except (ValueError, OverflowError):
        return None
    with np.errstate(over="ignore"):
        return numbers.astype(dtype.as_numpy_dtype)


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
    plain = plain_numbers(string_tensor.ravel().tolist(), out_type)
    if plain is not None:
        return to_torch(plain.reshape(string_tensor.shape))

    def number(data: bytes) -> float | int:
        found = parsed_number(data, out_type)
        if found is None:
            shown = data.decode("utf-8", "replace")
            raise errors.invalid_argument(f"StringToNumberOp could not correctly convert string: {shown}")
        return found

    with np.errstate(over="ignore"):
        return to_torch(each(number, string_tensor).astype(out_type.as_numpy_dtype))


_NUMBERS = {
    **{b"1": 1, b" -2.5e3 ": -2500, b"0x1F": 31, b"inf": np.inf, b".5": 0.5, b"-7": -7, b"12": 12},
    **{b"9223372036854775807": 2**63 - 1, b"18446744073709551615": 2**64 - 1},
}
string_to_number_op.samples(
    (text("1", " -2.5e3 ", "0x1F", "inf", ".5"),),
    (text("-7", "9223372036854775807", shape=(2, 1)), {"out_type": dtypes.int64}),
    (text("12", shape=()), {"out_type": dtypes.int32}),
    (text("18446744073709551615"), {"out_type": dtypes.uint64}),
    (text(), {"out_type": dtypes.float64}),
    against=lambda strings: each(_NUMBERS.get, strings),
)
string_to_number_op.refuses(
    (text("1", "two"),), "StringToNumberOp could not correctly convert string: two", InvalidArgumentError
)
string_to_number_op.refuses(
    (text("2147483648"), {"out_type": dtypes.int32}), "could not correctly convert", InvalidArgumentError
)


@export("strings.to_number", "string_to_number", ragged="values")
def string_to_number(
    string_tensor: TensorOrRagged | None = None,
    out_type: DTypeLike = dtypes.float32,
    name: str | None = None,
    input: TensorOrRagged | None = None,
) -> Tensor:
    """Reads each string as a number.

    Args:
      string_tensor: A string tensor.
      out_type: The numbers' type: tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32 or tf.uint64.
      name: A name for the operation.
      input: Another name of `string_tensor`.

    Returns:
      A tensor of type `out_type` and of the shape of the strings.

    Raises:
      InvalidArgumentError: In a step with a string that is no number, or an integer out of range.
    """
    strings = renamed("input", input, "string_tensor", string_tensor)
    return string_to_number_op(strings, out_type=out_type, name=name)
