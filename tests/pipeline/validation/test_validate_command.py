"""`tideflow validate` and `tideflow schema`: what they print, write and exit with."""

import pytest

from tideflow.pipeline import validation
from tideflow.pipeline.schema import load_schema_text, schema_command
from tideflow.pipeline.validation import validate_command


@pytest.fixture
def folder(tmp_path):
    """Rows of two spans, the second with a new city, gaps, a new column, and without a column."""
    first = ["id,city,fare,tip"] + [f"{i},{('Roma', 'Bern')[i % 2]},{i / 8},{i % 2}" for i in range(40)]
    second = ["id,city,fare,extra"]
    second += [f"{i},{('Roma', 'Bern', 'Paris')[i % 3]},{'' if i == 7 else i / 8},x" for i in range(40)]
    (tmp_path / "first.csv").write_text("\n".join(first) + "\n")
    (tmp_path / "second.csv").write_text("\n".join(second) + "\n")
    arguments = [str(tmp_path / "first.csv"), "--out", str(tmp_path / "schema.pbtxt")]
    assert schema_command.main(["infer", *arguments]) == 0
    return tmp_path


def _validate(folder, data, *more):
    return validate_command.main([str(folder / data), "--schema", str(folder / "schema.pbtxt"), *more])


def test_data_that_fit(folder, capsys):
    assert _validate(folder, "first.csv") == 0
    assert capsys.readouterr().out == "The data fit the schema.\n"


def test_anomalies_are_shown_with_rows_and_fixes_and_accepted(folder, capsys):
    assert _validate(folder, "second.csv", "--out", str(folder / "found.pb")) == 1
    said = capsys.readouterr().out
    assert "1. ERROR feature city: Unexpected string values" in said
    assert "Examples contain values missing from the schema: Paris (~32%)." in said
    assert f"{folder}/second.csv, row 3: Paris" in said
    assert f"{folder}/second.csv, row 8: (missing)" in said
    assert '+  value: "Paris"' in said
    assert "4. ERROR feature tip: Column dropped" in said
    found = validation.load_anomalies_binary(folder / "found.pb")
    assert sorted(found.anomaly_info) == ["city", "extra", "fare", "tip"]

    assert _validate(folder, "second.csv", "--accept", "1", "--accept", "2") == 1
    assert "accepted 1, 2" in capsys.readouterr().out
    assert [feature.name for feature in load_schema_text(folder / "schema.pbtxt").feature][-1] == "extra"
    new = str(folder / "new.pbtxt")
    assert _validate(folder, "second.csv", "--accept", "all", "--out_schema", new) == 0
    assert capsys.readouterr().out.endswith("The data fit the schema.\n")
    assert load_schema_text(new) != load_schema_text(folder / "schema.pbtxt")


def test_severities_make_warnings(folder):
    kinds = ["ENUM_TYPE_UNEXPECTED_STRING_VALUES", "SCHEMA_NEW_COLUMN", "SCHEMA_MISSING_COLUMN"]
    kinds += ["INVALID_FEATURE_SHAPE", "FEATURE_TYPE_LOW_FRACTION_PRESENT"]
    overrides = [word for kind in kinds for word in ("--severity", f"{kind}=WARNING")]
    assert _validate(folder, "second.csv", "--rows", "0", *overrides) == 0
    with pytest.raises(ValueError, match="say it as SCHEMA_NEW_COLUMN=WARNING"):
        _validate(folder, "second.csv", "--severity", "NO_SUCH=WARNING")


def test_drift_is_measured_against_the_span_before(folder, capsys):
    schema = folder / "schema.pbtxt"
    text = schema.read_text().replace(
        'domain: "city"', 'domain: "city" drift_comparator { infinity_norm { threshold: 0.01 } }'
    )
    schema.write_text(text)
    assert _validate(folder, "second.csv", "--previous", str(folder / "first.csv")) == 1
    assert "The Linfty distance between current and previous is 0.325" in capsys.readouterr().out


def test_a_schema_is_not_replaced_unasked_and_is_updated(folder, capsys):
    arguments = [str(folder / "second.csv"), "--out", str(folder / "schema.pbtxt")]
    with pytest.raises(ValueError, match="people may have edited it"):
        schema_command.main(["infer", *arguments])
    assert schema_command.main(["update", *arguments, "--schema", str(folder / "schema.pbtxt")]) == 0
    assert _validate(folder, "second.csv") == 0
    assert schema_command.main(["infer", str(folder / "first.csv"), "--no_shapes"]) == 0
    assert "shape" not in capsys.readouterr().out


def test_a_wrong_number_to_accept_changes_nothing(folder):
    before = (folder / "schema.pbtxt").read_text()
    for number in ("99", "x"):
        with pytest.raises(ValueError, match="fix"):
            _validate(folder, "second.csv", "--accept", number)
    assert (folder / "schema.pbtxt").read_text() == before


def test_values_of_data_do_not_command_the_terminal(folder, capsys):
    (folder / "third.csv").write_text('id,city,fare,tip\n1,"\x1b[2J\nx",2,1\n2,' + "long" * 9999 + ",2,1\n")
    assert _validate(folder, "third.csv") == 1
    said = capsys.readouterr().out
    assert r"third.csv, row 1: \x1b[2J\nx" in said
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) < 1100
