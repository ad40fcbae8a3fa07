"""Keras's models as estimators and as SavedModels: what the oracle does not compare."""

import numpy as np
import pytest

import tideflow as tf

keras = tf.keras


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def data():
    x = np.random.RandomState(0).rand(8, 2).astype(np.float32)
    return x, x.sum(axis=1, keepdims=True)


def input_fn(weights=None):
    x, y = data()

    def made():
        features = {"input_1": x} if weights is None else {"features": x, "sample_weights": weights}
        return tf.data.Dataset.from_tensor_slices((features, y)).batch(8).repeat(5)

    return made


def mlp():
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(2), keras.layers.Dense(2)]
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        for layer in self.hidden:
            inputs = layer(inputs)
        return self.out(inputs)


def test_a_subclassed_model_trains_and_stays_as_it_was(tmp_path):
    model = Subclassed()
    model.compile("adam", "mse")
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(input_fn(), steps=5)
    first = estimator.evaluate(input_fn(), steps=1)["loss"]
    estimator.train(input_fn(), steps=5)
    assert estimator.evaluate(input_fn(), steps=1)["loss"] < first
    assert not model.built and model.hidden[0].weights == []
    with pytest.raises(ValueError, match="not supported with subclassed"):
        keras.estimator.model_to_estimator(model, checkpoint_format="checkpoint")


def test_samples_have_weights(tmp_path):
    estimator = keras.estimator.model_to_estimator(mlp(), model_dir=str(tmp_path))
    estimator.train(input_fn(np.ones(8, np.float32)), steps=1)
    whole = estimator.evaluate(input_fn(np.ones(8, np.float32)), steps=1)["loss"]
    half = estimator.evaluate(input_fn(np.full(8, 0.5, np.float32)), steps=1)["loss"]
    assert half == pytest.approx(whole / 2, rel=1e-5)


def test_features_must_have_the_names_of_the_inputs(tmp_path):
    x = keras.Input((2,), name="x")
    model = keras.Model(x, keras.layers.Dense(1)(x))
    model.compile("sgd", "mse")
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    with pytest.raises(KeyError, match="does not have the expected inputs keys"):
        estimator.train(input_fn(), steps=1)


def test_export_for_serving_alone(tmp_path):
    model = Subclassed()
    x, _ = data()
    model.compile("sgd", "mse")
    expected = model.predict(x)
    with pytest.raises(NotImplementedError, match="only be exported for serving"):
        keras.experimental.export_saved_model(model, str(tmp_path / "all"))
    path = str(tmp_path / "serving")
    signature = [tf.TensorSpec([None, 2], tf.float32, "x")]
    keras.experimental.export_saved_model(model, path, serving_only=True, input_signature=signature)
    with tf.Session(graph=tf.Graph()) as session:
        made = tf.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
        (out,) = made.outputs.values()
        (given,) = made.inputs.values()
        np.testing.assert_allclose(session.run(out.name, {given.name: x}), expected, rtol=1e-5)
    with pytest.raises(AssertionError, match="isn't empty"):
        keras.experimental.export_saved_model(model, path, serving_only=True)
