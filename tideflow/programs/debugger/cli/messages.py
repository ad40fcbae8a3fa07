"""What the terminal says in several places: sizes, times, values, errors, and what a step is about to do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tideflow.graph.operation import Operation, Tensor
from tideflow.platform import gfile
from tideflow.programs.debugger.cli import arguments, tensor_text
from tideflow.programs.debugger.cli.commands import Menu, MenuItem
from tideflow.programs.debugger.cli.rich_text import (
    MAIN_MENU_KEY,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tideflow.programs.debugger.run_keys import get_flattened_names, get_graph_element_name
from tideflow.variables.base import Variable

DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000

COLOR_BLACK = "black"
COLOR_BLUE = "blue"
COLOR_CYAN = "cyan"
COLOR_GRAY = "gray"
COLOR_GREEN = "green"
COLOR_MAGENTA = "magenta"
COLOR_RED = "red"
COLOR_WHITE = "white"
COLOR_YELLOW = "yellow"

TIME_UNIT_US = "us"
TIME_UNIT_MS = "ms"
TIME_UNIT_S = "s"
TIME_UNITS = [TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S]

_BAR = "======================================"
_ERROR_BAR = "--------------------------------------"


def bytes_to_readable_str(num_bytes: int | None, include_b: bool = False) -> str:
    """A size as people read it: `4.50k`.

    Args:
      num_bytes: The number of bytes.
      include_b: Whether a B stands behind it.

    Returns:
      The text.
    """
    if num_bytes is None:
        return str(num_bytes)
    text = f"{num_bytes:d}"
    for power, unit in enumerate("kMG", 1):
        if num_bytes >= 1024**power:
            text = f"{num_bytes / 1024**power:.2f}{unit}"
    return text + "B" * include_b


def time_to_readable_str(value_us: float, force_time_unit: str | None = None) -> str:
    """A time as people read it: `1.5ms`.

    Args:
      value_us: The microseconds.
      force_time_unit: `us`, `ms` or `s`; the one that fits if None.

    Returns:
      The text.
    """
    if not value_us:
        return "0"
    if force_time_unit and force_time_unit not in TIME_UNITS:
        raise ValueError(f"Invalid time unit: {force_time_unit}")
    if force_time_unit:
        return f"{value_us / 1000.0 ** TIME_UNITS.index(force_time_unit):.10g}{force_time_unit}"
    order = min(len(TIME_UNITS) - 1, int(math.log10(value_us) / 3))
    return f"{value_us / 1000.0**order:.3g}{TIME_UNITS[order]}"


def parse_ranges_highlight(ranges_string: str | None) -> tensor_text.HighlightOptions | None:
    """The elements in some ranges stand out.

    Args:
      ranges_string: The ranges, `[[-inf, -0.1], [0.1, inf]]`; None or empty for no ranges.

    Returns:
      `HighlightOptions`, or None without ranges.
    """
    if not ranges_string:
        return None
    ranges = arguments.parse_ranges(ranges_string)

    def is_in_a_range(value: np.ndarray) -> np.ndarray:
        bounds = np.asarray(ranges, np.float64)  # 64 bits, also beside values of 32
        return np.any([(value >= start) & (value <= end) for start, end in bounds], axis=0)

    return tensor_text.HighlightOptions(is_in_a_range, description=ranges_string)


def numpy_printoptions_from_screen_info(screen_info: dict[str, Any] | None) -> dict[str, Any]:
    """Options of NumPy's printing that fit a terminal.

    Args:
      screen_info: What is known about the terminal.

    Returns:
      The options.
    """
    return {"linewidth": screen_info["cols"]} if screen_info and "cols" in screen_info else {}


def format_tensor(
    tensor: Any,
    tensor_name: str,
    np_printoptions: dict[str, Any],
    print_all: bool = False,
    tensor_slicing: str | None = None,
    highlight_options: tensor_text.HighlightOptions | None = None,
    include_numeric_summary: bool = False,
    write_path: str | None = None,
) -> RichTextLines:
    """A value, or a part of it, as lines; it can be written to a file besides.

    Args:
      tensor: The value.
      tensor_name: Its name.
      np_printoptions: Options of NumPy's printing.
      print_all: Whether no elements are left out.
      tensor_slicing: Which part, `[0, :]`; all if None or empty.
      highlight_options: Which elements stand out.
      include_numeric_summary: Whether its numbers are counted.
      write_path: The file that it is written to by `np.save`; none if None or empty.

    Returns:
      `RichTextLines`.
    """
    if tensor_slicing:
        tensor = arguments.evaluate_tensor_slice(tensor, tensor_slicing)
        tensor_name += tensor_slicing
    threshold = max(np.size(tensor), 1) if print_all else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return tensor_text.format_tensor(
        tensor,
        tensor_name,
        include_metadata=True,
        auxiliary_message=_saved(tensor, write_path) if write_path else None,
        include_numeric_summary=include_numeric_summary,
        np_printoptions={**np_printoptions, "threshold": threshold},
        highlight_options=highlight_options,
    )


def _saved(value: Any, path: str) -> RichTextLines:
    with gfile.GFile(path, "wb") as file:
        np.save(file, value)
    size = bytes_to_readable_str(gfile.stat(path).length)
    line = RichLine("Saved value to: ") + RichLine(path, "bold") + f" ({size}B)"
    return rich_text_lines_from_rich_line_list([line, ""])


def error(msg: str) -> RichTextLines:
    """A refusal, in red."""
    return rich_text_lines_from_rich_line_list([RichLine("ERROR: " + msg, COLOR_RED)])


def _recommend_command(
    command: str, description: str, indent: int = 2, create_link: bool = False
) -> RichTextLines:
    attribute = [MenuItem("", command), "bold"] if create_link else "bold"
    line = RichLine(" " * indent) + RichLine(command, attribute) + ":"
    return rich_text_lines_from_rich_line_list([line, " " * (indent + 2) + description])


def get_tfdbg_logo() -> RichTextLines:
    """The debugger's name in large letters."""
    return RichTextLines(
        [
            "",
            "TTTTTT FFFF DDD  BBBB   GGG ",
            "  TT   F    D  D B   B G    ",
            "  TT   FFF  D  D BBBB  G  GG",
            "  TT   F    D  D B   B G   G",
            "  TT   F    DDD  BBBB   GGG ",
            "",
        ]
    )


def get_run_start_intro(
    run_call_count: int, fetches: Any, feed_dict: Any, tensor_filters: Any, is_callable_runner: bool = False
) -> RichTextLines:
    """What a step fetches and is fed, and how the user may go on.

    Args:
      run_call_count: The number of the step.
      fetches: What it fetches.
      feed_dict: What it is fed.
      tensor_filters: A dictionary of filters by name.
      is_callable_runner: Whether it is made by a function of `Session.make_callable`.

    Returns:
      `RichTextLines`.
    """
    intro = RichTextLines(_BAR)
    if is_callable_runner:
        intro.append("Running a runner returned by Session.make_callable()")
    else:
        names = ["  " + name for name in get_flattened_names(fetches)]
        for line in (f"Session.run() call #{run_call_count}:", "", "Fetch(es):", *names, "", "Feed dict:"):
            intro.append(line)
        for name in map(get_graph_element_name, feed_dict or ()):
            intro.append_rich_line(RichLine("  ") + RichLine(name, MenuItem(None, f"pf '{name}'")))
        if not feed_dict:
            intro.append("  (Empty)")
    for line in (_BAR, "", "Select one of the following commands to proceed ---->"):
        intro.append(line)
    for command, description, links in (
        ("run", "Execute the run() call with debug tensor-watching", True),
        ("run -n", "Execute the run() call without debug tensor-watching", True),
        (
            "run -t <T>",
            "Execute run() calls (T - 1) times without debugging, then execute run() once more with "
            "debugging and drop back to the CLI",
            False,
        ),
        (
            "run -f <filter_name>",
            "Keep executing run() calls until a dumped tensor passes a given, registered filter "
            "(conditional breakpoint mode)",
            False,
        ),
    ):
        intro.extend(_recommend_command(command, description, create_link=links))
    intro.append("    Registered filter(s):")
    for name in tensor_filters or ():
        intro.append_rich_line(RichLine("        * ") + RichLine(name, MenuItem("", f"run -f {name}")))
    if not tensor_filters:
        intro.append("        (None)")
    intro.append("")
    intro.append_rich_line(RichLine("For more details, see ") + RichLine("help.", MenuItem("", "help")) + ".")
    intro.append("")
    menu = Menu()
    menu.append(MenuItem("run", "run"))
    menu.append(MenuItem("exit", "exit"))
    intro.annotations[MAIN_MENU_KEY] = menu
    return intro


def get_run_short_description(
    run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False
) -> str:
    """A step in a few words: `run #1: 1 fetch (loss:0); 2 feeds`.

    Args:
      run_call_count: The number of the step.
      fetches: What it fetches.
      feed_dict: What it is fed.
      is_callable_runner: Whether it is made by a function of `Session.make_callable`.

    Returns:
      The words.
    """
    if is_callable_runner:
        return "runner from make_callable()"
    if isinstance(fetches, (Tensor, Operation, Variable)):
        fetched = f"1 fetch ({get_graph_element_name(fetches)})"
    else:
        count = len(get_flattened_names(fetches))
        fetched = f"{count} fetches" if count > 1 else f"{count} fetch"
    fed = f"{len(feed_dict or ())} feeds"
    if feed_dict and len(feed_dict) == 1:
        fed = f"1 feed ({get_graph_element_name(next(iter(feed_dict)))})"
    return f"run #{run_call_count}: {fetched}; {fed}"


def get_error_intro(tf_error: Any) -> RichTextLines:
    """What is said when a step has failed.

    Args:
      tf_error: The error.

    Returns:
      `RichTextLines`.
    """
    name = getattr(getattr(tf_error, "op", None), "name", None)
    intro = rich_text_lines_from_rich_line_list(
        [_ERROR_BAR, RichLine("!!! An error occurred during the run !!!", "blink"), ""]
    )
    if name is None:
        intro.append("WARNING: Cannot determine the name of the op that caused the error.")
    else:
        intro.append("You may use the following commands to debug:")
        for command, description in (
            (f"ni -a -d -t {name}", "Inspect information about the failing op."),
            (f"li -r {name}", "List inputs to the failing op, recursively."),
            ("lt", "List all tensors dumped during the failing run() call."),
        ):
            intro.extend(_recommend_command(command, description, create_link=True))
    details = ["Details:", str(tf_error), "", _ERROR_BAR, ""]
    for line in ("", f"Op name:    {name}", f"Error type: {type(tf_error)}", "", *details):
        intro.append(line)
    return intro
