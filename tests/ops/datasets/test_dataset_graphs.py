"""Datasets written as graphs and made of them, and snapshots of their elements."""

import os
import time

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tideflow as tf

raw = tf.raw_ops
experimental = tf.data.experimental


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def elements(dataset):
    iterator = tf.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(following))
    return [value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for value in found]


def written(dataset):
    with tf.Session() as session:
        return session.run(raw.DatasetToGraph(input_dataset=experimental.to_variant(dataset)))


def snapshot_of(dataset, path, **options):
    variant = raw.SnapshotDataset(
        input_dataset=experimental.to_variant(dataset), path=str(path), **dataset._attributes, **options
    )
    return experimental.from_variant(variant, dataset.element_spec)


def files_in(path):
    """The folders of a snapshot's datasets, of their runs, and the names of the files."""
    found = []
    for folder in sorted(os.listdir(path)):
        runs = sorted(os.listdir(path / folder))
        assert runs.pop() == "snapshot.metadata"
        found.append([sorted(os.listdir(path / folder / run)) for run in runs])
    return found


def test_a_dataset_is_made_of_its_graph_again():
    more = tf.constant(5, tf.int64)
    dataset = tf.data.Dataset.range(6).map(lambda n: n + more).batch(4)
    text = written(dataset)
    message = GraphDef.FromString(text)
    assert {"RangeDataset", "MapDataset", "BatchDatasetV2"} <= {node.op for node in message.node}
    assert message.node[-1].op == "_Retval" and len(message.library.function) == 1
    variant = raw.DatasetFromGraph(graph_def=tf.constant(text))
    assert elements(experimental.from_variant(variant, dataset.element_spec)) == [[5, 6, 7, 8], [9, 10]]


def test_functions_in_functions_and_strings_are_written():
    def with_words(n):
        return tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda w: w + tf.as_string(n))

    dataset = tf.data.Dataset.range(2).flat_map(with_words)
    variant = raw.DatasetFromGraph(graph_def=tf.constant(written(dataset)))
    found = elements(experimental.from_variant(variant, dataset.element_spec))
    assert found == [b"a0", b"b0", b"a1", b"b1"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.data.Dataset.range(2).map(lambda n: tf.random_uniform([])), "RandomUniform is stateful"),
        (lambda: tf.data.Dataset.from_generator(lambda: iter([1]), tf.int32), "PyFunc is stateful"),
    ],
)
def test_state_is_not_written(make, message):
    with pytest.raises(tf.errors.FailedPreconditionError, match=message):
        written(make())


@pytest.mark.parametrize("text", [b"no graph", GraphDef().SerializeToString()])
def test_what_is_no_dataset_is_refused(text):
    variant = raw.DatasetFromGraph(graph_def=tf.constant(text))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="graph of a dataset"):
        session.run(variant.op)
        elements(experimental.from_variant(variant, tf.TensorSpec([], tf.int64)))


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_the_second_pass_reads_what_the_first_has_written(tmp_path, compression):
    source, folder = tmp_path / "numbers", tmp_path / "snapshot"
    source.write_text("one\ntwo\n")

    def lines():
        return snapshot_of(tf.data.TextLineDataset(str(source)), folder, compression=compression)

    assert elements(lines()) == [b"one", b"two"]
    assert files_in(folder) == [[["00000000.snapshot"]]]
    source.unlink()
    assert elements(lines()) == [b"one", b"two"]


def test_a_dataset_of_another_making_has_a_snapshot_of_its_own(tmp_path):
    for count in (3, 4):
        assert elements(snapshot_of(tf.data.Dataset.range(count), tmp_path)) == list(range(count))
    assert len(files_in(tmp_path)) == 2


def test_files_have_a_size_and_may_be_shuffled(tmp_path):
    numbers = tf.data.Dataset.range(50)
    assert elements(snapshot_of(numbers, tmp_path, shard_size_bytes=1)) == list(range(50))
    assert len(files_in(tmp_path)[0][0]) == 50
    orders = [
        elements(snapshot_of(numbers, tmp_path, shuffle_on_read=True, seed=1, seed2=2)) for _ in range(2)
    ]
    assert orders[0] == orders[1] != list(range(50)) and sorted(orders[0]) == list(range(50))


def test_beside_a_pass_that_writes_others_pass_through(tmp_path):
    passes = [
        tf.data.make_initializable_iterator(snapshot_of(tf.data.Dataset.range(3), tmp_path)) for _ in "ab"
    ]
    following = [each.get_next() for each in passes]
    with tf.Session() as session:
        session.run([each.initializer for each in passes])
        assert os.listdir(tmp_path) == []
        assert [session.run(following) for _ in range(3)] == [[n, n] for n in range(3)]
    assert files_in(tmp_path) == [[["00000000.snapshot"]]]


def test_an_unfinished_pass_is_given_up_after_a_while(tmp_path, monkeypatch):
    first = tf.data.make_initializable_iterator(snapshot_of(tf.data.Dataset.range(3), tmp_path))
    following = first.get_next()
    with tf.Session() as session:
        session.run(first.initializer)
        session.run(following)
    now = time.time()
    monkeypatch.setattr("tideflow.runtime.dataset_snapshots.time.time", lambda: now + 100)
    assert elements(snapshot_of(tf.data.Dataset.range(3), tmp_path)) == [0, 1, 2]
    assert len(files_in(tmp_path)[0]) == 1
    again = snapshot_of(tf.data.Dataset.range(3), tmp_path, pending_snapshot_expiry_seconds=50)
    assert elements(again) == [0, 1, 2]
    assert len(files_in(tmp_path)[0]) == 2


def test_modes(tmp_path):
    numbers = tf.data.Dataset.range(3)
    with pytest.raises(tf.errors.NotFoundError, match="no finished snapshot"):
        elements(snapshot_of(numbers, tmp_path, mode="read"))
    assert elements(snapshot_of(numbers, tmp_path, mode="passthrough")) == [0, 1, 2]
    assert os.listdir(tmp_path) == []
    named = snapshot_of(numbers, tmp_path, mode="write", snapshot_name="mine")
    assert elements(named.repeat(2)) == [0, 1, 2] * 2
    assert os.listdir(tmp_path / "custom-mine" / "custom") == ["00000000.snapshot"]
    others = tf.data.Dataset.range(9)
    assert elements(snapshot_of(others, tmp_path, mode="read", snapshot_name="mine")) == [0, 1, 2]


def test_prefixes_of_files(tmp_path):
    numbers, folder, files = tf.data.Dataset.range(3), tmp_path / "about", tmp_path / "files"
    assert elements(snapshot_of(numbers, folder, writer_path_prefix=str(files))) == [0, 1, 2]
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        elements(snapshot_of(numbers, folder))
    assert elements(snapshot_of(numbers, folder, reader_path_prefix=str(files))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "ZIP"}, "compression must be either '' or 'GZIP'"),
        ({"pending_snapshot_expiry_seconds": 0}, "must be at least 1 second"),
        ({"shard_size_bytes": 0}, "shard_size_bytes must be greater than 0"),
        ({"mode": "other"}, "mode must be auto, read, write or passthrough"),
    ],
)
def test_options_of_snapshots_are_checked(tmp_path, options, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(snapshot_of(tf.data.Dataset.range(3), tmp_path, **options))


def test_a_damaged_snapshot_is_told(tmp_path):
    elements(snapshot_of(tf.data.Dataset.range(3), tmp_path))
    (path,) = tmp_path.glob("*/*/00000000.snapshot")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError, match="cut off or damaged"):
        elements(snapshot_of(tf.data.Dataset.range(3), tmp_path))
