"""`tf.app.run`: the entry point of a TensorFlow 1 program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from absl import app as absl_app

from tideflow.export import export
from tideflow.platform import flags


@export("app.run")
def run(main: Callable | None = None, argv: Sequence[str] | None = None) -> None:
    """Parses the program's flags, calls its main function and exits.

    Args:
      main: The function, which gets the arguments that are not flags; the program's own `main` if None.
      argv: The command line; `sys.argv` if None.
    """
    absl_app.run(main=main or sys.modules["__main__"].main, argv=argv, flags_parser=_parse_known)


def _parse_known(argv: Sequence[str] | None) -> list[str]:
    """Flags that nobody defined are left to `main`; absl itself would refuse them."""
    return flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
