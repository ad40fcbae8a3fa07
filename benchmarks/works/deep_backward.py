"""The backward pass of a loop of 1,000 steps: what its memory is measured on."""

import numpy as np

title = "1,000 steps of a loop and back"
steps = 2
reach = {"tensorflow": 1.0}

START = np.random.RandomState(0).normal(0, 1, (64, 256)).astype(np.float32)
WEIGHTS = np.linalg.qr(np.random.RandomState(1).normal(0, 1, (256, 256)))[0].astype(np.float32)


def tf1(tf):
    x = tf.placeholder(tf.float32, [64, 256])
    w = tf.Variable(WEIGHTS)
    y = tf.while_loop(lambda i, a: i < 1000, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), [0, x])[1]
    grad = tf.reduce_sum(tf.square(tf.gradients(tf.reduce_sum(y), w)[0]))
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return lambda: sess.run(grad, {x: START})
