"""Records of comma-separated values: their fields, and columns of them."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.io.examples import shown
from tideflow.ops.helpers.samples import f32, f64, text
from tideflow.ops.helpers.types import types
from tideflow.ops.strings.numbers import parsed_number, plain_numbers
from tideflow.runtime.dataset_files import CsvQuotes
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

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
    if blanks.isdisjoint(cells):
        plain = _plain_cells(cells, dtype)
        if plain is not None:
            return plain
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


def _plain_cells(cells: Sequence[bytes], dtype: DType) -> np.ndarray | None:
    """All cells read in one go, where they are plain."""
    if dtype is not dtypes.string:
        return plain_numbers([*cells], dtype)
    column = np.empty(len(cells), object)
    column[:] = cells
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
        fields = _fields(line, delimiter, quotes, last, _OF_FILES) or [b""]
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
    text = b"".join(lines)
    is_plain = last is None and not any(mark in text for mark in (b'"', b"\n", b"\r"))
    rows = []
    for number, line in enumerate(lines):
        fields = (
            line.split(delimiter) if is_plain and line else _fields(line, delimiter, use_quote_delim, last)
        )
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
