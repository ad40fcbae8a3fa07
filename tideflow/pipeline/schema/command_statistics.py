"""The statistics that commands ask for: read from a file, or computed from data."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source, find_sources
from tideflow.pipeline.statistics import StatsOptions, generate_statistics, load_statistics
from tideflow.pipeline.statistics.stats_command import vocabularies

_SUFFIXES = (".pb", ".binpb", ".pbtxt", ".textproto")
_SHOWN_FAULTS = 10


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say what the data are and who computes their statistics.

    Args:
      parser: Of the command.
    """
    parser.add_argument(
        "data", metavar="DATA", help="files, a folder or a pattern; or statistics (.pb, .pbtxt)"
    )
    parser.add_argument("--weights", metavar="FEATURE", help="the feature that holds the rows' weights")
    parser.add_argument("--format", help="csv, tfrecord, sequence, parquet or arrow, where no suffix says it")
    parser.add_argument(
        "--vocabulary",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="the file of a vocabulary that a natural_language_domain of the schema names. May be repeated",
    )
    parser.add_argument("--delimiter", help="what separates the fields of CSV files (a comma; in .tsv a tab)")
    parser.add_argument("--ray", metavar="ADDRESS", help="compute statistics by a Ray cluster")
    parser.add_argument("--workers", type=int, help="processes that compute statistics")


def is_statistics(data: str) -> bool:
    """Whether a file holds statistics, not data.

    Args:
      data: The file's name.
    """
    return data.endswith(_SUFFIXES)


def sources_of(data: str, options: argparse.Namespace) -> list[Source]:
    """The sources of data.

    Args:
      data: Files, a folder or a pattern.
      options: The command's, as `add_data_arguments` describes them.
    """
    csv_options = {"delimiter": options.delimiter} if options.delimiter else {}
    return find_sources(data, options.format, **csv_options)


def statistics_of(data: str, schema: Any | None, options: argparse.Namespace) -> Any:
    """The statistics of data, or those that are in a file. Faulty rows are shown.

    Args:
      data: Files, or a file of statistics.
      schema: What the features are expected to be.
      options: The command's, as `add_data_arguments` describes them.

    Returns:
      A `DatasetFeatureStatisticsList`.
    """
    if is_statistics(data):
        return load_statistics(data)
    faults = Faults()
    statistics = generate_statistics(
        sources_of(data, options),
        StatsOptions(
            schema=schema,
            weight_feature=options.weights,
            vocab_paths=vocabularies(options.vocabulary),
        ),
        workers=options.workers,
        ray=options.ray,
        faults=faults,
    )
    if faults:
        print(f"{data}: {faults.in_words()} set aside:", file=sys.stderr)
        for fault in faults.first[:_SHOWN_FAULTS]:
            print(f"  {fault}", file=sys.stderr)
    return statistics
