"""Which script each Unicode character belongs to.

The scripts stand in `data/unicode_scripts.txt`, a line each: ICU's number, the name, the ranges of code
points (Unicode 12). Code points of no line are unknown, which has a number too.
"""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np

CODE_POINTS = 0x110000
_UNKNOWN = 103
_INVALID = -1


@functools.cache
def _script_of_code_point() -> np.ndarray:
    text = resources.files("tideflow.runtime").joinpath("data/unicode_scripts.txt").read_text()
    table = np.full(CODE_POINTS, _UNKNOWN, np.int32)
    for number, _, *ranges in map(str.split, text.splitlines()):
        for part in ranges:
            first, last = int(part.partition("-")[0], 16), int(part.rpartition("-")[2], 16)
            table[first : last + 1] = int(number)
    return table


def script_numbers(code_points: np.ndarray) -> np.ndarray:
    """ICU's number of the script of each code point; -1 for what is none."""
    valid = (code_points >= 0) & (code_points < CODE_POINTS)
    found = _script_of_code_point()[np.where(valid, code_points, 0)]
    return np.where(valid, found, _INVALID).astype(np.int32)
