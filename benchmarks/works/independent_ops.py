"""A thousand small ops of which none waits for another, and their sum."""

import numpy as np

from benchmarks.works import hot

title = "1000 independent small ops, summed, on kernels"
steps = 100
reach = {}

START = np.linspace(0, 1, 16, dtype=np.float32)


def tf1(tf, compiled=False):
    x = tf.placeholder(tf.float32, [16])
    y = tf.add_n([x * (i / 1000) for i in range(1000)])
    sess = hot.session(tf, compiled)

    def step():
        return sess.run(y, {x: START})[-1]

    hot.wait_for_compilation(tf, step, compiled)
    return step
