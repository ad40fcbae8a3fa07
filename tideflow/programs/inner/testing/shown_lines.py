"""What tests of the debugger ask about lines that it shows (`tensorflow.python.debug.cli.cli_test_utils`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np


def assert_lines_equal_ignoring_whitespace(
    test: Any, expected_lines: Sequence[str], actual_lines: Sequence[str]
) -> None:
    """Fails a test where lines differ in more than spaces."""
    counts = len(expected_lines), len(actual_lines)
    test.assertEqual(*counts, f"Mismatch in the number of lines: {counts[0]} vs {counts[1]}")
    for expected, actual in zip(expected_lines, actual_lines, strict=True):
        test.assertEqual("".join(expected.split()), "".join(actual.split()))


def assert_array_lines_close(test: Any, expected_array: Any, array_lines: Sequence[str]) -> None:
    """Fails a test where the numbers in lines are not about those of an array."""
    found = [float(word) for line in array_lines for word in re.sub(r"array|[()\[\]|,]", " ", line).split()]
    test.assertAllClose(np.asarray(expected_array).flatten(), found)
