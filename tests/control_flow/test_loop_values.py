"""What a plan makes of loop variables (Python numbers, sums in place) is what kernels make of them."""

import numpy as np
import pytest

import tideflow as tf

pytestmark = pytest.mark.usefixtures("graph")


def count(limit, start=0, step=1, dtype=tf.int32):
    """A counting loop."""
    start, limit = tf.cast(start, dtype), tf.cast(limit, dtype)
    return tf.while_loop(lambda i: i < limit, lambda i: i + tf.cast(step, dtype), [start])


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=["int32", "int64"])
def test_whole_numbers_wrap_as_kernels_do(session, dtype):
    """Sums, differences and products past the end of the type."""
    top = dtype.as_numpy_dtype(np.iinfo(dtype.as_numpy_dtype).max)
    x = tf.placeholder(dtype, [])

    def body(i, a, b, c):
        return i + 1, a + x, b - x, c * x

    made = tf.while_loop(lambda i, *_: i < 3, body, [0, x, -x, x])[1:]
    with np.errstate(over="ignore"):
        a, b, c = top, -top, top
        for _ in range(3):
            a, b, c = a + top, b - top, c * top
    assert session.run(made, {x: top}) == (a, b, c)


def test_numbers_in_the_plan():
    with tf.Session() as session:
        text = session.explain(count(10))
        assert "2147483648" in text  # where an int32 wraps
        assert session.run(count(10)) == 10


@pytest.mark.parametrize("limit", [-3, 0, 1, 5])
def test_a_fed_limit(session, limit):
    n = tf.placeholder(tf.int32, [])
    i, square = tf.while_loop(lambda i, _: i < n, lambda i, s: (i + 1, s + 2 * i + 1), [0, 0])
    assert session.run([i, square], {n: limit}) == [max(limit, 0), max(limit, 0) ** 2]


def test_a_limit_of_unknown_shape(session):
    n = tf.placeholder(tf.int32)
    y = tf.while_loop(lambda i: tf.reduce_all(i < n), lambda i: i + 1, [0])
    assert session.run(y, {n: 4}) == 4
    assert session.run(y, {n: [9, 4, 6]}) == 4


def test_booleans(session):
    p = tf.placeholder(tf.bool, [])

    def body(i, going, flag):
        return i + 1, tf.logical_and(i < 5, tf.logical_or(p, i < 2)), tf.logical_not(flag)

    i, going, flag = tf.while_loop(lambda i, going, flag: going, body, [0, True, p])
    assert session.run([i, going, flag], {p: True}) == [6, False, True]
    assert session.run([i, going, flag], {p: False}) == [3, False, True]
    assert session.run(going, {p: True}).dtype == np.bool_


def test_numbers_of_nested_loops(session):
    n = tf.placeholder(tf.int32, [])

    def outer(i, total):
        def inner(j, t):
            return j + 1, t + i * j

        return i + 1, tf.while_loop(lambda j, _: j < i, inner, [0, total])[1]

    _, total = tf.while_loop(lambda i, _: i < n, outer, [0, 0])
    for limit in (0, 1, 4, 7):
        assert session.run(total, {n: limit}) == sum(i * j for i in range(limit) for j in range(i))


def test_a_number_is_a_tensor_where_a_kernel_takes_it(session):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    i, total = tf.while_loop(
        lambda i, t: i < 4, lambda i, t: (i + 1, t + x[i] * tf.cast(i, tf.float32)), [0, 0.0]
    )
    assert session.run([i, total]) == [4, 20.0]


def test_numbers_and_branches(session):
    n = tf.placeholder(tf.int32, [])

    def body(i, steps):
        return tf.cond(tf.equal(i % 2, 0), lambda: i // 2, lambda: 3 * i + 1), steps + 1

    _, steps = tf.while_loop(lambda i, _: i > 1, body, [n, 0])
    assert [session.run(steps, {n: k}) for k in (1, 6, 27)] == [0, 8, 111]


def test_numbers_of_branches_that_are_not_taken(session):
    """A number becomes a tensor for a Merge only where the branch that has it is taken."""
    x = tf.constant(2)

    def body(i, s):
        y = tf.cond(x > 3, lambda: x * i, lambda: x + i)
        return i + 1, tf.cond(y > 3, lambda: s + y, lambda: s)

    assert session.run(tf.while_loop(lambda i, s: i < 5, body, (0, 0))) == (5, 15)


def test_variables_that_trade_places(session):
    a, b, c = tf.while_loop(lambda a, b, c: c < 5, lambda a, b, c: (b, a + b, c + 1), [0, 1, 0])
    assert session.run([a, b, c]) == [5, 8, 5]
    x, y = tf.while_loop(lambda x, y: x < y, lambda x, y: (y, x), [1, 2])
    assert session.run([x, y]) == [2, 1]


def test_a_variable_that_becomes_a_constant(session):
    i, last = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, tf.constant(7)), [0, 1])
    assert session.run([i, last]) == [3, 7]


def test_dtypes_come_out_as_they_went_in(session):
    made = [count(3, dtype=dtype) for dtype in (tf.int32, tf.int64, tf.float32, tf.int8, tf.float64)]
    assert [value.dtype for value in session.run(made)] == [
        np.int32,
        np.int64,
        np.float32,
        np.int8,
        np.float64,
    ]


# ---------------------------------------------------------------------------------------------- sums in place


def summed(x, begin):
    return tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + x), [0, begin])[1]


def test_a_sum_does_not_change_what_was_fed(session):
    begin, x = tf.placeholder(tf.float32, [3]), tf.constant([1.0, 2.0, 3.0])
    value = np.zeros(3, np.float32)
    y = summed(x, begin)
    for _ in range(2):
        assert session.run(y, {begin: value}).tolist() == [4.0, 8.0, 12.0]
    assert value.tolist() == [0.0, 0.0, 0.0]


def test_a_sum_does_not_change_a_constant(session):
    y = summed(tf.ones([2, 2]), tf.constant(np.zeros((2, 2), np.float32)))
    assert all((session.run(y) == 4.0).all() for _ in range(3))


def test_a_sum_does_not_change_the_value_it_began_with(session):
    x = tf.placeholder(tf.float32, [2])
    begin = x * 10.0
    y = summed(x, begin)
    for _ in range(2):
        first, last = session.run([begin, y], {x: [1.0, 2.0]})
        assert (first.tolist(), last.tolist()) == ([10.0, 20.0], [14.0, 28.0])


def test_a_sum_does_not_change_a_variable(session):
    v = tf.get_variable("v", initializer=[1.0, 1.0], use_resource=True)
    y = summed(v, v)
    session.run(v.initializer)
    for _ in range(2):
        assert session.run(y).tolist() == [5.0, 5.0]
    assert session.run(v).tolist() == [1.0, 1.0]


def test_two_sums_from_one_value(session):
    x = tf.placeholder(tf.float32, [2])
    zero = tf.zeros([2]) * x

    def body(i, a, b):
        return i + 1, a + x, b + 2.0 * x

    _, a, b = tf.while_loop(lambda i, *_: i < 3, body, [0, zero, zero])
    found = session.run([a, b, zero], {x: [1.0, 2.0]})
    assert [value.tolist() for value in found] == [[3.0, 6.0], [6.0, 12.0], [0.0, 0.0]]


def test_a_sum_of_products(session):
    """The product's kernel adds to the sum where it is."""
    x, w = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [3, 2])
    begin = tf.placeholder(tf.float32, [2, 2])
    y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.matmul(x, w)), [0, begin])[1]
    a, b, c = (
        np.random.RandomState(k).normal(size=s).astype(np.float32)
        for k, s in enumerate([(2, 3), (3, 2), (2, 2)])
    )
    kept = c.copy()
    for _ in range(2):
        np.testing.assert_allclose(session.run(y, {x: a, w: b, begin: c}), c + 3 * a @ b, rtol=1e-5)
    np.testing.assert_array_equal(c, kept)


def test_a_sum_that_is_pushed_or_written_is_not_added_to_in_place(session):
    """Every element of the array is the sum as it was then."""
    x = tf.constant([1.0, 2.0])

    def body(i, total, made):
        return i + 1, total + x, made.write(i, total)

    made = tf.TensorArray(tf.float32, 3, element_shape=[2])
    _, _, made = tf.while_loop(lambda i, *_: i < 3, body, [0, tf.zeros([2]), made])
    assert session.run(made.stack()).tolist() == [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]


def test_fetched_results_are_the_callers_own(session):
    y = summed(tf.constant([1.0, 2.0]), tf.constant([0.0, 0.0]))
    first = session.run(y)
    first += 100.0
    assert session.run(y).tolist() == [4.0, 8.0]


# ------------------------------------------------------------------------------------------------ shapes


def test_a_shape_that_changes_needs_an_invariant():
    with pytest.raises(ValueError, match="shape_invariants"):
        tf.while_loop(lambda x: tf.size(x) < 9, lambda x: tf.concat([x, x], 0), [tf.ones([1])])


def test_a_shape_that_changes_under_an_invariant(session):
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.while_loop(
        lambda y: tf.shape(y)[0] < 5,
        lambda y: tf.concat([y, y], 0),
        [x],
        shape_invariants=[tf.TensorShape([None, 2])],
    )
    assert y.shape.as_list() == [None, 2]
    for rows, expected in ((1, 8), (3, 6), (5, 5), (1, 8)):
        value = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
        found = session.run(y, {x: value})
        np.testing.assert_array_equal(found, np.concatenate([value] * (expected // rows)))


def test_a_gradient_through_changing_shapes(session):
    x = tf.placeholder(tf.float32, [1])
    y = tf.while_loop(
        lambda y: tf.size(y) < 4,
        lambda y: tf.concat([y, y * x], 0),
        [x],
        shape_invariants=[tf.TensorShape([None])],
    )
    slope = tf.gradients(y, x)[0]
    found, slope = session.run([y, slope], {x: [2.0]})
    assert found.tolist() == [2.0, 4.0, 4.0, 8.0]
    assert slope.tolist() == [1 + 2 * 2 + 2 * 2 + 3 * 4]


def test_an_invariant_that_does_not_hold_at_first():
    with pytest.raises(ValueError, match="shape invariant"):
        tf.while_loop(
            lambda x: x[0, 0] < 1.0,
            lambda x: x,
            [tf.ones([2, 2])],
            shape_invariants=[tf.TensorShape([None, 3])],
        )
