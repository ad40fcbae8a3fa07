"""The LSTM's forward, loop compiled."""

from benchmarks.works import recurrent

title = "LSTM 50 x 32 x 128 by while_loop, forward, loop compiled"
steps = 40
reach = {"tensorflow": 0.68, "jax": 0.94}


def tf1(tf):
    return recurrent.tf1(tf, train=False, compiled=True)


def pytorch():
    return recurrent.pytorch(train=False)


def jax():
    return recurrent.jax(train=False)
