"""The LSTM's forward, on kernels."""

from benchmarks.works import recurrent

title = "LSTM 50 x 32 x 128 by while_loop, forward, on kernels"
steps = 40
reach = {"tensorflow": 1.0}


def tf1(tf):
    return recurrent.tf1(tf, train=False, compiled=False)


def pytorch():
    return recurrent.pytorch(train=False)


def jax():
    return recurrent.jax(train=False)
