"""Statistics of TFDV and of Tideflow, field by field."""

import math
import random

RTOL, ATOL = 1e-6, 1e-7

CSV = {
    "plain": "a,b,c\n1,x,1.5\n2,y,2.5\n3,x,\n,z,4\n5,x,-1e3\n",
    "kinds": "i,f,s,big,none,plus,under,hex,space\n1,1,1,1,,+1,1_000,0x1F,5\n"
    "2,2.5,x,99999999999999999999,,+2,2, 7,6\n",
    "quoted": 'a,b\n"x, y",1\n"he said ""hi""",2\nplain,3\n',
    "not_numbers": "a,b\nnan,inf\n1,-inf\n2,3\nNaN,Infinity\n0,0\n",
    "only_nan": "a\nnan\nnan\n",
    "only_infinite": "a,b\ninf,-inf\ninf,inf\n",
    "ties": "s\n" + "".join(f"{value}\n" for value in "bacabcddeeff"),
    "one_row": "a,b\n7,only\n",
    "long_integers_among_floats": "a\n1.5\n99999999999999999999\n",
    "unicode": "s\n\u00e4\u00f6\u00fc\n\u65e5\u672c\u8a9e\n\u00e4\u00f6\u00fc\n",
    "constant": "a,b\n" + "5,0\n" * 20,
    "extremes": "a\n9223372036854775807\n-9223372036854775808\n0\n",
}

# By case: the type and the rows of each column.
TABLES = {
    "lists": {
        "i": ("list<int64>", [[1], [2, 3], None, [], [4, 5, 6, 0]]),
        "f": ("list<float32>", [[0.5], None, [1.5, math.nan], [math.inf, 2.0], [-math.inf]]),
        "s": ("list<binary>", [[b"a", b"a"], [b"b"], [], None, [b"\xff", b"c"]]),
    },
    "nested": {
        "x": ("list<list<int64>>", [[[1, 2], [3]], None, [[], [4]], [None, [5, 6, 7]], []]),
        "y": ("list<list<binary>>", [[[b"a"]], [[b"b", b"c"], []], None, [], [[b"d"]]]),
    },
    "structs": {
        "s": (
            "list<struct<a:list<int64>,b:list<binary>>>",
            [
                [{"a": [1], "b": [b"x"]}, {"a": [2, 3], "b": None}],
                None,
                [{"a": None, "b": [b"y"]}],
                [],
                [{"a": [], "b": []}],
            ],
        ),
        "plain": ("list<int64>", [[1], [2], [3], [4], [5]]),
    },
    "missing_everywhere": {"a": ("list<int64>", [None, None]), "b": ("list<binary>", [[], []])},
}
_random = random.Random(7)
TABLES["many"] = {
    "number": ("list<float32>", [[_random.gauss(0, 3)] for _ in range(3000)]),
    "integer": ("list<int64>", [[_random.randrange(-5, 40)] for _ in range(3000)]),
    "word": (
        "list<binary>",
        [[f"w{min(_random.randrange(60), _random.randrange(60))}".encode()] for _ in range(3000)],
    ),
    "w": ("list<float32>", [[_random.randrange(0, 5) / 2] for _ in range(3000)]),
    "several": (
        "list<int64>",
        [
            None if _random.random() < 0.1 else [_random.randrange(9) for _ in range(_random.randrange(4))]
            for _ in range(3000)
        ],
    ),
}
TABLES["skewed"] = {
    "zeros": (
        "list<float32>",
        [[0.0 if _random.random() < 0.9 else _random.expovariate(1)] for _ in range(2000)],
    ),
    "heavy": ("list<float64>", [[_random.paretovariate(0.4)] for _ in range(2000)]),
    "two": ("list<int64>", [[_random.randrange(2)] for _ in range(2000)]),
}

SCHEMA = """
feature { name: "integer" type: INT int_domain { is_categorical: true } }
feature { name: "word" type: BYTES }
feature { name: "number" type: FLOAT }
feature { name: "several" type: INT bool_domain {} }
"""
IMAGES = 'feature { name: "s" type: BYTES image_domain {} }'
SPARSE = """
feature { name: "i" type: INT } feature { name: "f" type: FLOAT } feature { name: "s" type: BYTES }
sparse_feature {
  name: "sparse" value_feature { name: "f" } index_feature { name: "i" } index_feature { name: "s" }
}
weighted_feature { name: "weighted" feature { step: "i" } weight_feature { step: "f" } }
"""
OPTIONS = {
    "weighted": ("many", {"weight_feature": "w"}),
    "weighted_nested": ("nested_weighted", {"weight_feature": "w"}),
    "categories": ("many", {"schema": SCHEMA}),
    "categories_weighted": ("many", {"schema": SCHEMA, "weight_feature": "w"}),
    "images": ("lists", {"schema": IMAGES}),
    "few_buckets": (
        "many",
        {
            "num_top_values": 3,
            "num_rank_histogram_buckets": 5,
            "num_histogram_buckets": 4,
            "num_quantiles_histogram_buckets": 7,
            "num_values_histogram_buckets": 3,
        },
    ),
    "thresholds": (
        "many",
        {"frequency_threshold": 60, "weighted_frequency_threshold": 50.0, "weight_feature": "w"},
    ),
    "allowlist": ("many", {"feature_allowlist": ["word", "number"]}),
    "sparse": ("lists", {"schema": SPARSE}),
}
TABLES["nested_weighted"] = {**TABLES["nested"], "w": ("list<float32>", [[1.0], [0.5], [2.0], [3.0], [0.0]])}


def arrow(name):
    import pyarrow as pa

    pair = pa.struct([("a", pa.list_(pa.int64())), ("b", pa.list_(pa.binary()))])
    kinds = {kind: getattr(pa, kind)() for kind in ("int64", "float32", "float64", "binary")}
    kinds["struct<a:list<int64>,b:list<binary>>"] = pair

    def kind(text):
        return pa.list_(kind(text[5:-1])) if text.startswith("list<") else kinds[text]

    columns = {name: pa.array(rows, kind(text)) for name, (text, rows) in TABLES[name].items()}
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def found(statistics):
    """A message as dictionaries, with features by path."""
    from messages import fields

    answer = {}
    for dataset in statistics.datasets:
        whole = fields(dataset)
        whole["features"] = {".".join(each["path"]["step"]): each for each in whole.get("features", [])}
        crosses = whole.get("cross_features", [])
        whole["cross_features"] = {
            f"{each['path_x']['step']} {each['path_y']['step']}": each for each in crosses
        }
        for feature in whole["features"].values():
            feature["custom_stats"] = {each["name"]: each for each in feature.get("custom_stats", [])}
        answer[whole.pop("name", "")] = without_dust(whole)
    return answer


def without_dust(answer):
    """An answer without numbers that rounding makes of zero."""
    if isinstance(answer, dict):
        kept = {
            key: value
            for key, value in answer.items()
            if not (isinstance(value, float) and abs(value) < 1e-14)
        }
        return {key: without_dust(value) for key, value in kept.items()}
    return [without_dust(each) for each in answer] if isinstance(answer, list) else answer


def write_examples(path, make_writer, example):
    with make_writer(path) as writer:
        for i in range(60):
            message = example()
            features = message.features.feature
            features["id"].int64_list.value.append(i - 30)
            if i % 3:
                features["text"].bytes_list.value.extend([b"t%d" % (i % 5)] * (i % 4))
            if i % 7 == 0:
                features["numbers"].float_list.value.extend([i / 3, -i])
            if i % 11 == 0:
                features["empty"].float_list.SetInParent()
            if i % 13 == 0:
                features["unset"].SetInParent()
            writer.write(message.SerializeToString())


def given():
    import sklearn.datasets

    tables = {}
    for name in ("iris", "wine", "breast_cancer", "diabetes"):
        table = getattr(sklearn.datasets, f"load_{name}")()
        columns = {str(key): table.data[:, at].tolist() for at, key in enumerate(table.feature_names)}
        tables[name] = {**columns, "target": table.target.tolist()}
    return tables


def original(folder, tables):
    import os

    import apache_beam as beam
    import pyarrow as pa
    import tensorflow as tf
    import tensorflow_data_validation as tfdv
    from google.protobuf import text_format
    from tensorflow_data_validation.statistics import stats_impl
    from tensorflow_data_validation.statistics.generators.cross_feature_stats_generator import (
        CrossFeatureStatsGenerator,
    )
    from tensorflow_data_validation.utils import slicing_util
    from tensorflow_metadata.proto.v0 import schema_pb2

    def by_beam(batch, options):
        path = os.path.join(folder, "out")
        with beam.Pipeline() as pipeline:
            _ = (
                pipeline | beam.Create([batch]) | tfdv.GenerateStatistics(options)
                | tfdv.WriteStatisticsToTFRecord(path)
            )  # fmt: skip
        return tfdv.load_statistics(path)

    def options_of(given):
        given = dict(given)
        if "schema" in given:
            given["schema"] = text_format.Parse(given["schema"], schema_pb2.Schema())
        return tfdv.StatsOptions(**given)

    answers = {}
    for name, text in CSV.items():
        path = os.path.join(folder, f"{name}.csv")
        with open(path, "w") as file:
            file.write(text)
        answers[f"csv {name}"] = found(tfdv.generate_statistics_from_csv(path))
    # The statistics in memory break ties among values otherwise than those by Beam.
    for name in TABLES:
        compute = by_beam if name == "lists" else stats_impl.generate_statistics_in_memory
        answers[f"table {name}"] = found(compute(arrow(name), tfdv.StatsOptions()))
    for name, (table, given) in OPTIONS.items():
        compute = by_beam if "schema" in given else stats_impl.generate_statistics_in_memory
        answers[f"options {name}"] = found(compute(arrow(table), options_of(given)))
    path = os.path.join(folder, "examples")
    write_examples(path, tf.io.TFRecordWriter, tf.train.Example)
    answers["examples"] = found(tfdv.generate_statistics_from_tfrecord(path))
    slicers = [
        slicing_util.get_feature_value_slicer({"word": [b"w0", b"w1"]}),
        slicing_util.get_feature_value_slicer({"two": None, "several": [1, 2]}),
    ]
    batch = arrow("many")
    batch = pa.RecordBatch.from_arrays(
        [*batch.columns, arrow("skewed").column(2).take(pa.array([i % 7 for i in range(3000)]))],
        [*batch.schema.names, "two"],
    )
    answers["slices"] = found(
        by_beam(batch, tfdv.StatsOptions(experimental_slice_functions=slicers, weight_feature="w"))
    )
    answers["crosses"] = found(
        stats_impl.generate_statistics_in_memory(
            arrow("many"), tfdv.StatsOptions(generators=[CrossFeatureStatsGenerator(sample_rate=1.0)])
        )
    )
    for name, given in {"lift": {}, "lift weighted": {"weight_feature": "w"}}.items():
        answers[name] = found(
            by_beam(arrow("many"), options_of({"schema": SCHEMA, "label_feature": "several", **given}))
        )
    for name, columns in tables.items():
        batch = pa.RecordBatch.from_arrays(
            [pa.array([[x] for x in rows]) for rows in columns.values()], list(columns)
        )
        answers[f"sklearn {name}"] = found(
            stats_impl.generate_statistics_in_memory(batch, tfdv.StatsOptions())
        )
    return answers


def ours(folder, answers):
    import os

    import pyarrow as pa
    from google.protobuf import text_format

    import tideflow as tf
    from tideflow.pipeline.data.sources import Blocks
    from tideflow.pipeline.messages.schema import Schema
    from tideflow.pipeline.statistics import StatsOptions, generate_statistics

    def of(batch, **options):
        if "schema" in options:
            options["schema"] = text_format.Parse(options["schema"], Schema())
        middle = batch.num_rows // 2
        return found(
            generate_statistics([Blocks([batch[:middle]]), Blocks([batch[middle:]])], StatsOptions(**options))
        )

    mine = {}
    for name, text in CSV.items():
        path = os.path.join(folder, f"{name}.csv")
        with open(path, "w") as file:
            file.write(text)
        mine[f"csv {name}"] = found(generate_statistics(path))
    for name in TABLES:
        mine[f"table {name}"] = of(arrow(name))
    for name, (table, options) in OPTIONS.items():
        mine[f"options {name}"] = of(arrow(table), **options)
    path = os.path.join(folder, "examples")
    write_examples(path, tf.io.TFRecordWriter, tf.train.Example)
    mine["examples"] = found(generate_statistics(path, format="tfrecord"))
    batch = arrow("many")
    batch = pa.RecordBatch.from_arrays(
        [*batch.columns, arrow("skewed").column(2).take(pa.array([i % 7 for i in range(3000)]))],
        [*batch.schema.names, "two"],
    )
    slices = [{"word": ["w0", "w1"]}, {"two": None, "several": [1, 2]}]
    mine["slices"] = of(batch, slice_features=slices, weight_feature="w")
    mine["crosses"] = of(arrow("many"), cross_features=True)
    mine["lift"] = of(arrow("many"), schema=SCHEMA, label_feature="several")
    mine["lift weighted"] = of(arrow("many"), schema=SCHEMA, label_feature="several", weight_feature="w")
    for name, columns in given().items():
        batch = pa.RecordBatch.from_arrays(
            [pa.array([[x] for x in rows]) for rows in columns.values()], list(columns)
        )
        mine[f"sklearn {name}"] = of(batch)
    return mine
