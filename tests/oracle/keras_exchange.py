"""Writes Keras models as SavedModels with what they predict, or loads and trains on those of another engine.

python keras_exchange.py tensorflow|tf2|tideflow write|read FOLDER RESULTS
"""

import json
import os
import sys

import engine

SAMPLES = 8


def sequential(tf):
    l = tf.keras.layers
    return tf.keras.Sequential(
        [l.Dense(4, activation="tanh", input_shape=(3,)), l.BatchNormalization(), l.Dense(1)]
    )


def functional(tf):
    l = tf.keras.layers
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((2,), name="b")
    joined = l.concatenate([l.Dense(3, name="left")(a), b])
    return tf.keras.Model([a, b], [l.Dense(1, name="first")(joined), l.Dense(2, name="second")(joined)])


def subclassed(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.hidden = tf.keras.layers.Dense(4, activation="tanh")
            self.out = tf.keras.layers.Dense(1)

        def call(self, inputs, training=None):
            return self.out(self.hidden(inputs))

    return Net()


def convolutional(tf):
    l = tf.keras.layers
    return tf.keras.Sequential(
        [l.Reshape((3, 1), input_shape=(3,)), l.Conv1D(2, 2, padding="same"), l.Flatten(), l.Dense(1)]
    )


def own_layers(tf):
    l = tf.keras.layers
    return tf.keras.Sequential([l.Dense(4, input_shape=(3,)), _scale(tf)(3.0), l.Dense(1)])


def _scale(tf):
    class Scale(tf.keras.layers.Layer):
        def __init__(self, factor=2.0, **kwargs):
            super(Scale, self).__init__(**kwargs)
            self.factor = factor

        def build(self, input_shape):
            self.w = self.add_weight("w", shape=(int(input_shape[-1]),), initializer="ones")
            super(Scale, self).build(input_shape)

        def call(self, inputs):
            return inputs * self.w * self.factor

        def get_config(self):
            config = super(Scale, self).get_config()
            config["factor"] = self.factor
            return config

    return Scale


MODELS = {f.__name__: f for f in (sequential, functional, subclassed, convolutional, own_layers)}


def _data(np, name):
    x = np.sin(np.arange(SAMPLES * 3)).reshape(SAMPLES, 3).astype(np.float32)
    y = (x.sum(axis=1, keepdims=True) > 0).astype(np.float32)
    return ([x, x[:, :2]], [y, x[:, :2]]) if name == "functional" else (x, y)


def _predicted(np, model, x):
    found = model.predict(x)
    return [np.asarray(part).tolist() for part in (found if isinstance(found, list) else [found])]


def _answers(tf, np, model, name):
    """What a model predicts, and predicts after another step of training."""
    x, y = _data(np, name)
    before = _predicted(np, model, x)
    model.fit(x, y, epochs=1, batch_size=SAMPLES, verbose=0, shuffle=False)
    return {"before": before, "after": _predicted(np, model, x)}


def write(tf, np, folder, results):
    found = {}
    for name, build in MODELS.items():
        model = build(tf)
        model.compile("adam", "mse", metrics=["mae"])
        x, y = _data(np, name)
        model.fit(x, y, epochs=2, batch_size=SAMPLES, verbose=0, shuffle=False)
        model.save(os.path.join(folder, name), save_format="tf")
        found[name] = _answers(tf, np, model, name)
    _keep(found, results)


def read(tf, np, folder, results):
    found = {}
    for name in MODELS:
        own = {"custom_objects": {"Scale": _scale(tf)}} if name == "own_layers" else {}
        model = tf.keras.models.load_model(os.path.join(folder, name), **own)
        found[name] = _answers(tf, np, model, name)
    _keep(found, results)


def _keep(found, results):
    with open(results, "w") as stream:
        json.dump(found, stream)


def _engine(name):
    if name == "compat.v1":  # the environment of TensorFlow 2, with the Keras that writes SavedModels
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import tensorflow as tf

        return tf
    tf = engine.load_engine(name)
    tf.enable_eager_execution()
    return tf


if __name__ == "__main__":
    import numpy

    {"write": write, "read": read}[sys.argv[2]](_engine(sys.argv[1]), numpy, *sys.argv[3:])
