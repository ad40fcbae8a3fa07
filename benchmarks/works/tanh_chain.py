"""A chain of 1000 tanh of sixteen numbers: what an op costs whose arithmetic is not nothing."""

import numpy as np

from benchmarks.works import hot

title = "chain of 1000 tanh of [16], on kernels"
steps = 200
reach = {"tensorflow": 1.0}

LENGTH = 1000
START = np.linspace(0, 1, 16, dtype=np.float32)


def tf1(tf, compiled=False):
    x = tf.placeholder(tf.float32, [16])
    y = x
    for _ in range(LENGTH):
        y = tf.tanh(y)
    sess = hot.session(tf, compiled)

    def step():
        return sess.run(y, {x: START})[-1]

    hot.wait_for_compilation(tf, step, compiled)
    return step


def pytorch():
    import torch

    def step():
        y = torch.from_numpy(START)
        for _ in range(LENGTH):
            y = torch.tanh(y)
        return y[-1].item()

    return step


def jax():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def chain(x):
        for _ in range(LENGTH):
            x = jnp.tanh(x)
        return x

    return lambda: float(chain(START)[-1])
