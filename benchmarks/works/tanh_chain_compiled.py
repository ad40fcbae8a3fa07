"""The chain of tanh, compiled."""

from benchmarks.works import tanh_chain

title = "chain of 1000 tanh of [16], compiled"
steps = tanh_chain.steps
reach = {"seconds": 5e-5}


def tf1(tf):
    return tanh_chain.tf1(tf, compiled=True)


pytorch, jax = tanh_chain.pytorch, tanh_chain.jax
