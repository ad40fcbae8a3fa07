"""Functions of elements that use what is outside of them: variables are read when the function is called."""

import pytest

import tideflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def iterated(session, dataset):
    iterator = dataset.make_initializable_iterator()
    session.run(tf.global_variables_initializer())
    session.run(iterator.initializer)
    return iterator.get_next()


@pytest.mark.parametrize("parallel", [None, 2])
def test_a_variable_is_read_for_each_element(session, parallel):
    scale = tf.get_variable("scale", initializer=2.0, use_resource=True)
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
    element = iterated(session, dataset.map(lambda x: x * scale, num_parallel_calls=parallel))
    assert session.run(element) == 2.0
    session.run(scale.assign(10.0))
    assert session.run(element) == 20.0


def test_a_variable_of_a_function_inside_a_function(session):
    scale = tf.get_variable("scale", initializer=2, use_resource=True)
    dataset = tf.data.Dataset.range(2).flat_map(
        lambda x: tf.data.Dataset.range(2).map(lambda y: tf.to_int32(x + y) * scale)
    )
    element = iterated(session, dataset)
    assert [session.run(element) for _ in range(2)] == [0, 2]
    session.run(scale.assign(10))
    assert [session.run(element) for _ in range(2)] == [10, 20]


def test_effects_happen_once_for_each_element_and_in_order(session):
    seen = tf.get_variable("seen", initializer=0, use_resource=True)

    def counted(x):
        before = seen.read_value()
        seen.assign_add(1)
        return before, seen.read_value()

    element = iterated(session, tf.data.Dataset.range(3).map(counted))
    assert [tuple(session.run(element)) for _ in range(3)] == [(0, 1), (1, 2), (2, 3)]
    assert session.run(seen) == 3


def test_a_variable_can_be_used_while_another_graph_is_the_default():
    with tf.Graph().as_default() as graph:
        variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.Graph().as_default():
        assert variable.read_value().graph is graph
        assert variable.assign(2.0, read_value=False).graph is graph


def test_what_is_no_function_is_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"Dataset.map\(\) must be callable, and 3"):
        tf.data.Dataset.range(2).map(3)
