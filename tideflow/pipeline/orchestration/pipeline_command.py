"""`tideflow pipeline run|watch|list|show|ui`."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tideflow.graph import errors
from tideflow.pipeline.data.whole_files import printable
from tideflow.pipeline.orchestration import metadata, pipelines, runner, terminal
from tideflow.pipeline.orchestration.metadata import Metadata
from tideflow.pipeline.orchestration.pipelines import Pipeline
from tideflow.pipeline.orchestration.watch import watch

EXIT_CODES = {metadata.COMPLETE: 0, metadata.FAILED: 1, metadata.REFUSED: 3}


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status: 0, 1 where a component failed, 3 where one refused.

    Args:
        arguments: of the command line.
    """
    parser = argparse.ArgumentParser(
        "tideflow pipeline", description="Runs the steps from raw data to a served model."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_watch(commands)
    _add_list(commands)
    _add_show(commands)
    _add_ui(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.command(options))
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.")
        return 130


# ------------------------------------------------------------------------------------------------ run, watch


def _add_run(commands: Any) -> None:
    parser = commands.add_parser("run", help="run a pipeline once", description="Runs a pipeline once.")
    _add_pipeline_options(parser)
    parser.add_argument(
        "--force",
        metavar="COMPONENT",
        action="append",
        default=[],
        help="run this component even if nothing changed",
    )
    parser.set_defaults(command=_run)


def _add_watch(commands: Any) -> None:
    parser = commands.add_parser(
        "watch",
        help="run a pipeline whenever its data have changed",
        description="Runs a pipeline now, and again whenever the files that it reads have changed.",
    )
    _add_pipeline_options(parser)
    parser.add_argument("--every", type=float, default=10.0, metavar="SECONDS", help="how often to look (10)")
    parser.add_argument("--runs", type=int, metavar="N", help="end after so many runs")
    parser.set_defaults(command=_watch)


def _add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=f"a program that defines {pipelines.CREATE}()")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"an argument of {pipelines.CREATE}",
    )
    parser.add_argument(
        "--root", metavar="DIR", type=Path, help="where its artifacts go; create_pipeline gets it as `root`"
    )
    parser.add_argument(
        "--metadata", metavar="URL", help="the database of its metadata, as SQLAlchemy names it"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes (one for each core)")
    parser.add_argument("--ray", metavar="ADDRESS", help="the Ray cluster that does the work instead")
    parser.add_argument(
        "--at_once",
        type=int,
        metavar="N",
        help="how many components run at a time, where they do not depend on each other (one for each core)",
    )


def _pipeline(options: argparse.Namespace) -> Pipeline:
    for setting in options.set:
        if "=" not in setting:
            raise errors.invalid_argument(f"--set takes NAME=VALUE, and was given {setting}")
    settings = dict(setting.partition("=")[::2] for setting in options.set)
    pipeline = pipelines.load(options.file, settings, options.root)
    given = {name: getattr(options, name) for name in ("metadata", "workers", "ray", "at_once")}
    return dataclasses.replace(
        pipeline, **{name: value for name, value in given.items() if value is not None}
    )


def _run(options: argparse.Namespace) -> int:
    pipeline = _pipeline(options)
    print(f"{pipeline.name}, in {pipeline.root}", flush=True)
    with terminal.shown([node.name for node in pipeline.components]) as listener:
        result = runner.run(pipeline, listener, options.force)
    print(terminal.verdict(result))
    return EXIT_CODES[result.state]


def _watch(options: argparse.Namespace) -> int:
    if not options.every > 0:
        raise errors.invalid_argument(f"--every {options.every:g}: it is to be a number of seconds above 0")
    pipeline = _pipeline(options)
    print(f"{pipeline.name}, in {pipeline.root}: looking every {options.every:g} s", flush=True)
    names = [node.name for node in pipeline.components]
    state = metadata.COMPLETE
    results = watch(pipeline, lambda event: listener(event), options.every, options.runs)
    while True:
        with terminal.shown(names) as listener:
            result = next(results, None)
        if result is None:
            return EXIT_CODES[state]
        state = result.state
        print(terminal.verdict(result), flush=True)


# --------------------------------------------------------------------------------------------- list, show, ui


def _add_list(commands: Any) -> None:
    parser = commands.add_parser("list", help="list runs", description="Lists runs, newest first.")
    _add_place(parser)
    parser.set_defaults(command=_list)


def _add_show(commands: Any) -> None:
    parser = commands.add_parser(
        "show",
        help="show one run",
        description="Shows what each component of a run did, read and wrote.",
    )
    _add_place(parser)
    parser.add_argument("run", metavar="RUN", nargs="?", type=int, help="its number (the latest)")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write it as a page with all its reports")
    parser.set_defaults(command=_show)


def _add_ui(commands: Any) -> None:
    parser = commands.add_parser(
        "ui",
        help="show runs in a browser",
        description="Shows runs, lineage, statistics, anomalies and evaluations in a browser.",
    )
    _add_place(parser)
    parser.add_argument("--port", type=int, default=8080, help="of the page, on this machine alone (8080)")
    parser.set_defaults(command=_ui)


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place", metavar="PLACE", help="a pipeline's folder, its program, or the URL of its metadata"
    )


def open_metadata(place: str) -> Metadata:
    """Opens the metadata of a place.

    Args:
        place: a pipeline's folder, its program, or a URL.

    Raises:
        NotFoundError: If there are none.
    """
    if "://" in place:
        return Metadata(place)
    path = Path(place)
    url = pipelines.load(path).metadata_url if path.is_file() else pipelines.metadata_url(path)
    if not (path.is_file() or (path / "metadata.db").is_file()):
        raise errors.not_found(
            f"there is no metadata.db in {place}: it is in the folder of a pipeline that has run"
        )
    return Metadata(url)


def _list(options: argparse.Namespace) -> int:
    store = open_metadata(options.place)
    print(f"{'run':>5}  {'pipeline':<20} {'state':<10} {'began':<20} {'took':>8}")
    for row in store.runs():
        took = f"{row['ended'] - row['started']:6.1f} s" if row["ended"] else ""
        began = datetime.fromtimestamp(row["started"]).strftime("%Y-%m-%d %H:%M:%S")
        print(f"{row['id']:>5}  {row['pipeline']:<20} {row['state']:<10} {began:<20} {took:>8}")
    store.close()
    return 0


def _show(options: argparse.Namespace) -> int:
    store = open_metadata(options.place)
    row = store.run(options.run)
    if options.html is not None:
        from tideflow.pipeline.ui.report import write_report  # loaded when asked for

        write_report(store, row["id"], options.html)
        print(f"wrote {options.html}")
    else:
        print(f"Run {row['id']} of {row['pipeline']}: {row['state']}")
        for execution in store.executions(row["id"]):
            print(printable(_execution_in_words(execution), "\n"))
    store.close()
    return EXIT_CODES.get(row["state"], 0)


def _execution_in_words(execution: dict[str, Any]) -> str:
    seconds = (execution["ended"] or execution["started"]) - execution["started"]
    error = (execution["error"] or "").strip().splitlines()[-1:]
    words = (*execution["refusals"], *error)
    lines = [terminal.line_of(runner.Event(execution["node"], execution["state"], seconds, words=words), 18)]
    for role in ("inputs", "outputs"):
        for name, artifact in execution[role].items():
            lines.append(f"      {role[:-1]} {name}: {artifact.type_name} {artifact.id}, {artifact.uri}")
    return "\n".join(lines)


def _ui(options: argparse.Namespace) -> int:
    from tideflow.pipeline.ui.server import serve  # loaded when asked for

    serve(open_metadata(options.place), options.port)
    return 0
