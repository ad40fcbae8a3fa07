"""SavedModels that are graphs alone, loaded in eager mode: functions, variables, tables, refusals."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.functions.lifting import UnliftableError


@pytest.fixture
def eager():
    with eager_mode():
        yield


def _save(path, build):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, outputs, start = build()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.simple_save(session, str(path), inputs, outputs, legacy_init_op=start)
    return str(path)


def _product():
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=3.0, use_resource=True)
    return {"x": x}, {"y": tf.multiply(x, v, name="out")}, None


def _branches():
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=3.0)
    return {"x": x}, {"y": tf.cond(x > 0.0, lambda: x * v, lambda: -v)}, None


def test_signatures_are_functions_of_eager_tensors(tmp_path, eager):
    model = tf.saved_model.load_v2(_save(tmp_path / "m", _product))
    serve = model.signatures["serving_default"]
    with tf.GradientTape() as tape:
        y = serve(tf.constant(2.0))["y"]
    (v,) = model.variables
    assert (y.numpy(), tape.gradient(y, v).numpy()) == (6.0, 2.0)
    v.assign(5.0)
    assert tf.function(lambda x: serve(x=x)["y"] + 1.0)(tf.constant(-1.0)).numpy() == -4.0
    branches = tf.saved_model.load_v2(_save(tmp_path / "n", _branches)).signatures["serving_default"]
    assert [branches(x=tf.constant(x))["y"].numpy() for x in (2.0, -2.0)] == [6.0, -3.0]
    part = model.prune("x:0", {"y": "out:0"})
    assert part(x=tf.constant(1.0))["y"].numpy() == 5.0
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        model.prune("x", "out:0")


def test_two_models_share_no_variables(tmp_path, eager):
    path = _save(tmp_path / "m", _product)
    first, second = (tf.saved_model.load_v2(path) for _ in range(2))
    first.variables[0].assign(0.0)
    answers = [
        model.signatures["serving_default"](tf.constant(1.0))["y"].numpy() for model in (first, second)
    ]
    assert answers == [0.0, 3.0]


def _numbered():
    word = tf.placeholder(tf.string, [None], name="word")
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    return {"word": word}, {"number": table.lookup(word)}, tf.tables_initializer()


def test_tables_are_filled(tmp_path, eager):
    model = tf.saved_model.load_v2(_save(tmp_path / "m", _numbered))
    found = model.signatures["serving_default"](tf.constant(["b", "z", "a"]))["number"]
    assert found.numpy().tolist() == [1, -1, 0]


def _sum_of_two():
    x, y = (tf.placeholder(tf.float32, [], name=name) for name in "xy")
    return {"x": x}, {"z": x + y}, None


def _sparse():
    x = tf.sparse.placeholder(tf.float32, name="x")
    return {"x": x}, {"y": tf.sparse.reduce_sum(x)}, None


def test_signatures_that_no_function_can_have(tmp_path, eager):
    with pytest.raises(UnliftableError, match="needs an input for each placeholder"):
        tf.saved_model.load_v2(_save(tmp_path / "m", _sum_of_two))
    with pytest.raises(ValueError, match=r"several tensors.*load the model in a tf\.Graph"):
        tf.saved_model.load_v2(_save(tmp_path / "n", _sparse))


def _reading():
    x = tf.placeholder(tf.string, [], name="x")
    return {"x": x}, {"y": tf.read_file(x)}, None


def test_a_model_that_is_not_trusted_reaches_no_files(tmp_path, eager):
    path = _save(tmp_path / "m", _reading)
    with pytest.raises(tf.errors.PermissionDeniedError):
        tf.saved_model.load_v2(path, trusted=False)
    (tmp_path / "f").write_text("words")
    read = tf.saved_model.load_v2(path).signatures["serving_default"]
    assert read(tf.constant(str(tmp_path / "f")))["y"].numpy() == b"words"
    safe = tf.saved_model.load_v2(_save(tmp_path / "n", _product), trusted=False)
    assert np.isclose(safe.signatures["serving_default"](tf.constant(1.0))["y"], 3.0)
