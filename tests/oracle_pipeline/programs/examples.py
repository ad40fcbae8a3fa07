"""Rows that are validated one by one."""

from google.protobuf import text_format
from messages import fields

SCHEMA = """
feature {
  name: "city" type: BYTES domain: "cities"
  presence { min_fraction: 1 min_count: 1 } value_count { min: 1 max: 1 }
}
feature {
  name: "fare" type: FLOAT float_domain { min: 0 max: 100 }
  presence { min_fraction: 1 } shape { dim { size: 1 } }
}
feature { name: "count" type: INT int_domain { min: 0 max: 9 } }
feature { name: "flag" type: BYTES bool_domain { true_value: "yes" false_value: "no" } }
feature { name: "tags" type: BYTES value_count { min: 1 max: 2 } string_domain { value: "a" value: "b" } }
feature { name: "label" type: INT presence { min_count: 1 } not_in_environment: "SERVING" }
string_domain { name: "cities" value: "Roma" value: "Bern" }
default_environment: "TRAINING" default_environment: "SERVING"
"""
RIGHT = {"city": ["Roma"], "fare": [7.5], "count": [3], "flag": ["yes"], "tags": ["a", "b"], "label": [1]}
ROWS = {
    "right": {},
    "other city": {"city": ["Paris"]},
    "two cities": {"city": ["Roma", "Bern"]},
    "no city": {"city": None},
    "empty city": {"city": []},
    "fare too high": {"fare": [101.5]},
    "fare too low": {"fare": [-0.25]},
    "two fares": {"fare": [1.0, 2.0]},
    "no fare": {"fare": None},
    "count too big": {"count": [10]},
    "count too small": {"count": [-1]},
    "counts": {"count": [-1, 10]},
    "flag": {"flag": ["maybe"]},
    "tags": {"tags": ["a", "c", "d"]},
    "no tags": {"tags": []},
    "no label": {"label": None},
    "new": {"new": ["x"]},
    "several": {"city": ["Paris"], "fare": [500.0], "tags": ["x"], "new": [3]},
}
ENVIRONMENTS = (None, "TRAINING", "SERVING")


def _batch(pa, row):
    types = {"city": pa.binary(), "fare": pa.float32(), "count": pa.int64(), "flag": pa.binary()}
    types |= {"tags": pa.binary(), "label": pa.int64()}
    columns = {}
    for name, values in {**RIGHT, **row}.items():
        kind = types.get(name) or (pa.binary() if isinstance(values[0], str) else pa.int64())
        columns[name] = pa.array([values], pa.list_(kind))
    return pa.RecordBatch.from_pydict(columns)


def original(folder):
    import pyarrow as pa
    import tensorflow_data_validation as tfdv
    from tensorflow_data_validation.api.validation_api import validate_instance
    from tensorflow_metadata.proto.v0 import schema_pb2

    options = tfdv.StatsOptions(schema=text_format.Parse(SCHEMA, schema_pb2.Schema()))
    return {
        f"{name}, {environment}": fields(validate_instance(_batch(pa, row), options, environment))
        for name, row in ROWS.items()
        for environment in ENVIRONMENTS
    }


def ours(folder, answers):
    import pyarrow as pa

    from tideflow.pipeline.messages.schema import Schema
    from tideflow.pipeline.statistics import StatsOptions
    from tideflow.pipeline.validation import validate_instance

    options = StatsOptions(schema=text_format.Parse(SCHEMA, Schema()))

    def answer(row, environment):
        found = validate_instance(_batch(pa, row), options, environment)
        for info in found.anomaly_info.values():
            info.ClearField("diff_regions")
        return fields(found)

    return {
        f"{name}, {environment}": answer(row, environment)
        for name, row in ROWS.items()
        for environment in ENVIRONMENTS
    }
