"""GoogleNet with batch normalization: nine inception modules of four branches each."""

import tideflow as tf

IMAGE_SIZE = 224
# By module: 1x1; 3x3 after its reduction; 5x5 after its reduction; 1x1 after the pooling. None: a pooling.
_MODULES = (
    (64, (96, 128), (16, 32), 32),
    (128, (128, 192), (32, 96), 64),
    None,
    (192, (96, 208), (16, 48), 64),
    (160, (112, 224), (24, 64), 64),
    (128, (128, 256), (24, 64), 64),
    (112, (144, 288), (32, 64), 64),
    (256, (160, 320), (32, 128), 128),
    None,
    (256, (160, 320), (32, 128), 128),
    (384, (192, 384), (48, 128), 128),
)


def logits(images, classes, is_training):
    """The scores of classes for images [batch, size, size, 3]."""

    def conv(x, channels, size, strides=1):
        x = tf.layers.conv2d(x, channels, size, strides=strides, padding="same", use_bias=False)
        return tf.nn.relu(tf.layers.batch_normalization(x, training=is_training, fused=True))

    def module(x, single, three, five, pooled):
        branches = [
            conv(x, single, 1),
            conv(conv(x, three[0], 1), three[1], 3),
            conv(conv(x, five[0], 1), five[1], 5),
            conv(tf.layers.max_pooling2d(x, 3, 1, padding="same"), pooled, 1),
        ]
        return tf.concat(branches, axis=3)

    x = conv(images, 64, 7, strides=2)
    x = tf.layers.max_pooling2d(x, 3, 2, padding="same")
    x = conv(conv(x, 64, 1), 192, 3)
    x = tf.layers.max_pooling2d(x, 3, 2, padding="same")
    for sizes in _MODULES:
        x = tf.layers.max_pooling2d(x, 3, 2, padding="same") if sizes is None else module(x, *sizes)
    return tf.layers.dense(tf.reduce_mean(x, axis=[1, 2]), classes)
