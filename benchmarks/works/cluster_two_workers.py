"""An asynchronous job that only computes, by two workers at once, beside one worker doing it all."""

import numpy as np

from benchmarks.clusters import chief_of
from benchmarks.works import Step

title = "cluster: 40 asynchronous steps by two workers"
steps = 3
shared = False
baseline = "one worker's"
reach = {"baseline": 1 / 1.7}

EACH = 20


def graph(tf, index):
    with tf.device("/job:ps/task:0"):
        weights = tf.get_variable("weights", [400, 400], initializer=tf.zeros_initializer())
        turns = [tf.FIFOQueue(1, tf.int32, shapes=[], shared_name=name) for name in ("begin", "done")]
    with tf.device(f"/job:worker/task:{index}"):
        x = tf.constant(np.ones([1500, 400], np.float32))
        loss = tf.reduce_mean((tf.nn.relu(x @ weights) - x) ** 2)
        train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
    return weights, train, turns


def one_thread(tf):
    return tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)


def tf1(tf):
    server = chief_of(tf, __name__, 1, 2)
    weights, train, (begin, done) = graph(tf, 0)
    put, take = begin.enqueue(1), done.dequeue()
    sess = tf.Session(server.target, config=one_thread(tf))
    sess.run(weights.initializer)

    def alone():
        for _ in range(2 * EACH):
            sess.run(train)
        return 0.0

    def together():
        sess.run(put)
        for _ in range(EACH):
            sess.run(train)
        sess.run(take)
        return 0.0

    return Step(together, baseline=alone)


def worker(tf, server, index):
    _, train, (begin, done) = graph(tf, index)
    take, put = begin.dequeue(), done.enqueue(1)
    sess = tf.Session(server.target, config=one_thread(tf))
    while True:
        sess.run(take)
        for _ in range(EACH):
            sess.run(train)
        sess.run(put)
