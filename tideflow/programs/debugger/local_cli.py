"""A session that stops before and after each step, and answers questions about it on a terminal."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from tideflow.programs.debugger.cli import arguments, messages
from tideflow.programs.debugger.cli.analyzer import create_analyzer_ui
from tideflow.programs.debugger.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit, MenuItem
from tideflow.programs.debugger.cli.profile_analyzer import create_profiler_ui
from tideflow.programs.debugger.cli.rich_text import (
    MAIN_MENU_KEY,
    RichTextLines,
    get_tensorflow_version_lines,
)
from tideflow.programs.debugger.cli.settings import CLIConfig
from tideflow.programs.debugger.cli.terminals import BaseUI, get_ui
from tideflow.programs.debugger.dumps import DebugDumpDir
from tideflow.programs.debugger.run_keys import get_graph_element_name
from tideflow.programs.debugger.values import has_inf_or_nan
from tideflow.programs.debugger.wrappers import (
    BaseDebugWrapperSession,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)


def _run_parser() -> argparse.ArgumentParser:
    parser = arguments.command_parser("Run through, with or without debug tensor watching.")
    parser.add_argument(
        "-t", "--times", type=int, default=1, help="How many Session.run() calls to proceed with."
    )
    parser.add_argument(
        "-n", "--no_debug", action="store_true", help="Run through without debug tensor watching."
    )
    parser.add_argument(
        "-f",
        "--till_filter_pass",
        default="",
        help="Run until a tensor in the graph passes the specified filter.",
    )
    parser.add_argument(
        "-fenn",
        "--filter_exclude_node_names",
        default="",
        help="When applying the tensor filter, exclude node with names matching the regular expression. "
        "Applicable only if --tensor_filter or -f is used.",
    )
    for option, what, example in (
        ("node_name", "node names", "loss, reshape.*"),
        ("op_type", "op type", "(MatMul|Add), Variable.*"),
        ("tensor_dtype", "tensor dtype", "(float32|float64), int.*"),
    ):
        parser.add_argument(
            f"--{option}_filter",
            default="",
            help=f"Regular-expression filter for {what} to be watched in the run, e.g., {example}",
        )
    parser.add_argument(
        "-p", "--profile", action="store_true", help="Run and profile TensorFlow graph execution."
    )
    return parser


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session that stops before and after each step, and answers questions about it on the terminal.

    Args:
      sess: The session.
      dump_root: The folder that holds the values of a step while they are shown; a temporary one if None.
      log_usage: Accepted for TensorFlow's sake.
      ui_type: `"curses"` or `"readline"`; there is one terminal.
      thread_name_filter: An expression that names of threads match whose steps are watched; all if None.
      config_file_path: The file of the terminal's settings; that in the user's folder if none is given.
    """

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ):
        super().__init__(sess, thread_name_filter)
        if dump_root:
            self._dump_root = _usable_folder(dump_root)
        else:
            self._own_folder = tempfile.TemporaryDirectory(prefix="tfdbg_")  # nobody else may look into it
            self._dump_root = os.path.join(self._own_folder.name, "step")
        self._argparsers = {
            "run": _run_parser(),
            "run_info": arguments.command_parser("Display information about this Session.run() call."),
            "print_feed": arguments.get_print_tensor_argparser("Print the value of a feed in feed_dict."),
        }
        self._tensor_filters: dict[str, Callable] = {"has_inf_or_nan": has_inf_or_nan}
        # How steps run until a filter finds a value, and the names of operations that it leaves out.
        self._active_tensor_filter: str | None = None
        self._active_filter_exclude_node_names: str | None = None
        self._active_tensor_filter_run_start_response: Any = None
        self._run_through_times = 1  # how many steps run until the terminal opens
        self._skip_debug = False
        self._run_start_response: Any = None  # what the user has said when the terminal was left
        self._is_run_start = True
        self._ui_type = ui_type
        self._config = CLIConfig(config_file_path=config_file_path) if config_file_path else None
        self._run_cli: BaseUI

    def add_tensor_filter(self, filter_name: str, tensor_filter: Callable) -> None:
        """Adds a filter for `lt -f` and `run -f`.

        Args:
          filter_name: Its name.
          tensor_filter: A function of what is known about a value and of the value, to a boolean.
        """
        self._tensor_filters[filter_name] = tensor_filter

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True  # the values of a step are gone when the next one runs

    # ------------------------------------------------------------------ around steps

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Asks the user how the step runs, unless that has been said before.

        Args:
          request: The step.

        Returns:
          How it runs.
        """
        self._is_run_start = True
        self._update_run_calls_state(
            request.run_call_count,
            request.fetches,
            request.feed_dict,
            is_callable_runner=request.is_callable_runner,
        )
        if self._active_tensor_filter:
            return self._active_tensor_filter_run_start_response
        self._exit_if_requested_by_user()
        if self._run_call_count > 1 and not self._skip_debug:
            if self._run_through_times > 0:
                return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
            if self._run_through_times == 0:
                return self._run_start_response or self._watching()
        if self._run_start_response is None:
            self._prep_cli_for_run_start()
            self._run_start_response = self._launch_cli()
            if self._active_tensor_filter:
                self._active_tensor_filter_run_start_response = self._run_start_response
            if self._run_through_times > 1:
                self._run_through_times -= 1
        self._exit_if_requested_by_user()
        return self._run_start_response

    def _watching(self, **filters: Any) -> OnRunStartResponse:
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, [f"file://{self._dump_root}"], **filters)

    def _exit_if_requested_by_user(self) -> None:
        if self._run_start_response == EXPLICIT_USER_EXIT:
            print("Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr)
            sys.exit(1)

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Shows the step, if it was watched.

        Args:
          request: The step.

        Returns:
          What follows.
        """
        self._is_run_start = False
        if request.performed_action == OnRunStartAction.DEBUG_RUN:
            self._show(request)
        elif request.performed_action == OnRunStartAction.PROFILE_RUN:
            self._prep_profile_cli_for_run_end(self._sess.graph, request.run_metadata)
            self._run_start_response = self._launch_cli()
        else:
            self._run_start_response = None
        return OnRunEndResponse()

    def _show(self, request: OnRunEndRequest) -> None:
        if request.tf_error and not os.path.isdir(self._dump_root):
            raise request.tf_error  # before anything was computed
        graphs = request.run_metadata.partition_graphs if request.run_metadata else None
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs or [request.client_graph_def])
        dump.set_python_graph(self._sess.graph)
        passed, excluded = self._active_tensor_filter, self._active_filter_exclude_node_names
        if passed:
            if not dump.find(self._tensor_filters[passed], first_n=1, exclude_node_names=excluded):
                self._remove_dump_root()
                return
            self._active_tensor_filter = self._active_filter_exclude_node_names = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, passed, excluded)
        try:
            self._run_start_response = self._launch_cli()
        finally:
            self._remove_dump_root()

    def _remove_dump_root(self) -> None:
        if os.path.isdir(self._dump_root):
            shutil.rmtree(self._dump_root)

    def _update_run_calls_state(
        self, run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False
    ) -> None:
        self._run_call_count = run_call_count
        self._feed_dict = feed_dict
        self._run_through_times -= 1
        self._run_description = messages.get_run_short_description(
            run_call_count, fetches, feed_dict, is_callable_runner
        )
        self._run_info = messages.get_run_start_intro(
            run_call_count, fetches, feed_dict, self._tensor_filters, is_callable_runner
        )

    # ------------------------------------------------------------------ the terminal

    def _prep_cli_for_run_start(self) -> None:
        self._run_cli = get_ui(self._ui_type, config=self._config)
        intro = self._greeting()
        intro.extend(RichTextLines("Upcoming run:"))
        intro.extend(self._run_info)
        self._run_cli.set_help_intro(intro)
        self._title, self._title_color = f"run-start: {self._run_description}", "blue_on_white"
        self._init_command = "run_info"

    def _prep_debug_cli_for_run_end(
        self,
        debug_dump: DebugDumpDir,
        tf_error: Any,
        passed_filter: str | None,
        passed_filter_exclude_node_names: str | None,
    ) -> None:
        self._init_command, self._title_color = "lt", "black_on_white"
        if passed_filter is not None:
            self._init_command, self._title_color = f"lt -f {passed_filter}", "red_on_white"
            if passed_filter_exclude_node_names:
                self._init_command += f" --filter_exclude_node_names {passed_filter_exclude_node_names}"
        if tf_error:
            self._init_command, self._title_color = "help", "red_on_white"
        self._run_cli = create_analyzer_ui(
            debug_dump,
            self._tensor_filters,
            ui_type=self._ui_type,
            on_ui_exit=self._remove_dump_root,
            config=self._config,
        )
        self._run_cli.register_tab_comp_context(
            ["node_info", "ni", "list_inputs", "li", "list_outputs", "lo"], list(debug_dump.nodes())
        )
        self._title = f"run-end: {self._run_description}"
        if tf_error:
            self._run_cli.set_help_intro(messages.get_error_intro(tf_error))

    def _prep_profile_cli_for_run_end(self, py_graph: Any, run_metadata: Any) -> None:
        self._init_command = "lp"
        self._run_cli = create_profiler_ui(
            py_graph, run_metadata, ui_type=self._ui_type, config=self._run_cli.config
        )
        self._title, self._title_color = f"run-end (profiler mode): {self._run_description}", None

    def _launch_cli(self) -> Any:
        """Opens the terminal; gives how the user has left it."""
        self._register_this_run_info(self._run_cli)
        return self._run_cli.run_ui(
            init_command=self._init_command, title=self._title, title_color=self._title_color
        )

    def _register_this_run_info(self, curses_cli: BaseUI) -> None:
        for name, handler, alias in (
            ("run", self._run_handler, "r"),
            ("run_info", self._run_info_handler, "ri"),
            ("print_feed", self._print_feed_handler, "pf"),
        ):
            curses_cli.register_command_handler(name, handler, self._argparsers[name].format_help(), [alias])
        if self._tensor_filters:
            curses_cli.register_tab_comp_context(["run", "r"], list(self._tensor_filters))
        if self._feed_dict:
            keys = list(map(get_graph_element_name, self._feed_dict))
            curses_cli.register_tab_comp_context(["print_feed", "pf"], keys)

    def _greeting(self) -> RichTextLines:
        greeting = RichTextLines([])
        if self._run_call_count == 1:
            greeting.extend(messages.get_tfdbg_logo())
            greeting.extend(get_tensorflow_version_lines())
        return greeting

    def _run_info_handler(self, args: Any, screen_info: Any = None) -> RichTextLines:
        answer = self._greeting()
        answer.extend(self._run_info)
        menu = answer.annotations.get(MAIN_MENU_KEY)
        if not self._is_run_start and menu is not None and "list_tensors" not in menu.captions():
            menu.insert(0, MenuItem("list_tensors", "list_tensors"))
        return answer

    def _print_feed_handler(self, args: Any, screen_info: Any = None) -> RichTextLines:
        if not self._feed_dict:
            return messages.error("The feed_dict of the current run is None or empty.")
        asked = self._argparsers["print_feed"].parse_args(args)
        name, slicing = arguments.parse_tensor_name_with_slicing(asked.tensor_name)
        for key, value in self._feed_dict.items():
            if get_graph_element_name(key) == name:
                return messages.format_tensor(
                    value,
                    f"{name} (feed)",
                    messages.numpy_printoptions_from_screen_info(screen_info),
                    print_all=asked.print_all,
                    tensor_slicing=slicing,
                    highlight_options=messages.parse_ranges_highlight(asked.ranges),
                    include_numeric_summary=asked.numeric_summary,
                )
        return messages.error(f"The feed_dict of the current run does not contain the key {name}")

    def _run_handler(self, args: Any, screen_info: Any = None) -> RichTextLines:
        asked = self._argparsers["run"].parse_args(args)
        if asked.filter_exclude_node_names and not asked.till_filter_pass:
            raise ValueError(
                "The --filter_exclude_node_names (or -feon) flag is valid only if the --till_filter_pass (or "
                "-f) flag is used."
            )
        if asked.profile:
            raise CommandLineExit(OnRunStartResponse(OnRunStartAction.PROFILE_RUN, []))
        self._skip_debug = asked.no_debug
        self._run_through_times = asked.times
        if asked.times > 1 or asked.no_debug:
            response = OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        else:
            response = self._watching(
                node_name_regex_whitelist=asked.node_name_filter or None,
                op_type_regex_whitelist=asked.op_type_filter or None,
                tensor_dtype_regex_whitelist=asked.tensor_dtype_filter or None,
            )
        if asked.till_filter_pass:
            if asked.till_filter_pass not in self._tensor_filters:
                return RichTextLines([f'ERROR: tensor filter "{asked.till_filter_pass}" does not exist.'])
            self._active_tensor_filter = asked.till_filter_pass
            self._active_filter_exclude_node_names = asked.filter_exclude_node_names
            self._active_tensor_filter_run_start_response = response
        raise CommandLineExit(response)


def _usable_folder(dump_root: str) -> str:
    folder = os.path.expanduser(dump_root)
    if os.path.isfile(folder):
        raise ValueError(f"dump_root path points to a file: {folder}")
    if os.path.isdir(folder) and os.listdir(folder):
        raise ValueError(f"dump_root path points to a non-empty directory: {folder}")
    return folder
