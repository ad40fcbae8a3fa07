"""What the values of a feature mean: text of a language, images, or times; as hints for the schema.

A feature has such a domain if it has enough values and most of them look like it. The names of the statistics
are those that schema inference reads.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import product
from typing import Any

from tideflow.pipeline.statistics.features import INT, STRING, Feature

_LEAST_VALUES = 100
_MOST_OF_THEM = 0.8
_WORDS_AT_LEAST, _MEAN_LENGTHS, _FIRST_CHARACTERS = 3, (2.5, 8), 100
_SIGNATURES = {"bmp": b"BM", "gif": b"GIF8", "jpeg": b"\xff\xd8\xff", "png": b"\x89PNG\r\n\x1a\n"}

_DATES = [
    *("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%y-%m-%d", "%y/%m/%d"),
    *("%m-%d-%Y", "%m/%d/%Y", "%m%d%Y", "%m-%d-%y", "%m/%d/%y"),
    *("%d-%m-%Y", "%d/%m/%Y", "%d%m%Y", "%d-%B-%Y", "%d-%m-%y", "%d/%m/%y", "%d-%B-%y"),
]
_CLOCKS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f"]
_FORMATS = [*_DATES, *_CLOCKS, "%a %b %d %H:%M:%S %Y"]
_FORMATS += [date + between + clock for date, clock, between in product(_DATES, _CLOCKS, "T ")]
_DIRECTIVES = {
    "%a": "(?:" + "|".join(calendar.day_abbr) + ")",
    "%b": "(?:" + "|".join(calendar.month_abbr[1:]) + ")",
    "%B": "(?:" + "|".join(calendar.month_name[1:]) + ")",
    "%f": r"[0-9]{1,6}",
    "%d": r"(?:3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9])",
    "%H": r"(?:2[0-3]|[0-1]\d|\d)",
    "%y": r"\d\d",
    "%Y": r"\d\d\d\d",
    "%m": r"(?:1[0-2]|0[1-9]|[1-9])",
    "%M": r"(?:[0-5]\d|\d)",
    "%S": r"(?:60[0-1]|[0-5]\d|\d)",
}
_LONGEST_TIME = 48  # characters


def fill_domain(message: Any, feature: Feature) -> None:
    """Adds to the message of a feature what its values seem to be."""
    total = feature.levels[-1].total
    if total < _LEAST_VALUES:
        return
    if feature.kind == INT and feature.times:
        unit, found = max(feature.times.items(), key=lambda pair: (pair[1], -pair[0]))
        if found / total >= _MOST_OF_THEM:
            message.custom_stats.add(name="domain_info", str=f"time_domain {{integer_format: {unit}}}")
            message.custom_stats.add(name="time_match_ratio", num=found / total)
    elif feature.kind == STRING and feature.sizes is not None:
        _fill_images(message, feature.sizes.begins.items(), total)
    elif feature.kind == STRING and feature.counts is not None:
        values, times, _ = feature.counts.table()
        pairs = list(zip(values.to_pylist(), times.tolist()))
        _fill_images(message, pairs, total)
        _fill_language(message, pairs, total)
        _fill_string_times(message, pairs, total)


def _fill_images(message: Any, pairs: Iterable[tuple[bytes, int]], total: int) -> None:
    formats: Counter[str] = Counter()
    for value, count in pairs:
        formats[next((name for name, begin in _SIGNATURES.items() if value.startswith(begin)), "")] += count
    if 1 - formats[""] / total < _MOST_OF_THEM:
        return
    message.custom_stats.add(name="domain_info", str="image_domain {}")
    ranks = message.custom_stats.add(name="image_format_histogram").rank_histogram
    for name, count in sorted(formats.items()):
        if count:
            ranks.buckets.add(label=name or "UNKNOWN", sample_count=count)


def _fill_language(message: Any, pairs: list[tuple[bytes, int]], total: int) -> None:
    matched = 0
    for value, count in pairs:
        try:
            text = value.decode()
        except UnicodeDecodeError:  # a feature with values that are not text is not text
            return
        matched += count * _is_language(text)
    if matched / total >= _MOST_OF_THEM:
        message.custom_stats.add(name="domain_info", str="natural_language_domain {}")
        message.custom_stats.add(name="natural_language_match_rate", num=matched / total)


def _is_language(text: str) -> bool:
    words = text[:_FIRST_CHARACTERS].split()
    if len(words) < _WORDS_AT_LEAST:
        return False
    return _MEAN_LENGTHS[0] <= sum(map(len, words)) / len(words) <= _MEAN_LENGTHS[1]


def _fill_string_times(message: Any, pairs: list[tuple[bytes, int]], total: int) -> None:
    found: Counter[str] = Counter()
    for value, count in pairs:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return
        if not text:
            return
        for name in _formats_of(text):
            found[name] += count
    if not found:
        return
    best = max(_FORMATS, key=lambda name: found[name])  # the first of equally frequent ones
    if found[best] / total >= _MOST_OF_THEM:
        message.custom_stats.add(name="domain_info", str=f"time_domain {{string_format: '{best}'}}")
        message.custom_stats.add(name="time_match_ratio", num=found[best] / total)


def _formats_of(text: str) -> Iterator[str]:
    """The formats that a text is a time in. Those that texts of its shape never are in are not tried."""
    if len(text) > _LONGEST_TIME:
        return
    for name in _formats_of_shape(re.sub(r"\d", "0", text)):
        if _pattern(name).match(text):
            yield name


@lru_cache(4096)
def _formats_of_shape(shape: str) -> list[str]:
    """The formats that texts may be in whose digits, any number of them at a place, are `0` in the shape."""
    return [name for name in _FORMATS if _shape_pattern(name).match(re.sub("0+", "0", shape))]


@cache
def _shape_pattern(name: str) -> re.Pattern[str]:
    loose = {**dict.fromkeys(_DIRECTIVES, "0?"), "%d": " ?0?"}
    loose |= {directive: _DIRECTIVES[directive] for directive in ("%a", "%b", "%B")}
    return re.compile(_replaced(name, loose) + "$")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(f"^{_replaced(name, _DIRECTIVES)}$")


def _replaced(name: str, by: dict[str, str]) -> str:
    return re.sub("|".join(_DIRECTIVES), lambda match: by[match.group()], name)
