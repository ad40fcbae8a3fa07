"""Op types that only the compiler makes are refused in every graph from outside."""

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tideflow as tf
from tideflow.graph.op import definitions

INTERNAL = sorted(name for name, op in definitions().items() if not op.importable)


def test_everything_with_an_underscore_is_internal_unless_it_says_otherwise():
    assert {name for name in definitions() if name.startswith("_")} - set(INTERNAL) == {
        "_Arg",
        "_IteratorState",
        "_RestoreIterator",
        "_Retval",
    }


@pytest.mark.parametrize("op_type", INTERNAL)
def test_a_graph_def_may_not_name_it(op_type):
    graph_def = GraphDef()
    graph_def.node.add(name="x", op=op_type)
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match=f"{op_type}.*internal"):
        tf.import_graph_def(graph_def)


@pytest.mark.parametrize("op_type", INTERNAL)
def test_a_function_of_a_library_may_not_name_it(op_type):
    graph_def = GraphDef()
    function = graph_def.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="x", op=op_type)
    graph_def.node.add(name="call", op="f")
    with tf.Graph().as_default() as graph, pytest.raises(tf.errors.OpError, match="internal"):
        tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph) as session:
            session.run(graph.get_operation_by_name("call"))


def test_a_meta_graph_may_not_name_it():
    meta_graph = tf.MetaGraphDef()
    meta_graph.graph_def.node.add(name="x", op="_MaxPoolGradIndices")
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match="internal"):
        tf.train.import_meta_graph(meta_graph)
