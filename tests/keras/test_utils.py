"""tf.keras.utils: models as graphs of pydot, on several devices; and processes that make batches."""

import multiprocessing
import time

import numpy as np
import pytest

import tideflow as tf
from tests.patience import eventually

keras = tf.keras


def two_models():
    inner = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))], name="inner")
    x = keras.Input((4, 3), name="x")
    y = keras.layers.TimeDistributed(inner, name="each")(x)
    z = keras.layers.Flatten(name="flat")(y)
    return keras.Model(x, [z, keras.layers.Dense(1, name="out")(z)])


def test_a_model_as_a_graph(monkeypatch):
    pydot = pytest.importorskip("pydot")
    monkeypatch.setattr(pydot.Dot, "create", lambda *_, **__: b"", raising=False)
    dot = keras.utils.model_to_dot(two_models(), show_shapes=True)
    labels = [node.get_label() for node in dot.get_nodes() if node.get_label()]
    assert len(labels) == 4 and len(dot.get_edges()) == 3
    assert "x: InputLayer" in labels[0] and "each(inner): TimeDistributed(Sequential)" in labels[1]
    assert "{(?, 4, 3)}|{(?, 4, 2)}" in labels[1]
    nested = keras.utils.model_to_dot(two_models(), expand_nested=True, show_layer_names=False)
    assert len(nested.get_subgraphs()) == 1 and len(nested.get_edges()) == 4


def test_without_graphviz_the_message_names_it(monkeypatch):
    for name in ("pydot", "pydotplus", "pydot_ng"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match="You must install pydot and graphviz"):
        keras.utils.plot_model(two_models())


def test_a_batch_is_cut_for_several_gpus(monkeypatch):
    keras.backend.clear_session()
    session = keras.backend.get_session()
    names = ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]
    devices = [type("Device", (), {"name": name}) for name in names]
    monkeypatch.setattr(type(session), "list_devices", lambda self: devices)
    model = two_models()
    several = keras.utils.multi_gpu_model(model, 2)
    assert [layer.name for layer in several.layers][-2:] == ["flat", "out"]
    assert several.count_params() == model.count_params()
    assert {op.device for op in several.outputs[0].graph.get_operations() if "replica_1/" in op.name} >= {
        "/device:GPU:1"
    }
    x = np.random.RandomState(0).randn(5, 4, 3)
    for ours, theirs in zip(several.predict(x), model.predict(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    keras.backend.clear_session()


class Slow(keras.utils.Sequence):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        time.sleep(60)


def test_processes_that_make_batches_can_be_ended():
    queue = keras.utils.OrderedEnqueuer(Slow(), use_multiprocessing=True)
    queue.start(workers=2)
    eventually(multiprocessing.active_children, why="no process was started")
    assert keras.experimental.terminate_keras_multiprocessing_pools(grace_period=5, use_sigkill=True) == []
    with pytest.raises(Exception, match=r"terminated|broken"):
        next(queue.get())
    queue.stop()
