"""Inception-v3: modules of parallel branches, whose larger filters are factored into small ones."""

import tideflow as tf

IMAGE_SIZE = 299

# A layer is a pooling or a convolution: channels, height, width, stride, padding. A branch is a row of
# layers, a module is parallel branches, and a list within a branch is a fork into several layers.
STEM = (
    (32, 3, 3, 2, "valid"),
    (32, 3, 3, 1, "valid"),
    (64, 3, 3, 1, "same"),
    "shrink",
    (80, 1, 1, 1, "valid"),
    (192, 3, 3, 1, "valid"),
    "shrink",
)


def _same(*layers):
    return tuple((*layer, 1, "same") for layer in layers)


def _wide(pooled):
    """A module of 35x35 places."""
    fives, threes = _same((48, 1, 1), (64, 5, 5)), _same((64, 1, 1), (96, 3, 3), (96, 3, 3))
    return _same((64, 1, 1)), fives, threes, ("average", *_same((pooled, 1, 1)))


def _middle(n):
    """A module of 17x17 places."""
    once = _same((n, 1, 1), (n, 1, 7), (192, 7, 1))
    twice = _same((n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7))
    return _same((192, 1, 1)), once, twice, ("average", *_same((192, 1, 1)))


def _narrow():
    """A module of 8x8 places."""
    fork = list(_same((384, 1, 3), (384, 3, 1)))
    branches = (*_same((384, 1, 1)), fork), (*_same((448, 1, 1), (384, 3, 3)), fork)
    return _same((320, 1, 1)), *branches, ("average", *_same((192, 1, 1)))


MODULES = (
    *(_wide(pooled) for pooled in (32, 64, 64)),
    (((384, 3, 3, 2, "valid"),), (*_same((64, 1, 1), (96, 3, 3)), (96, 3, 3, 2, "valid")), ("shrink",)),
    *(_middle(n) for n in (128, 160, 160, 192)),
    (
        (*_same((192, 1, 1)), (320, 3, 3, 2, "valid")),
        (*_same((192, 1, 1), (192, 1, 7), (192, 7, 1)), (192, 3, 3, 2, "valid")),
        ("shrink",),
    ),
    _narrow(),
    _narrow(),
)


def logits(images, classes, is_training, share=1.0):
    """The scores of classes for images [batch, size, size, 3]; `share` is the part of the channels to use."""

    def run(x, layer):
        if layer == "shrink":
            return tf.layers.max_pooling2d(x, 3, 2)
        if layer == "average":
            return tf.layers.average_pooling2d(x, 3, 1, padding="same")
        if isinstance(layer, list):
            return tf.concat([run(x, each) for each in layer], axis=3)
        channels, height, width, stride, padding = layer
        size = max(int(channels * share), 4)
        x = tf.layers.conv2d(x, size, (height, width), strides=stride, padding=padding, use_bias=False)
        return tf.nn.relu(tf.layers.batch_normalization(x, training=is_training, fused=True))

    def row(x, layers):
        for layer in layers:
            x = run(x, layer)
        return x

    x = row(images, STEM)
    for branches in MODULES:
        x = tf.concat([row(x, branch) for branch in branches], axis=3)
    x = tf.layers.dropout(tf.reduce_mean(x, axis=[1, 2]), 0.2, training=is_training)
    return tf.layers.dense(x, classes)
