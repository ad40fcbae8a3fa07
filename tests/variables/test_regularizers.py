"""Keras's regularizers as functions, names and configurations."""

import numpy as np
import pytest

import tideflow as tf

regularizers = tf.keras.regularizers


@pytest.mark.parametrize(
    ("regularizer", "cost"),
    [
        (regularizers.l1(0.5), 1.5),
        (regularizers.l2(0.5), 2.5),
        (regularizers.l1_l2(0.5, 1.0), 6.5),
        (regularizers.L1L2(), 0.0),
    ],
)
def test_costs(regularizer, cost):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, -2.0], regularizer=regularizer)
        session.run(v.initializer)
        (found,) = session.run(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    np.testing.assert_allclose(found, cost)


def test_there_and_back():
    made = regularizers.get(regularizers.serialize(regularizers.l1_l2(0.5, 0.25)))
    assert made.get_config() == {"l1": 0.5, "l2": 0.25}
    assert regularizers.L1L2.from_config(made.get_config()).get_config() == made.get_config()
    assert regularizers.get("l2").get_config() == {"l1": 0.0, "l2": float(np.float32(0.01))}
    assert regularizers.get(abs) is abs
    assert regularizers.get(None) is None


def test_unknown_regularizers():
    with pytest.raises(ValueError, match="Unknown regularizer:nothing"):
        regularizers.get("nothing")
    with pytest.raises(ValueError, match="Could not interpret regularizer identifier: 3"):
        regularizers.get(3)
