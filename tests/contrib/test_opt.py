"""contrib.opt: laws of its optimizers, and SciPy's minimizers."""

import numpy as np
import pytest

import tideflow as tf

opt = tf.contrib.opt


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def steps(optimizer, initial, count=3, loss=None):
    v = tf.get_variable("v", initializer=np.asarray(initial, np.float32), use_resource=True)
    train = optimizer.minimize((loss or (lambda u: tf.reduce_sum(3.0 * u)))(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(count):
            session.run(train)
        return session.run(v)


def test_weight_decay_is_apart_from_the_gradient():
    value = steps(opt.MomentumWOptimizer(0.1, 0.5, momentum=0.0), [2.0], count=1)
    np.testing.assert_allclose(value, [2.0 * 0.9 - 1.5], rtol=1e-5)


def test_lars_steps_in_proportion_to_the_weights():
    value = steps(opt.LARSOptimizer(1.0, momentum=0.0, weight_decay=0.0, eeta=0.01), [3.0, 4.0], count=1)
    np.testing.assert_allclose(value, np.array([3.0, 4.0]) - 0.01 * 5 / np.sqrt(2), rtol=1e-4)


def test_signs_that_agree_make_larger_steps():
    # The mean of gradients is one tenth of the first, of its sign: exp(1) times, or twice, the step.
    np.testing.assert_allclose(steps(opt.PowerSignOptimizer(0.1), [0.0], count=1), [-0.3 * np.e], rtol=1e-5)


def test_lazy_adam_leaves_rows_without_gradients_alone():
    table = tf.get_variable("t", initializer=np.ones((4, 2), np.float32))
    optimizer = opt.LazyAdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, [1])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([train])
        session.run([train])
        value, mean = session.run([table, optimizer.get_slot(table, "m")])
    assert (value[[0, 2, 3]] == 1).all() and (value[1] < 1).all()
    assert (mean[[0, 2, 3]] == 0).all() and (mean[1] > 0).all()


def test_averages_follow_the_training():
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), average_decay=0.5)
    assert steps(optimizer, [10.0], count=1) == pytest.approx([7.0])
    assert [v.op.name for v in tf.global_variables()] == ["v", "v/ExponentialMovingAverage"]


def test_scipy_minimizes():
    v = tf.get_variable("v", initializer=[10.0, -3.0])
    u = tf.get_variable("u", initializer=5.0)
    loss = tf.reduce_sum(tf.square(v - [1.0, 2.0])) + tf.square(u + 1.0)
    seen, stepped = [], []
    optimizer = opt.ScipyOptimizerInterface(loss, options={"maxiter": 50})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session, fetches=[loss], loss_callback=seen.append, step_callback=stepped.append)
        np.testing.assert_allclose(session.run(v), [1.0, 2.0], atol=1e-3)
        np.testing.assert_allclose(session.run(u), -1.0, atol=1e-3)
    assert seen[0] > seen[-1] and len(stepped[0]) == 3


def test_scipy_keeps_to_bounds_and_constraints():
    v = tf.get_variable("v", initializer=[5.0, 5.0])
    bounded = opt.ScipyOptimizerInterface(tf.reduce_sum(v * v), var_to_bounds={v: ([1.0, -np.inf], np.inf)})
    constrained = opt.ScipyOptimizerInterface(
        tf.reduce_sum(v * v), equalities=[v[0] + v[1] - 4.0], inequalities=[v[0] - 3.0], method="SLSQP"
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        bounded.minimize(session)
        np.testing.assert_allclose(session.run(v), [1.0, 0.0], atol=1e-3)
        constrained.minimize(session)
        np.testing.assert_allclose(session.run(v), [3.0, 1.0], atol=1e-3)


def test_lars_adds_up_steps_that_are_scaled_already():
    # Two steps at rates 1 and 0: the second moves by the momentum of the first.
    rate = tf.Variable(1.0, trainable=False)
    v = tf.get_variable("v", initializer=[3.0, 4.0])
    optimizer = opt.LARSOptimizer(rate, momentum=0.5, weight_decay=0.0, eeta=0.1)
    train = optimizer.apply_gradients([(tf.constant([3.0, 4.0]), v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(rate.assign(0.0))
        session.run(train)
        np.testing.assert_allclose(session.run(v), [3.0 - 0.45, 4.0 - 0.6], rtol=1e-5)


def test_adam_by_the_global_step_is_adam():
    values = []
    for make in (tf.train.AdamOptimizer, lambda rate: opt.AdamGSOptimizer(step, rate)):
        with tf.Graph().as_default(), tf.Session() as session:
            step = tf.train.get_or_create_global_step()
            v = tf.get_variable("v", initializer=[1.0, -2.0])
            train = make(0.1).minimize(tf.reduce_sum(v * v), global_step=step)
            session.run(tf.global_variables_initializer())
            for _ in range(4):
                session.run(train)
            values.append(session.run(v))
    np.testing.assert_allclose(values[0], values[1], rtol=1e-5)


def test_shampoo_of_one_axis_is_its_own_law():
    value = steps(opt.ShampooOptimizer(learning_rate=1.0, epsilon=0.0), [0.0, 0.0], count=1)
    # The outer product of g with itself, over 2, to the power of -1/2, times g: sqrt(2) g / |g|.
    np.testing.assert_allclose(np.linalg.norm(value), np.sqrt(2), rtol=1e-2)


def test_matrix_roots_by_iteration():
    from tideflow.contrib.opt import matrix_functions

    a = np.random.RandomState(0).normal(size=(4, 4)).astype(np.float32)
    a = a @ a.T + np.eye(4, dtype=np.float32)
    root = matrix_functions.matrix_square_root(tf.constant(a), 4, ridge_epsilon=0.0)
    inverse = matrix_functions.matrix_inverse_pth_root(tf.constant(a), 4, -0.5, ridge_epsilon=0.0)
    with tf.Session() as session:
        root, inverse = session.run([root, inverse])
    np.testing.assert_allclose(root @ root, a, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(inverse @ root, np.eye(4), atol=1e-2)


def test_clipping_keeps_the_norm_of_each_row():
    v = tf.get_variable("v", initializer=np.full((2, 3), 9.0, np.float32))
    optimizer = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.1), {v: [1]}, 2.0)
    train = optimizer.minimize(tf.reduce_sum(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(np.linalg.norm(session.run(v), axis=1), [2.0, 2.0], rtol=1e-5)
