"""What an op costs beside its arithmetic: a chain of 1000, multiplies and adds of ten numbers in turn."""

import numpy as np

from benchmarks.works import hot

title = "1000 alternating small multiplies and adds, on kernels"
steps = 200
reach = {"seconds": 1e-3}

START = np.linspace(0, 1, 10, dtype=np.float32)


def tf1(tf, compiled=False):
    x = tf.placeholder(tf.float32, [10])
    y = x
    for _ in range(500):
        y = y * 0.999 + 0.001
    sess = hot.session(tf, compiled)

    def step():
        return sess.run(y, {x: START})[0]

    hot.wait_for_compilation(tf, step, compiled)
    return step
