"""The door through which a launched task comes in: `python -m tideflow.launch.task_entry SCRIPT ARGS …` is
`tideflow run`, in a process that ends with its launcher, if it has one, and in good order if it is asked to.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from tideflow.launch.processes import PARENT

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """The kernel kills this process when the parent ends, however it does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended meanwhile
        os._exit(128 + signal.SIGKILL)


def leave_in_order(number: int, frame: object) -> None:
    """On the first SIGTERM the program unwinds: files are closed, peers are told. The second ends it at
    once.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise SystemExit(128 + number)


def main() -> int:
    """Runs the program of the command line."""
    parent = os.environ.pop(PARENT, None)
    if parent is not None:
        end_with(int(parent))
    signal.signal(signal.SIGTERM, leave_in_order)
    from tideflow.cli import main as tideflow

    try:
        return tideflow(["run", *sys.argv[1:]])
    except SystemExit as error:
        if error.code:  # peers are not to take this for the end of the work: they ask here, at exit
            sys.last_value = error
        raise


if __name__ == "__main__":
    sys.exit(main())
