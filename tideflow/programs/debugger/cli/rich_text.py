"""Lines of text whose parts have attributes: colours, weights, and the commands that they stand for."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tideflow.platform import gfile
from tideflow.platform.version import VERSION

REGEX_MATCH_LINES_KEY = "regex_match_lines"
INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"

Segment = tuple[int, int, Any]  # where an attribute begins and ends in a line, and the attribute


class RichLine:
    """A line that grows by `+`, with the attributes of its parts.

    Args:
      text: The text.
      font_attr: The attribute of the text, or a list of them.
    """

    def __init__(self, text: str = "", font_attr: Any = None):
        self.text = text
        self.font_attr_segs: list[Segment] = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other: str | RichLine) -> RichLine:
        if isinstance(other, str):
            other = RichLine(other)
        if not isinstance(other, RichLine):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        joined = RichLine(self.text + other.text)
        moved = [(len(self) + begin, len(self) + end, what) for begin, end, what in other.font_attr_segs]
        joined.font_attr_segs = self.font_attr_segs + moved
        return joined

    def __len__(self) -> int:
        return len(self.text)


class RichTextLines:
    """Lines, the attributes of their parts by the number of the line, and notes.

    Args:
      lines: A line, or a list of lines.
      font_attr_segs: A dictionary of numbers of lines to lists of `(begin, end, attribute)`.
      annotations: A dictionary of notes; those whose keys are integers are about a line.
    """

    def __init__(self, lines: str | list[str], font_attr_segs: Any = None, annotations: Any = None):
        if not isinstance(lines, (list, str)):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self._lines = [lines] if isinstance(lines, str) else lines
        self._font_attr_segs: dict[int, list[Segment]] = font_attr_segs or {}
        self._annotations: dict[Any, Any] = annotations or {}

    @property
    def lines(self) -> list[str]:
        """The texts of the lines."""
        return self._lines

    @property
    def font_attr_segs(self) -> dict[int, list[Segment]]:
        """The attributes, by the number of the line."""
        return self._font_attr_segs

    @property
    def annotations(self) -> dict[Any, Any]:
        """The notes."""
        return self._annotations

    def num_lines(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """The lines from `begin` up to `end`, with what is known about them."""
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")
        return RichTextLines(
            self.lines[begin:end],
            {line - begin: segments for line, segments in self.font_attr_segs.items() if begin <= line < end},
            {
                key - begin if isinstance(key, int) else key: note
                for key, note in self.annotations.items()
                if not isinstance(key, int) or begin <= key < end
            },
        )

    def extend(self, other: RichTextLines) -> None:
        """Adds other lines at the end.

        Args:
          other: The lines.
        """
        count = self.num_lines()
        self._lines.extend(other.lines)
        self._font_attr_segs.update(_moved(other.font_attr_segs, count))
        self._annotations.update(_moved(other.annotations, count))

    def append(self, line: str, font_attr_segs: list[Segment] | None = None) -> None:
        """Adds a line at the end.

        Args:
          line: The line.
          font_attr_segs: Its attributes.
        """
        self._lines.append(line)
        if font_attr_segs:
            self._font_attr_segs[len(self._lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line: RichLine) -> None:
        """Adds a line at the end, with its attributes."""
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: str | list[str], font_attr_segs: list[Segment] | None = None) -> None:
        """Adds a line, or a list of lines, at the beginning.

        Args:
          line: The line.
          font_attr_segs: The attributes of the first line.
        """
        before = [line] if isinstance(line, str) else line
        self._lines = before + self._lines
        self._font_attr_segs = _moved(self._font_attr_segs, len(before))
        self._annotations = _moved(self._annotations, len(before))
        if font_attr_segs:
            self._font_attr_segs[0] = font_attr_segs

    def write_to_file(self, file_path: str) -> None:
        """Writes the texts of the lines.

        Args:
          file_path: The path of the file.
        """
        with gfile.GFile(file_path, "w") as file:
            for line in self._lines:
                file.write(line + "\n")


def _moved(by_line: dict[Any, Any], count: int) -> dict[Any, Any]:
    """What is known of lines that have moved down by some lines."""
    return {key + count if isinstance(key, int) else key: known for key, known in by_line.items()}


def rich_text_lines_from_rich_line_list(
    rich_text_list: Sequence[RichLine | str], annotations: Any = None
) -> RichTextLines:
    """Puts lines together.

    Args:
      rich_text_list: `RichLine`s, or strings.
      annotations: Notes about them.

    Returns:
      `RichTextLines`.
    """
    lines = [line if isinstance(line, RichLine) else RichLine(line) for line in rich_text_list]
    segments = {number: line.font_attr_segs for number, line in enumerate(lines) if line.font_attr_segs}
    return RichTextLines([line.text for line in lines], segments, annotations)


def get_tensorflow_version_lines(include_dependency_versions: bool = False) -> RichTextLines:
    """The version of TensorFlow that programs see.

    Args:
      include_dependency_versions: Whether NumPy's is added.

    Returns:
      `RichTextLines`.
    """
    lines = [f"TensorFlow version: {VERSION}", ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


def regex_find(orig_screen_output: RichTextLines, regex: str, font_attr: Any) -> RichTextLines:
    """The same lines, with an attribute where an expression matches.

    Args:
      orig_screen_output: The lines.
      regex: The expression.
      font_attr: The attribute.

    Returns:
      `RichTextLines`, with the numbers of the lines that match in their notes.
    """
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from None
    segments = copy.deepcopy(orig_screen_output.font_attr_segs)
    matching = []
    for number, line in enumerate(orig_screen_output.lines):
        found = [(*match.span(), font_attr) for match in pattern.finditer(line)]
        if found:
            segments[number] = sorted(segments.get(number, []) + found, key=lambda segment: segment[0])
            matching.append(number)
    marked = RichTextLines(orig_screen_output.lines, segments, orig_screen_output.annotations)
    marked.annotations[REGEX_MATCH_LINES_KEY] = matching
    return marked


def wrap_rich_text_lines(inp: RichTextLines, cols: int) -> tuple[RichTextLines, list[int]]:
    """Breaks lines that are too long.

    Args:
      inp: The lines.
      cols: How many characters a line may have.

    Returns:
      The broken lines, and where among them each of the given lines begins.
    """
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    wrapped = RichTextLines([])
    beginnings = []
    for number, line in enumerate(inp.lines):
        beginnings.append(wrapped.num_lines())
        if number in inp.annotations:
            wrapped.annotations[wrapped.num_lines()] = inp.annotations[number]
        segments = inp.font_attr_segs.get(number, [])
        for begin in range(0, len(line), cols) or [0]:
            end = min(begin + cols, len(line))
            inside = [(max(b, begin) - begin, min(e, end) - begin, what) for b, e, what in segments]
            wrapped.append(line[begin:end], [segment for segment in inside if segment[1] > segment[0]])
    wrapped.annotations.update(
        {key: inp.annotations[key] for key in inp.annotations if not isinstance(key, int)}
    )
    return wrapped, beginnings
