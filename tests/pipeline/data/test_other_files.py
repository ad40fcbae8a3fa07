"""TFRecords, Parquet and Arrow as sources, and blocks written to them."""

import math
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline.data.examples import (
    SEQUENCE,
    parse_examples,
    parse_sequence_examples,
    serialize_examples,
)
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import files_of, find_sources
from tideflow.pipeline.data.writing import write_blocks


def block_of(**columns):
    kinds = {"i": pa.int64(), "f": pa.float32(), "s": pa.binary()}
    arrays = [pa.array(rows, pa.list_(kinds[name[0]])) for name, rows in columns.items()]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


BLOCK = block_of(
    f=[[0.5], None, [], [1.5, -2.0]],
    i=[[-1], [1, 2**62], None, []],
    s=[[b"a", b""], [], None, [b"\xff" * 300]],
)


def refuse_none(number, reason):
    raise AssertionError((number, reason))


def rows(sources, faults=None):
    return [
        row
        for source in sources
        for block in source.blocks(Faults() if faults is None else faults)
        for row in block.to_pylist()
    ]


@pytest.mark.parametrize("times", [1, 20])  # few records are read one by one, many by NumPy
def test_examples_there_and_back(times):
    records = serialize_examples(BLOCK) * times
    assert records[0] == tf.train.Example.FromString(records[0]).SerializeToString(deterministic=True)
    assert parse_examples(records, refuse_none).to_pylist() == BLOCK.to_pylist() * times


@settings(max_examples=30)
@given(st.lists(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), min_size=1, max_size=60))
def test_integers_of_any_size_there_and_back(values):
    block = block_of(i=values, i2=[[1]] * len(values))
    assert parse_examples(serialize_examples(block), refuse_none).to_pydict()["i2"] == [[1]] * len(values)
    found = parse_examples(serialize_examples(block), refuse_none).to_pydict()
    assert found.get("i", [None] * len(values)) == values


def test_a_record_that_is_no_example_or_has_another_type_is_refused():
    odd = tf.train.Example()
    odd.features.feature["i"].bytes_list.value.append(b"no number")
    odd.features.feature["unset"].SetInParent()
    refused = []
    records = [*serialize_examples(BLOCK), b"\xffjunk", odd.SerializeToString()]
    found = parse_examples(records, lambda number, reason: refused.append((number, reason)))
    assert found.num_rows == 4
    assert found.column("unset").null_count == 4
    assert refused == [(4, "is not an Example"), (5, "feature i is a bytes_list, not a int64_list")]


def test_sequence_examples_there_and_back(tmp_path):
    message = tf.train.SequenceExample()
    message.context.feature["id"].int64_list.value.append(7)
    lists = message.feature_lists.feature_list
    for values in ([1, 2], [], [3]):
        lists["steps"].feature.add().int64_list.value.extend(values)
    lists["words"].feature.add().bytes_list.value.append(b"w")
    other = tf.train.SequenceExample()
    other.context.feature["id"].int64_list.value.append(8)
    records = [message.SerializeToString(deterministic=True), other.SerializeToString(deterministic=True)]
    block = parse_sequence_examples(records, refuse_none)
    assert block.to_pylist() == [
        {"id": [7], SEQUENCE: {"steps": [[1, 2], [], [3]], "words": [[b"w"]]}},
        {"id": [8], SEQUENCE: {"steps": None, "words": None}},
    ]
    again = [tf.train.SequenceExample.FromString(record) for record in serialize_examples(block)]
    assert again == [message, other]
    with tf.io.TFRecordWriter(str(tmp_path / "x.tfrecord")) as writer:
        for record in [*records, b"\xff"]:
            writer.write(record)
    faults = Faults()
    assert len(rows(find_sources(tmp_path, "sequence"), faults)) == 2
    assert str(faults.first[0]).endswith("x.tfrecord:3: is not a SequenceExample")


@pytest.mark.parametrize("format", ["tfrecord", "arrow", "parquet"])
def test_blocks_are_written_and_read(tmp_path, format):
    name = "x.tfrecord" if format == "tfrecord" else "x"
    assert write_blocks(tmp_path / name, [BLOCK, BLOCK], format) == 8
    sources = find_sources(tmp_path)
    assert rows(sources) == BLOCK.to_pylist() * 2
    assert sources[0].size > 0
    with pytest.raises(InvalidArgumentError, match="only CSV files"):
        find_sources(tmp_path, delimiter=";")
    with pytest.raises(InvalidArgumentError, match="must be one of tfrecord, arrow, parquet"):
        write_blocks(tmp_path / "y", [BLOCK], "json")


def test_records_behind_a_damaged_one_are_a_fault(tmp_path):
    path = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in serialize_examples(BLOCK):
            writer.write(record)
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)
    faults = Faults()
    assert len(rows(find_sources(path), faults)) == 3
    assert "x.tfrecord:4: damaged from here on: corrupted record" in str(faults.first[0])


def test_a_file_that_is_cut_off_is_a_fault_wherever_it_ends(tmp_path):
    for format, name in (("tfrecord", "x.gz"), ("arrow", "x.arrow"), ("parquet", "x.parquet")):
        write_blocks(tmp_path / name, [BLOCK] * 3, format)
        whole = (tmp_path / name).read_bytes()
        for cut in [*range(3, len(whole), max(1, len(whole) // 40)), len(whole) - 1]:
            (tmp_path / name).write_bytes(whole[:cut])
            faults = Faults()
            found = rows(find_sources(tmp_path / name), faults)
            assert found == (BLOCK.to_pylist() * 3)[: len(found)]
            assert len(faults) == 1, (name, cut)
            assert faults.first[0].path == str(tmp_path / name)


def test_columns_of_tables_become_lists(tmp_path):
    table = pa.table(
        {
            "small": pa.array([1, None, 3], pa.int8()),
            "truth": pa.array([True, False, None]),
            "text": pa.array(["\u00e4", None, ""]),
            "category": pa.array(["x", "y", "x"]).dictionary_encode(),
            "double": pa.array([0.1, math.inf, None]),
            "half": pa.array([1, 2, 3], pa.float32()).cast(pa.float16()),
            "day": pa.array([0, 1, None], pa.date32()),
            "lists": pa.array([[1, None, 2], None, []], pa.large_list(pa.int32())),
            "pairs": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float64(), 2)),
            "never": pa.nulls(3),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
    sources = find_sources(tmp_path, part_bytes=1)
    assert len(sources) == 2
    found = {name: [row[name] for row in rows(sources)] for name in table.column_names}
    assert found["small"] == [[1], None, [3]]
    assert found["truth"] == [[1], [0], None]
    assert found["text"] == [["\u00e4".encode()], None, [b""]]
    assert found["category"] == [[b"x"], [b"y"], [b"x"]]
    assert found["double"] == [[0.1], [math.inf], None]
    assert found["half"] == [[1.0], [2.0], [3.0]]
    assert found["day"] == [[b"1970-01-01"], [b"1970-01-02"], None]
    assert found["lists"] == [[1, 2], None, []]
    assert found["pairs"] == [[1.0, 2.0], None, [3.0, 4.0]]
    assert found["never"] == [None, None, None]


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_damaged_file_is_one_fault(tmp_path, format):
    (tmp_path / f"x.{format}").write_bytes(b"no such file")
    faults = Faults()
    assert rows(find_sources(tmp_path), faults) == []
    assert f"is no {format} file" in faults.first[0].reason


def test_columns_of_every_type_of_arrow(tmp_path):
    pair = pa.array([[("k", 1), ("l", 2)], []], pa.map_(pa.string(), pa.int64()))
    views = pa.array(["x", None]).cast(pa.string_view())
    table = pa.table({"pair": pair, "view": views, "raw": pa.array([b"y", b"z"]).cast(pa.binary_view())})
    pq.write_table(table, tmp_path / "in.parquet")
    (block,) = (block for source in find_sources(tmp_path) for block in source.blocks(Faults()))
    assert block.to_pylist() == [
        {
            "pair": [{"key": [b"k"], "value": [1]}, {"key": [b"l"], "value": [2]}],
            "view": [b"x"],
            "raw": [b"y"],
        },
        {"pair": [], "view": None, "raw": [b"z"]},
    ]


def test_rows_that_do_not_fit_and_columns_that_are_there_twice(tmp_path):
    columns = {
        "a": pa.array([1, 2**64 - 1, None, 2**63], pa.uint64()),
        "b": pa.array([1, 2, 2**63, 3], pa.uint64()),
    }
    pq.write_table(pa.table(columns), tmp_path / "large.parquet")
    faults = Faults()
    (source,) = find_sources(tmp_path / "large.parquet")
    assert [row for block in source.blocks(faults) for row in block.to_pylist()] == [{"a": [1], "b": [1]}]
    assert [(fault.line, fault.reason, fault.text) for fault in sorted(faults.first)] == [
        (2, "column a is no int64", str(2**64 - 1)),
        (3, "column b is no int64", str(2**63)),
        (4, "column a is no int64", str(2**63)),
    ]
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    (source,) = find_sources(tmp_path / "twice.parquet")
    faults = Faults()
    assert not list(source.blocks(faults)) and faults.first[0].reason == "the column a is there twice"


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "data.csv")
    with pytest.raises(InvalidArgumentError, match="is no regular file"):
        find_sources(tmp_path / "data.csv")


def test_folders_that_link_to_each_other_have_each_file_once(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "in.csv").write_text("x\n1\n")
    (tmp_path / "a" / "same.csv").symlink_to("in.csv")  # a file by another name is another file
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "b").symlink_to("a")
    names = [str(tmp_path / "a" / name) for name in ("in.csv", "same.csv")]
    assert files_of(tmp_path / "a" / "**" / "*.csv") == names
    assert files_of([tmp_path / "b" / "*.csv", tmp_path / "a"]) == names
