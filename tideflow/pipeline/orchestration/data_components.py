"""The components from raw data to transformed examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tideflow.graph import errors
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source, find_sources
from tideflow.pipeline.data.spans import find_spans
from tideflow.pipeline.data.whole_files import write_new
from tideflow.pipeline.engine.splitting import write_splits
from tideflow.pipeline.messages import anomalies as anomaly_messages
from tideflow.pipeline.messages import schema as schema_messages
from tideflow.pipeline.messages import statistics as statistics_messages
from tideflow.pipeline.orchestration.artifacts import (
    ExampleAnomalies,
    Examples,
    ExampleStatistics,
    Schema,
    TransformGraph,
)
from tideflow.pipeline.orchestration.components import Context, Input, Output, component

STATISTICS, SCHEMA, ANOMALIES, FAULTS = "FeatureStats.pb", "schema.pbtxt", "SchemaDiff.pb", "faults.json"
TRAIN = "train"


# ---------------------------------------------------------------------------------------------------- data in


def _find_files(input: str, span: int | None = None, window: int = 1, **others: Any) -> dict[str, Any]:
    """The files of the newest spans."""
    found = [each for each in find_spans(input) if span is None or each.span <= span]
    if not found or span is not None and found[-1].span != span:
        raise errors.not_found(f"No data at {input}" + ("" if span is None else f" for span {span}"))
    return {
        "span": found[-1].span,
        "files": [Path(file) for each in found[-window:] for file in each.files],
    }


@component(reads=_find_files)
def ExampleGen(
    context: Context,
    examples: Output[Examples],
    input: str,
    splits: Mapping[str, int] = {"train": 2, "eval": 1},
    span: int | None = None,
    window: int = 1,
    format: str | None = None,
    split_by: Sequence[str] | None = None,
    most_faulty: float = 0.01,
    options: Mapping[str, Any] = {},
) -> None:
    """Reads rows and splits them by their hash: a row is in the same split in every run.

    Args:
        context: of the run.
        examples: gets the rows by split; in `faults.json` those that cannot be read, with file and line.
        input: files by pattern, in which {SPAN}, {VERSION} or a date may stand: data/span-{SPAN}/*.csv.
        splits: by split, how many parts of the rows it gets.
        span: which span; the newest, if none is named.
        window: how many spans up to that one.
        format: of the files, where their names do not say it.
        split_by: rows that agree in these features are in the same split; by default all of them count.
        most_faulty: at a larger share of faulty rows nothing that depends on the rows runs.
        options: of CSV files, as `data.sources.find_sources` takes them.
    """
    faults = Faults()
    files = context.files["files"]
    counts = write_splits(
        find_sources(files, format, **options),
        examples.uri,
        splits,
        features=split_by,
        workers=context.workers,
        ray=context.ray,
        progress=lambda done, total: context.progress(done, total, "parts"),
        faults=faults,
    )
    rows = sum(counts.values())
    examples.properties |= {
        "span": context.files["span"],
        "splits": list(splits),
        "rows": counts,
        "faulty": len(faults),
        "files": [str(file) for file in files],
    }
    if faults:
        faults.write(examples.uri / FAULTS)
    if not rows:
        first = f"; first {faults.first[0]}" if faults else ""
        context.refuse(f"span {context.files['span']} has no rows that can be read{first}")
    elif len(faults) > most_faulty * (rows + len(faults)):
        context.refuse(f"{len(faults)} of {rows + len(faults)} rows cannot be read; first {faults.first[0]}")
    elif faults:
        context.say(
            f"{len(faults)} of {rows + len(faults)} rows cannot be read and are set aside, in {FAULTS} of "
            f"the examples; first {faults.first[0]}"
        )


def split_sources(examples: Examples, split: str) -> list[Source]:
    """The sources of one split.

    Args:
        examples: the artifact.
        split: the split's name.
    """
    return find_sources(examples.split(split))


def _check_rows(examples: Examples, split: str, found: int) -> None:
    """Sees that a split still has the rows that were written to it, whoever made the examples."""
    written = examples.properties.get("rows", {}).get(split, found)
    if found != written:
        raise errors.data_loss(f"Of {written} rows of the split {split}, {found} were read: {examples.uri}")


# --------------------------------------------------------------------------------- statistics, schema, checks


@component
def StatisticsGen(
    context: Context,
    examples: Input[Examples],
    statistics: Output[ExampleStatistics],
    schema: Input[Schema] | None = None,
    options: Any = None,
) -> None:
    """Computes the statistics of every split.

    Args:
        context: of the run.
        examples: the rows.
        statistics: gets them.
        schema: of the rows, for its domains and weights.
        options: `statistics.generate.StatsOptions`.
    """
    from tideflow.pipeline.statistics import StatsOptions, generate_statistics  # loaded when asked for

    options = options or StatsOptions()
    if schema is not None:
        options = dataclasses.replace(options, schema=load_schema(schema))
    for split in examples.splits:
        found = generate_statistics(
            split_sources(examples, split),
            options,
            workers=context.workers,
            ray=context.ray,
            progress=lambda done, total: context.progress(done, total, "parts"),
        )
        if options.sample_rate is None:
            _check_rows(examples, split, found.datasets[0].num_examples)
        statistics.split(split).mkdir()
        (statistics.split(split) / STATISTICS).write_bytes(found.SerializeToString())
    statistics.properties["splits"] = examples.splits


def _find_schema(file: str | None = None, **others: Any) -> list[Path]:
    return [Path(file)] if file is not None and Path(file).is_file() else []


@component(reads=_find_schema)
def SchemaGen(
    context: Context,
    statistics: Input[ExampleStatistics],
    schema: Output[Schema],
    file: str | None = None,
    infer_feature_shape: bool = True,
    max_string_domain_size: int = 100,
) -> None:
    """Takes the schema from a file that people edit; the first draft of it is inferred from the data.

    Args:
        context: of the run.
        statistics: of the rows.
        schema: gets `schema.pbtxt`.
        file: the schema that people edit and keep under version control. Where it does not exist yet, the
            inferred one is written there. Without a file, every run infers its own.
        infer_feature_shape: whether features that are always there once get a shape.
        max_string_domain_size: features with at most so many values get a domain.
    """
    from tideflow.pipeline.schema import infer_schema, write_schema_text  # loaded when asked for

    place = schema.uri / SCHEMA
    if file is not None:
        schema.properties["file"] = str(Path(file).absolute())
    if context.files:
        place.write_bytes(context.files[0].read_bytes())
        load_schema(schema)  # an error of the person who edited it is found here
        return
    split = TRAIN if TRAIN in statistics.splits else statistics.splits[0]
    write_schema_text(
        infer_schema(load_statistics(statistics, split), infer_feature_shape, max_string_domain_size),
        str(place),
    )
    if file is not None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        if write_new(file, place.read_bytes()):  # a person's file stays as it is
            context.files = [context.work / Path(file).name]
            context.files[0].write_bytes(place.read_bytes())


@component
def ExampleValidator(
    context: Context,
    statistics: Input[ExampleStatistics],
    schema: Input[Schema],
    anomalies: Output[ExampleAnomalies],
    previous: Input[ExampleStatistics] | None = None,
    serving: Input[ExampleStatistics] | None = None,
    environment: str | None = None,
) -> None:
    """Compares statistics with the schema; refuses data with anomalies that count as errors.

    Args:
        context: of the run.
        statistics: of the rows.
        schema: what they should be.
        anomalies: gets an `Anomalies` message for each split.
        previous: statistics of the span before, for drift: `earlier_span(statistics.outputs["statistics"])`.
        serving: statistics of what is served, for skew.
        environment: of the schema.
    """
    from tideflow.pipeline.validation import fixes, validate_statistics  # loaded when asked for

    reasons: dict[str, list[str]] = {}  # by the words, the splits they are of
    for split in statistics.splits:
        found = validate_statistics(
            load_statistics(statistics, split),
            load_schema(schema),
            environment=environment,
            previous_statistics=_same_split(previous, split),
            serving_statistics=_same_split(serving, split),
        )
        anomalies.split(split).mkdir()
        (anomalies.split(split) / ANOMALIES).write_bytes(found.SerializeToString())
        if found.data_missing:
            reasons.setdefault("there are no rows", []).append(split)
        for fix in fixes(found):
            if fix.severity == "ERROR":
                reasons.setdefault(f"{fix.path}: {fix.description}", []).append(split)
    for words, splits in reasons.items():
        context.refuse(f"{', '.join(splits)}: {words}")
    anomalies.properties["splits"] = statistics.splits
    anomalies.properties["found"] = len(context.refusals)


@component
def Transform(
    context: Context,
    examples: Input[Examples],
    schema: Input[Schema],
    transform_graph: Output[TransformGraph],
    transformed_examples: Output[Examples],
    preprocessing_fn: Callable[..., Any],
    analyze_splits: Sequence[str] = (TRAIN,),
) -> None:
    """Analyzes the rows and transforms them, by a graph that training and serving share.

    Args:
        context: of the run.
        examples: the rows.
        schema: of the rows.
        transform_graph: gets the graph, its vocabularies and the schema of what it makes.
        transformed_examples: gets the transformed rows.
        preprocessing_fn: from raw features to transformed ones, made of `tft`'s functions and of ops.
        analyze_splits: what analyzers see.
    """
    from tideflow.pipeline.transform.run import analyze_and_transform  # loaded when asked for

    rows: dict[str, int] = {}
    analyze_and_transform(
        {split: split_sources(examples, split) for split in examples.splits},
        load_schema(schema),
        preprocessing_fn,
        str(transform_graph.uri),
        examples_dir=str(transformed_examples.uri),
        analyze_splits=list(analyze_splits),
        workers=context.workers,
        ray=context.ray,
        progress=lambda done, total: context.progress(done, total, "parts"),
        rows=rows,
    )
    for split in examples.splits:
        _check_rows(examples, split, rows[split])
    transformed_examples.properties |= {"splits": examples.splits, "rows": rows}


# ------------------------------------------------------------------------------------------ reading artifacts


def load_schema(artifact: Schema) -> schema_messages.Schema:
    """The message of a schema's artifact.

    Args:
        artifact: the artifact.
    """
    from tideflow.pipeline.schema import load_schema_text  # loaded when asked for

    return load_schema_text(str(artifact.uri / SCHEMA))


def load_statistics(
    artifact: ExampleStatistics, split: str
) -> statistics_messages.DatasetFeatureStatisticsList:
    """The statistics of one split.

    Args:
        artifact: the artifact.
        split: the split's name.
    """
    data = (artifact.split(split) / STATISTICS).read_bytes()
    return statistics_messages.DatasetFeatureStatisticsList.FromString(data)


def load_anomalies(artifact: ExampleAnomalies, split: str) -> anomaly_messages.Anomalies:
    """The anomalies of one split.

    Args:
        artifact: the artifact.
        split: the split's name.
    """
    return anomaly_messages.Anomalies.FromString((artifact.split(split) / ANOMALIES).read_bytes())


def _same_split(artifact: ExampleStatistics | None, split: str) -> Any:
    return load_statistics(artifact, split) if artifact is not None and split in artifact.splits else None
