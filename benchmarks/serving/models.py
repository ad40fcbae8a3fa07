"""The SavedModels that every server serves: what they cost goes from nothing to some hundred microseconds."""

from collections.abc import Callable
from pathlib import Path

import tideflow as tf

PIXELS, CLASSES = 784, 10


def nothing(x: tf.Tensor) -> tf.Tensor:
    return tf.identity(x)


def linear(x: tf.Tensor) -> tf.Tensor:
    return tf.layers.dense(x, CLASSES)


def mlp(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.softmax(tf.layers.dense(tf.layers.dense(x, 128, tf.nn.relu), CLASSES))


def convnet(x: tf.Tensor) -> tf.Tensor:
    images = tf.reshape(x, [-1, 28, 28, 1])
    for filters in (8, 16):
        images = tf.layers.conv2d(images, filters, 3, padding="same", activation=tf.nn.relu)
        images = tf.layers.max_pooling2d(images, 2, 2)
    return tf.nn.softmax(tf.layers.dense(tf.layers.flatten(images), CLASSES))


MODELS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "noop": nothing,
    "linear": linear,
    "mlp": mlp,
    "convnet": convnet,
}


def make(folder: Path) -> None:
    """Writes version 1 of every model into a folder, as `tideflow serve` takes it."""
    for name, build in MODELS.items():
        path = folder / name / "1"
        if path.exists():
            continue
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            x = tf.placeholder(tf.float32, [None, PIXELS], name="x")
            y = build(x)
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y})
