"""Random schemas, and statistics of random tables: anomalies with drift and skew, the updated schema."""

from anomaly_kit import original_answers, our_answers
from generated import batch, tables
from google.protobuf import text_format
from random_schemas import options, schema

RTOL = 1e-9
SEEDS = range(300)


def given():
    """By case, a schema of random constraints for a table, and the statistics of it and of a faulty one."""
    from tideflow.pipeline.data.sources import Blocks
    from tideflow.pipeline.statistics import generate_statistics

    def statistics(table):
        found = generate_statistics([Blocks([batch(table)])], workers=1)
        return text_format.MessageToString(found)

    def case(seed):
        first, second = tables(seed)
        before = statistics(first)
        controls = {"previous": before, "serving": before, "previous_version": before}
        return {"schema": schema(seed, first), "statistics": statistics(second), **controls, **options(seed)}

    return {f"schema {seed}": case(seed) for seed in SEEDS}


def original(folder, cases):
    return original_answers(cases)


def ours(folder, answers):
    return our_answers(given(), answers)
