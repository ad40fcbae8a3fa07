"""Ragged tensors as elements of datasets, where TensorFlow 1.15 itself fails."""

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def all_of(dataset):
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                value = session.run(element)
                found.append(value.to_list() if hasattr(value, "to_list") else value.tolist())
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize("splits", [tf.int32, tf.int64])
def test_rows_without_ragged_dimensions_are_tensors(splits):
    rows = [[1, 2], [], [3]]
    slices = tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows, row_splits_dtype=splits))
    assert all_of(slices) == rows
    assert all_of(slices.map(lambda row: row * 10)) == [[10, 20], [], [30]]
    assert all_of(slices.batch(2)) == [rows[:2], rows[2:]]
    assert all_of(slices.batch(2).apply(tf.data.experimental.unbatch())) == rows


def test_a_map_makes_ragged_elements():
    words = tf.data.Dataset.from_tensor_slices([["a b", "c"], ["d e f", ""]])
    ragged = words.map(lambda line: tf.RaggedTensor.from_sparse(tf.strings.split(line)))
    assert all_of(ragged) == [[[b"a", b"b"], [b"c"]], [[b"d", b"e", b"f"], []]]
    assert all_of(ragged.batch(2)) == [[[[b"a", b"b"], [b"c"]], [[b"d", b"e", b"f"], []]]]


def test_a_variant_that_is_no_ragged_tensor_is_refused():
    other = tf.raw_ops.TensorListFromTensor(tensor=tf.zeros([2]), element_shape=tf.constant([], tf.int32))
    made = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=other, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.float32
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="no ragged tensor"):
        session.run(made[1])
