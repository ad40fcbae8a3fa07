"""Reductions beyond their samples: arguments, types, dynamic axes, what is built from them."""

import ml_dtypes
import numpy as np
import pytest

import tideflow as tf

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7


@pytest.fixture
def run():
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session.run


def test_old_names_of_arguments(run):
    np.testing.assert_array_equal(
        run(tf.reduce_sum(X, reduction_indices=[1], keep_dims=True)), X.sum(1, keepdims=True)
    )
    np.testing.assert_array_equal(run(tf.argmax(X, dimension=2)), X.argmax(2))
    np.testing.assert_array_equal(run(tf.arg_min(X, 1)), X.argmin(1))
    with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
        tf.reduce_max(X, axis=0, reduction_indices=0)
    with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
        tf.reduce_max(X, keepdims=True, keep_dims=True)


def test_all_axes_are_a_constant_where_the_rank_is_known():
    with tf.Graph().as_default() as graph:
        assert tf.reduce_sum(tf.placeholder(tf.float32, [None, 3])).shape.as_list() == []
        assert [op.type for op in graph.get_operations()] == ["Placeholder", "Const", "Sum"]
        assert tf.reduce_sum(tf.placeholder(tf.float32)).shape.as_list() == []
        assert [op.type for op in graph.get_operations()][3:] == [
            "Placeholder",
            "Rank",
            "Const",
            "Const",
            "Range",
            "Sum",
        ]


def test_axes_that_only_the_step_knows(run):
    axes = tf.placeholder(tf.int32, [None])
    x = tf.placeholder(tf.float32)
    total = tf.reduce_sum(x, axes)
    grad = tf.gradients(tf.square(total), x)[0]
    feeds = {axes: [0, -1], x: X}
    np.testing.assert_array_equal(run(total, feeds), X.sum((0, 2)))
    np.testing.assert_array_equal(run(grad, feeds), np.broadcast_to(2 * X.sum((0, 2))[:, None], X.shape))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Invalid reduction dimension 3 for input with 3 dimensions"
    ):
        run(total, {axes: [3], x: X})


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_wrap_and_keep_their_order(run, dtype):
    limits = np.iinfo(dtype)
    values = np.array([limits.max, limits.max - 2, limits.min, 5], dtype)
    x = tf.placeholder(dtype, [4])
    found = run(
        [tf.reduce_sum(x), tf.reduce_prod(x), tf.reduce_max(x), tf.reduce_min(x), tf.argmax(x), tf.argmin(x)],
        {x: values},
    )
    expected = [values.sum(dtype=dtype), values.prod(dtype=dtype), limits.max, limits.min, 0, 2]
    assert [int(value) for value in found] == [int(value) for value in expected]
    assert {value.dtype.name for value in found[:4]} == {dtype}


def test_mean_of_integers_rounds_towards_zero(run):
    assert run(tf.reduce_mean(tf.constant([-3, -4]))) == -3
    assert run(tf.reduce_mean(tf.constant([100, 100], tf.int8))) == -28  # the sum wraps first


@pytest.mark.parametrize(
    ("dtype", "lowest", "highest"), [("float16", -np.inf, np.inf), ("int8", -128, 127), ("uint8", 0, 255)]
)
def test_extremes_of_nothing(run, dtype, lowest, highest):
    nothing = tf.zeros([0, 2], dtype)
    np.testing.assert_array_equal(run(tf.reduce_max(nothing, 0)), [lowest] * 2)
    np.testing.assert_array_equal(run(tf.reduce_min(nothing, 0)), [highest] * 2)
    assert run(tf.reduce_max(nothing, 1)).shape == (0,)


def test_nan_wins_no_arg_reduction(run):
    nan = np.nan
    x = np.array([[1, nan, 2], [nan, 1, 2], [nan, nan, nan]], np.float32)
    assert run(tf.argmax(x, 1)).tolist() == [2, 2, 0]
    assert run(tf.argmin(x, 1)).tolist() == [0, 1, 0]


def test_bfloat16(run):
    x = np.array([1.0, 2.0, 4.0], ml_dtypes.bfloat16)
    found = run([tf.reduce_sum(x), tf.reduce_mean(x), tf.reduce_max(x), tf.reduce_prod(x)])
    assert [float(value) for value in found] == [7.0, 2.328125, 4.0, 8.0]


def test_second_derivatives(run):
    x = tf.placeholder(tf.float64, [2, 3])
    for reduce, expected in (
        (tf.reduce_prod, [[2.0 * 3, 0, 0], [0, 5 * 6.0, 0]]),
        (tf.reduce_logsumexp, None),
    ):
        first = tf.gradients(reduce(x, 1), x)[0]
        second = tf.gradients(tf.reduce_sum(first * first), x)[0]
        assert np.isfinite(run(second, {x: [[1, 2, 3], [4, 5, 6]]})).all()
        if expected is not None:
            np.testing.assert_allclose(run(first, {x: [[1, 2, 3], [4, 5, 6]]})[0], [6, 3, 2])


def test_logsumexp_of_extremes(run):
    x = tf.constant([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 0.0]])
    np.testing.assert_allclose(run(tf.reduce_logsumexp(x, 1)), [1000 + np.log(2), -np.inf, np.inf])


def test_standard_deviation_and_variance(run):
    np.testing.assert_allclose(run(tf.math.reduce_variance(X, [0, 2])), X.var((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(
        run(tf.math.reduce_std(X, 1, keepdims=True)), X.std(1, keepdims=True), rtol=1e-6
    )
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.math.reduce_std([1, 2, 3])


def test_count_nonzero(run):
    assert run(tf.count_nonzero(X)) == 23
    assert run(tf.count_nonzero([[0, 1], [2, 3]], axis=0, dtype=tf.int32)).tolist() == [1, 2]
    assert run(tf.count_nonzero(["", "a", "b"])) == 2
    assert run(tf.count_nonzero(input=[0.0, 2.0], keep_dims=True)).tolist() == [1]


def test_sums_of_tensors(run):
    x = tf.constant([1.0, 2.0])
    assert tf.add_n([x]) is x
    assert tf.accumulate_n([x]) is x
    assert tf.add_n([x], name="alone").op.type == "Identity"
    assert run(tf.add_n([x, [3.0, 4.0], x])).tolist() == [5.0, 8.0]
    assert run(tf.accumulate_n([x, x], shape=[2], tensor_dtype=tf.float32)).tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="at least one Tensor"):
        tf.add_n([])
    with pytest.raises(ValueError, match="not compatible"):
        tf.accumulate_n([x, tf.zeros([3])])
    with pytest.raises(TypeError, match="tensor_dtype"):
        tf.accumulate_n([x, x], tensor_dtype=tf.int32)


def test_inputs_are_left_as_they_were(run):
    a, b, c = (tf.constant(np.full(3, value, np.float32)) for value in (1, 2, 3))
    found = run([tf.add_n([a, b, c]), a, b, c])
    assert [value.tolist() for value in found] == [[6.0] * 3, [1.0] * 3, [2.0] * 3, [3.0] * 3]


@pytest.mark.parametrize(
    ("order", "axis"),
    [
        ("euclidean", None),
        ("euclidean", 1),
        (1, 0),
        (2, -1),
        (np.inf, 1),
        (3, None),
        (1.5, 1),
        ("fro", (0, 1)),
        (1, (0, 1)),
        (np.inf, (1, 0)),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_norm(run, order, axis, keepdims):
    x = X[0]
    of_all = axis is None
    expected = np.linalg.norm(
        x.ravel() if of_all else x, None if order == "euclidean" else order, axis, keepdims and not of_all
    )
    found = run(tf.norm(x, ord=order, axis=axis, keepdims=keepdims))
    np.testing.assert_allclose(found, np.reshape(expected, np.shape(found)), rtol=1e-5)
    assert found.ndim == (2 if keepdims else 2 - (2 if of_all else np.size(axis)))


@pytest.mark.parametrize(
    ("order", "axis"), [("x", 0), (0, None), (-1, 0), (1, (0, 0)), (3, [0, 1]), (1, [0, 1, 2])]
)
def test_norms_that_do_not_exist(order, axis):
    with pytest.raises(ValueError, match=r"'ord' must be|'axis' must be"):
        tf.norm(X, ord=order, axis=axis)


def test_bincount(run):
    numbers = [1, 1, 3, 0]
    assert run(tf.bincount(numbers)).tolist() == [1, 2, 0, 1]
    assert run(tf.bincount(numbers, minlength=6, maxlength=5)).tolist() == [1, 2, 0, 1, 0]
    assert run(tf.bincount(numbers, weights=[0.5, 1.0, 2.0, 4.0])).tolist() == [4.0, 1.5, 0.0, 2.0]
    assert run(tf.bincount(tf.zeros([0], tf.int32), dtype=tf.float32)).tolist() == []


def test_confusion_matrix(run):
    found = run(
        tf.confusion_matrix([0, 1, 2, 1], [[0], [2], [2], [1]], weights=[1, 2, 3, 4], dtype=tf.float32)
    )
    assert found.tolist() == [[1, 0, 0], [0, 4, 2], [0, 0, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="`predictions` out of bound"):
        run(tf.confusion_matrix([0, 1], [0, 3], num_classes=2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="`labels` contains negative values"):
        run(tf.confusion_matrix([0, -1], [0, 1]))


@pytest.mark.parametrize("reduce, of_numpy", [(tf.reduce_max, np.max), (tf.reduce_min, np.min)])
@pytest.mark.parametrize("shape, axes", [((2, 16, 24, 16), [1, 2]), ((8, 32, 5), [0, 1]), ((512, 3), [0])])
def test_extremes_of_few_elements_side_by_side(reduce, of_numpy, shape, axes):
    values = np.random.RandomState(3).normal(size=shape).astype(np.float32)
    fed = tf.placeholder(tf.float32, shape)
    with tf.Session() as session:
        found, kept = session.run([reduce(fed, axes), reduce(fed, axes, keepdims=True)], {fed: values})
        np.testing.assert_array_equal(found, of_numpy(values, tuple(axes)))
        np.testing.assert_array_equal(kept, of_numpy(values, tuple(axes), keepdims=True))
        values[(0,) * len(shape)] = np.nan
        found = session.run(reduce(fed, axes), {fed: values})
        np.testing.assert_array_equal(found, of_numpy(values, tuple(axes)))


def test_extremes_of_long_integers():
    values = np.random.RandomState(3).randint(-(2**60), 2**60, (7, 9))
    with tf.Session() as session:
        for axes in (0, 1, None):
            found = session.run([tf.reduce_max(tf.constant(values) + 0, axes), tf.reduce_min(values, axes)])
            np.testing.assert_array_equal(found[0], values.max(axes))
            np.testing.assert_array_equal(found[1], values.min(axes))
