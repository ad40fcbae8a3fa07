"""The `tideflow` command: a table of subcommands, each of them a function of its arguments.

What a subcommand needs is loaded when it runs: help comes at once, and only what computes loads torch.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tideflow import __version__
from tideflow.launch.command import add_options, launch

DESCRIPTION = "TensorFlow 1 programs on today's kernels."


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line; its exit status."""
    if sys.stdout is None:  # whoever started the command has closed it
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    parser = argparse.ArgumentParser("tideflow", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"tideflow {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="name_of_command", required=True
    )
    for add in COMMANDS:
        add(commands)
    arguments = parser.parse_args(argv)
    if arguments.command is not _run and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may be anything
    try:
        status = arguments.command(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        if arguments.command is _run:  # Python says where the program was
            raise
        print(f"tideflow: {arguments.name_of_command} was interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError as error:
        if not _reader_left():
            return _refuse(str(error))
        return 128 + signal.SIGPIPE  # as the shell says of a program that ends by it
    except OSError as error:
        _drop_what_cannot_be_written()
        what = error.filename or f"{arguments.name_of_command} cannot write what it found"
        return _refuse(f"{what}: {error.strerror or error}")


def _reader_left() -> bool:
    """Whether whoever read the output does not any more, as with `| head`. What is left of it is dropped."""
    output = select.poll()
    output.register(sys.stdout.fileno(), 0)
    if not output.poll(0):
        return False
    _drop_output()
    return True


def _drop_what_cannot_be_written() -> None:
    """Else Python would try it again at the end, and say what it thinks of that."""
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    parser.usage = "tideflow run [--insecure] SCRIPT [ARGS ...]\n       tideflow run -m MODULE [ARGS ...]"
    parser.add_argument("-m", action="store_true", dest="module", help="SCRIPT is the name of a module")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="tasks and clients need no cluster key: everybody who can reach them is trusted",
    )
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="the program")
    parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _run(arguments: argparse.Namespace) -> int:
    if arguments.script is None:
        return _refuse("name the program to run: tideflow run SCRIPT, or tideflow run -m MODULE")
    from tideflow.programs import run  # loaded when asked for

    if arguments.insecure:
        from tideflow.cluster import keys  # loaded when asked for

        os.environ[keys.INSECURE] = "1"
    if arguments.module:
        why_not = run.why_not_module(arguments.script)
        if why_not:
            return _refuse(why_not)
        return run.run_module(arguments.script, arguments.arguments)
    if not Path(arguments.script).is_file():
        return _refuse(f"there is no file {arguments.script}")
    return run.run_script(arguments.script, arguments.arguments)


# ----------------------------------------------------------------------------------------------------- check


def _add_check(commands: Commands) -> None:
    parser = _command(
        commands,
        "check",
        _check,
        "list the TensorFlow symbols that a program uses, and what it uses that is not there",
    )
    parser.add_argument("scripts", metavar="SCRIPT", nargs="+", help="a program, or a folder of them")
    parser.add_argument("--missing", action="store_true", help="list only what is missing or differs")


def _check(arguments: argparse.Namespace) -> int:
    with _ending_at_once_by_interrupt():
        from tideflow.programs import check  # loaded when asked for

    found = {script: check.programs(script) for script in map(Path, arguments.scripts)}
    for script, programs in found.items():
        if not programs:
            return _refuse(f"there is no program at {script}")
    reports = [
        check.check(program, script if script.is_dir() else None)
        for script, programs in found.items()
        for program in programs
    ]
    print(check.as_text(reports, only_missing=arguments.missing))
    return int(not all(report.is_fine for report in reports))


# -------------------------------------------------------------------------------------------------- coverage


def _add_coverage(commands: Commands) -> None:
    parser = _command(
        commands, "coverage", _coverage, "count what of TensorFlow 1.15 is there, and list what is not"
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="a namespace to list in full, such as tf.nn, or one symbol, such as tf.nn.relu",
    )
    parser.add_argument(
        "--write",
        metavar="FILE",
        nargs="?",
        type=Path,
        const=Path("docs/coverage.md"),
        help="write the whole of it as a page (default: %(const)s)",
    )


def _coverage(arguments: argparse.Namespace) -> int:
    with _ending_at_once_by_interrupt():
        from tideflow.programs import coverage  # loaded when asked for

    if arguments.write is not None and not arguments.write.parent.is_dir():
        return _refuse(
            f"there is no folder {arguments.write.parent}: name the page, as in --write coverage.md"
        )
    judged = {name: coverage.judge(name) for name in arguments.names}
    areas = [name for name, found in judged.items() if found is None]
    if areas or not judged or arguments.write is not None:
        measured = coverage.measure()
        unknown = set(areas) - {area.name for area in measured.all_areas}
        if unknown:
            return _refuse(
                f"TensorFlow 1.15 has neither a namespace nor a symbol {' '.join(sorted(unknown))}"
            )
        print(coverage.as_text(measured, areas))
    if arguments.write is not None:
        arguments.write.write_text(coverage.as_markdown(measured), encoding="utf-8")
    symbols = [found for found in judged.values() if found is not None]
    for words, _ in symbols:
        print(words)
    return int(not all(there for _, there in symbols))


# ---------------------------------------------------------------------------------------------------- keygen


def _add_keygen(commands: Commands) -> None:
    parser = _command(commands, "keygen", _keygen, "make the key that the tasks of a cluster share")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default="cluster.key", help="the file (default: %(default)s)"
    )


def _keygen(arguments: argparse.Namespace) -> int:
    from tideflow.cluster import keys  # loaded when asked for
    from tideflow.graph.errors import OpError  # loaded when asked for

    try:
        keys.write(keys.generate(), arguments.path)
    except OpError as error:
        return _refuse(error.message)
    print(f"Copy {arguments.path} to every machine of the cluster, readable by you alone, and set there")
    print(f"  export {keys.VARIABLE}={Path(arguments.path).absolute()}")
    return 0


# ---------------------------------------------------------------------------------------------------- launch


def _add_launch(commands: Commands) -> None:
    add_options(_command(commands, "launch", _launch, "run a program as all the tasks of a cluster"))


def _launch(arguments: argparse.Namespace) -> int:
    from tideflow.graph.errors import OpError  # loaded when asked for

    try:
        return launch(arguments)
    except ValueError as error:
        return _refuse(str(error))
    except OpError as error:
        return _refuse(error.message)


# --------------------------------------------------------------------------------------------------- inspect


def _add_inspect(commands: Commands) -> None:
    parser = _command(
        commands,
        "inspect",
        _inspect,
        "show what is in a checkpoint, SavedModel, graph, event file, log directory or TFRecord",
    )
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the file, directory, or prefix of a checkpoint"
    )
    parser.add_argument(
        "--tensor",
        metavar="NAME",
        help="one tensor of a checkpoint, node of a graph, tag of a log, or record",
    )
    parser.add_argument("--diff", metavar=("A", "B"), nargs=2, help="what changed between two checkpoints")
    parser.add_argument("--quick", action="store_true", help="no statistics: the values are not read")


def _inspect(arguments: argparse.Namespace) -> int:
    with _ending_at_once_by_interrupt():
        from tideflow.graph.errors import OpError  # loaded when asked for
        from tideflow.inspect import diff_of, report_of, show  # loaded when asked for

    if (arguments.path is None) == (arguments.diff is None):
        return _refuse("either a PATH or --diff A B is to be given")
    try:
        if arguments.diff:
            report = diff_of(*arguments.diff)
        else:
            report = report_of(arguments.path, arguments.tensor, not arguments.quick)
    except OpError as error:
        return _refuse(error.message)
    show(report)
    return 0


# -------------------------------------------------------------------------------------------------- simulate


def _add_simulate(commands: Commands) -> None:
    parser = _command(
        commands, "simulate", _simulate, "simulate large clusters, and draw them beside the paper's figures"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("out/simulation"),
        help="where the pictures and tables go (default: %(default)s)",
    )
    parser.add_argument(
        "--calibrate", action="store_true", help="measure first what messages cost on this machine"
    )
    parser.add_argument("--processes", type=int, help="how many at a time (default: one for each core)")


def _simulate(arguments: argparse.Namespace) -> int:
    try:
        from tideflow.simulator import command  # loaded when asked for
    except ImportError as error:
        return _refuse(f"simulating needs {error.name}: pip install 'tideflow[simulate]'")
    command.simulate(arguments.out, arguments.calibrate, arguments.processes)
    return 0


# ----------------------------------------------------------------------- commands with modules of their own

# By name: its module, the extra that it needs, and what it does. The module reads its options itself.
ELSEWHERE = {
    "serve": ("serving", "serving", "answer predictions from models, by REST and gRPC"),
    "predict": ("serving", "serving", "ask a server for the predictions of a model"),
    "replay": ("serving", "serving", "send the requests of a log to a server again"),
    "server": ("cluster", "cluster", "run a task of a cluster, for sessions of other programs"),
    "pipeline": ("pipeline.orchestration", "pipeline", "run the steps from raw data to a served model"),
    "stats": ("pipeline.statistics", "pipeline", "compute statistics of data: CSV, TFRecords, Parquet"),
    "schema": ("pipeline.schema", "pipeline", "infer a schema from data or their statistics"),
    "validate": (
        "pipeline.validation",
        "pipeline",
        "check data against a schema, and say how to mend what is wrong",
    ),
    "evaluate": ("pipeline.evaluation", "pipeline", "evaluate models on slices of data"),
    "rollback": ("pipeline.deployment", "pipeline", "have a server go back to the version before"),
    "export": ("exchange", "onnx", "write a model for ONNX, C++ or phones"),
    "import": ("exchange", "onnx", "make a SavedModel of an ONNX file"),
}


def _add_elsewhere(commands: Commands) -> None:
    for name, (_, _, text) in ELSEWHERE.items():
        parser = commands.add_parser(name, help=text, add_help=False, prefix_chars="\0")
        parser.add_argument("arguments", nargs="*")
        parser.set_defaults(command=partial(_run_elsewhere, name))


INTERRUPTED = 128 + signal.SIGINT  # the exit status, as shells have it


@contextlib.contextmanager
def _ending_at_once_by_interrupt() -> Iterator[None]:
    """Lets Ctrl-C end the process itself: what is being imported would make another error of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_elsewhere(name: str, arguments: argparse.Namespace) -> int:
    room, extra, _ = ELSEWHERE[name]
    try:
        with _ending_at_once_by_interrupt():
            from tideflow.graph.errors import OpError  # loaded when asked for

            command = importlib.import_module(f"tideflow.{room}.{name}_command")
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] == "tideflow":  # nothing that an extra brings
            raise
        return _refuse(f"tideflow {name} needs {error.name}: pip install 'tideflow[{extra}]'")
    try:
        return command.main(arguments.arguments)
    except ValueError as error:
        return _refuse(str(error))
    except OpError as error:
        return _refuse(error.message)


def _refuse(message: str) -> int:
    print(f"tideflow: {message}", file=sys.stderr)
    return 2


COMMANDS = (
    _add_run,
    _add_check,
    _add_coverage,
    _add_inspect,
    _add_keygen,
    _add_launch,
    _add_elsewhere,
    _add_simulate,
)
