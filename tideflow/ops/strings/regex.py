"""Regular expressions in RE2's syntax, on strings in UTF-8."""

from __future__ import annotations

from functools import partial
from typing import Any

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

_ON_HOST = dict(on_host=True, differentiable=False)


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


_WORDS = text("abc", "", "a\n", "日本")

full_match_op = Op(
    "RegexFullMatch", "input: string, pattern: string -> output: bool", host="pattern", **_ON_HOST
)


@full_match_op.shape
def _full_match_shape(input, pattern):
    scalar(pattern)
    return input


@full_match_op.kernel
def _full_match_kernel(input, pattern):
    regex.compiled(_as_bytes(scalar(pattern)))  # a bad pattern is an error even where there is no string
    found = each(partial(regex.full_match, _as_bytes(pattern)), input)
    return to_torch(found.astype(bool))


full_match_op.samples(
    (_WORDS, b"[a-c]*"),
    (_WORDS.reshape(2, 2), b".{2}"),
    (text("é", shape=()), rb"\w"),
    (text(), b"a"),
)
full_match_op.refuses((_WORDS, b"("), "Invalid pattern: (, error: missing ): (", InvalidArgumentError)
full_match_op.refuses((_WORDS, [b"a"]), "Shape must be rank 0 but is rank 1")

static_full_match_op = Op(
    "StaticRegexFullMatch", "input: string -> output: bool", pattern=attr("string"), **_ON_HOST
)
static_full_match_op.shape(same_shape)


@static_full_match_op.kernel
def _static_full_match_kernel(input, *, pattern):
    return full_match_op.kernels[""](input, pattern)


static_full_match_op.samples((_WORDS, {"pattern": "[a-c]*"}), (text(), {"pattern": "a"}))


@export("strings.regex_full_match")
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether the whole of each string matches the pattern."""
    if _is_text(pattern):
        return static_full_match_op(input, pattern=pattern, name=name)
    return full_match_op(input, pattern, name=name)


def _is_text(*values: Any) -> bool:
    return all(isinstance(value, (str, bytes)) for value in values)


replace_op = Op(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string -> output: string",
    replace_global=True,
    host="pattern, rewrite",
    **_ON_HOST,
)


@replace_op.shape
def _replace_shape(input, pattern, rewrite):
    scalar(pattern)
    scalar(rewrite)
    return input


@replace_op.kernel
def _replace_kernel(input, pattern, rewrite, *, replace_global):
    pattern, rewrite = _as_bytes(scalar(pattern)), _as_bytes(scalar(rewrite))
    regex.compiled(pattern)
    return each(lambda data: regex.replace(pattern, rewrite, data, replace_global), input)


replace_op.samples(
    (_WORDS, rb"(.)(.)", rb"\2\1"),
    (_WORDS, b"x*", b"-"),
    (_WORDS, b"$", b"!", {"replace_global": False}),
    (text(), b"a", b"b"),
)
replace_op.refuses((_WORDS, b"a(?=b)", b""), "invalid perl operator: (?=", InvalidArgumentError)

static_replace_op = Op(
    "StaticRegexReplace",
    "input: string -> output: string",
    pattern=attr("string"),
    rewrite=attr("string"),
    replace_global=True,
    **_ON_HOST,
)
static_replace_op.shape(same_shape)


@static_replace_op.kernel
def _static_replace_kernel(input, *, pattern, rewrite, replace_global):
    return replace_op.kernels[""](input, pattern, rewrite, replace_global=replace_global)


static_replace_op.samples((_WORDS, {"pattern": "b|本", "rewrite": r"<\0>"}))


@export("strings.regex_replace", "regex_replace")
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Strings with their matches rewritten; `\1` in the rewrite is what the first group matched."""
    if _is_text(pattern, rewrite):
        return static_replace_op(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return replace_op(input, pattern, rewrite, replace_global=replace_global, name=name)
