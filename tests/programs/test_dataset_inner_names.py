"""What programs take from TensorFlow's inner modules of datasets."""

import pytest

import tideflow as tf
from tideflow.programs.finder import Facade
from tideflow.programs.inner.data import optimization_names as optimization
from tideflow.programs.inner.data import replica_names as replicas
from tideflow.programs.inner.data import transformation_names as transformations


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def elements(dataset):
    following, found = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as session, pytest.raises(tf.errors.OutOfRangeError):
        while True:
            found.append(session.run(following).tolist())
    return found


@pytest.mark.parametrize(
    "transformation",
    [
        optimization.assert_next(["Map"]),
        optimization.model(),
        optimization.non_serializable(),
        optimization.optimize(["noop_elimination"]),
        optimization.optimize(),
    ],
)
def test_advice_changes_no_element(transformation):
    assert elements(tf.data.Dataset.range(3).apply(transformation)) == [0, 1, 2]


def test_assertions_name_something():
    with pytest.raises(ValueError, match="At least one transformation"):
        optimization.assert_next(None)


def test_one_of_several_datasets_or_branches():
    numbers, more = tf.data.Dataset.range(4), tf.constant(1, tf.int64)
    assert elements(optimization._ChooseFastestDataset([numbers, numbers])) == [0, 1, 2, 3]
    branches = [
        lambda given: given.map(lambda n: n + more).batch(2),
        lambda given: given.batch(2).map(lambda n: n + more),
    ]
    made = optimization._ChooseFastestBranchDataset(numbers, branches, ratio_numerator=2)
    assert elements(made) == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="ratio must be positive"):
        optimization._ChooseFastestBranchDataset(numbers, branches, ratio_numerator=0)


def test_records_by_one_operation_and_in_batches(tmp_path):
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            for text in (b"1", b"2"):
                writer.write(text)
    readers = Facade("tensorflow.python.data.ops.readers")
    assert elements(readers._TFRecordDataset(paths).batch(4)) == [[b"1", b"2", b"1", b"2"]]
    (tmp_path / "text").write_text("a\nb\n")
    assert elements(readers._TextLineDataset(str(tmp_path / "text")).batch(2)) == [[b"a", b"b"]]
    assert readers.TFRecordDatasetV2 is readers.TFRecordDataset
    make = Facade("tensorflow.python.data.experimental.ops.readers").make_tf_record_dataset
    batches = make(paths, 4, lambda text: tf.strings.to_number(text), num_epochs=1, shuffle=False)
    assert elements(batches) == [[1.0, 1.0, 2.0, 2.0]]
    assert make(paths, 3).output_shapes.as_list() == [3]


def test_datasets_of_workers_and_replicas():
    assert elements(replicas._AutoShardDataset(tf.data.Dataset.range(5), 2, 1)) == [1, 3]
    parts = replicas._RebatchDataset(tf.data.Dataset.range(8).batch(4, drop_remainder=True), 2)
    assert parts.output_shapes.as_list() == [2]
    assert elements(parts) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    with pytest.raises(ValueError, match="Perhaps your input dataset is not batched"):
        replicas._RebatchDataset(tf.data.Dataset.range(8), 2)


def test_a_dataset_on_several_devices():
    copies = replicas.replicate(tf.data.Dataset.range(3), ["/cpu:0", "/cpu:1"])
    assert sorted(copies) == ["/cpu:0", "/cpu:1"]
    assert copies["/cpu:1"]._variant_tensor.device == "/device:CPU:1"
    for copy in copies.values():
        iterator = tf.data.make_initializable_iterator(copy)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(iterator.initializer)
            assert session.run(iterator.get_next()) == 0
    with pytest.raises(TypeError, match="must be a `tf"):
        replicas.replicate([1], ["/cpu:0"])


def test_snapshots(tmp_path):
    path = str(tmp_path)
    for compression in (transformations.COMPRESSION_NONE, transformations.COMPRESSION_GZIP):
        for _ in range(2):
            dataset = tf.data.Dataset.range(3).apply(transformations.snapshot(path, compression))
            assert elements(dataset) == [0, 1, 2]
        path += "/zipped"
    assert len(list(tmp_path.glob("*/snapshot.metadata"))) == 1


def test_a_variant_is_a_dataset_again():
    dataset = tf.data.Dataset.range(3)
    assert elements(transformations._VariantDataset(dataset._variant_tensor, dataset.element_spec)) == [
        0,
        1,
        2,
    ]


def test_functions_of_rows():
    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
    def doubled(row):
        return row * 2, row[0]

    rows = tf.constant([[1, 2], [3, 4]])
    twice, first = transformations.map_defun(doubled, [rows], [tf.int32, tf.int32], [(2,), ()])
    with tf.Session() as session:
        assert session.run(twice).tolist() == [[2, 4], [6, 8]]
        assert session.run(first).tolist() == [1, 3]
    with pytest.raises(ValueError, match="`elems` must be a list of tensors"):
        transformations.map_defun(doubled, rows, [tf.int32], [()])
