"""Objects with functions in SavedModels: saved, loaded in a graph, saved again; refusals, damaged files."""

import random

import numpy as np
import pytest

import tideflow as tf
from tideflow.io import saved_models


class Scaled(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable([2.0, 3.0], name="v", use_resource=True)
        self.held = {"parts": [tf.Variable(5.0, use_resource=True, trainable=False)]}

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def serve(self, x):
        return {"y": x * self.v + self.held["parts"][0]}

    @tf.function(input_signature=[])
    def grow(self):
        self.v.assign_add([1.0, 1.0])


def _save(root, path, **options):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.save(root, str(path), **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("objects") / "model"
    with tf.Graph().as_default():
        _save(Scaled(), path)
    return path


def test_an_object_is_loaded_with_functions_that_are_differentiated(model, tmp_path):
    x = np.float32([[1, 10]])
    for path in (model, tmp_path / "again"):
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load_v2(str(path), tags=["serve"])
            y = loaded.serve(tf.constant(x))["y"]
            (slope,) = tf.gradients(y, loaded.v)
            by_name = loaded.signatures["serving_default"](x=tf.constant(x))["y"]
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(session.run([y, by_name]), [[[7, 35]]] * 2)
            np.testing.assert_array_equal(session.run(slope), [1, 10])
            assert (loaded.v.trainable, loaded.held["parts"][0].trainable) == (True, False)
            if path is model:
                tf.saved_model.save(loaded, str(tmp_path / "again"))
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.load(session, ["serve"], str(tmp_path / "again"))
        signature = message.signature_def["serving_default"]
        found = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: x})
        np.testing.assert_array_equal(found, [[7, 35]])


def test_a_loaded_function_may_return_nothing_also_inside_of_another(model):
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(str(model), tags=["serve"])
        assert loaded.grow.get_concrete_function().structured_outputs is None
        grown = tf.function(lambda: [loaded.grow(), loaded.v.read_value()][1])()
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(grown), [3, 4])


def test_what_cannot_be_saved_is_refused(tmp_path):
    with tf.Graph().as_default():
        loose, root, path = tf.Variable(1.0, use_resource=True), tf.Module(), tmp_path / "m"
        root.f = tf.function(lambda x: x * loose, input_signature=[tf.TensorSpec([], tf.float32)])
        with pytest.raises(AssertionError, match="references untracked object"):
            _save(root, path)
        root.f = tf.function(lambda x: [x, [x]], input_signature=[tf.TensorSpec([], tf.float32)])
        with pytest.raises(ValueError, match="Got non-flat outputs"):
            _save(root, path, signatures=root.f)
        root.f = tf.function(lambda x: x)
        with pytest.raises(ValueError, match=r"Only `tf\.functions` with an input signature or concrete"):
            _save(root, path, signatures=root.f)
        root.signatures = {"f": tf.Variable(1.0, use_resource=True)}
        with pytest.raises(ValueError, match="This is a reserved attribute"):
            _save(root, path)


def test_what_does_not_fit_a_loaded_function_is_refused(model):
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"incompatible argument tags=\['gpu'\]"):
            tf.saved_model.load_v2(str(model), tags="gpu")
        loaded = tf.saved_model.load_v2(str(model))
        with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
            loaded.serve(tf.ones([2, 3]))


def test_a_function_that_reaches_files_is_refused_where_the_model_is_not_trusted(model, tmp_path):
    root = tf.Module()
    with tf.Graph().as_default():
        root.f = tf.function(tf.read_file, input_signature=[tf.TensorSpec([], tf.string, "name")])
        _save(root, tmp_path / "m")
        with pytest.raises(tf.errors.PermissionDeniedError, match="ReadFile"):
            tf.saved_model.load_v2(str(tmp_path / "m"), trusted=False)
        assert tf.saved_model.load_v2(str(model), trusted=False).serve is not None


def test_damaged_objects_are_errors(model, tmp_path):
    """Bytes of the object graph are changed one at a time: loading and calling works, or is an error."""
    (tmp_path / "variables").symlink_to(model / "variables")
    random_ = random.Random(7)
    whole = saved_models.read_saved_model(str(model))
    text = bytearray(whole.meta_graphs[0].object_graph_def.SerializeToString())
    refused = 0
    for _ in range(60):
        changed = bytearray(text)
        changed[random_.randrange(len(changed))] = random_.randrange(256)
        message = saved_models.SavedModel()
        message.CopyFrom(whole)
        try:
            message.meta_graphs[0].object_graph_def.ParseFromString(bytes(changed))
        except Exception:  # no message at all: read_saved_model refuses it
            continue
        saved_models.write_saved_model(message, str(tmp_path), as_text=False)
        try:
            with tf.Graph().as_default():
                loaded = tf.saved_model.load_v2(str(tmp_path))
                loaded.serve(tf.ones([1, 2]))
        except (ValueError, TypeError, AttributeError, tf.errors.OpError):
            refused += 1
    assert refused > 5
