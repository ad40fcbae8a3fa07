"""What AutoGraph says about its work."""

from __future__ import annotations

import os
import sys
from typing import Any

from tideflow.export import export
from tideflow.platform import logging

_level: int | None = None  # takes precedence over the environment's
_echoes = hasattr(sys, "ps1")


@export("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much AutoGraph logs, instead of the environment variable AUTOGRAPH_VERBOSITY.

    Args:
      level: 0 for warnings alone; 1 names the functions that are converted; 2 shows the converted code.
      alsologtostdout: Whether what is logged is printed too.
    """
    global _level, _echoes
    _level, _echoes = level, alsologtostdout


@export("autograph.trace")
def trace(*args: Any) -> None:
    """Prints its arguments when a function is traced: once, where `tf.print` prints in every step.

    Args:
      *args: What to print.
    """
    print(*args)


def log(level: int, message: str, *args: Any) -> None:
    """Logs a message if the verbosity is at least `level`."""
    if (int(os.environ.get("AUTOGRAPH_VERBOSITY", 0)) if _level is None else _level) >= level:
        logging.info(message, *args)
        if _echoes:
            print(message % args)


def warn(message: str, *args: Any) -> None:
    """Logs a warning."""
    logging.warn(message, *args)
    if _echoes:
        print("WARNING: " + message % args)
