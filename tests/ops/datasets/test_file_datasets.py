"""Every op that makes a dataset of files or writes one to a file, and its experimental twin."""

import sqlite3

import numpy as np
import pytest

import tideflow as tf
from tests.ops.datasets.elements import check

experimental = tf.data.experimental
raw = tf.raw_ops


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path, None) as writer:
        for record in (b"a", b"", b"ccc"):
            writer.write(record)
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines"
    path.write_text("1,a\n2,b\n")
    return str(path)


def test_lines(lines):
    check("TextLineDataset", lambda: tf.data.TextLineDataset([lines, lines]), [b"1,a", b"2,b"] * 2)


def test_records(records):
    check("TFRecordDataset", lambda: tf.data.TFRecordDataset(records), [b"a", b"", b"ccc"])


def test_records_of_fixed_length(lines):
    expected = [b",a\n2"]
    check(
        "FixedLengthRecordDatasetV2",
        lambda: tf.data.FixedLengthRecordDataset(lines, 4, header_bytes=1, footer_bytes=3),
        expected,
    )

    def of_first_generation():
        variant = raw.FixedLengthRecordDataset(
            filenames=lines,
            header_bytes=np.int64(1),
            record_bytes=np.int64(4),
            footer_bytes=np.int64(3),
            buffer_size=np.int64(0),
        )
        return experimental.from_variant(variant, tf.TensorSpec([], tf.string))

    check("FixedLengthRecordDataset", of_first_generation, expected)


def test_fields(lines):
    check("CSVDataset", lambda: experimental.CsvDataset(lines, [tf.int32, tf.string]), [(1, b"a"), (2, b"b")])


def test_names_of_files(lines, tmp_path):
    def matching():
        variant = raw.MatchingFilesDataset(patterns=np.array([f"{tmp_path}/l*".encode()], object))
        return experimental.from_variant(variant, tf.TensorSpec([], tf.string))

    check("MatchingFilesDataset", matching, [lines.encode()])


def test_rows_of_a_database(tmp_path):
    path = str(tmp_path / "database")
    with sqlite3.connect(path) as database:
        database.execute("create table words (number integer, word text)")
        database.executemany("insert into words values (?, ?)", [(1, "one"), (2, "two")])
    query = "select word, number from words order by number desc"
    check(
        "SqlDataset",
        lambda: experimental.SqlDataset("sqlite", path, query, (tf.string, tf.int64)),
        [(b"two", 2), (b"one", 1)],
    )


def test_pairs_of_a_database(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path)) as database, database.begin(write=True) as transaction:
        transaction.put(b"key", b"value")
    check("LMDBDataset", lambda: tf.contrib.data.LMDBDataset(str(tmp_path)), [(b"key", b"value")])


@pytest.mark.parametrize("op_type", ["DatasetToTFRecord", "ExperimentalDatasetToTFRecord"])
def test_a_dataset_written_to_a_file(op_type, tmp_path):
    path = str(tmp_path / "written")
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.from_tensor_slices(["x", "yy"])
        session.run(
            getattr(raw, op_type)(
                input_dataset=experimental.to_variant(dataset), filename=path, compression_type=""
            )
        )
    assert list(tf.python_io.tf_record_iterator(path)) == [b"x", b"yy"]
