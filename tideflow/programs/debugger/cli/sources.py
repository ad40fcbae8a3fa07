"""Files of the program on the terminal: with what their lines have made, and as a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.programs.debugger import source_lines
from tideflow.programs.debugger.cli.commands import MenuItem
from tideflow.programs.debugger.cli.messages import COLOR_BLUE, COLOR_GRAY, COLOR_WHITE, COLOR_YELLOW
from tideflow.programs.debugger.cli.rich_text import (
    INIT_SCROLL_POS_KEY,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tideflow.programs.debugger.graphs import get_node_name

_HEADS = ("Source file path", "#(nodes)", "#(tensors)", "#(tensor dumps)")


def annotated_file(dump: Any, asked: Any) -> RichTextLines:
    """A file, with the operations or the tensors that its lines have made.

    Args:
      dump: The step.
      asked: What the user has typed behind `print_source`.

    Returns:
      `RichTextLines`.
    """
    made = source_lines.annotate_source(dump, asked.source_file_path, do_dumped_tensors=asked.tensors)
    lines, width = source_lines.load_source(asked.source_file_path)
    shown: list[RichLine] = []
    first = 0
    for number, line in enumerate(lines, 1):
        if number == asked.line_begin:
            first = len(shown)
        head = RichLine(f"L{number}", COLOR_YELLOW)
        shown.append(head + " " * (width - len(head)) + line)
        shown += _elements(dump, sorted(made.get(number, ())), number, asked)
    return rich_text_lines_from_rich_line_list(shown, annotations={INIT_SCROLL_POS_KEY: first})


def _elements(dump: Any, names: Sequence[str], line: int, asked: Any) -> list[RichLine]:
    most = asked.max_elements_per_line
    shown = []
    for name in names[:most]:
        is_kept = dump.debug_watch_keys(get_node_name(name))
        shown.append(RichLine("    ") + RichLine(name, MenuItem("", f"pt {name}") if is_kept else COLOR_BLUE))
    if len(names) > most:
        what = "tensor(s)" if asked.tensors else "op(s)"
        omitted = RichLine(f"    (... Omitted {len(names) - most} of {len(names)} {what} ...) ")
        tensors = "-t" if asked.tensors else ""
        command = f"ps {asked.source_file_path} {tensors} -b {line} -m {most + 5}"
        shown.append(omitted + RichLine("+5", MenuItem(None, command)))
    return shown


def files(dump: Any, path_filter: str, node_name_filter: str) -> RichTextLines:
    """The files that have made operations of a step.

    Args:
      dump: The step.
      path_filter: An expression that paths of files match.
      node_name_filter: An expression that names of operations match.

    Returns:
      `RichTextLines`.
    """
    found = source_lines.list_source_files_against_dump(dump, path_filter, node_name_filter)
    lines = [RichLine("List of source files that created nodes in this run", "bold")]
    if path_filter:
        lines.append(RichLine(f'File path regex filter: "{path_filter}"'))
    if node_name_filter:
        lines.append(RichLine(f'Node name regex filter: "{node_name_filter}"'))
    lines.append(RichLine())
    if not found:
        lines.append(RichLine("[No source file information.]"))
        return rich_text_lines_from_rich_line_list(lines)
    own, library = ([item for item in found if item[1] == is_library] for is_library in (False, True))
    lines += [RichLine("File(s) outside TensorFlow Python library:", COLOR_WHITE), *_table(own, COLOR_WHITE)]
    lines += [RichLine("TensorFlow Python library file(s):", COLOR_GRAY), *_table(library, COLOR_GRAY)]
    return rich_text_lines_from_rich_line_list(lines)


def _table(found: Sequence[Any], color: str) -> list[RichLine]:
    if not found:
        return [RichLine("[No files.]"), RichLine()]
    rows = [(path, str(nodes), str(tensors), str(dumps)) for path, _, nodes, tensors, dumps, _ in found]
    widths = [max(map(len, column)) + 1 for column in zip(_HEADS, *rows, strict=True)][:3] + [0]
    lines = []
    for number, cells in enumerate([_HEADS, *rows]):
        line = RichLine()
        for position, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            attributes: Any = color
            if number and not position:
                attributes = [color, MenuItem(None, f"ps {cell} -b {found[number - 1][5]}")]
            line += RichLine(cell, attributes)
            line += " " * (width - len(cell))
        lines.append(line)
    return [*lines, RichLine()]
