"""Segments beyond their samples: types, strings, rows in every order, second derivatives."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture
def run():
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session.run


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_unsigned_types(run, dtype):
    top = np.iinfo(dtype).max
    data, ids = tf.constant(np.array([top, 3, 5], dtype)), [0, 0, 2]
    found = run(
        [
            tf.segment_sum(data, ids),
            tf.segment_prod(data, ids),
            tf.segment_max(data, ids),
            tf.segment_min(data, ids),
        ]
    )
    assert [value.tolist() for value in found] == [[2, 0, 5], [top - 2, 1, 5], [top, 0, 5], [3, 0, 5]]
    found = run([tf.unsorted_segment_max(data, ids, 3), tf.unsorted_segment_min(data, ids, 3)])
    assert [value.tolist() for value in found] == [[top, 0, 5], [3, top, 5]]


def test_products_of_complex_numbers(run):
    data = np.array([1 + 1j, 2j, 3], np.complex64)
    assert run(tf.segment_prod(tf.constant(data), [0, 0, 2])).tolist() == [-2 + 2j, 1, 3]


def test_means_and_square_roots(run):
    data, ids = np.array([[1.0, 2], [3, 4], [5, 6]], np.float32), [2, 0, 2]
    assert run(tf.unsorted_segment_mean(data, ids, 3)).tolist() == [[3, 4], [0, 0], [3, 4]]
    found = run(tf.math.unsorted_segment_sqrt_n(data, ids, 3))
    np.testing.assert_allclose(found, [[3, 4], [0, 0], np.array([6, 8]) / np.sqrt(2)], rtol=1e-6)
    x, places, count = tf.placeholder(tf.float32), tf.placeholder(tf.int32), tf.placeholder(tf.int32, [])
    late = tf.unsorted_segment_mean(x, places, count)
    assert run(late, {x: data, places: ids, count: 3}).tolist() == [[3, 4], [0, 0], [3, 4]]


def test_a_wrong_id_is_named_by_its_place(run):
    ids = tf.placeholder(tf.int32)
    total = tf.unsorted_segment_sum(tf.ones([2, 2]), ids, 3)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"segment_ids\[1,0\] = 7 is out of range \[0, 3\)"
    ):
        run(total, {ids: [[0, 1], [7, 2]]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Segment id -1 out of range"):
        run(tf.segment_sum(tf.ones([2]), [-1, 0]))


def test_second_derivative_of_a_sparse_mean(run):
    x = tf.placeholder(tf.float64, [3, 2])
    y = tf.sparse_segment_mean(x * x, [0, 1, 1], [0, 0, 1])
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    values = np.arange(6.0).reshape(3, 2)
    weights = np.array([[0.5], [1.5], [0.0]])
    np.testing.assert_allclose(run(first, {x: values}), 2 * values * weights)
    np.testing.assert_allclose(run(second, {x: values}), np.broadcast_to(2 * weights, (3, 2)))


def test_rows_dealt_out_and_put_together_again(run):
    words = np.array([[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]], object)
    numbers = tf.constant([1, 0, 1])
    parts = tf.dynamic_partition(tf.constant(words), numbers, 2)
    assert [part.tolist() for part in run(parts)] == [[[b"c", b"d"]], [[b"a", b"b"], [b"e", b"f"]]]
    places = tf.dynamic_partition(tf.range(3), numbers, 2)
    assert run(tf.dynamic_stitch(places, parts)).tolist() == words.tolist()


def test_the_last_of_rows_in_one_place_wins(run):
    assert run(tf.dynamic_stitch([[0, 1], [1]], [[1.0, 2.0], [3.0]])).tolist() == [1.0, 3.0]


def test_sizes_are_known_through_a_stitch():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        sizes = tf.dynamic_stitch([[0, 1], [1]], [tf.shape(x), [1]])
        assert tf.reshape(tf.reduce_sum(x, 1), sizes).shape.as_list() == [None, 1]


def test_setdiff(run):
    out, places = run(tf.setdiff1d(["a", "b", "c"], ["b"], index_dtype=tf.int64))
    assert out.tolist() == [b"a", b"c"] and places.tolist() == [0, 2] and places.dtype == np.int64
