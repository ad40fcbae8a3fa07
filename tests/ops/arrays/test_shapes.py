"""Shapes as values: what is known of sizes before a step, and what a step says of sizes that do not fit."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.partial import partial_value
from tideflow.ops.arrays import broadcasting, shapes


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [None, 3, 4], "x")


SIZES = {
    "shape": (lambda x: tf.shape(x), [None, 3, 4]),
    "one of them": (lambda x: tf.shape(x)[1], 3),
    "the unknown one": (lambda x: tf.shape(x)[0], None),
    "some of them": (lambda x: tf.shape(x)[1:], [3, 4]),
    "backwards": (lambda x: tf.shape(x)[::-1], [4, 3, None]),
    "sliced": (lambda x: tf.slice(tf.shape(x), [1], [2]), [3, 4]),
    "packed": (lambda x: tf.stack([tf.shape(x)[0], 2, 6]), [None, 2, 6]),
    "packed in a matrix": (lambda x: tf.stack([tf.shape(x), [7, 8, 9]]), [[None, 3, 4], [7, 8, 9]]),
    "joined": (lambda x: tf.concat([tf.shape(x)[:1], [12]], 0), [None, 12]),
    "gathered": (lambda x: tf.gather(tf.shape(x), [2, 0]), [4, None]),
    "split": (lambda x: tf.split(tf.shape(x), [1, 2])[1], [3, 4]),
    "unstacked": (lambda x: tf.unstack(tf.shape(x))[2], 4),
    "with an axis more": (lambda x: tf.expand_dims(tf.shape(x)[2], 0), [4]),
    "with an axis less": (lambda x: tf.squeeze(tf.shape(x)[1:2]), 3),
    "rank": (lambda x: tf.rank(x), 3),
    "size of the known": (lambda x: tf.size(x[0]), 12),
    "range of the rank": (lambda x: tf.range(tf.rank(x)), [0, 1, 2]),
    "filled": (lambda x: tf.fill([2], tf.shape(x)[1]), [3, 3]),
    "tiled": (lambda x: tf.tile(tf.shape(x)[1:2], [2]), [3, 3]),
    "reversed": (lambda x: tf.reverse(tf.shape(x), [0]), [4, 3, None]),
    "transposed": (lambda x: tf.transpose(tf.stack([tf.shape(x), [7, 8, 9]])), [[None, 7], [3, 8], [4, 9]]),
    "broadcast": (lambda x: tf.broadcast_dynamic_shape([1, 3, 1], tf.shape(x)), [None, 3, 4]),
    "inverse order": (lambda x: tf.invert_permutation(tf.constant([2, 0, 1])), [1, 2, 0]),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_known_before_the_step(x, name):
    build, known = SIZES[name]
    assert partial_value(build(x)) == known


def test_reshape_keeps_what_is_known(x):
    assert tf.reshape(x, tf.stack([tf.shape(x)[0], -1])).shape.as_list() == [None, None]
    assert tf.reshape(x, [-1, 12]).shape.as_list() == [None, 12]
    assert tf.reshape(x[0], tf.concat([tf.shape(x)[1:2], [-1, 2]], 0)).shape.as_list() == [3, 2, 2]


def test_a_known_shape_is_a_constant(graph):
    x = tf.zeros([2, 3])
    made = [tf.shape(x), tf.size(x, name="many"), tf.rank(x)]
    assert [(tensor.name, tensor.op.type) for tensor in made] == [
        ("Shape:0", "Const"),
        ("many:0", "Const"),
        ("Rank:0", "Const"),
    ]
    assert shapes.shape_of(x, optimize=False).op.type == "Shape"


@pytest.mark.parametrize(
    ("before", "sizes", "after"),
    [([0, 4], [0, -1], (0, 4)), ([0, 4], [-1, 2], (0, 2)), ([0, 3, 4], [-1, 0, 2], (6, 0, 2))],
)
def test_the_missing_size_of_an_empty_tensor(before, sizes, after):
    late = tf.placeholder(tf.int32, [len(sizes)])
    assert run(tf.reshape(tf.zeros(before), sizes)).shape == after
    assert run(tf.reshape(tf.zeros(before), late), {late: sizes}).shape == after


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([5], "tensor with 6 values, but the requested shape has 5"),
        ([4, -1], "requires a multiple of 4"),
        ([-1, -1], "Only one input size may be -1, not both 0 and 1"),
        ([-2, -3], "Size 0 must be non-negative, not -2"),
    ],
)
def test_a_shape_that_does_not_fit_in_the_step(sizes, message):
    late = tf.placeholder(tf.int32, [None])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.reshape(tf.zeros([2, 3]), late), {late: sizes})


def test_a_shape_whose_length_alone_is_known_is_still_checked():
    late = tf.placeholder(tf.int32, [1])
    flat = tf.reshape(tf.zeros([2, 3]), late)
    assert flat.shape.as_list() == [6]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(flat, {late: [5]})


def test_strings_change_shape_too():
    words = tf.placeholder(tf.string, [2, 1, 2])
    given = np.array([["a", "b"], ["c", "d"]], dtype=object)[:, None]
    squeezed = tf.squeeze(words, [1])
    values = run(
        [
            tf.reshape(words, [-1]),
            tf.transpose(squeezed),
            tf.expand_dims(squeezed, 0),
            tf.broadcast_to(words, [2, 2, 2]),
            tf.shape(tf.ensure_shape(words, [None, 1, 2])),
        ],
        {words: given},
    )
    assert values[0].tolist() == [b"a", b"b", b"c", b"d"]
    assert values[1].tolist() == [[b"a", b"c"], [b"b", b"d"]]
    assert values[2].shape == (1, 2, 2)
    assert values[3][1].tolist() == [[b"c", b"d"], [b"c", b"d"]]
    assert values[4].tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("first", "second", "axes"),
    [
        ([2, 1, 3], [7, 1], ([1], [0, 2])),
        ([2, 3], [2, 3], ([], [])),
        ([1], [1], ([], [])),
        ([1, 1], [1], ([0, 1], [0, 1])),
        ([], [1], ([0], [0])),
        ([2, 0], [1, 1], ([], [0, 1])),
    ],
)
def test_axes_along_which_gradients_are_summed(first, second, axes):
    late = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    found = run(
        tuple(broadcasting.broadcast_gradient_args(*late)), dict(zip(late, (first, second), strict=True))
    )
    assert tuple(part.tolist() for part in found) == axes


def test_shapes_that_do_not_broadcast_in_the_step():
    late = tf.placeholder(tf.int32, [None])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2,2\] vs. \[3\]"):
        run(tf.broadcast_dynamic_shape([2, 2], late), {late: [3]})


def test_ensure_shape_names_both_shapes():
    late = tf.placeholder(tf.float32, None, "late")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"late \[2\] is not compatible .* \[3\]"):
        run(tf.ensure_shape(late, [3]), {late: [1.0, 2.0]})


def test_a_perm_that_is_none_in_the_step():
    late = tf.placeholder(tf.int32, [2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"1 is missing from {0,0}"):
        run(tf.transpose(tf.zeros([2, 3]), late), {late: [0, 0]})


def test_a_row_of_unknown_length_is_not_one_unknown_element():
    with tf.Graph().as_default(), tf.Session() as session:
        sizes = tf.placeholder(tf.int64, [None])
        flat = tf.reshape(tf.stack([sizes]), [-1])
        reshaped = tf.reshape(tf.zeros([6]), flat)
        assert reshaped.shape.ndims is None
        assert session.run(reshaped, {sizes: [2, 3]}).shape == (2, 3)


def test_blocks_keep_batch_and_channels_where_margins_are_unknown():
    image, margins = tf.placeholder(tf.float32, [8, None, None, 3]), tf.placeholder(tf.int32, [2, 2])
    assert tf.space_to_batch_nd(image, [2, 2], margins).shape.as_list() == [32, None, None, 3]
    assert tf.batch_to_space_nd(image, [2, 2], margins).shape.as_list() == [2, None, None, 3]
    blocks = tf.placeholder(tf.int32, [2])
    assert tf.batch_to_space_nd(image, blocks, margins).shape.as_list() == [None, None, None, 3]
    weights = tf.zeros([3, 3, 3, 5])
    dilated = tf.nn.convolution(image, weights, "SAME", dilation_rate=[2, 2])
    assert dilated.shape.as_list() == [8, None, None, 5]
    with pytest.raises(ValueError, match="block_shape must be positive"):
        tf.space_to_batch_nd(image, [0, 2], margins)


def test_orders_of_axes_are_checked():
    for source, target, words in (
        ("1233", "4321", "Destination and source format must determine a permutation, got 1233 and 4321"),
        ("1234", "5321", "Destination and source format must determine a permutation"),
        ("123456", "654321", "Source format must be of length 4 or 5, received src_format = 123456"),
        ("1234", "321", "Destination format must be of length 4 or 5, received dst_format = 321"),
    ):
        for op in (tf.raw_ops.DataFormatDimMap, tf.raw_ops.DataFormatVecPermute):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                run(op(x=[0, 1, 2, 3], src_format=source, dst_format=target))
