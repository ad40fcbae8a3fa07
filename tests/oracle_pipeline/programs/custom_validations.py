"""Conditions that people write for statistics: which hold, and what is said of those that do not."""

from anomaly_cases import dataset, number, string
from crashes import CRASH, survive
from google.protobuf import text_format
from messages import fields

STATISTICS = dataset(
    number("n", 2, 7, more="mean: 4.5 std_dev: 1.5 num_zeros: 3"),
    string("s", {"a": 6, "b": 4}, present=8, missing=2),
)
BASE = dataset(string("s", {"a": 60, "b": 40, "c": 1}, present=90, missing=10), examples=100)
CONDITIONS = [
    "feature.num_stats.mean > 4",
    "feature.num_stats.mean > 5",
    "feature.num_stats.mean >= 4.5 AND feature.num_stats.max <= 6",
    "feature.num_stats.mean = 4.5 OR feature.num_stats.max <= 6",
    "NOT feature.num_stats.num_zeros = 3",
    "feature.num_stats.num_zeros != 3",
    "feature.num_stats.num_zeros <> 2",
    "feature.num_stats.max - feature.num_stats.min < 2 * 3",
    "feature.num_stats.max / feature.num_stats.min = 3.5",
    "(feature.num_stats.max + 1) * 2 = 16 and feature.num_stats.min IN (1, 2)",
    "feature.num_stats.min NOT IN (1, 2)",
    "feature.num_stats.mean BETWEEN 4 AND 5",
    "feature.num_stats.mean NOT BETWEEN 4 AND 5",
    "feature.num_stats.common_stats.num_missing < 1",
    "feature.num_stats IS NULL",
    "feature.num_stats IS NOT NULL",
    "feature.string_stats IS NULL",
    "ABS(feature.num_stats.min - 5) > 3.5",
    "ARRAY_LENGTH(feature.num_stats.histograms) = 0",
    "feature.type = 'INT'",
    "feature.type = 'FLOAT'",
    "TRUE",
    "FALSE OR NOT TRUE",
    "-feature.num_stats.min < -1.5",
]
PAIRS = [
    "feature_test.string_stats.unique = feature_base.string_stats.unique",
    "feature_test.string_stats.unique < feature_base.string_stats.unique",
    "feature_test.string_stats.common_stats.num_missing / 10 "
    "> feature_base.string_stats.common_stats.num_missing / 50",
]


def _configs():
    """By case, a config as text, and the environment."""
    made = {}
    for condition in CONDITIONS:
        said = f'sql_expression: "{condition}" severity: WARNING description: "said"'
        made[condition] = (
            f'feature_validations {{ feature_path {{ step: "n" }} validations {{ {said} }} }}',
            "",
        )
    for condition in PAIRS:
        said = f'sql_expression: "{condition}" severity: ERROR description: "said"'
        paths = 'feature_test_path { step: "s" } feature_base_path { step: "s" }'
        made[condition] = f"feature_pair_validations {{ {paths} validations {{ {said} }} }}", ""
    several = """feature_validations {
      feature_path { step: "n" }
      validations { sql_expression: "FALSE" severity: WARNING description: "one" in_environment: "A" }
      validations { sql_expression: "FALSE" severity: ERROR description: "two" in_environment: "B" }
      validations { sql_expression: "FALSE" severity: WARNING description: "three" }
    }"""
    for environment in ("", "A", "B"):
        made[f"several in {environment}"] = several, environment
    return made


def original(folder):
    from tensorflow_data_validation.anomalies.proto.custom_validation_config_pb2 import CustomValidationConfig
    from tensorflow_data_validation.api.validation_api import custom_validate_statistics
    from tensorflow_metadata.proto.v0.statistics_pb2 import DatasetFeatureStatisticsList

    statistics, base = (
        text_format.Parse(text, DatasetFeatureStatisticsList()) for text in (STATISTICS, BASE)
    )

    def answer(text, environment):
        config = text_format.Parse(text, CustomValidationConfig())
        return fields(custom_validate_statistics(statistics, config, base, environment or None))

    return {name: survive(lambda case=case: answer(*case)) for name, case in _configs().items()}


def ours(folder, answers):
    from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
    from tideflow.pipeline.validation import CustomValidationConfig, custom_validate_statistics

    statistics, base = (
        text_format.Parse(text, DatasetFeatureStatisticsList()) for text in (STATISTICS, BASE)
    )

    def answer(text, environment):
        config = text_format.Parse(text, CustomValidationConfig())
        return fields(custom_validate_statistics(statistics, config, base, environment or None))

    answered = {name: answer(*case) for name, case in _configs().items()}
    return {name: CRASH if answers[name] == CRASH else answered[name] for name in answered}
