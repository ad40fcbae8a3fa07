"""What it costs to feed 100 MB and hardly look at them, beside NumPy's copy of the same array."""

import numpy as np

title = "feeding an array of 100 MB"
steps = 10
reach = {"numpy": 1.0}

ARRAY = np.ones(25_000_000, np.float32)


def tf1(tf):
    x = tf.placeholder(tf.float32, [None])
    first = x[0]
    sess = tf.Session()
    return lambda: sess.run(first, {x: ARRAY})


def numpy():
    return lambda: ARRAY.copy()[0]
