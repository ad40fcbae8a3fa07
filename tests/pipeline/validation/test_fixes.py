"""Every anomaly that is found has a fix, and the schema that the fix makes accepts the data."""

import importlib.util
from pathlib import Path

import pytest
from google.protobuf import text_format

from tideflow.pipeline import schema as schemas
from tideflow.pipeline import validation
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
from tideflow.pipeline.schema.editing import SchemaParts
from tideflow.pipeline.validation.diffs import apply_regions, diff_regions

_spec = importlib.util.spec_from_file_location(
    "anomaly_cases", Path(__file__).parents[2] / "oracle_pipeline" / "anomaly_cases.py"
)
anomaly_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(anomaly_cases)
CASES = anomaly_cases.CASES
# A schema of TFDV's form in which an integer feature refers to strings, which it then does not accept.
NOT_ACCEPTED = {"new categorical integers"}


def _statistics(text):
    return text_format.Parse(text, DatasetFeatureStatisticsList())


def _schema(text):
    return text_format.Parse(text, Schema())


def _validate(case, schema):
    controls = {
        f"{name}_statistics": _statistics(case[name])
        for name in ("previous", "serving", "previous_version")
        if name in case
    }
    return validation.validate_statistics(
        _statistics(case["statistics"]), schema, case.get("environment"), **controls
    )


def test_every_fix_is_accepted_by_the_data():
    types = set()
    for name, case in CASES.items():
        anomalies = _validate(case, _schema(case["schema"]))
        fixes = validation.fixes(anomalies)
        assert all(fix.data and fix.diff for fix in fixes), name
        if {kind for fix in fixes for kind in fix.types} <= types or name in NOT_ACCEPTED:
            continue
        for fix in fixes:
            types.update(fix.types)
            left = validation.fixes(_validate(case, validation.accept(anomalies, [fix.number])))
            assert fix.path not in [other.path for other in left], name
        assert not validation.fixes(_validate(case, validation.accept(anomalies))), name
    assert len(types) == 61


def _new_and_unexpected():
    statistics = anomaly_cases.dataset(
        anomaly_cases.string("a new", {"x": 10}),
        anomaly_cases.string("city", {"Roma": 9, "Paris": 1}),
        anomaly_cases.string("town", {"Bern": 9, "Paris": 1}),
    )
    schema = _schema(
        'feature { name: "city" type: BYTES domain: "d" } feature { name: "town" type: BYTES domain: "d" } '
        'string_domain { name: "d" value: "Roma" value: "Bern" }'
    )
    return validation.validate_statistics(_statistics(statistics), schema)


def test_fixes_that_add_at_the_same_place_do_not_mix():
    anomalies = _new_and_unexpected()
    accepted = validation.accept(anomalies)
    assert list(schemas.get_domain(accepted, "city").value) == ["Roma", "Bern", "Paris"]
    assert list(schemas.get_domain(accepted, "a new").value) == ["x"]
    only = validation.accept(anomalies, [2])
    assert [feature.name for feature in only.feature] == ["city", "town"]


def test_a_fix_that_is_not_there_or_contradicts_another_is_refused():
    with pytest.raises(ValueError, match="there is no fix 9: there are 3"):
        validation.accept(_new_and_unexpected(), [9])
    old = [["a {", "  name: q", "  x: 1", "}"]]
    others = [diff_regions(old, [["a {", "  name: q", f"  x: {n}", "}"]]) for n in (2, 3)]
    with pytest.raises(ValueError, match="change line 3 of the schema differently"):
        apply_regions("".join(f"{line}\n" for line in old[0]), others)


def test_a_diff_shows_only_what_is_near_a_change():
    fix = validation.fixes(_new_and_unexpected())[1]
    assert fix.types == ("ENUM_TYPE_UNEXPECTED_STRING_VALUES",)
    assert fix.diff == (
        '@@ line 12 @@\n   name: "d"\n   value: "Roma"\n   value: "Bern"\n+  value: "Paris"\n }\n'
    )
    kinds = [
        region.WhichOneof("details") for region in _new_and_unexpected().anomaly_info["city"].diff_regions
    ]
    assert kinds == ["hidden", "unchanged", "added", "unchanged"]


def test_severities_decide_and_files_are_read_back(tmp_path):
    case = CASES["overridden of two"]
    config = validation.ValidationConfig(
        severity_overrides=[
            {"type": kind, "severity": "WARNING"}
            for kind in ("UNEXPECTED_DATA_TYPE", "FEATURE_TYPE_LOW_UNIQUE")
        ]
    )
    arguments = _statistics(case["statistics"]), _schema(case["schema"])
    warned = validation.validate_statistics(*arguments, validation_config=config)
    refused = validation.validate_statistics(*arguments)
    assert [validation.has_errors(each) for each in (warned, refused)] == [False, True]
    assert validation.has_errors(_validate(CASES["no data"], Schema()))
    validation.write_anomalies_text(refused, tmp_path / "found.pbtxt")
    (tmp_path / "found.pb").write_bytes(refused.SerializeToString())
    assert validation.load_anomalies_text(tmp_path / "found.pbtxt") == refused
    assert validation.load_anomalies_binary(tmp_path / "found.pb") == refused


def test_an_environment_that_the_schema_lacks_is_refused():
    with pytest.raises(ValueError, match="Environment SERVING not found in the schema"):
        _validate({**CASES["new column"], "environment": "SERVING"}, Schema())


def test_parts_of_schemas_are_their_text():
    parts = SchemaParts()
    for case in list(CASES.values())[::7]:
        schema = _schema(case["schema"])
        text = "".join(f"{line}\n" for part in parts(schema) for line in part)
        assert text == text_format.MessageToString(schema, as_utf8=False)
