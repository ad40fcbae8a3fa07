"""AlexNet in one tower, as convnet benchmarks have it: five convolutions, three dense layers."""

import tideflow as tf

IMAGE_SIZE = 224


def logits(images, classes, is_training):
    """The scores of classes for images [batch, size, size, 3]."""
    x = tf.layers.conv2d(images, 64, 11, strides=4, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 3, 2)
    x = tf.layers.conv2d(x, 192, 5, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 3, 2)
    x = tf.layers.conv2d(x, 384, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 256, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 256, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 3, 2)
    x = tf.layers.flatten(x)
    x = tf.layers.dense(x, 4096, activation=tf.nn.relu)
    x = tf.layers.dense(x, 4096, activation=tf.nn.relu)
    return tf.layers.dense(x, classes)
