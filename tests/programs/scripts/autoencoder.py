"""An autoencoder of points on a curve, written for tensorflow.compat.v1."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, control_flow_ops, math_ops
from tensorflow.python.training import moving_averages
from tensorflow.python.util import deprecation, nest

deprecation._PRINT_DEPRECATION_WARNINGS = False
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

if tf.__version__.split(".")[0] != "1":
    print("another version:", tf.__version__)


class Autoencoder(object):
    def __init__(self, inputs, hidden, code, keep_prob):
        dense = lambda x, units, name, act=tf.nn.tanh: tf.layers.dense(  # noqa: E731
            x, units, activation=act, kernel_initializer=tf.glorot_uniform_initializer(seed=3), name=name
        )
        with tf.variable_scope("encoder"):
            self.code = dense(tf.nn.dropout(dense(inputs, hidden, "hidden"), keep_prob), code, "code")
        with tf.variable_scope("decoder"):
            self.output = dense(dense(self.code, hidden, "hidden"), inputs.shape[-1].value, "output", None)
        self.loss = math_ops.reduce_mean(math_ops.square(self.output - inputs))

    def train_op(self, rate):
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(rate, step, 100, 0.5, staircase=True)
        optimizer = tf.train.AdamOptimizer(rate)
        grads, variables = zip(*optimizer.compute_gradients(self.loss))
        grads, self.norm = tf.clip_by_global_norm(grads, 5.0)
        return optimizer.apply_gradients(zip(grads, variables), global_step=step)


def main():
    rng = np.random.RandomState(0)
    angle = rng.uniform(0, 2 * np.pi, 200)
    points = np.stack([np.cos(angle), np.sin(angle), np.cos(angle) ** 2], axis=1).astype(np.float32)

    graph = ops.Graph()
    with graph.as_default():
        tf.set_random_seed(11)
        x = array_ops.placeholder(dtypes.float32, [None, 3], name="x")
        keep_prob = tf.placeholder_with_default(1.0, shape=(), name="keep_prob")
        model = Autoencoder(x, hidden=16, code=2, keep_prob=keep_prob)
        train = model.train_op(0.02)
        smoothed = tf.get_variable("smoothed", [], initializer=tf.zeros_initializer(), trainable=False)
        update = moving_averages.assign_moving_average(smoothed, model.loss, 0.9, zero_debias=False)
        step_op = control_flow_ops.group(train, update)
        init = tf.global_variables_initializer()

    with tf.Session(graph=graph, config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(init)
        first = sess.run(model.loss, {x: points})
        for _ in range(300):
            batch = points[rng.choice(len(points), 50)]
            sess.run(step_op, feed_dict={"x:0": batch, keep_prob: 0.98})
        last = sess.run(model.loss, {x: points})
    sizes = nest.map_structure(lambda v: v.shape.as_list(), {"all": [v for v in graph.get_collection("variables")]})
    print("variables", len(sizes["all"]))
    print("improved" if last < 0.1 * first else "not improved: %s to %s" % (first, last))


main()
