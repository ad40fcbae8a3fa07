"""Strings as Unicode: code points of text in many encodings, text from code points, and their scripts."""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError, invalid_argument
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank, size_sum
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import i32, text
from tideflow.ops.helpers.types import INDICES
from tideflow.ops.strings.strings import each
from tideflow.runtime.unicode_tables import CODE_POINTS, script_numbers
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorOrRagged

_ON_HOST = dict(on_host=True, differentiable=False)
_ERRORS = attr("string", "replace", allowed=("strict", "replace", "ignore"))
_TSPLITS = attr("type", dtypes.int64, allowed=INDICES)
_DECODING = dict(
    input_encoding=attr("string"), errors=_ERRORS, replacement_char=65533, replace_control_characters=False
)
_BROKEN = np.array([b"a\xff\x01b", b"", "日本語".encode(), b"\xe2\x82"], object)


_ILLEGAL = -1  # instead of a code point: a sequence of bytes that stands for none
_BYTE_ORDER_MARKS = {
    "utf-16": {codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF16_LE: "utf-16-le", b"": "utf-16-be"},
    "utf-32": {codecs.BOM_UTF32_BE: "utf-32-be", codecs.BOM_UTF32_LE: "utf-32-le", b"": "utf-32-be"},
}


def _known_encoding(name: str) -> str:
    """Python's name of an encoding."""
    try:
        known = codecs.lookup(name).name
        b"".decode(known)
    except LookupError:
        raise invalid_argument(f"Could not create converter for input encoding: {name}") from None
    return known


def _check_replacement(code_point: int) -> None:
    if not 0 <= code_point < CODE_POINTS:
        raise invalid_argument("replacement_char out of unicode codepoint range")


def _byte_order(data: bytes, encoding: str) -> tuple[int, str]:
    """How long the mark of the byte order is, and which encoding follows from it."""
    marks = _BYTE_ORDER_MARKS.get(encoding, {b"": encoding})
    mark = next(mark for mark in marks if data.startswith(mark))
    return len(mark), marks[mark]


def _runs(data: bytes, start: int, encoding: str) -> Iterator[tuple[int, int, str | None]]:
    """Where runs of text begin and end that decode, with the text; None for every illegal sequence."""
    while start < len(data):
        try:
            yield start, len(data), data[start:].decode(encoding)
            return
        except UnicodeDecodeError as error:
            stop, after = start + error.start, start + error.end
        if stop > start:
            yield start, stop, data[start:stop].decode(encoding)
        yield stop, after, None
        start = after


def _code_points(run: str) -> np.ndarray:
    return np.frombuffer(run.encode("utf-32-le", "surrogatepass"), "<i4")


def _characters(data: bytes, encoding: str) -> tuple[np.ndarray, np.ndarray]:
    """The code points of a string, and the byte that each begins at."""
    points, starts = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    begin, encoding = _byte_order(data, encoding)
    for start, stop, run in _runs(data, begin, encoding):
        points.append(np.array([_ILLEGAL]) if run is None else _code_points(run))
        if run is None or stop - start == len(run):
            starts.append(np.arange(start, start + len(points[-1])))
        else:
            sizes = [len(char.encode(encoding)) for char in run]
            starts.append(start + np.cumsum([0, *sizes[:-1]]))
    return np.concatenate(points), np.concatenate(starts)


def _decoded_together(strings: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """How many characters each string in UTF-8 has, their code points, and the byte that each begins at; None
    where some sequence is illegal.
    """
    joined = b"".join(strings)
    try:
        points = _code_points(joined.decode()).astype(np.int32)
    except UnicodeDecodeError:
        return None
    sizes = np.fromiter(map(len, strings), np.int64, len(strings))
    ends = np.cumsum(sizes)
    begins = (np.frombuffer(joined, np.uint8) & 0xC0) != 0x80
    borders = ends[ends < len(joined)]
    if not begins[borders].all():  # a character would reach from one string into the next
        return None
    places = np.flatnonzero(begins)
    lengths = np.diff(np.searchsorted(places, ends), prepend=0)
    return lengths, points, places - np.repeat(ends - sizes, lengths)


def _without_illegal(
    points: np.ndarray, starts: np.ndarray, errors: str, replacement: int, controls: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Illegal sequences (and control characters, where asked for) replaced, left out, or an error."""
    if errors == "strict" and (points == _ILLEGAL).any():
        raise invalid_argument("Invalid formatting on input string")
    bad = points <= (0x1F if controls else _ILLEGAL)
    if errors == "ignore":
        return points[~bad], starts[~bad]
    return np.where(bad, replacement, points), starts


def _decode_reference(data: bytes, encoding: str, errors: str, replacement: int, controls: bool) -> list[int]:
    """By Python's own handling of errors."""
    points = [ord(char) for char in data.decode(encoding, errors)]
    bad = {0xFFFD, *(range(32) if controls else ())}
    kept = [point for point in points if errors != "ignore" or point not in bad]
    return [replacement if point in bad else point for point in kept]


def _unicode_decode_law(
    input, splits, points, input_encoding, errors, replacement_char, replace_control_characters
):
    given = input_encoding, errors, replacement_char, replace_control_characters
    rows = [_decode_reference(data, *given) for data in input.flat]
    ends = np.cumsum([0, *map(len, rows)])
    return [np.array_equal(splits, ends), np.array_equal(points, [point for row in rows for point in row])]


def _unicode_decode_with_offsets_law(
    input, splits, points, starts, input_encoding, errors, replacement_char, replace_control_characters
):
    """As without offsets; and the bytes from one start to the next are that character."""
    given = input_encoding, errors, replacement_char, replace_control_characters
    claims = _unicode_decode_law(input, splits, points, *given)
    for data, begin, end in zip(input.flat, splits, splits[1:]):
        cuts = [*starts[begin:end], len(data)]
        pieces = [data[start:stop] for start, stop in pairwise(cuts)]
        found = [_decode_reference(piece, *given) for piece in pieces]
        claims.append(found == [[point] for point in points[begin:end]])
    return claims


def _add_decode_samples(op: Op, law: Callable) -> None:
    op.samples(
        (_BROKEN, {"input_encoding": "UTF-8"}),
        (_BROKEN.reshape(2, 2), {"input_encoding": "UTF-8", "errors": "ignore", "Tsplits": dtypes.int32}),
        (_BROKEN, {"input_encoding": "UTF-8", "replacement_char": 63, "replace_control_characters": True}),
        (text("\x00h\x00i", shape=()), {"input_encoding": "UTF-16-BE", "errors": "strict"}),
        (np.array(["日本".encode("shift_jis")], object), {"input_encoding": "Shift_JIS"}),
        (text(), {"input_encoding": "latin-1"}),
        law=law,
    )
    op.refuses(
        (_BROKEN, {"input_encoding": "UTF-8", "errors": "strict"}),
        "Invalid formatting on input string",
        InvalidArgumentError,
    )
    op.refuses(
        (_BROKEN, {"input_encoding": "nonsense"}),
        "Could not create converter for input encoding: nonsense",
        InvalidArgumentError,
    )


unicode_decode_op = Op(
    "UnicodeDecode",
    "input: string -> row_splits: Tsplits, char_values: int32",
    Tsplits=_TSPLITS,
    **_DECODING,
    **_ON_HOST,
)


@unicode_decode_op.shape
def _unicode_decode_shape(input):
    return [[size_sum(input.num_elements(), 1)], [None]]


@unicode_decode_op.kernel
def _unicode_decode_kernel(
    input, *, input_encoding, errors, replacement_char, replace_control_characters, Tsplits
):
    splits, points, _ = unicode_decode_with_offsets_op.kernels[""](
        input,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        Tsplits=Tsplits,
    )
    return splits, points


_add_decode_samples(unicode_decode_op, _unicode_decode_law)

unicode_decode_with_offsets_op = Op(
    "UnicodeDecodeWithOffsets",
    "input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    Tsplits=_TSPLITS,
    **_DECODING,
    **_ON_HOST,
)


@unicode_decode_with_offsets_op.shape
def _unicode_decode_with_offsets_shape(input):
    return [[size_sum(input.num_elements(), 1)], [None], [None]]


@unicode_decode_with_offsets_op.kernel
def _unicode_decode_with_offsets_kernel(
    input, *, input_encoding, errors, replacement_char, replace_control_characters, Tsplits
):
    _check_replacement(replacement_char)
    encoding = _known_encoding(input_encoding)
    known = _decoded_together(input.reshape(-1).tolist()) if encoding == "utf-8" else None
    if known is not None:
        lengths, points, starts = known
        bad = points <= (0x1F if replace_control_characters else _ILLEGAL)
        if not bad.any():
            splits = np.concatenate([[0], np.cumsum(lengths)]).astype(Tsplits.as_numpy_dtype)
            return to_torch(splits), to_torch(points), to_torch(starts)
    rows = [
        _without_illegal(*_characters(data, encoding), errors, replacement_char, replace_control_characters)
        for data in input.reshape(-1)
    ]
    splits = np.cumsum([0, *(len(points) for points, _ in rows)]).astype(Tsplits.as_numpy_dtype)
    points = np.concatenate([np.zeros(0, np.int32), *(points for points, _ in rows)])
    starts = np.concatenate([np.zeros(0, np.int64), *(starts for _, starts in rows)])
    return to_torch(splits), to_torch(points.astype(np.int32)), to_torch(starts.astype(np.int64))


_add_decode_samples(unicode_decode_with_offsets_op, _unicode_decode_with_offsets_law)

_OUTPUT = attr("string", allowed=("UTF-8", "UTF-16-BE", "UTF-32-BE"))


def _encoded(points: np.ndarray, encoding: str) -> bytes:
    """Code points as text. Lone surrogates pass, but for UTF-8, where they are replaced."""
    run = points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    if encoding == "UTF-8":
        return run.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    return run.encode(encoding, "surrogatepass")


unicode_encode_op = Op(
    "UnicodeEncode",
    "input_values: int32, input_splits: Tsplits -> output: string",
    errors=_ERRORS,
    output_encoding=_OUTPUT,
    replacement_char=65533,
    Tsplits=_TSPLITS,
    **_ON_HOST,
)


@unicode_encode_op.shape
def _unicode_encode_shape(input_values, input_splits):
    of_rank(input_values, 1)
    return [size_sum(of_rank(input_splits, 1).tuple[0], -1)]


@unicode_encode_op.kernel
def _unicode_encode_kernel(input_values, input_splits, *, errors, output_encoding, replacement_char):
    _check_replacement(replacement_char)
    points, splits = to_numpy(input_values), to_numpy(input_splits)
    if (np.diff(splits, prepend=0, append=len(points)) < 0).any():
        raise invalid_argument(f"input_splits {splits.tolist()} do not divide {len(points)} input_values")
    bad = (points < 0) | (points >= CODE_POINTS)
    if errors == "strict" and bad.any():
        raise invalid_argument("Code point value out of valid Unicode range.")
    replaced = np.where(bad, replacement_char, points)
    kept = ~bad if errors == "ignore" else np.ones(len(points), bool)
    strings = np.empty(max(len(splits) - 1, 0), dtype=object)
    has_surrogates = bool(((replaced >= 0xD800) & (replaced < 0xE000)).any())
    if output_encoding == "UTF-8" and kept.all() and not has_surrogates:
        text = replaced.astype("<u4").tobytes().decode("utf-32-le")
        strings[:] = [text[start:end].encode() for start, end in pairwise(splits.tolist())]
        return strings
    rows = [slice(start, end) for start, end in pairwise(splits)]
    strings[:] = [_encoded(replaced[row][kept[row]], output_encoding) for row in rows]
    return strings


def _encode_reference(points: list[int], encoding: str) -> bytes:
    """Text of code points; UTF-8 has none for half of a pair."""
    if encoding == "UTF-8":
        points = [0xFFFD if 0xD800 <= point < 0xE000 else point for point in points]
    return "".join(map(chr, points)).encode(encoding, "surrogatepass")


def _unicode_encode_reference(points, splits, errors, output_encoding, replacement_char):
    rows = [points[start:end].tolist() for start, end in pairwise(splits)]
    if errors == "ignore":
        rows = [[point for point in row if 0 <= point < 0x110000] for row in rows]
    legal = [[point if 0 <= point < 0x110000 else replacement_char for point in row] for row in rows]
    return np.array([_encode_reference(row, output_encoding) for row in legal], object)


_POINTS = np.int32([72, 0xE9, 0x65E5, 0x1F60A, 0xD800, 0x110000, -1, 65])
unicode_encode_op.samples(
    (_POINTS, np.array([0, 4, 4, 8]), {"output_encoding": "UTF-8"}),
    (_POINTS, np.int32([0, 5, 8]), {"output_encoding": "UTF-16-BE", "errors": "ignore"}),
    (_POINTS, np.array([0, 8]), {"output_encoding": "UTF-32-BE", "replacement_char": 63}),
    (_POINTS[:0], np.array([0]), {"output_encoding": "UTF-8"}),
    against=_unicode_encode_reference,
)
unicode_encode_op.refuses(
    (_POINTS, np.array([0, 8]), {"output_encoding": "UTF-8", "errors": "strict"}),
    "Code point value out of valid Unicode range.",
    InvalidArgumentError,
)
unicode_encode_op.refuses(
    (_POINTS, np.array([0, 9]), {"output_encoding": "UTF-8"}), "do not divide", InvalidArgumentError
)

unicode_transcode_op = Op(
    "UnicodeTranscode", "input: string -> output: string", output_encoding=_OUTPUT, **_DECODING, **_ON_HOST
)


unicode_transcode_op.shape(same_shape)


@unicode_transcode_op.kernel
def _unicode_transcode_kernel(
    input, *, input_encoding, output_encoding, errors, replacement_char, replace_control_characters
):
    _check_replacement(replacement_char)
    encoding = _known_encoding(input_encoding)

    def transcoded(data: bytes) -> bytes:
        points, starts = _characters(data, encoding)
        if errors == "strict" and replace_control_characters and (points <= 0x1F).any():
            raise invalid_argument("Invalid formatting on input string")
        points, _ = _without_illegal(points, starts, errors, replacement_char, replace_control_characters)
        return _encoded(points, output_encoding)

    return each(transcoded, input)


def _unicode_transcode_reference(
    input, input_encoding, output_encoding, errors, replacement_char, replace_control_characters
):
    given = input_encoding, errors, replacement_char, replace_control_characters
    return each(lambda data: _encode_reference(_decode_reference(data, *given), output_encoding), input)


unicode_transcode_op.samples(
    (_BROKEN, {"input_encoding": "UTF-8", "output_encoding": "UTF-8"}),
    (_BROKEN[2], {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"}),
    (
        _BROKEN,
        {
            "input_encoding": "UTF-8",
            "output_encoding": "UTF-32-BE",
            "errors": "ignore",
            "replace_control_characters": True,
        },
    ),
    (text(), {"input_encoding": "latin-1", "output_encoding": "UTF-8"}),
    against=_unicode_transcode_reference,
)
unicode_transcode_op.refuses(
    (_BROKEN, {"input_encoding": "UTF-8", "output_encoding": "UTF-8", "errors": "strict"}),
    "Invalid formatting on input string",
    InvalidArgumentError,
)


@export("strings.unicode_transcode", ragged="values")
def unicode_transcode(
    input: TensorOrRagged,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Converts text from one encoding to another.

    Args:
      input: A string tensor.
      input_encoding: The encoding of `input`, such as "UTF-8" or "Shift_JIS".
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: What happens to bytes that are not text: "replace" (the default), "ignore" or "strict", an
        error.
      replacement_char: The code point that replaces them.
      replace_control_characters: Whether the control characters U+0000 to U+001F are treated like them.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step, where an encoding is unknown, or with `errors="strict"` where bytes are
        not text.
    """
    return unicode_transcode_op(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


unicode_script_op = Op("UnicodeScript", "input: int32 -> output: int32", **_ON_HOST)

unicode_script_op.shape(same_shape)


@unicode_script_op.kernel
def _unicode_script_kernel(input):
    return to_torch(script_numbers(to_numpy(input)))


_COMMON, _GREEK, _HAN, _LATIN = 0, 14, 17, 25  # by ICU


def _script_by_name(point: int) -> int:
    """The script of a code point of the samples, by the name of its character."""
    if not 0 <= point < 0x110000:
        return -1
    name = unicodedata.name(chr(point))
    scripts = {"GREEK": _GREEK, "CJK": _HAN, "LATIN": _LATIN}
    return next((number for word, number in scripts.items() if name.startswith(word)), _COMMON)


unicode_script_op.samples(
    (np.int32([[65, 0x3A9], [0x65E5, -1]]),),
    (i32(3, low=0, high=0x300),),
    (np.int32(0x110000),),
    (i32(0),),
    against=lambda input: each(_script_by_name, input).astype(np.int32),
)


@export("strings.unicode_script", ragged="values")
def unicode_script(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """Tells which script each code point belongs to.

    Args:
      input: An int32 tensor of code points.
      name: A name for the operation.

    Returns:
      An int32 tensor of the shape of `input`: the scripts' numbers in ICU, -1 for what is no code point.
    """
    return unicode_script_op(input, name=name)
