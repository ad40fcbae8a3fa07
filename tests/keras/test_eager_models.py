"""tf.keras models in eager mode: the same numbers as in a graph, however their steps run."""

import re

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_graph, eager_mode
from tideflow.layers import keras_state

keras = tf.keras
X = np.sin(np.arange(36)).reshape(12, 3).astype(np.float32)
Y = (X.sum(axis=1, keepdims=True) > 0).astype(np.float32)


@pytest.fixture
def eagerly():
    with eager_mode():
        eager_graph().forget()
        keras_state.forget_graphs()
        yield
    keras_state.forget_graphs()


def filled(model):
    values = [np.cos(np.arange(w.size) + i).reshape(w.shape) for i, w in enumerate(model.get_weights())]
    model.set_weights(values)
    return model


def trained(**compiled):
    """The history and the weights of a model with a penalty, averages that it updates and a mask."""
    x = keras.Input((3,))
    hidden = keras.layers.Dense(4, activation="tanh", kernel_regularizer="l2")(x)
    model = keras.Model(x, keras.layers.Dense(1, activation="sigmoid")(hidden * 2.0))
    filled(model).add_loss(tf.reduce_mean(tf.square(hidden)) * 0.1)
    model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=["acc"], **compiled)
    weights = np.linspace(0, 2, 12)
    history = model.fit(X, Y, 5, epochs=3, verbose=0, shuffle=False, sample_weight=weights).history
    return [*history.values(), *model.get_weights(), model.predict(X, 5)]


def test_steps_give_the_same_compiled_run_eagerly_and_in_a_graph(eagerly):
    compiled, run_eagerly = trained(), trained(run_eagerly=True)
    with tf.Graph().as_default(), tf.Session():
        in_a_graph = trained()
    for a, b, c in zip(compiled, run_eagerly, in_a_graph, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(a, c, rtol=2e-5, atol=1e-6)


def test_a_model_is_traced_once_for_batches_of_any_size(eagerly):
    calls = []

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.last = keras.layers.Dense(1)

        def call(self, inputs, training=None):
            calls.append((tf.executing_eagerly(), training))
            return self.last(inputs)

    model = Net()
    model.compile("sgd", "mse")
    model.fit(X, Y, 5, epochs=4, verbose=0)
    # Once for its outputs, once for the step with the optimizer's variables, once for that without.
    (in_graph, phase), *steps = calls
    assert not in_graph and phase.name == "keras_learning_phase:0"
    assert steps == [(False, True), (False, True)]
    model.evaluate(X, Y, 5, verbose=0)
    model(X)
    assert calls[3:] == [(False, False), (True, None)]


def test_the_progress_bar(eagerly, capsys):
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=["mae"])
    model.fit(X, Y, 6, validation_data=(X, Y))
    text = capsys.readouterr().out
    assert text.startswith("Train on 12 samples, validate on 12 samples\n")
    assert re.search(
        r"12/12 \[=+\] - .*/sample - loss: \d.* - val_loss: \d.* - val_mean_absolute_error", text
    )
    model.fit(tf.data.Dataset.from_tensor_slices((X, Y)).batch(4), verbose=1)
    assert re.search(r"3/3 \[=+\] - .*/step - loss: ", capsys.readouterr().out)


def test_a_model_goes_through_hdf5(eagerly, tmp_path):
    pytest.importorskip("h5py")
    model = filled(keras.Sequential([keras.layers.Dense(2, input_shape=(3,)), keras.layers.Dense(1)]))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(X, Y, verbose=0, shuffle=False)
    model.save(str(tmp_path / "model.h5"))
    again = keras.models.load_model(str(tmp_path / "model.h5"))
    assert int(again.optimizer.iterations) == 1
    losses = [m.fit(X, Y, verbose=0, shuffle=False).history["loss"] for m in (model, again)]
    np.testing.assert_allclose(*losses, rtol=1e-6)


def test_symbolic_tensors_are_of_a_graph_beside(eagerly):
    model = filled(keras.Sequential([keras.layers.Dense(2, input_shape=(3,))]))
    inner = keras.backend.function([model.input], [model.output, tf.reduce_sum(model.output, axis=1)])
    model.weights[1].assign([5.0, 6.0])
    output, total = inner([X])
    np.testing.assert_allclose(output, model(X), rtol=1e-6)
    np.testing.assert_allclose(total, output.sum(axis=1), rtol=1e-6)
    with tf.Graph().as_default():
        elsewhere = tf.placeholder(tf.float32)
    with pytest.raises(TypeError, match="Graph tensors"):
        tf.square(elsewhere)
    with pytest.raises(ValueError, match="from the same graph"):
        with model.output.graph.as_default():
            tf.square(elsewhere)


def test_dynamic_layers_must_run_eagerly(eagerly):
    class Sign(keras.layers.Layer):
        def call(self, inputs):
            return inputs if float(tf.reduce_sum(inputs)) > 0 else -inputs

    shapeless = Sign(dynamic=True)
    with pytest.raises(NotImplementedError, match="compute_output_shape"):
        shapeless(keras.Input((3,)))
    Sign.compute_output_shape = lambda self, shape: shape
    model = keras.Sequential([Sign(dynamic=True, input_shape=(3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert model.dynamic and model.run_eagerly
    np.testing.assert_allclose(model.predict(-X), model.predict(X), rtol=1e-6)
    with pytest.raises(ValueError, match="dynamic=True"):
        model.compile("sgd", "mse", run_eagerly=False)
        model.fit(X, Y, verbose=0)
