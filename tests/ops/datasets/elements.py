"""The elements of datasets, also of those that a rewritten graph describes."""

import numpy as np
import pytest

import tideflow as tf
from tests.ops.renaming import op_types, with_op_types
from tideflow.graph.op import definitions


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def elements_of(graph):
    """What the iterator "make" / "next" of a graph gives, to the end."""
    node, found = graph.get_operation_by_name("next"), []
    with tf.Session(graph=graph) as session:
        session.run("make")
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                element = [plain(value) for value in session.run(node.outputs)]
                found.append(element[0] if len(element) == 1 else tuple(element))
    return found


def graph_of(dataset):
    """A graph, the default one, with an iterator over the dataset."""
    iterator = tf.data.make_initializable_iterator(dataset)
    with tf.name_scope(None):
        iterator.get_next(name="next")
        tf.group(iterator.initializer, name="make")
    return tf.get_default_graph()


def check(op_type, make, expected):
    """The dataset that `make` makes has the op type and these elements; so has its experimental twin."""
    with tf.Graph().as_default():
        graph = graph_of(make())
    assert op_type in op_types(graph)
    assert elements_of(graph) == expected
    twin = f"Experimental{op_type}"
    if twin in definitions():
        experimental = with_op_types(graph, lambda name: twin if name == op_type else name)
        assert twin in op_types(experimental)
        assert elements_of(experimental) == expected
