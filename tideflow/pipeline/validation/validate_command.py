"""`tideflow validate`: checks data against a schema, and says how to mend what is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from tideflow.io.local_files import as_tensorflow_errors
from tideflow.pipeline.data.whole_files import printable, write_whole
from tideflow.pipeline.messages.anomalies import CustomValidationConfig, ValidationConfig
from tideflow.pipeline.schema import load_schema_text, write_schema_text
from tideflow.pipeline.schema.command_statistics import (
    add_data_arguments,
    is_statistics,
    sources_of,
    statistics_of,
)
from tideflow.pipeline.validation.fixes import Fix, accept, fixes, has_errors, write_anomalies_text
from tideflow.pipeline.validation.rows import Row, find_rows
from tideflow.pipeline.validation.validate import validate_statistics

_LONGEST_LINE = 1000


def main(arguments: Sequence[str]) -> int:
    """Runs the command.

    Args:
      arguments: What follows `tideflow validate`.

    Returns:
      0 if the data fit the schema or have warnings only, 1 if they have errors. (2: the command failed.)
    """
    options = _parser().parse_args(arguments)
    schema = load_schema_text(options.schema)
    statistics = statistics_of(options.data, schema, options)
    controls = {
        name: None if data is None else statistics_of(data, schema, options)
        for name, data in (
            ("previous_statistics", options.previous),
            ("serving_statistics", options.serving),
            ("previous_version_statistics", options.previous_version),
        )
    }

    def validate(checked: Any) -> Any:
        return validate_statistics(
            statistics,
            checked,
            options.environment,
            custom_validation_config=_conditions(options),
            validation_config=_config(options),
            **controls,
        )

    anomalies = validate(schema)
    if options.accept:
        numbers = None if "all" in options.accept else [_number(text) for text in options.accept]
        accepted = accept(anomalies, numbers)
        write_schema_text(accepted, options.out_schema or options.schema)
        print(f"{options.out_schema or options.schema}: accepted {', '.join(options.accept)}")
        anomalies = validate(accepted)
    if options.out:
        _write(anomalies, options.out)
    _show(anomalies, options)
    return 1 if has_errors(anomalies) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tideflow validate",
        description="Checks data against a schema. Exit status: 0 they fit (or warnings), 1 errors.",
    )
    add_data_arguments(parser)
    parser.add_argument("--schema", required=True, metavar="FILE", help="the schema, as text")
    parser.add_argument("--environment", help="one of the schema's environments, such as SERVING")
    parser.add_argument("--previous", metavar="DATA", help="data of the span before, for drift")
    parser.add_argument("--serving", metavar="DATA", help="data that were served, for skew")
    parser.add_argument("--previous_version", metavar="DATA", help="the span's data as they were before")
    parser.add_argument(
        "--severity",
        action="append",
        default=[],
        metavar="TYPE=WARNING",
        help="a severity by an anomaly's type",
    )
    parser.add_argument("--conditions", metavar="FILE", help="a CustomValidationConfig, as text")
    parser.add_argument(
        "--accept", action="append", default=[], metavar="N", help="change the schema by fix N (or all)"
    )
    parser.add_argument("--out_schema", metavar="FILE", help="where the changed schema goes (the same file)")
    parser.add_argument("--out", metavar="FILE", help="write the Anomalies message (.pb, or text)")
    parser.add_argument("--rows", type=int, default=3, metavar="N", help="show N rows of each anomaly (3)")
    return parser


def _config(options: argparse.Namespace) -> Any:
    config = ValidationConfig()
    for text in options.severity:
        kind, _, severity = text.partition("=")
        try:
            config.severity_overrides.add(type=kind, severity=severity)
        except ValueError:
            raise ValueError(f"--severity {text}: say it as SCHEMA_NEW_COLUMN=WARNING") from None
    return config


def _conditions(options: argparse.Namespace) -> Any | None:
    if options.conditions is None:
        return None
    try:
        with as_tensorflow_errors(options.conditions):
            return text_format.Parse(Path(options.conditions).read_text(), CustomValidationConfig())
    except text_format.ParseError as error:
        raise ValueError(f"{options.conditions} is no CustomValidationConfig: {error}") from error


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"--accept {text}: say the number of a fix, or all")
    return int(text)


def _write(anomalies: Any, out: str) -> None:
    if out.endswith((".pb", ".binpb")):
        with as_tensorflow_errors(out):
            write_whole(out, anomalies.SerializeToString())
    else:
        write_anomalies_text(anomalies, out)


def _show(anomalies: Any, options: argparse.Namespace) -> None:
    if anomalies.data_missing:
        print("There are no data.")
        return
    found = fixes(anomalies)
    if not found:
        print("The data fit the schema.")
    rows: dict[int, list[Row]] = {}
    if found and options.rows > 0 and not is_statistics(options.data):
        rows = find_rows(sources_of(options.data, options), anomalies, found, options.rows)
    for fix in found:
        print(_text(fix, rows.get(fix.number, [])))


def _text(fix: Fix, rows: Sequence[Row]) -> str:
    where = f"feature {fix.path}" if fix.path else "the dataset"
    lines = [
        f"{fix.number}. {fix.severity} {where}: {fix.short_description or ', '.join(fix.types)}",
        f"   {fix.description}".rstrip(),
        f"   {', '.join(fix.types)}",
    ]
    lines += [f"   {row.file}, row {row.number}: {row.value or '(missing)'}" for row in rows]
    lines.append(f"   If the schema is right: {fix.data}.")
    if fix.diff:
        lines.append(f"   If the data are right: --accept {fix.number}, which changes the schema:")
        lines += [f"     {line}" for line in fix.diff.splitlines()]
    return "\n".join(_printable(line) for line in lines if line.strip()) + "\n"


def _printable(line: str) -> str:
    """A line as a terminal may get it: values from data can be long, and can hold what commands terminals."""
    return printable(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …")
