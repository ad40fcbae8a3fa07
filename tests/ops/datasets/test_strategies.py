"""Datasets of strategies and of rewritten pipelines: their elements, and what they refuse."""

import numpy as np
import pytest
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

import tideflow as tf
from tests.ops.datasets.elements import elements_of, graph_of
from tideflow.functions.defun import Defun

raw = tf.raw_ops
experimental = tf.data.experimental


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def made(op, source, batches=False, spec=None, **arguments):
    shape = [None] if batches else []
    variant = op(
        input_dataset=experimental.to_variant(source),
        output_types=[tf.int64],
        output_shapes=[shape],
        **arguments,
    )
    return elements_of(graph_of(experimental.from_variant(variant, spec or tf.TensorSpec(shape, tf.int64))))


@pytest.mark.parametrize("op", [raw.AutoShardDataset, raw.ExperimentalAutoShardDataset])
@pytest.mark.parametrize(("index", "expected"), [(0, [0, 2, 4]), (1, [1, 3])])
def test_workers_have_different_elements(op, index, expected):
    given = {"num_workers": np.int64(2), "index": np.int64(index)}
    assert made(op, tf.data.Dataset.range(5), **given) == expected


def _files(folder, count):
    names = [str(folder / f"{i}.txt") for i in range(count)]
    for i, name in enumerate(names):
        with open(name, "w") as file:
            file.write(f"{i}0\n{i}1\n")
    return names


def _of_worker(make, index, workers=2):
    """The part of a worker of the numbers that the lines of a dataset are."""
    with tf.Graph().as_default():
        numbers = make().map(lambda line: tf.strings.to_number(line, tf.int64))
        return made(raw.AutoShardDataset, numbers, num_workers=np.int64(workers), index=np.int64(index))


@pytest.mark.parametrize("index", [0, 1])
def test_workers_read_different_files(index, tmp_path):
    names, lines = _files(tmp_path, 4), tf.data.TextLineDataset
    expected = [10 * i + line for i in (index, index + 2) for line in (0, 1)]
    assert _of_worker(lambda: lines(names), index) == expected
    assert _of_worker(lambda: lines(names[:2]).concatenate(lines(names[2:])), index) == expected

    def shuffled():
        listed = tf.data.Dataset.from_tensor_slices(names).shuffle(4)
        return listed.flat_map(lambda name: lines(name).prefetch(1)).cache().repeat(2)

    assert sorted(_of_worker(shuffled, index)) == sorted(expected * 2)


def test_what_depends_on_the_order_of_all_elements_is_not_shared_by_files(tmp_path):
    names = _files(tmp_path, 2)
    unique = lambda: tf.data.TextLineDataset(names).apply(experimental.unique())
    assert _of_worker(unique, 0) == [0, 10] and _of_worker(unique, 1) == [1, 11]


def test_each_worker_must_have_an_element():
    numbers = lambda: tf.data.Dataset.range(3).map(tf.strings.as_string)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(# elems = 3, # shards = 5\)"):
        _of_worker(numbers, 0, workers=5)
    assert _of_worker(numbers, 4, workers=5) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="index must be between 0 and 1"):
        _of_worker(numbers, 2)


@pytest.mark.parametrize("op", [raw.RebatchDataset, raw.ExperimentalRebatchDataset])
def test_each_batch_has_a_part_for_each_replica(op):
    batches = tf.data.Dataset.range(5).batch(4)
    assert made(op, batches, True, num_replicas=np.int64(2)) == [[0, 1], [2, 3], [4], []]


@pytest.mark.parametrize("op", [raw.ChooseFastestDataset, raw.ExperimentalChooseFastestDataset])
def test_one_of_several(op):
    given = [experimental.to_variant(tf.data.Dataset.range(3)) for _ in range(2)]
    variant = op(input_datasets=given, num_experiments=1, output_types=[tf.int64], output_shapes=[[]])
    dataset = experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    assert elements_of(graph_of(dataset)) == [0, 1, 2]


def branched(functions, **options):
    made = [Defun(tf.variant)(make) for make in functions]
    for each in made:
        each.add_to_graph(tf.get_default_graph())
    return {
        "branches": [NameAttrList(name=each.name) for each in made],
        "other_arguments": [],
        "other_arguments_lengths": [0] * len(made),
        "num_elements_per_branch": 10,
        "ratio_numerator": np.int64(1),
        "ratio_denominator": np.int64(1),
        **options,
    }


def twice(variant):
    return experimental.to_variant(
        experimental.from_variant(variant, tf.TensorSpec([], tf.int64)).map(lambda n: 2 * n)
    )


def repeated(variant):
    return experimental.to_variant(experimental.from_variant(variant, tf.TensorSpec([], tf.int64)).repeat(2))


def test_one_of_several_branches():
    given = branched([twice, twice])
    assert made(raw.ChooseFastestBranchDataset, tf.data.Dataset.range(3), **given) == [0, 2, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "more than one WrapperIterator"),
        ({"ratio_denominator": np.int64(3)}, "`num_elements_per_branch` must be divisible by"),
    ],
)
def test_branches_go_over_their_input_once(options, message):
    given = branched([repeated], **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        made(raw.ChooseFastestBranchDataset, tf.data.Dataset.range(3), **given)


def test_samples():
    found = made(
        raw.SamplingDataset,
        tf.data.Dataset.range(50),
        rate=np.float32(0.5),
        seed=np.int64(3),
        seed2=np.int64(4),
    )
    assert 10 < len(found) < 40
    assert found == sorted(found)


def test_elements_that_a_flag_lets_pass():
    rows = tf.data.Dataset.range(4).map(lambda n: (n, n % 2 > 0))
    variant = raw.FilterByLastComponentDataset(
        input_dataset=experimental.to_variant(rows), output_types=[tf.int64], output_shapes=[[]]
    )
    dataset = experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    assert elements_of(graph_of(dataset)) == [1, 3]


@pytest.mark.parametrize("op", [raw.SleepDataset, raw.ExperimentalSleepDataset])
def test_pauses(op):
    assert made(op, tf.data.Dataset.range(2), sleep_microseconds=np.int64(1)) == [0, 1]


@pytest.mark.parametrize("kind", ["", "Experimental"])
def test_threads_of_a_pool(kind):
    pool = getattr(raw, f"{kind}ThreadPoolHandle")(num_threads=2, display_name="pool")
    variant = getattr(raw, f"{kind}ThreadPoolDataset")(
        input_dataset=experimental.to_variant(tf.data.Dataset.range(2)),
        thread_pool=pool,
        output_types=[tf.int64],
        output_shapes=[[]],
    )
    iterator = tf.data.make_initializable_iterator(
        experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    )
    value = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(value) for _ in range(2)] == [0, 1]


def test_a_function_of_rows():
    @Defun(tf.int32)
    def doubled(row):
        return row * 2 + 1

    doubled.add_to_graph(tf.get_default_graph())
    found = raw.MapDefun(
        arguments=[tf.constant([[1, 2], [3, 4]])],
        captured_inputs=[],
        f=NameAttrList(name=doubled.name),
        output_types=[tf.int32],
        output_shapes=[[2]],
    )
    with tf.Session() as session:
        assert session.run(found)[0].tolist() == [[3, 5], [7, 9]]
