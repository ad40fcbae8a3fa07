"""OxfordNet (VGG, configuration A): eight convolutions of 3x3, five poolings, three dense layers."""

import tideflow as tf

IMAGE_SIZE = 224
_STAGES = ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2))  # channels, and convolutions before a pooling


def logits(images, classes, is_training, hidden=(4096, 4096)):
    """The scores of classes for images [batch, size, size, 3]; `hidden` are the sizes of dense layers."""
    x = images
    for channels, convolutions in _STAGES:
        for _ in range(convolutions):
            x = tf.layers.conv2d(x, channels, 3, padding="same", activation=tf.nn.relu)
        x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.flatten(x)
    for size in hidden:
        x = tf.layers.dense(x, size, activation=tf.nn.relu)
    return tf.layers.dense(x, classes)
