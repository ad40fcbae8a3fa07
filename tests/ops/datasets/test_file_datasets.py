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


def taken(dataset):
    value, found = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(value))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.InvalidArgumentError as error:
                found.append(str(error).splitlines()[0])


def test_records_with_quotes_at_the_wrong_place_end_where_quotes_close(tmp_path):
    path = tmp_path / "quotes"
    path.write_text('1,"2"3",4\n5,6"7,8\n"a\nb",c,"d""e"\n9,"1"2,3\n')
    assert taken(experimental.CsvDataset(str(path), [[""]] * 3)) == [
        "Quote inside a string has to be escaped by another quote",
        "Unquoted fields cannot have quotes inside",
        (b"a\nb", b"c", b'd"e'),
        "Reached end of file without closing quoted field in record",
    ]


def test_fields_are_read_before_they_are_counted(tmp_path):
    path = tmp_path / "fields"
    path.write_text("1,x,3\n1,2,3\n1\n,2\n")
    assert taken(experimental.CsvDataset(str(path), [tf.int32, tf.int32])) == [
        "Field 1 in record is not a valid int32: x",
        "Expect 2 fields but have more in record",
        "Expect 2 fields but have 1 in record",
        "Field 0 is required but missing in record!",
    ]


def test_files_of_other_sizes_than_their_records_are_refused(lines):
    refusal = taken(tf.data.FixedLengthRecordDataset(lines, 3))[0]
    assert "body length 8 bytes, which is not an exact multiple of the record length (3 bytes)" in refusal


def test_names_of_files(lines, tmp_path):
    def matching():
        variant = raw.MatchingFilesDataset(patterns=np.array([f"{tmp_path}/l*".encode()], object))
        return experimental.from_variant(variant, tf.TensorSpec([], tf.string))

    check("MatchingFilesDataset", matching, [lines.encode()])
    missing = raw.MatchingFilesDataset(patterns=np.array([f"{tmp_path}/none*".encode()], object))
    with pytest.raises(tf.errors.NotFoundError, match="Don't find any matched files"):
        taken(experimental.from_variant(missing, tf.TensorSpec([], tf.string)))


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
