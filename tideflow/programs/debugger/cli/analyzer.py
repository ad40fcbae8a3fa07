"""Commands that show a step: its tensors, its operations and their neighbours, its values, and its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tideflow.programs.debugger.cli import messages, sources
from tideflow.programs.debugger.cli.arguments import parse_tensor_name_with_slicing
from tideflow.programs.debugger.cli.commands import Menu, MenuItem
from tideflow.programs.debugger.cli.expressions import ExpressionEvaluator
from tideflow.programs.debugger.cli.parsers import (
    SORT_KEYS,
    SORT_TENSORS_BY_DUMP_SIZE,
    SORT_TENSORS_BY_OP_TYPE,
    SORT_TENSORS_BY_TENSOR_NAME,
    SORT_TENSORS_BY_TIMESTAMP,
    parsers,
)
from tideflow.programs.debugger.cli.rich_text import (
    MAIN_MENU_KEY,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tideflow.programs.debugger.cli.settings import CLIConfig
from tideflow.programs.debugger.cli.terminals import BaseUI, get_ui
from tideflow.programs.debugger.graphs import get_node_name, parse_node_or_tensor_name

HANG_UNFINISHED = "|  "  # used for unfinished recursion depths
HANG_FINISHED = "   "
HANG_SUFFIX = "|- "
DEPTH_TEMPLATE = "(%d) "
OP_TYPE_TEMPLATE = "[%s] "
CTRL_LABEL = "(Ctrl) "
ELLIPSIS = "..."
_MENU = ("node_info", "print_tensor", "list_inputs", "list_outputs")
_OPTIONS = {"node_info": "-a -d -t ", "list_inputs": "-c -r ", "list_outputs": "-c -r "}
_HEADS = ("t (ms)", "Size (B)", "Op type", "Tensor name")


def _with_menu(
    output: RichTextLines, node_name: str | None = None, without: Iterable[str] = ()
) -> RichTextLines:
    """Adds the menu: commands about an operation, where there is one."""
    menu = Menu()
    menu.append(MenuItem("list_tensors", "list_tensors", enabled="list_tensors" not in without))
    for command in _MENU:
        if node_name:
            content = f"{command} {_OPTIONS.get(command, '')}{node_name}"
            menu.append(MenuItem(command, content, enabled=command not in without))
        else:
            menu.append(MenuItem(command, None, enabled=False))
    menu.append(MenuItem("run_info", "run_info"))
    menu.append(MenuItem("help", "help"))
    output.annotations[MAIN_MENU_KEY] = menu
    return output


class DebugAnalyzer:
    """Answers commands about a step.

    Args:
      debug_dump: The step.
      config: The settings of the terminal.
    """

    # What TensorFlow adds to the graph of a step for its edges.
    _GRAPH_STRUCT_OP_TYPE_BLACKLIST = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval")

    def __init__(self, debug_dump: Any, config: CLIConfig):
        self._debug_dump = debug_dump
        self._evaluator = ExpressionEvaluator(debug_dump)
        self._tensor_filters: dict[str, Callable] = {}
        self._build_argument_parsers(config)
        config.set_callback("graph_recursion_depth", self._build_argument_parsers)

    def _build_argument_parsers(self, config: Any) -> None:
        self._arg_parsers = parsers(config.get("graph_recursion_depth"))

    def add_tensor_filter(self, filter_name: str, filter_callable: Callable) -> None:
        """Adds a filter for `lt -f`.

        Args:
          filter_name: Its name.
          filter_callable: A function of what is known about a value and of the value, to a boolean.
        """
        if not isinstance(filter_name, str):
            raise TypeError("Input argument filter_name is expected to be str, but is not.")
        if not filter_name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(filter_callable):
            raise TypeError("Input argument filter_callable is expected to be callable, but is not.")
        self._tensor_filters[filter_name] = filter_callable

    def get_tensor_filter(self, filter_name: str) -> Callable:
        """The filter of a name.

        Args:
          filter_name: The name.

        Returns:
          The filter.
        """
        if filter_name not in self._tensor_filters:
            raise ValueError(f'There is no tensor filter named "{filter_name}"')
        return self._tensor_filters[filter_name]

    def get_help(self, handler_name: str) -> str:
        """What a command does."""
        return self._arg_parsers[handler_name].format_help()

    # ------------------------------------------------------------------ tensors

    def list_tensors(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Lists the values of the step.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["list_tensors"].parse_args(args)
        output = RichTextLines([])
        if asked.op_type_filter:
            output.append(f'Op type regex filter: "{asked.op_type_filter}"')
        if asked.node_name_filter:
            output.append(f'Node name regex filter: "{asked.node_name_filter}"')
        output.append("")
        title = "dumped tensor(s):"
        if asked.tensor_filter:
            title = f'dumped tensor(s) passing filter "{asked.tensor_filter}":'
            try:
                wanted = self.get_tensor_filter(asked.tensor_filter)
            except ValueError as error:
                return _with_menu(messages.error(f"{error}."), without=["list_tensors"])
            data = self._debug_dump.find(wanted, exclude_node_names=asked.filter_exclude_node_names)
        elif asked.filter_exclude_node_names:
            raise ValueError(
                "The flag --filter_exclude_node_names is valid only when the flag -f or --tensor_filter is "
                "used."
            )
        else:
            data = self._debug_dump.dumped_tensor_data
        widths = self._measure_tensor_list_column_widths(data)
        output.extend(_column_heads(asked, widths))
        count = 0
        for datum in self._sort_dump_data_by(data, asked.sort_by, asked.reverse):
            kind = self._debug_dump.node_op_type(datum.node_name)
            if re.match(asked.node_name_filter, datum.node_name) and re.match(asked.op_type_filter, kind):
                output.append(*self._tensor_line(datum, kind, widths))
                count += 1
        output.prepend(f"{count} {title}")
        return _with_menu(output, without=["list_tensors"])

    def _milliseconds(self, datum: Any) -> float:
        return (datum.timestamp - self._debug_dump.t0) / 1000.0

    def _tensor_line(self, datum: Any, kind: str, widths: Sequence[int]) -> tuple[str, list[Any]]:
        size = messages.bytes_to_readable_str(datum.dump_size_bytes)
        cells = (f"[{self._milliseconds(datum):.3f}]", size, kind)
        before = "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        name = datum.tensor_name
        return before + name, [(len(before), len(before + name), MenuItem("", f"pt {name}"))]

    def _measure_tensor_list_column_widths(self, data: Sequence[Any]) -> tuple[int, int, int]:
        """How wide the columns of times, sizes and types are."""
        times = [f"[{self._milliseconds(data[-1]):.3f}] "] if data else []
        sizes = [messages.bytes_to_readable_str(datum.dump_size_bytes) for datum in data]
        kinds = [self._debug_dump.node_op_type(datum.node_name) for datum in data]
        time, size, kind = (
            max(map(len, [head, *column])) + 1
            for head, column in zip(_HEADS, (times, sizes, kinds), strict=False)
        )
        return time, size, kind

    def _sort_dump_data_by(self, data: Sequence[Any], sort_by: str, reverse: bool) -> list[Any]:
        keys: dict[str, Callable[[Any], Any]] = {
            SORT_TENSORS_BY_TIMESTAMP: lambda datum: datum.timestamp,
            SORT_TENSORS_BY_DUMP_SIZE: lambda datum: datum.dump_size_bytes,
            SORT_TENSORS_BY_OP_TYPE: lambda datum: self._debug_dump.node_op_type(datum.node_name),
            SORT_TENSORS_BY_TENSOR_NAME: lambda datum: datum.tensor_name,
        }
        if sort_by not in keys:
            raise ValueError(f"Unsupported key to sort tensors by: {sort_by}")
        return sorted(data, key=keys[sort_by], reverse=reverse)

    def print_tensor(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows a value.

        Args:
          args: What is typed behind the command.
          screen_info: What is known about the terminal.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["print_tensor"].parse_args(args)
        name, slicing = parse_tensor_name_with_slicing(asked.tensor_name)
        node, slot = parse_node_or_tensor_name(name)
        if self._debug_dump.loaded_partition_graphs() and not self._debug_dump.node_exists(node):
            refusal = messages.error(f'Node "{node}" does not exist in partition graphs')
            return _with_menu(refusal, without=["print_tensor"])
        keys = self._debug_dump.debug_watch_keys(node)
        data = [datum for key in keys for datum in self._debug_dump.watch_key_to_data(key)]
        slots = {datum.output_slot for datum in data}
        if slot is None and len(slots) != 1:
            lines = [
                f'Node "{node}" generated debug dumps from {len(slots)} output slots:',
                f"Please specify the output slot: {node}:x.",
            ]
            return _with_menu(RichTextLines(lines), node, without=["print_tensor"])
        wanted = slots.pop() if slot is None else slot
        found = [datum for datum in data if datum.output_slot == wanted]
        if not found:
            return messages.error(f'Tensor "{asked.tensor_name}" did not generate any dumps.')
        options = messages.numpy_printoptions_from_screen_info(screen_info)
        return _with_menu(self._value(asked, found, slicing, options), node, without=["print_tensor"])

    def _value(self, asked: Any, found: Sequence[Any], slicing: str, options: Any) -> RichTextLines:
        """The value of a tensor that is asked for, or which values it has."""
        name, number, count = asked.tensor_name, asked.number, len(found)
        if count == 1 and number > 0:
            return messages.error(f"Invalid number ({number}) for tensor {name}, which generated one dump.")
        if count > 1 and number < 0:
            return self._values(name, found)
        if number >= count:
            return messages.error(
                f"Specified number ({number}) exceeds the number of available dumps ({count}) for tensor "
                f"{name}"
            )
        datum = found[max(number, 0)]
        return messages.format_tensor(
            datum.get_tensor(),
            datum.watch_key if count == 1 else f"{datum.watch_key} (dump #{number})",
            options,
            print_all=asked.print_all,
            tensor_slicing=slicing,
            highlight_options=messages.parse_ranges_highlight(asked.ranges),
            include_numeric_summary=asked.numeric_summary,
            write_path=asked.write_path,
        )

    def _values(self, name: str, found: Sequence[Any]) -> RichTextLines:
        output = RichTextLines([f'Tensor "{name}" generated {len(found)} dumps:'])
        for number, datum in enumerate(found):
            line = RichLine(f"#{number} [{self._milliseconds(datum):.3f} ms] ")
            output.append_rich_line(
                line + RichLine(datum.watch_key, MenuItem(None, f"print_tensor {name} -n {number}"))
            )
        for line in (
            "",
            "You can use the -n (--number) flag to specify which dump to print.",
            "For example:",
            f"  print_tensor {name} -n 0",
        ):
            output.append(line)
        return output

    def evaluate_expression(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows the value of an expression of values.

        Args:
          args: What is typed behind the command.
          screen_info: What is known about the terminal.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["eval"].parse_args(args)
        return messages.format_tensor(
            self._evaluator.evaluate(asked.expression),
            f"from eval of expression '{asked.expression}'",
            messages.numpy_printoptions_from_screen_info(screen_info),
            print_all=asked.print_all,
            include_numeric_summary=True,
            write_path=asked.write_path,
        )

    # ------------------------------------------------------------------ operations

    def node_info(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows an operation.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["node_info"].parse_args(args)
        name, dump = get_node_name(asked.node_name), self._debug_dump
        if not dump.node_exists(name):
            refusal = messages.error(f'There is no node named "{name}" in the partition graphs')
            return _with_menu(refusal, without=["node_info", "list_inputs", "list_outputs"])
        title = RichLine("Node ") + RichLine(name, "bold")
        lines = [title, "", f"  Op: {dump.node_op_type(name)}", f"  Device: {dump.node_device(name)}"]
        output = rich_text_lines_from_rich_line_list(lines)
        for what, neighbors in (("input", dump.node_inputs), ("recipient", dump.node_recipients)):
            data, controls = (self._shown(neighbors(name, is_control=control)) for control in (False, True))
            output.extend(self._format_neighbors(what, data, controls))
        if asked.attributes:
            output.extend(self._list_node_attributes(name))
        if asked.dumps:
            output.extend(self._list_node_dumps(name))
        if asked.traceback:
            output.extend(self._render_node_traceback(name))
        return _with_menu(output, name, without=["node_info"])

    def _shown(self, names: Iterable[str]) -> list[str]:
        """The names without those of what TensorFlow adds for edges."""
        hidden = self._GRAPH_STRUCT_OP_TYPE_BLACKLIST
        return [name for name in names if self._debug_dump.node_op_type(get_node_name(name)) not in hidden]

    def _format_neighbors(
        self, neighbor_type: str, non_ctrls: Sequence[str], ctrls: Sequence[str]
    ) -> RichTextLines:
        lines = [
            RichLine(),
            RichLine(f"  {len(non_ctrls)} {neighbor_type}(s) + {len(ctrls)} control {neighbor_type}(s):"),
            RichLine(f"    {len(non_ctrls)} {neighbor_type}(s):"),
            *map(self._neighbor, non_ctrls),
        ]
        if ctrls:
            lines += [RichLine(), RichLine(f"    {len(ctrls)} control {neighbor_type}(s):")]
            lines += map(self._neighbor, ctrls)
        return rich_text_lines_from_rich_line_list(lines)

    def _neighbor(self, name: str) -> RichLine:
        kind = self._debug_dump.node_op_type(get_node_name(name))
        return RichLine(f"      [{kind}] ") + RichLine(name, MenuItem(None, f"ni -a -d -t {name}"))

    def _list_node_attributes(self, node_name: str) -> RichTextLines:
        lines = ["", "Node attributes:"]
        for key, value in self._debug_dump.node_attributes(node_name).items():
            text = repr(value).strip().replace("\n", " ")
            lines += [f"  {key}:", f"    {text}", ""]
        return RichTextLines(lines)

    def _list_node_dumps(self, node_name: str) -> RichTextLines:
        keys = self._debug_dump.debug_watch_keys(node_name)
        data = [datum for key in keys for datum in self._debug_dump.watch_key_to_data(key)]
        output = RichTextLines([f"{len(data)} dumped tensor(s):", ""])
        for number, datum in enumerate(data):
            text = f"Slot {datum.output_slot} @ {datum.debug_op} @ {self._milliseconds(datum):.3f} ms"
            command = f"pt {node_name}:{datum.output_slot} -n {number}"
            output.append_rich_line(RichLine("  ") + RichLine(text, MenuItem(None, command)))
        return output

    def _render_node_traceback(self, node_name: str) -> RichTextLines:
        lines: list[Any] = ["", "", RichLine("Traceback of node construction:", "bold")]
        try:
            frames = self._debug_dump.node_traceback(node_name)
        except KeyError:
            frames = ()
            lines.append("(Node unavailable in the loaded Python graph)")
        except LookupError:
            frames = ()
            lines.append("(Unavailable because no Python graph has been loaded)")
        for depth, (path, number, function, text) in enumerate(frames):
            command = MenuItem("", f"ps {path} -b {number}") if text else None
            shown = f'"{text}"' if text else "None"
            lines += [
                f"{depth}: {path}",
                RichLine("  ") + RichLine(f"Line:     {number}", command),
                f"  Function: {function}",
                f"  Text:     {shown}",
                "",
            ]
        return rich_text_lines_from_rich_line_list(lines)

    def list_inputs(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows what an operation takes.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["list_inputs"].parse_args(args)
        output = self._tree(asked, "Inputs to", "inputs", self._debug_dump.node_inputs, "li")
        return _with_menu(output, get_node_name(asked.node_name), without=["list_inputs"])

    def list_outputs(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows who takes what an operation gives.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["list_outputs"].parse_args(args)
        output = self._tree(asked, "Recipients of", "recipients", self._debug_dump.node_recipients, "lo")
        return _with_menu(output, get_node_name(asked.node_name), without=["list_outputs"])

    def _tree(self, asked: Any, title: str, neighbors: str, tracker: Callable, command: str) -> RichTextLines:
        name = get_node_name(asked.node_name)
        if not self._debug_dump.node_exists(name):
            return messages.error(f'There is no node named "{name}" in the partition graphs')
        depth = asked.depth if asked.recursive else 1
        controls = f", control {neighbors} included" if asked.control else ""
        head = RichLine(f'{title} node "') + RichLine(name, "bold")
        lines = [head + f'" (Depth limit = {depth}{controls}):']
        branches = self._branches(name, tracker, 1, depth, (), asked, command)
        lines += list(branches) or [RichLine("  [None]")]
        lines += [RichLine(), RichLine("Legend:"), RichLine("  (d): recursion depth = d.")]
        if asked.control:
            lines.append(RichLine("  (Ctrl): Control input."))
        if asked.op_type:
            lines.append(RichLine("  [Op]: Input node has op type Op."))
        return rich_text_lines_from_rich_line_list(lines)

    def _branches(
        self,
        name: str,
        tracker: Callable,
        depth: int,
        limit: int,
        unfinished: tuple[int, ...],
        asked: Any,
        command: str,
    ) -> Iterable[RichLine]:
        """The lines of the tree below an operation; at the depths in `unfinished` more lines follow."""
        found = [(element, "") for element in self._shown(tracker(name, is_control=False))]
        if asked.control:
            controls = self._shown(sorted(tracker(name, is_control=True)))
            found += [(element, CTRL_LABEL) for element in controls]
        if not found:
            return
        hang = "".join(HANG_UNFINISHED if d in unfinished else HANG_FINISHED for d in range(1, depth))
        hang += HANG_SUFFIX
        if depth > limit:
            yield RichLine(hang + ELLIPSIS)
            return
        for number, (element, label) in enumerate(found, 1):
            node = get_node_name(element)
            kind = OP_TYPE_TEMPLATE % self._debug_dump.node_op_type(node) if asked.op_type else ""
            link = MenuItem(None, f"{command} -c -r {element}")
            yield RichLine(hang + DEPTH_TEMPLATE % depth + label + kind) + RichLine(element, link)
            open_depths = unfinished if number == len(found) else (*unfinished, depth)
            yield from self._branches(node, tracker, depth + 1, limit, open_depths, asked, command)

    # ------------------------------------------------------------------ source

    def print_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Shows a file of the program, and what each of its lines has made.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["print_source"].parse_args(args)
        return _with_menu(sources.annotated_file(self._debug_dump, asked))

    def list_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """Lists the files of the program that have made operations.

        Args:
          args: What is typed behind the command.
          screen_info: Not used.

        Returns:
          `RichTextLines`.
        """
        asked = self._arg_parsers["list_source"].parse_args(args)
        return _with_menu(sources.files(self._debug_dump, asked.path_filter, asked.node_name_filter))


def _column_heads(asked: Any, widths: Sequence[int]) -> RichTextLines:
    """The titles of the columns, which sort by them."""
    command = "list_tensors"
    for option, value in (
        ("-f", asked.tensor_filter),
        ("-t", asked.op_type_filter),
        ("-n", asked.node_name_filter),
    ):
        command += f" {option} {value}" if value else ""
    row = RichLine()
    for head, key, width in zip(_HEADS, SORT_KEYS, (*widths, 0), strict=True):
        turned = " -r" if asked.sort_by == key and not asked.reverse else ""
        link = MenuItem("", f"{command} -s {key}{turned}")
        row += RichLine(head, [link, "bold"])
        row += " " * (width - len(head))
    return rich_text_lines_from_rich_line_list([row])


def create_analyzer_ui(
    debug_dump: Any,
    tensor_filters: dict[str, Callable] | None = None,
    ui_type: str = "curses",
    on_ui_exit: Callable | None = None,
    config: CLIConfig | None = None,
) -> BaseUI:
    """A terminal that shows a step.

    Args:
      debug_dump: The step.
      tensor_filters: Filters of values, by name.
      ui_type: `"curses"` or `"readline"`.
      on_ui_exit: A function that is called when the user leaves the terminal.
      config: The settings; those in the user's file if None.

    Returns:
      The terminal.
    """
    config = config or CLIConfig()
    analyzer = DebugAnalyzer(debug_dump, config)
    for name, tensor_filter in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, tensor_filter)
    terminal = get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for name, handler, alias in (
        ("list_tensors", analyzer.list_tensors, "lt"),
        ("node_info", analyzer.node_info, "ni"),
        ("list_inputs", analyzer.list_inputs, "li"),
        ("list_outputs", analyzer.list_outputs, "lo"),
        ("print_tensor", analyzer.print_tensor, "pt"),
        ("print_source", analyzer.print_source, "ps"),
        ("list_source", analyzer.list_source, "ls"),
        ("eval", analyzer.evaluate_expression, "ev"),
    ):
        terminal.register_command_handler(name, handler, analyzer.get_help(name), [alias])
    names = [datum.tensor_name for datum in debug_dump.dumped_tensor_data]
    terminal.register_tab_comp_context(["print_tensor", "pt"], names)
    return terminal
