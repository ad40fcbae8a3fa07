"""Settings of the debugger's terminal, kept in a file of the user's."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from typing import Any

from tideflow.platform import gfile
from tideflow.programs.debugger.cli.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

_YES = ("1", "true", "t", "yes", "y", "on")
_NO = ("0", "false", "f", "no", "n", "off")


class CLIConfig:
    """The settings: how deep graphs are shown, and whether the mouse is used.

    Args:
      config_file_path: The file that they are kept in; `.tfdbg_config` in the user's folder if None.
    """

    _CONFIG_FILE_NAME = ".tfdbg_config"
    _DEFAULT_CONFIG = (("graph_recursion_depth", 20), ("mouse_mode", True))

    def __init__(self, config_file_path: str | None = None):
        self._path = config_file_path or os.path.join(os.path.expanduser("~"), self._CONFIG_FILE_NAME)
        self._config: dict[str, Any] = {**dict(self._DEFAULT_CONFIG), **self._loaded()}
        self._save()
        self._callbacks: dict[str, Callable] = {}

    def get(self, property_name: str) -> Any:
        """The value of a setting.

        Args:
          property_name: Its name.

        Returns:
          The value.
        """
        self._check(property_name)
        return self._config[property_name]

    def set(self, property_name: str, property_val: Any) -> None:
        """Changes a setting, and keeps it.

        Args:
          property_name: Its name.
          property_val: The value, or what the user has typed.
        """
        self._check(property_name)
        self._config[property_name] = _typed(property_val, type(self._config[property_name]))
        self._save()
        if property_name in self._callbacks:
            self._callbacks[property_name](self._config)

    def set_callback(self, property_name: str, callback: Callable) -> None:
        """Calls a function when a setting changes.

        Args:
          property_name: The name of the setting.
          callback: A function of the settings.
        """
        self._check(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._callbacks[property_name] = callback

    def summarize(self, highlight: str | None = None) -> RichTextLines:
        """All settings.

        Args:
          highlight: The name of the one that stands out.

        Returns:
          `RichTextLines`.
        """
        lines = [RichLine("Command-line configuration:", "bold"), RichLine("")]
        for name, value in self._config.items():
            weight = "bold" if name == highlight else None
            lines.append(
                RichLine("  ") + RichLine(name, ["underline", weight]) + ": " + RichLine(str(value), weight)
            )
        return rich_text_lines_from_rich_line_list(lines)

    def _check(self, name: str) -> None:
        if name not in self._config:
            raise KeyError(f"{name} is not a valid property name.")

    def _loaded(self) -> dict[str, Any]:
        if not gfile.exists(self._path):
            return {}
        try:
            with gfile.GFile(self._path, "r") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _save(self) -> None:
        with contextlib.suppress(OSError):  # they hold for this terminal all the same
            with gfile.GFile(self._path, "w") as file:
                json.dump(self._config, file)


def _typed(value: Any, kind: type) -> Any:
    """A value as one of a type; what is typed for a boolean is a word."""
    if kind is bool and isinstance(value, str):
        if value.lower() not in _YES + _NO:
            raise ValueError(f"Invalid string value for bool type: {value}")
        return value.lower() in _YES
    if kind not in (bool, int, str):
        raise TypeError(f"Unsupported property type: {kind}")
    return kind(value)
