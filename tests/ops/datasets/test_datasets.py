"""Every op that makes a dataset in memory, and its experimental twin: the elements that it promises."""

import numpy as np
import pytest

import tideflow as tf
from tests.ops.datasets.elements import check, elements_of, graph_of
from tests.ops.renaming import op_types, with_op_types

raw = tf.raw_ops
experimental = tf.data.experimental
NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}


def numbers(*bounds):
    return tf.data.Dataset.range(*bounds)


def made_by(op, source, structure=None, **arguments):
    """The dataset that an op makes of another, where no function of tf.data makes it."""
    variant = op(input_dataset=experimental.to_variant(source), **arguments)
    return experimental.from_variant(variant, structure or experimental.get_structure(source))


def advised(op, **arguments):
    return made_by(op, numbers(3), **arguments, **NUMBERS)


CASES = {
    "TensorDataset": (lambda: tf.data.Dataset.from_tensors(([1, 2], "a")), [([1, 2], b"a")]),
    "TensorSliceDataset": (lambda: tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    "RangeDataset": (lambda: numbers(7, 1, -2), [7, 5, 3]),
    "TakeDataset": (lambda: numbers(5).take(2), [0, 1]),
    "SkipDataset": (lambda: numbers(5).skip(3), [3, 4]),
    "RepeatDataset": (lambda: numbers(2).repeat(3), [0, 1] * 3),
    "ShardDataset": (lambda: numbers(7).shard(3, 1), [1, 4]),
    "UniqueDataset": (
        lambda: tf.data.Dataset.from_tensor_slices([3, 1, 3, 2, 1]).apply(experimental.unique()),
        [3, 1, 2],
    ),
    "IgnoreErrorsDataset": (
        lambda: (
            tf.data.Dataset.from_tensor_slices([1, 0, 2])
            .map(lambda x: 10 // x)
            .apply(experimental.ignore_errors())
        ),
        [10, 5],
    ),
    "PrefetchDataset": (lambda: numbers(3).prefetch(2), [0, 1, 2]),
    "CacheDataset": (lambda: numbers(2).cache().repeat(2), [0, 1, 0, 1]),
    "NonSerializableDataset": (lambda: advised(raw.NonSerializableDataset), [0, 1, 2]),
    "MaxIntraOpParallelismDataset": (
        lambda: advised(raw.MaxIntraOpParallelismDataset, max_intra_op_parallelism=np.int64(1)),
        [0, 1, 2],
    ),
    "PrivateThreadPoolDataset": (
        lambda: advised(raw.PrivateThreadPoolDataset, num_threads=np.int64(2)),
        [0, 1, 2],
    ),
    "AssertNextDataset": (
        lambda: advised(raw.AssertNextDataset, transformations=np.array([b"Map"], object)),
        [0, 1, 2],
    ),
    "ModelDataset": (lambda: advised(raw.ModelDataset), [0, 1, 2]),
    "OptimizeDataset": (
        lambda: advised(raw.OptimizeDataset, optimizations=np.array([b"noop_elimination"], object)),
        [0, 1, 2],
    ),
    "ZipDataset": (lambda: tf.data.Dataset.zip((numbers(3), numbers(5, 7))), [(0, 5), (1, 6)]),
    "ConcatenateDataset": (lambda: numbers(2).concatenate(numbers(5, 7)), [0, 1, 5, 6]),
    "DirectedInterleaveDataset": (
        lambda: experimental.choose_from_datasets(
            [numbers(3), numbers(10, 13)],
            tf.data.Dataset.from_tensor_slices(np.int64([1, 0, 0, 1])),
        ),
        [10, 0, 1, 11],
    ),
    "BatchDataset": (
        lambda: made_by(
            raw.BatchDataset,
            numbers(5),
            tf.TensorSpec([None], tf.int64),
            batch_size=np.int64(2),
            output_types=[tf.int64],
            output_shapes=[[None]],
        ),
        [[0, 1], [2, 3], [4]],
    ),
    "BatchDatasetV2": (lambda: numbers(5).batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
    "UnbatchDataset": (
        lambda: tf.data.Dataset.from_tensors([4, 5]).apply(experimental.unbatch()),
        [4, 5],
    ),
    "PaddedBatchDatasetV2": (
        lambda: numbers(3).map(lambda n: tf.fill([n], n)).padded_batch(2, [None], np.int64(-1)),
        [[[-1], [1]], [[2, 2]]],
    ),
    "PaddedBatchDataset": (
        lambda: made_by(
            raw.PaddedBatchDataset,
            numbers(3).map(lambda n: tf.fill([n], n)),
            tf.TensorSpec([None, None], tf.int64),
            batch_size=np.int64(2),
            padded_shapes=[np.int64([-1])],
            padding_values=[np.int64(-1)],
            output_shapes=[[None, None]],
        ),
        [[[-1], [1]], [[2, 2]]],
    ),
    "WindowDataset": (
        lambda: numbers(5).window(2, shift=2, drop_remainder=True).flat_map(lambda window: window.batch(2)),
        [[0, 1], [2, 3]],
    ),
    "SlidingWindowDataset": (
        lambda: numbers(4).apply(tf.contrib.data.sliding_window_batch(2, window_shift=1)),
        [[0, 1], [1, 2], [2, 3]],
    ),
}


@pytest.mark.parametrize("op_type", CASES)
def test_the_elements_of_a_dataset(op_type):
    check(op_type, *CASES[op_type])


def test_sparse_rows():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
        graph = graph_of(tf.data.Dataset.from_sparse_tensor_slices(sparse))
    assert "SparseTensorSliceDataset" in op_types(graph)
    assert elements_of(graph) == [([[1]], [5], [2]), ([], [], [2]), ([[0]], [6], [2])]


@pytest.mark.parametrize("op_type", ["DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"])
def test_sparse_batches(op_type):
    with tf.Graph().as_default():
        rows = numbers(3).map(lambda n: tf.fill([n], n))
        batches = rows.apply(experimental.dense_to_sparse_batch(3, [2])).map(lambda batch: batch.values)
        graph = graph_of(batches)
    graph = with_op_types(graph, lambda name: op_type if name == "DenseToSparseBatchDataset" else name)
    assert op_type in op_types(graph)
    assert elements_of(graph) == [[1, 2, 2]]


# ------------------------------------------------------------------------------------------------- chance


def test_random_numbers_depend_on_the_seed():
    def drawn(seed):
        with tf.Graph().as_default():
            graph = graph_of(experimental.RandomDataset(seed).take(4))
        twin = with_op_types(
            graph, lambda name: "ExperimentalRandomDataset" if name == "RandomDataset" else name
        )
        found = elements_of(graph)
        assert elements_of(twin) == found
        return found

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(drawn(1))) == 4


@pytest.mark.parametrize("op_type", ["ShuffleDataset", "ShuffleAndRepeatDataset"])
def test_a_shuffled_dataset_has_all_elements(op_type):
    with tf.Graph().as_default():
        if op_type == "ShuffleDataset":
            dataset = numbers(20).shuffle(20, seed=1).repeat(2)
        else:
            dataset = numbers(20).apply(experimental.shuffle_and_repeat(20, 2, seed=1))
        graph = graph_of(dataset)
    assert op_type in op_types(graph)
    found = elements_of(graph)
    assert sorted(found) == sorted([*range(20)] * 2)
    assert found[:20] != list(range(20))


# --------------------------------------------------------------------------------- what a dataset is and has


@pytest.mark.parametrize("op_type", ["DatasetCardinality", "ExperimentalDatasetCardinality"])
def test_how_many_elements_there_are(op_type):
    with tf.Graph().as_default(), tf.Session() as session:

        def cardinality(dataset):
            return getattr(raw, op_type)(input_dataset=experimental.to_variant(dataset))

        made = [numbers(10).batch(3), numbers(3).repeat(), numbers(3).filter(lambda n: n > 0)]
        assert session.run([cardinality(dataset) for dataset in made]) == [4, -1, -2]


def test_the_one_element():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(experimental.get_single_element(numbers(5, 6))) == 5
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
            session.run(experimental.get_single_element(numbers(0)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than one"):
            session.run(experimental.get_single_element(numbers(2)))


def test_a_dataset_is_wrapped_and_unwrapped():
    with tf.Graph().as_default():
        source = numbers(3)
        wrapped = raw.WrapDatasetVariant(input_handle=experimental.to_variant(source))
        unwrapped = raw.UnwrapDatasetVariant(input_handle=wrapped)
        dataset = experimental.from_variant(unwrapped, experimental.get_structure(source))
        assert elements_of(graph_of(dataset)) == [0, 1, 2]
