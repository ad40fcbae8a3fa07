"""Terminals: they read commands, let handlers answer, and show the answers."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from tideflow.programs.debugger.cli import arguments
from tideflow.programs.debugger.cli.commands import (
    EXPLICIT_USER_EXIT,
    CommandHandlerRegistry,
    CommandLineExit,
    TabCompletionRegistry,
)
from tideflow.programs.debugger.cli.rich_text import RichTextLines
from tideflow.programs.debugger.cli.settings import CLIConfig

try:
    import readline
except ImportError:  # on Windows: lines are read without completion
    readline = None  # type: ignore[assignment]

SUPPORTED_UI_TYPES = ["curses", "readline"]


class BaseUI(abc.ABC):
    """What terminals share: commands, what completes them, and settings.

    Args:
      on_ui_exit: A function that is called when the user leaves the terminal.
      config: The settings; those in the user's file if None.
    """

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX = "ERROR: "
    INFO_MESSAGE_PREFIX = "INFO: "

    def __init__(self, on_ui_exit: Callable | None = None, config: CLIConfig | None = None):
        self._on_ui_exit = on_ui_exit
        self._command_handler_registry = CommandHandlerRegistry()
        self._tab_completion_registry = TabCompletionRegistry()
        first_words = [*self.CLI_EXIT_COMMANDS, CommandHandlerRegistry.HELP_COMMAND]
        self._tab_completion_registry.register_tab_comp_context(
            [""], first_words + CommandHandlerRegistry.HELP_COMMAND_ALIASES
        )
        self._config = config or CLIConfig()
        self._config_parser = arguments.command_parser("config command")
        actions = self._config_parser.add_subparsers()
        setting = actions.add_parser("set")
        setting.add_argument("property_name")
        setting.add_argument("property_value")
        actions.add_parser("show")
        self.register_command_handler(
            "config", self._configure, self._config_parser.format_help(), prefix_aliases=["cfg"]
        )

    @property
    def config(self) -> CLIConfig:
        """The settings."""
        return self._config

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """Says something before the help of all commands.

        Args:
          help_intro: What it says.
        """
        self._command_handler_registry.set_help_intro(help_intro)

    def register_command_handler(
        self, prefix: str, handler: Callable, help_info: str, prefix_aliases: list[str] | None = None
    ) -> None:
        """Adds a command, as `CommandHandlerRegistry` does, and completes its name.

        Args:
          prefix: Its first word.
          handler: A function of the other words.
          help_info: What `help` says about it.
          prefix_aliases: Other first words of it.
        """
        self._command_handler_registry.register_command_handler(prefix, handler, help_info, prefix_aliases)
        self._tab_completion_registry.extend_comp_items("", [prefix, *(prefix_aliases or ())])

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        """Says what may follow each of some words.

        Args:
          context_words: The words.
          comp_items: What may follow them.
        """
        self._tab_completion_registry.register_tab_comp_context(context_words, comp_items)

    @abc.abstractmethod
    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Answers commands until the user leaves.

        Args:
          init_command: The first command, as if it was typed.
          title: What is said first.
          title_color: The colour of the title, where the terminal has colours.
          enable_mouse_on_start: Whether the mouse is used, where the terminal can.

        Returns:
          How the user has left: what a handler says, or `EXPLICIT_USER_EXIT`.
        """

    def _parse_command(self, command: str) -> tuple[str, list[str], str | None]:
        words = arguments.parse_command(command)
        if not words:
            return "", [], None
        words, path = arguments.extract_output_file_path(words)
        return words[0], words[1:], path

    def _analyze_tab_complete_input(self, text: str) -> tuple[str, str, str]:
        """The first word, or nothing while it is typed; the last word; and what stands before that."""
        *before, last = text.lstrip().split(" ")
        return before[0] if before else "", last, "".join(f"{word} " for word in before)

    def _configure(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        asked = self._config_parser.parse_args(args)
        name = getattr(asked, "property_name", None)
        if name is not None:
            self._config.set(name, asked.property_value)
        return self._config.summarize(highlight=name)


class ReadlineUI(BaseUI):
    """A terminal of lines, with the keys and the completion of `readline`."""

    def __init__(self, on_ui_exit: Callable | None = None, config: CLIConfig | None = None):
        super().__init__(on_ui_exit, config)
        self._init_input()

    def _init_input(self) -> None:
        if readline is not None:
            readline.parse_and_bind("set editing-mode emacs")
            readline.set_completer_delims("\n")
            readline.set_completer(self._readline_complete)
            readline.parse_and_bind("tab: complete")
        self._input = input

    def _readline_complete(self, text: str, state: int) -> str | None:
        context, prefix, before = self._analyze_tab_complete_input(text)
        candidates, _ = self._tab_completion_registry.get_completions(context, prefix)
        return before + candidates[state] if candidates and state < len(candidates) else None

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """As `BaseUI.run_ui`; there are no colours and no mouse.

        Args:
          init_command: The first command, as if it was typed.
          title: What is said first.
          title_color: Not used.
          enable_mouse_on_start: Not used.

        Returns:
          How the user has left.
        """
        print(title)
        if init_command is not None:
            self._dispatch_command(init_command)
        token = None
        while token is None:
            token = self._dispatch_command(self._get_user_command())
        if self._on_ui_exit is not None:
            self._on_ui_exit()
        return token

    def _get_user_command(self) -> str:
        print("")
        try:
            return self._input(self.CLI_PROMPT).strip()
        except EOFError:  # the end of what is typed leaves the terminal, and the program with it
            return self.CLI_EXIT_COMMANDS[0]

    def _dispatch_command(self, command: str) -> Any:
        """Answers a command; gives how the user leaves, or None where the user stays."""
        if command in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as error:
            print(error)
            return None
        if not self._command_handler_registry.is_registered(prefix):
            answer = RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"'])
        else:
            try:
                answer = self._command_handler_registry.dispatch_command(prefix, args) or RichTextLines([])
            except CommandLineExit as leaving:
                return leaving.exit_token
        for line in answer.lines:
            print(line)
        if path:
            try:
                answer.write_to_file(path)
                print(f"Wrote output to {path}")
            except Exception:
                print(f"Failed to write output to {path}")
        return None


def get_ui(
    ui_type: str,
    on_ui_exit: Callable | None = None,
    available_ui_types: list[str] | None = None,
    config: CLIConfig | None = None,
) -> BaseUI:
    """A terminal. There is one of lines; whoever asks for one of whole screens is given it too.

    Args:
      ui_type: `"curses"` or `"readline"`.
      on_ui_exit: A function that is called when the user leaves the terminal.
      available_ui_types: The types that may be asked for.
      config: The settings.

    Returns:
      The terminal.
    """
    if ui_type and ui_type not in (available_ui_types or SUPPORTED_UI_TYPES):
        raise ValueError(f"Invalid ui_type: '{ui_type}'")
    return ReadlineUI(on_ui_exit=on_ui_exit, config=config)
