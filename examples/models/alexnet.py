"""AlexNet in one tower, as convnet benchmarks have it: five convolutions, three dense layers."""

import tideflow as tf

IMAGE_SIZE = 224


def logits(images, classes, is_training, hidden=(4096, 4096)):
    """The scores of classes for images [batch, size, size, 3]; `hidden` are the sizes of dense layers."""
    x = tf.layers.conv2d(images, 64, 11, strides=4, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 3, 2)
    x = tf.layers.conv2d(x, 192, 5, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 3, 2)
    x = tf.layers.conv2d(x, 384, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 256, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 256, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 3, 2)
    x = tf.layers.flatten(x)
    for size in hidden:
        x = tf.layers.dense(x, size, activation=tf.nn.relu)
    return tf.layers.dense(x, classes)
