"""Faulty rows and files: counted, kept with file and line, and set aside."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from tideflow.io.local_files import as_tensorflow_errors
from tideflow.pipeline.data.whole_files import printable, write_whole

_MOST_KEPT = 1000
_MOST_TEXT = 1000  # characters of a faulty row


@dataclass(frozen=True, order=True)
class Fault:
    """A row that could not be read, or a whole file.

    Args:
      path: The file.
      line: The line that the row begins with, or the number of the record in a TFRecord file, from 1; 0 for a
        file as a whole.
      reason: What is wrong with it.
      text: The beginning of the row as it stands in the file.
    """

    path: str
    line: int
    reason: str
    text: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return printable(f"{place}: {self.reason}" + (f": {self.text}" if self.text else ""))


@dataclass
class Faults:
    """The faults of a pass: how many by reason, and the first of them (by file and line) with their text."""

    counts: Counter[str] = field(default_factory=Counter)
    first: list[Fault] = field(default_factory=list)

    def __len__(self) -> int:
        return self.counts.total()

    def add(self, path: str, line: int, reason: str, text: str | bytes = "") -> None:
        """Counts a faulty row."""
        self.counts[reason] += 1
        if len(self.first) < _MOST_KEPT:
            if isinstance(text, bytes):
                text = text[:_MOST_TEXT].decode(errors="backslashreplace")
            self.first.append(Fault(path, line, reason, text[:_MOST_TEXT]))

    def merge(self, others: Iterable[Faults]) -> Faults:
        """Adds the faults of other parts of the pass; returns self."""
        for other in others:
            self.counts.update(other.counts)
            self.first += other.first
        self.first = sorted(self.first)[:_MOST_KEPT]
        return self

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the faults that are kept as JSON lines, one a row."""
        lines = [json.dumps(asdict(fault)) + "\n" for fault in sorted(self.first)]
        with as_tensorflow_errors(os.fspath(path)):
            write_whole(path, "".join(lines))

    def in_words(self) -> str:
        """How many there are, as the beginning of a sentence."""
        return "1 faulty row or file was" if len(self) == 1 else f"{len(self)} faulty rows or files were"

    def __str__(self) -> str:
        return "\n".join(f"{count} x {reason}" for reason, count in self.counts.most_common())
