"""Reports on a terminal, by `rich`."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text

from tideflow.inspect.report import Report, Table


def print_report(report: Report, file: TextIO, width: int) -> None:
    """Prints a report with rules, colours and tables."""
    _print(report, Console(file=file, width=width, highlight=False), width)


def _print(report: Report, console: Console, width: int) -> None:
    console.print(Text(report.headline, style="bold cyan"))
    if report.facts:
        grid = RichTable.grid(padding=(0, 2))
        for label, value in report.facts.items():
            grid.add_row(Text(f"  {label}", style="dim"), Text(str(value)))
        console.print(grid)
    if report.text:
        console.print(Text(f"\n{report.text}"))
    for table in report.tables:
        console.print()
        console.print(_rich_table(table, width))
    for part in report.parts:
        console.print()
        _print(part, console, width)


def _rich_table(table: Table, width: int) -> Group:
    table = table.fitted(width)
    made = RichTable(box=None, padding=(0, 0, 0, 2), pad_edge=True, header_style="bold")
    for name in table.columns:
        made.add_column(name, justify="right" if name in table.numbers else "left", no_wrap=True)
    made.add_row(*(Text("─" * wide, style="dim") for wide in table.widths()))
    for row in table.rows:
        made.add_row(*(Text(cell, style="red" if cell.endswith("!") else "") for cell in row))
    title = [Text(table.title, style="bold magenta")] if table.title else []
    note = [Text(f"  {table.note}", style="dim")] if table.note else []
    return Group(*title, made, *note)
