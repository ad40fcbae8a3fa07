"""Statistics of texts, and slices by SQL, of TFDV and of Tideflow."""

import random

RTOL = 1e-6
WORDS = ["the", "cat", "sat", "on", "a", "mat", "[PAD]", "[UNK]", "Stra\u00dfe", "unseen", "rare"]
VOCABULARY = WORDS[:9]
_random = random.Random(3)
TEXTS = [
    None if _random.random() < 0.1 else [_random.choice(WORDS) for _ in range(_random.randrange(7))]
    for _ in range(30)
]
NUMBERS = [
    None if _random.random() < 0.1 else [_random.randrange(12) for _ in range(_random.randrange(1, 6))]
    for _ in range(30)
]
DOMAINS = {
    "vocabulary": 'vocabulary: "words"',
    "unknown": 'coverage { oov_string_tokens: "[UNK]" oov_string_tokens: "unseen" }',
    "excluded": 'vocabulary: "words" coverage { excluded_string_tokens: "[PAD]" excluded_int_tokens: 3 '
    'oov_string_tokens: "[UNK]" }',
    "tokens": 'vocabulary: "words" token_constraints { string_value: "cat" min_per_sequence: 1 } '
    'token_constraints { int_value: 2 } token_constraints { string_value: "never" }',
    "lengths": 'vocabulary: "words" sequence_length_constraints { excluded_string_value: "[PAD]" '
    "excluded_int_value: 0 }",
    "nothing": "",
}

TABLE = {
    "g": ("binary", [[b"m"], [b"f"], [b"f", b"m"], None, [], [b"x"]]),
    "n": ("int64", [[1], [2], [3], [4, 5], None, [7]]),
    "f": ("float32", [[0.5], [1.0], [1e20], [0.25], None, [0.1]]),
}
QUERIES = [
    "SELECT STRUCT(g) FROM example.g",
    "SELECT STRUCT(g AS sex, n) FROM example.g, example.n WHERE n > 1",
    "select struct(f) from example.f",
    "SELECT STRUCT(IF(n>2, 'hi', 'lo') AS size) FROM example.n",
    "SELECT STRUCT(g) FROM UNNEST(example.g) AS g",
    "SELECT STRUCT(x) FROM example.g AS x WHERE CAST(x AS STRING) IN ('m', \"x\")",
    "SELECT STRUCT(x) FROM example.g x WHERE x LIKE b'm%' OR x = b'f'",
    "SELECT STRUCT(CAST(n AS STRING) AS t) FROM example.n",
    "SELECT STRUCT('a' AS a, n/2 AS half) FROM example.n;",
    "SELECT STRUCT(g AS a, h AS b) FROM example.g AS g, example.g AS h WHERE g <> h",
    "SELECT STRUCT(n) FROM example.n WHERE n BETWEEN 2 AND 4 OR n = 7 AND NOT n = 1",
    "SELECT STRUCT(case when n>2 then 'big' else 'it''s small' end as s) FROM example.n",
    "SELECT STRUCT(g) FROM example.g, example.n WHERE STARTS_WITH(CAST(g AS STRING), 'f') AND MOD(n, 2) = 1",
    "SELECT STRUCT(ARRAY_LENGTH(example.g) AS l)",
    "SELECT STRUCT(NULL AS a, 'x' AS b)",
    "SELECT AS STRUCT g, n + 1 AS m FROM example.g, example.n",
    "SELECT STRUCT(`g`) AS key FROM example.`g`",
    "SELECT STRUCT(CONCAT(CAST(g AS STRING), '-', CAST(n AS STRING)) AS gn) FROM example.g, example.n",
    "SELECT STRUCT((SELECT MAX(x) FROM example.n AS x) AS most)",
    "SELECT STRUCT((SELECT COUNT(*) FROM example.g) AS many, n) FROM example.n",
    "SELECT STRUCT(n) FROM example.n WHERE EXISTS (SELECT 1 FROM example.g AS g WHERE g = b'm' AND n < 3)",
    "SELECT STRUCT(g) FROM example.g WHERE 3 IN UNNEST(example.n)",
    "SELECT STRUCT(g) FROM example.g WHERE 3 IN (SELECT n + 1 FROM UNNEST(example.n) AS n)",
    "SELECT STRUCT(g) FROM example.g WHERE NOT EXISTS (SELECT n FROM example.n AS n WHERE n > 1)",
    "SELECT STRUCT(IF(NOT n > 2, 1, 0) AS low, IF(f IS NULL, 'no', 'yes') AS has) FROM example.n, example.f",
    "SELECT STRUCT(-n AS m, n * 2 AS twice, ABS(n - 4) AS far, ROUND(f) AS whole) FROM example.n, example.f",
    "SELECT STRUCT(UPPER(CAST(g AS STRING)) AS u, LENGTH(g) AS l) FROM example.g",
    "SELECT STRUCT(SUBSTR(CAST(g AS STRING), 1, 1) AS s) FROM example.g",
    "SELECT STRUCT(COALESCE(NULL, n) AS c, NULLIF(n, 2) AS d) FROM example.n",
    "SELECT STRUCT(CAST(f AS INT64) AS i, CAST(n AS FLOAT64) AS d) FROM example.f, example.n WHERE f < 100",
    "SELECT STRUCT(DIV(n, 2) AS h, n & 1 AS odd) FROM example.n",
    "SELECT STRUCT(CAST(f * 5 AS INT64) AS i, CAST(-f * 5 AS INT64) AS j) FROM example.f WHERE f < 100",
    "SELECT STRUCT(GREATEST(n, 3) AS most, LEAST(n, 3) AS least) FROM example.n",
]
_DOUBLED = "query SELECT STRUCT(case when n>2 then 'big' else 'it''s small' end as s) FROM example.n"
KNOWN = {
    _DOUBLED: "ZetaSQL has no doubled quotes",
    "language lengths": "TFDV takes a least length of 0 for none yet",
}


def batch():
    import pyarrow as pa

    arrays = [pa.array(rows, pa.list_(getattr(pa, kind)())) for kind, rows in TABLE.values()]
    return pa.RecordBatch.from_arrays(arrays, list(TABLE))


def texts():
    import pyarrow as pa

    words = [None if row is None else [word.encode() for word in row] for row in TEXTS]
    arrays = [pa.array(words, pa.list_(pa.binary())), pa.array(NUMBERS, pa.list_(pa.int64()))]
    return pa.RecordBatch.from_arrays(arrays, ["words", "numbers"])


def schema_text(domain):
    kinds = {"words": "BYTES", "numbers": "INT"}
    features = (
        f'feature {{ name: "{name}" type: {kind} natural_language_domain {{ {domain} }} }}'
        for name, kind in kinds.items()
    )
    return " ".join(features)


def vocabulary(folder):
    path = f"{folder}/words.txt"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{word}\n" for word in VOCABULARY)
    return {"words": path}


def language(statistics, kind):
    """The language statistics by feature; tokens by themselves, because TFDV has them in no order."""
    from messages import fields

    answer = {}
    for feature in statistics.datasets[0].features:
        for stat in feature.custom_stats:
            if stat.name == "nl_statistics":
                found = fields(kind.FromString(stat.any.value))
                found["token_statistics"] = {
                    str(each.pop("string_token", each.pop("int_token", ""))): each
                    for each in found.get("token_statistics", [])
                }
                answer[feature.path.step[0]] = found
    return answer


def original(folder):
    import apache_beam as beam
    import tensorflow_data_validation as tfdv
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2
    from tfx_bsl.arrow import sql_util

    answers = {}
    for name, domain in DOMAINS.items():
        schema = text_format.Parse(schema_text(domain), schema_pb2.Schema())
        options = tfdv.StatsOptions(schema=schema, vocab_paths=vocabulary(folder))
        path = f"{folder}/{name}"
        with beam.Pipeline() as pipeline:
            _ = (
                pipeline | beam.Create([texts()]) | tfdv.GenerateStatistics(options)
                | tfdv.WriteStatisticsToTFRecord(path)
            )  # fmt: skip
        found = tfdv.load_statistics(path)
        answers[f"language {name}"] = language(found, statistics_pb2.NaturalLanguageStatistics)
    for query in QUERIES:
        whole = f"SELECT ARRAY( {query.rstrip(';')} ) as slice_key FROM Examples as example;"
        try:
            rows = sql_util.RecordBatchSQLSliceQuery(whole, batch().schema).Execute(batch())
        except RuntimeError as error:
            answers[f"query {query}"] = f"refused: {error}"
            continue
        slices = {}
        for number, keys in enumerate(rows):
            for key in keys:
                slices.setdefault(str(tuple(key)), set()).add(number)
        answers[f"query {query}"] = {key: sorted(members) for key, members in slices.items()}
    return answers


def ours(folder, answers):
    from google.protobuf import text_format

    from tideflow.pipeline.data.slice_queries import slice_query
    from tideflow.pipeline.data.sources import Blocks
    from tideflow.pipeline.messages.schema import Schema
    from tideflow.pipeline.messages.statistics import NaturalLanguageStatistics
    from tideflow.pipeline.statistics import StatsOptions, generate_statistics

    answers = {}
    for name, domain in DOMAINS.items():
        schema = text_format.Parse(schema_text(domain), Schema())
        options = StatsOptions(schema=schema, vocab_paths=vocabulary(folder))
        found = generate_statistics([Blocks([texts()])], options)
        answers[f"language {name}"] = language(found, NaturalLanguageStatistics)
    columns = dict(zip(batch().schema.names, batch().columns))
    for query in QUERIES:
        slices = slice_query(query).rows_by_key(columns, batch().num_rows)
        answers[f"query {query}"] = {str(key): rows.tolist() for key, rows in slices.items()}
    return answers
