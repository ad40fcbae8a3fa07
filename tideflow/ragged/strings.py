"""Functions of strings that give rows of different lengths: parts, characters, n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.strings.splitting import string_ngrams_op, string_split_op, string_split_v2_op
from tideflow.ops.strings.unicode import (
    unicode_decode_op,
    unicode_decode_with_offsets_op,
    unicode_encode_op,
)
from tideflow.ragged.arrays import expand_dims
from tideflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

# ------------------------------------------------------------------------------------------------ splitting


def _check_result_type(result_type: str) -> None:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _rows_of(parts: Any) -> RaggedTensor:
    """The parts of each string, from the sparse matrix that the ops give."""
    return RaggedTensor.from_value_rowids(parts.values, parts.indices[:, 0], parts.shape[0], validate=False)


@export("string_split")
def string_split(
    source: TensorLike,
    sep: str | bytes | None = None,
    skip_empty: bool = True,
    delimiter: str | bytes | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Splits a vector of strings at delimiters.

    Args:
      source: The strings.
      sep: The delimiters: each byte of it is one; a space if None.
      skip_empty: Whether empty parts are dropped.
      delimiter: Another name for `sep`.
      result_type: `"SparseTensor"` or `"RaggedTensor"`.
      name: The name of the operation.

    Returns:
      The parts.
    """
    with name_scope(name, "StringSplit", [source]):
        delimiter = renamed("sep", sep, "delimiter", delimiter)
        delimiter = convert_to_tensor(" " if delimiter is None else delimiter, dtypes.string)
        source = convert_to_tensor(source, dtypes.string)
        parts = string_split_op(source, delimiter, skip_empty=skip_empty)
        _check_result_type(result_type)
        return SparseTensor(*parts) if result_type == "SparseTensor" else _rows_of(parts)


@export("strings.split")
def strings_split(
    input: TensorOrRagged | None = None,
    sep: str | bytes | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorOrRagged | None = None,
    name: str | None = None,
) -> Any:
    """Splits strings at a separator, by the rules of Python's `str.split`.

    Args:
      input: A string tensor, ragged or not.
      sep: The separator; white space if None.
      maxsplit: The largest number of splits; no limit if -1.
      result_type: `"SparseTensor"` or `"RaggedTensor"`.
      source: Another name for `input`.
      name: The name of the operation.

    Returns:
      The parts.
    """
    input = renamed("input", input, "source", source)
    with name_scope(name, "StringSplit", [input]):
        tensor = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
        if result_type == "SparseTensor" and isinstance(tensor, Tensor) and tensor.shape.ndims in (1, None):
            return SparseTensor(*_split(tensor, sep, maxsplit))
        _check_result_type(result_type)
        parts = _split_to_ragged(tensor, sep, maxsplit)
        if result_type == "RaggedTensor":
            return parts
        if isinstance(parts, Tensor):
            raise ValueError("A scalar has no sparse parts: give result_type='RaggedTensor'.")
        return parts.to_sparse()


def _split(strings: Tensor, sep: Any, maxsplit: int) -> Any:
    sep = convert_to_tensor("" if sep is None else sep, dtypes.string)
    return string_split_v2_op(strings, sep, maxsplit=maxsplit)


def _split_to_ragged(strings: Any, sep: Any, maxsplit: int) -> Any:
    return _of_every_string(strings, lambda vector: _rows_of(_split(vector, sep, maxsplit)))


def _of_every_string(strings: Any, rows: Any) -> Any:
    """`rows`, which makes a ragged matrix of a vector of strings, of strings in any shape."""
    if isinstance(strings, RaggedTensor):
        return strings.with_flat_values(_of_every_string(strings.flat_values, rows))
    rank = strings.shape.ndims
    if rank is None:
        raise ValueError("input must have a statically-known rank.")
    if rank == 0:
        return rows(joining.stack([strings]))[0]
    if rank == 1:
        return rows(strings)
    return _of_every_string(RaggedTensor.from_tensor(strings, ragged_rank=rank - 1), rows)


@export("strings.bytes_split")
def bytes_split(input: TensorOrRagged, name: str | None = None) -> Any:
    """Splits strings into their bytes.

    Args:
      input: A string tensor, ragged or not.
      name: The name of the operation.

    Returns:
      The RaggedTensor.
    """
    with name_scope(name, "StringsByteSplit", [input]):
        strings = convert_to_tensor_or_ragged_tensor(input, name="input")
        return _of_every_string(
            strings, lambda vector: _rows_of(string_split_op(vector, "", skip_empty=False))
        )


# ------------------------------------------------------------------------------------------------ Unicode


def _decoded(
    input: Any, encoding: str, errors: str, replacement: int, controls: bool, with_offsets: bool
) -> list[Any]:
    """The characters of every string, in its row; and the byte that each begins at."""
    strings = convert_to_tensor_or_ragged_tensor(input, name="input")
    if strings.shape.ndims is None:
        raise ValueError("Rank of `input` must be statically known.")
    if isinstance(strings, RaggedTensor):
        flat = _decoded(strings.flat_values, encoding, errors, replacement, controls, with_offsets)
        return [strings.with_flat_values(part) for part in flat]
    rank = strings.shape.ndims
    if rank > 1:
        ragged = RaggedTensor.from_tensor(strings, ragged_rank=rank - 1)
        return _decoded(ragged, encoding, errors, replacement, controls, with_offsets)
    op = unicode_decode_with_offsets_op if with_offsets else unicode_decode_op
    splits, *parts = op(
        shapes.reshape(strings, [-1]),
        input_encoding=encoding,
        errors=errors,
        replacement_char=replacement,
        replace_control_characters=controls,
    )
    if rank == 0:
        return parts
    return [RaggedTensor.from_row_splits(part, splits, validate=False) for part in parts]


@export("strings.unicode_decode")
def unicode_decode(
    input: TensorOrRagged,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Decodes strings to code points.

    Args:
      input: A string tensor, ragged or not.
      input_encoding: The encoding: `"UTF-8"`, `"UTF-16-BE"`, `"UTF-32-BE"` or `"US-ASCII"`.
      errors: What happens to invalid input: `"replace"`, `"ignore"` or `"strict"`, which fails.
      replacement_char: The code point that replaces invalid input.
      replace_control_characters: Whether control characters are replaced too.
      name: The name of the operation.

    Returns:
      The code points, int32, with a ragged last axis.
    """
    with name_scope(name, "UnicodeDecode", [input]):
        (points,) = _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, with_offsets=False
        )
        return points


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: TensorOrRagged,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Decodes strings to code points, with their positions.

    Args:
      input: A string tensor, ragged or not.
      input_encoding: The encoding: `"UTF-8"`, `"UTF-16-BE"`, `"UTF-32-BE"` or `"US-ASCII"`.
      errors: What happens to invalid input: `"replace"`, `"ignore"` or `"strict"`, which fails.
      replacement_char: The code point that replaces invalid input.
      replace_control_characters: Whether control characters are replaced too.
      name: The name of the operation.

    Returns:
      The code points, and the byte at which each begins; both ragged.
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        points, starts = _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, with_offsets=True
        )
        return points, starts


@export("strings.unicode_encode")
def unicode_encode(
    input: TensorOrRagged,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Encodes code points to strings.

    Args:
      input: The code points, with those of a string along the last axis.
      output_encoding: `"UTF-8"`, `"UTF-16-BE"` or `"UTF-32-BE"`.
      errors: What happens to invalid input: `"replace"`, `"ignore"` or `"strict"`, which fails.
      replacement_char: The code point that replaces invalid input.
      name: The name of the operation.

    Returns:
      A string tensor, ragged if `input` has several ragged axes.
    """
    with name_scope(name, "UnicodeEncode", [input]):
        points = convert_to_tensor_or_ragged_tensor(input)
        if points.shape.ndims is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if points.shape.ndims == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        return _encoded(
            points, dict(output_encoding=output_encoding, errors=errors, replacement_char=replacement_char)
        )


def _encoded(points: Any, options: dict[str, Any]) -> Any:
    if isinstance(points, RaggedTensor):
        if points.ragged_rank > 1 or points.flat_values.shape.ndims > 1:
            return points.with_values(_encoded(points.values, options))
        return unicode_encode_op(points.values, points.row_splits, **options)
    if points.shape.ndims == 1:
        return shapes.reshape(_encoded(shapes.expand_dims(points, 0), options), [])
    if points.shape.ndims == 2:
        return _encoded(RaggedTensor.from_tensor(points), options)
    sizes = shapes.shape(points)
    rows = _encoded(shapes.reshape(points, joining.stack([-1, sizes[-1]])), options)
    return shapes.reshape(rows, sizes[:-1])


@export("strings.unicode_split")
def unicode_split(
    input: TensorOrRagged,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Splits strings into their characters.

    Args:
      input: A string tensor, ragged or not.
      input_encoding: The encoding: `"UTF-8"`, `"UTF-16-BE"`, `"UTF-32-BE"` or `"US-ASCII"`.
      errors: What happens to invalid input: `"replace"`, `"ignore"` or `"strict"`, which fails.
      replacement_char: The code point that replaces invalid input.
      name: The name of the operation.

    Returns:
      The characters as strings, with a ragged last axis.
    """
    with name_scope(name, "UnicodeSplit", [input]):
        (points,) = _decoded(input, input_encoding, errors, replacement_char, False, with_offsets=False)
        return _single_characters(points, input_encoding, errors, replacement_char)


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: TensorOrRagged,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Splits strings into their characters, with their positions.

    Args:
      input: A string tensor, ragged or not.
      input_encoding: The encoding: `"UTF-8"`, `"UTF-16-BE"`, `"UTF-32-BE"` or `"US-ASCII"`.
      errors: What happens to invalid input: `"replace"`, `"ignore"` or `"strict"`, which fails.
      replacement_char: The code point that replaces invalid input.
      name: The name of the operation.

    Returns:
      The characters as strings, and the byte at which each begins; both ragged.
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, starts = _decoded(input, input_encoding, errors, replacement_char, False, with_offsets=True)
        return _single_characters(points, input_encoding, errors, replacement_char), starts


def _single_characters(points: Any, encoding: str, errors: str, replacement: int) -> Any:
    return unicode_encode(expand_dims(points, -1), encoding, errors, replacement)


# ------------------------------------------------------------------------------------------------ n-grams


@export("strings.ngrams")
def ngrams(
    data: TensorOrRagged,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: str | bytes | tuple[str | bytes, str | bytes] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Joins consecutive strings of a row to n-grams.

    Args:
      data: A string tensor, ragged or not.
      ngram_width: The number of strings in an n-gram, or several numbers.
      separator: The string between them.
      pad_values: The strings before and after a row, or one for both; no padding if None.
      padding_width: The largest number of padding strings on a side; one less than the width if None.
      preserve_short_sequences: Whether a row that is too short gives one n-gram.
      name: The name of the operation.

    Returns:
      The n-grams as a RaggedTensor.
    """
    with name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        data = convert_to_tensor_or_ragged_tensor(data, dtypes.string, name="data")
        if data.shape.ndims is None:
            raise ValueError("Rank of data must be known.")
        if data.shape.ndims == 0:
            raise ValueError("Data must have rank>0")
        for width in widths:
            if width < 1:
                raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        options = dict(
            separator=separator,
            ngram_widths=widths,
            left_pad=left,
            right_pad=right,
            pad_width=-1 if padding_width is None and pad_values is not None else padding_width or 0,
            preserve_short_sequences=preserve_short_sequences,
        )
        return _ngrams_of_rows(data, options)


def _pads(pad_values: Any) -> tuple[str | bytes, str | bytes]:
    if pad_values is None:
        return "", ""
    pads = tuple(pad_values) if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if not all(isinstance(pad, (str, bytes)) for pad in pads):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pads


def _ngrams_of_rows(data: Any, options: dict[str, Any]) -> Any:
    if not isinstance(data, RaggedTensor):
        if data.shape.ndims == 1:
            return _ngrams_of_rows(shapes.expand_dims(data, 0), options)[0]
        ragged = RaggedTensor.from_tensor(data, ragged_rank=data.shape.ndims - 1)
        dense = _ngrams_of_rows(ragged, options).flat_values
        return shapes.reshape(dense, joining.concat([shapes.shape(data)[:-1], [-1]], 0))
    if data.ragged_rank > 1 or data.flat_values.shape.ndims > 1:
        return data.with_values(_ngrams_of_rows(data.values, options))
    found, splits = string_ngrams_op(data.values, data.row_splits, **options)
    return RaggedTensor.from_row_splits(found, splits, validate=False)
