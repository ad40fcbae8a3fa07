"""What the first `run` of a graph costs: the mixed graph in a new session, divided by its number of ops."""

import numpy as np

from benchmarks.works import Step, mixed_graph

title = "first `run` of a new graph, per op"
steps = 4
reach = {"seconds": 1e-3}

BATCH = np.linspace(-1, 1, 128, dtype=np.float32).reshape(8, 16)


def tf1(tf):
    def prepare():
        built = mixed_graph.build(tf)
        return built, tf.Session(graph=built.graph)

    def first_run(built, sess):
        return sess.run(built.total, {built.x: BATCH})

    return Step(first_run, prepare, units=mixed_graph.build(tf).size)
