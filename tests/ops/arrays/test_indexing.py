"""Slices as NumPy has them, assignment to them, gathers and scatters, conditions, what is refused."""

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


# ---------------------------------------------------------------------------------- slices

bounds = st.none() | st.integers(-5, 5)


@st.composite
def indices(draw, sizes):
    """An index that NumPy takes: numbers, slices, new axes, at most one ellipsis."""
    taken = draw(st.integers(0, len(sizes)))
    entries = []
    for size in sizes[:taken]:
        if size and draw(st.booleans()):
            entries.append(draw(st.integers(-size, size - 1)))
        else:
            step = draw(st.none() | st.integers(-3, 3).filter(bool))
            entries.append(slice(draw(bounds), draw(bounds), step))
    for _ in range(draw(st.integers(0, 2))):
        entries.insert(draw(st.integers(0, len(entries))), None)
    if taken == len(sizes) and draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), ...)
    return tuple(entries)


arrays = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), sizes=arrays, known=st.booleans())
def test_a_slice_and_its_gradient_are_numpys(data, sizes, known):
    index = data.draw(indices(sizes))
    array = np.arange(1.0, np.prod(sizes) + 1).reshape(sizes)
    expected = array[index]
    slope = np.zeros_like(array)
    slope[index] = np.arange(1.0, expected.size + 1).reshape(expected.shape)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, sizes if known else [None] * len(sizes))
        taken = x[index]
        assert taken.shape.is_compatible_with(expected.shape)
        if known:
            assert taken.shape.as_list() == list(expected.shape)
        weights = np.arange(1.0, expected.size + 1).reshape(expected.shape)
        value, grad = run([taken, tf.gradients(taken, x, weights)[0]], {x: array})
    assert value.shape == expected.shape
    assert value.tolist() == expected.tolist()
    assert grad.tolist() == slope.tolist()


@settings(max_examples=40, deadline=None)
@given(data=st.data(), sizes=arrays, use_resource=st.booleans())
def test_assignment_to_a_slice_is_numpys(data, sizes, use_resource):
    index = data.draw(indices(sizes))
    array = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    update = -1 - np.arange(array[index].size, dtype=np.float32).reshape(array[index].shape)
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(array, use_resource=use_resource)
        session.run(v.initializer)
        session.run(v[index].assign(update))
        array[index] = update
        assert session.run(v).tolist() == array.tolist()


def test_slices_by_tensors():
    x, i, j = np.arange(20).reshape(4, 5), tf.placeholder(tf.int32, []), tf.placeholder(tf.int64, [])
    t = tf.constant(x)
    made = [t[i], t[i:3], t[:, j:], t[i, i], t[::-i], t[i : i + 1, None]]
    assert [m.shape.as_list() for m in made[:4]] == [[5], [None, 5], [4, None], []]
    values = run(made, {i: 1, j: 3})
    expected = [x[1], x[1:3], x[:, 3:], x[1, 1], x[::-1], x[1:2, None]]
    assert [np.asarray(v).tolist() for v in values] == [e.tolist() for e in expected]


def test_the_nodes_of_a_slice(graph):
    x = tf.placeholder(tf.float32, [3, 4], "x")
    taken = x[0, 1:]
    assert [(op.name, op.type) for op in graph.get_operations()[1:]] == [
        ("strided_slice/stack", "Const"),
        ("strided_slice/stack_1", "Const"),
        ("strided_slice/stack_2", "Const"),
        ("strided_slice", "StridedSlice"),
    ]
    assert (taken.op.get_attr("shrink_axis_mask"), taken.op.get_attr("end_mask")) == (1, 2)


MISTAKES = {
    "too many": (lambda x: x[0, 0, 0], ValueError, "input dim 2; input has only 2 dims"),
    "out of range": (lambda x: x[4], ValueError, "slice index 4 of dimension 0 out of bounds"),
    "two ellipses": (lambda x: x[..., ...], ValueError, "Multiple ellipses"),
    "no step": (lambda x: x[::0], ValueError, r"strides\[0\] must be non-zero"),
    "a float": (lambda x: x[1.5], TypeError, "Only integers, slices .* got 1.5"),
    "a name": (lambda x: x["a"], TypeError, "Only integers, slices .* got 'a'"),
    "a vector": (lambda x: x[tf.constant([0, 1])], TypeError, "Only integers, slices"),
    "a scalar mask": (lambda x: x[True], ValueError, "mask cannot be scalar"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_an_index(name):
    build, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        build(tf.zeros([4, 5]))


def test_an_index_out_of_range_in_the_step():
    i = tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 9 of dimension 0 out of bounds"):
        run(tf.zeros([4, 5])[i], {i: 9})


def test_only_slices_of_variables_are_assigned_to():
    with pytest.raises(ValueError, match="only supported for variables"):
        tf.zeros([3])[0].assign(1.0)
    with pytest.raises(AttributeError):
        tf.zeros([3]).assign(1.0)


def test_a_value_of_another_shape_is_not_assigned():
    v = tf.Variable(np.zeros([4, 3], np.float32))
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(
            tf.errors.UnimplementedError, match=r"l-value shape \[2,3\] does not match r-value shape \[3,3\]"
        ):
            session.run(v[:2].assign(np.ones([3, 3])))
        assert not session.run(v).any()


def test_a_value_read_before_the_assignment_stays():
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(v)
        session.run(v[0].assign(9.0))
        assert before.tolist() == [1.0, 2.0]


# ---------------------------------------------------------------------------------- gather


def test_the_gradient_of_a_gather_is_sparse():
    x = tf.placeholder(tf.float32, [4, 2])
    grad = tf.gradients(tf.gather(x, [[3, 1], [3, 0]]), x)[0]
    assert isinstance(grad, tf.IndexedSlices)
    assert grad.dense_shape is not None
    values, rows = run([grad.values, grad.indices], {x: np.zeros([4, 2])})
    assert values.shape == (4, 2)
    assert rows.tolist() == [3, 1, 3, 0]


def test_a_sparse_gradient_becomes_dense_on_the_way():
    x = tf.placeholder(tf.float32, [4, 2])
    grad = tf.gradients(tf.gather(2 * x, [3, 3]), x)[0]
    assert run(grad, {x: np.zeros([4, 2])}).tolist() == [[0, 0], [0, 0], [0, 0], [4, 4]]


@pytest.mark.parametrize(("axis", "batch_dims"), [(1, 0), (-1, 0), (1, 1), (2, 1), (2, 2)])
def test_the_gradient_of_a_gather_along_other_axes(axis, batch_dims):
    sizes = [2, 3, 4]
    picked = np.array([[0, 2], [1, 1]]) if batch_dims < 2 else np.array([[[0], [3], [1]], [[2], [2], [0]]])
    array = np.random.default_rng(0).normal(size=sizes)
    x = tf.placeholder(tf.float64, sizes)
    taken = tf.gather(x, picked if batch_dims else picked[0], axis=axis, batch_dims=batch_dims)
    weights = np.arange(1.0, np.prod(taken.shape.as_list()) + 1).reshape(taken.shape.as_list())
    grad = tf.convert_to_tensor(tf.gradients(taken, x, weights)[0])
    with tf.Session() as session:
        found = session.run(grad, {x: array})
        for place in np.ndindex(*sizes):
            unit = np.zeros(sizes)
            unit[place] = 1
            assert found[place] == np.sum(session.run(taken, {x: unit}) * weights)


@pytest.mark.parametrize(
    ("given_indices", "message"),
    [([0, 7], r"indices\[1\] = 7 is not in \[0, 3\)"), (-1, r"indices = -1 is not in \[0, 3\)")],
)
def test_a_gather_out_of_range(given_indices, message):
    i = tf.placeholder(tf.int32, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.gather(tf.zeros([3, 2]), i), {i: given_indices})


def test_gather_nd_in_batches():
    x, index = np.arange(24).reshape(2, 3, 4), [[[0, 2]], [[1, 1]]]
    assert run(tf.gather_nd(x, index, batch_dims=1)).tolist() == [[2], [17]]
    assert run(tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]])).tolist() == [[3], [4]]


# ---------------------------------------------------------------------------------- conditions


def test_a_vector_chooses_among_rows():
    rows = run(tf.where([True, False], [["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]))
    assert rows.tolist() == [[b"a", b"b"], [b"g", b"h"]]


def test_conditions_that_do_not_fit_in_the_step():
    late = tf.placeholder(tf.bool, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must match size of 'cond', but saw: 2 vs. 3"):
        run(tf.where(late, tf.zeros([2, 3]), tf.zeros([2, 3])), {late: [True, False, True]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2,1\] != input 1: \[2,3\]"):
        run(tf.where(late, tf.zeros([2, 3]), tf.zeros([2, 3])), {late: [[True], [False]]})


def test_where_wants_both_or_none():
    with pytest.raises(ValueError, match="x and y must both be non-None or both be None"):
        tf.where([True], [1])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_boolean_mask(axis):
    x = np.arange(24).reshape(2, 3, 4)
    mask = np.random.default_rng(1).random(x.shape[axis]) < 0.5
    late = tf.placeholder(tf.bool, [None])
    made = run(tf.boolean_mask(x, late, axis=axis), {late: mask})
    assert made.tolist() == np.compress(mask, x, axis).tolist()


def test_masks_over_several_axes_and_as_an_index():
    x = np.arange(24).reshape(2, 3, 4)
    mask = x[:, :, 0] % 3 == 0
    t = tf.constant(x)
    assert run(tf.boolean_mask(t, mask)).tolist() == x[mask].tolist()
    assert run(t[mask]).tolist() == x[mask].tolist()
    assert run(t[tf.constant(mask)]).tolist() == x[mask].tolist()


# ---------------------------------------------------------------------------------- unique


@pytest.mark.parametrize(
    "values", [[3, 1, 3, 2, 1], ["b", "a", "b"], [], [1 + 1j, 2, 1 + 1j], [True, False, True]]
)
def test_unique_in_order_of_first_occurrence(values):
    late = tf.placeholder(tf.as_dtype(np.array(values).dtype), [None])
    feed = np.array(values, dtype=object) if values and isinstance(values[0], str) else np.array(values)
    found, numbers, counts = run(tf.unique_with_counts(late), {late: feed})
    order = list(dict.fromkeys(value.encode() if isinstance(value, str) else value for value in values))
    assert found.tolist() == order
    assert [order[i] for i in numbers] == [v.encode() if isinstance(v, str) else v for v in values]
    assert counts.tolist() == [list(numbers).count(i) for i in range(len(order))]


def test_every_nan_is_its_own_value():
    assert run(tf.unique([np.nan, np.nan, 1.0]))[1].tolist() == [0, 1, 2]


# ---------------------------------------------------------------------------------- scatter


@settings(max_examples=40, deadline=None)
@given(
    places=st.lists(st.integers(0, 3), max_size=8),
    kind=st.sampled_from(["float32", "int16", "uint16", "uint64", "float16"]),
)
def test_scatters_are_numpys(places, kind):
    at = np.array(places, np.int32)[:, None]
    updates = (np.arange(len(places)) + 1).astype(kind)
    array = np.full(4, 100, kind)
    added, updated, subtracted, sums = array.copy(), array.copy(), array.copy(), np.zeros(4, kind)
    np.add.at(sums, places, updates)
    np.add.at(added, places, updates)
    np.subtract.at(subtracted, places, updates)
    for place, update in zip(places, updates, strict=True):
        updated[place] = update  # the last of several
    with tf.Graph().as_default():
        made = run(
            [
                tf.scatter_nd(at, updates, [4]),
                tf.tensor_scatter_add(array, at, updates),
                tf.tensor_scatter_sub(array, at, updates),
                tf.tensor_scatter_update(array, at, updates),
            ]
        )
    for found, expected in zip(made, (sums, added, subtracted, updated), strict=True):
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()


def test_scatter_of_strings():
    words = tf.placeholder(tf.string, [None])
    made = [tf.scatter_nd([[2], [0]], words, [3]), tf.tensor_scatter_update(words, [[1]], ["z"])]
    first, second = run(made, {words: np.array(["a", "b"], dtype=object)})
    assert first.tolist() == [b"b", b"", b"a"]
    assert second.tolist() == [b"a", b"z"]


def test_a_scatter_leaves_its_input_alone():
    x = tf.placeholder(tf.float32, [3])
    array = np.zeros(3, np.float32)
    before, after = run([tf.identity(x), tf.tensor_scatter_add(x, [[1]], [5.0])], {x: array})
    assert (before.tolist(), after.tolist(), array.tolist()) == ([0, 0, 0], [0, 5, 0], [0, 0, 0])
