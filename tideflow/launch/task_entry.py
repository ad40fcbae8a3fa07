"""The main module of a launched task: `python -m tideflow.launch.task_entry SCRIPT ARGS …`.

It is `tideflow run` in a process that is killed when its launcher ends, and that exits in order on SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from tideflow.cli import main as tideflow
from tideflow.launch.processes import PARENT
from tideflow.process import end_with

_MOMENT = 0.02  # seconds


def leave_in_order(number: int, frame: object) -> None:
    """Handles SIGTERM: the first one makes the program exit, which closes its files and notifies its peers.

    The second one ends the process at once.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise _Leave(128 + number)


class _Leave(SystemExit):
    """Ends the program."""


def _leave_later(unraisable: sys.UnraisableHookArgs) -> None:
    """Python ignores what is raised in a finalizer or in the callback of a weak reference, of which imports
    have many: the program is ended a moment later, when it is somewhere else.
    """
    if not isinstance(unraisable.exc_value, _Leave):
        sys.__unraisablehook__(unraisable)
        return
    signal.signal(signal.SIGTERM, leave_in_order)
    again = threading.Timer(_MOMENT, os.kill, (os.getpid(), signal.SIGTERM))
    again.daemon = True
    again.start()


def main() -> int:
    """Runs the program of the command line."""
    parent = os.environ.pop(PARENT, None)
    if parent is not None:
        end_with(int(parent))
    signal.signal(signal.SIGTERM, leave_in_order)
    sys.unraisablehook = _leave_later
    try:
        return tideflow(["run", *sys.argv[1:]])
    except SystemExit as error:
        if error.code:  # the server looks here, at exit, whether to report success or failure to its peers
            sys.last_value = error
        raise


if __name__ == "__main__":
    sys.exit(main())
