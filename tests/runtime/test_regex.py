"""Regular expressions by RE2."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.graph.errors import InvalidArgumentError
from tideflow.runtime import regex


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("$", "a\n", "a\n!"),
        ("(?m)$", "a\nb", "a!\nb!"),
        ("x*", "abxd", "!a!b!d!"),
        (r"\s", "a\vb", "a\vb"),
        (r"\w", "é", "é"),
        (r"\d", "٣", "٣"),
        ("a(?i)b|C", "aB c", "! !"),
        ("(?U)a.*c", "abcabc", "!!"),
        (r"\pL", "aΩ1", "!!1"),
        (r"\P{Greek}", "aΩ", "!Ω"),
        ("[[:upper:][:digit:]]", "aB1", "a!!"),
        ("a{,2}", "aa{,2}", "a!"),
        (r"\Q.*\E", "a.*b", "a!b"),
        ("[[a&&b]", "[&ab", "!!!!"),
        ("(?P<n>a)(?P<n>b)", "ab", "!"),
    ],
)
def test_what_differs_from_python(pattern, text, expected):
    assert regex.replace(pattern.encode(), b"!", text.encode(), everywhere=True).decode() == expected


def test_bytes_that_are_no_text_match_nothing():
    assert regex.replace(b".", b"x", b"a\xffb", everywhere=True) == b"x\xffx"
    assert regex.replace(b"[^a]", b"x", b"a\xffb", everywhere=True) == b"a\xffx"
    assert not regex.full_match(rb"\S", b"\xff")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing ): ("),
        ("a)", "missing ): a)"),
        ("[a", "missing ]: [a"),
        ("a**", "bad repetition operator: **"),
        ("a++", "bad repetition operator: ++"),
        ("*", "no argument for repetition operator: *"),
        ("(?=a)", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("a{1001}", "invalid repetition size: {1001}"),
        (r"\p{Klingon}", r"invalid character class range: \p{Klingon}"),
        ("[z-a]", "invalid character class range: z-a"),
        ("\\", "trailing \\"),
    ],
)
def test_what_it_refuses(pattern, reason):
    with pytest.raises(InvalidArgumentError, match=re.escape(f"Invalid pattern: {pattern}, error: {reason}")):
        regex.compiled(pattern.encode())


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=8))
def test_literal_text_matches_itself(text):
    assert regex.full_match(
        rb"\Q" + text.replace("\\", "").encode() + rb"\E", text.replace("\\", "").encode()
    )


@settings(max_examples=200, deadline=None)
@given(
    text=st.text("ab\n", max_size=8), pattern=st.sampled_from(["a*b", "[ab]+", "a|b", "(a)(b)?", "b{1,2}"])
)
def test_plain_patterns_are_pythons(text, pattern):
    found = regex.replace(pattern.encode(), b"<\\0>", text.encode(), everywhere=True).decode()
    if "*" not in pattern:
        assert found == re.sub(pattern, lambda match: f"<{match[0]}>", text)
    assert regex.full_match(pattern.encode(), text.encode()) == bool(re.fullmatch(pattern, text))


@pytest.mark.parametrize("pattern", [b"(a+)+$", b"(a|aa)*$", b"(.*a){20}$"])
def test_no_pattern_takes_exponential_time(pattern):
    """An engine that goes back and tries again would not end within a lifetime."""
    assert not regex.full_match(pattern, b"a" * 5000 + b"b")
