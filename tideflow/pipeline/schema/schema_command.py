"""`tideflow schema`: makes the first draft of a schema, and brings one up to date."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from tideflow.pipeline.schema.command_statistics import add_data_arguments, statistics_of
from tideflow.pipeline.schema.editing import load_schema_text, schema_text, write_schema_text
from tideflow.pipeline.schema.inference import infer_schema, update_schema


def main(arguments: Sequence[str]) -> int:
    """Runs the command.

    Args:
      arguments: What follows `tideflow schema`.

    Returns:
      The exit status.
    """
    parser = argparse.ArgumentParser("tideflow schema", description="Makes a schema from data.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    infer = commands.add_parser("infer", help="make the first draft of a schema, for people to review")
    update = commands.add_parser("update", help="loosen a schema until it accepts data")
    for command in (infer, update):
        add_data_arguments(command)
        command.add_argument(
            "--out", metavar="FILE", help="the schema's file (it is printed, if none is named)"
        )
        command.add_argument(
            "--max_string_domain_size",
            type=int,
            default=100,
            metavar="N",
            help="how many distinct strings a feature may have that gets a domain (100)",
        )
    infer.add_argument("--no_shapes", action="store_true", help="give no feature a shape")
    infer.add_argument("--force", action="store_true", help="replace a file that is there")
    update.add_argument("--schema", required=True, metavar="FILE", help="the schema, as text")
    options = parser.parse_args(arguments)
    if options.command == "infer" and options.out and os.path.exists(options.out) and not options.force:
        raise ValueError(f"{options.out} is there, and people may have edited it: say --force to replace it")
    schema = _schema(options)
    if options.out:
        write_schema_text(schema, options.out)
    else:
        print(schema_text(schema), end="")
    return 0


def _schema(options: argparse.Namespace) -> Any:
    known = load_schema_text(options.schema) if options.command == "update" else None
    statistics = statistics_of(options.data, known, options)
    if known is not None:
        return update_schema(known, statistics, options.max_string_domain_size)
    return infer_schema(statistics, not options.no_shapes, options.max_string_domain_size)
