"""The LSTM's training step, loop compiled."""

from benchmarks.works import recurrent

title = "LSTM 50 x 32 x 128 by while_loop, training step, loop compiled"
steps = 20
reach = {"tensorflow": 0.72, "jax": 0.81}


def tf1(tf):
    return recurrent.tf1(tf, train=True, compiled=True)


def pytorch():
    return recurrent.pytorch(train=True)


def jax():
    return recurrent.jax(train=True)
