"""Fills, ranges, one-hot rows, diagonals: when a constant is made, what types result, what is refused."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def nodes(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


# ---------------------------------------------------------------------------------- fills


def test_small_zeros_are_a_constant_large_ones_a_fill(graph):
    tf.zeros([9, 9])
    tf.zeros([100, 100], name="large")
    assert nodes(graph) == [
        ("zeros", "Const"),
        ("large/shape_as_tensor", "Const"),
        ("large/Const", "Const"),
        ("large", "Fill"),
    ]


def test_zeros_of_sizes_that_are_tensors():
    x = tf.placeholder(tf.float32, [None, 3])
    made = tf.zeros([tf.shape(x)[0], 2])
    assert made.shape.as_list() == [None, 2]
    assert run(made, {x: np.ones([4, 3])}).shape == (4, 2)


def test_zeros_and_ones_of_every_kind():
    values = run(
        [tf.zeros([2], tf.string), tf.zeros([2], tf.bool), tf.ones([2], tf.bool), tf.ones([1], tf.complex64)]
    )
    assert [value.tolist() for value in values] == [[b"", b""], [False] * 2, [True] * 2, [1 + 0j]]


def test_a_partly_known_shape_cannot_be_filled():
    with pytest.raises(ValueError, match=r"partially known TensorShape to a Tensor: \(\?, 1\)"):
        tf.zeros(tf.TensorShape([None, 1]))


def test_likes_keep_to_the_static_shape_where_there_is_one():
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.zeros_like(x).op.type == "ZerosLike"
    assert tf.zeros_like(x, dtype=tf.int32).op.type == "Fill"
    assert tf.zeros_like(tf.zeros([2])).op.type == "Const"
    assert tf.zeros_like(tf.zeros([2]), optimize=False).op.type == "ZerosLike"
    words = tf.placeholder(tf.string, [None])
    assert run(tf.zeros_like(words), {words: np.array(["a", "b"], dtype=object)}).tolist() == [b"", b""]


def test_a_filled_tensor_is_its_own_memory():
    late = tf.placeholder(tf.int32, [None])
    value = run(tf.fill(late, 1.5), {late: [2, 2]})
    value[0, 0] = 7
    assert value.tolist() == [[7, 1.5], [1.5, 1.5]]


def test_empty_integers_keep_their_shape():
    late = tf.placeholder(tf.int32, [])
    assert run(tf.fill([0, 2], late), {late: 3}).shape == (0, 2)


# ---------------------------------------------------------------------------------- sequences


def test_a_range_takes_the_widest_type():
    assert tf.range(3).dtype is tf.int32
    assert tf.range(1, 3.5).dtype is tf.float32
    assert tf.range(tf.constant(3, tf.int64)).dtype is tf.int64
    assert tf.range(3, dtype=tf.float64).dtype is tf.float64
    with pytest.raises(TypeError, match="not in int8"):
        tf.range(tf.constant(3, tf.int8))


def test_a_range_of_floats_adds_step_by_step():
    expected = np.add.accumulate(np.array([0] + [0.1] * 9, np.float32))
    assert run(tf.range(0.0, 1.0, 0.1)).tolist() == expected.tolist()


def test_a_range_known_only_in_the_step():
    limit = tf.placeholder(tf.int32, [])
    assert tf.range(limit).shape.as_list() == [None]
    assert run(tf.range(limit), {limit: 4}).tolist() == [0, 1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires start <= limit when delta > 0: 5/0"):
        run(tf.range(5, limit), {limit: 0})


# ---------------------------------------------------------------------------------- one-hot rows and grids


def test_one_hot_of_strings():
    rows = tf.placeholder(tf.int64, [None])
    assert run(tf.one_hot(rows, 2, "on", "off"), {rows: [1, 7]}).tolist() == [
        [b"off", b"on"],
        [b"off", b"off"],
    ]


def test_one_hot_values_must_agree():
    with pytest.raises(TypeError, match="of on_value does not match dtype parameter"):
        tf.one_hot([0], 3, on_value=1.0, dtype=tf.int32)
    with pytest.raises(TypeError, match=r"of on_value does not match dtype .* of off_value"):
        tf.one_hot([0], 3, on_value=1.0, off_value=0)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid(indexing):
    vectors = [1.0, 2.0, 3.0], [4.0, 5.0], [6.0, 7.0]
    for made, expected in zip(
        run(tf.meshgrid(*vectors, indexing=indexing)), np.meshgrid(*vectors, indexing=indexing), strict=True
    ):
        assert made.tolist() == expected.tolist()


def test_sequence_mask():
    lengths = tf.placeholder(tf.int64, [None])
    assert run(tf.sequence_mask(lengths, 3), {lengths: [1, 3]}).tolist() == [[True, False, False], [True] * 3]
    assert run(tf.sequence_mask(lengths, dtype=tf.int32), {lengths: [0, 2]}).tolist() == [[0, 0], [1, 1]]


def test_eye():
    size = tf.placeholder(tf.int32, [])
    assert run(tf.eye(size, 3), {size: 2}).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert run(tf.eye(2, batch_shape=[3])).shape == (3, 2, 2)


# ---------------------------------------------------------------------------------- diagonals


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
def test_one_diagonal(k):
    x = np.arange(1.0, 13.0).reshape(3, 4)
    diagonal = np.diagonal(x, k)
    late = tf.placeholder(tf.float64, [None, None])
    assert run(tf.matrix_diag_part(late, k=k), {late: x}).tolist() == diagonal.tolist()
    assert run(tf.matrix_diag(diagonal, k=k)).tolist() == np.diag(diagonal, k).tolist()
    rows, columns = np.nonzero(np.eye(3, 4, k))
    expected = x.copy()
    expected[rows, columns] = -1
    assert run(tf.matrix_set_diag(late, -np.ones(len(rows)), k=k), {late: x}).tolist() == expected.tolist()


def test_a_band_of_diagonals_is_packed_from_the_left():
    x = np.arange(1.0, 10.0).reshape(3, 3)
    packed = run(tf.matrix_diag_part(x, k=(-1, 1), padding_value=0.5))
    assert packed.tolist() == [[2, 6, 0.5], [1, 5, 9], [4, 8, 0.5]]
    tridiagonal = np.triu(np.tril(x, 1), -1)
    assert run(tf.matrix_diag(packed, k=(-1, 1))).tolist() == tridiagonal.tolist()


def test_a_diagonal_outside_the_matrix():
    with pytest.raises(ValueError, match=r"lower_diag_index is out of bound.*\[2,3\]"):
        tf.matrix_diag_part(tf.zeros([2, 3]), k=3)


def test_linspace_ends_exactly():
    stop = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        for count in (2, 7, 49, 107):
            assert session.run(tf.linspace(0.0, stop, count), {stop: 0.1})[-1] == np.float32(0.1)
