"""`tensorflow.python.training.tensorboard_logging`: messages that go to a log and to an event file."""

from __future__ import annotations

import time
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, LogMessage

from tideflow.platform import logging

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"

_LEVELS = {
    DEBUG: (LogMessage.DEBUGGING, logging.DEBUG),
    INFO: (LogMessage.INFO, logging.INFO),
    WARN: (LogMessage.WARN, logging.WARN),
    ERROR: (LogMessage.ERROR, logging.ERROR),
    FATAL: (LogMessage.FATAL, logging.FATAL),
}
_NOT_SET = object()

_verbosity = WARN
_summary_writer: Any = _NOT_SET


def get_verbosity() -> str:
    """The level from which on messages go to the event file."""
    return _verbosity


def set_verbosity(verbosity: str) -> None:
    """Sets the level from which on messages go to the event file."""
    global _verbosity
    _check_level(verbosity)
    _verbosity = verbosity


def set_summary_writer(summary_writer: Any) -> None:
    """Sets the writer of the event file. If it is None, messages go to the log only."""
    global _summary_writer
    _summary_writer = summary_writer


def _clear_summary_writer() -> None:
    """Goes back to the start, where no writer has been set."""
    set_summary_writer(_NOT_SET)


def _check_level(level: str) -> None:
    if level not in _LEVELS:
        raise ValueError(f"Level {level} is not a valid tensorboard_logging level")


def log(level: str, message: str, *args: Any) -> None:
    """Writes `message % args` into the log and, from the set level on, into the event file.

    Raises:
      ValueError: If there is no such level.
      RuntimeError: If no writer has been set.
    """
    if _summary_writer is _NOT_SET:
        raise RuntimeError("Must call set_summary_writer before doing any logging from tensorboard_logging")
    _check_level(level)
    number, of_the_log = _LEVELS[level]
    if _summary_writer is not None and number >= _LEVELS[_verbosity][0]:
        said = LogMessage(level=number, message=message % args)
        _summary_writer.add_event(Event(wall_time=time.time(), log_message=said))
    logging.log(of_the_log, message, *args)


def debug(message: str, *args: Any) -> None:
    """Logs a message of level DEBUG."""
    log(DEBUG, message, *args)


def info(message: str, *args: Any) -> None:
    """Logs a message of level INFO."""
    log(INFO, message, *args)


def warn(message: str, *args: Any) -> None:
    """Logs a message of level WARN."""
    log(WARN, message, *args)


def error(message: str, *args: Any) -> None:
    """Logs a message of level ERROR."""
    log(ERROR, message, *args)


def fatal(message: str, *args: Any) -> None:
    """Logs a message of level FATAL."""
    log(FATAL, message, *args)
