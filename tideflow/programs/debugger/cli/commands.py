"""Commands of a terminal: their handlers and help, what completes them, what was typed, and menus of them."""

from __future__ import annotations

import itertools
import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.programs.debugger.cli.rich_text import RichTextLines, get_tensorflow_version_lines

HELP_INDENT = "  "
EXPLICIT_USER_EXIT = "explicit_user_exit"


class CommandLineExit(Exception):
    """A handler raises it to leave the terminal.

    Args:
      exit_token: What whoever opened the terminal is given.
    """

    def __init__(self, exit_token: Any = None):
        super().__init__()
        self._exit_token = exit_token

    @property
    def exit_token(self) -> Any:
        """What whoever opened the terminal is given."""
        return self._exit_token


class CommandHandlerRegistry:
    """The handlers of commands, by the first words of these; `help` and `version` are there."""

    HELP_COMMAND = "help"
    HELP_COMMAND_ALIASES = ["h"]
    VERSION_COMMAND = "version"
    VERSION_COMMAND_ALIASES = ["ver"]

    def __init__(self) -> None:
        self._handlers: dict[str, Callable] = {}
        self._help: dict[str, str] = {}
        self._aliases: dict[str, list[str]] = {}
        self._help_intro: RichTextLines | None = None
        self.register_command_handler(
            self.HELP_COMMAND, self._answer_help, "Print this help message.", self.HELP_COMMAND_ALIASES
        )
        self.register_command_handler(
            self.VERSION_COMMAND,
            lambda args, screen_info=None: get_tensorflow_version_lines(True),
            "Print the versions of TensorFlow and its key dependencies.",
            self.VERSION_COMMAND_ALIASES,
        )

    def register_command_handler(
        self, prefix: str, handler: Callable, help_info: str, prefix_aliases: list[str] | None = None
    ) -> None:
        """Adds a command.

        Args:
          prefix: Its first word.
          handler: A function of the other words, and of `screen_info`, to `RichTextLines` or None.
          help_info: What `help` says about it.
          prefix_aliases: Other first words of it.
        """
        if not prefix:
            raise ValueError("Empty command prefix")
        if prefix in self._handlers:
            raise ValueError(f'A handler is already registered for command prefix "{prefix}"')
        if not callable(handler):
            raise ValueError("handler is not callable")
        if not isinstance(help_info, str):
            raise ValueError("help_info is not a str")
        for alias in prefix_aliases or ():
            if self.is_registered(alias):
                raise ValueError(f'The prefix alias "{alias}" clashes with existing prefixes or aliases.')
        self._handlers[prefix], self._help[prefix] = handler, help_info
        self._aliases[prefix] = list(prefix_aliases or ())

    def dispatch_command(
        self, prefix: str, argv: Sequence[str], screen_info: Any = None
    ) -> RichTextLines | None:
        """Lets the handler of a command answer; the answer says so where it fails.

        Args:
          prefix: The first word.
          argv: The other words.
          screen_info: What is known about the terminal: a dictionary with `cols`, or None.

        Returns:
          The answer.
        """
        if not prefix:
            raise ValueError("Prefix is empty")
        command = self._resolved(prefix)
        if command is None:
            raise ValueError(f'No handler is registered for command prefix "{prefix}"')
        handler = self._handlers[command]
        try:
            answer = handler(argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:  # of the parser of the handler's arguments
            return RichTextLines([f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"'])
        except Exception as error:
            return RichTextLines(
                [
                    f"Error occurred during handling of command: {command} {' '.join(argv)}:",
                    f"{type(error)}: {error}",
                    "",
                    *traceback.format_exc().split("\n"),
                ]
            )
        if answer is not None and not isinstance(answer, RichTextLines):
            raise ValueError(
                f"Return value from command handler {handler} is not None or a RichTextLines instance"
            )
        return answer

    def is_registered(self, prefix: str) -> bool:
        """Whether there is such a command."""
        return self._resolved(prefix) is not None

    def get_help(self, cmd_prefix: str | None = None) -> RichTextLines:
        """What commands do.

        Args:
          cmd_prefix: The first word of a command; all commands if None.

        Returns:
          `RichTextLines`.
        """
        if cmd_prefix:
            return RichTextLines(self._help_lines(cmd_prefix))
        answer = RichTextLines([])
        if self._help_intro is not None:
            answer.extend(self._help_intro)
        for prefix in sorted(self._handlers):
            answer.extend(RichTextLines([*self._help_lines(prefix), "", ""]))
        return answer

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """Says something before the help of all commands.

        Args:
          help_intro: What it says.
        """
        self._help_intro = help_intro

    def _answer_help(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(*args)

    def _resolved(self, word: str) -> str | None:
        if word in self._handlers:
            return word
        return next((prefix for prefix, aliases in self._aliases.items() if word in aliases), None)

    def _help_lines(self, word: str) -> list[str]:
        prefix = self._resolved(word)
        if prefix is None:
            return [f'Invalid command prefix: "{word}"']
        aliases = self._aliases[prefix]
        return [
            prefix,
            *([f"{HELP_INDENT}Aliases: {', '.join(aliases)}"] if aliases else []),
            "",
            *(HELP_INDENT + line for line in self._help[prefix].split("\n")),
        ]


class TabCompletionRegistry:
    """The words that may follow a word; the word before a command is `""`."""

    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        """Says what may follow each of some words.

        Args:
          context_words: The words.
          comp_items: What may follow them.
        """
        for name, given in (("context_list", context_words), ("comp_items", comp_items)):
            if not isinstance(given, list):
                raise TypeError(f"Incorrect type in {name}: Expected list, got {type(given)}")
        for word in context_words:
            self._items[word] = sorted(comp_items)

    def deregister_context(self, context_words: Sequence[str]) -> None:
        """Forgets what may follow some words.

        Args:
          context_words: The words.
        """
        for word in context_words:
            if word not in self._items:
                raise KeyError(f'Cannot deregister unregistered context word "{word}"')
        for word in context_words:
            del self._items[word]

    def extend_comp_items(self, context_word: str, new_comp_items: Sequence[str]) -> None:
        """Adds to what may follow a word.

        Args:
          context_word: The word.
          new_comp_items: What is added.
        """
        self._items[context_word] = sorted([*self._after(context_word), *new_comp_items])

    def remove_comp_items(self, context_word: str, comp_items: Sequence[str]) -> None:
        """Takes away from what may follow a word.

        Args:
          context_word: The word.
          comp_items: What is taken away.
        """
        items = self._after(context_word)
        for item in comp_items:
            items.remove(item)

    def _after(self, word: str) -> list[str]:
        if word not in self._items:
            raise KeyError(f'Context word "{word}" has not been registered')
        return self._items[word]

    def get_completions(self, context_word: str, prefix: str) -> tuple[list[str] | None, str | None]:
        """What may follow a word and begins with some letters.

        Args:
          context_word: The word.
          prefix: The letters.

        Returns:
          What may follow, and the letters with which all of it begins; Nones for a word nobody has told of.
        """
        if context_word not in self._items:
            return None, None
        found = [item for item in self._items[context_word] if item.startswith(prefix)]
        alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*found, strict=False))
        return found, "".join(letters[0] for letters in alike)


class CommandHistory:
    """The commands that were typed, kept in a file.

    Args:
      limit: How many are kept.
      history_file_path: The path of the file; `.tfdbg_history` in the user's folder if None.
    """

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit: int = 100, history_file_path: str | None = None):
        self._limit = limit
        self._path = history_file_path or self._get_default_history_file_path()
        self._commands = self._load()

    @classmethod
    def _get_default_history_file_path(cls) -> str:
        return os.path.join(os.path.expanduser("~"), cls._HISTORY_FILE_NAME)

    def _load(self) -> list[str]:
        if not os.path.isfile(self._path):
            return []
        try:
            with open(self._path) as file:
                commands = [line.strip() for line in file if line.strip()]
            if len(commands) > self._limit:
                commands = commands[-self._limit :]
                with open(self._path, "w") as file:
                    file.writelines(f"{command}\n" for command in commands)
        except OSError:
            print("WARNING: writing history file failed.")
            return []
        return commands

    def add_command(self, command: str) -> None:
        """Keeps a command, unless it is the last one again.

        Args:
          command: The command.
        """
        if self._commands[-1:] == [command]:
            return
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        self._commands = [*self._commands, command][-self._limit :]
        try:
            with open(self._path, "a") as file:
                file.write(f"{command}\n")
        except OSError:
            pass  # the history of this terminal is there all the same

    def most_recent_n(self, n: int) -> list[str]:
        """The last commands.

        Args:
          n: How many at most.

        Returns:
          The commands, the last one last.
        """
        return self._commands[-n:]

    def lookup_prefix(self, prefix: str, n: int) -> list[str]:
        """The last commands that begin with some letters.

        Args:
          prefix: The letters.
          n: How many commands at most.

        Returns:
          The commands, the last one last.
        """
        return [command for command in self._commands if command.startswith(prefix)][-n:]


class MenuItem:
    """An item of a menu; as an attribute of text, what the text stands for.

    Args:
      caption: Its name.
      content: The command.
      enabled: Whether it can be chosen.
    """

    def __init__(self, caption: str | None, content: str | None, enabled: bool = True):
        self._caption, self._content, self._enabled = caption, content, enabled

    @property
    def caption(self) -> str | None:
        """Its name."""
        return self._caption

    @property
    def content(self) -> str | None:
        """The command."""
        return self._content

    def is_enabled(self) -> bool:
        """Whether it can be chosen."""
        return self._enabled

    def disable(self) -> None:
        """It cannot be chosen from now on."""
        self._enabled = False

    def enable(self) -> None:
        """It can be chosen from now on."""
        self._enabled = True


class Menu:
    """A list of items, shown in a line.

    Args:
      name: Its name.
    """

    def __init__(self, name: str | None = None):
        self._name = name
        self._items: list[MenuItem] = []

    def append(self, item: MenuItem) -> None:
        """Adds an item at the end."""
        self._items.append(item)

    def insert(self, index: int, item: MenuItem) -> None:
        """Adds an item before the one with this number."""
        self._items.insert(index, item)

    def num_items(self) -> int:
        """How many items there are."""
        return len(self._items)

    def captions(self) -> list[str | None]:
        """The names of the items."""
        return [item.caption for item in self._items]

    def caption_to_item(self, caption: str) -> MenuItem:
        """The item with a name.

        Args:
          caption: The name.

        Returns:
          The item.
        """
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f'There is no menu item with the caption "{caption}"')

    def format_as_single_line(
        self,
        prefix: str | None = None,
        divider: str = " | ",
        enabled_item_attrs: Any = None,
        disabled_item_attrs: Any = None,
    ) -> RichTextLines:
        """The menu as one line.

        Args:
          prefix: What the line begins with.
          divider: What stands behind each item.
          enabled_item_attrs: An attribute of items that can be chosen, or a list of attributes.
          disabled_item_attrs: An attribute of the others, or a list of attributes.

        Returns:
          `RichTextLines`.
        """
        enabled, disabled = _listed(enabled_item_attrs), _listed(disabled_item_attrs)
        line = prefix or ""
        segments = []
        for item in self._items:
            begin = len(line)
            line += item.caption or ""
            attributes = [item, *enabled] if item.is_enabled() else disabled
            if attributes:
                segments.append((begin, len(line), attributes))
            line += divider
        return RichTextLines(line, {0: segments})


def _listed(attributes: Any) -> list[Any]:
    if attributes is None:
        return []
    return attributes if isinstance(attributes, list) else [attributes]
