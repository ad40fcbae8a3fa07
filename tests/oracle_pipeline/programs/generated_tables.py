"""Random tables, and the same with faults: statistics, schema, anomalies with drift, the updated schema."""

from generated import batch, csv, tables
from google.protobuf import text_format
from messages import fields

RTOL, ATOL = 1e-6, 1e-7
SEEDS = range(40)
FILES = range(24)
DRIFT = 1e-3
KNOWN = {
    "table 9": "TFDV's reference documents BOOL_TYPE_INVALID_CONFIG; the build of 1.16.1 does not have it yet"
}


def found(statistics):
    """Statistics as dictionaries, features by path."""
    (dataset,) = statistics.datasets
    whole = fields(dataset)
    whole["features"] = {".".join(each["path"]["step"]): each for each in whole.get("features", [])}
    return without_zeros(whole)


def without_zeros(answer):
    """An answer without zeros: a field with 0 is not set, and one with -0, which is the same number, is."""
    if isinstance(answer, dict):
        return {key: without_zeros(value) for key, value in answer.items() if value != 0}
    return [without_zeros(each) for each in answer] if isinstance(answer, list) else answer


def write_csv(folder, seed):
    """A generated file's path."""
    path = folder / f"{seed}.csv"
    path.write_text(csv(seed), newline="")
    return str(path)


def watched(schema):
    """A schema that compares every feature with the span before."""
    for feature in schema.feature:
        if feature.type == 1:
            feature.drift_comparator.infinity_norm.threshold = DRIFT
            feature.skew_comparator.normalized_abs_difference.threshold = DRIFT
        feature.drift_comparator.jensen_shannon_divergence.threshold = DRIFT
    return schema


def original(folder):
    import os

    import apache_beam as beam
    import tensorflow_data_validation as tfdv

    def place(seed, at):
        return os.path.join(folder, f"{seed}-{at}")

    options = tfdv.StatsOptions()
    options.use_sketch_based_topk_uniques = False
    for seed in SEEDS:
        for at, table in enumerate(tables(seed)):
            with beam.Pipeline() as pipeline:
                _ = (
                    pipeline | beam.Create([batch(table)]) | tfdv.GenerateStatistics(options)
                    | tfdv.WriteStatisticsToTFRecord(place(seed, at))
                )  # fmt: skip
    answers = {}
    for seed in FILES:
        answers[f"file {seed}"] = found(tfdv.generate_statistics_from_csv(write_csv(folder, seed)))
    for seed in SEEDS:
        first, second = (tfdv.load_statistics(place(seed, at)) for at in range(2))
        schema = tfdv.infer_schema(first)
        answer = {"statistics": [found(first), found(second)], "schema": text_format.MessageToString(schema)}
        anomalies = tfdv.validate_statistics(
            second, watched(schema), previous_statistics=first, serving_statistics=first
        )
        anomalies.ClearField("baseline")
        answer["updated"] = text_format.MessageToString(tfdv.update_schema(schema, second))
        answers[f"table {seed}"] = {**answer, "anomalies": fields(anomalies)}
    return answers


def ours(folder, answers):
    from tideflow.pipeline import schema as schemas
    from tideflow.pipeline.data.sources import Blocks
    from tideflow.pipeline.statistics import generate_statistics
    from tideflow.pipeline.validation import validate_statistics

    def answer(seed):
        first, second = (generate_statistics([Blocks([batch(table)])], workers=1) for table in tables(seed))
        schema = schemas.infer_schema(first)
        said = {"statistics": [found(first), found(second)], "schema": schemas.schema_text(schema)}
        anomalies = validate_statistics(
            second, watched(schema), previous_statistics=first, serving_statistics=first
        )
        anomalies.ClearField("baseline")
        for info in [*anomalies.anomaly_info.values(), anomalies.dataset_anomaly_info]:
            info.ClearField("diff_regions")
        if not anomalies.dataset_anomaly_info.reason:
            anomalies.ClearField("dataset_anomaly_info")
        said["updated"] = schemas.schema_text(schemas.update_schema(schema, second))
        return {**said, "anomalies": fields(anomalies)}

    files = {f"file {seed}": found(generate_statistics(write_csv(folder, seed))) for seed in FILES}
    return {**files, **{f"table {seed}": answer(seed) for seed in SEEDS}}
