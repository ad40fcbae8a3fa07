"""What `benchmarks/keras_epochs.py` measures: epochs of small models, in any Keras.

Run as a program in a peer's own environment (Python 3.7 for TensorFlow 1.15; no other module of the
repository), it answers each line of its input, a title, by the seconds of one epoch, as JSON. Its argument is
the module whose Keras it is: "tideflow", "tensorflow" or "keras"; "eager" after it asks for eager mode.
"""

import importlib
import json
import os
import sys
import time

import numpy as np


def digits(count):
    chance = np.random.RandomState(0)
    images = chance.rand(count, 28, 28, 1).astype(np.float32)
    return images, np.eye(10, dtype=np.float32)[chance.randint(0, 10, count)]


def texts(count, words, length):
    chance = np.random.RandomState(0)
    labels = chance.randint(0, 2, [count, 1]).astype(np.float32)
    return chance.randint(0, words, [count, length]).astype(np.int32), labels


def convnet(keras):
    """Keras' example `mnist_cnn.py`."""
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Conv2D(32, (3, 3), activation="relu", input_shape=(28, 28, 1)),
            layers.Conv2D(64, (3, 3), activation="relu"),
            layers.MaxPooling2D((2, 2)),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adadelta", "categorical_crossentropy", metrics=["accuracy"])
    return model, digits(1_024), 128


def lstm(keras, **dropout):
    """Keras' example `imdb_lstm.py`."""
    layers = keras.layers
    model = keras.models.Sequential(
        [layers.Embedding(20_000, 128), layers.LSTM(128, **dropout), layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model, texts(320, 20_000, 80), 32


def lstm_with_dropout(keras):
    return lstm(keras, dropout=0.2, recurrent_dropout=0.2)


def perceptron(keras):
    """Keras' example `mnist_mlp.py`, smaller, so that what `fit` does around each step shows."""
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Flatten(input_shape=(28, 28, 1)),
            layers.Dense(100, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    return model, digits(6_400), 32


WORKS = {
    "MNIST convnet, 1024 images": convnet,
    "LSTM text classifier, 320 texts": lstm,
    "LSTM text classifier with dropout, 320 texts": lstm_with_dropout,
    "perceptron, 6400 images": perceptron,
}


class Epochs:
    """The models of one Keras: each has been trained for an epoch when the first is measured."""

    def __init__(self, keras):
        self._models = {title: work(keras) for title, work in WORKS.items()}
        for title in WORKS:
            self.measured(title)
            self.measured(title)
        self.first = {title: float(model.count_params()) for title, (model, _, _) in self._models.items()}

    def measured(self, title):
        """The seconds of an epoch."""
        model, (inputs, targets), batch_size = self._models[title]
        began = time.perf_counter()
        model.fit(inputs, targets, batch_size=batch_size, epochs=1, verbose=0)
        return time.perf_counter() - began


def loaded(name, eagerly):
    """The Keras of a module, on one thread, and its version."""
    if name == "keras":
        os.environ["KERAS_BACKEND"] = "torch"
        importlib.import_module("torch").set_num_threads(1)
        keras = importlib.import_module("keras")
        return keras, keras.__version__
    tf = importlib.import_module(name)
    if hasattr(tf, "enable_eager_execution"):
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        if eagerly:
            tf.enable_eager_execution(config)
        else:
            tf.keras.backend.set_session(tf.Session(config=config))
    else:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf.keras, tf.__version__


def main():
    """A peer's side. What the peer prints by itself is no answer."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))  # none of its modules is a peer's
    keras, version = loaded(sys.argv[1], "eager" in sys.argv[2:])
    epochs = Epochs(keras)
    print(json.dumps({"version": version, "first": epochs.first}), file=answers)
    for title in sys.stdin:
        print(json.dumps(epochs.measured(title.strip())), file=answers)


if __name__ == "__main__":
    main()
