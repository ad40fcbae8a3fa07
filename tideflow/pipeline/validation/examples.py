"""Single rows are validated: which of them a schema does not accept, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Blocks, PathLike, Source, WiderTypes, find_sources
from tideflow.pipeline.messages.anomalies import AnomalyInfo
from tideflow.pipeline.schema.reasons import Reason, summary
from tideflow.pipeline.statistics import StatsOptions, generate_statistics
from tideflow.pipeline.validation.validate import validate_statistics

if TYPE_CHECKING:
    import pyarrow as pa

# Anomalies that a single row cannot have.
_OF_DATASETS = {
    "FEATURE_TYPE_LOW_FRACTION_PRESENT",
    "FEATURE_TYPE_LOW_NUMBER_PRESENT",
    "FEATURE_TYPE_NOT_PRESENT",
    "SCHEMA_TRAINING_SERVING_SKEW",
    "COMPARATOR_CONTROL_DATA_MISSING",
    "COMPARATOR_TREATMENT_DATA_MISSING",
    "COMPARATOR_L_INFTY_HIGH",
    "COMPARATOR_JENSEN_SHANNON_DIVERGENCE_HIGH",
    "COMPARATOR_LOW_NUM_EXAMPLES",
    "COMPARATOR_HIGH_NUM_EXAMPLES",
    "NO_DATA_IN_SPAN",
    "DATASET_LOW_NUM_EXAMPLES",
    "DATASET_HIGH_NUM_EXAMPLES",
}
_MOST_TOGETHER = 4096


@dataclass(frozen=True)
class AnomalousExample:
    """A row that the schema does not accept.

    Attributes:
      file: The file that it is in.
      number: Its number in the file, from 1, of the rows that could be read.
      row: The row, as a block of one.
      anomalies: Its `Anomalies`.
    """

    file: str
    number: int
    row: Any
    anomalies: Any

    @property
    def keys(self) -> list[str]:
        """Feature and type of each reason, as TFDV names the slices of anomalous examples."""
        return [
            f"{path}_{AnomalyInfo.Type.Name(reason.type)}"
            for path, info in sorted(self.anomalies.anomaly_info.items())
            for reason in info.reason
        ]


def validate_instance(instance: pa.RecordBatch, options: StatsOptions, environment: str | None = None) -> Any:
    """Finds what in a row, or in a few, a schema does not accept.

    Args:
      instance: A block.
      options: Options of statistics, with a schema.
      environment: One of the schema's environments.

    Returns:
      An `Anomalies`, without the anomalies that only a whole dataset can have.

    Raises:
      ValueError: `options` has no schema.
    """
    if options.schema is None:
        raise ValueError("options must include a schema.")
    statistics = generate_statistics([Blocks([instance])], options, workers=1)
    anomalies = validate_statistics(statistics, options.schema, environment)
    for path in list(anomalies.anomaly_info):
        info = anomalies.anomaly_info[path]
        kept = [reason for reason in info.reason if AnomalyInfo.Type.Name(reason.type) not in _OF_DATASETS]
        if not kept:
            del anomalies.anomaly_info[path]
        elif len(kept) < len(info.reason):
            reasons = [
                Reason(AnomalyInfo.Type.Name(reason.type), reason.short_description, reason.description)
                for reason in kept
            ]
            info.ClearField("diff_regions")  # which would accept what was removed too
            del info.reason[:]
            info.reason.extend(kept)
            info.short_description, info.description = summary(reasons)
    return anomalies


def find_anomalous_examples(
    data: PathLike | Sequence[PathLike] | Sequence[Source],
    options: StatsOptions,
    environment: str | None = None,
    limit: int | None = None,
) -> list[AnomalousExample]:
    """Finds the rows that a schema does not accept.

    Args:
      data: Files, folders or patterns, or sources.
      options: Options of statistics, with a schema.
      environment: One of the schema's environments.
      limit: How many are found; all if None.

    Returns:
      The rows, in their order.
    """
    given: list[Any] = [data] if not isinstance(data, Sequence) or isinstance(data, str) else list(data)
    sources = given if all(isinstance(each, Source) for each in given) else find_sources(given)
    while True:
        found: list[AnomalousExample] = []
        try:
            for example in _search(sources, options, environment):
                found.append(example)
                if len(found) == limit:
                    break
            return found
        except WiderTypes as wider:
            sources = [source.widened(wider.types) for source in sources]


def _search(
    sources: Sequence[Source], options: StatsOptions, environment: str | None
) -> Iterator[AnomalousExample]:
    options = replace(options, sample_rate=None)
    together = _MOST_TOGETHER if _rows_are_as_their_block(options.schema) else 1
    seen: dict[str, int] = {}  # by file: its rows so far, over its parts
    for source in sources:
        for block in source.blocks(Faults()):
            for start in range(0, block.num_rows, together):
                part = block.slice(start, together)
                for row, anomalies in _divide(part, options, environment):
                    number = seen.get(source.path, 0) + start + row + 1
                    yield AnomalousExample(source.path, number, part.slice(row, 1), anomalies)
            seen[source.path] = seen.get(source.path, 0) + block.num_rows


def _rows_are_as_their_block(schema: Any) -> bool:
    """Whether no row of a block that the schema accepts has an anomaly, so that blocks can be halved."""

    def simple(features: Any) -> bool:
        return all(
            not feature.HasField("unique_constraints")
            and not feature.HasField("distribution_constraints")
            and simple(feature.struct_domain.feature)
            for feature in features
        )

    return simple(schema.feature)


def _divide(block: Any, options: StatsOptions, environment: str | None) -> Iterator[tuple[int, Any]]:
    """The rows of a block that have anomalies: its halves are looked at where the whole has some."""
    known = {feature.name for feature in options.schema.feature}
    # A column that only other rows have is none of these.
    there = [
        name
        for name, column in zip(block.schema.names, block.columns, strict=True)
        if name in known or column.null_count < len(column)
    ]
    anomalies = validate_instance(block.select(there), options, environment)
    if not anomalies.anomaly_info:
        return
    if block.num_rows == 1:
        yield 0, anomalies
        return
    middle = block.num_rows // 2
    for start, half in ((0, block.slice(0, middle)), (middle, block.slice(middle))):
        for row, found in _divide(half, options, environment):
            yield start + row, found
