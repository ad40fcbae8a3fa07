"""What scopes around `import_graph_def` do to the imported nodes."""

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

import tideflow as tf


def exported():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.identity(tf.placeholder(tf.float32, name="a"), name="b"), name="c")
    return graph.as_graph_def()


def test_every_imported_node_waits_for_the_scopes_controls():
    with tf.Graph().as_default() as graph:
        before, x = tf.no_op(name="before"), tf.constant(1.0, name="x")
        with tf.control_dependencies([before, x]):
            (c,) = tf.import_graph_def(exported(), {"a:0": x}, ["c:0"], name="i")
            after = tf.identity(c)
        for name in ("i/a", "i/b", "i/c"):
            assert graph.get_operation_by_name(name).control_inputs == [before, x.op]
        assert after.op.control_inputs == []  # what it takes has waited


def test_an_imported_colocation_keeps_the_device_of_its_group():
    with tf.Graph().as_default() as graph:
        with tf.device("/gpu:0"):
            anchor = tf.constant(1.0)
        with tf.colocate_with(anchor), tf.device("/cpu:0"):
            tf.import_graph_def(exported(), name="i")
        assert graph.get_operation_by_name("i/a").device == "/device:GPU:0"


@pytest.mark.parametrize("attr", ['list { s: "loc:@\\377" }', "i: 3", 's: "loc:@a"'])
def test_a_colocation_that_is_no_list_of_names_is_refused(attr):
    graph_def = exported()
    graph_def.node[0].attr["_class"].CopyFrom(text_format.Parse(attr, AttrValue()))
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"'_class' is .*, not a list of names"):
        tf.import_graph_def(graph_def)
