"""Sparse tensors beyond their samples: laws that tie them to dense ones, odd types, bad inputs, state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.ops.sparse import serialization


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@st.composite
def dense_arrays(draw, rank=None):
    """Integers with many zeros, as floats: sums and products of them are exact."""
    rank = draw(st.integers(1, 3)) if rank is None else rank
    shape = [draw(st.integers(1, 4)) for _ in range(rank)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(-3, 4, shape) * (rng.random(shape) < 0.5).astype(np.float64)


def sparse(array):
    indices = np.argwhere(array != 0)
    return tf.SparseTensor(indices.reshape(-1, array.ndim), array[array != 0], array.shape)


class TestAgainstDense:
    """What is done to the sparse tensor is what NumPy does to the dense one."""

    @settings(max_examples=25, deadline=None)
    @given(dense_arrays(), st.randoms(use_true_random=False))
    def test_shaping(self, array, random):
        perm = list(range(array.ndim))
        random.shuffle(perm)
        axis = random.randint(-array.ndim - 1, array.ndim)
        with tf.Graph().as_default():
            x = sparse(array)
            made = run(
                [
                    tf.sparse.to_dense(x),
                    tf.sparse.to_dense(tf.sparse.transpose(x, perm)),
                    tf.sparse.to_dense(tf.sparse.reshape(x, [-1])),
                    tf.sparse.to_dense(tf.sparse.expand_dims(x, axis)),
                    tf.sparse.to_dense(tf.sparse.from_dense(array)),
                    tf.sparse.to_dense(tf.sparse.concat(-1, [x, x])),
                ]
            )
        wanted = [
            array,
            array.transpose(perm),
            array.reshape(-1),
            np.expand_dims(array, axis),
            array,
            np.concatenate([array, array], -1),
        ]
        for found, expected in zip(made, wanted, strict=True):
            np.testing.assert_array_equal(found, expected)

    @settings(max_examples=25, deadline=None)
    @given(dense_arrays(), st.randoms(use_true_random=False))
    def test_taking_apart(self, array, random):
        axis = random.randrange(array.ndim)
        count = random.randint(1, array.shape[axis])
        start = [random.randrange(size) for size in array.shape]
        size = [random.randint(0, whole) for whole in array.shape]
        with tf.Graph().as_default():
            x = sparse(array)
            parts = tf.sparse.split(sp_input=x, num_split=count, axis=axis)
            block = tf.sparse.to_dense(tf.sparse.slice(x, start, size))
            made = run([[tf.sparse.to_dense(part) for part in parts], block])
        for found, expected in zip(made[0], np.array_split(array, count, axis), strict=True):
            np.testing.assert_array_equal(found, expected)
        window = tuple(slice(at, at + length) for at, length in zip(start, size, strict=True))
        np.testing.assert_array_equal(made[1], array[window])

    @settings(max_examples=25, deadline=None)
    @given(dense_arrays(rank=2), st.integers(0, 2**32 - 1))
    def test_arithmetic(self, array, seed):
        rng = np.random.default_rng(seed)
        other = np.where(rng.random(array.shape) < 0.5, rng.integers(-3, 4, array.shape), 0).astype(float)
        dense = rng.integers(1, 5, array.shape).astype(float)
        with tf.Graph().as_default():
            x, y = sparse(array), sparse(other)
            made = run(
                [
                    tf.sparse.to_dense(tf.sparse.add(x, y)),
                    tf.sparse.add(x, dense),
                    tf.sparse.to_dense(x * dense),
                    tf.sparse.to_dense(x / dense),
                    tf.sparse.matmul(x, dense.T),
                    tf.sparse.matmul(x, dense, adjoint_a=True),
                    tf.sparse.to_dense(tf.sparse.maximum(x, y)),
                    tf.sparse.to_dense(tf.sparse.minimum(x, y)),
                    tf.sparse.reduce_sum(x, 0),
                    tf.sparse.reduce_sum(x, [-1], keepdims=True),
                ]
            )
        wanted = [
            array + other,
            array + dense,
            array * dense,
            array / dense,
            array @ dense.T,
            array.T @ dense,
            np.maximum(array, other),
            np.minimum(array, other),
            array.sum(0),
            array.sum(1, keepdims=True),
        ]
        for found, expected in zip(made, wanted, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)

    @settings(max_examples=25, deadline=None)
    @given(dense_arrays(rank=2), st.randoms(use_true_random=False))
    def test_any_order_can_be_put_in_order(self, array, random):
        x_indices, x_values = np.argwhere(array != 0), array[array != 0]
        mixed = list(range(len(x_values)))
        random.shuffle(mixed)
        with tf.Graph().as_default():
            x = tf.SparseTensor(x_indices.reshape(-1, 2)[mixed], x_values[mixed], array.shape)
            indices, values = run([tf.sparse.reorder(x).indices, tf.sparse.reorder(x).values])
        np.testing.assert_array_equal(indices, x_indices.reshape(-1, 2))
        np.testing.assert_array_equal(values, x_values)

    @settings(max_examples=25, deadline=None)
    @given(dense_arrays(rank=2))
    def test_filled_rows_are_those_without_elements(self, array):
        with tf.Graph().as_default():
            filled, empty = tf.sparse.fill_empty_rows(sparse(array), 9.0)
            found, flags = run([tf.sparse.to_dense(filled), empty])
        expected = array.copy()
        expected[~array.any(1), 0] = 9.0
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(flags, ~array.any(1))


class TestUnsignedTypes:
    """ATen hardly computes with them; sparse kernels take them all the same."""

    @pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
    def test_values_beyond_the_signed_range(self, dtype):
        top = np.iinfo(dtype).max
        indices = np.array([[0, 1], [0, 2], [1, 0]])
        x = tf.SparseTensor(indices, np.array([top, 1, 5], dtype), [2, 3])
        y = tf.SparseTensor(indices, np.array([1, top, 5], dtype), [2, 3])
        total, largest, dense, filled, row_max = run(
            [
                tf.sparse.add(x, y).values,
                tf.sparse.maximum(x, y).values,
                tf.sparse.to_dense(x),
                tf.sparse.fill_empty_rows(tf.sparse.reset_shape(x, [3, 3]), np.array(top, dtype))[0].values,
                tf.sparse.reduce_max(x, 1),
            ]
        )
        np.testing.assert_array_equal(total, [0, 0, 10])  # they wrap
        np.testing.assert_array_equal(largest, [top, top, 5])
        np.testing.assert_array_equal(dense, np.array([[0, top, 1], [5, 0, 0]], dtype))
        np.testing.assert_array_equal(filled, np.array([top, 1, 5, top], dtype))
        np.testing.assert_array_equal(row_max, np.array([top, 5], dtype))


class TestGradients:
    def test_a_number_times_a_sparse_tensor(self):
        x = tf.constant([1.0, 2.0, 3.0])
        scale = tf.constant(2.0)
        y = tf.SparseTensor([[0, 1], [0, 2], [1, 0]], x, [2, 3]) * scale
        assert run(tf.gradients(y.values, [x, scale]))[1] == 6.0

    def test_softmax_twice(self):
        x = tf.placeholder(tf.float64, [4])
        y = tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 2], [1, 0], [1, 1]], x, [2, 3])).values
        slope = tf.gradients(y[0] * y[0] + y[2], x)[0]
        curve = tf.gradients(slope[0], x)[0]
        at, step = np.array([0.3, -0.2, 0.5, 1.0]), 1e-6
        with tf.Session() as session:
            found = session.run(curve, {x: at})
            for i in range(4):
                nudge = step * np.eye(4)[i]
                above, below = (session.run(slope, {x: at + sign * nudge})[0] for sign in (1, -1))
                np.testing.assert_allclose(found[i], (above - below) / (2 * step), atol=1e-8)

    def test_none_for_extremes(self):
        x = tf.SparseTensor([[0, 0]], tf.constant([1.0]), [1, 1])
        with pytest.raises(LookupError, match="No gradient defined"):
            tf.gradients(tf.sparse.maximum(x, x).values, x.values)


class TestComplexProducts:
    def test_the_adjoint_is_conjugated(self):
        x = tf.SparseTensor([[0, 1]], np.array([2 + 3j]), [2, 3])
        product = run(tf.sparse.matmul(x, np.full([2, 1], 1 + 1j), adjoint_a=True))
        np.testing.assert_allclose(product[:, 0], [0, (2 - 3j) * (1 + 1j), 0])


class TestTensorsMap:
    def test_what_is_taken_is_gone(self):
        x = tf.SparseTensor([[0, 1], [1, 0]], tf.constant(["a", "b"]), [2, 2])
        handles = serialization.add_many_sparse_to_tensors_map(x)
        feed = tf.placeholder(tf.int64, [None])
        taken = serialization.take_many_sparse_from_tensors_map(handles.op, feed, rank=2)
        assert taken.indices.shape.as_list() == [None, 2]
        with tf.Session() as session:
            kept = session.run(handles)
            found = session.run(taken, {feed: kept[::-1]})
            np.testing.assert_array_equal(found.values, [b"b", b"a"])
            np.testing.assert_array_equal(found.indices, [[0, 0], [1, 1]])
            with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor"):
                session.run(taken, {feed: kept})

    def test_each_session_has_its_own(self):
        handle = serialization.add_sparse_to_tensors_map(tf.SparseTensor([[0]], [1.0], [1]))
        taken = serialization.take_many_sparse_from_tensors_map(handle.op, [0])
        run(handle)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find"):
            run(taken.values)

    def test_only_of_the_ops_that_keep(self):
        with pytest.raises(TypeError, match="sparse_map_op must be one of"):
            serialization.take_many_sparse_from_tensors_map(tf.constant(1).op, [0])


class TestSerialization:
    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.binary(max_size=300), min_size=1, max_size=8))
    def test_strings_come_back(self, texts):
        with tf.Graph().as_default():
            indices = [[0, i] for i in range(len(texts))]
            values = tf.constant(np.array([*texts, None], dtype=object)[:-1])
            x = tf.SparseTensor(indices, values, [1, len(texts)])
            back = run(tf.deserialize_many_sparse(tf.serialize_many_sparse(x), tf.string))
        assert back.values.tolist() == texts

    def test_what_is_kept_is_not_what_the_program_changes_later(self):
        values = np.array([1.0, 2.0])
        feed = tf.placeholder(tf.float64, [2])
        handle = serialization.add_sparse_to_tensors_map(tf.SparseTensor([[0], [1]], feed, [2]))
        taken = serialization.take_many_sparse_from_tensors_map(handle.op, [0])
        with tf.Session() as session:
            session.run(handle, {feed: values})
            values[:] = 9.0
            assert session.run(taken.values).tolist() == [1.0, 2.0]


class TestEditDistance:
    @settings(max_examples=30, deadline=None)
    @given(
        st.lists(st.tuples(st.text("abc", max_size=6), st.text("abc", max_size=6)), min_size=1, max_size=5)
    )
    def test_levenshtein(self, pairs):
        with tf.Graph().as_default():
            sides = [self.sequences([pair[side] for pair in pairs]) for side in (0, 1)]
            found = run(tf.edit_distance(*sides, normalize=False))
        assert found.tolist() == [self.distance(a, b) for a, b in pairs]

    @staticmethod
    def sequences(words):
        indices = [[i, j] for i, word in enumerate(words) for j in range(len(word))]
        values = [letter for word in words for letter in word]
        return tf.SparseTensor(
            np.array(indices, np.int64).reshape(-1, 2), tf.constant(values, tf.string), [len(words), 6]
        )

    def distance(self, a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(
            self.distance(a[1:], b) + 1,
            self.distance(a, b[1:]) + 1,
            self.distance(a[1:], b[1:]) + (a[0] != b[0]),
        )


class TestErrorsSayWhere:
    def test_the_index_and_the_shape(self):
        x = tf.SparseTensor([[0, 1], [0, 7]], [1.0, 4.0], [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0,7\] is out of bounds"):
            run(tf.sparse.to_dense(x))

    def test_what_puts_it_in_order(self):
        x = tf.SparseTensor([[1, 1], [0, 1]], [1.0, 4.0], [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="reorder"):
            run(tf.sparse.to_dense(x))

    def test_integers_by_zero(self):
        x = tf.SparseTensor([[0, 1]], tf.constant([1]), [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="by zero"):
            run(
                tf.raw_ops.SparseDenseCwiseDiv(
                    sp_indices=x.indices, sp_values=x.values, sp_shape=x.dense_shape, dense=0
                )
            )
