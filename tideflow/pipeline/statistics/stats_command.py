"""`tideflow stats`: statistics of data, on the terminal and in a file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from tideflow.graph import errors
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.slice_queries import slice_query
from tideflow.pipeline.data.sources import find_sources
from tideflow.pipeline.data.whole_files import printable
from tideflow.pipeline.statistics.files import write_statistics
from tideflow.pipeline.statistics.generate import generate_statistics
from tideflow.pipeline.statistics.options import StatsOptions

_SHOWN_FAULTS = 10
_LONGEST_SHOWN = 40  # characters of a value
_HEADINGS = ("feature", "type", "missing", "values", "mean", "std dev", "zeros", "min", "median", "max")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tideflow stats",
        description="Computes statistics of data: CSV, TFRecords of Examples, Parquet, Arrow.",
    )
    parser.add_argument("data", nargs="+", metavar="DATA", help="files, folders, or patterns with *")
    parser.add_argument(
        "--out", metavar="FILE", help="a file for the statistics: .pbtxt for text, .pb, else a TFRecord file"
    )
    parser.add_argument(
        "--format", choices=("csv", "tfrecord", "sequence", "parquet", "arrow"), help="what the files are"
    )
    parser.add_argument(
        "--slices",
        action="append",
        default=[],
        metavar="FEATURES",
        help="a slice for each value of a feature, or combination of values: A or A,B=x. May be repeated",
    )
    parser.add_argument(
        "--slice_sql",
        action="append",
        default=[],
        metavar="QUERY",
        help='slices by SQL: "SELECT STRUCT(a, b AS name) FROM example.a, example.b WHERE b > 1". '
        "May be repeated",
    )
    parser.add_argument("--weights", metavar="FEATURE", help="the feature that holds the weight of a row")
    parser.add_argument(
        "--vocabulary",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="the file of a vocabulary that a natural_language_domain of the schema names. May be repeated",
    )
    parser.add_argument("--schema", metavar="FILE", help="a schema that says what is categorical")
    parser.add_argument("--label", metavar="FEATURE", help="the label, for the lift of categorical features")
    parser.add_argument(
        "--crosses", action="store_true", help="correlations of all pairs of numeric features"
    )
    parser.add_argument("--delimiter", help="what separates the fields of CSV files (a comma; in .tsv a tab)")
    parser.add_argument("--workers", type=int, help="processes (as many as cores)")
    parser.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster that does it, host:port or auto")
    parser.add_argument("--faults", metavar="FILE", help="a file for the faulty rows, as lines of JSON")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status: 0, or 1 if rows were faulty."""
    given = _parser().parse_args(arguments)
    options = StatsOptions(
        schema=_schema(given.schema),
        label_feature=given.label,
        weight_feature=given.weights,
        slice_features=[_slice(text) for text in given.slices],
        slice_sqls=given.slice_sql,
        vocab_paths=vocabularies(given.vocabulary),
        cross_features=given.crosses,
    )
    if given.out and not os.path.isdir(os.path.dirname(given.out) or "."):
        raise errors.not_found(f"--out {given.out}: there is no folder {os.path.dirname(given.out)}")
    csv_options = {"delimiter": given.delimiter} if given.delimiter else {}
    faults = Faults()
    statistics = generate_statistics(
        find_sources(given.data, given.format, **csv_options),
        options,
        workers=given.workers,
        ray=given.ray,
        progress=_progress if sys.stderr.isatty() else None,
        faults=faults,
    )
    _check_slices(options, statistics)
    if given.out:
        write_statistics(statistics, given.out)
    print("\n\n".join(_table(dataset) for dataset in statistics.datasets))
    if given.faults:
        faults.write(given.faults)
    _show_faults(faults)
    return 1 if len(faults) else 0


def _schema(path: str | None) -> Any:
    if path is None:
        return None
    from tideflow.pipeline.schema import load_schema_text  # loaded when asked for

    return load_schema_text(path)


def _slice(text: str) -> dict[str, list[str] | None]:
    """`A,B=x` as {"A": None, "B": ["x"]}."""
    features: dict[str, list[str] | None] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not name:
            raise errors.invalid_argument(f"--slices takes FEATURE or FEATURE=VALUE, found {text!r}")
        features[name] = [value] if equals else None
    return features


def vocabularies(given: Sequence[str]) -> dict[str, str]:
    """`NAME=FILE` of the command line, by name.

    Args:
      given: As they were written.
    """
    for each in given:
        if "=" not in each:
            raise errors.invalid_argument(f"--vocabulary takes NAME=FILE, found {each!r}")
    return dict((name, file) for name, _, file in (each.partition("=") for each in given))


def _check_slices(options: StatsOptions, statistics: Any) -> None:
    """Refuses slices by a feature that no row has: there would be none, and no word of it."""
    known = {".".join(feature.path.step) for feature in statistics.datasets[0].features}
    by_features = [("--slices", name) for each in options.slice_features for name in each]
    by_queries = [("--slice_sql", name) for text in options.slice_sqls for name in slice_query(text).features]
    for option, name in by_features + by_queries:
        if name not in known:
            raise errors.invalid_argument(
                f"{option} {name}: the data have no such feature; they have {', '.join(sorted(known))}"
            )


def _progress(done: int, of: int) -> None:
    print(f"\r{done} of {of} parts", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _show_faults(faults: Faults) -> None:
    if not len(faults):
        return
    print(f"\n{faults.in_words()} set aside:\n{faults}", file=sys.stderr)
    for fault in faults.first[:_SHOWN_FAULTS]:
        print(f"  {fault}", file=sys.stderr)
    if len(faults) > _SHOWN_FAULTS:
        print("  ...", file=sys.stderr)


def _table(dataset: Any) -> str:
    """A data set as lines, one for each feature."""
    rows = [_HEADINGS, *(_row(feature, dataset.num_examples) for feature in dataset.features)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]
    name = f"{dataset.name}: " if dataset.name else ""
    size = f"{_counted(dataset.num_examples, 'row')}, {_counted(len(dataset.features), 'feature')}"
    lines.insert(0, name + size)
    lines += [_top(feature) for feature in dataset.features if feature.string_stats.top_values]
    return "\n".join(printable(line.rstrip()) for line in lines)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _row(feature: Any, rows: int) -> tuple[str, ...]:
    kind = feature.WhichOneof("stats")
    common = getattr(feature, kind).common_stats if kind else None
    missing = 100 * common.num_missing / rows if common is not None and rows else 0.0
    first = (
        ".".join(feature.path.step),
        feature.Type.Name(feature.type),
        f"{missing:.1f}%",
        str(common.tot_num_values if common is not None else 0),
    )
    if kind != "num_stats":
        return (*first, *[""] * (len(_HEADINGS) - len(first)))
    numbers = feature.num_stats
    zeros = 100 * numbers.num_zeros / max(1, common.tot_num_values) if common is not None else 0.0
    shown = [numbers.mean, numbers.std_dev, None, numbers.min, numbers.median, numbers.max]
    return (*first, *(f"{zeros:.1f}%" if number is None else f"{number:.6g}" for number in shown))


def _top(feature: Any) -> str:
    stats = feature.string_stats
    values = ", ".join(f"{_shortened(each.value)!r} {each.frequency:.0f}" for each in stats.top_values[:5])
    return f"{'.'.join(feature.path.step)}: {stats.unique} different; {values}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
