"""sort and argsort over any axis, searchsorted over rows of any rank."""

import numpy as np
import pytest

import tideflow as tf

X = np.random.RandomState(3).permutation(24).reshape(2, 3, 4).astype(np.float32)


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("known", [True, False])
def test_every_axis_both_ways(axis, known):
    with tf.Graph().as_default():
        x = tf.constant(X) if known else tf.placeholder_with_default(X, None)
        up, down = tf.sort(x, axis), tf.sort(x, axis, "DESCENDING")
        places = tf.argsort(x, axis), tf.argsort(x, axis, "DESCENDING")
        (up, down), places = run([[up, down], places])
    np.testing.assert_array_equal(up, np.sort(X, axis))
    np.testing.assert_array_equal(down, np.flip(np.sort(X, axis), axis))
    np.testing.assert_array_equal(places[0], np.argsort(X, axis))
    np.testing.assert_array_equal(places[1], np.argsort(-X, axis))


def test_equal_elements_keep_their_order():
    with tf.Graph().as_default():
        x = [2, 1, 2, 1]
        assert [run(tf.argsort(x)).tolist(), run(tf.argsort(x, direction="DESCENDING")).tolist()] == [
            [1, 3, 0, 2],
            [0, 2, 1, 3],
        ]


def test_places_in_rows():
    with tf.Graph().as_default():
        rows, values = [[1.0, 3.0, 5.0], [2.0, 2.0, 4.0]], [[0.0, 3.0], [2.0, 9.0]]
        left, right = tf.searchsorted(rows, values), tf.searchsorted(rows, values, "right", tf.int64)
        assert [left.dtype, right.dtype] == [tf.int32, tf.int64]
        assert [part.tolist() for part in run([left, right])] == [[[0, 1], [0, 3]], [[0, 2], [2, 3]]]


def test_bad_arguments():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="UP should be one of ASCENDING, DESCENDING"):
            tf.sort(X, direction="UP")
        with pytest.raises(ValueError, match="axis must be a constant scalar"):
            tf.sort(X, tf.placeholder(tf.int32, []))
        with pytest.raises(ValueError, match="side must be either 'right' or 'left'"):
            tf.searchsorted([1.0], [1.0], side="middle")
