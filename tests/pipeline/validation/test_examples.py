"""Rows that the schema does not accept: found one by one in blocks, and shown with anomalies."""

import pyarrow as pa
import pytest
from google.protobuf import text_format

from tideflow.pipeline import validation
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.statistics import StatsOptions, generate_statistics
from tideflow.pipeline.validation.rows import find_rows

SCHEMA = """
feature { name: "city" type: BYTES string_domain { value: "Roma" } presence { min_fraction: 1 } }
feature { name: "fare" type: FLOAT float_domain { min: 0 max: 9 disallow_nan: true disallow_inf: true } }
feature { name: "count" type: INT int_domain { min: 0 max: 5 } value_count { min: 1 max: 2 } }
feature { name: "digits" type: BYTES int_domain { } }
feature { name: "flag" type: INT bool_domain { } shape { dim { size: 1 } } }
feature { name: "raw" type: BYTES domain: "raw" }
string_domain { name: "raw" value: "x" }
"""
TYPES = {"city": pa.binary(), "fare": pa.float32(), "count": pa.int64(), "digits": pa.binary()}
TYPES |= {"flag": pa.int64(), "raw": pa.binary(), "new": pa.int64()}
ROWS = 50
# By column and row, what is wrong there.
FAULTS = {
    "city": {7: None, 9: ["Paris"]},
    "fare": {11: [9.5], 12: [-1.0], 13: [float("nan")], 14: [float("inf")]},
    "count": {15: [6], 16: [-2], 17: [1, 2, 3], 18: []},
    "digits": {19: ["1.5"]},
    "flag": {20: [7], 21: [0, 1]},
    "raw": {22: [b"\xff\xfe"]},
    "new": {23: [1]},
}
RIGHT = {
    "city": ["Roma"],
    "fare": [1.5],
    "count": [3],
    "digits": [" 12"],
    "flag": [1],
    "raw": ["x"],
    "new": None,
}


def _block(faults=FAULTS):
    columns = {
        name: pa.array([faults.get(name, {}).get(row, value) for row in range(ROWS)], pa.list_(TYPES[name]))
        for name, value in RIGHT.items()
        if name in faults or value is not None
    }
    return pa.RecordBatch.from_pydict(columns)


def _schema(more=""):
    return text_format.Parse(SCHEMA + more, Schema())


def test_anomalous_rows_are_found_with_their_reasons():
    sources = [Blocks([_block()], "a"), Blocks([_block({"fare": {3: [10.0]}})], "b")]
    found = validation.find_anomalous_examples(sources, StatsOptions(schema=_schema()))
    by_row = {(example.file, example.number): example.keys for example in found}
    # A missing city is an anomaly of the whole; the row without values has too few.
    wrong = sorted(row + 1 for rows in FAULTS.values() for row in rows if row != 7)
    assert [number for file, number in by_row if file == "a"] == wrong
    assert by_row["b", 4] == ["fare_FLOAT_TYPE_BIG_FLOAT"]
    assert by_row["a", 10] == ["city_ENUM_TYPE_UNEXPECTED_STRING_VALUES"]
    assert by_row["a", 17] == ["count_INT_TYPE_SMALL_INT"]
    assert by_row["a", 24] == ["new_SCHEMA_NEW_COLUMN"]
    assert found[0].row.num_rows == 1
    few = validation.find_anomalous_examples(sources, StatsOptions(schema=_schema()), limit=2)
    assert [example.number for example in few] == wrong[:2]


def test_rows_are_looked_at_singly_where_a_block_hides_them():
    schema = _schema()
    schema.feature[0].distribution_constraints.min_domain_mass = 0.9
    block = _block({"city": {4: ["Paris"]}})
    assert not validation.validate_instance(block, StatsOptions(schema=schema)).anomaly_info
    found = validation.find_anomalous_examples([Blocks([block])], StatsOptions(schema=schema))
    assert [example.number for example in found] == [5]


def test_a_schema_is_needed():
    with pytest.raises(ValueError, match="options must include a schema"):
        validation.validate_instance(_block(), StatsOptions())


def test_rows_that_show_each_anomaly():
    schema = _schema()
    sources = [Blocks([_block().slice(0, 10), _block().slice(10)], "rows")]
    anomalies = validation.validate_statistics(
        generate_statistics(sources, StatsOptions(schema=schema)), schema
    )
    fixes = validation.fixes(anomalies)
    shown = find_rows(sources, anomalies, fixes, limit=10)
    numbers = {fix.path: [row.number - 1 for row in shown.get(fix.number, [])] for fix in fixes}
    expected = {name: sorted(rows) for name, rows in FAULTS.items()}
    assert numbers == expected
    by_path = {fix.path: shown[fix.number] for fix in fixes}
    assert [row.value for row in by_path["city"]] == ["", "Paris"]
    assert by_path["raw"][0].value == r"\xff\xfe"
    assert len(find_rows(sources, anomalies, fixes, limit=1)[1]) == 1
    nested = pa.RecordBatch.from_pydict({"city": pa.array([[[b"Roma"]]], pa.list_(pa.list_(pa.binary())))})
    assert not find_rows([Blocks([nested])], anomalies, fixes[:1])
