"""Commands that show the times of a step: of its operations, and of the lines that have made them."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tideflow.programs.debugger import source_lines
from tideflow.programs.debugger.cli.arguments import command_parser, parse_time_interval
from tideflow.programs.debugger.cli.commands import MenuItem
from tideflow.programs.debugger.cli.messages import (
    COLOR_CYAN,
    COLOR_YELLOW,
    TIME_UNIT_US,
    TIME_UNITS,
    time_to_readable_str,
)
from tideflow.programs.debugger.cli.rich_text import (
    INIT_SCROLL_POS_KEY,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tideflow.programs.debugger.cli.terminals import BaseUI, get_ui
from tideflow.programs.debugger.profiling import ProfileDatum

SORT_OPS_BY_OP_NAME = "node"
SORT_OPS_BY_OP_TYPE = "op_type"
SORT_OPS_BY_OP_TIME = "op_time"
SORT_OPS_BY_EXEC_TIME = "exec_time"
SORT_OPS_BY_START_TIME = "start_time"
SORT_OPS_BY_LINE = "line"
_SORT_KEYS: dict[str, Callable[[ProfileDatum], Any]] = {
    SORT_OPS_BY_OP_NAME: lambda datum: datum.node_exec_stats.node_name,
    SORT_OPS_BY_OP_TYPE: lambda datum: datum.op_type,
    SORT_OPS_BY_START_TIME: lambda datum: datum.start_time,
    SORT_OPS_BY_OP_TIME: lambda datum: datum.op_time,
    SORT_OPS_BY_EXEC_TIME: lambda datum: datum.exec_time,
    SORT_OPS_BY_LINE: lambda datum: datum.file_line_func,
}
_FILTERS = ("device_name_filter", "node_name_filter", "op_type_filter")
_BAR_LENGTH = 10


class ProfileDataTableView:
    """Times of operations as a table.

    Args:
      profile_datum_list: The times.
      time_unit: `us`, `ms` or `s`.
    """

    def __init__(self, profile_datum_list: Sequence[ProfileDatum], time_unit: str = TIME_UNIT_US):
        self._data = profile_datum_list
        self._unit = time_unit

    def value(
        self,
        row: int,
        col: int,
        device_name_filter: str | None = None,
        node_name_filter: str | None = None,
        op_type_filter: str | None = None,
    ) -> RichLine:
        """A cell.

        Args:
          row: The number of the row.
          col: The number of the column.
          device_name_filter: What the table was filtered by.
          node_name_filter: What the table was filtered by.
          op_type_filter: What the table was filtered by.

        Returns:
          A `RichLine`.
        """
        datum = self._data[row]
        if col == 5:
            options = _filter_options(device_name_filter, node_name_filter, op_type_filter)
            command = f"ps{options} {datum.file_path} --init_line {datum.line_number}"
            return RichLine(datum.file_line_func, MenuItem(None, command))
        texts = (
            datum.node_exec_stats.node_name,
            datum.op_type,
            str(datum.start_time),
            time_to_readable_str(datum.op_time, self._unit),
            time_to_readable_str(datum.exec_time, self._unit),
        )
        if not 0 <= col < len(texts):
            raise IndexError(f"Invalid column index {col}.")
        return RichLine(texts[col])

    def row_count(self) -> int:
        """The number of rows."""
        return len(self._data)

    def column_count(self) -> int:
        """The number of columns."""
        return len(self.column_names())

    def column_names(self) -> list[str]:
        """The titles of the columns."""
        times = [f"{what} Time ({self._unit})" for what in ("Op", "Exec")]
        return ["Node", "Op Type", "Start Time (us)", *times, "Filename:Lineno(function)"]

    def column_sort_id(self, col: int) -> str:
        """What sorts by a column."""
        return list(_SORT_KEYS)[col]


def _filter_options(device: str | None, node: str | None, op_type: str | None) -> str:
    given = zip(_FILTERS, (device, node, op_type), strict=True)
    return "".join(f" --{name} {value}" for name, value in given if value)


def _list_parser() -> argparse.ArgumentParser:
    parser = command_parser("List nodes profile information.")
    for letter, name in zip("dnt", _FILTERS, strict=True):
        what = name.removesuffix("_filter").replace("_", " ")
        parser.add_argument(f"-{letter}", f"--{name}", default="", help=f"filter {what} by regex.")
    parser.add_argument(
        "-f",
        "--file_path_filter",
        default="",
        help="filter by file name at the top position of node's creation stack that does not belong to "
        "TensorFlow library.",
    )
    for name, bound in (("min_lineno", "(Inclusive) lower"), ("max_lineno", "(Exclusive) upper")):
        parser.add_argument(
            f"--{name}",
            type=int,
            default=-1,
            help=f"{bound} bound for 1-based line number in source file. If <= 0, has no effect.",
        )
    units = "Supported units are s, ms and us (default). E.g. -e >100s, -e <100, -e [100us,1000ms]"
    parser.add_argument(
        "-e",
        "--execution_time",
        default="",
        help="Filter by execution time interval (includes compute plus pre- and post -processing time). "
        + units,
    )
    parser.add_argument(
        "-o",
        "--op_time",
        default="",
        help=f"Filter by op time interval (only includes compute time). {units}",
    )
    keys = (*list(_SORT_KEYS)[:2], *list(_SORT_KEYS)[3:5], SORT_OPS_BY_START_TIME, SORT_OPS_BY_LINE)
    parser.add_argument(
        "-s",
        "--sort_by",
        default=SORT_OPS_BY_START_TIME,
        help=f"the field to sort the data by: ({' | '.join(keys)})",
    )
    parser.add_argument(
        "-r", "--reverse", action="store_true", help="sort the data in reverse (descending) order"
    )
    _add_time_unit(parser)
    return parser


def _add_time_unit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--time_unit", default=TIME_UNIT_US, help=f"Time unit ({' | '.join(TIME_UNITS)})")


def _source_parser() -> argparse.ArgumentParser:
    parser = command_parser("Print a Python source file with line-level profile information")
    parser.add_argument("source_file_path", help="Path to the source_file_path")
    parser.add_argument(
        "--cost_type", choices=["exec_time", "op_time"], default="exec_time", help="Type of cost to display"
    )
    _add_time_unit(parser)
    for letter, name in zip("dnt", _FILTERS, strict=True):
        what = name.removesuffix("_filter").replace("_", " ")
        parser.add_argument(f"-{letter}", f"--{name}", default="", help=f"Filter {what} by regex.")
    parser.add_argument(
        "--init_line", type=int, default=0, help="The 1-based line number to scroll to initially."
    )
    return parser


class ProfileAnalyzer:
    """Answers commands about the times of a step.

    Args:
      graph: The graph.
      run_metadata: What the step says about itself.
    """

    def __init__(self, graph: Any, run_metadata: Any):
        if not run_metadata:
            raise ValueError("No RunMetadata passed for profile analysis.")
        self._graph, self._run_metadata = graph, run_metadata
        self._arg_parsers = {"list_profile": _list_parser(), "print_source": _source_parser()}

    def get_help(self, handler_name: str) -> str:
        """What a command does."""
        return self._arg_parsers[handler_name].format_help()

    def _devices(self, device_name_filter: str) -> Iterator[tuple[int, str, list[ProfileDatum]]]:
        """The times of each device: its number, its name and the times of its operations."""
        made_at = {op.name: (*_place(op), op.type) for op in self._graph.get_operations()}
        for number, device in enumerate(self._run_metadata.step_stats.dev_stats, 1):
            if re.match(device_name_filter, device.device):
                stats = [s for s in device.node_stats if s.node_name not in ("_SOURCE", "_SINK")]
                found = [(s, *made_at.get(s.node_name, ("", 0, "", ""))) for s in stats]
                yield number, device.device, [ProfileDatum(device.device, *facts) for facts in found]

    # ------------------------------------------------------------------ operations

    def list_profile(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Lists the times of operations.

        Args:
          args: What is typed behind the command.
          screen_info: What is known about the terminal.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["list_profile"].parse_args(args)
        wanted = _profile_filter(asked)
        columns = (screen_info or {}).get("cols", 80)
        output = RichTextLines([""])
        for number, device, data in self._devices(asked.device_name_filter):
            key = _SORT_KEYS.get(asked.sort_by, _SORT_KEYS[SORT_OPS_BY_START_TIME])
            data = sorted(filter(wanted, data), key=key, reverse=asked.reverse)
            title = f"Device {number} of {len(self._run_metadata.step_stats.dev_stats)}: {device}"
            lines = [RichLine("-" * columns), RichLine(title), RichLine(), *_profile_table(data, asked)]
            output.extend(rich_text_lines_from_rich_line_list(lines))
        return output

    # ------------------------------------------------------------------ source

    def print_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows a file of the program, and the times of what each of its lines has made.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["print_source"].parse_args(args)
        data = [datum for _, _, found in self._devices(asked.device_name_filter) for datum in found]
        profiles = source_lines.annotate_source_against_profile(
            data, os.path.expanduser(asked.source_file_path), asked.node_name_filter, asked.op_type_filter
        )
        if not profiles:
            filters = [f"  --{name}: {getattr(asked, name)}" for name in _FILTERS]
            text = "does not contain any profile information for the previous Session run under the following"
            return RichTextLines([f"The source file {asked.source_file_path} {text} filters:", *filters])
        lines, width = source_lines.load_source(asked.source_file_path)
        shown = _source_heads(asked.cost_type, width)
        most = max(_cost(profile, asked.cost_type) for profile in profiles.values())
        notes = {}
        for number, line in enumerate(lines, 1):
            if number == asked.init_line:
                notes[INIT_SCROLL_POS_KEY] = len(shown)
            head = _costs(profiles.get(number), most, number, asked)
            place = RichLine(f" L{number}", COLOR_YELLOW)
            shown.append(head + place + " " * (width - len(place)) + line)
        return rich_text_lines_from_rich_line_list(shown, annotations=notes)


def _place(op: Any) -> tuple[str, int, str]:
    """The innermost line of the user's program that has made an operation: file, number and function."""
    frames = [frame[:3] for frame in reversed(op.traceback)]
    own = (f for f in frames if not source_lines.guess_is_tensorflow_py_library(_as_source(f[0])))
    return next(own, frames[-1] if frames else ("", 0, ""))


def _as_source(path: str) -> str:
    """The path, where it names a file of Python's; what is typed in counts as the user's too."""
    return path if source_lines.is_extension_uncompiled_python_source(path) else "typed.py"


def _profile_filter(asked: Any) -> Callable[[ProfileDatum], bool]:
    op_time = parse_time_interval(asked.op_time) if asked.op_time else None
    exec_time = parse_time_interval(asked.execution_time) if asked.execution_time else None

    def wanted(datum: ProfileDatum) -> bool:
        line = datum.line_number
        return (
            re.match(asked.node_name_filter, datum.node_exec_stats.node_name) is not None
            and re.match(asked.file_path_filter, datum.file_path or "") is not None
            and re.match(asked.op_type_filter, datum.op_type) is not None
            and not (asked.min_lineno > 0 and line and line < asked.min_lineno)
            and not (asked.max_lineno > 0 and line and line >= asked.max_lineno)
            and (op_time is None or op_time.contains(datum.op_time))
            and (exec_time is None or exec_time.contains(datum.exec_time))
        )

    return wanted


def _profile_table(data: Sequence[ProfileDatum], asked: Any) -> list[RichLine]:
    table = ProfileDataTableView(data, asked.time_unit)
    filters = (asked.device_name_filter, asked.node_name_filter, asked.op_type_filter)
    columns = range(table.column_count())
    rows = [[table.value(row, col, *filters) for col in columns] for row in range(table.row_count())]
    totals = ["Device Total", ""]
    for times in ([datum.op_time for datum in data], [datum.exec_time for datum in data]):
        totals.append(time_to_readable_str(sum(times), asked.time_unit))
    heads = []
    for col, name in enumerate(table.column_names()):
        key = table.column_sort_id(col)
        turned = " -r" if asked.sort_by == key and not asked.reverse else ""
        heads.append(RichLine(name, [MenuItem(None, f"list_profile -s {key}{turned}"), "bold"]))
    last = [RichLine(total) for total in totals] + [RichLine(), RichLine()]
    widths = [max(map(len, cells)) + 2 for cells in zip(heads, *rows, last, strict=True)]
    lines = [_row(cells, widths) for cells in (heads, *rows)]
    return [*lines, RichLine(), _row(last[: len(totals)], widths)]


def _row(cells: Sequence[RichLine], widths: Sequence[int]) -> RichLine:
    line = RichLine()
    for cell, width in zip(cells, widths, strict=False):
        line += cell
        line += " " * (width - len(cell))
    return line


def _source_widths(cost_type: str) -> tuple[int, int, int]:
    """How wide the columns of bars, of costs and of numbers of operations are."""
    return _BAR_LENGTH + 3, len(cost_type) + 3, len("(#execs)") + 1


def _source_heads(cost_type: str, width: int) -> list[RichLine]:
    bar, cost, nodes = _source_widths(cost_type)
    head = RichLine(" " * bar + cost_type.ljust(cost) + "#nodes".ljust(nodes), COLOR_CYAN)
    below = RichLine(" " * (bar + cost) + "(#execs)".ljust(nodes) + " " * width, COLOR_CYAN)
    return [head + RichLine("lineno", COLOR_YELLOW), below + RichLine("source", "bold")]


def _cost(profile: Any, cost_type: str) -> int:
    return profile.total_exec_time if cost_type == "exec_time" else profile.total_op_time


def _costs(profile: Any, most: int, line: int, asked: Any) -> RichLine:
    """What stands before a line: a bar, its cost, how many operations it has made and how often they ran."""
    widths = _source_widths(asked.cost_type)
    if profile is None:
        return RichLine(" " * sum(widths))
    cost = _cost(profile, asked.cost_type)
    ticks = math.ceil(cost / most * _BAR_LENGTH) if most else 0
    bar = RichLine("[", COLOR_CYAN) + RichLine(("|" * (ticks or 1)).ljust(_BAR_LENGTH), ["bold", COLOR_CYAN])
    path = re.escape(asked.source_file_path) + "$"
    command = f"lp --file_path_filter {path} --min_lineno {line} --max_lineno {line + 1}"
    command += _filter_options(*(getattr(asked, name) for name in _FILTERS))
    count = f"{profile.node_count}({profile.node_exec_count})"
    cells = (
        bar + RichLine("]", COLOR_CYAN),
        RichLine(time_to_readable_str(cost, asked.time_unit), COLOR_CYAN),
        RichLine(count, [COLOR_CYAN, MenuItem(None, command)]),
    )
    return _row(cells, widths)


def create_profiler_ui(
    graph: Any,
    run_metadata: Any,
    ui_type: str = "curses",
    on_ui_exit: Callable | None = None,
    config: Any = None,
) -> BaseUI:
    """A terminal that shows the times of a step.

    Args:
      graph: The graph.
      run_metadata: What the step says about itself.
      ui_type: `"curses"` or `"readline"`.
      on_ui_exit: A function that is called when the user leaves the terminal.
      config: The settings; those in the user's file if None.

    Returns:
      The terminal.
    """
    analyzer = ProfileAnalyzer(graph, run_metadata)
    terminal = get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for name, handler, alias in (
        ("list_profile", analyzer.list_profile, "lp"),
        ("print_source", analyzer.print_source, "ps"),
    ):
        terminal.register_command_handler(name, handler, analyzer.get_help(name), [alias])
    return terminal
