"""Functions that bring their own gradient."""

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_the_gradient_is_the_given_one():
    @tf.custom_gradient
    def pair(x, y):
        return (x * 2.0, y), lambda dx, dy: (dx * 10.0, dy * 100.0)

    x, y = tf.constant(1.0), tf.constant(2.0)
    made = pair(x, y)
    assert isinstance(made, tuple)
    assert run([*made, *tf.gradients(made, [x, y])]) == [2.0, 2.0, 10.0, 100.0]


def test_variables_that_are_read_get_gradients_too():
    v = tf.get_variable("v", initializer=3.0, use_resource=True)
    tf.get_variable("unused", initializer=4.0, use_resource=True)
    asked = []

    @tf.custom_gradient
    def scaled(x):
        def grad(dy, variables):
            asked.extend(variables)
            return dy * 5.0, [dy * 7.0]

        return x * v, grad

    x = tf.constant(2.0)
    y = scaled(x)
    assert run([y, *tf.gradients(y, [x, v])]) == [6.0, 5.0, 7.0]
    assert asked == [v]


def test_a_gradient_function_must_take_the_variables():
    v = tf.get_variable("v", initializer=3.0, use_resource=True)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="grad_fn must accept a keyword argument 'variables'"):
        scaled(tf.constant(1.0))


def test_reference_variables_are_refused():
    @tf.custom_gradient
    def scaled(x):
        return x * tf.get_variable("v", initializer=3.0), lambda dy, variables=None: dy

    with pytest.raises(TypeError, match="must be `ResourceVariable`s"):
        scaled(tf.constant(1.0))


def test_recomputed_means_computed_twice():
    calls = []

    def counted(x):
        def square(value):
            calls.append(value)
            return value * value

        return tf.py_func(square, [x], tf.float32, stateful=False)

    @tf.recompute_grad
    def block(x):
        return x * tf.stop_gradient(counted(x))

    x = tf.constant(2.0)
    y = block(x)
    grad = tf.gradients(y, x)[0]
    with tf.Session() as session:
        value, slope = session.run([y, grad])
    assert (value, slope, len(calls)) == (8.0, 4.0, 2)
