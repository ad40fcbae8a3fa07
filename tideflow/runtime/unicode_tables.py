"""The script of each Unicode character, and the characters of a script or a general category.

`data/unicode_scripts.txt` has a line for each script: ICU's number, the name, the ranges of code points
(Unicode 12). All other code points have the script "unknown", which has a number too.
"""

from __future__ import annotations

import functools
import unicodedata
from importlib import resources

import numpy as np

Ranges = list[tuple[int, int]]  # first and last code points

CODE_POINTS = 0x110000
_UNKNOWN = 103
_INVALID = -1


@functools.cache
def _scripts() -> dict[str, tuple[int, Ranges]]:
    text = resources.files("tideflow.runtime").joinpath("data/unicode_scripts.txt").read_text()
    found = {}
    for number, name, *ranges in map(str.split, text.splitlines()):
        pairs = [(part.partition("-")[0], part.rpartition("-")[2]) for part in ranges]
        found[name] = int(number), [(int(first, 16), int(last, 16)) for first, last in pairs]
    return found


@functools.cache
def _script_of_code_point() -> np.ndarray:
    table = np.full(CODE_POINTS, _UNKNOWN, np.int32)
    for number, ranges in _scripts().values():
        for first, last in ranges:
            table[first : last + 1] = number
    return table


def script_numbers(code_points: np.ndarray) -> np.ndarray:
    """ICU's number of the script of each code point; -1 for a number that is no code point."""
    valid = (code_points >= 0) & (code_points < CODE_POINTS)
    found = _script_of_code_point()[np.where(valid, code_points, 0)]
    return np.where(valid, found, _INVALID).astype(np.int32)


@functools.cache
def characters(name: str) -> Ranges | None:
    """The code points of a script ("Greek") or a general category ("L", "Lu"); None for other names."""
    if name in _scripts():
        return _scripts()[name][1]
    if name == "Any":
        return [(0, CODE_POINTS - 1)]
    categories = _categories()
    members = np.char.startswith(categories, name) if len(name) <= 2 else np.zeros(CODE_POINTS, bool)
    edges = np.flatnonzero(np.diff(members, prepend=False, append=False))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)] or None


@functools.cache
def _categories() -> np.ndarray:
    return np.array([unicodedata.category(chr(point)) for point in range(CODE_POINTS)])
