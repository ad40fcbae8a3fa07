"""Strings as tensors and back: raw bytes, lines of CSV, compressed data, JSON, serialized tensors."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import re
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.example_proto import Example
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.io.examples import shape_text, shown
from tideflow.io.records import LARGEST_INFLATED, too_large
from tideflow.ops.helpers import axes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import c64, f32, f64, i64, text
from tideflow.ops.helpers.types import types
from tideflow.ops.strings.numbers import parsed_number
from tideflow.ops.strings.strings import each
from tideflow.runtime.dataset_files import CsvQuotes
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike, TensorOrRagged

# ------------------------------------------------------------------------------------------------ raw bytes


def _numbers(data: bytes, dtype: DType, little_endian: bool, shape: tuple) -> Any:
    if dtype.is_bool:
        return to_torch(np.frombuffer(data, np.uint8).reshape(shape) != 0)
    rows = np.frombuffer(data, np.uint8).reshape(-1, dtype.size)
    rows = rows.copy() if little_endian else np.ascontiguousarray(rows[:, ::-1])
    return to_torch(rows.view(dtype.as_numpy_dtype).reshape(shape))


def _from_bytes(strings: list[bytes], out_type: DType, little_endian: bool) -> np.ndarray:
    """A reference: a row of numbers for each string."""
    if out_type.is_bool:
        return np.array([[byte > 0 for byte in string] for string in strings])
    order = np.dtype(out_type.as_numpy_dtype).newbyteorder("<" if little_endian else ">")
    return np.array([np.frombuffer(string, order) for string in strings])


decode_raw_op = Op(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    out_type=types(
        "half float double int32 uint16 uint8 int16 int8 int64 complex64 complex128 bool bfloat16"
    ),
    little_endian=True,
    on_host=True,
    differentiable=False,
)


@decode_raw_op.shape
def _decode_raw_shape(bytes):
    return None if bytes.ndims is None else [*bytes.tuple, None]


@decode_raw_op.kernel
def _decode_raw_kernel(bytes, *, out_type, little_endian):
    strings = bytes.ravel().tolist()
    length = len(strings[0]) if strings else 0
    for i, string in enumerate(strings):
        if len(string) != length:
            raise errors.invalid_argument(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {len(string)} != {length}"
            )
    if length % out_type.size:
        raise errors.invalid_argument(
            f"Input to DecodeRaw has length {length} that is not a multiple of {out_type.size}, the size of "
            f"{out_type.name}"
        )
    return _numbers(b"".join(strings), out_type, little_endian, (*bytes.shape, length // out_type.size))


def _raw_reference(bytes, out_type, little_endian):
    length = len(bytes.flat[0]) if bytes.size else 0
    return _from_bytes(bytes.ravel().tolist(), out_type, little_endian).reshape(
        *bytes.shape, length // out_type.size
    )


decode_raw_op.samples(
    (text(b"abcd", b"efgh"), {"out_type": dtypes.int16}),
    (text(b"abcd", shape=()), {"out_type": dtypes.int32, "little_endian": False}),
    (text(b"\0\1\2"), {"out_type": dtypes.bool}),
    (text(b"01234567", b"89abcdef", shape=(2, 1)), {"out_type": dtypes.complex64}),
    (text(), {"out_type": dtypes.float32}),
    (text(b"", b""), {"out_type": dtypes.uint8}),
    against=_raw_reference,
)

decode_raw_op.refuses(
    (text(b"abc"), {"out_type": dtypes.int16}),
    "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16",
    InvalidArgumentError,
)
decode_raw_op.refuses(
    (text(b"ab", b"c"), {"out_type": dtypes.uint8}), "element 1 has size 1 != 2", InvalidArgumentError
)


@export("io.decode_raw", "decode_raw")
def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    """The bytes of strings as numbers.

    Args:
      input_bytes: A tensor of strings, all of the same length.
      out_type: The type of the numbers: an integer, floating-point or complex one, or bool.
      little_endian: Whether the least significant byte of a number comes first.
      name: A name for the operation.
      bytes: Another name for `input_bytes`.

    Returns:
      A tensor of `out_type` with one more axis than `input_bytes`: the numbers of each string.

    Raises:
      InvalidArgumentError: When the step runs and the strings differ in length, or the length is no multiple
        of the size of `out_type`.
    """
    input_bytes = renamed("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return decode_raw_op(input_bytes, out_type=out_type, little_endian=little_endian, name=name)


decode_padded_raw_op = Op(
    "DecodePaddedRaw",
    "input_bytes: string, fixed_length: int32 -> output: out_type",
    out_type=types("half float double int32 uint16 uint8 int16 int8 int64 bfloat16"),
    little_endian=True,
    host="fixed_length",
    on_host=True,
    differentiable=False,
)


def _elements_in(length: int, dtype: DType) -> int:
    if length % dtype.size:
        raise ShapeError(
            f"Dimension size must be evenly divisible by {dtype.size} but is {length}",
            f"fixed_length ({length}) must be a multiple of the size of out_type ({dtype.size})",
        )
    if length <= 0:
        raise ShapeError(f"fixed_length ({length}) must be greater than zero.")
    return length // dtype.size


@decode_padded_raw_op.shape
def _decode_padded_raw_shape(input_bytes, fixed_length, *, out_type):
    width = None
    if fixed_length is not None:
        length = axes.scalar(fixed_length, "k must be scalar, got shape ", axes.COUNT)
        if length < 0:
            raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {length}")
        width = _elements_in(length, out_type)
    return None if input_bytes.ndims is None else [*input_bytes.tuple, width]


@decode_padded_raw_op.kernel
def _decode_padded_raw_kernel(input_bytes, fixed_length, *, out_type, little_endian):
    width = _elements_in(fixed_length, out_type)
    rows = (string[:fixed_length].ljust(fixed_length, b"\0") for string in input_bytes.ravel().tolist())
    return _numbers(b"".join(rows), out_type, little_endian, (*input_bytes.shape, width))


def _padded_raw_reference(input_bytes, fixed_length, out_type, little_endian):
    length = int(fixed_length)
    rows = [(string + bytes(length))[:length] for string in input_bytes.ravel().tolist()]
    return _from_bytes(rows, out_type, little_endian).reshape(*input_bytes.shape, length // out_type.size)


decode_padded_raw_op.samples(
    (text(b"abcd", b"efghij"), np.array(4, np.int32), {"out_type": dtypes.int16}),
    (text(b"a", b"", shape=(2, 1)), np.array(2, np.int32), {"out_type": dtypes.uint8}),
    (text(), np.array(4, np.int32), {"out_type": dtypes.float32, "little_endian": False}),
    (text(b"abc", b"d"), np.array(2, np.int32), {"out_type": dtypes.int16, "little_endian": False}),
    against=_padded_raw_reference,
)

decode_padded_raw_op.refuses(
    (text(b"abcd"), np.array(3, np.int32), {"out_type": dtypes.int16}),
    "Dimension size must be evenly divisible by 2 but is 3",
)

# ------------------------------------------------------------------------------------------------------ CSV

decode_csv_op = Op(
    "DecodeCSV",
    "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE",
    OUT_TYPE=attr("list(type)", allowed=types("float double int32 int64 string"), minimum=1),
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=attr("list(int)", []),
    on_host=True,
    differentiable=None,
)


@decode_csv_op.shape
def _decode_csv_shape(records, record_defaults):
    for shape in record_defaults:
        if shape.ndims is not None and shape.ndims > 1:
            raise ShapeError(f"Shape must be at most rank 1 but is rank {shape.ndims}")
        if shape.ndims == 1 and (shape.tuple[0] or 0) > 1:
            raise ShapeError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [records] * len(record_defaults)


_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')


class _QuotingWords(NamedTuple):
    """What is wrong with quotes: the op and the datasets say it in words of their own."""

    inside_unquoted: str
    not_closed: str


_OF_RECORDS = _QuotingWords(
    "Unquoted fields cannot have quotes/CRLFs inside",
    "Quoted field has to end with quote followed by delim or end",
)
_OF_FILES = _QuotingWords(
    "Unquoted fields cannot have quotes inside",
    "Reached end of file without closing quoted field in record",
)


def _fields(
    line: bytes, delimiter: bytes, quotes: bool, last: int | None, words: _QuotingWords = _OF_RECORDS
) -> list[bytes]:
    """The fields of a record, up to the last that is wanted."""
    if not line:
        return []
    if not (quotes and b'"' in line):
        fields = (
            line.split(delimiter)
            if last is None
            else line.split(delimiter, min(last, len(line)) + 1)[: last + 1]
        )
        if b"\n" in line or b"\r" in line:
            for field in fields:
                _check_plain(field, quotes, words)
        return fields
    fields, at = [], 0
    while last is None or len(fields) <= last:
        field, at = _next_field(line, at, delimiter, words)
        fields.append(field)
        if at > len(line):
            break
    return fields


def _next_field(line: bytes, at: int, delimiter: bytes, words: _QuotingWords) -> tuple[bytes, int]:
    """The field that begins here, and where the next begins."""
    if line[at : at + 1] != b'"':
        end = line.find(delimiter, at)
        end = len(line) if end < 0 else end
        _check_plain(line[at:end], True, words)
        return line[at:end], end + 1
    quoted = _QUOTED.match(line, at)
    if quoted is None:
        raise errors.invalid_argument(words.not_closed)
    if line[quoted.end() : quoted.end() + 1] not in (b"", delimiter):
        if words is _OF_FILES and CsvQuotes(delimiter).are_open(line[at:]):
            raise errors.invalid_argument(words.not_closed)
        raise errors.invalid_argument("Quote inside a string has to be escaped by another quote")
    return quoted[1].replace(b'""', b'"'), quoted.end() + 1


def _check_plain(field: bytes, quotes: bool, words: _QuotingWords) -> None:
    if b"\n" in field or b"\r" in field or quotes and b'"' in field:
        raise errors.invalid_argument(words.inside_unquoted)


def _default_of(field: int, value: Any) -> Any:
    """The one default of a field, or None where the field is required."""
    array = to_numpy(value)
    if array.ndim > 1:
        raise errors.invalid_argument("Each record default should be at most rank 1")
    if array.size > 1:
        raise errors.invalid_argument(
            f"There should only be 1 default per field but field {field} has {array.size}"
        )
    return array.item() if array.size else None


_TYPE_WORDS = {dtypes.float32: "float", dtypes.float64: "double"}


def _csv_column(
    field: int,
    cells: Sequence[bytes],
    dtype: DType,
    default: Any,
    blanks: frozenset[bytes],
    named: str = "record {}",
) -> np.ndarray:
    """One field of every record. `named` is how an error calls a record, by its number."""
    column = np.empty(len(cells), dtype.as_numpy_dtype)
    read = _cell_reader(dtype)
    with np.errstate(over="ignore"):
        for record, cell in enumerate(cells):
            if cell in blanks:
                if default is None:
                    raise errors.invalid_argument(
                        f"Field {field} is required but missing in {named.format(record)}!"
                    )
                value = default
            else:
                value = read(cell)
                if value is None:
                    word = _TYPE_WORDS.get(dtype, dtype.name)
                    raise errors.invalid_argument(
                        f"Field {field} in {named.format(record)} is not a valid {word}: {shown(cell)}"
                    )
            column[record] = value
    return column


def _cell_reader(dtype: DType) -> Callable[[bytes], Any]:
    if dtype is dtypes.string:
        return lambda cell: cell
    return lambda cell: parsed_number(cell, dtype)


def _csv_delimiter(field_delim: str, select_cols: Sequence[int]) -> bytes:
    """The delimiter; an error where it, or the choice of columns, is not one."""
    delimiter = field_delim.encode()
    if len(delimiter) != 1:
        raise errors.invalid_argument("field_delim should be only 1 char")
    if any(column < 0 for column in select_cols):
        raise errors.invalid_argument(f"select_cols should be non-negative indices, got {select_cols}")
    if any(after <= before for before, after in itertools.pairwise(select_cols)):
        raise errors.invalid_argument(f"select_cols should be strictly increasing indices, got {select_cols}")
    return delimiter


def csv_row_reader(
    record_defaults: Sequence[Any],
    output_types: Sequence[DType],
    field_delim: str,
    quotes: bool,
    na_value: str,
    select_cols: Sequence[int],
) -> Callable[[bytes], tuple[Any, ...]]:
    """A function that reads one record of a file, field by field; its errors are those of CSV datasets."""
    delimiter = _csv_delimiter(field_delim, select_cols)
    defaults = [_default_of(field, value) for field, value in enumerate(record_defaults)]
    blanks = frozenset((b"", na_value.encode()))
    last, count = select_cols[-1] if select_cols else None, len(output_types)

    def read(line: bytes) -> tuple[Any, ...]:
        fields = _fields(line, delimiter, quotes, last, _OF_FILES)
        if select_cols:
            fields = [fields[i] for i in select_cols if i < len(fields)]
        row = tuple(
            to_torch(_csv_column(field, [cell], dtype, default, blanks, "record").reshape(()))
            for field, (cell, dtype, default) in enumerate(zip(fields, output_types, defaults, strict=False))
        )
        if len(fields) != count:
            found = "more" if len(fields) > count else len(fields)
            raise errors.invalid_argument(f"Expect {count} fields but have {found} in record")
        return row

    return read


@decode_csv_op.kernel
def _decode_csv_kernel(
    records, record_defaults, *, OUT_TYPE, field_delim, use_quote_delim, na_value, select_cols
):
    delimiter = _csv_delimiter(field_delim, select_cols)
    lines = records.ravel().tolist()
    last = select_cols[-1] if select_cols else None
    rows = []
    for number, line in enumerate(lines):
        fields = _fields(line, delimiter, use_quote_delim, last)
        if select_cols:
            fields = [fields[i] for i in select_cols if i < len(fields)]
        if len(fields) != len(OUT_TYPE):
            raise errors.invalid_argument(
                f"Expect {len(OUT_TYPE)} fields but have {len(fields)} in record {number}"
            )
        rows.append(fields)
    blanks = frozenset((b"", na_value.encode()))
    return [
        to_torch(_csv_column(field, cells, dtype, _default_of(field, value), blanks).reshape(records.shape))
        for field, (cells, dtype, value) in enumerate(
            zip(zip(*rows) if rows else [()] * len(OUT_TYPE), OUT_TYPE, record_defaults, strict=True)
        )
    ]


def _csv_reference(records, record_defaults, field_delim, na_value, select_cols):
    """The standard library splits the lines, Python reads the numbers."""
    lines = [record.decode() for record in records.ravel()]
    rows = list(csv.reader(lines, delimiter=field_delim))
    chosen = select_cols or range(len(record_defaults))
    columns = []
    for column, default in zip(chosen, record_defaults, strict=True):
        if default.dtype == object:
            read = str.encode
        elif default.dtype.kind == "i":
            read = int
        else:
            read = lambda cell: float.fromhex(cell) if "x" in cell else float(cell)
        cells = [row[column] for row in rows]
        values = [default.item() if cell in ("", na_value) else read(cell) for cell in cells]
        columns.append(np.array(values, default.dtype).reshape(records.shape))
    return columns


decode_csv_op.samples(
    (text("1,2.5,abc", ' 3 ,4e1,"q""x, y"'), [np.array([7], np.int32), f32(), text("", shape=())]),
    (text(",", "-5,0x10", shape=(2, 1)), [np.array(7), f64(1)]),
    (text("1;2;NA"), [f32(1), text("d")], {"field_delim": ";", "na_value": "NA", "select_cols": [0, 2]}),
    (text(), [f32(1)]),
    against=_csv_reference,
)

decode_csv_op.refuses(
    (text("1,x"), [f32(1), np.zeros(1, np.int32)]),
    "Field 1 in record 0 is not a valid int32: x",
    InvalidArgumentError,
)
decode_csv_op.refuses(
    (text("1,2"), [f32(1)], {"select_cols": [-1]}),
    "select_cols should be non-negative indices",
    InvalidArgumentError,
)
decode_csv_op.refuses((text("1,x"), [f32(1)]), "Expect 1 fields but have 2 in record 0", InvalidArgumentError)


@export("io.decode_csv", "decode_csv")
def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The fields of CSV records as tensors, one for each column.

    Args:
      records: A tensor of strings, each a record.
      record_defaults: For each column a scalar, or a vector of at most one element: its type is the column's
        (float32, float64, int32, int64 or string), its element stands for fields that are empty. A column
        whose default has no element is required.
      field_delim: The character between fields.
      use_quote_delim: Whether quotation marks enclose fields that contain the delimiter; two of them are one
        in such a field.
      name: A name for the operation.
      na_value: Another text that stands for an empty field.
      select_cols: The columns to read, in increasing order; None for all of them.

    Returns:
      A list of tensors of the shape of `records`.

    Raises:
      ValueError: If `select_cols` are not in order, or not as many as `record_defaults`.
      InvalidArgumentError: When the step runs and a record has another number of fields, or a field is
        missing or no number.
    """
    if select_cols is not None:
        columns = list(select_cols)
        if any(a >= b for a, b in itertools.pairwise(columns)):
            raise ValueError("select_cols is not strictly increasing.")
        if columns[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(columns) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return decode_csv_op(
        records,
        record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols,
        name=name,
    )


# ------------------------------------------------------------------------------------- compressed data, JSON

decode_compressed_op = Op(
    "DecodeCompressed",
    "bytes: string -> output: string",
    compression_type="",
    on_host=True,
    differentiable=False,
)
decode_compressed_op.shape(same_shape)

_WINDOW = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


@decode_compressed_op.kernel
def _decode_compressed_kernel(bytes, *, compression_type):
    if not compression_type:
        return bytes
    if compression_type not in _WINDOW:
        raise errors.invalid_argument("Only ZLIB, GZIP or NONE are supported compressions")

    left = LARGEST_INFLATED  # for all strings of the tensor

    def inflated(data: bytes) -> bytes:
        nonlocal left
        try:
            found = zlib.decompressobj(_WINDOW[compression_type]).decompress(data, left + 1)
            left -= len(found)
            if left < 0:
                raise too_large("The decompressed tensor")
            return found
        except zlib.error as error:
            code, _, reason = str(error).partition(" while decompressing data: ")
            code = code.removeprefix("Error ")
            raise errors.data_loss(f"inflate() failed with error {code}: {reason}") from None

    return each(inflated, bytes)


def _decompressed(bytes, compression_type):
    inverse = {"": lambda data: data, "ZLIB": zlib.decompress, "GZIP": gzip.decompress}[compression_type]
    return text(*map(inverse, bytes.ravel()), shape=bytes.shape)


decode_compressed_op.samples(
    (text("plain"),),
    (text(zlib.compress(b"Hello"), zlib.compress(b""), shape=(2, 1)), {"compression_type": "ZLIB"}),
    (text(gzip.compress(b"Hello", mtime=0)), {"compression_type": "GZIP"}),
    (text(), {"compression_type": "GZIP"}),
    against=_decompressed,
)

decode_compressed_op.refuses(
    (text("plain"), {"compression_type": "ZIP"}), "Only ZLIB, GZIP or NONE", InvalidArgumentError
)


@export("io.decode_compressed", "decode_compressed", ragged="values")
def decode_compressed(bytes: TensorOrRagged, compression_type: str = "", name: str | None = None) -> Tensor:
    """The contents of compressed strings.

    Args:
      bytes: A tensor of strings, each compressed by itself.
      compression_type: "ZLIB", "GZIP", or "" for strings that are not compressed.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape.

    Raises:
      DataLossError: When the step runs and a string is not compressed in that way.
    """
    return decode_compressed_op(bytes, compression_type=compression_type, name=name)


decode_json_example_op = Op(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    on_host=True,
    differentiable=False,
)
decode_json_example_op.shape(same_shape)


@decode_json_example_op.kernel
def _decode_json_example_kernel(json_examples):
    from google.protobuf import json_format  # loaded when asked for

    def binary(data: bytes) -> bytes:
        if data.lstrip()[:1] not in (b"{", b""):
            is_value = re.match(rb"""\s*([\["']|-?\d|(true|false|null)\s*$)""", data)
            wrong = ": Root element must be a message." if is_value else "Unexpected token."
            raise errors.invalid_argument(f"Error while parsing JSON: {wrong}\n{shown(data)}")
        try:
            return json_format.Parse(data, Example()).SerializeToString()
        except (json_format.ParseError, ValueError, AttributeError, TypeError) as error:
            raise errors.invalid_argument(f"Error while parsing JSON: {error}") from None

    return each(binary, json_examples)


def _example_of_integers(data: str) -> bytes:
    """The message that JSON describes whose features are all lists of integers."""
    message = Example()
    for key, feature in json.loads(data).get("features", {}).get("feature", {}).items():
        message.features.feature[key].int64_list.value.extend(map(int, feature["int64List"]["value"]))
    return message.SerializeToString()


decode_json_example_op.samples(
    (text('{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}', "{}"),),
    (text("{}", shape=()),),
    against=lambda json_examples: text(
        *map(_example_of_integers, json_examples.ravel()), shape=json_examples.shape
    ),
)

decode_json_example_op.refuses((text("{"),), "Error while parsing JSON", InvalidArgumentError)


@export("io.decode_json_example", "decode_json_example")
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Example messages in protobuf's JSON form as serialized messages.

    Args:
      json_examples: A tensor of strings, each an Example in JSON.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape, for `tf.io.parse_example`.

    Raises:
      InvalidArgumentError: When the step runs and a string is not such a message.
    """
    return decode_json_example_op(json_examples, name=name)


# ------------------------------------------------------------------------------------------ tensors as bytes


def content_proto(array: np.ndarray, dtype: dtypes.DType) -> TensorProto:
    """The message whose numbers are bytes, as many as there are; strings stay strings."""
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    if dtype is dtypes.string:
        proto.string_val.extend(array.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


serialize_tensor_op = Op(
    "SerializeTensor", "tensor: T -> serialized: string", on_host=True, differentiable=False
)


@serialize_tensor_op.shape
def _serialize_tensor_shape(tensor):
    return []


@serialize_tensor_op.kernel
def _serialize_tensor_kernel(tensor, *, T):
    serialized = np.empty((), object)
    serialized[()] = content_proto(to_numpy(tensor), T).SerializeToString()
    return serialized


serialize_tensor_op.samples(
    (f32(2, 3),),
    (i64(),),
    (c64(0, 2),),
    (text("a", b"\xff"),),
    law=lambda tensor, serialized: (make_ndarray(TensorProto.FromString(serialized)), tensor),
)


@export("io.serialize_tensor", "serialize_tensor")
def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as one string.

    Args:
      tensor: A tensor of numbers, bools or strings.
      name: A name for the operation.

    Returns:
      A scalar string, a serialized TensorProto, which `tf.io.parse_tensor` reads.
    """
    return serialize_tensor_op(tensor, name=name)


parse_tensor_op = Op(
    "ParseTensor", "serialized: string -> output: out_type", on_host=True, differentiable=False
)


@parse_tensor_op.shape
def _parse_tensor_shape(serialized):
    return None


@parse_tensor_op.kernel
def _parse_tensor_kernel(serialized, *, out_type):
    if serialized.ndim:
        raise errors.invalid_argument(
            f"Expected `serialized` to be a scalar, got shape: {shape_text(serialized.shape)}"
        )
    data = serialized.item()
    try:
        proto = TensorProto.FromString(data)
    except DecodeError:
        raise errors.invalid_argument(
            f"Could not parse `serialized` as TensorProto: '{shown(data)}'"
        ) from None
    try:
        found = dtypes.as_dtype(proto.dtype)
        array = make_ndarray(proto)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise errors.invalid_argument(
            f"Cannot parse tensor from proto: {shown(str(proto).encode())} ({error})"
        ) from None
    if found != out_type:
        raise errors.invalid_argument(
            f"Type mismatch between parsed tensor ({errors.type_name(found)}) and dtype "
            f"({errors.type_name(out_type)})"
        )
    return to_torch(array)


def _serialized(array: np.ndarray, dtype: DType) -> np.ndarray:
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(array.shape).as_proto())
    proto.tensor_content = array.tobytes()
    return text(proto.SerializeToString(), shape=())


def _contents_of(serialized: np.ndarray) -> np.ndarray:
    proto = TensorProto.FromString(serialized.item())
    sizes = [dim.size for dim in proto.tensor_shape.dim]
    return np.frombuffer(proto.tensor_content, dtypes.as_dtype(proto.dtype).numpy).reshape(sizes)


parse_tensor_op.samples(
    (_serialized(np.arange(6.0).reshape(2, 3), dtypes.float64), {"out_type": dtypes.float64}),
    (_serialized(np.zeros((0, 2), np.int32), dtypes.int32), {"out_type": dtypes.int32}),
    against=_contents_of,
)

parse_tensor_op.refuses(
    (_serialized(np.zeros(2, np.int32), dtypes.int32), {"out_type": dtypes.float32}),
    "Type mismatch between parsed tensor (int32) and dtype (float)",
    InvalidArgumentError,
)
parse_tensor_op.refuses(
    (text(b"\xff\xff", shape=()), {"out_type": dtypes.float32}), "Could not parse", InvalidArgumentError
)


@export("io.parse_tensor", "parse_tensor")
def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor that a string holds.

    Args:
      serialized: A scalar string, a serialized TensorProto.
      out_type: The tensor's type.
      name: A name for the operation.

    Returns:
      A tensor of `out_type`, of a shape that only the step tells.

    Raises:
      InvalidArgumentError: When the step runs and the string is no TensorProto, or one of another type.
    """
    return parse_tensor_op(serialized, out_type=out_type, name=name)
