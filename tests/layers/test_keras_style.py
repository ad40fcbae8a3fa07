"""Layers that own their variables: tf.layers.experimental."""

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def keras_style():
    with tf.Graph().as_default(), tf.layers.experimental.keras_style_scope():
        yield


def names(variables):
    return [v.op.name for v in variables]


def test_two_layers_of_one_name_are_two():
    x = tf.zeros([2, 3])
    first, second = tf.layers.Dense(4, name="d"), tf.layers.Dense(4, name="d")
    with tf.variable_scope("scope"):
        first(x)
        assert first(x).name == "scope/d_1/BiasAdd:0"
    second(x)
    assert names(tf.global_variables()) == ["scope/d/kernel", "scope/d/bias", "d/kernel", "d/bias"]
    assert names(first.trainable_variables) == ["scope/d/kernel", "scope/d/bias"]


def test_updates_and_losses_are_the_layers_own():
    layer = tf.layers.BatchNormalization()
    layer(tf.zeros([2, 3]), training=True)
    dense = tf.layers.Dense(2, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))
    dense(tf.zeros([2, 3]))
    assert len(layer.updates) == 2 and len(dense.losses) == 1
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS) and not tf.losses.get_regularization_losses()


def test_sharing_by_scope_is_refused():
    with pytest.raises(ValueError, match="reuse argument not allowed when keras style layers are enabled"):
        tf.layers.dense(tf.zeros([2, 3]), 2, reuse=True)
    with pytest.raises(ValueError, match="scope argument not allowed"):
        tf.layers.Dense(2)(tf.zeros([2, 3]), scope="s")


def test_the_style_ends_with_its_scope():
    tf.layers.experimental.set_keras_style()
    with tf.layers.experimental.keras_style_scope():
        pass
    assert tf.layers.Dense(1)._keras_style
