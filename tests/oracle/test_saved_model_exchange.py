"""SavedModels written by TensorFlow run here, and ours there: in a session, and by TensorFlow's own tool."""

import pickle
import subprocess

import modern_models
import numpy as np
import pytest
import saved_model_exchange
from runner import ENVIRONMENTS, ORACLE, SUBJECT, exchange, run


@pytest.fixture(scope="module")
def folder(oracle, tmp_path_factory):
    return exchange("saved_model_exchange.py", tmp_path_factory.mktemp("models"))


def _assert_close(found, expected):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if np.asarray(value).dtype.kind in "SUO":
            assert np.asarray(found[key]).tolist() == np.asarray(value).tolist()
        else:
            np.testing.assert_allclose(found[key], value, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("model", saved_model_exchange.MODELS)
@pytest.mark.parametrize("writer", [ORACLE, SUBJECT])
def test_model_of_one_answers_alike_in_the_other(writer, model, folder):
    answers = pickle.loads((folder / writer / "answers").read_bytes())[model]
    read = pickle.loads((folder / f"{writer}.read").read_bytes())[model]
    _assert_close(read["plain"], answers)
    _assert_close(read["scoped"], answers)


@pytest.mark.parametrize("model", saved_model_exchange.MODELS)
def test_models_have_the_same_files(model, folder):
    ours, theirs = (
        sorted(str(p.relative_to(folder / side / model)) for p in (folder / side / model).rglob("*"))
        for side in (SUBJECT, ORACLE)
    )
    assert ours == theirs


def _tool(*arguments):
    """What TensorFlow's saved_model_cli says."""
    command = [str(ENVIRONMENTS / ORACLE / "bin" / "saved_model_cli"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode()


def test_tensorflows_tool_shows_and_runs_ours(folder, tmp_path):
    path = folder / SUBJECT / "resources" / "model"
    shown = _tool("show", "--dir", path, "--all")
    assert "signature_def['serving_default']" in shown
    assert "inputs['x'] tensor_info:\n        dtype: DT_FLOAT\n        shape: (-1, 3)" in shown
    assert "Method name is: tensorflow/serving/predict" in shown
    expression = f"x={saved_model_exchange.INPUT}"
    signature = ("--tag_set", "serve", "--signature_def", "serving_default")
    _tool("run", "--dir", path, *signature, "--input_exprs", expression, "--outdir", tmp_path)
    answers = pickle.loads((folder / SUBJECT / "answers").read_bytes())["resources"]
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), answers["y"], rtol=1e-5)


# ------------------------------------------------------------------------------------------- TensorFlow 2


@pytest.fixture(scope="module")
def modern(tmp_path_factory):
    if not (ENVIRONMENTS / "tf2" / "bin" / "python").exists():
        pytest.fail("no oracle environment tf2: run tests/oracle/make-oracles")
    home = tmp_path_factory.mktemp("modern") / "models"
    run("tf2", "modern_models.py", "write", home)
    return home


@pytest.mark.parametrize("model", modern_models.MODELS)
def test_signatures_of_tensorflow_2_run_here(model, modern):
    import tideflow as tf

    answers = pickle.loads((modern / f"{model}.answers").read_bytes())
    with tf.Graph().as_default(), tf.Session() as sess:
        message = tf.saved_model.load(sess, ["serve"], str(modern / model))
        for key, (feeds, expected) in answers.items():
            signature = message.signature_def[key]
            fetches = {name: signature.outputs[name].name for name in expected}
            found = sess.run(fetches, {signature.inputs[name].name: value for name, value in feeds.items()})
            _assert_close(found, expected)


def test_a_model_of_tensorflow_2_is_saved_again_by_its_own_saver(modern, tmp_path):
    import tideflow as tf

    with tf.Graph().as_default(), tf.Session() as sess:
        message = tf.saved_model.load(sess, ["serve"], str(modern / "module"))
        path = tf.train.Saver(saver_def=message.saver_def).save(sess, str(tmp_path / "m"), write_state=False)
    old, new = (
        {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map() if name[0] != "_"}
        for reader in map(tf.train.load_checkpoint, (str(modern / "module/variables/variables"), path))
    )
    assert old.keys() == new.keys()
    for name, value in old.items():
        np.testing.assert_array_equal(new[name], value)


@pytest.mark.parametrize("model", modern_models.MODELS)
def test_models_of_tensorflow_2_are_objects_here(model, modern):
    import tideflow as tf

    answers = pickle.loads((modern / f"{model}.answers").read_bytes())
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load_v2(str(modern / model))
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for key, (feeds, expected) in answers.items():
            _assert_close(sess.run(loaded.signatures[key](**feeds)), expected)


def test_ours_are_objects_in_tensorflow_2(folder, modern):
    run("tf2", "modern_models.py", "read", folder / SUBJECT, folder / "modern.read")
    read = pickle.loads((folder / "modern.read").read_bytes())
    answers = pickle.loads((folder / SUBJECT / "answers").read_bytes())
    assert read.keys() == saved_model_exchange.MODELS.keys() - {"sparse"}
    for name, found in read.items():
        _assert_close(found, answers[name])
