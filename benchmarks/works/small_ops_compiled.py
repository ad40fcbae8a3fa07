"""The small multiplies and adds, compiled."""

from benchmarks.works import small_ops

title = "1000 alternating small multiplies and adds, compiled"
steps = small_ops.steps
reach = {"seconds": 1e-4}


def tf1(tf):
    return small_ops.tf1(tf, compiled=True)
