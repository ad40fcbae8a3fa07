"""Names from inside TensorFlow that libraries of its time take."""

import glob

import pytest

import tideflow as tf
from tideflow.eager import context
from tideflow.programs import modules
from tideflow.programs.inner.graph import gradient_names
from tideflow.programs.inner.train import program_names
from tideflow.programs.inner.train.event_files import EventsWriter


def test_events_go_into_one_file_with_the_prefix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer = EventsWriter(b"events")
    writer.InitWithSuffix(".v2")
    writer.WriteEvent(tf.Event(wall_time=1.0, step=3))
    assert writer.Flush() and writer.Close()
    (path,) = glob.glob("*")
    assert writer.FileName().startswith(b"events.out.tfevents.") and path.endswith(".v2")
    assert [event.step for event in tf.train.summary_iterator(path)] == [0, 3]
    with pytest.raises(TypeError, match="Expected an event_pb2"):
        writer.WriteEvent("no event")


def test_a_suffix_that_comes_too_late_changes_nothing(tmp_path):
    writer = EventsWriter(str(tmp_path / "log"))
    name = writer.FileName()
    writer.InitWithSuffix(".late")
    assert writer.FileName() == name and writer.Close()


def test_keras_has_its_older_name():
    assert modules.is_module("contrib.keras.layers") and modules.is_module("contrib.keras.api.keras.utils")
    assert modules.look_up("contrib.keras.layers", "Dense") is tf.keras.layers.Dense
    assert modules.look_up("contrib.keras.api.keras.datasets.mnist", "load_data")
    assert not modules.is_module("contrib.keras.nothing")


def test_optimizers_of_keras_are_found_in_its_module_of_optimizers():
    found = modules.module_named("python.keras.optimizers", "adam_v2")
    assert found and modules.look_up(found, "Adam") is tf.keras.optimizers.Adam


def test_a_gradient_beside_a_call_works_eagerly_too():
    with context.eager_mode():
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = gradient_names._eager_mode_decorator(lambda x: (x * 2.0, lambda grad: grad * 10.0), x)
        assert y.numpy().tolist() == [2.0, 4.0] and tape.gradient(y, x).numpy().tolist() == [10.0, 10.0]


def test_placement_and_readiness():
    turn = program_names._RoundRobinStrategy(2)
    assert [turn(None) for _ in range(3)] == [0, 1, 0]
    assert "VariableV2" in program_names.STANDARD_PS_OPS
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", [1])
        ready, why = program_names._ready(tf.report_uninitialized_variables(), sess, "not ready")
    assert not ready and why == "Variables not initialized: v"


def test_which_tensors_have_gradients():
    assert gradient_names.IsTrainable(tf.float16) and not gradient_names.IsTrainable(tf.bfloat16)
    with tf.Graph().as_default():
        assert gradient_names._IsBackpropagatable(tf.constant(1, tf.bfloat16))
        assert not gradient_names._IsBackpropagatable(tf.constant(1))
