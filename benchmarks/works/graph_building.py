"""What it costs to build a graph: the mixed graph, from nothing, divided by its number of ops."""

from benchmarks.works import Step, mixed_graph

title = "building a graph, per op"
steps = 4
reach = {"seconds": 50e-6}


def tf1(tf):
    return Step(lambda: mixed_graph.build(tf).size, units=mixed_graph.build(tf).size)
