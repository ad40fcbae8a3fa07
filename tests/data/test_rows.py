"""Batches as the unit of work: what is done to many elements at once is what is done to each."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.compile import function_plans


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def example(**features):
    kinds = {int: tf.train.Int64List, float: tf.train.FloatList, bytes: tf.train.BytesList}
    fields = {int: "int64_list", float: "float_list", bytes: "bytes_list"}
    made = {
        k: tf.train.Feature(**{fields[type(v[0])]: kinds[type(v[0])](value=v)}) for k, v in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def examples(count):
    return [example(n=[i], x=[i / 2, -i / 2], s=[b"%d" % i]) for i in range(count)]


FEATURES = {
    "n": tf.FixedLenFeature([], tf.int64),
    "x": tf.FixedLenFeature([2], tf.float32, [9.0, 9.0]),
    "s": tf.FixedLenFeature([], tf.string),
}


def parse(record):
    return tf.parse_single_example(record, FEATURES)


def parse_and_more(record):
    found = tf.parse_single_example(record, FEATURES)
    return {"twice": found["n"] * 2, "record": record, "text": tf.string_join([found["s"], "!"])}


def all_of(dataset):
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


def assert_same(batches, elements, size):
    groups = [elements[i : i + size] for i in range(0, len(elements), size)]
    assert len(batches) == len(groups)
    for batch, group in zip(batches, groups, strict=True):
        for key, value in batch.items():
            assert value.tolist() == [np.asarray(each[key], value.dtype).tolist() for each in group]


@pytest.fixture
def parsed_rows(monkeypatch):
    """How many messages were parsed together, each time."""
    seen, real = [], function_plans.row_parser

    def watched(op):
        parse = real(op)
        return None if parse is None else lambda rows: (seen.append(len(rows)), parse(rows))[1]

    monkeypatch.setattr(function_plans, "row_parser", watched)
    return seen


@pytest.mark.parametrize("function", [parse, parse_and_more])
@pytest.mark.parametrize("parallel", [None, 2])
def test_messages_are_parsed_a_batch_at_a_time(function, parallel, parsed_rows):
    records = tf.data.Dataset.from_tensor_slices(examples(100))
    batches = all_of(records.map(function, num_parallel_calls=parallel).batch(48))
    assert parsed_rows == [48, 48, 4]
    assert_same(batches, all_of(records.map(function)), 48)


def test_calls_of_a_slow_rest_overlap(parsed_rows, meet):
    records = tf.data.Dataset.from_tensor_slices(examples(40))
    slow = records.map(lambda r: tf.py_func(meet, [parse(r)["n"]], tf.int64), num_parallel_calls=2)
    assert np.concatenate(all_of(slow.batch(20))).tolist() == list(range(40))
    assert parsed_rows[0] == 20


def test_what_the_function_takes_from_outside_is_there(parsed_rows):
    offset = tf.placeholder_with_default(np.int64(1000), [])
    records = tf.data.Dataset.from_tensor_slices(examples(60))
    iterator = records.map(lambda r: parse(r)["n"] + offset).batch(50).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, {offset: 500})
        assert session.run(element).tolist() == list(range(500, 550))
    assert parsed_rows == [50]


def test_a_missing_feature_is_its_default_in_a_batch_too(parsed_rows):
    records = [example(n=[i], s=[b""]) if i % 3 else example(n=[i], s=[b""], x=[1.0, 2.0]) for i in range(60)]
    (batch,) = all_of(tf.data.Dataset.from_tensor_slices(records).map(parse).batch(60))
    assert parsed_rows == [60]
    assert batch["x"][:2].tolist() == [[1, 2], [9, 9]]


@pytest.mark.parametrize(
    "bad",
    [b"no message", example(n=[1]), example(n=[1, 2], s=[b""])],
    ids=["none", "a feature missing", "a feature too long"],  # the bytes of a message are in no certain order
)
def test_the_message_that_cannot_be_parsed_is_told_of_and_the_rest_follows(bad):
    records = examples(150)
    records[70] = bad
    dataset = tf.data.Dataset.from_tensor_slices(records).map(parse).batch(50)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element)["n"].tolist() == list(range(50))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"ParseSingleExample|parse example"):
            session.run(element)
        assert session.run(element)["n"].tolist() == list(range(100, 150))


def test_a_function_that_fails_on_an_element_is_told_of_and_the_rest_follows():
    checked = tf.data.Dataset.range(9).map(
        lambda x: tf.check_numerics(1.0 / tf.cast(x - 4, tf.float32), "bad x")
    )
    element = checked.batch(3).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert len(session.run(element)) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad x"):
            session.run(element)
        assert len(session.run(element)) == 3


def test_a_generator_that_raises_is_told_of():
    def numbers():
        yield 1
        raise RuntimeError("the disk is gone")

    element = tf.data.Dataset.from_generator(numbers, tf.int32).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 1
        with pytest.raises(tf.errors.OpError, match="the disk is gone"):
            session.run(element)


@pytest.mark.parametrize("size", [3, 4, 100])
def test_batches_cross_files_and_epochs(tmp_path, size):
    paths = []
    for name, count in (("a", 5), ("empty", 0), ("b", 6)):
        paths.append(str(tmp_path / name))
        with tf.python_io.TFRecordWriter(paths[-1]) as writer:
            for i in range(count):
                writer.write(f"{name}{i}".encode())
    dataset = tf.data.TFRecordDataset(paths).repeat(2)
    one_by_one = all_of(dataset)
    assert len(one_by_one) == 22
    assert np.concatenate(all_of(dataset.batch(size))).tolist() == one_by_one
    assert np.concatenate(all_of(dataset.skip(1).take(9).batch(size))).tolist() == one_by_one[1:10]
    assert all(len(b) == size for b in all_of(dataset.batch(size, drop_remainder=True)))


def test_an_empty_dataset_repeated_without_end_has_no_batch():
    assert all_of(tf.data.Dataset.range(0).repeat().batch(3)) == []


def test_damage_within_a_batch_is_told_with_file_and_offset(tmp_path):
    path = tmp_path / "damaged"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for _ in range(10):
            writer.write(b"12345678")
    data = bytearray(path.read_bytes())
    data[7 * 24 + 13] ^= 1
    path.write_bytes(data)
    element = tf.data.TFRecordDataset(str(path)).batch(4).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element).tolist() == [b"12345678"] * 4
        with pytest.raises(tf.errors.DataLossError, match=f"corrupted record at 168 of {path}"):
            session.run(element)
