"""MetaGraphs: loops and conditionals that are imported can be differentiated; lines, texts, collections."""

import logging
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo

import tideflow as tf


def _exported(build, **options):
    """The message of a graph that computes `y` of `x`."""
    with tf.Graph().as_default():
        tf.identity(build(tf.placeholder(tf.float32, [], name="x")), name="y")
        return tf.train.export_meta_graph(**options)


def _power(x):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, x))[1]


def _nested(x):
    def body(i, a):
        return i + 1, tf.cond(i > 0, lambda: _power(a), lambda: a * x)

    return tf.while_loop(lambda i, a: i < 2, body, (0, x))[1]


@pytest.mark.parametrize(("build", "power"), [(_power, 4), (_nested, 8)])
@pytest.mark.parametrize("scopes", [[None], ["a", "b"]])
def test_gradients_of_an_imported_loop(build, power, scopes):
    message = _exported(build)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        for scope in scopes:
            tf.train.import_meta_graph(message, import_scope=scope)
            prefix = f"{scope}/" if scope else ""
            x, y = (graph.get_tensor_by_name(f"{prefix}{name}:0") for name in "xy")
            value, slope = sess.run([y, tf.gradients(y, x)[0]], {x: 1.5})
            np.testing.assert_allclose([value, slope], [1.5**power, power * 1.5 ** (power - 1)], rtol=1e-5)


def test_what_was_imported_is_exported_again():
    first = _exported(_nested)
    with tf.Graph().as_default():
        tf.train.import_meta_graph(first)
        second = tf.train.export_meta_graph()
    assert first.graph_def == second.graph_def
    assert first.collection_def.keys() == second.collection_def.keys()
    for key, collection in first.collection_def.items():
        assert len(collection.bytes_list.value) == len(second.collection_def[key].bytes_list.value)


def test_operations_may_be_added_to_an_imported_branch():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(tf.cond(x > 0.0, lambda: x * 2.0, lambda: -x), name="y")
        message = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.import_meta_graph(message)
        context = tf.get_collection("cond_context")[0]
        assert context.name == "cond/cond_text"
        assert graph.get_operation_by_name("cond/mul")._control_flow_context is context
        (slope,) = tf.gradients(graph.get_tensor_by_name("y:0"), graph.get_tensor_by_name("x:0"))
        assert [sess.run(slope, {"x:0": v}) for v in (3.0, -3.0)] == [2.0, -1.0]


@pytest.mark.parametrize("as_text", [False, True])
def test_files_of_either_kind_are_read(as_text, tmp_path):
    path = str(tmp_path / "deep" / "g.meta")
    message = _exported(_power, filename=path, as_text=as_text)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(path)
        assert [op.name for op in graph.get_operations()] == [n.name for n in message.graph_def.node]


def test_the_lines_that_made_the_nodes_are_kept_beside_the_file(tmp_path):
    path = tmp_path / "g.meta"
    _exported(_power, filename=str(path), save_debug_info=True)
    info = GraphDebugInfo.FromString((tmp_path / "g.debug").read_bytes())
    (last,) = info.traces["x"].file_line_cols[-1:]
    assert info.files[last.file_index] == __file__
    assert "tf.placeholder" in Path(__file__).read_text().splitlines()[last.line - 1]


def test_a_collection_that_no_message_holds_is_left_out_with_a_warning(caplog):
    with tf.Graph().as_default(), caplog.at_level(logging.WARNING):
        parts = tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(2))
        tf.add_to_collection("parts", parts)
        tf.add_to_collection("objects", object())
        tf.add_to_collection("mixed", 1)
        tf.add_to_collection("mixed", "text")
        message = tf.train.export_meta_graph()
    assert sorted(message.collection_def) == ["trainable_variables", "variables"]
    for key in ("parts", "objects", "mixed"):
        assert f"Issue encountered when serializing {key}" in caplog.text


def test_variables_of_old_files_are_trainable_where_they_are_listed_so():
    with tf.Graph().as_default():
        tf.get_variable("a", [1])
        tf.get_variable("b", [1], trainable=False)
        message = tf.train.export_meta_graph()
    message.meta_info_def.tensorflow_version = "1.8.0"
    with tf.Graph().as_default():
        tf.train.import_meta_graph(message)
        assert {v.op.name: v.trainable for v in tf.global_variables()} == {"a": True, "b": False}


def test_attributes_of_later_writers_are_dropped_where_they_say_nothing():
    message = _exported(tf.exp)
    node = next(node for node in message.graph_def.node if node.op == "Exp")
    node.attr["speed"].i = 7
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="mentions attr 'speed' not in Op<name=Exp;"),
    ):
        tf.train.import_meta_graph(message)
    written = next(op for op in message.meta_info_def.stripped_op_list.op if op.name == "Exp")
    written.attr.add(name="speed", type="int").default_value.i = 7
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message)
        assert "speed" not in graph.get_operation_by_name("Exp").node_def.attr


def test_a_loop_whose_message_names_nothing_is_refused():
    message = _exported(_power)
    (value,) = message.collection_def["while_context"].bytes_list.value
    message.collection_def["while_context"].bytes_list.value[0] = value.replace(
        b"while/LoopCond", b"while/LoopGone"
    )
    with tf.Graph().as_default(), pytest.raises(KeyError, match="LoopGone"):
        tf.train.import_meta_graph(message)


def test_import_into_another_graph():
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        meta_graph = tf.train.export_meta_graph()
    other = tf.Graph()
    with tf.Graph().as_default() as here:
        tf.train.import_meta_graph(meta_graph, graph=other)
    assert here.get_operations() == []
    assert [v.name for v in other.get_collection("variables")] == ["v:0"]
