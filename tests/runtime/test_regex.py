"""Regular expressions by RE2."""

import re

import pytest
import re2
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
    assert regex.replacement(pattern.encode(), b"!", everywhere=True)(text.encode()).decode() == expected


def test_bytes_that_are_no_text_match_nothing():
    assert regex.replacement(b".", b"x", everywhere=True)(b"a\xffb") == b"x\xffx"
    assert regex.replacement(b"[^a]", b"x", everywhere=True)(b"a\xffb") == b"a\xffx"
    assert not regex.full_match(rb"\S")(b"\xff")


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
    literal = text.replace("\\", "").encode()
    assert regex.full_match(rb"\Q" + literal + rb"\E")(literal)


@settings(max_examples=200, deadline=None)
@given(
    text=st.text("ab\n", max_size=8), pattern=st.sampled_from(["a*b", "[ab]+", "a|b", "(a)(b)?", "b{1,2}"])
)
def test_plain_patterns_are_pythons(text, pattern):
    found = regex.replacement(pattern.encode(), b"<\\0>", everywhere=True)(text.encode()).decode()
    if "*" not in pattern:
        assert found == re.sub(pattern, lambda match: f"<{match[0]}>", text)
    assert regex.full_match(pattern.encode())(text.encode()) == bool(re.fullmatch(pattern, text))


@pytest.mark.parametrize("pattern", [b"(a+)+$", b"(a|aa)*$", b"(.*a){20}$"])
def test_no_pattern_takes_exponential_time(pattern):
    """An engine that goes back and tries again would not end within a lifetime."""
    assert not regex.full_match(pattern)(b"a" * 5000 + b"b")


SETS = [
    b"[a-c]+",
    b"[^a-c]",
    rb"\s+",
    rb"[\s,]+",
    rb"[^\s]",
    rb"\S",
    rb"\W+",
    b"a b",
    rb"a\.b",
    rb"[\d.]+",
    b"[]a]",
    b"[a-]",
]


@settings(max_examples=300, deadline=None)
@given(pattern=st.sampled_from(SETS), text=st.text("ab]-., \t\v\n1", max_size=12), everywhere=st.booleans())
def test_sets_and_texts_that_python_replaces_are_re2s(pattern, text, everywhere):
    found = regex.replacement(pattern, rb"<\\>", everywhere)(text.encode())
    assert found == re2.sub(pattern, rb"<\\>", text.encode(), count=0 if everywhere else 1)
