"""Conditions of custom validations: what they say, and what is refused."""

import pytest
from google.protobuf import text_format

from tideflow.pipeline import validation
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
from tideflow.pipeline.validation.conditions import holds

STATISTICS = text_format.Parse(
    """datasets { num_examples: 4 features { path { step: "n" } type: INT
    num_stats { mean: 2 max: 5 common_stats { num_non_missing: 4 } } } }""",
    DatasetFeatureStatisticsList(),
)
FEATURE = {"feature": STATISTICS.datasets[0].features[0]}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("feature.num_stats.mean * 2 + 1 = 5", True),
        ("1 + 2 * 3 - 4 / 2 = 5", True),
        ("NOT (TRUE AND FALSE) AND NOT NOT TRUE", True),
        ("feature.string_stats.unique > 3", False),  # NULL
        ("NOT feature.string_stats.unique > 3", False),
        ("feature.string_stats.unique > 3 OR TRUE", True),
        ("feature.string_stats.unique IS NULL", True),
        ("3 IN (1, NULL)", False),
        ("feature.type IN ('INT', \"FLOAT\")", True),
        ("'it\\'s' = \"it's\"", True),
        ("ROUND(2.6) = 3 AND CHAR_LENGTH('four') = 4", True),
    ],
)
def test_conditions(condition, expected):
    assert holds(condition, FEATURE) is expected


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("feature.num_stats.mean", "must be TRUE or FALSE"),
        ("feature.no_stats.mean > 1", "the statistics have no field feature.no_stats.mean"),
        ("other.num_stats.mean > 1", "the statistics are called feature"),
        ("feature.num_stats.mean >", "is not understood at 'its end'"),
        ("feature.num_stats.mean > 1 2", "is not understood at '2'"),
        ("TRUE; DROP TABLE x", "is not understood at"),
        ("1 / 0 = 1", "cannot be computed"),
        ("'a' < 1", "cannot be computed"),
        ("feature.num_stats.mean NOT > 1", "is not understood"),
        ("(" * 5000 + "TRUE" + ")" * 5000, "nested more than 100"),
    ],
)
def test_what_is_no_condition_is_refused(condition, said):
    with pytest.raises(ValueError, match=said):
        holds(condition, FEATURE)


def _config(condition, severity="ERROR", path="n"):
    config = validation.CustomValidationConfig()
    each = config.feature_validations.add(feature_path={"step": [path]})
    each.validations.add(sql_expression=condition, severity=severity, description="as expected")
    return config


def test_custom_anomalies_join_the_others():
    schema = text_format.Parse('feature { name: "n" type: FLOAT }', Schema())
    both = validation.validate_statistics(
        STATISTICS, schema, custom_validation_config=_config("feature.num_stats.max < 4")
    )
    info = both.anomaly_info["n"]
    assert info.short_description == "Multiple errors"
    assert [validation.AnomalyInfo.Type.Name(reason.type) for reason in info.reason] == [
        "UNEXPECTED_DATA_TYPE",
        "CUSTOM_VALIDATION",
    ]
    schema.feature[0].type = 2
    alone = validation.validate_statistics(
        STATISTICS, schema, custom_validation_config=_config("feature.num_stats.max < 4", "WARNING")
    )
    (fix,) = validation.fixes(alone)
    assert (fix.severity, fix.short_description, fix.diff) == ("WARNING", "as expected", "")
    assert not validation.has_errors(alone)
    with pytest.raises(ValueError, match="does not change the schema"):
        validation.accept(alone, [1])


def test_statistics_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="Feature m specified in validation config not found"):
        validation.custom_validate_statistics(STATISTICS, _config("TRUE", path="m"))
    named = _config("TRUE")
    named.feature_validations[0].dataset_name = "slice"
    with pytest.raises(ValueError, match="Dataset slice specified in validation config not found"):
        validation.custom_validate_statistics(STATISTICS, named)
