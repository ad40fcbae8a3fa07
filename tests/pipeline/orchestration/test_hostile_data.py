"""ExampleGen on data that are broken: each fault with file and line, or a clear refusal."""

import json
import re
import tempfile

import pytest

import tideflow as tf
from tideflow.pipeline.engine import splitting
from tideflow.pipeline.orchestration import (
    ExampleGen,
    ExampleValidator,
    Pipeline,
    SchemaGen,
    StatisticsGen,
    data_components,
    runner,
)


def ingest(root, folder, **options):
    """Runs ExampleGen and StatisticsGen on `folder/SPAN/*`: states, reasons, what was said, the examples."""
    said = []
    gen = ExampleGen(input=str(folder / "{SPAN}" / "*"), **options)
    statistics = StatisticsGen(examples=gen.outputs["examples"])
    result = runner.run(
        Pipeline("hostile", root, [gen, statistics], workers=1),
        lambda event: said.extend(event.words) if event.state == "running" else None,
    )
    return result, said, result.outputs.get("ExampleGen", {}).get("examples")


def plain_records():
    """The bytes of a TFRecord file of 20 Examples."""
    with tempfile.NamedTemporaryFile() as file:
        with tf.io.TFRecordWriter(file.name) as writer:
            for number in range(20):
                feature = {"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))}
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())
        return file.read()


def test_faulty_rows_are_said_and_few_do_not_stop_the_run(tmp_path):
    data = tmp_path / "data"
    (data / "1").mkdir(parents=True)
    good = b"".join(b"%d,x\n" % number for number in range(300))
    huge = b'1,"' + b"y" * (5 << 20) + b'"\n'  # larger than a chunk
    (data / "1" / "in.csv").write_bytes(b"a,b\n" + good + b"1,\xff\xfe\x80\n" + huge + b"1,2,3\n" + good)
    result, said, examples = ingest(tmp_path / "root", data)
    assert result.state == "complete" and sum(examples.properties["rows"].values()) == 602
    assert said == [
        "1 of 603 rows cannot be read and are set aside, in faults.json of the examples; "
        f"first {data}/1/in.csv:304: 3 fields instead of 2: 1,2,3"
    ]
    (fault,) = map(json.loads, (examples.uri / "faults.json").read_text().splitlines())
    assert (fault["line"], fault["text"]) == (304, "1,2,3")

    (data / "2").mkdir()  # other columns: both files are read, and each row has those of its file
    (data / "2" / "in.csv").write_text("b,c\n" + "7,8\n" * 30)
    result, _, examples = ingest(tmp_path / "root", data, window=2)
    assert result.state == "complete" and sum(examples.properties["rows"].values()) == 632


@pytest.mark.parametrize(
    "name, data, reason",
    [
        ("in.csv", b"a,b\n", "span 3 has no rows that can be read$"),
        ("in.csv", b"", r"no rows that can be read; first .*in\.csv: the file is empty"),
        ("in.csv", "a\n1".encode("utf-16"), r"first .*in\.csv: .*UTF-16"),
        ("in.csv", b'a,b\n1,2\n3,"4\n', r"1 of 2 rows cannot be read; first .*in\.csv:3: a quote is not"),
        ("in.tfrecord", plain_records()[:-7], r"1 of 20 rows .* first .*in\.tfrecord:20: damaged from here"),
        ("in.parquet", b"PAR1 and no more", r"in\.parquet"),
    ],
)
def test_broken_spans_stop_what_comes_after(tmp_path, name, data, reason):
    span = tmp_path / "data" / "3"
    span.mkdir(parents=True)
    (span / name).write_bytes(data)
    result, _, _ = ingest(tmp_path / "root", tmp_path / "data")
    assert result.state in ("refused", "failed") and result.states["StatisticsGen"] == "skipped"
    (words,) = result.reasons["ExampleGen"]
    assert re.search(reason, words), words
    assert "Traceback" not in words


def test_rows_that_are_lost_on_the_way_are_noticed(tmp_path, monkeypatch):
    span = tmp_path / "data" / "1"
    span.mkdir(parents=True)
    for number in range(4):
        (span / f"{number}.csv").write_text("a\n" + "".join(f"{row}\n" for row in range(50)))
    split = splitting.split_block
    monkeypatch.setattr(splitting, "split_block", lambda *given: split(*given) | {"eval": given[0].slice(9)})
    result, _, _ = ingest(tmp_path / "written", tmp_path / "data")
    assert re.search(r"InternalError: Of 200 rows that were read, \d+ were written", str(result.reasons))
    monkeypatch.undo()
    result, _, examples = ingest(tmp_path / "read", tmp_path / "data")
    assert result.state == "complete" and sum(examples.properties["rows"].values()) == 200
    whole = data_components.split_sources
    monkeypatch.setattr(data_components, "split_sources", lambda *given: whole(*given)[1:])
    result, _, _ = ingest(tmp_path / "lost", tmp_path / "data")
    assert re.search(r"DataLossError: Of \d+ rows of the split train, \d+ were read", str(result.reasons))


def test_the_draft_of_a_schema_is_not_new_to_the_next_run_and_is_written_again_where_it_went(tmp_path):
    span, draft = tmp_path / "data" / "1", tmp_path / "people" / "taxi.pbtxt"
    span.mkdir(parents=True)
    (span / "in.csv").write_text("a,b\n" + "".join(f"{number},x\n" for number in range(60)))

    def states():
        gen = ExampleGen(input=str(tmp_path / "data" / "{SPAN}" / "*"))
        statistics = StatisticsGen(examples=gen.outputs["examples"])
        schema = SchemaGen(statistics=statistics.outputs["statistics"], file=str(draft))
        return runner.run(Pipeline("drafts", tmp_path / "root", [gen, statistics, schema], workers=1)).states

    assert set(states().values()) == {"complete"}
    assert set(states().values()) == {"cached"}, "the draft is the pipeline's own"
    draft.write_text(draft.read_text() + "# looked at\n")
    assert states()["SchemaGen"] == "complete"
    draft.unlink()
    assert states()["SchemaGen"] == "complete" and draft.exists()
    assert states()["SchemaGen"] == "cached"


def test_a_validator_says_once_what_is_wrong_with_all_splits(tmp_path):
    span = tmp_path / "data" / "1"
    span.mkdir(parents=True)
    (span / "in.csv").write_text("a,b\n" + "".join(f"{number},old\n" for number in range(60)))

    def validate(splits):
        gen = ExampleGen(input=str(tmp_path / "data" / "{SPAN}" / "*"), splits=splits)
        statistics = StatisticsGen(examples=gen.outputs["examples"])
        schema = SchemaGen(statistics=statistics.outputs["statistics"], file=str(tmp_path / "schema.pbtxt"))
        validator = ExampleValidator(
            statistics=statistics.outputs["statistics"], schema=schema.outputs["schema"]
        )
        pipeline = Pipeline("checked", tmp_path / "root", [gen, statistics, schema, validator], workers=1)
        return runner.run(pipeline).reasons.get("ExampleValidator", [])

    assert validate({"train": 2, "eval": 1}) == []
    (span / "in.csv").write_text("a,b\n" + "".join(f"{number},new\n" for number in range(60)))
    (words,) = validate({"train": 2, "eval": 1})
    assert words.startswith("train, eval: b: Examples contain values missing from the schema: new (~100%)")
    (span / "in.csv").write_text("a,b\n1,old\n")  # one of the splits has no row
    (words,) = [each for each in validate({"train": 1, "eval": 1}) if "no rows" in each]
    assert words in ("train: there are no rows", "eval: there are no rows")
