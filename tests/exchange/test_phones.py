"""Programs for phones, run by ExecuTorch: float32 as in the session, 8 bits near it and smaller."""

import numpy as np
import pytest

import tideflow as tf
from tests.exchange import test_exported_models as built
from tests.exchange.test_exporting import assert_same, cases
from tideflow.cli import main
from tideflow.exchange.exporting import export_model

pytest.importorskip("executorch")
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A SavedModel of a small convolutional network, inputs, and what it makes of them."""
    folder = tmp_path_factory.mktemp("digits")
    rows = np.random.RandomState(0).rand(7, 64).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 64], name="x")
        maps = tf.layers.conv2d(tf.reshape(x, [-1, 8, 8, 1]), 8, 3, activation=tf.nn.relu, padding="same")
        maps = tf.layers.max_pooling2d(maps, 2, 2)
        y = tf.layers.dense(tf.layers.flatten(maps), 100)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder / "model"), {"x": x}, {"y": y})
        wanted = session.run(y, {x: rows})
    np.savez(folder / "samples.npz", x=rows)
    return folder, rows, wanted


def run(path, rows):
    from executorch.runtime import Runtime

    return Runtime.get().load_program(path).load_method("forward").execute((torch.tensor(rows),))[0].numpy()


def test_both_precisions(digits, capsys):
    folder, rows, wanted = digits
    whole, small = (folder / name for name in ("whole.pte", "small.pte"))
    assert main(["export", str(folder / "model"), "--to", "executorch", "--out", str(whole)]) == 0
    samples = ["--samples", str(folder / "samples.npz")]
    assert (
        main(["export", str(folder / "model"), "--to", "executorch-int8", "--out", str(small), *samples]) == 0
    )
    assert capsys.readouterr().out.count("ms a run of ExecuTorch here") == 2
    np.testing.assert_allclose(run(whole, rows), wanted, rtol=1e-4, atol=1e-5)
    assert np.abs(run(small, rows) - wanted).max() < 0.05 * np.abs(wanted).max()
    assert small.stat().st_size < whole.stat().st_size / 2


@pytest.mark.parametrize("build", [built.images, built.sequences, built.attention, built.pictures])
def test_models_of_many_kinds(build, tmp_path):
    """The Keras ones ask whether they are being trained: the default of that decides."""
    from executorch.runtime import Runtime

    model, found = cases(build)
    tf.keras.backend.clear_session()
    path = tmp_path / "model.pte"
    export_model(model, path, "executorch")
    for arrays, wanted in found:
        method = Runtime.get().load_program(path).load_method("forward")
        assert_same(method.execute(tuple(map(torch.tensor, arrays.values()))), wanted)
