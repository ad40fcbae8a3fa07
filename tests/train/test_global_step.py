"""The global step: found, made, checked."""

import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode

T = tf.train


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def test_made_once_and_found_again():
    assert T.get_global_step() is None
    with tf.name_scope("ignored"):
        step = T.get_or_create_global_step()
    assert (step.op.name, step.dtype.base_dtype, step.trainable) == ("global_step", tf.int64, False)
    assert T.get_global_step() is step
    assert T.get_or_create_global_step() is step
    assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    with pytest.raises(ValueError, match="already exists"):
        T.create_global_step()


def test_in_another_graph():
    other = tf.Graph()
    step = T.get_or_create_global_step(other)
    assert step.graph is other
    assert T.get_global_step() is None


def test_found_by_its_name():
    v = tf.Variable(3, name="global_step", trainable=False)
    found = T.get_global_step()
    assert found.name == "global_step:0"
    with tf.Session() as session:
        session.run(v.initializer)
        assert T.global_step(session, found) == 3


def test_more_than_one_is_none():
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.constant(1))
    with pytest.warns(UserWarning, match="more than one"):
        assert T.get_global_step() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: 3, "must be a Variable or Tensor"),
        (lambda: tf.constant(3.0), "does not have integer type"),
        (lambda: tf.constant([3]), "is not scalar"),
        (lambda: tf.Variable([1, 2]), "is not scalar"),
    ],
)
def test_what_cannot_be_a_global_step(make, message):
    with pytest.raises(TypeError, match=message):
        T.assert_global_step(make())


def test_what_can():
    T.assert_global_step(tf.constant(3))
    T.assert_global_step(tf.Variable(3))
    T.assert_global_step(tf.placeholder(tf.int32))


def test_eagerly_its_value_needs_no_session():
    with eager_mode():
        assert T.global_step(None, tf.constant(5)) == 5
