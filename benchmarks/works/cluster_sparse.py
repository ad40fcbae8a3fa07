"""A step on 32 rows of an embedding of 1 GB on a parameter server, beside one that fetches a scalar."""

import numpy as np

from benchmarks.clusters import chief_of
from benchmarks.works import Step

title = "cluster: a sparse step on 32 rows of a 1 GB embedding"
steps = 200
shared = False
baseline = "a scalar's fetch"
reach = {"baseline": 2.0}

ROWS, WIDTH = 1_000_000, 256


def tf1(tf):
    server = chief_of(tf, __name__)
    with tf.device("/job:ps/task:0"):
        table = tf.get_variable("table", [ROWS, WIDTH], initializer=tf.zeros_initializer())
        scalar = tf.Variable(1.0)
    ids = tf.constant(np.arange(0, ROWS, ROWS // 32)[:32])
    with tf.device("/job:worker/task:0"):
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) + 1.0)
        train = tf.train.GradientDescentOptimizer(0.0).minimize(loss)
    sess = tf.Session(server.target)
    sess.run(tf.global_variables_initializer())
    return Step(lambda: sess.run([loss, train])[0], baseline=lambda: sess.run(scalar))
