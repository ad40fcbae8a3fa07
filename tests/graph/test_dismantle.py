"""A graph that was taken apart leaves nothing for the collector."""

import weakref

import tideflow as tf
from tideflow.graph.dismantle import dismantle_graph


def test_nothing_of_the_graph_stays(without_collector):
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0], name="x")
        with tf.control_dependencies([x]):
            y = tf.exp(x)[0]
        tf.add_to_collection("kept", y)
        tf.gradients(y, x)
    parts = [weakref.ref(each) for each in (graph, x, x.op, y)]
    dismantle_graph(graph)
    del graph, x, y
    assert [part() for part in parts] == [None] * len(parts)
