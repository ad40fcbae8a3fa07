"""The `tideflow` command: a table of subcommands, each of them a function of its arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DESCRIPTION = "TensorFlow 1 programs on today's kernels."


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line; its exit status."""
    parser = argparse.ArgumentParser("tideflow", description=DESCRIPTION)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(commands)
    arguments = parser.parse_args(argv)
    return arguments.command(arguments)


Commands = Any  # what `add_subparsers` gives


def _command(commands: Commands, name: str, function: Callable, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(command=function)
    return parser


# ------------------------------------------------------------------------------------------------------- run


def _add_run(commands: Commands) -> None:
    parser = _command(
        commands, "run", _run, "run a program written for TensorFlow 1, with not a character changed"
    )
    parser.usage = "tideflow run SCRIPT [ARGS ...]\n       tideflow run -m MODULE [ARGS ...]"
    parser.add_argument("-m", action="store_true", dest="module", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help="the program")
    parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _run(arguments: argparse.Namespace) -> int:
    from tideflow.programs import run

    if arguments.module:
        return run.run_module(arguments.script, arguments.arguments)
    if not Path(arguments.script).is_file():
        return _refuse(f"there is no file {arguments.script}")
    return run.run_script(arguments.script, arguments.arguments)


# ----------------------------------------------------------------------------------------------------- check


def _add_check(commands: Commands) -> None:
    parser = _command(
        commands, "check", _check, "list the TensorFlow symbols that a program uses, and which are not there"
    )
    parser.add_argument("scripts", metavar="SCRIPT", nargs="+", help="a program, or a folder of them")
    parser.add_argument("--missing", action="store_true", help="list only what is missing or differs")


def _check(arguments: argparse.Namespace) -> int:
    from tideflow.programs import check

    paths = [path for script in arguments.scripts for path in check.programs(Path(script))]
    if not paths:
        return _refuse(f"there is no program at {' '.join(arguments.scripts)}")
    reports = [check.check(path) for path in paths]
    print(check.as_text(reports, only_missing=arguments.missing))
    return int(any(report.faults for report in reports))


# -------------------------------------------------------------------------------------------------- coverage


def _add_coverage(commands: Commands) -> None:
    parser = _command(
        commands, "coverage", _coverage, "count what of TensorFlow 1.15 is there, and list what is not"
    )
    parser.add_argument("areas", metavar="AREA", nargs="*", help="a namespace to list in full, such as tf.nn")
    parser.add_argument(
        "--write",
        metavar="FILE",
        nargs="?",
        type=Path,
        const=Path("docs/coverage.md"),
        help="write the whole of it as a page (default: %(const)s)",
    )


def _coverage(arguments: argparse.Namespace) -> int:
    from tideflow.programs import coverage

    measured = coverage.measure()
    print(coverage.as_text(measured, arguments.areas))
    if arguments.write is not None:
        arguments.write.write_text(coverage.as_markdown(measured), encoding="utf-8")
    return 0


def _refuse(message: str) -> int:
    print(f"tideflow: {message}", file=sys.stderr)
    return 2


COMMANDS = (_add_run, _add_check, _add_coverage)
