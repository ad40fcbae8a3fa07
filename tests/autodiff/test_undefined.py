"""Op types of which no gradient is known: a gradient through one is an error, not None."""

import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode


def test_the_error_says_where_the_operation_was_made_and_what_to_do() -> None:
    x = tf.constant([1.0, 2.0])
    y = tf.bitcast(x, tf.float32, name="same_bits")
    words = r"No gradient defined for operation 'same_bits' \(op type: Bitcast\), made at .*test_undefined"
    with pytest.raises(LookupError, match=words):
        tf.gradients(y, x)
    assert tf.gradients(tf.stop_gradient(y), x) == [None]


def test_results_that_carry_no_gradient_are_no_error() -> None:
    x = tf.constant([1.0, 2.0])
    _, positions = tf.unique(x)
    (gradient,) = tf.gradients(tf.gather(x, positions), x)
    assert gradient is not None


def test_eager_tapes_refuse_it_too() -> None:
    with eager_mode():
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.bitcast(x, tf.float32)
        with pytest.raises(LookupError):
            tape.gradient(y, x)
