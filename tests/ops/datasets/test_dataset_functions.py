"""Every op that makes a dataset by functions, and its experimental twin: the elements that it promises."""

import pytest

import tideflow as tf
from tests.ops.datasets.elements import check, elements_of, graph_of
from tests.ops.renaming import op_types, with_op_types

experimental = tf.data.experimental


def numbers(*bounds):
    return tf.data.Dataset.range(*bounds)


def mapped(dataset, **options):
    """By a function that captures a tensor from outside."""
    hundred = tf.constant(100, tf.int64)
    return dataset.map(lambda n: n + hundred, **options)


def counted(n):
    """Of each number as many."""
    return tf.data.Dataset.from_tensors(n).repeat(n)


CASES = {
    "MapDataset": (lambda: mapped(numbers(3)), [100, 101, 102]),
    "ParallelMapDataset": (lambda: mapped(numbers(3), num_parallel_calls=2), [100, 101, 102]),
    "MapAndBatchDataset": (
        lambda: numbers(5).apply(experimental.map_and_batch(lambda n: n * n, 2)),
        [[0, 1], [4, 9], [16]],
    ),
    "FilterDataset": (lambda: numbers(6).filter(lambda n: n % 2 > 0), [1, 3, 5]),
    "TakeWhileDataset": (lambda: numbers(9).apply(experimental.take_while(lambda n: n < 2)), [0, 1]),
    "FlatMapDataset": (lambda: numbers(4).flat_map(counted), [1, 2, 2, 3, 3, 3]),
    "InterleaveDataset": (
        lambda: numbers(1, 4).interleave(counted, cycle_length=2, block_length=1),
        [1, 2, 2, 3, 3, 3],
    ),
    "ParallelInterleaveDatasetV2": (
        lambda: numbers(1, 4).interleave(counted, cycle_length=2, block_length=1, num_parallel_calls=2),
        [1, 2, 2, 3, 3, 3],
    ),
    "ParallelInterleaveDataset": (
        lambda: numbers(1, 4).apply(experimental.parallel_interleave(counted, cycle_length=2)),
        [1, 2, 2, 3, 3, 3],
    ),
    "ScanDataset": (
        lambda: numbers(1, 5).apply(experimental.scan(tf.constant(0, tf.int64), lambda s, n: (s + n, s + n))),
        [1, 3, 6, 10],
    ),
    "GroupByWindowDataset": (
        lambda: numbers(6).apply(
            experimental.group_by_window(lambda n: n % 2, lambda key, window: window.batch(2), window_size=2)
        ),
        [[0, 2], [1, 3], [4], [5]],
    ),
    "GeneratorDataset": (
        lambda: tf.data.Dataset.from_generator(lambda: iter([3, 1, 2]), tf.int64, []),
        [3, 1, 2],
    ),
}


@pytest.mark.parametrize("op_type", CASES)
def test_the_elements_of_a_dataset(op_type):
    make, expected = CASES[op_type]
    check(op_type, make, expected)


@pytest.mark.parametrize("op_type", ["GroupByReducerDataset", "ExperimentalGroupByReducerDataset"])
def test_one_element_for_each_key(op_type):
    reducer = experimental.Reducer(
        lambda key: tf.constant(0, tf.int64), lambda state, n: state + n, lambda state: -state
    )
    with tf.Graph().as_default():
        graph = graph_of(numbers(6).apply(experimental.group_by_reducer(lambda n: n % 2, reducer)))
    graph = with_op_types(
        graph, lambda name: op_type if name == "ExperimentalGroupByReducerDataset" else name
    )
    assert op_type in op_types(graph)
    assert elements_of(graph) == [-(0 + 2 + 4), -(1 + 3 + 5)]


def test_a_dataset_reduced_to_a_value():
    with tf.Graph().as_default(), tf.Session() as session:
        total = numbers(5).reduce(tf.constant(0, tf.int64), lambda state, n: state + n)
        assert total.op.type == "ReduceDataset"
        assert session.run(total) == 10
