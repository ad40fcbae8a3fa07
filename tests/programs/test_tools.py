"""TensorFlow's tools: a model of files becomes one file without variables, however it was written."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.programs import modules
from tideflow.programs.inner.tools import graph_tools as tools


@pytest.fixture(params=[False, True], ids=["references", "resources"])
def model(request, tmp_path):
    """A model in files: graphs, a checkpoint, a saver, a SavedModel."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.variable_scope("", use_resource=request.param):
            w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]])
            b = tf.get_variable("b", initializer=[1.0, 1.0])
        y = tf.identity(tf.matmul(x, w) + b, name="y")
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.save(session, tmp_path / "m")
        tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
        tf.train.write_graph(graph, str(tmp_path), "g.pbtxt")
        (tmp_path / "saver").write_bytes(saver.as_saver_def().SerializeToString())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    return tmp_path


def _frozen(folder, **files):
    given = dict(
        input_graph=str(folder / "g.pb"),
        input_saver="",
        input_binary=True,
        input_checkpoint=str(folder / "m"),
        output_node_names="y",
        restore_op_name=None,
        filename_tensor_name=None,
        output_graph=str(folder / "frozen.pb"),
        clear_devices=True,
        initializer_nodes="",
    )
    tools.freeze_graph(**{**given, **files})
    return tf.GraphDef.FromString((folder / "frozen.pb").read_bytes())


@pytest.mark.parametrize("kind", ["binary", "text", "saver", "meta graph", "saved model"])
def test_a_graph_is_frozen_from_any_files(kind, model):
    files = {
        "binary": {},
        "text": dict(input_graph=str(model / "g.pbtxt"), input_binary=False),
        "saver": dict(input_saver=str(model / "saver")),
        "meta graph": dict(input_graph="", input_meta_graph=str(model / "m.meta")),
        "saved model": dict(input_graph="", input_checkpoint="", input_saved_model_dir=str(model / "model")),
    }[kind]
    frozen = _frozen(model, **files)
    assert {node.op for node in frozen.node} == {"Placeholder", "Const", "Identity", "MatMul", "AddV2"}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen, name="")
        assert session.run("y:0", {"x:0": np.ones([1, 2])}).tolist() == [[5, 7]]


def test_what_cannot_be_frozen_is_told(model, tmp_path):
    with pytest.raises(ValueError, match=r"Input checkpoint '.*none' doesn't exist"):
        _frozen(model, input_checkpoint=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="name of a node"):
        _frozen(model, output_node_names="")
    with pytest.raises(OSError, match="does not exist"):
        _frozen(model, input_graph=str(tmp_path / "none"))
    _frozen(model)
    with pytest.raises(ValueError, match="cannot freeze a graph twice"):
        _frozen(model, input_graph=str(model / "frozen.pb"))


def test_parts_of_variables_need_a_saved_model(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        cut = tf.fixed_size_partitioner(2)
        p = tf.get_variable("p", [4], initializer=tf.ones_initializer(), partitioner=cut)
        tf.identity(p, name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, tmp_path / "m")
        tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    with pytest.raises(ValueError, match=r"partition variables .*'p/part_0', 'p/part_1'"):
        _frozen(tmp_path)


def test_a_checkpoint_is_printed(model, capsys):
    tools.print_tensors_in_checkpoint_file(str(model / "m"), "b", False)
    tools.print_tensors_in_checkpoint_file(str(model / "m"), "", False, True, "^w")
    tools.print_tensors_in_checkpoint_file(str(model / "none"), "", True)
    assert capsys.readouterr().out.splitlines() == [
        *("tensor_name:  b", "[1. 1.]", "# Total number of params: 6"),
        *("tensor_name:  b", "tensor_name:  w"),
        *("# Excluding 1 tensors (4 params) that match ^w when counting.", "# Total number of params: 2"),
        f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {model / 'none'}",
    ]


def test_what_is_before_the_inputs_is_stripped(model):
    graph_def = tf.GraphDef.FromString((model / "g.pb").read_bytes())
    stripped = tools.strip_unused(graph_def, ["MatMul"], ["y"], tf.float32.as_datatype_enum)
    kinds = {node.name: node.op for node in stripped.node}
    assert kinds["MatMul"] == "Placeholder" and "w" not in kinds and "b" in kinds
    with pytest.raises(ValueError, match="'x:0' appears to refer to a Tensor"):
        tools.strip_unused(graph_def, ["x:0"], ["y"], 1)
    with pytest.raises(KeyError, match=r"not found: \{'z'\}"):
        tools.strip_unused(graph_def, ["z"], ["y"], 1)


def test_models_by_their_tags(model):
    folder = str(model / "model")
    assert tools.get_saved_model_tag_sets(folder) == [["serve"]]
    assert "serving_default" in tools.get_meta_graph_def(folder, "serve").signature_def
    with pytest.raises(RuntimeError, match="tag-set a,b could not be found"):
        tools.get_meta_graph_def(folder, "a,b")


def test_programs_find_them_where_tensorflow_has_them():
    assert modules.look_up("python.tools.freeze_graph", "freeze_graph") is tools.freeze_graph
    assert modules.look_up("python.tools.strip_unused_lib", "strip_unused") is tools.strip_unused
