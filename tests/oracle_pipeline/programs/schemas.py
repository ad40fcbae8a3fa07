"""Schemas inferred from scikit-learn's tables and a generated one, and what they say of other rows."""

from google.protobuf import text_format
from messages import fields

RTOL = 1e-9
OPTIONS = {
    "default": {},
    "no shapes": {"infer_feature_shape": False},
    "small domains": {"max_string_domain_size": 3},
}


def _trips(rows):
    """Rows of many kinds, with gaps, lists and strange strings."""
    cities = ["Roma", "Zürich", 'Say "hi"', "new\nline", "Łódź", "東京", "a" * 200]
    return {
        "id": [f"trip-{i}" for i in range(rows)],
        "city": [None if i % 11 == 0 else cities[i % len(cities)] for i in range(rows)],
        "digits": [str(i % 7 - 3) for i in range(rows)],
        "decimals": [f"{i / 8:.3f}" for i in range(rows)],
        "flag": [("true", "false")[i % 2] for i in range(rows)],
        "bit": [i % 2 for i in range(rows)],
        "count": [i * i % 31 - 5 for i in range(rows)],
        "fare": [i * 0.37 for i in range(rows)],
        "holes": [float("nan") if i % 5 == 0 else i / 3 for i in range(rows)],
        "never": [None] * rows,
        "tags": [[f"t{j}" for j in range(i % 4)] for i in range(rows)],
        "pair": [[i % 3, i % 5] for i in range(rows)],
        "raw": [bytes([i % 256, 255, 254]) for i in range(rows)],
    }


def given():
    from sklearn import datasets

    tables = {}
    for name in ("iris", "wine", "breast_cancer", "diabetes", "linnerud"):
        loaded = getattr(datasets, f"load_{name}")()
        columns = {
            str(column): values
            for column, values in zip(loaded.feature_names, loaded.data.T.tolist(), strict=True)
        }
        target = loaded.target if loaded.target.ndim == 1 else loaded.target[:, 0]
        tables[name] = {**columns, "target": target.tolist()}
    return tables


def _lists(values):
    return [None if value is None else value if isinstance(value, list) else [value] for value in values]


def original(folder, given):
    import pyarrow as pa
    import tensorflow_data_validation as tfdv
    from tensorflow_data_validation.statistics import stats_impl

    def statistics(table):
        arrays = {name: pa.array(_lists(values)) for name, values in table.items()}
        return stats_impl.generate_statistics_in_memory(
            pa.RecordBatch.from_pydict(arrays), tfdv.StatsOptions()
        )

    def answer(table, other):
        first, second = statistics(table), statistics(other)
        schemas = {name: tfdv.infer_schema(first, **options) for name, options in OPTIONS.items()}
        return {
            "statistics": [first.SerializeToString(), second.SerializeToString()],
            "schemas": {name: text_format.MessageToString(schema) for name, schema in schemas.items()},
            "schema of rows": text_format.MessageToString(schemas["default"]),
            "anomalies": fields(tfdv.validate_statistics(second, schemas["default"])),
            "updated": text_format.MessageToString(tfdv.update_schema(schemas["default"], second)),
        }

    answers = {"trips": answer(_trips(200), _trips(900)), "few trips": answer(_trips(3), _trips(40))}
    for name, table in given.items():
        half = {column: values[: len(values) // 2] for column, values in table.items()}
        answers[name] = answer(half, table)
    return answers


def ours(folder, answers):
    import pyarrow as pa

    from tideflow.pipeline import schema as schemas
    from tideflow.pipeline.data.sources import Blocks
    from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
    from tideflow.pipeline.statistics import generate_statistics
    from tideflow.pipeline.validation import validate_statistics

    def column(values):
        lists = pa.array(_lists(values))
        kind = lists.type.value_type if pa.types.is_list(lists.type) else pa.null()
        is_text = pa.types.is_string(kind) or pa.types.is_null(kind)
        return lists.cast(pa.list_(pa.binary())) if is_text else lists

    def schema_of_rows(table):
        """By our own statistics, not TFDV's."""
        block = pa.RecordBatch.from_pydict({name: column(values) for name, values in table.items()})
        return schemas.schema_text(schemas.infer_schema(generate_statistics([Blocks([block])], workers=1)))

    def answer(serialized, table):
        first, second = (DatasetFeatureStatisticsList.FromString(each) for each in serialized)
        inferred = {name: schemas.infer_schema(first, **options) for name, options in OPTIONS.items()}
        found = validate_statistics(second, inferred["default"])
        for info in found.anomaly_info.values():
            info.ClearField("diff_regions")
        return {
            "statistics": serialized,
            "schemas": {name: schemas.schema_text(schema) for name, schema in inferred.items()},
            "schema of rows": schema_of_rows(table),
            "anomalies": fields(found),
            "updated": schemas.schema_text(schemas.update_schema(inferred["default"], second)),
        }

    tables = {"trips": _trips(200), "few trips": _trips(3)}
    for name, table in given().items():
        tables[name] = {key: values[: len(values) // 2] for key, values in table.items()}
    return {name: answer(answers[name]["statistics"], table) for name, table in tables.items()}
