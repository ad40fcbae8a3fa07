"""ResNet-50: bottleneck blocks around identity shortcuts, with batch normalization."""

import tideflow as tf

IMAGE_SIZE = 224
_STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))  # channels inside a block, and blocks


def logits(images, classes, is_training):
    """The scores of classes for images [batch, size, size, 3]."""

    def conv(x, channels, size, strides=1):
        x = tf.layers.conv2d(x, channels, size, strides=strides, padding="same", use_bias=False)
        return tf.layers.batch_normalization(x, training=is_training, fused=True)

    def block(x, channels, strides):
        shortcut = x
        if strides > 1 or x.shape[3] != 4 * channels:
            shortcut = conv(x, 4 * channels, 1, strides)
        x = tf.nn.relu(conv(x, channels, 1))
        x = tf.nn.relu(conv(x, channels, 3, strides))
        return tf.nn.relu(conv(x, 4 * channels, 1) + shortcut)

    x = tf.nn.relu(conv(images, 64, 7, strides=2))
    x = tf.layers.max_pooling2d(x, 3, 2, padding="same")
    for stage, (channels, blocks) in enumerate(_STAGES):
        for i in range(blocks):
            x = block(x, channels, strides=2 if stage and not i else 1)
    return tf.layers.dense(tf.reduce_mean(x, axis=[1, 2]), classes)
