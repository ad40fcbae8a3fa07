"""The thousand independent ops, compiled."""

from benchmarks.works import independent_ops

title = "1000 independent small ops, summed, compiled"
steps = independent_ops.steps
reach = {"seconds": 3e-4}


def tf1(tf):
    return independent_ops.tf1(tf, compiled=True)
