"""tf.keras.backend: products, functions of the graph, moving averages, what it refuses."""

import numpy as np
import pytest

import tideflow as tf

k = tf.keras.backend


@pytest.fixture(autouse=True)
def _own_session():
    k.clear_session()
    yield
    k.clear_session()


@pytest.mark.parametrize(("first", "second"), [((2, 3), (3, 4)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (5, 4, 6))])
def test_dot(first, second):
    x, y = np.random.rand(*first), np.random.rand(*second)
    along = max(len(second) - 2, 0)
    np.testing.assert_allclose(
        k.eval(k.dot(k.constant(x), k.constant(y))), np.tensordot(x, y, (-1, along)), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("first", "second", "axes", "law"),
    [
        ((4, 3), (4, 3), 1, "bi,bi->b"),
        ((4, 2, 3), (4, 5, 3), (2, 2), "bij,bkj->bik"),
        ((4, 2, 3), (4, 3), (2, 1), "bij,bj->bi"),
        ((2, 3, 4, 5), (2, 3, 5, 6), None, "abij,abjk->abik"),
    ],
)
def test_batch_dot(first, second, axes, law):
    x, y = np.random.rand(*first), np.random.rand(*second)
    found = k.eval(k.batch_dot(k.constant(x), k.constant(y), axes))
    expected = np.einsum(law, x, y)
    np.testing.assert_allclose(found, expected[:, None] if expected.ndim == 1 else expected, rtol=1e-5)


def test_functions_of_sparse_tensors():
    sparse, x = k.placeholder((2, 3), sparse=True), k.placeholder((3, 2))
    product = k.function([sparse, x], [k.dot(sparse, x), tf.sparse.add(sparse, sparse)])
    given = tf.SparseTensorValue(np.array([[0, 1]]), np.array([2.0]), np.array([2, 3]))
    dense, doubled = product([given, np.ones((3, 2))])
    np.testing.assert_array_equal(dense, [[2.0, 2.0], [0.0, 0.0]])
    assert isinstance(doubled, tf.SparseTensorValue)
    np.testing.assert_array_equal(doubled.values, [4.0])


def test_a_function_ignores_a_learning_phase_that_it_does_not_take():
    x = k.placeholder((2,))
    np.testing.assert_array_equal(k.function([x], x * 2.0)([np.ones(2), 0]), [2.0, 2.0])


def test_images_are_normalized_by_the_variance_of_a_sample():
    x = np.random.rand(2, 3, 3, 2).astype(np.float32)
    _, _, variance = k.normalize_batch_in_training(k.constant(x), None, None, [0, 1, 2])
    np.testing.assert_allclose(k.eval(variance), x.var((0, 1, 2), ddof=1), rtol=1e-5)


def test_moving_averages_start_without_a_bias():
    variable = k.variable([0.0])
    update = k.moving_average_update(variable, [4.0], momentum=0.9)
    session = k.get_session()
    session.run(tf.global_variables_initializer())
    session.run(update)
    np.testing.assert_allclose(session.run(variable), [4.0], rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: k.temporal_padding(k.ones((1, 2, 3)), (1, 2, 3)),
        lambda: k.spatial_2d_padding(k.ones((1, 2, 3, 4)), ((1, 1),)),
        lambda: k.repeat(k.ones((1, 2, 3)), 2),
    ],
)
def test_wrong_ranks_are_refused(call):
    with pytest.raises(AssertionError):
        call()
