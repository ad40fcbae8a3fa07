"""Joining and splitting: lists of tensors as tensors, gradients of many parts, strings, repeats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


# ---------------------------------------------------------------------------------- lists of tensors


def test_a_list_with_tensors_is_packed(graph):
    x = tf.placeholder(tf.float32, [], "x")
    packed = tf.convert_to_tensor([1, x])
    assert nodes(graph) == [("x", "Placeholder"), ("packed/0", "Const"), ("packed", "Pack")]
    assert run(packed, {x: 2.0}).tolist() == [1.0, 2.0]


def test_nested_lists_are_packed_inside_out(graph):
    x = tf.placeholder(tf.int32, [], "x")
    packed = tf.convert_to_tensor([[1, x], (3, 4)], name="m")
    assert nodes(graph)[1:] == [("m/0/0", "Const"), ("m/0", "Pack"), ("m/1_1", "Const"), ("m", "Pack")]
    assert run(packed, {x: 2}).tolist() == [[1, 2], [3, 4]]


def test_an_input_may_be_a_list_with_tensors(graph):
    x = tf.placeholder(tf.float32, [None, 6], "x")
    y = tf.reshape(x, [tf.shape(x)[0], 2, 3])
    assert y.shape.as_list() == [None, 2, 3]
    assert y.op.inputs[1].name == "Reshape/shape:0"
    assert (x + [1, tf.constant(2.0), 3, 4, 5, 6]).op.inputs[1].op.type == "Pack"


def test_a_type_that_is_asked_for_is_cast_to():
    packed = tf.convert_to_tensor([1, tf.constant(2)], dtype=tf.float32)
    assert packed.dtype is tf.float32
    assert run(packed).tolist() == [1.0, 2.0]


def test_tensors_of_two_types_do_not_go_into_one():
    with pytest.raises(TypeError, match="list containing a tensor of dtype"):
        tf.convert_to_tensor([tf.constant(1.0), tf.constant(1)])


# ---------------------------------------------------------------------------------- concat, stack, split


def test_concat_of_one_tensor_is_itself(graph):
    x = tf.placeholder(tf.float32, [2], "x")
    assert tf.concat([x], 0).name == "concat/concat:0"
    assert tf.concat(x, 0, name="c").op.type == "Identity"


@pytest.mark.parametrize("count", [2, 16, 17, 40])
def test_gradient_of_many_parts(count):
    parts = [tf.placeholder(tf.float64, [None, 2]) for _ in range(count)]
    feeds = {part: np.full([i % 3, 2], i) for i, part in enumerate(parts)}
    joined = tf.concat(parts, 0)
    rows = tf.cast(tf.range(tf.shape(joined)[0]), tf.float64)
    weights = np.arange(sum(len(v) for v in feeds.values()))
    grads = run(tf.gradients(tf.reduce_sum(joined * rows[:, None]), parts), feeds)
    assert np.concatenate(grads)[:, 0].tolist() == weights.tolist()
    assert [len(grad) for grad in grads] == [len(value) for value in feeds.values()]


def test_concat_says_which_sizes_differ_where():
    with pytest.raises(
        ValueError,
        match=r"Dimension 1 in both shapes must be equal, but are 3 and 2\. Shapes are \[2,3\] and \[3,2\]",
    ):
        tf.concat([tf.zeros([2, 3]), tf.zeros([3, 2])], 0)


def test_stack_of_python_values_is_a_constant():
    assert tf.stack([1, 2]).op.type == "Const"
    assert tf.stack([np.ones(2), np.ones(2)]).op.type == "Pack"
    assert tf.stack([tf.zeros([4]).shape[0], 2]).op.type == "Pack"


def test_values_of_unknown_shape_have_that_of_the_others():
    late = tf.placeholder(tf.int32)
    assert tf.reshape(tf.placeholder(tf.float32), [late, 37]).shape.as_list() == [None, 37]
    assert tf.pad(tf.zeros([4, 4]), [[1, 2], late]).shape.as_list() == [7, None]
    assert tf.tile(tf.zeros([1, 1]), [late, 7]).shape.as_list() == [None, 7]
    assert tf.stack([late, late]).shape.ndims is None


def test_a_roll_by_what_is_fed_is_checked_in_the_step():
    late = tf.placeholder(tf.int32)
    x = [[1, 2], [3, 4]]
    rolled, along = tf.roll(x, late, [0, 1]), tf.roll(x, 1, late)
    with tf.Session() as session:
        assert session.run(rolled, {late: [1, 1]}).tolist() == [[4, 3], [2, 1]]
        assert session.run(along, {late: 0}).tolist() == [[3, 4], [1, 2]]
        for fetch, fed, words in (
            (rolled, [1], "shift and axis must have the same size"),
            (rolled, [[1, 1]], "shift must be a scalar or a 1-D vector"),
            (along, [[0]], "axis must be a scalar or a 1-D vector"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(fetch, {late: fed})
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 1 and 2"):
        tf.roll(x, [1], [0, 1])


def test_stack_checks_its_axis():
    with pytest.raises(ValueError, match=r"axis = 2 not in \[-2, 2\)"):
        tf.stack([tf.zeros([2]), tf.zeros([2])], 2)


def test_split_by_sizes_of_the_step():
    sizes, axis = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [])
    x = np.arange(6).reshape(2, 3)
    left, right = run(tf.split(x, sizes, axis), {sizes: [1, -1], axis: -1})
    assert left.tolist() == [[0], [3]]
    assert right.tolist() == [[1, 2], [4, 5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="can't split axis of size 2"):
        run(tf.split(x, sizes, axis), {sizes: [1, 2], axis: 0})


def test_split_into_empty_parts():
    assert [part.shape for part in run(tf.split(tf.zeros([0, 4]), 2))] == [(0, 4), (0, 4)]


def test_unstack_needs_to_know_how_many():
    x = tf.placeholder(tf.float32, [None, 2])
    with pytest.raises(ValueError, match=r"Cannot infer num from shape \(\?, 2\)"):
        tf.unstack(x)
    assert len(run(tf.unstack(x, num=3), {x: np.zeros([3, 2])})) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis 0 must equal 3, got shape \[2,2\]"):
        run(tf.unstack(x, num=3), {x: np.zeros([2, 2])})


# ---------------------------------------------------------------------------------- strings


def test_strings_are_joined_cut_and_turned():
    words = tf.placeholder(tf.string, [2, 2])
    given_words = np.array([["a", "b"], ["c", "d"]], dtype=object)
    lengths = tf.constant([2, 1])
    made = {
        "concat": (tf.concat([words, words], 1)[0], ["a", "b", "a", "b"]),
        "stack": (tf.stack([words[0], words[1]], 1), [["a", "c"], ["b", "d"]]),
        "split": (tf.split(words, 2)[1], [["c", "d"]]),
        "unstack": (tf.unstack(words[0])[1], "b"),
        "tile": (tf.tile(words[:1], [1, 2]), [["a", "b", "a", "b"]]),
        "pad": (tf.pad(words[0], [[1, 0]]), ["", "a", "b"]),
        "pad with": (tf.pad(words[0], [[1, 0]], constant_values="z"), ["z", "a", "b"]),
        "mirror": (tf.pad(words[0], [[1, 1]], "SYMMETRIC"), ["a", "a", "b", "b"]),
        "reverse": (tf.reverse(words, [1]), [["b", "a"], ["d", "c"]]),
        "reverse_sequence": (tf.reverse_sequence(words, lengths, seq_axis=1), [["b", "a"], ["c", "d"]]),
        "roll": (tf.roll(words, [1, 1], [0, 1]), [["d", "c"], ["b", "a"]]),
    }
    values = run({key: tensor for key, (tensor, _) in made.items()}, {words: given_words})
    for key, (_, expected) in made.items():
        assert np.char.decode(np.asarray(values[key]).astype(bytes)).tolist() == expected, key


# ---------------------------------------------------------------------------------- tiling


def test_padding_that_mirrors_more_than_there_is():
    late = tf.placeholder(tf.int32, [1, 2])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="paddings must be less than the dimension size: 2, 0"
    ):
        run(tf.pad(tf.zeros([2]), late, "REFLECT"), {late: [[2, 0]]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="no greater than the dimension size: 3, 0"):
        run(tf.pad(tf.zeros([2]), late, "SYMMETRIC"), {late: [[3, 0]]})


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    axis=st.none() | st.integers(0, 2),
    data=st.data(),
)
def test_repeat_is_numpys(sizes, axis, data):
    axis = None if axis is None or axis >= len(sizes) else axis
    length = int(np.prod(sizes)) if axis is None else sizes[axis]
    repeats = data.draw(st.integers(0, 3) | st.lists(st.integers(0, 3), min_size=length, max_size=length))
    x = np.arange(np.prod(sizes)).reshape(sizes)
    with tf.Graph().as_default():
        made = run(tf.repeat(x, np.array(repeats, np.int32), axis))
    expected = np.repeat(x, repeats, axis)
    assert made.shape == expected.shape
    assert made.tolist() == expected.tolist()


def test_repeat_takes_scalars_and_what_has_an_unknown_rank():
    late, counts = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    with tf.Session() as session:
        assert session.run(tf.repeat(3, 2, 0)).tolist() == [3, 3]
        assert session.run(tf.repeat(late, 2, 0), {late: [[1], [2]]}).tolist() == [[1], [1], [2], [2]]
        assert session.run(tf.repeat(late, [2, 1], 0), {late: [1, 2]}).tolist() == [1, 1, 2]
        assert session.run(tf.repeat([[1, 2]], counts, 1), {counts: [1, 2]}).tolist() == [[1, 2, 2]]
    with pytest.raises(ValueError, match="axis may only be negative if ndims is statically known"):
        tf.repeat(late, 2, -1)
    with pytest.raises(TypeError, match="repeats must be an integer tensor; dtype=<dtype: 'float32'>"):
        tf.repeat([1], [2.0], 0)
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        tf.repeat([1, 2], [1, 2, 3], 0)


def test_a_part_that_is_none_is_named_by_its_place():
    numbers = tf.placeholder_with_default([[0, 1], [5, 0]], [2, 2])
    parts = tf.dynamic_partition(tf.zeros([2, 2]), numbers, 2)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"partitions\[1,0\] = 5 is not in \[0, 2\)"):
            session.run(parts)
