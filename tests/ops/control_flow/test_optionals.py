"""Optionals: a value that may be there, or not, and the gradients that pass through one."""

import pytest

import tideflow as tf

raw = tf.raw_ops
PAIR = {"output_types": [tf.float32, tf.string], "output_shapes": [[2], []]}


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_what_was_put_in_comes_out(session):
    optional = raw.OptionalFromValue(components=[tf.constant([1.0, 2.0]), tf.constant("a")])
    numbers, text = raw.OptionalGetValue(optional=optional, **PAIR)
    there, numbers, text = session.run([raw.OptionalHasValue(optional=optional), numbers, text])
    assert (there, numbers.tolist(), text) == (True, [1.0, 2.0], b"a")


def test_an_empty_one_has_no_value(session):
    empty = raw.OptionalNone()
    assert not session.run(raw.OptionalHasValue(optional=empty))
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        session.run(raw.OptionalGetValue(optional=empty, **PAIR))


def test_a_value_of_another_type_is_refused(session):
    optional = raw.OptionalFromValue(components=[tf.constant([1, 2]), tf.constant("a")])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected type for component 0"):
        session.run(raw.OptionalGetValue(optional=optional, **PAIR))


def test_gradients_pass_through(session):
    x = tf.constant([1.0, 2.0])
    optional = raw.OptionalFromValue(components=[x * x])
    (y,) = raw.OptionalGetValue(optional=optional, output_types=[tf.float32], output_shapes=[[2]])
    assert session.run(tf.gradients(y, x)[0]).tolist() == [2.0, 4.0]
