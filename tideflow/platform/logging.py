"""`tf.logging`: the standard library's logger "tensorflow", as programs and log readers know it.

The name is TensorFlow's on purpose: programs set `logging.getLogger("tensorflow")`, and tools read lines such
as `INFO:tensorflow:loss = 0.5, step = 100`.
"""

from __future__ import annotations

import collections
import logging
import sys
from typing import Any

from tideflow.export import export, expose

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL
for _name in ("DEBUG", "INFO", "WARN", "ERROR", "FATAL"):
    expose(globals()[_name], f"logging.{_name}")

_THE_CALLER = 3  # frames from `Logger.log` to the user's line, through `_log` and the public function

_logger = logging.getLogger("tensorflow")
_calls: collections.Counter = collections.Counter()  # by the place of the call


def _add_handler(logger: logging.Logger) -> None:
    interactive = hasattr(sys, "ps1") or sys.flags.interactive
    if interactive:
        logger.setLevel(INFO)
    handler = logging.StreamHandler(sys.stdout if interactive else sys.stderr)
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    logger.addHandler(handler)


# At import, as TensorFlow: tf.app.run gives the root logger a handler of its own, and the lines
# `INFO:tensorflow:…` are expected all the same. A program that has set up logging before is left alone.
if not logging.getLogger().handlers and not _logger.handlers:
    _add_handler(_logger)


@export("get_logger")
def get_logger() -> logging.Logger:
    """Gets the logger of `tf.logging`.

    Returns:
      The logger.
    """
    return _logger


def _log(level: int, msg: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    _logger.log(level, msg, *args, **{"stacklevel": _THE_CALLER, **kwargs})


@export("logging.log")
def log(level: int, msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message.

    Args:
      level: The level.
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(level, msg, args, kwargs)


@export("logging.vlog")
def vlog(level: int, msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message.

    Args:
      level: The level.
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(level, msg, args, kwargs)


@export("logging.debug")
def debug(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message at level DEBUG.

    Args:
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(DEBUG, msg, args, kwargs)


@export("logging.info")
def info(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message at level INFO.

    Args:
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(INFO, msg, args, kwargs)


@export("logging.warn")
def warn(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message at level WARN.

    Args:
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(WARN, msg, args, kwargs)


@export("logging.warning")
def warning(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message at level WARN.

    Args:
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(WARN, msg, args, kwargs)


@export("logging.error")
def error(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message at level ERROR.

    Args:
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(ERROR, msg, args, kwargs)


@export("logging.fatal")
def fatal(msg: object, *args: Any, **kwargs: Any) -> None:
    """Logs a message at level FATAL. The program continues.

    Args:
      msg: The message, a format string for `args`.
      *args: The arguments of the format string.
      **kwargs: Keyword arguments of Python's `logging`.
    """
    _log(FATAL, msg, args, kwargs)


@export("logging.TaskLevelStatusMessage")
def TaskLevelStatusMessage(msg: object) -> None:
    """Logs a message at level ERROR.

    Args:
      msg: The message.
    """
    _log(ERROR, msg, (), {})


@export("logging.log_if")
def log_if(level: int, msg: object, condition: bool, *args: Any) -> None:
    """Logs a message if a condition is true.

    Args:
      level: The level.
      msg: The message, a format string for `args`.
      condition: The condition.
      *args: The arguments of the format string.
    """
    if condition:
        _log(level, msg, args, {})


@export("logging.log_every_n")
def log_every_n(level: int, msg: object, n: int, *args: Any) -> None:
    """Logs the first of every n calls from a line of the program.

    Args:
      level: The level.
      msg: The message, a format string for `args`.
      n: The number of calls.
      *args: The arguments of the format string.
    """
    if _earlier_calls() % n == 0:
        _log(level, msg, args, {})


@export("logging.log_first_n")
def log_first_n(level: int, msg: object, n: int, *args: Any) -> None:
    """Logs the first n calls from a line of the program.

    Args:
      level: The level.
      msg: The message, a format string for `args`.
      n: The number of calls.
      *args: The arguments of the format string.
    """
    if _earlier_calls() < n:
        _log(level, msg, args, {})


def _earlier_calls() -> int:
    """How often the line that called the caller has done so before."""
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    _calls[place] += 1
    return _calls[place] - 1


@export("logging.flush")
def flush() -> None:
    """Flushes the handlers of the logger."""
    for handler in _logger.handlers:
        handler.flush()


@export("logging.get_verbosity")
def get_verbosity() -> int:
    """The lowest level that is logged."""
    return _logger.getEffectiveLevel()


@export("logging.set_verbosity")
def set_verbosity(v: int | str) -> None:
    """Sets the lowest level that is logged.

    Args:
      v: The level, as a number or a name.
    """
    _logger.setLevel(v)
