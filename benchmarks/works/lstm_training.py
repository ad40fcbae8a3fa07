"""The LSTM's training step, on kernels."""

from benchmarks.works import recurrent

title = "LSTM 50 x 32 x 128 by while_loop, training step, on kernels"
steps = 20
reach = {"tensorflow": 1.0}


def tf1(tf):
    return recurrent.tf1(tf, train=True, compiled=False)


def pytorch():
    return recurrent.pytorch(train=True)


def jax():
    return recurrent.jax(train=True)
