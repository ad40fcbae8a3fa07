"""Kinds of models: each from files that its own library wrote, and what is refused."""

import os
import textwrap
from pathlib import Path

import joblib
import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from sklearn.linear_model import LogisticRegression

import tideflow as tf
from tideflow.serving.calls import DEFAULT_SIGNATURE
from tideflow.serving.model_kinds import load_model
from tideflow.serving.models import compile_ahead, zeros


def save_linear(path, weight=2.0, bias=1.0):
    """A SavedModel: y = weight * x + bias, a row a number."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", initializer=weight)
        y = tf.add(x * w, bias, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y})
    return path


def run(model, *inputs):
    signature = model.signatures[DEFAULT_SIGNATURE]
    found = model.run(DEFAULT_SIGNATURE, dict(zip(signature.inputs, inputs)), tuple(signature.outputs))
    return [found[name] for name in signature.outputs]


ROWS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_saved_models(tmp_path):
    model = load_model(str(save_linear(tmp_path / "1")))
    (y,) = run(model, ROWS)
    np.testing.assert_array_equal(y, 2 * ROWS + 1)
    spec = model.signatures[DEFAULT_SIGNATURE].inputs["x"]
    assert (spec.dtype, spec.shape, spec.tensor_name) == (tf.float32, (None, 3), "x:0")
    assert compile_ahead(model) > 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot feed value of shape"):
        run(model, np.zeros((2, 4), np.float32))
    model.close()


def test_python_models_are_a_function_of_a_batch(tmp_path):
    (tmp_path / "model.py").write_text("def predict_batch(inputs):\n    return inputs.sum(1)\n")
    np.testing.assert_array_equal(run(load_model(str(tmp_path), trusted=True), ROWS)[0], [6, 15])


def test_python_models_with_several_inputs_and_outputs(tmp_path):
    (tmp_path / "model.py").write_text(
        textwrap.dedent("""
        INPUTS = {"a": ("float32", [None, 3]), "b": ("string", [None])}
        OUTPUTS = {"sums": ("float64", [None]), "words": ("string", [None])}

        def predict_batch(inputs):
            return {"sums": inputs["a"].sum(1), "words": [word.decode() + "!" for word in inputs["b"]]}
        """)
    )
    model = load_model(str(tmp_path), trusted=True)
    sums, words = run(model, ROWS, np.array([b"x", b"y"], object))
    assert sums.dtype == np.float64 and words.tolist() == [b"x!", b"y!"] and words.dtype == object
    with pytest.raises(tf.errors.InvalidArgumentError, match="The model failed: AttributeError"):
        run(model, ROWS, np.array([1, 2], object))


def test_scikit_learn(tmp_path):
    estimator = LogisticRegression().fit(np.arange(12).reshape(4, 3), ["no", "no", "yes", "yes"])
    joblib.dump(estimator, tmp_path / "model.joblib")
    labels, scores = run(load_model(str(tmp_path), trusted=True), ROWS)
    assert labels.tolist() == [label.encode() for label in estimator.predict(ROWS)]
    np.testing.assert_allclose(scores, estimator.predict_proba(ROWS))


def test_torchscript(tmp_path):
    module = torch.nn.Linear(3, 2)
    torch.jit.save(torch.jit.trace(module, torch.zeros(1, 3)), tmp_path / "model.pt")
    expected = module(torch.from_numpy(ROWS)).detach().numpy()
    np.testing.assert_allclose(run(load_model(str(tmp_path), trusted=True), ROWS)[0], expected, rtol=1e-6)


def test_exported_programs_of_pytorch(tmp_path):
    module = torch.nn.Linear(3, 2)
    rows = torch.export.Dim("rows", min=1)
    program = torch.export.export(module, (torch.zeros(2, 3),), dynamic_shapes=({0: rows},))
    torch.export.save(program, tmp_path / "model.pt2")
    model = load_model(str(tmp_path), trusted=True)
    assert [spec.shape for spec in model.signatures[DEFAULT_SIGNATURE].inputs.values()] == [(None, 3)]
    expected = module(torch.from_numpy(ROWS)).detach().numpy()
    np.testing.assert_allclose(run(model, ROWS)[0], expected, rtol=1e-6)


def test_onnx(tmp_path):
    shape = ["rows", 3]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [x], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, tmp_path / "model.onnx")
    model = load_model(str(tmp_path))
    np.testing.assert_array_equal(run(model, ROWS)[0], -ROWS)
    assert zeros(model.signatures[DEFAULT_SIGNATURE].inputs, 2)["x"].shape == (2, 3)


def test_what_runs_code_is_not_loaded_unless_trusted(tmp_path):
    (tmp_path / "model.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(tf.errors.PermissionDeniedError, match="--trust_models"):
        load_model(str(tmp_path))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "files, platform, error, words",
    [
        ({}, "", tf.errors.NotFoundError, "holds no model: none of saved_model.pb, model.py"),
        ({}, "caffe", tf.errors.InvalidArgumentError, "no kind of model 'caffe'"),
        ({"model.py": "1 / 0"}, "", tf.errors.FailedPreconditionError, "ZeroDivisionError"),
        ({"model.py": "import no_such_thing"}, "", tf.errors.FailedPreconditionError, "needs no_such_thing"),
        ({"model.onnx": "no"}, "", tf.errors.FailedPreconditionError, "model.onnx"),
        ({"saved_model.pb": "no"}, "", tf.errors.FailedPreconditionError, "cannot be loaded"),
    ],
)
def test_what_cannot_be_loaded(tmp_path, files, platform, error, words):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=words):
        load_model(str(tmp_path), platform, trusted=True)


@pytest.mark.parametrize(
    "name",
    [
        "saved_model.pb",
        "saved_model.pbtxt",
        "variables/variables.index",
        "variables/variables.data-00000-of-00001",
        "assets/words.txt",
        "assets.extra/tf_serving_warmup_requests",
        "model.joblib",
    ],
)
@pytest.mark.parametrize(
    "make, error, words",
    [
        (os.mkfifo, tf.errors.FailedPreconditionError, "is not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), tf.errors.FailedPreconditionError, "not a regular file"),
        (
            lambda path: path.symlink_to(path.name),
            tf.errors.InvalidArgumentError,
            "Too many levels",
        ),
    ],
)
def test_files_whose_reader_would_wait_are_refused(tmp_path, save_linear, name, make, error, words):
    path = Path(save_linear(tmp_path / "1", 3), name)
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    make(path)
    with pytest.raises(error, match=words):
        load_model(str(tmp_path / "1"), trusted=True)


def test_a_message_that_is_too_large_is_not_read(tmp_path, save_linear):
    path = Path(save_linear(tmp_path / "1", 3))
    os.truncate(path / "saved_model.pb", 1 << 40)  # a sparse file
    with pytest.raises(tf.errors.FailedPreconditionError, match="more than a message can have"):
        load_model(str(path))
