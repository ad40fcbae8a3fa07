"""Top k: order among equals, every type, both ways of finding it."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf

RNG = np.random.default_rng(0)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("size", [7, 300])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_of_equal_elements_the_first_comes_first(dtype, size):
    rows = RNG.integers(0, 20, (3, size)).astype(dtype)
    values, indices = run(tf.nn.top_k(tf.constant(rows), 7))
    expected = np.argsort(-rows.astype(np.float64), -1, kind="stable")[:, :7]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(rows, expected, -1))
    assert values.dtype == dtype and indices.dtype == np.int32


def test_signs_and_zeros():
    rows = np.zeros((1, 100), np.float32)
    rows[0, 3], rows[0, 50], rows[0, 51] = -0.0, -2.5, np.inf
    values, indices = run(tf.nn.top_k(rows, 100))
    assert indices[0, :5].tolist() == [51, 0, 1, 2, 3]
    assert values[0, -1] == -2.5


def test_k_may_come_with_the_step():
    k = tf.placeholder(tf.int32, [])
    top = tf.nn.top_k(np.float32([3, 1, 2]), k)
    assert top.values.shape.as_list() == [None]
    assert run(top.values, {k: 2}).tolist() == [3, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least k columns"):
        run(top.values, {k: 4})


def test_in_top_k_counts_only_larger_ones():
    predictions = np.float32([[1, 1, 1], [3, 2, 1], [np.nan, 1, 2], [1, np.inf, 0], [1, 2, 3]])
    found = run(tf.nn.in_top_k(predictions, [2, 1, 1, 0, 7], 2))
    assert found.tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("reverse", [False, True])
def test_nth_element_shares_the_gradient_among_equals(reverse):
    x = tf.constant([[1.0, 2.0, 2.0, 3.0]])
    y = tf.raw_ops.NthElement(input=x, n=1, reverse=reverse)
    assert run([y, *tf.gradients(y, x)])[0].tolist() == [2.0]
    assert run(tf.gradients(y, x)[0]).tolist() == [[0.0, 0.5, 0.5, 0.0]]
