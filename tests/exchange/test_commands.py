"""`tideflow export` and `tideflow import`, one after the other."""

import re
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tests import starter
from tideflow.cli import main

pytest.importorskip("onnxscript")


@pytest.fixture
def saved_model(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.layers.dense(x, 2, tf.tanh)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
        tf.train.Saver().save(session, str(tmp_path / "ckpt"))
        rows = np.arange(12, dtype=np.float32).reshape(4, 3)
        return tmp_path / "model", y.op.name, rows, session.run(y, {x: rows})


def test_out_to_onnx_and_in_again(saved_model, tmp_path, capsys):
    path, _, rows, wanted = saved_model
    assert main(["export", str(path), "--to", "onnx", "--out", str(tmp_path / "model.onnx")]) == 0
    assert main(["import", str(tmp_path / "model.onnx"), "--out", str(tmp_path / "again")]) == 0
    assert "from ['x'] to ['y']" in capsys.readouterr().out
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.load(session, ["serve"], str(tmp_path / "again"))
        signature = message.signature_def["serving_default"]
        found = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: rows})
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_checkpoint_needs_the_names_of_its_ends(saved_model, tmp_path, capsys):
    _, output, _, _ = saved_model
    prefix = str(tmp_path / "ckpt")
    assert main(["export", prefix, "--to", "torch"]) == 2
    assert "give --inputs and --outputs" in capsys.readouterr().err
    assert main(["export", prefix, "--to", "torch", "--inputs", "x", "--outputs", output]) == 0
    assert (tmp_path / "ckpt.pt2").exists()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nothing", "--to", "onnx"], "neither a SavedModel nor a checkpoint"),
        (["MODEL", "--to", "onnx", "--signature", "s"], "has no signature 's'"),
        (["MODEL", "--to", "onnx", "--outputs", "z"], "'serving_default' has no output ['z'], but ['y']"),
        (["MODEL", "--to", "onnx", "--shape", "x=a"], "--shape takes INPUT=SIZES"),
        (["MODEL", "--to", "executorch-int8"], "give some inputs"),
    ],
)
def test_mistakes(saved_model, capsys, arguments, words):
    arguments = [str(saved_model[0]) if each == "MODEL" else each for each in arguments]
    assert main(["export", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_page_shows_what_runs(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    done = starter.run(["-c", program], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
