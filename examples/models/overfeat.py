"""Overfeat's fast model: five convolutions, wider than AlexNet's, and three dense layers."""

import tideflow as tf

IMAGE_SIZE = 231


def logits(images, classes, is_training, hidden=(3072, 4096)):
    """The scores of classes for images [batch, size, size, 3]; `hidden` are the sizes of dense layers."""
    x = tf.layers.conv2d(images, 96, 11, strides=4, activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 256, 5, activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 512, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 1024, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 1024, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.flatten(x)
    for size in hidden:
        x = tf.layers.dense(x, size, activation=tf.nn.relu)
    return tf.layers.dense(x, classes)
