"""TensorFlow's tools as programs, run by `tideflow run -m tensorflow.python.tools.freeze_graph …`."""

from __future__ import annotations

import argparse


def parser_of(**texts: str) -> argparse.ArgumentParser:
    """A parser of a tool's flags: those that are texts, with their defaults."""
    parser = argparse.ArgumentParser()
    for name, default in texts.items():
        parser.add_argument(f"--{name}", default=default)
    return parser


def add_switches(parser: argparse.ArgumentParser, **defaults: bool) -> None:
    """Adds flags that are true or false. A flag without a value is true."""
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", nargs="?", const=True, type=_is_true, default=default)


def _is_true(word: str) -> bool:
    return word.lower() == "true"
