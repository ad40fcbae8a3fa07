"""Layers against NumPy: their variables, names, shapes and values; sharing, training modes and bad input."""

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def evaluated(*fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches), feeds)


def test_dense_is_a_product_a_bias_and_an_activation():
    x = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    layer = tf.layers.Dense(2, activation=tf.nn.relu, bias_initializer=tf.constant_initializer(0.5))
    found, kernel = evaluated(layer(tf.constant(x)), layer.kernel)
    np.testing.assert_allclose(found, np.maximum(x @ kernel + 0.5, 0), rtol=1e-5)
    assert [v.name for v in layer.trainable_weights] == ["dense/kernel:0", "dense/bias:0"]
    assert layer.count_params() == 8


def test_dense_of_more_axes():
    x = np.random.default_rng(1).normal(size=(2, 5, 3)).astype(np.float32)
    y = tf.layers.dense(tf.constant(x), 4, use_bias=False)
    found, kernel = evaluated(y, tf.trainable_variables()[0])
    np.testing.assert_allclose(found, x @ kernel, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "function, shape, options, expected",
    [
        (tf.layers.conv1d, [2, 8, 3], {"filters": 4, "kernel_size": 3}, [2, 6, 4]),
        (tf.layers.conv2d, [2, 8, 8, 3], {"filters": 4, "kernel_size": 3, "padding": "same"}, [2, 8, 8, 4]),
        (tf.layers.conv2d, [2, 8, 8, 3], {"filters": 4, "kernel_size": 3, "dilation_rate": 2}, [2, 4, 4, 4]),
        (tf.layers.conv3d, [1, 4, 4, 4, 2], {"filters": 3, "kernel_size": 2, "strides": 2}, [1, 2, 2, 2, 3]),
        (
            tf.layers.conv2d_transpose,
            [2, 4, 4, 3],
            {"filters": 5, "kernel_size": 3, "strides": 2},
            [2, 9, 9, 5],
        ),
        (
            tf.layers.conv3d_transpose,
            [1, 2, 2, 2, 3],
            {"filters": 2, "kernel_size": 2, "strides": 2},
            [1, 4, 4, 4, 2],
        ),
        (tf.layers.separable_conv1d, [2, 8, 3], {"filters": 4, "kernel_size": 3}, [2, 6, 4]),
        (tf.layers.separable_conv2d, [2, 8, 8, 3], {"filters": 4, "kernel_size": 3}, [2, 6, 6, 4]),
        (tf.layers.max_pooling1d, [2, 8, 3], {"pool_size": 2, "strides": 2}, [2, 4, 3]),
        (tf.layers.average_pooling2d, [2, 8, 8, 3], {"pool_size": 2, "strides": 2}, [2, 4, 4, 3]),
        (tf.layers.max_pooling3d, [1, 4, 4, 4, 2], {"pool_size": 2, "strides": 2}, [1, 2, 2, 2, 2]),
        (tf.layers.flatten, [2, 3, 4], {}, [2, 12]),
    ],
)
def test_shapes_known_before_and_found_after(function, shape, options, expected):
    y = function(tf.ones(shape), **options)
    assert y.shape.as_list() == expected
    (found,) = evaluated(y)
    assert list(found.shape) == expected


def test_transposed_convolutions_take_their_arguments_by_position():
    layer = tf.layers.Conv2DTranspose(3, 2, (2, 2), "same", "channels_last", tf.nn.relu, False)
    layer(tf.ones([1, 2, 2, 1]))
    assert layer.activation is tf.nn.relu and layer.bias is None


def test_names_count_up_and_reuse_shares():
    x = tf.ones([1, 3])
    tf.layers.dense(x, 2)
    tf.layers.dense(x, 2)
    tf.layers.dense(x, 2, name="mine")
    tf.layers.dense(x, 2, name="mine", reuse=True)
    names = [v.op.name for v in tf.trainable_variables()]
    assert names == [f"{n}/{v}" for n in ("dense", "dense_1", "mine") for v in ("kernel", "bias")]


@pytest.mark.parametrize("shape", [[16, 3], [8, 4, 4, 3]], ids=["plain", "fused"])
def test_batch_normalization_with_a_training_placeholder(shape):
    x = np.random.default_rng(2).normal(2.0, 3.0, shape).astype(np.float32)
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(tf.constant(x), momentum=0.9, training=training)
    update = tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    moving_mean, moving_variance = tf.global_variables()[2:]
    axes = tuple(range(len(shape) - 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, _ = session.run([y, update], {training: True})
        expected = (x - x.mean(axes)) / np.sqrt(x.var(axes) + 1e-3)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
        mean, variance = session.run([moving_mean, moving_variance])
        np.testing.assert_allclose(mean, 0.1 * x.mean(axes), rtol=1e-4)
        plain = session.run(y, {training: False})
        np.testing.assert_allclose(plain, (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-3, atol=1e-4)


def test_dropout_with_a_training_placeholder():
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(tf.ones([1000]), 0.25, training=training)
    with tf.Session() as session:
        dropped = session.run(y, {training: True})
        np.testing.assert_allclose(np.unique(dropped), [0, 1 / 0.75], rtol=1e-6)
        assert 150 < (dropped == 0).sum() < 350
        np.testing.assert_array_equal(session.run(y, {training: False}), np.ones(1000))


def test_regularizers_fill_their_collection():
    tf.layers.dense(tf.ones([1, 3]), 2, kernel_regularizer=lambda w: 0.5 * tf.reduce_sum(w**2))
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    found, kernel = evaluated(loss, tf.trainable_variables()[0])
    np.testing.assert_allclose(found, 0.5 * (kernel**2).sum(), rtol=1e-5)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tf.layers.dense(tf.ones([3]), 2), ValueError),
        (lambda: tf.layers.dense(tf.ones([1, 3], tf.int32), 2), TypeError),
        (lambda: tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 2), ValueError),
        (lambda: tf.layers.conv2d(tf.ones([1, 4, 4]), 2, 3), ValueError),
        (lambda: tf.layers.conv2d(tf.ones([1, 4, 4, 1]), 2, 3, padding="sam"), ValueError),
        (lambda: tf.layers.conv2d(tf.ones([1, 4, 4, 1]), 2, (3, 3, 3)), ValueError),
        (lambda: tf.layers.Dense(2, color="red"), TypeError),
    ],
)
def test_bad_input_is_refused(call, error):
    with pytest.raises(error):
        call()


def test_losses_and_updates_of_the_inputs_they_depend_on():
    x, z = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    dense = tf.layers.Dense(2, kernel_regularizer=tf.nn.l2_loss, activity_regularizer=tf.reduce_sum)
    normal = tf.layers.BatchNormalization()
    dense(x)
    normal(x, training=True)
    assert [len(dense.get_losses_for(given)) for given in (None, x, z)] == [1, 1, 0]
    assert [len(normal.get_updates_for(given)) for given in (None, x, z)] == [0, 2, 0]


def test_parts_of_a_variable_are_regularized_once():
    for reuse in (None, True):
        with tf.variable_scope("s", reuse=reuse, partitioner=tf.fixed_size_partitioner(2)):
            tf.layers.dense(tf.ones([2, 4]), 3, name="d", kernel_regularizer=tf.nn.l2_loss)
        assert len(tf.losses.get_regularization_losses()) == 2


def test_a_spec_for_each_input():
    class Pair(tf.layers.Layer):
        def __init__(self):
            super().__init__()
            self.input_spec = [tf.layers.InputSpec(ndim=1), tf.layers.InputSpec(shape=[None, 3])]

        def call(self, inputs):
            return inputs[0]

    Pair()([tf.ones([2]), tf.ones([2, 3])])
    with pytest.raises(
        ValueError,
        match=r"Input 1 is incompatible with layer .* expected shape=.None, 3., found shape=.2, 4.",
    ):
        Pair()([tf.ones([2]), tf.ones([2, 4])])
    with pytest.raises(ValueError, match="expects 2 inputs, but it received 1"):
        Pair()(tf.ones([2]))
    assert str(tf.layers.InputSpec(ndim=2, axes={0: 3})) == "InputSpec(ndim=2, axes={0: 3})"


def test_output_shapes_of_unknown_parts():
    with pytest.raises(ValueError, match="innermost dimension of input_shape must be defined"):
        tf.layers.Dense(3).compute_output_shape(tf.TensorShape(None))
    assert tf.layers.Dropout().compute_output_shape((None, 4)) == (None, 4)
