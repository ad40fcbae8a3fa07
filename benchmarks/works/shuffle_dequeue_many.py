"""A batch of 128 from a shuffle queue that holds some thousands; it is filled up again untimed."""

import numpy as np

from benchmarks.works import Step

title = "dequeue_many(128) of [64] from a RandomShuffleQueue"
steps = 200
reach = {"tensorflow": 1.0}

BATCH = 128
FILLING = 4096
ROWS = np.ones((FILLING, 64), np.float32)


def tf1(tf):
    rows = tf.placeholder(tf.float32, [None, 64])
    queue = tf.RandomShuffleQueue(2 * FILLING, FILLING // 2, [tf.float32], shapes=[[64]], seed=1)
    enqueue, batch = queue.enqueue_many([rows]), queue.dequeue_many(BATCH)
    sess = tf.Session()
    sess.run(enqueue, {rows: ROWS})

    def refill():
        sess.run(enqueue, {rows: ROWS[:BATCH]})
        return ()

    return Step(lambda: sess.run(batch).sum(), prepare=refill)
