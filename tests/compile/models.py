"""Small models of many kinds: what passes over programs are tried on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tideflow as tf
from tests.compile.steps import normal

MODELS: dict[str, Callable] = {}


def model(build: Callable) -> Callable:
    """Registers a function that builds a graph and gives (fetches, feeds)."""
    MODELS[build.__name__] = build
    return build


def _minimize(loss, optimizer=None):
    optimizer = tf.train.GradientDescentOptimizer(0.1) if optimizer is None else optimizer
    return optimizer.minimize(loss)


def _perceptron(optimizer=None):
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int32, [None])
    hidden = tf.layers.dense(x, 4, tf.nn.relu, kernel_initializer=tf.ones_initializer())
    logits = tf.layers.dense(hidden, 3, kernel_initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    return [loss, _minimize(loss, optimizer)], {x: normal(6, 5), y: np.array([0, 1, 2, 0, 1, 2], np.int32)}


@model
def perceptron():
    return _perceptron()


@model
def perceptron_with_momentum():
    return _perceptron(tf.train.MomentumOptimizer(0.1, 0.9))


@model
def perceptron_with_adam():
    return _perceptron(tf.train.AdamOptimizer(0.1))


@model
def perceptron_with_ftrl():
    return _perceptron(tf.train.FtrlOptimizer(0.1))


@model
def convolutions():
    x = tf.placeholder(tf.float32, [None, 8, 8, 2])
    options = {"padding": "same", "kernel_initializer": tf.ones_initializer()}
    h = tf.layers.conv2d(x, 3, 3, activation=tf.nn.relu, **options)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 2, 3, dilation_rate=2, **options)
    loss = tf.reduce_sum(tf.layers.flatten(h) ** 2)
    return [loss, _minimize(loss)], {x: normal(2, 8, 8, 2) * 0.01}


@model
def batch_normalization():
    x, training = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, training=training)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        loss = tf.reduce_sum(y**2)
    return [loss, _minimize(loss)], {x: normal(6, 4), training: np.array(True)}


@model
def embeddings():
    table = tf.Variable(normal(7, 3))
    rows = tf.nn.embedding_lookup(table, [1, 1, 4])
    loss = tf.reduce_sum(rows**2)
    return [loss, _minimize(loss, tf.train.AdamOptimizer(0.1))], {}


@model
def conditionals():
    x, p, q = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    v = tf.Variable(2.0)
    y = tf.cond(p, lambda: tf.cond(q, lambda: v * x, lambda: x**2), lambda: v**2)
    (first,) = tf.gradients(y, v)
    (second,) = tf.gradients(first, v)
    feeds = {x: np.array(3.0, np.float32), p: np.array(False), q: np.array(True)}
    return [y, first, second, _minimize(y)], feeds


@model
def state_in_order():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], use_resource=True)
    seen = [v.read_value(), w.read_value()]
    for k in range(3):
        with tf.control_dependencies(seen):
            changes = [v.assign_add(w * float(k)), w.assign_sub([1.0, 1.0])]
        with tf.control_dependencies(changes):
            seen = [*seen, v.read_value(), w.read_value() * 1.0]
    return seen, {}


@model
def shapes_and_sizes():
    x = tf.placeholder(tf.float32, [None, None])
    rows, columns = tf.unstack(tf.shape(x))
    flat = tf.reshape(x, [rows * columns])
    halves = tf.reshape(tf.tile(flat, [2]), tf.stack([2, rows, columns]))
    return [halves, tf.reduce_mean(halves, [0, 1]), tf.zeros_like(x) + x], {x: normal(3, 4)}


@model
def nothing_but_constants():
    return [tf.matmul(tf.ones([2, 3]), tf.fill([3, 2], 2.0)) + tf.cast(tf.range(2), tf.float32)], {}


@model
def second_derivatives():
    x = tf.placeholder(tf.float64, [3])
    return tf.hessians(tf.reduce_sum(tf.sin(x) * tf.exp(x) / (x + 5.0)), x), {x: np.array([0.1, 0.7, -0.4])}
