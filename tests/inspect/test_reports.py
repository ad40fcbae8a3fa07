"""`tideflow inspect`: every kind of file is told apart and described; a damaged one is an error."""

import io
import os

import ml_dtypes
import numpy as np
import pytest

import tideflow as tf
from tideflow.cli import main
from tideflow.inspect import diff_of, report_of, show
from tideflow.inspect.report import Report, Table, as_text, byte_count, shortened
from tideflow.inspect.statistics import difference, statistics_of
from tideflow.io.bundle_writer import BundleWriter


def _checkpoint(prefix, **tensors):
    with BundleWriter(prefix) as writer:
        for name, value in tensors.items():
            writer.add(name, value)
    return str(prefix)


def _rows(table):
    """Rows by their first cells, each a dictionary by columns."""
    return {row[0]: dict(zip(table.columns, row)) for row in table.rows}


# ------------------------------------------------------------------------------------------------ checkpoints


def test_a_checkpoint_with_statistics(tmp_path):
    prefix = _checkpoint(
        tmp_path / "m",
        w=np.float32([[3, 4], [0, np.nan]]),
        words=np.array([b"a", b"bc"], object),
        n=np.int64(7),
    )
    report = report_of(prefix)
    rows = _rows(report.tables[0])
    assert rows["w"] == {
        "name": "w",
        "dtype": "float32",
        "shape": "[2, 2]",
        "size": "16 B",
        "min": "0",
        "mean": "2.33",
        "max": "4",
        "norm": "5",
        "not finite": "1 NaN!",
    }
    assert rows["words"]["dtype"] == "string"
    assert rows["n"]["mean"] == "7"
    assert report.facts["contents"] == "3 tensors, 7 values"
    assert "min" not in report_of(prefix, statistics=False).tables[0].columns


@pytest.mark.parametrize("suffix", ["", ".index", ".data-00000-of-00001"])
def test_any_file_of_a_checkpoint_will_do(suffix, tmp_path):
    prefix = _checkpoint(tmp_path / "m", v=np.ones(3))
    assert report_of(prefix + suffix).headline == f"Checkpoint {prefix}"


def test_one_tensor_with_its_place_values_and_distribution(tmp_path):
    prefix = _checkpoint(tmp_path / "m", v=np.arange(6.0).reshape(2, 3))
    report = report_of(prefix, "v")
    assert report.facts["place"] == f"{prefix}.data-00000-of-00001, byte 0"
    assert report.facts["distribution"].startswith("0 █")
    assert "[3. 4. 5.]" in report.text
    with pytest.raises(tf.errors.NotFoundError, match="Key w not found"):
        report_of(prefix, "w")


def test_the_checkpoints_of_a_directory(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=np.float32([1, 2]))
        sess.run(v.initializer)
        saver = tf.train.Saver()
        for step in (1, 2):
            saver.save(sess, str(tmp_path / "m"), global_step=step)
    report = report_of(tmp_path)
    assert [row[0] for row in report.tables[0].rows] == ["m-1", "m-2"]
    assert report.tables[0].rows[1][-1] == "newest"
    assert _rows(report.parts[0].tables[0])["v"]["max"] == "2"


def test_checkpoints_beside_each_other(tmp_path):
    one = _checkpoint(tmp_path / "a", x=np.float32([3, 4]), y=np.ones(2), z=np.ones(2), only=np.ones(1))
    other = _checkpoint(tmp_path / "b", x=np.float32([3, 4.5]), y=np.ones(2), z=np.ones(3), new=np.ones(1))
    report = diff_of(one, other)
    assert report.facts == {"changed": "1 tensor", "unchanged": "1 tensor"}
    changed, others, gone, new = report.tables
    row = _rows(changed)["x"]
    assert (row["norm before"], row["norm of change"], row["relative"]) == ("5", "0.5", "10.00%")
    assert row["values changed"] == "1 of 2"
    assert others.rows == [["z", "float64 [2]", "float64 [3]"]]
    assert (gone.rows[0][0], new.rows[0][0]) == ("only", "new")


def test_a_nan_is_no_change_where_it_stays():
    one = np.float32([1, np.nan])
    assert difference(one, one.copy()) == (0, 0, 0)
    assert difference(one, np.float32([1, 2]))[2] == 1


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.float16, ml_dtypes.bfloat16, np.int64, np.complex64, np.complex128]
)
def test_changes_of_any_type_are_counted_once(dtype):
    one, other = np.array([0, 1, 1]).astype(dtype), np.array([0, 0, 1]).astype(dtype)
    assert difference(one, other) == (1, 1, 1)


@pytest.mark.parametrize("value", [np.array([b"x"], object), np.zeros((0, 3))])
def test_no_statistics_of_strings_or_nothing(value):
    assert statistics_of(value) is None


# ------------------------------------------------------------------------------------------ graphs and models


def _graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.matmul(x, tf.get_variable("w", shape=[3, 2]), name="y")
    return graph


@pytest.mark.parametrize("name, as_text", [("g.pb", False), ("g.pbtxt", True)])
def test_graphs(name, as_text, tmp_path):
    tf.train.write_graph(_graph(), str(tmp_path), name, as_text=as_text)
    report = report_of(tmp_path / name)
    tables = {table.title: table for table in report.tables}
    assert report.headline == f"GraphDef {tmp_path / name}"
    assert _rows(tables["Placeholders"])["x"]["shape"] == "[?, 3]"
    assert _rows(tables["Variables"])["w"]["shape"] == "[3, 2]"
    assert "y" in _rows(tables["Not used by others"])
    assert 'op: "MatMul"' in report_of(tmp_path / name, "y:0").text
    with pytest.raises(tf.errors.NotFoundError, match="no node 'z'"):
        report_of(tmp_path / name, "z")


def test_meta_graphs(tmp_path):
    with _graph().as_default():
        tf.train.Saver().export_meta_graph(str(tmp_path / "m.meta"))
    report = report_of(tmp_path / "m.meta")
    assert report.headline.startswith("MetaGraphDef")
    assert _rows(report.tables[-1])["trainable_variables"]["items"] == "1"


def test_saved_models(tmp_path):
    folder = str(tmp_path / "model")
    with _graph().as_default() as graph, tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        x, y = (graph.get_tensor_by_name(f"{name}:0") for name in "xy")
        tf.saved_model.simple_save(sess, folder, {"in": x}, {"out": y})
    report = report_of(folder)
    signatures = report.parts[0].tables[0]
    assert [row[1:5] for row in signatures.rows] == [
        ["input", "in", "float32", "[?, 3]"],
        ["output", "out", "float32", "[?, 2]"],
    ]
    assert _rows(report.parts[-1].tables[0])["w"]["shape"] == "[3, 2]"
    assert report_of(os.path.join(folder, "saved_model.pb")).headline == report.headline
    assert report_of(folder, "w").facts["shape"] == "[3, 2]"


# ------------------------------------------------------------------------------------------- logs and records


def _log(folder):
    writer = tf.summary.FileWriter(str(folder))
    for step, value in enumerate((3.0, 1.0, 2.0)):
        summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=value)])
        writer.add_summary(summary, step)
    writer.close()


def test_logs_of_one_run_and_of_several(tmp_path):
    _log(tmp_path / "a")
    row = _rows(report_of(tmp_path / "a").tables[0])["loss"]
    assert row == {
        "tag": "loss",
        "kind": "scalar",
        "points": "3",
        "first step": "0",
        "last step": "2",
        "first": "3",
        "last": "2",
        "min": "1",
        "max": "3",
    }
    _log(tmp_path / "b")
    assert [row[:2] for row in report_of(tmp_path).tables[0].rows] == [["loss", "a"], ["loss", "b"]]
    assert report_of(tmp_path / "a", "loss").tables[0].rows[1] == ["1", "1"]
    with pytest.raises(tf.errors.NotFoundError, match=r"no tag 'los'\. There are: loss"):
        report_of(tmp_path / "a", "los")


def test_a_log_that_ends_too_early_is_shown_as_far_as_it_goes(tmp_path):
    _log(tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    report = report_of(path)
    assert "truncated record" in report.facts["damaged"]
    assert _rows(report.tables[0])["loss"]["points"] == "2"


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_of_examples(compression, tmp_path):
    path = tmp_path / "data"
    with tf.io.TFRecordWriter(str(path), compression or None) as writer:
        for i in range(3):
            feature = {"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}
            if i:
                values = tf.train.FloatList(value=[0.5] * i)
                feature["box"] = tf.train.Feature(float_list=values)
            features = tf.train.Features(feature=feature)
            writer.write(tf.train.Example(features=features).SerializeToString())
    report = report_of(path)
    rows = _rows(report.tables[0])
    assert report.facts["records"] == "3 records"
    assert (rows["label"]["in records"], rows["label"]["max"]) == ("all", "2")
    assert (rows["box"]["in records"], rows["box"]["values"]) == ("2 of 3", "1–2")
    assert report_of(path, "2").text.startswith("box  float_list [2]  0.5, 0.5")
    with pytest.raises(tf.errors.NotFoundError, match="no record 3"):
        report_of(path, "3")
    with pytest.raises(tf.errors.InvalidArgumentError, match="by their numbers"):
        report_of(path, "label")


def test_records_of_anything(tmp_path):
    with tf.io.TFRecordWriter(str(tmp_path / "data")) as writer:
        writer.write(b"\xff\x00anything")
    report = report_of(tmp_path / "data")
    assert not report.tables
    assert "anything" in report_of(tmp_path / "data", "0").text


# --------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("content", [b"", b"no such thing", bytes(100), b"\x0a\x05abcde"])
def test_what_is_none_of_these(content, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(tf.errors.DataLossError, match="none of these: a checkpoint"):
        report_of(tmp_path / "x")


def test_what_is_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="no such file"):
        report_of(tmp_path / "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="none of these in it"):
        report_of(tmp_path)


def test_the_command(tmp_path, capsys):
    prefix = _checkpoint(tmp_path / "m", v=np.ones(3))
    assert main(["inspect", prefix]) == 0
    assert "v     float64  [3]    24 B" in capsys.readouterr().out
    assert main(["inspect", "--diff", prefix, prefix]) == 0
    assert main(["inspect", str(tmp_path / "x")]) == 2
    assert main(["inspect"]) == 2
    assert "either a PATH or --diff A B" in capsys.readouterr().err


# ----------------------------------------------------------------------------------------------- how it looks


def _wide_table():
    rows = [["layer/with/a/long/name", "1", "2.5"], ["b", "10", ""]]
    return Table.of("Title", ["name", "count", "mean"], rows, ("count", "mean"), optional=("mean",))


def test_tables_are_aligned():
    assert as_text(Report("Headline", {"fact": 1}, [_wide_table()])).splitlines() == [
        "Headline",
        "  fact  1",
        "",
        "Title",
        "  name                    count  mean",
        "  ──────────────────────  ─────  ────",
        "  layer/with/a/long/name      1   2.5",
        "  b                          10",
    ]


def test_an_encoding_without_rules_is_no_error():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    show(Report("Headline", {}, [_wide_table()]), file)
    file.flush()
    assert b"  ??????????????????????  ?????  ????" in file.buffer.getvalue()


def test_narrow_tables_lose_optional_columns_first_and_then_the_middle_of_names():
    assert _wide_table().fitted(32).columns == ["name", "count"]
    assert _wide_table().fitted(25).rows[0][0] == "layer/wi…ng/name"
    assert shortened("abcdefgh", 5) == "ab…gh"


def test_a_terminal_is_not_overrun():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    show(Report("Headline", tables=[_wide_table()]), terminal)
    assert "layer/with/a/long/name" in terminal.getvalue()


@pytest.mark.parametrize(
    "size, said", [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (999_999, "1 MB"), (2 * 10**9, "2 GB")]
)
def test_sizes(size, said):
    assert byte_count(size) == said


def test_a_model_says_that_tideflow_wrote_it(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": x + 1.0})
    (part,) = report_of(tmp_path / "model").parts
    assert part.facts["written by"] == f"Tideflow {tf.__version__}, as TensorFlow 1.15.5"
