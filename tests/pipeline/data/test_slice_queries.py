"""data/slice_queries.py: slices by SQL, in statistics, evaluations and on the command line."""

import pyarrow as pa
import pytest

from tideflow.cli import main
from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline import evaluation as tfma
from tideflow.pipeline.data.slice_queries import slice_query
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.messages.evaluation import EvalConfig
from tideflow.pipeline.statistics import StatsOptions, generate_statistics

COLUMNS = {
    "g": pa.array([[b"m"], [b"f"], [b"f", b"m"], None, []], pa.list_(pa.binary())),
    "n": pa.array([[1], [2], [3], [4, 5], None], pa.list_(pa.int64())),
    "N": pa.array([[10]] * 5, pa.list_(pa.int64())),
    "f": pa.array([[0.5], [0.1], [1e20], None, [2.0]], pa.list_(pa.float32())),
}
ALL = "All Examples"


def found(query):
    slices = slice_query(query).rows_by_key(COLUMNS, 5)
    return {"_".join("_".join(pair) for pair in key): rows.tolist() for key, rows in slices.items()}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT STRUCT(g) FROM example.g", {"g_m": [0, 2], "g_f": [1, 2]}),
        ("select struct(x as sex, n) from example.g x, UNNEST(example.n) where n > 1",
         {"sex_f_n_2": [1], "sex_f_n_3": [2], "sex_m_n_3": [2]}),
        ("SELECT STRUCT(f) FROM example.f WHERE f < 3", {"f_0.5": [0], "f_0.1": [1], "f_2": [4]}),
        ("SELECT STRUCT(n, N)", {"n_1_N_10": [0], "n_2_N_10": [1], "n_3_N_10": [2], "n_NULL_N_10": [3, 4]}),
        ("SELECT STRUCT(ARRAY_LENGTH(example.g) AS many)",
         {"many_1": [0, 1], "many_2": [2], "many_NULL": [3], "many_0": [4]}),
        ("SELECT STRUCT(IF(n/2 > 1, 'it\\'s big', \"(small, really)\") AS size) FROM example.n WHERE N = 10",
         {"size_(small, really)": [0, 1], "size_it's big": [2, 3]}),
        ("SELECT STRUCT(CONCAT(CAST(n AS STRING), '!') AS t) FROM example.n WHERE REGEXP_CONTAINS(g, r'^f$')",
         {"t_2!": [1]}),
        ("SELECT AS STRUCT `n` FROM example.`n` WHERE n IN (1, 4) AND NOT n = 1;", {"n_4": [3]}),
        ("SELECT STRUCT(missing) FROM example.missing", {}),
        ("SELECT STRUCT((SELECT MAX(x) FROM example.n AS x) AS most)",
         {"most_1": [0], "most_2": [1], "most_3": [2], "most_5": [3], "most_NULL": [4]}),
        ("SELECT STRUCT(n) FROM example.n WHERE EXISTS (SELECT 1 FROM example.g WHERE g = 'm' AND n < 3)",
         {"n_1": [0]}),
        ("SELECT STRUCT(CAST(f AS INT64) AS i, DIV(n, 2) AS d) FROM example.f, example.n WHERE f < 9",
         {"i_1_d_0": [0], "i_0_d_1": [1]}),
        ("SELECT STRUCT(g) FROM example.g WHERE 3 IN UNNEST(example.n)", {"g_f": [2], "g_m": [2]}),
        ("SELECT STRUCT(g) FROM example.g WHERE 2 IN (SELECT n + 1 AS more FROM UNNEST(example.n) n)",
         {"g_m": [0]}),
        ("SELECT STRUCT((SELECT COUNT(*) FROM example.g a, example.g b WHERE a = b) AS pairs) WHERE N = 10",
         {"pairs_1": [0, 1], "pairs_2": [2], "pairs_0": [3, 4]}),
    ],
)  # fmt: skip
def test_each_row_is_asked(query, expected):
    assert found(query) == expected


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("", "does not begin with SELECT"),
        ("SELECT g FROM example.g", "does not select a STRUCT"),
        ("SELECT STRUCT(n > 2) FROM example.n", "an expression has no name"),
        ("SELECT STRUCT(g FROM example.g", "is not closed"),
        ("SELECT STRUCT(g) FROM other", "FROM takes example.feature"),
        ("SELECT STRUCT(g) FROM example.g, example.g", "FROM has g twice"),
        ("SELECT STRUCT(g) FROM (SELECT STRUCT(g) FROM example.g)", "FROM takes example.feature"),
        ("SELECT STRUCT(g) FROM example.g WHERE n IN (SELECT 1, 2)", "selects one expression"),
        ("SELECT STRUCT(g) FROM example.g WHERE n IN (SELECT 1", "a parenthesis is not closed"),
        ("SELECT STRUCT(g) FROM example.g GROUP BY 1", "FROM takes example.feature"),
        ("SELECT STRUCT(g) FROM example.g WHERE g = 'x'; DROP TABLE e", "';' is not known here"),
        ("SELECT STRUCT(g) FROM example.g WHERE", "an expression is empty"),
        ("SELECT STRUCT(unheard(g) AS x) FROM example.g", "no such function"),
    ],
)
def test_what_is_no_query_is_refused(query, why):
    with pytest.raises(InvalidArgumentError, match=why):
        found(query)


def test_statistics_and_metrics_have_these_slices(tmp_path, capsys):
    block = pa.RecordBatch.from_arrays(list(COLUMNS.values()), list(COLUMNS))
    queries = ["SELECT STRUCT(g) FROM example.g", "SELECT STRUCT('m' AS g) FROM example.n WHERE n = 2"]
    statistics = generate_statistics([Blocks([block])], StatsOptions(slice_sqls=queries))
    assert {each.name: each.num_examples for each in statistics.datasets} == {ALL: 5, "g_f": 2, "g_m": 3}

    config = EvalConfig()
    config.slicing_specs.add(
        slice_keys_sql="SELECT STRUCT(IF(label > 0, 'yes', 'no') AS was) FROM example.label"
    )
    config.metrics_specs.add().metrics.add(class_name="ExampleCount")
    columns = {"label": [1.0, 0.0, 1.0], "prediction": [0.5, 0.2, 0.1]}
    metrics = tfma.analyze_raw_data(columns, config).get_metrics_for_all_slices()
    counts = {key: each["example_count"]["doubleValue"] for key, each in metrics.items()}
    assert counts == {(("was", "no"),): 1.0, (("was", "yes"),): 2.0}

    (tmp_path / "in.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    assert main(["stats", str(tmp_path / "in.csv"), "--slice_sql", "SELECT STRUCT(b) FROM example.b"]) == 0
    assert "b_x: 2 rows" in capsys.readouterr().out
    assert main(["stats", str(tmp_path / "in.csv"), "--slice_sql", "SELECT STRUCT(c) FROM example.c"]) == 2
    assert "--slice_sql c: the data have no such feature; they have a, b" in capsys.readouterr().err
