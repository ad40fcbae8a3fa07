"""Reports: facts and tables, printed plainly or, on a terminal that has `rich`, with its tables."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TextIO

_NAME_WIDTH = 32  # of the first column, before other columns are left out for it
_LEAST_WIDTH = 16  # of the first column, however narrow the terminal is


@dataclass
class Table:
    """Rows under columns. Columns whose names are in `numbers` are aligned to the right.

    Where there is too little room, the `optional` columns are left out, the first of them first, and then
    cells of the first column are shortened.
    """

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]]
    numbers: frozenset[str] = frozenset()
    note: str = ""
    optional: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        numbers: Iterable[str] = (),
        note: str = "",
        optional: tuple[str, ...] = (),
    ) -> Table:
        """A table of anything that can be said in a word; columns in which nothing is said are left out."""
        texts = [[str(cell) for cell in row] for row in rows]
        used = [i for i, _ in enumerate(columns) if not texts or any(row[i] for row in texts)]
        shown = [[row[i] for i in used] for row in texts]
        return cls(title, [columns[i] for i in used], shown, frozenset(numbers), note, optional)

    def widths(self) -> list[int]:
        """How wide each column is."""
        return [max(map(len, column)) for column in zip(self.columns, *self.rows)]

    def fitted(self, width: int | None) -> Table:
        """The table as it fits lines of a width; None is as wide as it wants to be."""
        if width is None or not self.rows:
            return self
        spare = width - 2 - sum(wide + 2 for wide in self.widths()[1:])
        droppable = next((name for name in self.optional if name in self.columns), None)
        if spare < min(self.widths()[0], _NAME_WIDTH) and droppable:
            return self._without(droppable).fitted(width)
        rows = [[shortened(row[0], max(spare, _LEAST_WIDTH)), *row[1:]] for row in self.rows]
        return replace(self, rows=rows)

    def _without(self, column: str) -> Table:
        at = list(self.columns).index(column)
        columns, *rows = ([*cells[:at], *cells[at + 1 :]] for cells in (self.columns, *self.rows))
        return replace(self, columns=columns, rows=rows)


@dataclass
class Report:
    """What is said of a path: a headline, facts, tables, lines of text, and reports of what lies within."""

    headline: str
    facts: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    text: str = ""
    parts: list[Report] = field(default_factory=list)


# -------------------------------------------------------------------------------------------------- in words


def byte_count(size: int) -> str:
    """A number of bytes as people say it."""
    amount, units = float(size), iter(("B", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while amount >= 999.5 and unit != "TB":
        amount, unit = amount / 1000, next(units)
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.3g} {unit}"


def plural(count: int, word: str) -> str:
    """A count with its word."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def shape_text(shape: Iterable[Any] | None) -> str:
    """A shape in brackets; unknown sizes are question marks."""
    if shape is None:
        return "unknown"
    return "[" + ", ".join("?" if size is None or size < 0 else str(size) for size in shape) + "]"


def number(value: float | None) -> str:
    """A number in few digits; nothing for none."""
    return "" if value is None else f"{value:.6g}" if float(value).is_integer() else f"{value:.3g}"


def shortened(text: str, width: int) -> str:
    """A text with its middle left out where it is too long."""
    if len(text) <= width:
        return text
    kept = max(width - 1, 2)
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


# ------------------------------------------------------------------------------------------------- printing


def show(report: Report, file: TextIO | None = None) -> None:
    """Prints a report: as wide as a terminal is, or as wide as it wants to be."""
    file = file or sys.stdout
    if hasattr(file, "reconfigure"):
        file.reconfigure(errors="replace")  # rules and bars are not in every encoding
    if file.isatty():
        width = shutil.get_terminal_size().columns
        try:
            from tideflow.inspect.terminal import print_report  # loaded when asked for
        except ImportError:  # the terminal's library is optional
            pass
        else:
            print_report(report, file, width)
            return
        file.write(as_text(report, width))
    else:
        file.write(as_text(report))


def as_text(report: Report, width: int | None = None) -> str:
    """A report as plain text."""
    return "\n".join(_lines(report, width)) + "\n"


def _lines(report: Report, width: int | None) -> list[str]:
    lines = [report.headline]
    wide = max((len(label) for label in report.facts), default=0)
    lines += [f"  {label:<{wide}}  {value}" for label, value in report.facts.items()]
    if report.text:
        lines += ["", *report.text.splitlines()]
    for table in report.tables:
        lines += ["", *_table_lines(table, width)]
    for part in report.parts:
        lines += ["", *_lines(part, width)]
    return lines


def _table_lines(table: Table, width: int | None) -> list[str]:
    table = table.fitted(width)
    widths = table.widths()
    lines = [table.title] if table.title else []

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:>{wide}}" if name in table.numbers else f"{cell:<{wide}}"
            for cell, wide, name in zip(cells, widths, table.columns)
        )
        return f"  {'  '.join(padded)}".rstrip()

    lines += [line(table.columns), line(["─" * wide for wide in widths]), *map(line, table.rows)]
    return lines + ([f"  {table.note}"] if table.note else [])
