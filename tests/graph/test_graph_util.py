"""GraphDefs cut down, stripped of training and frozen."""

import numpy as np
import pytest

import tideflow as tf

util = tf.graph_util


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def nodes(graph_def):
    return {node.name: (node.op, list(node.input)) for node in graph_def.node}


def test_a_sub_graph_has_what_its_nodes_need(graph):
    x = tf.placeholder(tf.float32, [2], "x")
    with tf.control_dependencies([tf.no_op(name="before")]):
        y = tf.identity(x, name="y")
    tf.identity(y, name="z")
    cut = util.extract_sub_graph(graph.as_graph_def(), ["y"])
    assert nodes(cut) == {
        "x": ("Placeholder", []),
        "before": ("NoOp", []),
        "y": ("Identity", ["x", "^before"]),
    }
    assert cut.versions == graph.graph_def_versions


def test_bad_requests_for_a_sub_graph(graph):
    definition = graph.as_graph_def()
    with pytest.raises(TypeError, match="must be a graph_pb2"):
        util.extract_sub_graph("no graph", ["y"])
    with pytest.raises(TypeError, match="must be a list"):
        util.extract_sub_graph(definition, "y")
    with pytest.raises(AssertionError, match="nothing is not in graph"):
        util.extract_sub_graph(definition, ["nothing"])


def test_identities_and_checks_are_stripped_where_nothing_waits_for_them(graph):
    x = tf.placeholder(tf.float32, [2], "x")
    checked = tf.check_numerics(tf.identity(x, name="gone"), "not a number", name="check")
    with tf.control_dependencies([checked]):
        waiting = tf.identity(checked, name="waiting")
    tf.identity(waiting, name="protected")
    with tf.control_dependencies([tf.identity(x, name="waited_for")]):
        tf.negative(waiting, name="y")
    assert nodes(util.remove_training_nodes(graph.as_graph_def(), ["protected"])) == {
        "x": ("Placeholder", []),
        "protected": ("Identity", ["x"]),
        "waited_for": ("Identity", ["x"]),
        "y": ("Neg", ["x", "^waited_for"]),
    }


def model(use_resource):
    x, i = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.int32, [None], "i")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=use_resource)
    rows = tf.get_variable("rows", initializer=[[10.0], [20.0]], use_resource=use_resource)
    return tf.add(tf.matmul(x, w), tf.gather(rows, i, name="picked"), name="y")


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_frozen_graph_needs_no_variables(graph, use_resource):
    model(use_resource)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    assert not {"VariableV2", "VarHandleOp", "ReadVariableOp", "ResourceGather"} & {n.op for n in frozen.node}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen, name="")
        found = session.run("y:0", {"x:0": [[1.0, 1.0]], "i:0": [1]})
    np.testing.assert_array_equal(found, [[23.0]])


@pytest.mark.parametrize("use_resource", [False, True])
def test_only_the_variables_asked_for_are_frozen(graph, use_resource):
    model(use_resource)
    definition = graph.as_graph_def()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        only_w = util.convert_variables_to_constants(session, definition, ["y"], ["w"])
        not_rows = util.convert_variables_to_constants(
            session, definition, ["y"], variable_names_blacklist=["rows"]
        )
    assert only_w == not_rows
    kinds = {name: kind for name, (kind, _) in nodes(only_w).items()}
    assert kinds["w"] == "Const"
    assert kinds["rows"] == ("VarHandleOp" if use_resource else "VariableV2")
    assert kinds["picked"] == ("ResourceGather" if use_resource else "GatherV2")


def test_handles_that_pass_an_identity_are_frozen_too(graph):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    read = tf.raw_ops.ReadVariableOp(resource=tf.identity(v.handle), dtype=tf.float32)
    tf.identity(read, name="y")
    with tf.Session() as session:
        session.run(v.initializer)
        frozen = util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_array_equal(session.run("y:0"), [1.0, 2.0])


def test_shapes_by_name(graph):
    tf.placeholder(tf.float32, [None, 2], "x")
    assert util.tensor_shape_from_node_def_name(graph, "x").as_list() == [None, 2]
    assert util.tensor_shape_from_node_def_name(graph, "x:0").as_list() == [None, 2]


def test_what_tensorflow_has_on_the_cpu_only(graph):
    v = tf.Variable(1.0)
    assert util.must_run_on_cpu(tf.constant(1).op)
    assert util.must_run_on_cpu(tf.constant("a").op.node_def)
    assert util.must_run_on_cpu(tf.cast(tf.constant(1), tf.float32).op)
    assert not util.must_run_on_cpu(tf.constant(1.0).op)
    assert util.must_run_on_cpu(v.op, pin_variables_on_cpu=True)
    assert not util.must_run_on_cpu(v.op)
