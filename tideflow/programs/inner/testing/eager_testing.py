"""`tensorflow.python.eager.test`: the tests of a file, run in eager mode."""

from __future__ import annotations

from typing import Any

import tideflow as tf


def main(argv: Any = None) -> None:
    """Runs the tests of the main module eagerly.

    Args:
      argv: The arguments of the command line; those of the process if None.
    """
    tf.enable_eager_execution()
    tf.test.main(argv)
