"""ResNet: blocks around identity shortcuts, with batch normalization. Of 18 layers, or of 50."""

import tideflow as tf

IMAGE_SIZE = 224
CHANNELS = (64, 128, 256, 512)  # of a stage, inside its blocks
BLOCKS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}  # of the stages


def logits(images, classes, is_training, layers=50, channels=CHANNELS):
    """The scores of classes for images [batch, size, size, 3]; `channels` are those of the stages."""
    wider = 4 if layers == 50 else 1  # how much the result of a block is wider than its inside

    def conv(x, channels, size, strides=1):
        x = tf.layers.conv2d(x, channels, size, strides=strides, padding="same", use_bias=False)
        return tf.layers.batch_normalization(x, training=is_training, fused=True)

    def block(x, inside, strides):
        shortcut = x
        if strides > 1 or x.shape[3] != wider * inside:
            shortcut = conv(x, wider * inside, 1, strides)
        if wider > 1:
            x = tf.nn.relu(conv(x, inside, 1))
            x = tf.nn.relu(conv(x, inside, 3, strides))
            return tf.nn.relu(conv(x, wider * inside, 1) + shortcut)
        x = tf.nn.relu(conv(x, inside, 3, strides))
        return tf.nn.relu(conv(x, inside, 3) + shortcut)

    x = tf.nn.relu(conv(images, channels[0], 7, strides=2))
    x = tf.layers.max_pooling2d(x, 3, 2, padding="same")
    for stage, (inside, blocks) in enumerate(zip(channels, BLOCKS[layers], strict=True)):
        for i in range(blocks):
            x = block(x, inside, strides=2 if stage and not i else 1)
    return tf.layers.dense(tf.reduce_mean(x, axis=[1, 2]), classes)
