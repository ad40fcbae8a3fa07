"""Spans of data and versions of spans, found by a pattern of paths.

`data/{SPAN}/{VERSION}/*.csv` is a pattern, and `data/{YYYY}-{MM}-{DD}/*.csv` one whose spans are days,
counted from 1970-01-01 as TensorFlow Extended counts them. A width may be said: `{SPAN:04}`.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tideflow.graph import errors
from tideflow.pipeline.data.sources import matching

_FIELD = re.compile(r"\{(SPAN|VERSION|YYYY|MM|DD)(?::(\d+))?\}")
_WIDTHS = {"YYYY": 4, "MM": 2, "DD": 2}
_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True, order=True)
class Span:
    """A span of data: its number, its version if the pattern has one, and its files."""

    span: int
    version: int | None
    files: tuple[str, ...]


def find_spans(pattern: str | os.PathLike[str], all_versions: bool = False) -> list[Span]:
    """Finds the spans of a data set.

    Args:
      pattern: Paths, with `{SPAN}` or `{YYYY}`, `{MM}` and `{DD}`, and perhaps `{VERSION}`; `*` stands for
        anything in a name. One without a span is one span, number 0.
      all_versions: Whether every version of a span is returned, not only the newest.

    Returns:
      The spans, in the order of their numbers. A span whose folder has no file is not there yet.

    Raises:
      InvalidArgumentError: If the pattern is not one.
    """
    pattern = os.fspath(pattern)
    fields = [match.group(1) for match in _FIELD.finditer(pattern)]
    _check(pattern, fields)
    found: dict[tuple[int, int | None], list[str]] = {}
    compiled = _compiled(pattern)
    for path in _paths(pattern):
        match = compiled.fullmatch(path)
        if match is None:
            continue
        span = _number(match.groupdict())
        if span is not None:
            version = int(match["VERSION"]) if "VERSION" in fields else None
            found.setdefault((span, version), []).append(path)
    spans = [Span(span, version, tuple(sorted(files))) for (span, version), files in sorted(found.items())]
    return spans if all_versions else list({each.span: each for each in spans}.values())


def _check(pattern: str, fields: list[str]) -> None:
    dates = [name for name in ("YYYY", "MM", "DD") if name in fields]
    if dates and (len(dates) < 3 or "SPAN" in fields):
        raise errors.invalid_argument(f"{pattern}: a span is {{SPAN}}, or all of {{YYYY}}, {{MM}} and {{DD}}")
    if "VERSION" in fields and not dates and "SPAN" not in fields:
        raise errors.invalid_argument(f"{pattern}: versions are of spans, and it has no {{SPAN}}")
    if "{" in _FIELD.sub("", pattern):
        raise errors.invalid_argument(
            f"{pattern}: of names in braces only {{SPAN}}, {{VERSION}}, {{YYYY}}, {{MM}} and {{DD}} are known"
        )


def _paths(pattern: str) -> Iterator[str]:
    for path in matching(_FIELD.sub("*", pattern)):
        if os.path.isdir(path):
            yield from (os.path.join(path, name) for name in os.listdir(path) if name[0] not in "._")
        else:
            yield path


def _compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression of the paths; a field that is there twice has the same digits in both places."""
    pieces, at, known = [], 0, set()
    for match in _FIELD.finditer(pattern):
        pieces.append(_of_glob(pattern[at : match.start()]))
        name, width = match.group(1), match.group(2) or _WIDTHS.get(match.group(1))
        digits = rf"\d{{{int(width)}}}" if width else r"\d+"
        pieces.append(f"(?P={name})" if name in known else f"(?P<{name}>{digits})")
        known.add(name)
        at = match.end()
    pieces.append(_of_glob(pattern[at:]))
    return re.compile("".join(pieces) + "(?:/[^/]+)?")  # a folder stands for the files in it


def _of_glob(text: str) -> str:
    parts = re.split(r"(\*\*/?|\*|\?)", text)
    meaning = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return "".join(meaning.get(part, re.escape(part)) for part in parts)


def _number(fields: dict[str, str]) -> int | None:
    if "SPAN" in fields:
        return int(fields["SPAN"])
    if "YYYY" not in fields:
        return 0
    try:
        date = datetime.date(int(fields["YYYY"]), int(fields["MM"]), int(fields["DD"]))
    except ValueError:  # no day of the calendar
        return None
    return (date - _EPOCH).days
