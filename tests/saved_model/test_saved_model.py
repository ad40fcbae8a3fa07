"""SavedModels: written, moved, loaded again; as objects and as functions; what is refused on the way."""

import os
import shutil

import numpy as np
import pytest

import tideflow as tf
from tests.saved_model.models import INPUT, answer, build


def test_a_model_answers_as_it_did_when_it_was_written(tmp_path):
    expected = build(tmp_path / "m")
    np.testing.assert_array_equal(answer(tmp_path / "m"), expected)


def test_a_model_may_be_moved_with_its_assets(tmp_path):
    vocabulary = tmp_path / "words"
    vocabulary.write_text("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.contrib.lookup.index_table_from_file(str(vocabulary))
        words = tf.placeholder(tf.string, [None], name="words")
        tf.identity(table.lookup(words), name="ids")
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(
            sess,
            ["serve"],
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
    vocabulary.unlink()
    shutil.move(tmp_path / "m", tmp_path / "n")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.load(sess, ["serve"], str(tmp_path / "n"))
        assert sess.run("ids:0", {"words:0": ["b", "z"]}).tolist() == [1, -1]


def test_text_says_the_same_as_binary(tmp_path):
    files = {}
    (tmp_path / "asset").write_text("text")
    for as_text in (False, True):
        path = str(tmp_path / str(as_text))
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.placeholder(tf.float32, [2], name="x")
            builder = tf.saved_model.Builder(path)
            assets = [tf.constant(str(tmp_path / "asset"))]
            builder.add_meta_graph_and_variables(sess, ["serve"], assets_collection=assets)
            written = builder.save(as_text=as_text)
            assert written == os.fsencode(os.path.join(path, f"saved_model.pb{'txt' * as_text}"))
            files[as_text] = tf.saved_model.load(sess, ["serve"], path, import_scope="s")
    assert files[False] == files[True]


def test_graphs_are_found_by_all_of_their_tags(tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    for tags, value in ((["serve"], 1.0), (["serve", "gpu"], 2.0)):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", initializer=3.0)
            tf.multiply(v, value, name="y")
            sess.run(v.initializer)
            if tags == ["serve"]:
                builder.add_meta_graph_and_variables(sess, tags)
            else:
                builder.add_meta_graph(tags)
    builder.save()
    for tags, expected in ((["serve"], 3.0), (["gpu", "serve"], 6.0)):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.saved_model.load(sess, tags, str(tmp_path / "m"))
            assert sess.run("y:0") == expected
    with tf.Session(graph=tf.Graph()) as sess, pytest.raises(RuntimeError, match="available_tags"):
        tf.saved_model.load(sess, ["gpu"], str(tmp_path / "m"))


def test_two_models_live_in_one_graph(model):
    with tf.Graph().as_default(), tf.Session() as sess:
        for scope in ("a", "b"):
            tf.saved_model.load(sess, ["serve"], str(model), import_scope=scope)
        w, b = tf.get_default_graph().get_collection("variables", "a/")
        sess.run([w.assign_add([[1.0], [1.0], [1.0]]), b.assign([0.0])])
        ya, yb = sess.run(["a/y:0", "b/y:0"], {"a/x:0": INPUT, "b/x:0": INPUT})
    assert (ya, yb) == (20, 20.5)  # resources of one name are one, as in TensorFlow


def test_models_that_are_loaded_as_objects_share_nothing(model):
    with tf.Graph().as_default(), tf.Session() as sess:
        first, second = (tf.saved_model.load_v2(str(model)) for _ in range(2))
        sess.run(tf.global_variables_initializer())
        sess.run([v.assign(v * 0.0) for v in first.variables])
        answers = [sess.run(m.signatures["serving_default"](INPUT)["y"]) for m in (first, second)]
    assert answers == [0, 14.5]


def test_ragged_tensors_and_slices_are_found_by_their_infos():
    with tf.Graph().as_default(), tf.Session() as sess:
        ragged = tf.ragged.constant([[1, 2], [], [3]])
        slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([4, 1]))
        for value in (ragged, slices):
            found = tf.saved_model.get_tensor_from_tensor_info(tf.saved_model.build_tensor_info(value))
            assert type(found) is type(value)
        info = tf.saved_model.build_tensor_info(ragged)
        assert sess.run(tf.saved_model.get_tensor_from_tensor_info(info)).to_list() == [[1, 2], [], [3]]
        info.composite_tensor.type_spec.type_spec_class = 5
        with pytest.raises(ValueError, match="ragged tensors and IndexedSlices are known"):
            tf.saved_model.get_tensor_from_tensor_info(info)


def test_a_predictor_is_a_function_of_arrays(model):
    predict = tf.contrib.predictor.from_saved_model(str(model))
    assert predict({"x": INPUT}) == {"y": np.float32([[14.5]])}
    named = tf.contrib.predictor.from_saved_model(
        str(model), input_names={"in": "x:0"}, output_names={"out": "y:0", "b": "b:0"}
    )
    assert named({"in": INPUT}) == {"out": np.float32([[14.5]]), "b": np.float32([0.5])}
    with pytest.raises(ValueError, match="unexpected keys"):
        predict({"z": INPUT})
    with pytest.raises(ValueError, match="at most one of"):
        tf.contrib.predictor.from_saved_model(str(model), "k", input_names={}, output_names={})
    with pytest.raises(ValueError, match=r"Available signatures are \['serving_default'\]"):
        tf.contrib.predictor.from_saved_model(str(model), "k")


# --------------------------------------------------------------------------------------- as objects


def test_a_loaded_signature_is_called_with_tensors(model):
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load_v2(str(model))
        sess.run(tf.global_variables_initializer())
        serve = loaded.signatures["serving_default"]
        once, twice = serve(INPUT)["y"], serve(x=tf.constant(INPUT) * 2.0)["y"]
        assert sess.run([once, twice]) == [14.5, 28.5]
        sess.run(loaded.variables[0].assign_add([[1.0], [0.0], [0.0]]))
        assert sess.run(once) == 15.5
        (slope,) = tf.gradients(twice, loaded.variables[0])
        assert sess.run(slope).ravel().tolist() == [2, 4, 6]
        with pytest.raises(TypeError, match="takes x, not"):
            serve(z=INPUT)
        with pytest.raises(ValueError, match=r"are incompatible|not compatible"):
            serve(np.float32([[1, 2]]))
    with tf.Graph().as_default(), pytest.raises(ValueError, match="belongs to another graph"):
        serve(INPUT)


def test_an_object_is_saved_with_its_variables(tmp_path):
    path = str(tmp_path / "m")

    class Layer(tf.Module):
        def __init__(self, value):
            super().__init__()
            self.kernel = tf.Variable(value, name="kernel", use_resource=True)

    with tf.Graph().as_default(), tf.Session() as sess:
        root = tf.Module()
        root.first, root.second = Layer([1.0, 2.0]), Layer([3.0])
        sess.run(tf.global_variables_initializer())
        tf.saved_model.save(root, path)
    assert sorted(os.listdir(path)) == ["assets", "saved_model.pb", "variables"]
    reader = tf.train.load_checkpoint(os.path.join(path, "variables", "variables"))
    assert reader.get_tensor("first/kernel/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1, 2]
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load_v2(path)
        sess.run(tf.global_variables_initializer())
        assert [sess.run(part.kernel).tolist() for part in (loaded.first, loaded.second)] == [[1, 2], [3]]


def test_signatures_of_a_loaded_model_are_saved_again(model, tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load_v2(str(model))
        sess.run(tf.global_variables_initializer())
        sess.run(loaded.variables[0].assign([[0.0], [0.0], [1.0]]))
        loaded.kept = loaded.variables
        tf.saved_model.save(loaded, str(tmp_path / "again"), signatures=loaded.signatures)
    assert answer(tmp_path / "again") == 3.5


def test_what_is_no_object_or_no_signature_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="Expected a Trackable object for export, got 3"):
        tf.saved_model.save(3, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session(), pytest.raises(ValueError, match="generate a signature"):
        tf.saved_model.save(tf.Module(), str(tmp_path / "m"), signatures=lambda x: x)


def test_an_object_of_a_graph_is_saved_without_a_session(tmp_path):
    with tf.Graph().as_default():
        tf.saved_model.save(tf.Module(), str(tmp_path / "m"))
    assert tf.saved_model.contains_saved_model(str(tmp_path / "m"))
