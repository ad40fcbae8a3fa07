"""Regular expressions in RE2's syntax, on strings in UTF-8."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import scalar
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import text
from tideflow.ops.strings.strings import each
from tideflow.runtime import regex
from tideflow.runtime.values import to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

_ON_HOST = dict(on_host=True, differentiable=False)


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _is_text(*values: Any) -> bool:
    return all(isinstance(value, (str, bytes)) for value in values)


_WORDS = text("abc", "", "a\n", "日本")


def _regex_full_match_reference(input, pattern):
    def is_match(data: bytes) -> bool:
        return re.fullmatch(pattern.decode(), data.decode(), re.ASCII) is not None

    return each(is_match, input).astype(bool)


def _regex_replace_reference(input, pattern, rewrite, replace_global):
    """By Python's `re`, whose `$` is also before a last newline, and whose whole match is another name."""
    pattern, rewrite = pattern.decode().replace("$", r"\Z"), rewrite.decode().replace(r"\0", r"\g<0>")

    def replaced(data: bytes) -> bytes:
        return re.sub(pattern, rewrite, data.decode(), count=0 if replace_global else 1).encode()

    return each(replaced, input)


regex_full_match_op = Op(
    "RegexFullMatch", "input: string, pattern: string -> output: bool", host="pattern", **_ON_HOST
)


@regex_full_match_op.shape
def _regex_full_match_shape(input, pattern):
    scalar(pattern, "Pattern must be scalar, but received ")
    return input


@regex_full_match_op.kernel
def _regex_full_match_kernel(input, pattern):
    is_match = regex.full_match(_as_bytes(scalar(pattern)))  # a bad pattern is an error without a string too
    return to_torch(each(is_match, input).astype(bool))


regex_full_match_op.samples(
    (_WORDS, b"[a-c]*"),
    (_WORDS.reshape(2, 2), b".{2}"),
    (text("é", shape=()), rb"\w"),
    (text(), b"a"),
    against=_regex_full_match_reference,
)
regex_full_match_op.refuses((_WORDS, b"("), "Invalid pattern: (, error: missing ): (", InvalidArgumentError)
regex_full_match_op.refuses((_WORDS, [b"a"]), "Shape must be rank 0 but is rank 1")

static_regex_full_match_op = Op(
    "StaticRegexFullMatch", "input: string -> output: bool", pattern=attr("string"), **_ON_HOST
)
static_regex_full_match_op.shape(same_shape)


@static_regex_full_match_op.kernel
def _static_regex_full_match_kernel(input, *, pattern):
    return regex_full_match_op.kernels[""](input, pattern)


static_regex_full_match_op.samples(
    (_WORDS, {"pattern": "[a-c]*"}),
    (text(), {"pattern": "a"}),
    against=lambda input, pattern: _regex_full_match_reference(input, pattern.encode()),
)


@export("strings.regex_full_match", ragged="values")
def regex_full_match(input: TensorOrRagged, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Tells whether the whole of each string matches a regular expression.

    Args:
      input: A string tensor, in UTF-8.
      pattern: The expression in RE2's syntax, a string or a string scalar.
      name: A name for the operation.

    Returns:
      A bool tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step, where `pattern` is no expression of RE2's.
    """
    if _is_text(pattern):
        return static_regex_full_match_op(input, pattern=pattern, name=name)
    return regex_full_match_op(input, pattern, name=name)


regex_replace_op = Op(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string -> output: string",
    replace_global=True,
    host="pattern, rewrite",
    **_ON_HOST,
)


@regex_replace_op.shape
def _regex_replace_shape(input, pattern, rewrite):
    scalar(pattern, "Pattern must be scalar, but received ")
    scalar(rewrite, "Rewrite must be scalar, but received ")
    return input


@regex_replace_op.kernel
def _regex_replace_kernel(input, pattern, rewrite, *, replace_global):
    pattern, rewrite = _as_bytes(scalar(pattern)), _as_bytes(scalar(rewrite))
    return each(regex.replacement(pattern, rewrite, replace_global), input)


regex_replace_op.samples(
    (_WORDS, rb"(.)(.)", rb"\2\1"),
    (_WORDS, b"x*", b"-"),
    (_WORDS, b"$", b"!", {"replace_global": False}),
    (text(), b"a", b"b"),
    against=_regex_replace_reference,
)
regex_replace_op.refuses((_WORDS, b"a(?=b)", b""), "invalid perl operator: (?=", InvalidArgumentError)

static_regex_replace_op = Op(
    "StaticRegexReplace",
    "input: string -> output: string",
    pattern=attr("string"),
    rewrite=attr("string"),
    replace_global=True,
    **_ON_HOST,
)
static_regex_replace_op.shape(same_shape)


@static_regex_replace_op.kernel
def _static_regex_replace_kernel(input, *, pattern, rewrite, replace_global):
    return regex_replace_op.kernels[""](input, pattern, rewrite, replace_global=replace_global)


static_regex_replace_op.samples(
    (_WORDS, {"pattern": "b|本", "rewrite": r"<\0>"}),
    against=lambda input, pattern, rewrite: _regex_replace_reference(
        input, pattern.encode(), rewrite.encode(), True
    ),
)


@export("strings.regex_replace", "regex_replace", ragged="values")
def regex_replace(
    input: TensorOrRagged,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""Rewrites the matches of a regular expression in each string.

    Args:
      input: A string tensor, in UTF-8.
      pattern: The expression in RE2's syntax, a string or a string scalar.
      rewrite: What replaces a match, a string or a string scalar; `\1` is what the first group matched, `\0`
        the whole match.
      replace_global: Whether all matches are rewritten, and not only the first.
      name: A name for the operation.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: In a step, where `pattern` is no expression of RE2's.
    """
    if _is_text(pattern, rewrite):
        return static_regex_replace_op(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return regex_replace_op(input, pattern, rewrite, replace_global=replace_global, name=name)
