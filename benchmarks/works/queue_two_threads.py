"""What it costs to hand a small tensor from one thread to another: an enqueue and a dequeue of a queue."""

import threading

import numpy as np

from benchmarks.works import Step

title = "enqueue and dequeue of [16] between two threads, per element"
steps = 4
reach = {"tensorflow": 1.0}

COUNT = 2000
ELEMENT = np.arange(16, dtype=np.float32)


def tf1(tf):
    value = tf.placeholder(tf.float32, [16])
    queue = tf.FIFOQueue(100, [tf.float32], shapes=[[16]])
    enqueue, dequeue = queue.enqueue([value]), queue.dequeue()
    sess = tf.Session()

    def produce():
        for _ in range(COUNT):
            sess.run(enqueue, {value: ELEMENT})

    def consume():
        producer = threading.Thread(target=produce)
        producer.start()
        for _ in range(COUNT):
            found = sess.run(dequeue)
        producer.join()
        return found.sum()

    return Step(consume, units=COUNT)
